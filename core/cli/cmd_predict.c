/* trapeze predict PLUGIN --grid … */
#include "cli/command.h"

#include "cli/predict_options.h"
#include "cli/print_predictions.h"
#include <string.h>

enum {
    OPT_MODEL = 256,
    OPT_JSON,
    OPT_CSV,
    OPT_PLOT,
    OPT_ALL,
    OPT_COMPILE,
    OPT_HALO,
    OPT_STREAMED,
    OPT_FENCE
};
enum { MODELS_MAX = 8 };

typedef struct settings {
    tz_predict_options predict;
    tz_prediction_request request;
    const char *stencil, *model, *plot;
    bool json, csv;
} settings;

static bool take_model(const tz_command *command, settings *s, const char *name)
{
    tz_error error;
    s->model = name;
    if (strcmp(name, "all") == 0 || tz_model_find(name, &s->request.model, &error) == TZ_OK)
        return true;
    tz_misuse(command, "%s", error.message);
    return false;
}

static bool take_option(const tz_command *command, void *context, int option)
{
    settings *s = context;
    switch (option) {
    case OPT_MODEL:
        return take_model(command, s, optarg);
    case OPT_JSON:
        return s->json = true;
    case OPT_CSV:
        return s->csv = true;
    case OPT_PLOT:
        s->plot = optarg;
        return true;
    case OPT_ALL:
        return s->request.all = true;
    case OPT_COMPILE:
        s->request.effort = TZ_EFFORT_COMPILE;
        return true;
    case OPT_FENCE:
        return s->request.fence = true;
    case OPT_HALO:
        if (tz_numbers_parse(optarg, TZ_AXES, 1e-9, 1e6, s->request.halo) > 0)
            return true;
        tz_misuse(command, "--halo wants cells an axis, both sides together, not '%.60s'", optarg);
        return false;
    case OPT_STREAMED:
        if (tz_numbers_parse(optarg, 1, 0, 64, &s->request.streamed) == 1)
            return true;
        tz_misuse(command, "--streamed wants a number from 0 to 64, not '%.60s'", optarg);
        return false;
    default:
        return false;
    }
}

static bool parse(const tz_command *command, int argc, char **argv, settings *s, bool *done)
{
    static const struct option options[] = {TZ_PREDICT_OPTIONS_OPTIONS,
                                            {"model", required_argument, NULL, OPT_MODEL},
                                            {"json", no_argument, NULL, OPT_JSON},
                                            {"csv", no_argument, NULL, OPT_CSV},
                                            {"plot", required_argument, NULL, OPT_PLOT},
                                            {"all", no_argument, NULL, OPT_ALL},
                                            {"compile", no_argument, NULL, OPT_COMPILE},
                                            {"halo", required_argument, NULL, OPT_HALO},
                                            {"streamed", required_argument, NULL, OPT_STREAMED},
                                            {"fence", no_argument, NULL, OPT_FENCE},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    s->stencil =
        tz_predict_options_read(&s->predict, command, argc, argv, options, take_option, s, done);
    if (!s->stencil)
        return *done;
    if (s->json && s->csv) {
        tz_misuse(command, "--json or --csv, not both");
        return false;
    }
    return true;
}

/* One outlook, or with --model all every one that can be had. */
static int look(const settings *s, const tz_workload *workload, tz_prediction_table **tables,
                int *count)
{
    tz_error error;
    tz_prediction_request request = s->request;
    const bool all = s->model && strcmp(s->model, "all") == 0;
    *count = 0;
    if (!all) {
        if (tz_prediction_table_create(&tables[0], workload, &request, &error) != TZ_OK)
            return tz_fail(EXIT_FAILED, &error);
        *count = 1;
        return EXIT_DONE;
    }
    for (int i = 0; tz_models[i] && *count < MODELS_MAX; i++) {
        request.model = tz_models[i];
        if (tz_prediction_table_create(&tables[*count], workload, &request, &error) == TZ_OK)
            (*count)++;
        else
            fprintf(stderr, "trapeze: %s is left out: %s\n", tz_models[i]->name, error.message);
    }
    return *count > 0
               ? EXIT_DONE
               : tz_fail_text(EXIT_FAILED, "no model can predict for %s", workload->device.name);
}

static void compare(tz_prediction_table *const *tables, int count)
{
    printf("\n  %-10s %7s %12s %10s  %s\n", "model", "height", "iteration", "GCells/s", "limit");
    for (int k = 0; k < count; k++) {
        const tz_prediction_row *best = &tables[k]->rows[tables[k]->best];
        char time[TZ_SAY_SIZE];
        tz_say_seconds(best->prediction.time_s, time, sizeof time);
        printf("  %-10s %7d %12s %10.4g  %s\n", tables[k]->model->name, best->plan.height, time,
               best->prediction.cells_per_s * 1e-9, tables[k]->why);
    }
}

static int say(const settings *s, const tz_workload *workload, tz_prediction_table *const *tables,
               int count)
{
    tz_error error;
    json_t *list = s->json ? json_array() : NULL;
    for (int k = 0; k < count; k++) {
        if (s->json) {
            json_array_append_new(list, tz_prediction_table_json(workload, tables[k]));
        } else if (s->csv) {
            tz_prediction_table_print_csv(workload, tables[k], k == 0);
        } else {
            printf("%s", k > 0 ? "\n" : "");
            tz_prediction_table_print(workload, tables[k], s->request.all);
        }
    }
    if (count > 1 && !s->json && !s->csv)
        compare(tables, count);
    if (s->json) {
        json_dumpf(count == 1 ? json_array_get(list, 0) : list, stdout,
                   JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        printf("\n");
    }
    json_decref(list);
    if (s->plot && tz_prediction_table_plot(workload, tables, count, s->plot, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    return tz_finish_output();
}

static int predict(const tz_command *command, int argc, char **argv)
{
    settings s = {.predict = {.simulation = {.precision = -1}}, .request = {.streamed = -1}};
    tz_workload *workload = NULL;
    tz_prediction_table *tables[MODELS_MAX] = {NULL};
    bool done = false;
    int count = 0, code = EXIT_USAGE;
    if (!parse(command, argc, argv, &s, &done) || done) {
        code = done ? EXIT_DONE : EXIT_USAGE;
        goto cleanup;
    }
    s.request.given = s.predict.simulation.plan;
    memcpy(s.request.block, s.predict.block, sizeof s.request.block);
    code = tz_predict_options_ask(&s.predict, command, s.stencil, true, &workload);
    if (code == EXIT_DONE)
        code = look(&s, workload, tables, &count);
    if (code == EXIT_DONE)
        code = say(&s, workload, tables, count);
cleanup:
    for (int k = 0; k < count; k++)
        tz_prediction_table_destroy(tables[k]);
    tz_workload_destroy(workload);
    tz_predict_options_clear(&s.predict);
    return code;
}

const tz_command tz_command_predict = {
    .name = "predict",
    .arguments = "PLUGIN --grid NX[,NY[,NZ]] [OPTION]…",
    .doc = "say which height is best, how long an iteration takes and why, without a run",
    .help = TZ_PREDICT_OPTIONS_HELP
    "  --model NAME          roofs, meng2009, meng2011, or all to compare (default: the first\n"
    "                        that the device's record has the numbers for)\n"
    "  --all                 every plan considered, not only the best of a family and height\n"
    "  --compile             compile every kernel first; else those that may be best, as many\n"
    "                        at once as there are threads (at most 16), none begun after 8 s\n"
    "  --halo N[,N[,N]], --streamed N, --fence   what if, of the papers' models: another halo\n"
    "                        width (both sides together), number of streamed fields, stages\n"
    "                        that meet inside a launch\n"
    "  --json, --csv         for programs\n"
    "  --plot FILE.png       components by height; needs gnuplot\n"
    "  --plugins DIR         look for plugins here first; may be repeated\n"
    "  -h, --help            print this\n"
    "\n"
    "The device need not be there: `--device h200` compiles for it and counts what the kernels\n"
    "do; gtx280, gtx260 and gtx-titan are answered by the papers' models.\n",
    .call = predict,
};
