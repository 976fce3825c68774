/* PNG pictures: the facts of a file without its pixels, files as arrays of numbers, pictures as
 * files. The same picture and texts always give the same bytes: there are no time stamps.
 *
 * Errors of the readers: TZ_IO, TZ_MEMORY, TZ_FORMAT (not a PNG, truncated, corrupt), TZ_RANGE (a
 * picture larger than 2^30 pixels or than its file can hold). Place: the file. */
#ifndef TZ_CORE_OUTPUT_FORMAT_PNG_H
#define TZ_CORE_OUTPUT_FORMAT_PNG_H

#include "output/format/format.h"

typedef struct tz_png_text {
    char *key;   /* UTF-8 */
    char *value; /* UTF-8; may hold newlines */
} tz_png_text;

typedef struct tz_png_facts {
    uint32_t width, height;  /* pixels */
    int bit_depth;           /* 1, 2, 4, 8 or 16 */
    int colour_type;         /* PNG's number: 0, 2, 3, 4 or 6 */
    uint32_t frames;         /* of an animation; 0: it is none */
    const char *colour_name; /* "gray", "RGB", "palette", "gray with alpha", "RGBA"; static */
    size_t text_count;
    tz_png_text *texts; /* owned; tEXt, zTXt and iTXt chunks in the order of the file */
} tz_png_facts;

/* Read them, and check the length and checksum of every chunk. Errors: TZ_IO, TZ_MEMORY, TZ_FORMAT
 * (not a PNG, truncated, corrupt, with the byte). Release with tz_png_facts_clear. */
tz_status tz_png_read_text(const char *path, tz_png_facts *out, tz_error *error);
void tz_png_facts_clear(tz_png_facts *facts); /* a zeroed record is fine */

/* Shape {width, height}, row 0 on top. Samples of 1 to 8 bits give uint8 0..255 (fewer bits are
 * scaled up), 16 bits uint16 0..65535. A palette has its colours; a transparent colour makes
 * alpha. gAMA is ignored. *lost (may be NULL) is counted of TZ_PNG_GREY alone. TZ_UNSUPPORTED: no
 * pixel of the picture has an alpha. */
tz_status tz_png_read(const char *path, tz_png_channel channel, tz_array **out, tz_png_lost *lost,
                      tz_error *error);

/* Write the file, which must not exist and appears whole or not at all. 16-bit gray gets the
 * texts "Scale" and "Offset" (value = offset + scale * pixel) after the given ones. TZ_USAGE (a
 * key), TZ_IO, TZ_MEMORY. */
tz_status tz_png_write(const char *path, const tz_image *image, const tz_image_note *texts,
                       size_t text_count, tz_error *error);

/* The same in memory: release *out with free(). `path` is the place of errors, TZ_USAGE (a key) and
 * TZ_MEMORY. */
tz_status tz_png_encode(const char *path, const tz_image *image, const tz_image_note *texts,
                        size_t text_count, char **out, size_t *bytes, tz_error *error);

#endif
