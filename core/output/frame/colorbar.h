/* A picture with a colour bar on its right, a caption above, and axes. */
#ifndef TZ_CORE_OUTPUT_FRAME_COLORBAR_H
#define TZ_CORE_OUTPUT_FRAME_COLORBAR_H

#include "output/frame/axes.h"
#include "output/frame/colormap.h"
#include "output/frame/image.h"

typedef struct tz_colorbar {
    const tz_colormap *map;     /* borrowed; NULL: a caption only, no bar */
    double lo, hi;              /* the range of the bar */
    bool log;                   /* lo and hi are the logarithms of its ends, to base 10 */
    const char *unit, *caption; /* UTF-8, borrowed; NULL or "": none */
    const tz_axis *axes;        /* borrowed; x and y; NULL: none */
} tz_colorbar;

/* A new RGB picture, larger than `picture` (RGB8 or GRAY8), which stays the caller's. The
 * font grows at 400 and at 1600 pixels. The new size depends on the numbers at the ticks, so give
 * all frames of a series one range. A caption that does not fit ends in "...". */
tz_status tz_colorbar_attach(tz_image **out, const tz_image *picture, const tz_colorbar *bar,
                             tz_error *error);

#endif
