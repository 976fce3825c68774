#include "cli/predict_options.h"

#include "base/names.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bool are_whole(const double *numbers, int count)
{
    for (int i = 0; i < count; i++)
        if (numbers[i] != trunc(numbers[i]))
            return false;
    return count > 0;
}

static bool take_grid(tz_predict_options *predict, const tz_command *command, const char *text)
{
    double numbers[TZ_AXES];
    tz_simulation_config *config = &predict->simulation;
    config->dims = tz_numbers_parse(text, TZ_AXES, 1, 2147483647, numbers);
    if (!are_whole(numbers, config->dims)) {
        tz_misuse(command, "--grid wants NX, NX,NY or NX,NY,NZ, whole numbers from 1, not '%.60s'",
                  text);
        return false;
    }
    for (int axis = 0; axis < TZ_AXES; axis++)
        config->extent[axis] = axis < config->dims ? (int64_t)numbers[axis] : 1;
    return true;
}

static bool take_precision(tz_predict_options *predict, const tz_command *command, const char *text)
{
    static const char *const names[] = {"single", "double"};
    char hint[128];
    for (int i = 0; i < 2; i++)
        if (strcmp(text, names[i]) == 0) {
            predict->simulation.precision = i;
            return true;
        }
    tz_misuse(command, "unknown precision '%.40s'%s", text,
              tz_names_hint(hint, sizeof hint, text, names, 2));
    return false;
}

/* "clamp", "periodic,clamp" or "x=periodic,y=clamp". */
static bool take_boundary(tz_predict_options *predict, const tz_command *command, const char *text)
{
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
        tz_misuse(command, "--boundary wants a name, or one an axis, not '%.60s'", text);
    return !wrong && axis > 0;
}

static bool take_set(tz_predict_options *predict, const tz_command *command, const char *text)
{
    tz_simulation_config *config = &predict->simulation;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        tz_misuse(command, "--set wants NAME=VALUE, not '%.60s'", text);
        return false;
    }
    if (config->params_count == TZ_PREDICT_OPTIONS_SETS_MAX) {
        tz_misuse(command, "more than %d times --set", TZ_PREDICT_OPTIONS_SETS_MAX);
        return false;
    }
    char *copy = strdup(text), *end;
    if (!copy) {
        tz_fail_text(EXIT_FAILED, "not enough memory");
        return false;
    }
    copy[equals - text] = '\0';
    char *value = copy + (equals - text) + 1;
    tz_assignment *param = &predict->params[config->params_count];
    predict->sets[config->params_count++] = copy;
    *param = (tz_assignment){.name = copy, .number = strtod(value, &end)};
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        param->number = value[0] == 't';
    else if (end == value || *end != '\0')
        param->text = value;
    return true;
}

static bool take_block(tz_predict_options *predict, const tz_command *command, const char *text)
{
    double numbers[TZ_AXES];
    const int count = tz_numbers_parse(text, TZ_AXES, 1, 2147483647, numbers);
    if (!are_whole(numbers, count)) {
        tz_misuse(command, "--block wants BX, BX,BY or BX,BY,BZ, whole numbers from 1, not '%.60s'",
                  text);
        return false;
    }
    memcpy(predict->block, numbers, (size_t)count * sizeof *numbers);
    return true;
}

int tz_predict_options_option(tz_predict_options *predict, const tz_command *command, int option,
                              const char *text)
{
    tz_simulation_config *config = &predict->simulation;
    const tz_backend *backend = NULL;
    tz_error error;
    bool taken = true;
    switch (option) {
    case TZ_PREDICT_OPTIONS_GRID:
        taken = take_grid(predict, command, text);
        break;
    case TZ_PREDICT_OPTIONS_PRECISION:
        taken = take_precision(predict, command, text);
        break;
    case TZ_PREDICT_OPTIONS_BOUNDARY:
        taken = take_boundary(predict, command, text);
        break;
    case TZ_PREDICT_OPTIONS_SET:
        taken = take_set(predict, command, text);
        break;
    case TZ_PREDICT_OPTIONS_BLOCK:
        taken = take_block(predict, command, text);
        break;
    case TZ_PREDICT_OPTIONS_BACKEND:
        config->backend = text;
        if (tz_backend_find(text, &backend, &error) != TZ_OK) {
            tz_misuse(command, "--backend: %s", error.message);
            taken = false;
        }
        break;
    case TZ_PREDICT_OPTIONS_DEVICE:
        predict->device = text;
        break;
    case TZ_PREDICT_OPTIONS_GPU:
        taken = tz_option_number(command, "--gpu", text, 0, 1023, &config->device);
        break;
    case TZ_PREDICT_OPTIONS_THREADS:
        taken = tz_option_number(command, "--threads", text, 1, 1024, &config->threads);
        break;
    case TZ_PREDICT_OPTIONS_HEIGHT:
        taken = tz_option_number(command, "--height", text, 1, 1 << 20, &config->plan.height);
        break;
    case TZ_PREDICT_OPTIONS_FAMILY:
        if (strlen(text) >= sizeof config->plan.family) {
            tz_misuse(command, "'%.40s' is no family", text);
            taken = false;
        } else {
            strcpy(config->plan.family, text);
        }
        break;
    case TZ_PREDICT_OPTIONS_PLUGINS:
        taken = tz_paths_add(&predict->plugins, text, &error) == TZ_OK;
        if (!taken)
            tz_fail(EXIT_FAILED, &error);
        break;
    default:
        return 0;
    }
    return taken ? 1 : -1;
}

/* The backend reports an unknown family when it plans; a name that no backend has is told here. */
static bool check_family(const tz_predict_options *predict, const tz_command *command)
{
    static const char *const names[] = {"stream", "tile", "resident"};
    const char *family = predict->simulation.plan.family;
    char hint[128];
    bool known = family[0] == '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        known = known || strcmp(family, names[i]) == 0;
    if (!known)
        tz_misuse(command, "unknown family '%s'%s", family,
                  tz_names_hint(hint, sizeof hint, family, names, 3));
    return known;
}

const char *tz_predict_options_read(tz_predict_options *predict, const tz_command *command,
                                    int argc, char **argv, const struct option *options,
                                    tz_predict_options_take *take, void *context, bool *done)
{
    for (int option; (option = tz_option_next(command, argc, argv, ":h", options)) != -1;) {
        if (option == 'h') {
            tz_help(command);
            *done = true;
            return NULL;
        }
        const int shared = tz_predict_options_option(predict, command, option, optarg);
        if (shared < 0 || (shared == 0 && !take(command, context, option)))
            return NULL;
    }
    if (optind + 1 == argc)
        return argv[optind];
    if (optind == argc)
        tz_misuse(command, "wants a stencil; `trapeze plugins` lists them");
    else
        tz_misuse(command, "wants one stencil, not '%.60s' too", argv[optind + 1]);
    return NULL;
}

int tz_predict_options_ask(tz_predict_options *predict, const tz_command *command, const char *name,
                           bool let_unstable, tz_workload **out)
{
    tz_error error;
    tz_simulation_config *config = &predict->simulation;
    const tz_stencil *stencil = NULL;
    if (!check_family(predict, command))
        return EXIT_USAGE;
    predict->registry = tz_plugins_open(&predict->plugins, &predict->folders);
    if (!predict->registry)
        return EXIT_FAILED;
    if (tz_registry_find(predict->registry, name, &stencil, NULL, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    if (config->dims == 0)
        return tz_misuse(command, "wants --grid NX%s%s", stencil->dims > 1 ? ",NY" : "",
                         stencil->dims > 2 ? ",NZ" : "");
    config->registry = predict->registry;
    config->stencil = name;
    config->params = predict->params;
    const tz_workload_config workload = {
        .simulation = config, .device = predict->device, .let_unstable = let_unstable};
    return tz_workload_create(out, &workload, &error) == TZ_OK ? EXIT_DONE
                                                               : tz_fail(EXIT_FAILED, &error);
}

void tz_predict_options_clear(tz_predict_options *predict)
{
    for (size_t i = 0; i < predict->simulation.params_count; i++)
        free(predict->sets[i]);
    tz_registry_destroy(predict->registry);
    tz_paths_clear(&predict->plugins);
    tz_paths_clear(&predict->folders);
}
