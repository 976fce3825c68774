/* A volume seen from one corner: an isometric view of the cells that are solid. */
#ifndef TZ_CORE_OUTPUT_FRAME_VIEW_H
#define TZ_CORE_OUTPUT_FRAME_VIEW_H

#include "output/frame/plane.h"

typedef struct tz_volume {
    int nx, ny, nz;
    const float *values; /* borrowed; x fastest */
} tz_volume;

typedef struct tz_solid_view {
    double level;      /* cells of at least this value are solid */
    bool cut;          /* leave out the eighth of the volume that is nearest to the eye */
    bool by_height;    /* what is drawn is a cell's height, from lo to hi; false: its value */
    double lo, hi;     /* for by_height */
    double cell_width; /* pixels of a cell's edge, before it is foreshortened by sqrt(2/3) */
} tz_solid_view;

/* The number of pixels of a view's longer side. */
double tz_view_extent(int nx, int ny, int nz, double cell_width);

/* Draw a volume, seen from above the corner with the highest x and y; z points up. Returns a
 * plane of what is seen, with shades: solid cells are lit by their faces, or with by_height false
 * by the gradient of the values, and darker the further away they are. Behind them are the back
 * walls of the volume. TZ_RANGE, TZ_MEMORY. */
tz_status tz_view_draw(tz_plane **out, const tz_volume *volume, const tz_solid_view *view,
                       tz_error *error);

#endif
