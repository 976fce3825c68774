/* The size, format and texts of a PNG file, without decoding its pixels: for `trapeze info`. */
#ifndef TZ_CORE_OUTPUT_FORMAT_PNG_INFO_H
#define TZ_CORE_OUTPUT_FORMAT_PNG_INFO_H

#include "base/error.h"
#include <stdint.h>

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

#endif
