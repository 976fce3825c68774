/* Reads a command's table of options with getopt_long, and reports wrong ones. Called by the
 * cmd_*.c files, predict_options.c and run_options.c. */
#include "cli/options.h"

#include "backend/backend.h"
#include "backend/family_names.h"
#include "base/names.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

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

int tz_take_set(const tz_command *command, void *out, const char *text)
{
    const char *equals = strchr(text, '=');
    tz_error error;
    if (!equals || equals == text)
        return tz_misuse(command, "--set needs NAME=VALUE, not '%.60s'", text);
    return tz_paths_add(out, text, &error) == TZ_OK ? EXIT_DONE : tz_fail(EXIT_FAILED, &error);
}
