#include "cli/command.h"

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
    if (command)
        fprintf(stderr, "%s: ", command->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (see trapeze %s%s--help)\n", command ? command->name : "",
            command ? " " : "");
    return EXIT_USAGE;
}

int tz_help(const tz_command *command)
{
    printf("usage: trapeze %s %s\n\n%s\n", command->name, command->arguments, command->doc);
    if (command->help[0])
        printf("\n%s", command->help);
    return tz_finish_output();
}

int tz_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    return tz_fail_text(EXIT_FAILED, "cannot write the output: %s", strerror(errno));
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
