/* Values of a picture: their range, and their averages over areas where the grid is larger than the
 * picture. Both take a field in pieces, so that a large field need not be in memory at once. */
#ifndef TZ_CORE_OUTPUT_FRAME_PLANE_H
#define TZ_CORE_OUTPUT_FRAME_PLANE_H

#include "base/array.h"

/* The least and greatest finite value. Begin with a zeroed record. */
typedef struct tz_range {
    double lo, hi;          /* 0, 0 as long as no value is finite */
    int64_t finite, others; /* how many values; others are NaN and infinities */
} tz_range;

void tz_range_add(tz_range *range, tz_dtype dtype, const void *data, int64_t count);
tz_range tz_range_of(const tz_array *array);

/* The part of a plane that a picture shows, which may begin within a value. */
typedef struct tz_window {
    int width, height; /* pixels; 0: all is shown */
    double x, y;       /* its corner, in values */
    double zoom;       /* pixels a value */
} tz_window;

/* A grid reduced to at most the picture's size. Values, not colours. */
typedef struct tz_plane {
    int nx, ny;                 /* of values */
    int64_t field_nx, field_ny; /* of the grid it was made from */
    double *values;             /* owned; row 0 on top */
    /* owned; of a view: what colours are multiplied with, or one of the constants below; NULL:
     * none */
    float *shades;
    tz_window window;
} tz_plane;

/* Where a view shows no cell: outside of the volume, or a back wall across an axis. */
#define TZ_SHADE_OUTSIDE -1.0f
#define TZ_SHADE_WALL_X -2.0f
#define TZ_SHADE_WALL_Y -3.0f
#define TZ_SHADE_WALL_Z -4.0f
/* Outside of the domain: left out of the picture. */
#define TZ_SHADE_CLEAR -5.0f

void tz_plane_destroy(tz_plane *plane); /* NULL is fine */

/* Make a plane of zeros for a grid of nx x ny cells: at most max_nx x max_ny values (each at least
 * 1) in the same aspect ratio, but at least min(extent, 64) along each axis. */
tz_status tz_plane_create(tz_plane **out, int64_t nx, int64_t ny, int max_nx, int max_ny,
                          tz_error *error);

/* Averages nx x ny cells down to values_nx x values_ny values (base/average.h), at most as many,
 * which are written to `values` (borrowed, row 0 on top). */
typedef struct tz_reducer tz_reducer;

/* Values first to first + count - 1 of each line, from the cells of each row that they cover:
 * tz_average_span_of() tells which. A few at a time take little memory if rows are long. */
typedef struct tz_reducer_part {
    int first, count;
} tz_reducer_part;

/* `part` NULL: all. */
tz_status tz_reducer_create(tz_reducer **out, int64_t nx, int64_t ny, int values_nx, int values_ny,
                            const tz_reducer_part *part, double *values, tz_error *error);

/* Values become the greatest of their cells, not the average. Call it before the first row. */
void tz_reducer_take_greatest(tz_reducer *reducer);

/* The next `rows` rows from the top, nx elements each, or the part's. TZ_SHAPE if they are too
 * many. */
tz_status tz_reducer_add(tz_reducer *reducer, tz_dtype dtype, const void *data, int64_t rows,
                         tz_error *error);
/* Frees the reducer in any case. TZ_SHAPE if rows are missing. */
tz_status tz_reducer_finish(tz_reducer *reducer, tz_error *error);
void tz_reducer_destroy(tz_reducer *reducer); /* NULL is fine */

/* A slice of a grid: all cells with one coordinate. Across z (axis 2) a picture shows x to the
 * right and y downwards; across y (1) x to the right and z upwards; across x (0) y to the right
 * and z upwards. Grids of fewer than three dimensions have one slice, across z. */
typedef struct tz_slice {
    int axis;
    int64_t at;
} tz_slice;
/* The axis that a slice's picture shows to the right, and the other one. */
int tz_slice_right(int axis);
int tz_slice_down(int axis);
/* Turn a plane upside down if the slice's axis asks for it: cells come with rising coordinates. */
void tz_slice_turn(tz_plane *plane, int axis);

/* A slice of an array (a 1-D array is one row). TZ_RANGE, TZ_MEMORY. */
tz_status tz_plane_from_array(tz_plane **out, const tz_array *array, tz_slice slice, int max_nx,
                              int max_ny, tz_error *error);

#endif
