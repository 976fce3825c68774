/* From values to a picture: colours, zoom, montages of slices, a line on top, a colour bar. */
#ifndef TZ_CORE_OUTPUT_FRAME_CANVAS_H
#define TZ_CORE_OUTPUT_FRAME_CANVAS_H

#include "output/frame/axes.h"
#include "output/frame/colormap.h"
#include "output/frame/image.h"
#include "output/frame/overlay.h"
#include "output/frame/plane.h"

/* If all members but `map` are zero, each value is one pixel and the range is that of the values.
 */
typedef struct tz_canvas_options {
    const tz_colormap *map; /* borrowed; not needed for gray16 */
    double lo, hi;          /* the range drawn; both 0: the finite values of the planes */
    bool log;               /* values, lo and hi are logarithms to base 10 */
    int zoom_to;            /* enlarge by an integer factor, to at most so many pixels; 0: no */
    int exact;              /* not 0: the longer side has so many pixels; values are repeated */
    int width;              /* not 0: the picture with all that is beside it is so wide */
    double width_mm;        /* what it is on paper; 0: not said */
    int scale;              /* of the font; 0: by the picture's size */
    bool vectors;           /* all but the values as elements of SVG */
    bool gray16;            /* values, not colours: 16-bit gray; no bar, caption, path or overlay */
    tz_overlay overlay;     /* what is drawn over the cells */
    bool colorbar;
    const char *caption, *unit; /* UTF-8, borrowed; NULL or "": none */
    const tz_axis *axes;        /* borrowed; x and y; NULL: none */
    char slice_axis;            /* of a montage: its tiles are labelled "z 3"; 0: they are not */
    int64_t slices;             /* how many the grid has */
} tz_canvas_options;

/* Draw planes of one size. One is a plain picture; more make a montage, first plane top left. NaN
 * is magenta (255, 0, 255), and 0 in 16-bit gray. Values outside the range are clipped to it.
 * 16-bit gray stores round((v - lo) / (hi - lo) * 65535); scale and offset are in the image.
 * Errors: TZ_RANGE, TZ_USAGE, TZ_SHAPE, TZ_MEMORY. */
tz_status tz_canvas_draw(tz_image **out, const tz_plane *const *planes, int count,
                         const tz_canvas_options *options, tz_error *error);

/* A montage's layout: how many columns make `count` tiles of nx x ny come nearest to a square, and
 * which slice of nz tile k of `count` shows. */
int tz_canvas_tile_columns(int count, int64_t nx, int64_t ny);
int64_t tz_canvas_tile_slice(int k, int count, int64_t nz);

#endif
