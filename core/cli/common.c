#include "cli/command.h"

#include "base/names.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
    fputs("trapeze: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return code;
}

int tz_misuse(const tz_command *command, const char *format, ...)
{
    va_list arguments;
    fputs("trapeze: ", stderr);
    if (command != NULL)
        fprintf(stderr, "%s: ", command->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (see trapeze %s%s--help)\n", command != NULL ? command->name : "",
            command != NULL ? " " : "");
    return EXIT_USAGE;
}

int tz_help(const tz_command *command)
{
    printf("usage: trapeze %s %s\n\n%s\n", command->name, command->arguments, command->doc);
    if (command->help[0] != '\0')
        printf("\n%s", command->help);
    return tz_finish_output();
}

int tz_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    return tz_fail_text(EXIT_FAILED, "cannot write the output: %s", strerror(errno));
}

/* Is it a known option cut short or written out? getopt says only that something was wrong. */
static void report_option(const tz_command *command, const char *text, const struct option *options)
{
    const char *names[32];
    char word[64], hint[256];
    size_t n = 0, matches = 0;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "="), text);
    for (const struct option *o = options; o->name != NULL && n < 32; o++) {
        names[n++] = o->name;
        if (strncmp(o->name, word, strlen(word)) == 0)
            matches++;
        if (strcmp(o->name, word) == 0 && o->has_arg == no_argument && strchr(text, '=') != NULL) {
            tz_misuse(command, "option --%s takes no value", word);
            return;
        }
    }
    const char *nearest = tz_names_nearest(word, names, n);
    if (matches > 1)
        snprintf(hint, sizeof hint, "; it could be more than one");
    else if (nearest != NULL)
        snprintf(hint, sizeof hint, "; did you mean --%.60s?", nearest);
    else
        hint[0] = '\0';
    tz_misuse(command, "unknown option --%s%s", word, hint);
}

int tz_option_next(const tz_command *command, int argc, char **argv, const char *letters,
                   const struct option *options)
{
    opterr = 0;
    const int before = optind;
    const int option = getopt_long(argc, argv, letters, options, NULL);
    if (option == ':') {
        tz_misuse(command, "option %s wants a value", argv[optind - 1]);
        return '?';
    }
    if (option == '?') {
        /* Options may come after arguments: the culprit is the last one looked at. */
        const char *text = argv[optind > before ? optind - 1 : before];
        if (strncmp(text, "--", 2) == 0)
            report_option(command, text + 2, options);
        else
            tz_misuse(command, "unknown option -%c", optopt);
    }
    return option;
}

bool tz_option_number(const tz_command *command, const char *option, const char *text, long low,
                      long high, int *out)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high) {
        tz_misuse(command, "%s wants a whole number from %ld to %ld, not '%.40s'", option, low,
                  high, text);
        return false;
    }
    *out = (int)value;
    return true;
}

tz_registry *tz_plugins_open(const tz_paths *given, tz_paths *folders)
{
    tz_error error;
    tz_registry *registry = NULL;
    tz_status status = TZ_OK;
    for (size_t i = 0; status == TZ_OK && i < given->count; i++)
        status = tz_paths_add(folders, given->items[i], &error);
    if (status == TZ_OK)
        status = tz_paths_add_plugins(folders, &error);
    if (status == TZ_OK)
        status = tz_registry_create(&registry, (const char *const *)folders->items, folders->count,
                                    &error);
    if (status == TZ_OK)
        return registry;
    tz_fail(EXIT_FAILED, &error);
    return NULL;
}

void tz_format_bytes(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, unit == 0 ? "%.0f %s" : "%.4g %s", bytes, units[unit]);
}
