/* Simulated times as text: "2 ms". */
#ifndef TZ_CORE_OUTPUT_FORMAT_DURATION_H
#define TZ_CORE_OUTPUT_FORMAT_DURATION_H

#include "base/error.h"

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
