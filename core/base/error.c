/* Fills and formats tz_error. Called by all of core; core/cli prints what tz_error_format makes. */
#include "base/error.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

tz_status tz_error_set_v(tz_error *error, tz_status code, const char *place, const char *format,
                         va_list arguments)
{
    if (!error)
        return code;
    /* The arguments may point into *error. */
    char message[sizeof error->message], where[sizeof error->place];
    vsnprintf(message, sizeof message, format, arguments);
    snprintf(where, sizeof where, "%s", place ? place : "");
    tz_text_printable(message);
    tz_text_printable(where);
    error->code = code;
    memcpy(error->message, message, sizeof message);
    memcpy(error->place, where, sizeof where);
    return code;
}

tz_status tz_error_set(tz_error *error, tz_status code, const char *place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tz_error_set_v(error, code, place, format, arguments);
    va_end(arguments);
    return code;
}

tz_status tz_error_set_line(tz_error *error, tz_status code, const char *path, int line,
                            const char *format, ...)
{
    char place[512];
    va_list arguments;
    snprintf(place, sizeof place, "%s:%d", path, line);
    va_start(arguments, format);
    tz_error_set_v(error, code, place, format, arguments);
    va_end(arguments);
    return code;
}

tz_status tz_error_set_errno(tz_error *error, int errno_value, const char *place, const char *what)
{
    return tz_error_set(error, TZ_IO, place, "%s: %s", what, strerror(errno_value));
}

void tz_error_format(const tz_error *error, char *text, size_t size)
{
    if (error->place[0])
        snprintf(text, size, "%s: %s", error->place, error->message);
    else
        snprintf(text, size, "%s", error->message);
}
