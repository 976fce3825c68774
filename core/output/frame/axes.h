/* What stands beside a picture: axes at its lower and left side, a colour bar on its right, a
 * caption above; and the round numbers at them. */
#ifndef TZ_CORE_OUTPUT_FRAME_AXES_H
#define TZ_CORE_OUTPUT_FRAME_AXES_H

#include "output/frame/colormap.h"
#include "output/frame/image.h"

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

/* The same from 10^lo to 10^hi on a logarithmic scale: values are logarithms. Powers of ten,
 * "10⁻⁸", or 1, 2 and 5 times powers where the range is short, or round numbers where it is very
 * short. */
void tz_ticks_make_log(tz_ticks *ticks, double lo, double hi, int most);

typedef struct tz_axis {
    double first, last; /* at the left or upper edge of the picture, and at the other one */
    char name;          /* 'x'; 0: there is no such axis */
    char unit[32];      /* UTF-8 */
} tz_axis;

/* An axis of `cells` cells of that width, from 0 on. A length in "m" gets the prefix that makes its
 * longest axis easy to read: `longest` is in m. With a width of 0, the axis counts cells, and a
 * number is in the middle of its cell. `upwards`: 0 is at the last edge. */
void tz_axis_make(tz_axis *out, char name, int64_t cells, double width, const char *unit,
                  double longest, bool upwards);

typedef struct tz_colorbar {
    const tz_colormap *map;     /* borrowed; NULL: a caption only, no bar */
    double lo, hi;              /* the range of the bar */
    bool log;                   /* lo and hi are the logarithms of its ends, to base 10 */
    const char *unit, *caption; /* UTF-8, borrowed; NULL or "": none */
    const tz_axis *axes;        /* borrowed; x and y; NULL: none */
    int scale;                  /* of the font; 0: by the picture's size */
} tz_colorbar;

/* The width of a picture, of height/width `aspect`, with which the new one is `width` wide. */
int tz_colorbar_room(const tz_colorbar *bar, int width, double aspect);

/* A new RGB picture, larger than `picture` (RGB8 or GRAY8), which stays the caller's. The
 * font grows at 400, 1600, 2400 and more pixels. The new size depends on the numbers at the
 * ticks, so give all frames of a series one range. A caption that does not fit ends in "...". */
tz_status tz_colorbar_attach(tz_image **out, const tz_image *picture, const tz_colorbar *bar,
                             tz_error *error);

#endif
