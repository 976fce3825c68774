/* PNG pictures as arrays of numbers.
 *
 * Errors: TZ_IO, TZ_MEMORY, TZ_FORMAT (not a PNG, truncated, corrupt), TZ_RANGE (a picture larger
 * than 2^30 pixels or than its file can hold). Place: the file. */
#ifndef TZ_CORE_OUTPUT_FORMAT_PNG_READ_H
#define TZ_CORE_OUTPUT_FORMAT_PNG_READ_H

#include "base/array.h"

/* Shape {width, height}, row 0 on top. Gray of 1 to 8 bits gives uint8 0..255 (fewer bits are
 * scaled up), 16 bits uint16 0..65535. Colour and palette become luma (Rec. 601, of the sample
 * values as stored, rounded: (299 R + 587 G + 114 B) / 1000). Alpha is ignored, and so is gAMA. */
tz_status tz_png_read(const char *path, tz_array **out, tz_error *error);

#endif
