/* The table of commands, and what command.h says: error messages, help texts, plugin folders,
 * options, printing. Called by main.c and all cmd_*.c files. */
#include "cli/command.h"

#include "backend/backend.h"
#include "base/names.h"
#include "calibrate/cuda.h"
#include "lua/interrupt.h"
#include "lua/script.h"
#include "output/run_record.h"
#include "policy/policy.h"
#include "predict/predictor.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const tz_command *const tz_commands[] = {&tz_command_run,
                                         &tz_command_sweep,
                                         &tz_command_resume,
                                         &tz_command_plugins,
                                         &tz_command_doctor,
                                         &tz_command_info,
                                         &tz_command_calibrate,
                                         &tz_command_predict,
                                         &tz_command_tune,
                                         &tz_command_explain,
                                         &tz_command_report,
                                         &tz_command_compare,
                                         &tz_command_export,
                                         &tz_command_manual,
                                         &tz_command_new,
                                         &tz_command_examples,
                                         NULL};

int tz_fail(int code, const tz_error *error)
{
    char text[2100];
    tz_error_format(error, text, sizeof text);
    fprintf(stderr, "trapeze: %s\n", text);
    return code;
}

int tz_fail_text(int code, const char *format, ...)
{
    va_list arguments;
    tz_error error;
    va_start(arguments, format);
    tz_error_set_v(&error, TZ_OK, NULL, format, arguments);
    va_end(arguments);
    return tz_fail(code, &error);
}

int tz_misuse(const tz_command *command, const char *format, ...)
{
    va_list arguments;
    tz_error error;
    va_start(arguments, format);
    tz_error_set_v(&error, TZ_USAGE, NULL, format, arguments);
    va_end(arguments);
    fprintf(stderr, "trapeze: %s%s%s (see trapeze %s%s--help)\n", command ? command->name : "",
            command ? ": " : "", error.message, command ? command->name : "", command ? " " : "");
    return EXIT_USAGE;
}

/* ---- What stands in help texts for names and lines that tables have ----- */

typedef struct help {
    char *text;
    size_t used;
} help;

static void put(help *h, const char *before, const char *text, size_t length)
{
    if (h->used < TZ_HELP_SIZE)
        h->used += (size_t)snprintf(h->text + h->used, TZ_HELP_SIZE - h->used, "%s%.*s", before,
                                    (int)length, text);
}

static void put_name(help *h, int i, const char *between, const char *name)
{
    put(h, i > 0 ? between : "", name, strlen(name));
}

static void put_families(help *h)
{
    const char *names[TZ_FAMILIES_MAX];
    const size_t count = tz_family_names(names);
    for (size_t i = 0; i < count; i++)
        put_name(h, (int)i, ", ", names[i]);
}

/* Those that --height may name: all but the last, which is "fixed". */
static void put_policies(help *h)
{
    for (int i = 0; tz_policy_name(i + 1); i++)
        put_name(h, i, ", ", tz_policy_name(i));
}

static void put_searchers(help *h)
{
    for (int i = 0; tz_policy_searcher_name(i); i++)
        put_name(h, i, " and ", tz_policy_searcher_name(i));
}

static void put_models(help *h)
{
    for (int i = 0; tz_predictors[i]; i++)
        put_name(h, i, ", ", tz_predictors[i]->name);
}

static void put_model_options(help *h)
{
    for (int i = 0; tz_predictor_options[i].name; i++)
        if (tz_predictor_options[i].help)
            put_name(h, 0, "", tz_predictor_options[i].help);
}

static void put_tune_models(help *h)
{
    for (int i = 0; tz_predictors[i]; i++)
        if (tz_predictors[i]->tune_help)
            put_name(h, 0, "", tz_predictors[i]->tune_help);
}

static void put_parts(help *h)
{
    for (int i = 0; tz_cuda_parts_added[i]; i++)
        put_name(h, 0, "", tz_cuda_parts_added[i]->help);
}

const char *tz_help_text(const tz_command *command, char text[TZ_HELP_SIZE])
{
    static const struct {
        const char *mark;
        void (*put)(help *h);
    } marks[] = {{"{families}", put_families},
                 {"{policies}", put_policies},
                 {"{searchers}", put_searchers},
                 {"{models}", put_models},
                 {"{model options}", put_model_options},
                 {"{tune models}", put_tune_models},
                 {"{parts}", put_parts}};
    help h = {text, 0};
    text[0] = '\0';
    for (const char *at = command->help; *at;) {
        size_t k = 0;
        while (k < sizeof marks / sizeof *marks &&
               strncmp(at, marks[k].mark, strlen(marks[k].mark)) != 0)
            k++;
        if (k < sizeof marks / sizeof *marks) {
            marks[k].put(&h);
            at += strlen(marks[k].mark);
            continue;
        }
        const size_t length = 1 + strcspn(at + 1, "{");
        put(&h, "", at, length);
        at += length;
    }
    put(&h, "\nExamples:\n", command->examples, strlen(command->examples));
    return text;
}

int tz_help(const tz_command *command)
{
    char text[TZ_HELP_SIZE];
    printf("usage: trapeze %s %s\n\n%s\n%s%s", command->name, command->arguments, command->doc,
           command->help[0] ? "\n" : "", tz_help_text(command, text));
    return tz_finish_output();
}

int tz_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    return tz_fail_text(EXIT_FAILED, "cannot write the output: %s", strerror(errno));
}

void tz_put_shell_word(FILE *out, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    const bool quoted = *word == '\0' || word[strspn(word, plain)] != '\0';
    fputs(quoted ? " '" : " ", out);
    for (const char *c = word; *c != '\0'; c++)
        *c == '\'' ? (void)fputs("'\\''", out) : (void)fputc(*c, out);
    fputs(quoted ? "'" : "", out);
}

bool tz_plugins_open(tz_plugins *plugins)
{
    tz_error error;
    tz_paths *folders = &plugins->folders;
    tz_status status = TZ_OK;
    for (size_t i = 0; status == TZ_OK && i < plugins->given.count; i++)
        status = tz_paths_add(folders, plugins->given.items[i], &error);
    if (status == TZ_OK)
        status = tz_paths_add_plugins(folders, &error);
    if (status == TZ_OK)
        status = tz_registry_create(&plugins->registry, (const char *const *)folders->items,
                                    folders->count, &error);
    if (status != TZ_OK)
        tz_fail(EXIT_FAILED, &error);
    return status == TZ_OK;
}

void tz_plugins_close(tz_plugins *plugins)
{
    tz_registry_destroy(plugins->registry);
    tz_paths_clear(&plugins->given);
    tz_paths_clear(&plugins->folders);
}

static void on_stencil(void *context, const tz_definition *definition)
{
    tz_replay *replay = context;
    tz_paths_add(&replay->ids, definition->id, NULL);
    if (replay->stencil)
        replay->stencil(replay->context, definition);
}

static void on_input(void *context, const char *path)
{
    tz_paths_add(&((tz_replay *)context)->inputs, path, NULL);
}

tz_status tz_plugins_define(tz_plugins *plugins, tz_replay *replay, tz_error *error)
{
    tz_script_result result;
    const tz_script_options options = {
        .path = replay->path,
        .registry = plugins->registry,
        .sets_count = replay->sets.count,
        .sets = (const char *const *)replay->sets.items,
        .check = true,
        .define = true,
        .unsafe = replay->unsafe,
        .sink = {.context = replay, .stencil = on_stencil, .input = on_input},
    };
    tz_interrupt_install();
    const tz_status status = tz_script_run(&options, &result, error);
    if (replay->option && result.unread[0])
        fprintf(stderr, "trapeze: warning: --%s%s\n", replay->option,
                result.unread + strlen("--set"));
    return status;
}

int tz_replay_choose(const tz_replay *replay, const char *wanted, const tz_error *failure,
                     const char **id)
{
    const tz_paths *ids = &replay->ids;
    char names[400] = "";
    for (size_t i = 0; i < ids->count; i++) {
        if (wanted ? strcmp(wanted, ids->items[i]) == 0 : ids->count == 1) {
            *id = ids->items[i];
            return EXIT_DONE;
        }
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? ", " : "",
                 ids->items[i]);
    }
    if (failure)
        return tz_fail(EXIT_FAILED, failure);
    if (ids->count == 0)
        return tz_fail_text(EXIT_FAILED, "%s defines no stencil with tz.stencil", replay->path);
    return wanted ? tz_fail_text(EXIT_FAILED, "%s defines no stencil '%.60s', but %s", replay->path,
                                 wanted, names)
                  : tz_fail_text(EXIT_FAILED, "%s defines %zu stencils: choose with --stencil %s",
                                 replay->path, ids->count, names);
}

void tz_replay_clear(tz_replay *replay)
{
    tz_paths_clear(&replay->sets);
    tz_paths_clear(&replay->ids);
    tz_paths_clear(&replay->inputs);
}

json_t *tz_run_load(const char *folder)
{
    json_t *root = NULL;
    tz_error error;
    if (tz_run_load_record(folder, &root, &error) != TZ_OK)
        tz_fail(EXIT_FAILED, &error);
    return root;
}

const char *tz_json_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "?";
}

long long tz_json_int(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

double tz_json_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* ---- Options --------------------------------------------------------------------------------- */

/* Options that are no more, and the new way. */
static const struct {
    const char *command, *option, *instead;
} gone[] = {
    {"tune", "compile-only", "`trapeze predict --compile` compiles the kernels into the cache"},
    {"tune", "part", "`trapeze predict --compile` compiles in several processes by itself"},
};

/* getopt_long reports only that an option is wrong. Print why, with the nearest known name. */
static void report_option(const tz_command *command, const char *text, const struct option *options)
{
    const char *names[TZ_OPTIONS_MAX];
    char word[64], hint[256];
    size_t n = 0, matches = 0;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "="), text);
    for (const struct option *o = options; o->name && n < TZ_OPTIONS_MAX; o++) {
        names[n++] = o->name;
        if (strncmp(o->name, word, strlen(word)) == 0)
            matches++;
        if (strcmp(o->name, word) == 0 && o->has_arg == no_argument && strchr(text, '=')) {
            tz_misuse(command, "option --%s takes no value", word);
            return;
        }
    }
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strcmp(gone[i].command, command->name) == 0 && strcmp(gone[i].option, word) == 0) {
            tz_misuse(command, "there is no option --%s any more: %s", word, gone[i].instead);
            return;
        }
    const char *nearest = tz_names_nearest(word, names, n);
    if (matches > 1) {
        tz_misuse(command, "option --%s is ambiguous", word);
        return;
    }
    if (nearest)
        snprintf(hint, sizeof hint, "; did you mean --%.60s?", nearest);
    else
        hint[0] = '\0';
    tz_misuse(command, "unknown option --%s%s", word, hint);
}

/* The next option, as getopt_long; '?' after an error was printed, -1 at the end. */
static int next_option(const tz_command *command, int argc, char **argv, const char *letters,
                       const struct option *options)
{
    opterr = 0;
    const int before = optind;
    const int option = getopt_long(argc, argv, letters, options, NULL);
    if (option == ':') {
        tz_misuse(command, "option %s needs a value", argv[optind - 1]);
        return '?';
    }
    if (option == '?') {
        /* Options may follow arguments: the wrong one is the last that getopt looked at. */
        const char *text = argv[optind > before ? optind - 1 : before];
        if (strncmp(text, "--", 2) == 0)
            report_option(command, text + 2, options);
        else
            tz_misuse(command, "unknown option -%c", optopt);
    }
    return option;
}

static int take_integer(const tz_command *command, const tz_option *option, const char *text)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < option->low || value > option->high)
        return tz_misuse(command, "--%s needs an integer from %d to %d, not '%.40s'", option->name,
                         option->low, option->high, text);
    *(int *)option->out = (int)value;
    return EXIT_DONE;
}

int tz_take_backend(const tz_command *command, void *out, const char *text)
{
    tz_error error;
    const tz_backend *backend;
    if (tz_backend_find(text, &backend, &error) != TZ_OK)
        return tz_misuse(command, "--backend: %s", error.message);
    *(const char **)out = text;
    return EXIT_DONE;
}

int tz_take_step(const tz_command *command, void *out, const char *text)
{
    char *end;
    const long long step = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || step < 0)
        return tz_misuse(command, "--at needs a step, such as 500, not '%.40s'", text);
    *(int64_t *)out = step;
    return EXIT_DONE;
}

int tz_take_family(const tz_command *command, void *out, const char *text)
{
    tz_error error;
    tz_plan *plan = out;
    if (tz_family_check(text, &error) != TZ_OK)
        return tz_misuse(command, "--family: %s", error.message);
    snprintf(plan->family, sizeof plan->family, "%s", text);
    return EXIT_DONE;
}

static int take(const tz_command *command, const tz_option *option, const char *text)
{
    tz_error error;
    switch (option->kind) {
    case TZ_OPTION_FLAG:
        *(bool *)option->out = true;
        break;
    case TZ_OPTION_TEXT:
        *(const char **)option->out = text;
        break;
    case TZ_OPTION_INTEGER:
        return take_integer(command, option, text);
    case TZ_OPTION_PATHS:
        if (tz_paths_add(option->out, text, &error) != TZ_OK)
            return tz_fail(EXIT_FAILED, &error);
        break;
    case TZ_OPTION_FORM:
        if (*(tz_form *)option->out != TZ_FORM_TEXT &&
            *(tz_form *)option->out != (tz_form)option->low)
            return tz_misuse(command, "--json or --csv, not both");
        *(tz_form *)option->out = (tz_form)option->low;
        break;
    case TZ_OPTION_OPTIONAL:
    case TZ_OPTION_CALL:
        return option->take(command, option->out, text);
    }
    return EXIT_DONE;
}

int tz_options_read(const tz_command *command, int argc, char **argv, const tz_option *options)
{
    enum { FIRST = 256 }; /* above all letters */
    struct option longs[TZ_OPTIONS_MAX + 2];
    char letters[TZ_OPTIONS_MAX + 3] = ":h";
    int count = 0;
    for (; options[count].name && count < TZ_OPTIONS_MAX; count++) {
        const tz_option *o = &options[count];
        const int argument = o->kind == TZ_OPTION_FLAG || o->kind == TZ_OPTION_FORM ? no_argument
                             : o->kind == TZ_OPTION_OPTIONAL ? optional_argument
                                                             : required_argument;
        longs[count] = (struct option){o->name, argument, NULL, FIRST + count};
        if (o->letter)
            strncat(letters, &o->letter, 1);
    }
    longs[count] = (struct option){"help", no_argument, NULL, 'h'};
    longs[count + 1] = (struct option){NULL, 0, NULL, 0};
    for (int at; (at = next_option(command, argc, argv, letters, longs)) != -1;) {
        if (at == 'h')
            return tz_help(command);
        for (int k = 0; k < count && at < FIRST; k++)
            at = options[k].letter == at ? FIRST + k : at;
        const int code = at < FIRST ? EXIT_USAGE : take(command, &options[at - FIRST], optarg);
        if (code != EXIT_DONE)
            return code;
    }
    return TZ_OPTIONS_GO_ON;
}

static int take_pair(const tz_command *command, const char *option, tz_paths *out, const char *text)
{
    const char *equals = strchr(text, '=');
    tz_error error;
    if (!equals || equals == text)
        return tz_misuse(command, "--%s needs NAME=VALUE, not '%.60s'", option, text);
    return tz_paths_add(out, text, &error) == TZ_OK ? EXIT_DONE : tz_fail(EXIT_FAILED, &error);
}

int tz_take_set(const tz_command *command, void *out, const char *text)
{
    return take_pair(command, "set", out, text);
}

int tz_take_arg(const tz_command *command, void *out, const char *text)
{
    return take_pair(command, "arg", out, text);
}

/* ---- Printing -------------------------------------------------------------------------------- */

static const char *const units[] = {"s", "ms", "us", "ns"};

const char *tz_time_unit(double seconds, double *scale)
{
    int unit = 0;
    *scale = 1;
    while (unit < 3 && seconds * *scale < 1) {
        *scale *= 1000;
        unit++;
    }
    return units[unit];
}

void tz_format_seconds(double seconds, char *text, size_t size)
{
    int unit = 0;
    while (unit < 3 && fabs(seconds) < 0.9995) {
        seconds *= 1000;
        unit++;
    }
    snprintf(text, size, "%.4g %s", seconds, units[unit]);
}

void tz_format_bytes(double bytes, char *text, size_t size)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, unit == 0 ? "%.0f %s" : "%.4g %s", bytes, names[unit]);
}

void tz_print_json(json_t *json, int digits)
{
    if (json)
        json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(digits));
    else
        fprintf(stderr, "trapeze: not enough memory\n");
    printf("\n");
    json_decref(json);
}

void tz_print_sheet(const tz_sheet *sheet, tz_form form)
{
    if (form == TZ_FORM_JSON)
        tz_print_json(tz_sheet_json(sheet), 9);
    else if (form == TZ_FORM_CSV)
        tz_sheet_csv(sheet, true, stdout);
    else
        tz_sheet_text(sheet, stdout);
}
