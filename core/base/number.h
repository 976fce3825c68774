/* Numbers and durations as text, independent of the locale. */
#ifndef TZ_CORE_BASE_NUMBER_H
#define TZ_CORE_BASE_NUMBER_H

#include "base/error.h"
#include <stdint.h>

/* Room for any number that tz_number_format writes. */
enum { TZ_NUMBER_SIZE = 32 };

/* Read text[0..length), all of it, as a decimal number, correctly rounded: sign, digits, '.',
 * exponent. "inf" and "nan" (and overflow) give a number that is not finite. Hexadecimal is
 * refused. False: not a number. */
bool tz_number_parse(const char *text, size_t length, double *value);

/* The shortest text that reads back as the same double, with '.' as the decimal point. */
const char *tz_number_format(char text[TZ_NUMBER_SIZE], double value);

/* For readers: the shortest text that single precision does not tell from the number, "4.4" of
 * 4.4000000000000004. Whole numbers have all their digits. */
const char *tz_number_short(char text[TZ_NUMBER_SIZE], double value);

/* printf "%.*f" (or "%.*e", "%.*g" by `style`), with '.' as the decimal point. */
const char *tz_number_format_style(char *text, size_t size, char style, int digits, double value);

/* "10⁻⁸": a power of ten, in UTF-8. */
const char *tz_number_power(char text[TZ_NUMBER_SIZE], int exponent);

/* Read the digits at *p, which becomes their end, at most `end`: a whole number. One that is above
 * `most`, which is at most INT64_MAX / 16, stays above it. False: there are none. */
bool tz_digits_take(const char **p, const char *end, int64_t most, int64_t *out);

/* Quote a token for a message: at most 40 bytes of it, unprintable ones as '?'. Returns `text`. */
const char *tz_token_quote(char *text, size_t size, const char *token, size_t length);

/* ---- Durations: "2 ms" ----------------------------------------------------------------------- */

enum { TZ_DURATION_SIZE = 96 };

/* Read a number and a unit (s, ms, us or µs, ns, min, h), such as "2 ms", as a number of `unit`,
 * which is another of them. `unit` itself may also be any other text: then it is the only one that
 * is known. TZ_FORMAT, TZ_UNKNOWN with the known units. */
tz_status tz_duration_parse(const char *text, const char *unit, double *out, tz_error *error);

/* A time in `unit` for readers: 5 digits, with the prefix that suits it. 0.0025 and "s" give
 * "2.5 ms". Units other than s, ms, us and ns stay as they are. Returns `text`. */
const char *tz_duration_text(char text[TZ_DURATION_SIZE], double value, const char *unit);

/* A time in `unit` as a number of seconds, *in = "s"; as it is, and *in = unit, if that is none of
 * the units above. */
double tz_duration_seconds(double value, const char *unit, const char **in);

#endif
