/* Numbers as plain text, as in HotSpot's temp_64.txt and power_64.txt.
 *
 * Decimal numbers between white space or on lines of their own; '#' starts a comment that runs to
 * the end of its line. The locale does not matter. Results are float64. Errors: TZ_IO, TZ_MEMORY;
 * TZ_FORMAT for a token that is not a finite number (place: FILE:LINE);
 * TZ_SHAPE for too few or too many numbers. */
#ifndef TZ_CORE_OUTPUT_FORMAT_TEXT_H
#define TZ_CORE_OUTPUT_FORMAT_TEXT_H

#include "base/array.h"

/* An array of that shape, x first and fastest; the file must hold as many numbers as the shape.
 * `dims` 0: a 1-D array of all numbers, at least one. */
tz_status tz_text_read(const char *path, int dims, const int64_t *shape, tz_array **out,
                       tz_error *error);

#endif
