/* Pictures as PNG files. The same picture and texts always give the same bytes: there are no time
 * stamps. */
#ifndef TZ_CORE_OUTPUT_FRAME_PNG_WRITE_H
#define TZ_CORE_OUTPUT_FRAME_PNG_WRITE_H

#include "output/frame/image.h"

typedef struct tz_png_note {
    const char *key;   /* 1 to 79 printable ASCII characters, as PNG requires */
    const char *value; /* UTF-8; plain ASCII goes into tEXt, the rest into iTXt */
} tz_png_note;

typedef struct tz_png_options {
    int level; /* of zlib, 1 (fast) to 9 (small); 0: the default, fast */
    bool replace;
} tz_png_options;

/* Write the file, which appears whole or not at all and overwrites only with `replace`. 16-bit gray
 * gets the texts "Scale" and "Offset" (value = offset + scale * pixel) after the given ones.
 * `options` may be NULL. TZ_USAGE (a key), TZ_IO, TZ_MEMORY. */
tz_status tz_png_write(const char *path, const tz_image *image, const tz_png_note *texts,
                       size_t text_count, const tz_png_options *options, tz_error *error);

#endif
