/* trapeze tune PLUGIN --grid … */
#include "cli/command.h"

#include "cli/predict_options.h"
#include "cli/print_tune.h"
#include "lua/interrupt.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPT_FAMILIES = 256,
    OPT_ROUNDS,
    OPT_SECONDS,
    OPT_SUSTAINED,
    OPT_JSON,
    OPT_CSV,
    OPT_PLOT,
    OPT_ALL,
    OPT_NO_CHECK,
    OPT_COMPILE_ONLY,
    OPT_PART
};

typedef struct settings {
    tz_predict_options predict;
    tz_tune_request request;
    const char *stencil, *plot;
    bool json, csv, all, compile_only;
    int part, of;
} settings;

static bool take_part(const tz_command *command, settings *s, const char *text)
{
    char *end, *last;
    const long k = strtol(text, &end, 10);
    const long n = *end == '/' ? strtol(end + 1, &last, 10) : 0;
    if (end == text || *end != '/' || last == end + 1 || *last != '\0' || k < 1 || n < k ||
        n > 1000) {
        tz_misuse(command, "--part wants K/N, as in 1/4, not '%.40s'", text);
        return false;
    }
    s->part = (int)k - 1;
    s->of = (int)n;
    return true;
}

static bool take_option(const tz_command *command, void *context, int option)
{
    settings *s = context;
    double seconds;
    switch (option) {
    case OPT_FAMILIES:
        s->request.families = optarg;
        return true;
    case OPT_ROUNDS:
        return tz_option_number(command, "--rounds", optarg, 1, TZ_MEASURE_ROUNDS_MAX / 2,
                                &s->request.rounds);
    case OPT_SECONDS:
        if (tz_numbers_parse(optarg, 1, 1e-4, 100, &seconds) == 1) {
            s->request.round_s = seconds;
            return true;
        }
        tz_misuse(command, "--seconds wants a number from 0.0001 to 100, not '%.40s'", optarg);
        return false;
    case OPT_SUSTAINED:
        return s->request.sustained = true;
    case OPT_JSON:
        return s->json = true;
    case OPT_CSV:
        return s->csv = true;
    case OPT_ALL:
        return s->all = true;
    case OPT_PLOT:
        s->plot = optarg;
        return true;
    case OPT_NO_CHECK:
        s->request.check = false;
        return true;
    case OPT_COMPILE_ONLY:
        return s->compile_only = true;
    case OPT_PART:
        return take_part(command, s, optarg);
    default:
        return false;
    }
}

static bool parse(const tz_command *command, int argc, char **argv, settings *s, bool *done)
{
    static const struct option options[] = {TZ_PREDICT_OPTIONS_OPTIONS,
                                            {"families", required_argument, NULL, OPT_FAMILIES},
                                            {"rounds", required_argument, NULL, OPT_ROUNDS},
                                            {"seconds", required_argument, NULL, OPT_SECONDS},
                                            {"sustained", no_argument, NULL, OPT_SUSTAINED},
                                            {"json", no_argument, NULL, OPT_JSON},
                                            {"csv", no_argument, NULL, OPT_CSV},
                                            {"plot", required_argument, NULL, OPT_PLOT},
                                            {"all", no_argument, NULL, OPT_ALL},
                                            {"no-check", no_argument, NULL, OPT_NO_CHECK},
                                            {"compile-only", no_argument, NULL, OPT_COMPILE_ONLY},
                                            {"part", required_argument, NULL, OPT_PART},
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
    if (s->of > 1 && !s->compile_only) {
        tz_misuse(command, "--part goes with --compile-only");
        return false;
    }
    return true;
}

static bool on_progress(void *context, int done, int of)
{
    (void)context;
    if (isatty(STDERR_FILENO) == 1)
        fprintf(stderr, done + 1 < of ? "\r%d of %d\033[K" : "\r\033[K", done, of);
    return tz_interrupt_signal() == 0;
}

static int measure(const settings *s, const tz_workload *workload)
{
    tz_error error;
    tz_tune *tune = NULL;
    tz_interrupt_install();
    tz_status status = tz_tune_create(&tune, workload, &s->request, &error);
    if (status != TZ_OK)
        return tz_fail(status == TZ_INTERRUPTED ? 130 : EXIT_FAILED, &error);
    if (s->csv) {
        tz_tune_print_csv(workload, tune);
    } else if (s->json) {
        json_t *object = tz_tune_json(workload, tune);
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        printf("\n");
        json_decref(object);
    } else {
        tz_tune_print(workload, tune, s->all);
    }
    if (s->plot)
        status = tz_tune_plot(workload, tune, s->plot, &error);
    const int different = tune->different;
    tz_tune_destroy(tune);
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    const int code = tz_finish_output();
    if (different > 0)
        return tz_fail_text(EXIT_FAILED, "%d plans leave other bits than the first", different);
    return code;
}

static int compile(const settings *s, const tz_workload *workload)
{
    tz_error error;
    int count = 0;
    if (tz_tune_compile(workload, &s->request, s->part, s->of, &count, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    printf("%s on %s: %d plans compiled\n", workload->problem.stencil->id, workload->grid, count);
    return tz_finish_output();
}

static int tune_call(const tz_command *command, int argc, char **argv)
{
    settings s = {.predict = {.simulation = {.precision = -1}},
                  .request = {.rounds = 5, .check = true, .progress = on_progress},
                  .of = 1};
    tz_workload *workload = NULL;
    bool done = false;
    int code = EXIT_USAGE;
    if (!parse(command, argc, argv, &s, &done) || done) {
        code = done ? EXIT_DONE : EXIT_USAGE;
        goto cleanup;
    }
    s.request.given = s.predict.simulation.plan;
    s.request.ordinal = s.predict.simulation.device;
    for (int axis = 0; axis < TZ_AXES; axis++)
        s.request.given.tile[axis] = (int64_t)s.predict.block[axis];
    code = tz_predict_options_ask(&s.predict, command, s.stencil, s.compile_only, &workload);
    if (code == EXIT_DONE) {
        if (s.request.round_s == 0)
            s.request.round_s = !workload->is_gpu ? 0.05 : s.request.sustained ? 0.2 : 0.01;
        code = s.compile_only ? compile(&s, workload) : measure(&s, workload);
    }
cleanup:
    tz_workload_destroy(workload);
    tz_predict_options_clear(&s.predict);
    return code;
}

const tz_command tz_command_tune = {
    .name = "tune",
    .arguments = "PLUGIN --grid NX[,NY[,NZ]] [OPTION]…",
    .doc = "measure every plan on this machine beside its prediction",
    .help = TZ_PREDICT_OPTIONS_HELP
    "  --families A,B        only these: stream, tile, resident\n"
    "  --rounds N            of each plan that is not far behind (default: 5); their median "
    "counts,\n"
    "                        on a CPU, whose cores others may use too, the first quarter\n"
    "  --seconds S           of a round (default: 0.01 on a GPU, sustained 0.2; 0.05 on a CPU)\n"
    "  --sustained           without rests, after half a second of work on each plan: what a long\n"
    "                        run gets from a GPU that lowers its clock to keep to its power limit\n"
    "  --all                 show every plan, not only the fastest of a family and height\n"
    "  --no-check            do not compare the bits that plans leave (needs no copy of the "
    "fields)\n"
    "  --compile-only        only compile the kernels, so that they are in the cache\n"
    "  --part K/N            of them, a share: for several processes at once\n"
    "  --json, --csv         for programs: every plan\n"
    "  --plot FILE.png       measured and predicted by height; needs gnuplot\n"
    "  --plugins DIR         look for plugins here first; may be repeated\n"
    "  -h, --help            print this\n"
    "\n"
    "On a GPU what is measured is its full clock: it rests before each round, four times as long "
    "as\n"
    "it worked, so that its average power stays far below its limit. Rounds at whose end it held\n"
    "its clock back all the same are counted (--csv: throttled, clock_hz). The prediction beside\n"
    "them is that of the full clock; with --sustained, that of the clock which the card's power\n"
    "leaves, if its record has energies.\n"
    "\n"
    "Random data. The fastest plans and the predicted one run again in turns, so that the share\n"
    "reached is no accident. Exit code 1 if a plan leaves other bits than height 1.\n",
    .call = tune_call,
};
