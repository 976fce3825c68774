/* A small proportional bitmap font: ASCII and the signs that units need (degree, micro, superscript
 * digits and minus, middle dot, times). Text is UTF-8; what the font lacks is drawn as '?'. */
#ifndef TZ_CORE_OUTPUT_FRAME_FONT_H
#define TZ_CORE_OUTPUT_FRAME_FONT_H

#include "output/frame/image.h"

enum {
    TZ_FONT_ASCENT = 7, /* pixels above the baseline, at scale 1 */
    TZ_FONT_HEIGHT = 9  /* with descenders */
};

/* Width in pixels of a line of text at scale 1, 2, 3, ... */
int tz_font_width(const char *text, int scale);

/* Draw with the top left corner at x, y; clipped to the picture (RGB8). Diagonals are smoothed from
 * scale 2 on. */
void tz_font_draw(tz_image *image, int x, int y, const char *text, int scale, const uint8_t rgb[3]);
/* The same from the lower left corner upwards, turned to the left. */
void tz_font_draw_up(tz_image *image, int x, int y, const char *text, int scale,
                     const uint8_t rgb[3]);

#endif
