/* trapeze predict: predicts the time of every plan. */
#include "cli/predict_options.h"

#include "cli/print_predictions.h"
#include "lua/interrupt.h"
#include <math.h>
#include <string.h>

enum { MODELS_MAX = 8 };

typedef struct settings {
    tz_predict_options predict;
    tz_prediction_request request;
    bool every; /* --model all */
    struct added {
        struct settings *of;
        bool flag;
        int integer;
    } added[TZ_PREDICTOR_OPTIONS_MAX]; /* options that only some models take */
    char names[TZ_PREDICTOR_OPTIONS_MAX][24];
    double jump; /* steps; 0: not asked */
    bool measure, verbose;
} settings;

static int take_model(const tz_command *command, void *out, const char *name)
{
    settings *s = out;
    tz_error error;
    s->every = strcmp(name, "all") == 0;
    s->request.by = NULL;
    if (s->every || tz_predictor_find(name, false, &s->request.by, &error) == TZ_OK)
        return EXIT_DONE;
    return tz_misuse(command, "%s", error.message);
}

/* Numbers for an option that only some models take. */
static int take_added(const tz_command *command, void *out, const char *text)
{
    const struct added *added = out;
    const int index = (int)(added - added->of->added);
    const tz_predictor_option *option = &tz_predictor_options[index];
    double values[TZ_MODEL_AXES];
    const int most = option->value == TZ_PREDICTOR_EXTENTS ? TZ_MODEL_AXES : 1;
    const int count = tz_numbers_parse(text, most, option->least, option->most, values);
    if (count == 0)
        return tz_misuse(command, "--%s needs %s, not '%.60s'", added->of->names[index],
                         option->needs, text);
    tz_prediction_option_set(&added->of->request, index, values, count);
    return EXIT_DONE;
}

/* Adds their rows to a table of options. */
static void add_options(settings *s, tz_option *out)
{
    for (int i = 0; tz_predictor_options[i].name && i < TZ_PREDICTOR_OPTIONS_MAX; i++) {
        const tz_predictor_option *option = &tz_predictor_options[i];
        struct added *added = &s->added[i];
        char *name = s->names[i];
        if (!option->help)
            continue;
        added->of = s;
        snprintf(name, sizeof s->names[i], "%s", option->name);
        for (char *at = name; *at; at++)
            *at = *at == '_' ? '-' : *at;
        if (option->value == TZ_PREDICTOR_FLAG)
            *out++ = (tz_option)TZ_FLAG(name, &added->flag);
        else if (option->value == TZ_PREDICTOR_INTEGER)
            *out++ =
                (tz_option)TZ_INTEGER(name, &added->integer, (int)option->least, (int)option->most);
        else
            *out++ = (tz_option)TZ_CALL(name, added, take_added);
    }
    *out = (tz_option){.name = NULL};
}

/* Flags and integers that were given, as numbers of the request. */
static void take_options(settings *s)
{
    for (int i = 0; tz_predictor_options[i].name && i < TZ_PREDICTOR_OPTIONS_MAX; i++) {
        const double value = s->added[i].flag ? 1 : s->added[i].integer;
        if (value > 0)
            tz_prediction_option_set(&s->request, i, &value, 1);
    }
}

static int take_steps(const tz_command *command, void *out, const char *text)
{
    double steps;
    if (tz_numbers_parse(text, 1, 1, 1e15, &steps) != 1 || steps != floor(steps))
        return tz_misuse(command, "--steps needs a number of steps, at least 1, not '%.60s'", text);
    ((settings *)out)->request.steps = (int64_t)steps;
    return EXIT_DONE;
}

static int take_jump(const tz_command *command, void *out, const char *text)
{
    double *steps = &((settings *)out)->jump;
    if (tz_numbers_parse(text, 1, 1, 1e15, steps) == 1 && *steps == floor(*steps))
        return EXIT_DONE;
    return tz_misuse(command, "--jump needs a number of steps, at least 1, not '%.60s'", text);
}

/* Whether the model predicts no times: its answer is its own. */
static bool is_answer(const settings *s)
{
    return s->request.by && !s->request.by->model;
}

/* What such a model leaves no room for. */
static int check_answer(const tz_command *command, const settings *s)
{
    const char *other = s->jump > 0  ? "jump"
                        : s->measure ? "measure"
                                     : tz_predictor_excess(&s->request);
    char option[32];
    if (!other)
        return TZ_OPTIONS_GO_ON;
    snprintf(option, sizeof option, "%s", other);
    for (char *at = option; *at; at++)
        *at = *at == '_' ? '-' : *at;
    return tz_misuse(command, "--%s does not go with --model %s, which %s", option,
                     s->request.by->name, s->request.by->does);
}

/* What --jump leaves no room for. */
static int check_jump(const tz_command *command, const settings *s)
{
    const char *other = s->predict.plot  ? "--plot"
                        : s->request.all ? "--all"
                        : s->every       ? "--model all"
                                         : NULL;
    char names[128];
    tz_predictor_names(tz_predictor_measures, " or ", names, sizeof names);
    if (s->measure && !(s->jump > 0) && !(s->request.by && s->request.by->measure))
        return tz_misuse(command, "--measure goes with --jump%s%s; trapeze tune measures plans",
                         names[0] ? " and with --model " : "", names);
    if (s->jump > 0 && other)
        return tz_misuse(command, "%s does not go with --jump", other);
    return TZ_OPTIONS_GO_ON;
}

/* TZ_OPTIONS_GO_ON, or what to exit with. */
static int parse(const tz_command *command, int argc, char **argv, settings *s)
{
    enum { OWN = 8 };
    tz_option options[OWN + TZ_PREDICTOR_OPTIONS_MAX + 1] = {
        TZ_CALL("model", s, take_model),     TZ_FLAG("all", &s->request.all),
        TZ_FLAG("quick", &s->request.quick), TZ_FLAG("compile", &s->request.compile),
        TZ_CALL("steps", s, take_steps),     TZ_CALL("jump", s, take_jump),
        TZ_FLAG("measure", &s->measure),     TZ_VERBOSE(&s->verbose)};
    add_options(s, options + OWN);
    const int code = tz_predict_options_read(&s->predict, command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (s->request.quick && s->request.compile)
        return tz_misuse(command, "--quick or --compile, not both");
    s->request.given = s->predict.simulation.plan;
    memcpy(s->request.block, s->predict.block, sizeof s->request.block);
    take_options(s);
    return is_answer(s) ? check_answer(command, s) : check_jump(command, s);
}

/* Make one prediction table, or with --model all one of each model that has its numbers. */
static int make_tables(const settings *s, const tz_workload *workload, tz_prediction_table **tables,
                       int *count)
{
    tz_error error;
    tz_predict_progress progress;
    tz_prediction_request request = s->request;
    *count = 0;
    request.watch = &progress.watch;
    if (!s->every) {
        tz_predict_progress_begin(&progress);
        const tz_status status = tz_prediction_table_create(&tables[0], workload, &request, &error);
        tz_predict_progress_clear(&progress);
        if (status != TZ_OK)
            return tz_predict_fail(&error);
        *count = 1;
        if (s->measure && !(s->jump > 0) &&
            tz_prediction_table_measure(tables[0], workload, s->predict.simulation.device,
                                        &error) != TZ_OK)
            return tz_fail(EXIT_FAILED, &error);
        return EXIT_DONE;
    }
    for (int i = 0; tz_predictors[i] && *count < MODELS_MAX; i++) {
        if (!tz_predictors[i]->model)
            continue;
        request.by = tz_predictors[i];
        tz_predict_progress_begin(&progress);
        const tz_status status =
            tz_prediction_table_create(&tables[*count], workload, &request, &error);
        tz_predict_progress_clear(&progress);
        if (status == TZ_INTERRUPTED)
            return tz_predict_fail(&error);
        if (status == TZ_OK)
            (*count)++;
        else
            fprintf(stderr, "trapeze: %s is left out: %s\n", request.by->name, error.message);
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
OF_MODEL(name, tz_cell_text(table->by->name));
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
    if (is_answer(s)) {
        s->request.by->write(tables[0], workload, s->verbose, stdout);
        return;
    }
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
        (is_answer(s)
             ? s->request.by->plot(tables[0], workload, s->predict.plot, &error)
             : tz_prediction_table_plot(workload, tables, count, s->predict.plot, &error)) != TZ_OK)
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
    settings s = {.predict = {.simulation = {.precision = -1, .stopped = tz_interrupt_signal}},
                  .request = {.by = NULL}};
    tz_workload *workload = NULL;
    tz_interrupt_install();
    tz_prediction_table *tables[MODELS_MAX] = {NULL};
    int count = 0, code = parse(command, argc, argv, &s);
    if (code == TZ_OPTIONS_GO_ON)
        code = tz_predict_options_apply(&s.predict, command, true, &workload);
    if (workload && code == EXIT_DONE)
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
    .examples = "  trapeze predict hotspot --grid 4096,4096\n"
                "  trapeze predict star3d1r --grid 512,512,512 --device h200 --plot why.png\n",
    .arguments = "STENCIL|--from SCENARIO --grid NX[,NY[,NZ]] [OPTION]…",
    .doc = "predict the best height, the time of an iteration and its limit, without a run",
    .help = TZ_PREDICT_OPTIONS_HELP
    "  --model NAME          {models}, or all to\n"
    "                        compare those that predict times (default: the first that the\n"
    "                        device's record has the numbers for)\n"
    "  -v, --verbose         also the plans by height, with the parts of their times, and what\n"
    "                        the model counts\n"
    "  --all                 the same with every plan, not only the best of a family and height\n"
    "  --compile             compile every kernel; without it, only those that may be best, as\n"
    "                        many at once as there are threads (at most 16)\n"
    "  --quick               estimates: compile only what these need, one short kernel\n"
    "  --steps N             the best plan for a run of N steps, which may be less high, and its "
    "time\n"
    "{model options}"
    "  --jump N              N steps at once in the frequency domain against the best plan: both\n"
    "                        times, and from how many steps on a jump is faster\n"
    "  --measure             with --jump: measure both on this machine, too; with a model of\n"
    "                        kernels of its own: run these on this machine's GPU, and compare\n"
    "  --json, --csv         print JSON or CSV\n"
    "  --plot FILE.png       components by height, which needs gnuplot; of a model without times "
    "a\n"
    "                        picture of its own\n"
    "  --plugins DIR         look for plugins here first; may be repeated\n"
    "  -h, --help            print this\n"
    "\n"
    "The device need not be in this machine: `--device h200` compiles for it and counts what the\n"
    "kernels do.\n",
    .call = predict,
};
