/* Axes at the lower and left side of a picture. */
#ifndef TZ_CORE_OUTPUT_FRAME_AXES_H
#define TZ_CORE_OUTPUT_FRAME_AXES_H

#include "output/frame/image.h"
#include "output/frame/ticks.h"

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

/* Two axes, and where they are, in pixels. */
typedef struct tz_axes_layout {
    int scale;        /* of the font */
    int left, bottom; /* the room that they take beside the picture */
    tz_ticks ticks[2];
    char titles[2][80];
} tz_axes_layout;

/* The layout beside a picture of that size: x, then y. */
void tz_axes_arrange(tz_axes_layout *out, const tz_axis axes[2], int width, int height, int scale);
/* Draw them beside the picture that begins at x, y. */
void tz_axes_draw(tz_image *image, const tz_axes_layout *layout, const tz_axis axes[2], int x,
                  int y, int width, int height);

#endif
