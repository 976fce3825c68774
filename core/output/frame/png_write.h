/* Pictures as PNG files. The same picture and texts always give the same bytes: there are no time
 * stamps. */
#ifndef TZ_CORE_OUTPUT_FRAME_PNG_WRITE_H
#define TZ_CORE_OUTPUT_FRAME_PNG_WRITE_H

#include "output/frame/image.h"

typedef struct tz_png_note {
    const char *key;   /* 1 to 79 printable ASCII characters, as PNG requires */
    const char *value; /* UTF-8; plain ASCII goes into tEXt, the rest into iTXt */
} tz_png_note;

/* Write the file, which must not exist and appears whole or not at all. 16-bit gray gets the texts
 * "Scale" and "Offset" (value = offset + scale * pixel) after the given ones. TZ_USAGE (a key), TZ_IO, TZ_MEMORY. */
tz_status tz_png_write(const char *path, const tz_image *image, const tz_png_note *texts,
                       size_t text_count, tz_error *error);

/* The same in memory: release *out with free(). TZ_USAGE (a key), TZ_MEMORY. */
tz_status tz_png_encode(const tz_image *image, const tz_png_note *texts, size_t text_count,
                        char **out, size_t *bytes, tz_error *error);

#endif
