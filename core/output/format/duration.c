#include "output/format/duration.h"

#include "output/format/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A unit is `times` / `per` seconds: both are exact. */
typedef struct time_unit {
    const char *name;
    double times, per;
} time_unit;

static const time_unit units[] = {{"s", 1, 1},    {"ms", 1, 1e3}, {"us", 1, 1e6}, {"µs", 1, 1e6},
                                  {"μs", 1, 1e6}, {"ns", 1, 1e9}, {"min", 60, 1}, {"h", 3600, 1}};
static const char known[] = "s, ms, us, µs, ns, min, h";

static const time_unit *find_unit(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(name, units[i].name) == 0)
            return &units[i];
    return NULL;
}

tz_status tz_duration_parse(const char *text, const char *unit, double *out, tz_error *error)
{
    size_t digits = strspn(text, "+-.0123456789eE");
    double value = NAN;
    /* The longest number that the text begins with: an e may belong to the unit. */
    while (digits > 0 && !tz_number_parse(text, digits, &value))
        digits--;
    if (digits == 0 || !isfinite(value))
        return tz_error_set(error, TZ_FORMAT, NULL,
                            "'%.40s' is not a time: write a number and a unit, such as \"2 ms\"",
                            text);
    const char *given = text + digits + strspn(text + digits, " ");
    const time_unit *from = find_unit(given), *to = find_unit(unit);
    if (strcmp(given, unit) != 0 && !(from && to))
        return tz_error_set(error, TZ_UNKNOWN, NULL, "'%.40s' %s; known: %s", text,
                            given[0] ? "has an unknown unit" : "has no unit",
                            to        ? known
                            : unit[0] ? unit
                                      : "none, because the time step has none: give a number");
    *out = from && to ? value * (from->times * to->per) / (from->per * to->times) : value;
    return TZ_OK;
}

double tz_duration_seconds(double value, const char *unit, const char **in)
{
    const time_unit *from = find_unit(unit);
    *in = from ? "s" : unit;
    return from ? value * from->times / from->per : value;
}

const char *tz_duration_text(char text[TZ_DURATION_SIZE], double value, const char *unit)
{
    static const struct {
        double least;
        const char *name;
    } prefixes[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}, {1e-12, "ps"}};
    const time_unit *from = find_unit(unit);
    char number[TZ_NUMBER_SIZE];
    if (from && from->times == 1 && value != 0) {
        const double seconds = value / from->per;
        size_t i = 0;
        /* A value that is rounded up to 1000 gets the next prefix. */
        while (i + 1 < sizeof prefixes / sizeof *prefixes &&
               fabs(seconds) < prefixes[i].least * (1 - 5e-6))
            i++;
        value = seconds / prefixes[i].least;
        unit = prefixes[i].name;
    }
    const bool whole = fabs(value) >= 1e5 && fabs(value) < 1e15;
    tz_number_format_style(number, sizeof number, whole ? 'f' : 'g', whole ? 0 : 5, value);
    snprintf(text, TZ_DURATION_SIZE, "%s%s%s", number, unit[0] ? " " : "", unit);
    return text;
}
