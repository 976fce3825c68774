/* trapeze predict: predicts the time of every plan. */
#include "cli/predict_options.h"

#include "base/names.h"
#include "cli/print_predictions.h"
#include "cli/print_thread_blocks.h"
#include "model/luo2011.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS_MAX = 8 };

typedef struct settings {
    tz_predict_options predict;
    tz_prediction_request request;
    const char *model;
    double jump; /* steps; 0: not asked */
    bool measure, verbose;
} settings;

static int take_model(const tz_command *command, void *out, const char *name)
{
    settings *s = out;
    const char *names[MODELS_MAX + 2] = {"all", TZ_THREAD_BLOCKS_MODEL};
    char hint[128];
    size_t count = 2;
    for (int i = 0; tz_models[i] && i < MODELS_MAX; i++)
        names[count++] = tz_models[i]->name;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        s->model = names[i];
        s->request.model = i < 2 ? NULL : tz_models[i - 2];
        return EXIT_DONE;
    }
    return tz_misuse(command, "unknown model '%.60s'%s", name,
                     tz_names_hint(hint, sizeof hint, name, names, count));
}

static int take_halo(const tz_command *command, void *out, const char *text)
{
    if (tz_numbers_parse(text, TZ_AXES, 1e-9, 1e6, ((settings *)out)->request.halo) > 0)
        return EXIT_DONE;
    return tz_misuse(command,
                     "--halo needs one to three numbers of cells, both sides together, not '%.60s'",
                     text);
}

static int take_streamed(const tz_command *command, void *out, const char *text)
{
    if (tz_numbers_parse(text, 1, 0, 64, &((settings *)out)->request.streamed) == 1)
        return EXIT_DONE;
    return tz_misuse(command, "--streamed needs a number from 0 to 64, not '%.60s'", text);
}

static int take_jump(const tz_command *command, void *out, const char *text)
{
    double *steps = &((settings *)out)->jump;
    if (tz_numbers_parse(text, 1, 1, 1e15, steps) == 1 && *steps == floor(*steps))
        return EXIT_DONE;
    return tz_misuse(command, "--jump needs a number of steps, at least 1, not '%.60s'", text);
}

static bool is_thread_blocks(const settings *s)
{
    return s->model && strcmp(s->model, TZ_THREAD_BLOCKS_MODEL) == 0;
}

/* The model of thread blocks predicts no time: what it leaves no room for. */
static int check_thread_blocks(const tz_command *command, const settings *s)
{
    const char *other = s->jump > 0  ? "jump"
                        : s->measure ? "measure"
                                     : tz_thread_blocks_excess(&s->request);
    char option[32];
    if (!other)
        return TZ_OPTIONS_GO_ON;
    snprintf(option, sizeof option, "%s", other);
    for (char *at = option; *at; at++)
        *at = *at == '_' ? '-' : *at;
    return tz_misuse(command, "--%s does not go with --model %s, which lists thread blocks", option,
                     TZ_THREAD_BLOCKS_MODEL);
}

/* What --jump leaves no room for. */
static int check_jump(const tz_command *command, const settings *s)
{
    const char *other = s->predict.plot                            ? "--plot"
                        : s->request.all                           ? "--all"
                        : s->model && strcmp(s->model, "all") == 0 ? "--model all"
                                                                   : NULL;
    if (s->measure && !(s->jump > 0) && s->request.model != &tz_model_luo2011)
        return tz_misuse(command,
                         "--measure goes with --jump and with --model luo2011; trapeze tune "
                         "measures plans");
    if (s->jump > 0 && other)
        return tz_misuse(command, "%s does not go with --jump", other);
    return TZ_OPTIONS_GO_ON;
}

/* TZ_OPTIONS_GO_ON, or what to exit with. */
static int parse(const tz_command *command, int argc, char **argv, settings *s)
{
    bool compile = false;
    const tz_option options[] = {TZ_CALL("model", s, take_model),
                                 TZ_FLAG("all", &s->request.all),
                                 TZ_FLAG("compile", &compile),
                                 TZ_CALL("halo", s, take_halo),
                                 TZ_CALL("streamed", s, take_streamed),
                                 TZ_FLAG("fence", &s->request.fence),
                                 TZ_FLAG("as-printed", &s->request.as_printed),
                                 TZ_INTEGER("trips", &s->request.trips, 1, 1000000),
                                 TZ_CALL("jump", s, take_jump),
                                 TZ_FLAG("measure", &s->measure),
                                 TZ_VERBOSE(&s->verbose),
                                 {.name = NULL}};
    const int code = tz_predict_options_read(&s->predict, command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (compile)
        s->request.effort = TZ_EFFORT_COMPILE;
    s->request.given = s->predict.simulation.plan;
    memcpy(s->request.block, s->predict.block, sizeof s->request.block);
    return is_thread_blocks(s) ? check_thread_blocks(command, s) : check_jump(command, s);
}

static int print_thread_blocks(const settings *s, const tz_workload *workload)
{
    tz_error error;
    tz_thread_blocks *blocks = NULL;
    tz_status status = tz_thread_blocks_create(&blocks, workload, &error);
    if (status == TZ_OK && s->predict.plot)
        status = tz_thread_blocks_plot(workload, blocks, s->predict.plot, &error);
    if (status != TZ_OK) {
        free(blocks);
        return tz_fail(EXIT_FAILED, &error);
    }
    if (s->predict.form == TZ_FORM_JSON) {
        tz_print_json(tz_thread_blocks_json(workload, blocks), 9);
    } else if (s->predict.form == TZ_FORM_CSV) {
        tz_thread_blocks_print_csv(workload, blocks);
    } else if (s->verbose) {
        tz_thread_blocks_print(workload, blocks);
    } else {
        tz_thread_blocks_sum_up(workload, blocks);
    }
    free(blocks);
    return tz_finish_output();
}

/* Make one prediction table, or with --model all one of each model that has its numbers. */
static int make_tables(const settings *s, const tz_workload *workload, tz_prediction_table **tables,
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
        if (s->measure && !(s->jump > 0) &&
            tz_plain_measure(tables[0], workload, s->predict.simulation.device, &error) != TZ_OK)
            return tz_fail(EXIT_FAILED, &error);
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

/* A row of the comparison is a pointer to a table. */
#define OF_MODEL(name, expression)                                                                 \
    static tz_cell model_##name(const void *context, const void *row)                              \
    {                                                                                              \
        const tz_prediction_table *const table = *(tz_prediction_table *const *)row;               \
        const tz_prediction_row *const best = &table->rows[table->best];                           \
        (void)context, (void)best;                                                                 \
        return expression;                                                                         \
    }                                                                                              \
    struct tz_sheet_column
OF_MODEL(name, tz_cell_text(table->model->name));
OF_MODEL(height, tz_cell_integer(best->plan.height));
OF_MODEL(rate, tz_cell_real(best->prediction.cells_per_s * 1e-9));
OF_MODEL(why, tz_cell_text(table->why));

static tz_cell model_time(const void *context, const void *row)
{
    const tz_prediction_table *const table = *(tz_prediction_table *const *)row;
    char time[TZ_TEXT_SIZE];
    (void)context;
    tz_format_seconds(table->rows[table->best].prediction.time_s, time, sizeof time);
    return tz_cell_made("%s", time);
}

static void compare(tz_prediction_table *const *tables, int count)
{
    static const tz_sheet_column columns[] = {
        {.heading = "model", .get = model_name, .gap = 2, .width = -10},
        {.heading = "height", .get = model_height, .width = 7},
        {.heading = "iteration", .get = model_time, .width = 12},
        {.heading = "GCells/s", .get = model_rate, .width = 10},
        {.heading = "limit", .get = model_why, .gap = 2},
        {.key = NULL}};
    const tz_sheet sheet = {
        .columns = columns, .rows = tables, .stride = sizeof *tables, .count = count};
    tz_sheet_text(&sheet, stdout);
}

/* Text of each table, then the comparison of several. */
static void print_text(const settings *s, const tz_workload *workload,
                       tz_prediction_table *const *tables, int count)
{
    const bool details = s->verbose || s->request.all;
    for (int k = 0; details && k < count; k++) {
        printf("%s", k > 0 ? "\n" : "");
        tz_prediction_table_print(workload, tables[k], s->request.all);
    }
    if (count == 1 && !details)
        tz_prediction_table_sum_up(workload, tables[0]);
    if (count > 1 && details)
        printf("\n");
    else if (count > 1)
        tz_print_workload(workload, NULL);
    if (count > 1)
        compare(tables, count);
}

static int print_tables(const settings *s, const tz_workload *workload,
                        tz_prediction_table *const *tables, int count)
{
    tz_error error;
    json_t *list = s->predict.form == TZ_FORM_JSON && count > 1 ? json_array() : NULL;
    for (int k = 0; list && k < count; k++)
        json_array_append_new(list, tz_prediction_table_json(workload, tables[k]));
    if (s->predict.form == TZ_FORM_JSON)
        tz_print_json(list ? list : tz_prediction_table_json(workload, tables[0]), 9);
    for (int k = 0; s->predict.form == TZ_FORM_CSV && k < count; k++)
        tz_prediction_table_print_csv(workload, tables[k], k == 0);
    if (s->predict.form == TZ_FORM_TEXT)
        print_text(s, workload, tables, count);
    if (s->predict.plot &&
        tz_prediction_table_plot(workload, tables, count, s->predict.plot, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    return tz_finish_output();
}

static int print_jump(const settings *s, const tz_workload *workload,
                      const tz_prediction_table *table)
{
    tz_error error;
    tz_jump_prediction jump;
    tz_status status = tz_jump_predict(&jump, workload, table, (int64_t)s->jump, &error);
    if (status == TZ_OK && s->measure)
        status = tz_jump_measure(&jump, workload, table, s->predict.simulation.device, &error);
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    const tz_prediction_sheet context = {workload, table};
    const tz_sheet sheet = {
        .columns = tz_jump_columns, .context = &context, .rows = &jump, .count = 1};
    if (s->predict.form == TZ_FORM_JSON)
        tz_print_json(tz_row_json(tz_jump_columns, &context, &jump), 9);
    else if (s->predict.form == TZ_FORM_CSV)
        tz_sheet_csv(&sheet, true, stdout);
    else
        tz_jump_print(workload, table, &jump);
    return tz_finish_output();
}

static int predict(const tz_command *command, int argc, char **argv)
{
    settings s = {.predict = {.simulation = {.precision = -1}}, .request = {.streamed = -1}};
    tz_workload *workload = NULL;
    tz_prediction_table *tables[MODELS_MAX] = {NULL};
    int count = 0, code = parse(command, argc, argv, &s);
    if (code == TZ_OPTIONS_GO_ON)
        code = tz_predict_options_apply(&s.predict, command, true, &workload);
    if (workload && code == EXIT_DONE && is_thread_blocks(&s))
        code = print_thread_blocks(&s, workload);
    else if (workload && code == EXIT_DONE)
        code = make_tables(&s, workload, tables, &count);
    if (count > 0 && code == EXIT_DONE)
        code = s.jump > 0 ? print_jump(&s, workload, tables[0])
                          : print_tables(&s, workload, tables, count);
    for (int k = 0; k < count; k++)
        tz_prediction_table_destroy(tables[k]);
    tz_workload_destroy(workload);
    tz_predict_options_clear(&s.predict);
    return code;
}

const tz_command tz_command_predict = {
    .name = "predict",
    .arguments = "PLUGIN --grid NX[,NY[,NZ]] [OPTION]…",
    .doc = "predict the best height, the time of an iteration and its limit, without a run",
    .help = TZ_PREDICT_OPTIONS_HELP
    "  --model NAME          roofs, meng2009, meng2011, luo2011, or all to compare (default: the\n"
    "                        first that the device's record has the numbers for); or tabik2015:\n"
    "                        which thread blocks are worth trying, without times\n"
    "  -v, --verbose         also the plans by height, with the parts of their times, and what\n"
    "                        the model counts\n"
    "  --all                 the same with every plan, not only the best of a family and height\n"
    "  --compile             compile every kernel; without it, only those that may be best, as\n"
    "                        many at once as there are threads (at most 16), none begun after 8 s\n"
    "  --halo N[,N[,N]]      for the papers' models: another halo width, both sides together\n"
    "  --streamed N          for the papers' models: another number of streamed fields\n"
    "  --fence               for the papers' models: stages synchronise inside one launch\n"
    "  --as-printed          for luo2011: equation 2 as the paper prints it\n"
    "  --trips N             for luo2011: turns of loops whose end depends on data (default 1)\n"
    "  --jump N              N steps at once in the frequency domain against the best plan: both\n"
    "                        times, and from how many steps on a jump is faster\n"
    "  --measure             with --jump: measure both on this machine, too; with --model "
    "luo2011:\n"
    "                        run its plain kernel on this machine's GPU, and compare\n"
    "  --json, --csv         print JSON or CSV\n"
    "  --plot FILE.png       components by height, which needs gnuplot; of tabik2015 a heat map\n"
    "  --plugins DIR         look for plugins here first; may be repeated\n"
    "  -h, --help            print this\n"
    "\n"
    "The device need not be in this machine: `--device h200` compiles for it and counts what the\n"
    "kernels do. For gtx280, gtx260, gtx480 and gtx-titan there are the papers' models.\n",
    .call = predict,
};
