/* What commands share when they print: forms, units, JSON. */
#ifndef TZ_CORE_CLI_PRINT_H
#define TZ_CORE_CLI_PRINT_H

#include "base/facts.h"
#include <jansson.h>

enum { TZ_TEXT_SIZE = 96 };

/* "1.25 ms", four digits. */
void tz_format_seconds(double seconds, char *text, size_t size);
/* The unit in which a time of `seconds` or more is at least 1, and the factor to convert to it. */
const char *tz_time_unit(double seconds, double *scale);
/* "1.5 GiB", four digits. */
void tz_format_bytes(double bytes, char *text, size_t size);

/* Print it in lines that are indented, with so many digits a number. Takes it; NULL: not enough
 * memory. */
void tz_print_json(json_t *json, int digits);
/* Print a sheet: text, CSV, or a list in JSON. */
void tz_print_sheet(const tz_sheet *sheet, tz_form form);

#endif
