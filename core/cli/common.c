/* The table of commands, and the helpers of command.h: error messages, help texts, plugin folders.
 * Called by main.c and all cmd_*.c files. */
#include "cli/command.h"

#include "backend/family_names.h"
#include "calibrate/cuda.h"
#include "lua/interrupt.h"
#include "lua/script.h"
#include "output/run_record.h"
#include "policy/policy.h"
#include "predict/predictor.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const tz_command *const tz_commands[] = {
    &tz_command_run,    &tz_command_sweep,   &tz_command_resume,    &tz_command_plugins,
    &tz_command_doctor, &tz_command_info,    &tz_command_calibrate, &tz_command_predict,
    &tz_command_tune,   &tz_command_explain, &tz_command_report,    &tz_command_export,
    &tz_command_manual, &tz_command_new,     &tz_command_examples,  NULL};

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

char *tz_shell_words(const char *const *words, size_t count)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out && i < count; i++) {
        const char *const word = words[i];
        const bool quoted = *word == '\0' || word[strspn(word, plain)] != '\0';
        fputs(i > 0 ? " " : "", out);
        fputs(quoted ? "'" : "", out);
        for (const char *c = word; *c != '\0'; c++)
            *c == '\'' ? (void)fputs("'\\''", out) : (void)fputc(*c, out);
        fputs(quoted ? "'" : "", out);
    }
    if (!out || fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
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

tz_status tz_plugins_define(tz_plugins *plugins, const tz_replay *replay, tz_error *error)
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
        .sink = {.context = replay->context, .stencil = replay->stencil},
    };
    tz_interrupt_install();
    return tz_script_run(&options, &result, error);
}

int tz_plugins_find(tz_plugins *plugins, const char *id, const char *from,
                    const tz_stencil **stencil)
{
    tz_error error, unknown;
    const tz_replay replay = {.path = from};
    const tz_status status = from ? tz_plugins_define(plugins, &replay, &error) : TZ_OK;
    if (tz_registry_find(plugins->registry, id, stencil, NULL, &unknown) == TZ_OK)
        return EXIT_DONE;
    return tz_fail(EXIT_FAILED, status ? &error : &unknown);
}

json_t *tz_run_load(const char *folder)
{
    json_t *root = NULL;
    tz_error error;
    if (tz_run_load_record(folder, &root, &error) != TZ_OK)
        tz_fail(EXIT_FAILED, &error);
    return root;
}
