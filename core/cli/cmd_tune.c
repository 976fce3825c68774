/* trapeze tune: measures every plan and compares it with its prediction. */
#include "cli/predict_options.h"

#include "cli/print_predictions.h"
#include "cli/print_tune.h"
#include "lua/interrupt.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct settings {
    tz_predict_options predict;
    tz_tune_request request;
    bool all, compile_only;
    int part, of; /* of --compile-only: part 0 … of - 1 */
} settings;

static int take_part(const tz_command *command, void *out, const char *text)
{
    settings *s = out;
    char *end, *last;
    const long k = strtol(text, &end, 10);
    const long n = *end == '/' ? strtol(end + 1, &last, 10) : 0;
    if (end == text || *end != '/' || last == end + 1 || *last != '\0' || k < 1 || n < k ||
        n > 1000)
        return tz_misuse(command, "--part needs K/N, as in 1/4, not '%.40s'", text);
    s->part = (int)k - 1;
    s->of = (int)n;
    return EXIT_DONE;
}

static int take_model(const tz_command *command, void *out, const char *name)
{
    tz_error error;
    if (tz_predictor_find(name, true, &((settings *)out)->request.lister, &error))
        return tz_misuse(command, "%s", error.message);
    return EXIT_DONE;
}

static int take_seconds(const tz_command *command, void *out, const char *text)
{
    if (tz_numbers_parse(text, 1, 1e-4, 100, &((settings *)out)->request.round_s) == 1)
        return EXIT_DONE;
    return tz_misuse(command, "--seconds needs a number from 0.0001 to 100, not '%.40s'", text);
}

/* TZ_OPTIONS_GO_ON, or what to exit with. */
static int parse(const tz_command *command, int argc, char **argv, settings *s)
{
    tz_tune_request *request = &s->request;
    bool no_check = false;
    const tz_option options[] = {
        TZ_CALL("model", s, take_model),
        TZ_TEXT("families", &request->families),
        TZ_INTEGER("rounds", &request->rounds, 1, TZ_MEASURE_ROUNDS_MAX / 2),
        TZ_CALL("seconds", s, take_seconds),
        TZ_FLAG("sustained", &request->sustained),
        TZ_FLAG("all", &s->all),
        TZ_FLAG("no-check", &no_check),
        TZ_FLAG("compile-only", &s->compile_only),
        TZ_CALL("part", s, take_part),
        {.name = NULL},
    };
    const int code = tz_predict_options_read(&s->predict, command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (s->of > 1 && !s->compile_only)
        return tz_misuse(command, "--part goes with --compile-only");
    if (request->lister && (request->families || s->compile_only || s->predict.plot))
        return tz_misuse(command, "--%s does not go with --model %s",
                         request->families ? "families"
                         : s->compile_only ? "compile-only"
                                           : "plot",
                         request->lister->name);
    request->check = !no_check;
    request->given = s->predict.simulation.plan;
    request->ordinal = s->predict.simulation.device;
    for (int axis = 0; axis < TZ_AXES; axis++)
        request->given.tile[axis] = (int64_t)s->predict.block[axis];
    return TZ_OPTIONS_GO_ON;
}

static bool on_progress(void *context, int done, int of)
{
    (void)context;
    if (isatty(STDERR_FILENO) == 1)
        fprintf(stderr, done + 1 < of ? "\r%d of %d\033[K" : "\r\033[K", done, of);
    return tz_interrupt_signal() == 0;
}

static int failed(tz_status status, const tz_error *error)
{
    return tz_fail(status == TZ_INTERRUPTED ? 128 + tz_interrupt_signal() : EXIT_FAILED, error);
}

static int measure(const settings *s, const tz_workload *workload)
{
    tz_error error;
    tz_tune *tune = NULL;
    tz_status status = tz_tune_create(&tune, workload, &s->request, &error);
    if (status != TZ_OK)
        return failed(status, &error);
    if (s->predict.form == TZ_FORM_CSV)
        tz_tune_print_csv(workload, tune);
    else if (s->predict.form == TZ_FORM_JSON)
        tz_print_json(tz_tune_json(workload, tune), 9);
    else
        tz_tune_print(workload, tune, s->all);
    if (s->predict.plot)
        status = tz_tune_plot(workload, tune, s->predict.plot, &error);
    const int different = tune->different;
    tz_tune_destroy(tune);
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    const int code = tz_finish_output();
    if (different > 0)
        return tz_fail_text(EXIT_FAILED,
                            "the fields of %d plans differ from those of the first: a fault",
                            different);
    return code;
}

static int compile(const settings *s, const tz_workload *workload)
{
    tz_error error;
    int count = 0;
    const tz_status status = tz_tune_compile(workload, &s->request, s->part, s->of, &count, &error);
    if (status != TZ_OK)
        return failed(status, &error);
    printf("%s on %s: %d plans compiled\n", workload->problem.stencil->id, workload->grid, count);
    return tz_finish_output();
}

static int tune_call(const tz_command *command, int argc, char **argv)
{
    settings s = {.predict = {.simulation = {.precision = -1, .stopped = tz_interrupt_signal}},
                  .request = {.progress = on_progress},
                  .of = 1};
    tz_workload *workload = NULL;
    tz_interrupt_install();
    int code = parse(command, argc, argv, &s);
    if (code == TZ_OPTIONS_GO_ON)
        code = tz_predict_options_apply(&s.predict, command, s.compile_only, &workload);
    if (workload && code == EXIT_DONE) {
        code = s.compile_only ? compile(&s, workload) : measure(&s, workload);
    }
    tz_workload_destroy(workload);
    tz_predict_options_clear(&s.predict);
    return code;
}

const tz_command tz_command_tune = {
    .name = "tune",
    .arguments = "PLUGIN --grid NX[,NY[,NZ]] [OPTION]…",
    .doc = "measure every plan on this machine and compare it with its prediction",
    .help = TZ_PREDICT_OPTIONS_HELP
    "  --families A,B        only these families: {families}\n"
    "{tune models}"
    "  --rounds N            measure each plan that is near the fastest N times (default: 5). The\n"
    "                        median counts; on a CPU, which other programs may use, the first\n"
    "                        quartile\n"
    "  --seconds S           length of a round (default: 0.01 on a GPU, 0.2 with --sustained, "
    "0.05\n"
    "                        on a CPU)\n"
    "  --sustained           no rests, and half a second of work before each plan: the speed of a\n"
    "                        long run on a GPU that lowers its clock to keep its power limit\n"
    "  --all                 show every plan, not only the fastest of a family and height\n"
    "  --no-check            do not compare the bits that plans leave; saves a copy of the fields\n"
    "  --compile-only        compile the kernels into the cache and stop\n"
    "  --part K/N            compile the K-th of N parts, for several processes at once\n"
    "  --json, --csv         print every plan as JSON or CSV\n"
    "  --plot FILE.png       measured and predicted times by height; needs gnuplot\n"
    "  --plugins DIR         look for plugins here first; may be repeated\n"
    "  -h, --help            print this\n"
    "\n"
    "A GPU is measured at its full clock: before each round it rests four times as long as it\n"
    "worked, so that its average power stays far below its limit. Rounds at whose end the clock "
    "was\n"
    "lowered all the same are counted (--csv: throttled, clock_hz). The prediction is for the "
    "full\n"
    "clock, with --sustained for the clock that the power limit allows, if the device record has\n"
    "energies.\n"
    "\n"
    "The fields hold random numbers. The fastest plans and the predicted one are measured once "
    "more,\n"
    "alternately, before they are compared. Exit code 1 if a plan leaves other bits than height "
    "1.\n",
    .call = tune_call,
};
