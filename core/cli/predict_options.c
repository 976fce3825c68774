/* Parsers of the options --grid, --boundary, --block and others; makes the workload from them.
 * Called by cmd_predict.c and cmd_tune.c. */
#include "cli/predict_options.h"

#include "backend/cuda/compile/compile.h"
#include "base/names.h"
#include "lua/interrupt.h"
#include "output/frame/plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tz_numbers_parse(const char *text, int most, double low, double high, double *out)
{
    for (int n = 0; n < most; n++) {
        char *end;
        out[n] = strtod(text, &end);
        if (end == text || !(out[n] >= low && out[n] <= high))
            return 0;
        if (*end == '\0')
            return n + 1;
        if (*end != ',')
            return 0;
        text = end + 1;
    }
    return 0;
}

static bool are_integers(const double *numbers, int count)
{
    for (int i = 0; i < count; i++)
        if (numbers[i] != trunc(numbers[i]))
            return false;
    return count > 0;
}

static int take_grid(const tz_command *command, void *out, const char *text)
{
    tz_predict_options *predict = out;
    double numbers[TZ_AXES];
    tz_simulation_config *config = &predict->simulation;
    config->dims = tz_numbers_parse(text, TZ_AXES, 1, 2147483647, numbers);
    if (!are_integers(numbers, config->dims))
        return tz_misuse(command,
                         "--grid needs NX, NX,NY or NX,NY,NZ, integers from 1, not '%.60s'", text);
    for (int axis = 0; axis < TZ_AXES; axis++)
        config->extent[axis] = axis < config->dims ? (int64_t)numbers[axis] : 1;
    return EXIT_DONE;
}

static int take_precision(const tz_command *command, void *out, const char *text)
{
    tz_predict_options *predict = out;
    const char *names[TZ_PRECISIONS];
    char hint[128];
    for (int i = 0; i < TZ_PRECISIONS; i++)
        names[i] = tz_precision_name((tz_precision)i);
    predict->simulation.precision = tz_precision_find(text);
    if (predict->simulation.precision >= 0)
        return EXIT_DONE;
    return tz_misuse(command, "unknown precision '%.40s'%s", text,
                     tz_names_hint(hint, sizeof hint, text, names, TZ_PRECISIONS));
}

/* "clamp" for all axes, "periodic,clamp" in their order, or "x=periodic,y=clamp". A word may have
 * two names, for the low and the high side: "clamp:fixed". */
static int take_boundary(const tz_command *command, void *out, const char *text)
{
    tz_predict_options *predict = out;
    tz_simulation_config *config = &predict->simulation;
    int axis = 0;
    bool wrong = strlen(text) >= sizeof predict->boundary;
    if (!wrong)
        strcpy(predict->boundary, text);
    const char *first = NULL;
    for (char *word = wrong ? NULL : strtok(predict->boundary, ","); word;
         word = strtok(NULL, ","), axis++) {
        int at = axis;
        if (word[0] >= 'x' && word[0] <= 'z' && word[1] == '=') {
            at = word[0] - 'x';
            word += 2;
        }
        wrong = wrong || at >= TZ_AXES;
        if (wrong)
            break;
        config->boundary[at] = word;
        first = first ? first : word;
    }
    if (axis == 1)
        for (int other = 1; other < TZ_AXES; other++)
            config->boundary[other] = first;
    if (wrong || axis == 0)
        return tz_misuse(command,
                         "--boundary needs a name, a list with one for each axis, or "
                         "low:high for the sides of an axis, not '%.60s'",
                         text);
    return EXIT_DONE;
}

static int take_set(const tz_command *command, void *out, const char *text)
{
    tz_predict_options *predict = out;
    tz_simulation_config *config = &predict->simulation;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return tz_misuse(command, "--set needs NAME=VALUE, not '%.60s'", text);
    if (config->params_count == TZ_PREDICT_OPTIONS_SETS_MAX)
        return tz_misuse(command, "more than %d times --set", TZ_PREDICT_OPTIONS_SETS_MAX);
    char *copy = strdup(text), *end;
    if (!copy)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    copy[equals - text] = '\0';
    char *value = copy + (equals - text) + 1;
    tz_assignment *param = &predict->params[config->params_count];
    predict->sets[config->params_count++] = copy;
    *param = (tz_assignment){.name = copy, .number = strtod(value, &end)};
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        param->number = value[0] == 't';
    else if (end == value || *end != '\0')
        param->text = value;
    return EXIT_DONE;
}

static int take_block(const tz_command *command, void *out, const char *text)
{
    tz_predict_options *predict = out;
    double numbers[TZ_AXES];
    const int count = tz_numbers_parse(text, TZ_AXES, 1, 2147483647, numbers);
    if (!are_integers(numbers, count))
        return tz_misuse(command,
                         "--block needs BX, BX,BY or BX,BY,BZ, integers from 1, not '%.60s'", text);
    memcpy(predict->block, numbers, (size_t)count * sizeof *numbers);
    return EXIT_DONE;
}

int tz_predict_options_read(tz_predict_options *predict, const tz_command *command, int argc,
                            char **argv, const tz_option *own)
{
    tz_simulation_config *config = &predict->simulation;
    int compile_threads = 0;
    tz_option options[TZ_OPTIONS_MAX + 1] = {
        TZ_CALL("grid", predict, take_grid),
        TZ_CALL("precision", predict, take_precision),
        TZ_CALL("boundary", predict, take_boundary),
        TZ_CALL("set", predict, take_set),
        TZ_CALL("backend", &config->backend, tz_take_backend),
        TZ_TEXT("from", &predict->from.path),
        TZ_TEXT("stencil", &predict->chosen),
        TZ_CALL("arg", &predict->from.sets, tz_take_arg),
        TZ_TEXT("device", &predict->device),
        TZ_INTEGER("gpu", &config->device, 0, 1023),
        TZ_TEXT("devices", &config->devices),
        TZ_TEXT("link", &predict->link),
        TZ_INTEGER("threads", &config->threads, 1, 1024),
        TZ_INTEGER("compile-threads", &compile_threads, 1, 1024),
        TZ_INTEGER("height", &config->plan.height, 1, TZ_PLAN_HEIGHT_MAX),
        TZ_CALL("family", &config->plan, tz_take_family),
        TZ_CALL("block", predict, take_block),
        TZ_FORMS(&predict->form),
        TZ_TEXT("plot", &predict->plot),
        TZ_PATHS("plugins", &predict->plugins.given),
    };
    int count = 0;
    while (options[count].name)
        count++;
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++) {
        const tz_plan_knob *knob = &tz_plan_knobs[k];
        int *value = (int *)((char *)&config->plan + knob->offset);
        options[count++] = (tz_option)TZ_INTEGER(knob->name, value, knob->least, knob->most);
    }
    while (own->name && count < TZ_OPTIONS_MAX)
        options[count++] = *own++;
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    tz_cuda_compilers_limit(compile_threads > 0 ? compile_threads : config->threads, 0);
    if (!predict->from.path && (predict->chosen || predict->from.sets.count > 0))
        return tz_misuse(command, "--stencil and --arg need --from SCENARIO");
    if (optind == argc && !predict->from.path)
        return tz_misuse(command, "needs a stencil; `trapeze plugins` lists them");
    const char *other = predict->chosen     ? predict->chosen
                        : optind + 1 < argc ? argv[optind + 1]
                                            : NULL;
    if (optind < argc && other)
        return tz_misuse(command, "takes one stencil, not '%.60s' too", other);
    predict->stencil = argv[optind];
    return TZ_OPTIONS_GO_ON;
}

/* The stencil of the name, or one of those that the scenario defines. */
static int find_stencil(tz_predict_options *predict, const tz_stencil **stencil)
{
    tz_error error, unknown;
    tz_replay *from = &predict->from;
    from->option = "arg";
    const tz_status status =
        from->path ? tz_plugins_define(&predict->plugins, from, &error) : TZ_OK;
    if (status == TZ_INTERRUPTED)
        return tz_predict_fail(&error);
    if (!predict->stencil && tz_replay_choose(from, predict->chosen, status ? &error : NULL,
                                              &predict->stencil) != EXIT_DONE)
        return EXIT_FAILED;
    const tz_registry *registry = predict->plugins.registry;
    if (tz_registry_find(registry, predict->stencil, stencil, NULL, &unknown) == TZ_OK)
        return EXIT_DONE;
    const char *end = strrchr(predict->stencil, '.');
    if (!status && end && strcmp(end, ".lua") == 0)
        return tz_fail_text(EXIT_FAILED, "%s is a scenario: its stencil is --from %s",
                            predict->stencil, predict->stencil);
    return tz_fail(EXIT_FAILED, status ? &error : &unknown);
}

int tz_predict_options_apply(tz_predict_options *predict, const tz_command *command,
                             bool let_unstable, tz_workload **out)
{
    tz_error error;
    tz_simulation_config *config = &predict->simulation;
    const tz_stencil *stencil = NULL;
    if (predict->plot && !tz_plot_available()) /* before hours of measurements */
        return tz_fail_text(EXIT_FAILED, "--plot: %s", TZ_PLOT_NEEDS_GNUPLOT);
    if (!tz_plugins_open(&predict->plugins))
        return EXIT_FAILED;
    config->registry = predict->plugins.registry;
    const int code = find_stencil(predict, &stencil);
    if (code != EXIT_DONE)
        return code;
    if (config->dims == 0)
        return tz_misuse(command, "needs --grid NX%s%s", stencil->dims > 1 ? ",NY" : "",
                         stencil->dims > 2 ? ",NZ" : "");
    if (config->plan.exchange > 0 && !config->devices)
        return tz_misuse(command, "--exchange goes with --devices: one device exchanges nothing");
    config->stencil = predict->stencil;
    config->params = predict->params;
    const tz_workload_config workload = {.simulation = config,
                                         .device = predict->device,
                                         .link = predict->link,
                                         .let_unstable = let_unstable};
    return tz_workload_create(out, &workload, &error) == TZ_OK ? EXIT_DONE
                                                               : tz_predict_fail(&error);
}

int tz_predict_fail(const tz_error *error)
{
    return tz_fail(error->code == TZ_INTERRUPTED ? 128 + tz_interrupt_signal() : EXIT_FAILED,
                   error);
}

static void on_predicted(void *context, const tz_predicted_plan *plan)
{
    tz_predict_progress *progress = context;
    (void)plan;
    progress->count++;
    fprintf(stderr, "\rpredicting: %d plan%s ready\033[K", progress->count,
            progress->count == 1 ? "" : "s");
}

void tz_predict_progress_begin(tz_predict_progress *progress)
{
    *progress = (tz_predict_progress){.terminal = isatty(STDERR_FILENO) == 1};
    progress->watch.context = progress;
    if (!progress->terminal)
        return;
    progress->watch.compiled = on_predicted;
    fputs("predicting", stderr);
}

void tz_predict_progress_clear(const tz_predict_progress *progress)
{
    if (progress->terminal)
        fputs("\r\033[K", stderr);
}

void tz_predict_options_clear(tz_predict_options *predict)
{
    for (size_t i = 0; i < predict->simulation.params_count; i++)
        free(predict->sets[i]);
    tz_replay_clear(&predict->from);
    tz_plugins_close(&predict->plugins);
}
