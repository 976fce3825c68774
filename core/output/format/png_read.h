/* PNG pictures as arrays of numbers.
 *
 * Errors: TZ_IO, TZ_MEMORY, TZ_FORMAT (not a PNG, truncated, corrupt), TZ_RANGE (a picture larger
 * than 2^30 pixels or than its file can hold). Place: the file. */
#ifndef TZ_CORE_OUTPUT_FORMAT_PNG_READ_H
#define TZ_CORE_OUTPUT_FORMAT_PNG_READ_H

#include "base/array.h"

/* What of a pixel becomes a number. */
typedef enum tz_png_channel {
    TZ_PNG_GREY, /* gray, or of colours luma (Rec. 601, of the sample values as stored, rounded:
                  * (299 R + 587 G + 114 B) / 1000) */
    TZ_PNG_RED,  /* of gray: that */
    TZ_PNG_GREEN,
    TZ_PNG_BLUE,
    TZ_PNG_ALPHA /* 0: transparent */
} tz_png_channel;

/* What TZ_PNG_GREY does not tell. */
typedef struct tz_png_lost {
    int64_t coloured; /* pixels whose red, green and blue differ */
    int64_t clear;    /* pixels that are not opaque */
} tz_png_lost;

/* Shape {width, height}, row 0 on top. Samples of 1 to 8 bits give uint8 0..255 (fewer bits are
 * scaled up), 16 bits uint16 0..65535. A palette has its colours; a transparent colour makes alpha.
 * gAMA is ignored. *lost (may be NULL) is counted of TZ_PNG_GREY alone. TZ_UNSUPPORTED: no pixel of the
 * picture has an alpha. */
tz_status tz_png_read(const char *path, tz_png_channel channel, tz_array **out, tz_png_lost *lost,
                      tz_error *error);

#endif
