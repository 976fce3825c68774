/* Contour lines, marks, outlines of units, paths and lines between cells on a picture of a plane.
 */
#ifndef TZ_CORE_OUTPUT_FRAME_OVERLAY_H
#define TZ_CORE_OUTPUT_FRAME_OVERLAY_H

#include "output/frame/colormap.h"
#include "output/frame/image.h"
#include "output/frame/plane.h"

enum { TZ_CONTOURS_MAX = 32, TZ_OUTLINES_MAX = 256 };
#define TZ_GRID_LINES_ZOOM 8

/* A rectangle in a chip, of which each side is 1 long; y points down. */
typedef struct tz_outline {
    char name[32]; /* "": none is written */
    double left, top, right, bottom;
} tz_outline;

/* The middle of a cell, in cells; between cells too. */
typedef struct tz_overlay_point {
    double x, y;
} tz_overlay_point;

/* What to draw. Zeroed: nothing. */
typedef struct tz_overlay {
    int contours_count; /* of `contours`; 0: `contours_even` counts */
    double contours[TZ_CONTOURS_MAX];
    int contours_even; /* so many levels at equal distances within the range; 0: none */
    bool mark_min, mark_max;
    bool grid_lines; /* between cells of at least TZ_GRID_LINES_ZOOM pixels */
    int64_t path_count;
    const tz_overlay_point *path; /* borrowed; a point that is not finite interrupts it */
    uint8_t path_rgb[3];          /* all 0: white with a dark rim */
    int outlines_count;
    int64_t outlines_low[2], outlines_high[2]; /* the chip's cells, x first; high 0: all */
    tz_outline outlines[TZ_OUTLINES_MAX];
} tz_overlay;

bool tz_overlay_any(const tz_overlay *overlay);

/* Is each point of the path in a grid of nx x ny cells? TZ_RANGE. */
tz_status tz_overlay_check_path(const tz_overlay *overlay, int64_t nx, int64_t ny, tz_error *error);

/* The levels of the contour lines of a picture with that range, in the caller's array. Returns
 * how many. */
int tz_overlay_levels(const tz_overlay *overlay, double lo, double hi,
                      double levels[TZ_CONTOURS_MAX]);

/* Where a plane is in a picture: its corner in pixels, which may lie outside, and pixels a value.
 */
typedef struct tz_overlay_place {
    const tz_plane *plane; /* borrowed */
    double x, y;
    double zoom;
} tz_overlay_place;

/* Draw all of it over planes in RGB8: contour lines between the middles of values, linearly
 * interpolated, none beside a NaN or an infinity, white where the map is dark at their level in
 * the picture's range and else black; outlines, with the names that fit into them; the path, over
 * the first plane; rings around the least and the greatest finite value of all planes, the first
 * one in the order of planes, rows, columns. TZ_MEMORY. */
tz_status tz_overlay_draw(tz_image *image, const tz_overlay_place *places, int count,
                          const tz_overlay *overlay, double lo, double hi, const tz_colormap *map,
                          tz_error *error);

/* Draw a text on a dark plate, from its upper left corner. */
void tz_overlay_plate(tz_image *image, int x, int y, const char *text, int scale);

#endif
