/* Numbers and durations as text, without the locale: formats, options and messages. */
#include "base/number.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DIGITS_EXACT = 19, TOKEN_MAX = 1024, TOKEN_SHOWN = 40 };

typedef struct decimal {
    uint64_t digits; /* the significant digits, if there are at most DIGITS_EXACT */
    int exponent;    /* value = digits * 10^exponent */
    int count;       /* significant digits */
    bool negative;
} decimal;

/* Read [sign] digits [. digits] [e [sign] digits]. False if the text is anything else. */
static bool decimal_scan(const char *p, const char *end, decimal *out)
{
    decimal d = {0, 0, 0, false};
    int seen = 0, written = 0;
    if (p < end && (*p == '+' || *p == '-'))
        d.negative = *p++ == '-';
    for (int fraction = 0; p < end; p++) {
        if (*p == '.' && !fraction) {
            fraction = 1;
            continue;
        }
        if (*p < '0' || *p > '9')
            break;
        seen = 1;
        if (d.count || *p != '0')
            d.count++;
        if (d.count <= DIGITS_EXACT)
            d.digits = d.digits * 10 + (uint64_t)(*p - '0');
        d.exponent -= fraction;
    }
    if (!seen)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        int sign = 1;
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            sign = *p++ == '-' ? -1 : 1;
        for (seen = 0; p < end && *p >= '0' && *p <= '9'; p++) {
            seen = 1;
            if (written < 100000)
                written = written * 10 + (*p - '0');
        }
        if (!seen)
            return false;
        d.exponent += sign * written;
    }
    *out = d;
    return p == end;
}

/* Rare cases use strtod, which needs the decimal point of the locale. */
static double decimal_slow(const char *text, size_t length)
{
    char copy[TOKEN_MAX + 16];
    const char *local = localeconv()->decimal_point;
    const size_t point = strnlen(local, 8);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') {
            memcpy(copy + used, local, point);
            used += point;
        } else {
            copy[used++] = text[i];
        }
    }
    copy[used] = '\0';
    return strtod(copy, NULL);
}

bool tz_number_parse(const char *text, size_t length, double *value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    decimal d;
    if (length == 0 || length > TOKEN_MAX)
        return false;
    if (!decimal_scan(text, text + length, &d)) {
        const size_t sign = *text == '+' || *text == '-';
        const char *word = text + sign;
        const size_t rest = length - sign;
        if ((rest == 3 && (!strncasecmp(word, "inf", 3) || !strncasecmp(word, "nan", 3))) ||
            (rest == 8 && !strncasecmp(word, "infinity", 8))) {
            *value = tolower((unsigned char)*word) == 'n' ? NAN
                     : *text == '-'                       ? -INFINITY
                                                          : INFINITY;
            return true;
        }
        return false;
    }
    /* Both factors are exact doubles, so one operation rounds once (Clinger's fast path). */
    if (d.count <= DIGITS_EXACT && d.digits <= (UINT64_C(1) << 53) && d.exponent >= -22 &&
        d.exponent <= 22) {
        const double digits = (double)d.digits;
        const double v =
            d.exponent < 0 ? digits / powers[-d.exponent] : digits * powers[d.exponent];
        *value = d.negative ? -v : v;
        return true;
    }
    *value = decimal_slow(text, length);
    return true;
}

const char *tz_number_format_style(char *text, size_t size, char style, int digits, double value)
{
    char raw[400];
    const char format[] = {'%', '.', '*', style, '\0'};
    snprintf(raw, sizeof raw, format, digits, value);
    size_t used = 0;
    for (const char *p = raw; *p && used + 1 < size; p++) {
        const bool plain = isalnum((unsigned char)*p) || *p == '-' || *p == '+';
        if (plain)
            text[used++] = *p;
        else if (used && text[used - 1] != '.') /* a point of several bytes becomes one */
            text[used++] = '.';
    }
    if (size)
        text[used] = '\0';
    return text;
}

const char *tz_number_format(char text[TZ_NUMBER_SIZE], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        tz_number_format_style(text, TZ_NUMBER_SIZE, 'g', digits, value);
        if (tz_number_parse(text, strlen(text), &back) && back == value)
            break;
    }
    return text;
}

const char *tz_number_short(char text[TZ_NUMBER_SIZE], double value)
{
    const double enough = 0x1p-24 * fabs(value);
    const int first = value == floor(value) && fabs(value) < 1e15 ? 15 : 1;
    for (int digits = first; digits <= 17; digits++) {
        double back;
        tz_number_format_style(text, TZ_NUMBER_SIZE, 'g', digits, value);
        if (tz_number_parse(text, strlen(text), &back) && fabs(back - value) <= enough)
            break;
    }
    return text;
}

const char *tz_number_power(char text[TZ_NUMBER_SIZE], int exponent)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    size_t used = (size_t)snprintf(text, TZ_NUMBER_SIZE, "10");
    snprintf(plain, sizeof plain, "%d", exponent);
    for (const char *p = plain; *p; p++)
        used += (size_t)snprintf(text + used, TZ_NUMBER_SIZE - used, "%s",
                                 *p == '-' ? "⁻" : digits[*p - '0']);
    return text;
}

const char *tz_token_quote(char *text, size_t size, const char *token, size_t length)
{
    char shown[TOKEN_SHOWN + 1];
    const size_t n = length < TOKEN_SHOWN ? length : TOKEN_SHOWN;
    for (size_t i = 0; i < n; i++)
        shown[i] = token[i] >= 32 && token[i] < 127 ? token[i] : '?';
    shown[n] = '\0';
    snprintf(text, size, "'%s%s'", shown, length > n ? "..." : "");
    return text;
}

/* ---- Durations ------------------------------------------------------------------------------- */

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

bool tz_digits_take(const char **p, const char *end, int64_t most, int64_t *out)
{
    const char *first = *p;
    for (*out = 0; *p < end && **p >= '0' && **p <= '9'; ++*p)
        *out = *out > most ? *out : *out * 10 + (**p - '0');
    return *p > first;
}
