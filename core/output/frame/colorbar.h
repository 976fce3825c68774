/* A picture with a colour bar on its right and a caption above. */
#ifndef TZ_CORE_OUTPUT_FRAME_COLORBAR_H
#define TZ_CORE_OUTPUT_FRAME_COLORBAR_H

#include "output/frame/colormap.h"
#include "output/frame/image.h"

typedef struct tz_colorbar {
    const tz_colormap *map;     /* borrowed; NULL: a caption only, no bar */
    double lo, hi;              /* the range of the bar */
    const char *unit, *caption; /* UTF-8, borrowed; NULL or "": none */
} tz_colorbar;

/* A new RGB picture, larger than `picture` (RGB8 or GRAY8), which stays the caller's. The
 * font grows at 400 and at 1600 pixels. The new size depends on the numbers at the ticks, so give
 * all frames of a series one range. A caption that does not fit ends in "...". */
tz_status tz_colorbar_attach(tz_image **out, const tz_image *picture, const tz_colorbar *bar,
                             tz_error *error);

enum { TZ_TICKS_MAX = 16, TZ_TICK_LABEL_SIZE = 32 };

/* Round numbers (1, 2, 5 times a power of ten apart) inside lo..hi. */
typedef struct tz_ticks {
    int count;
    double values[TZ_TICKS_MAX];
    char labels[TZ_TICKS_MAX][TZ_TICK_LABEL_SIZE];
    int exponent; /* labels are values / 10^exponent; 0 unless they are very large or small */
} tz_ticks;

/* Choose at most `most` (2 or more) ticks. An empty range gives one, a range that is not finite
 * none. */
void tz_ticks_make(tz_ticks *ticks, double lo, double hi, int most);

#endif
