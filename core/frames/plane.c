#include "frames/plane.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS_KEPT = 64 };

struct tz_reducer {
    tz_plane *plane;
    int64_t row;    /* of the next row to come */
    double *wide;   /* a row of the field in double */
    double *narrow; /* that row averaged across */
};

void tz_range_add(tz_range *range, tz_dtype dtype, const void *data, int64_t count)
{
    double lo = range->finite ? range->lo : INFINITY, hi = range->finite ? range->hi : -INFINITY;
    int64_t finite = 0;
    switch (dtype) {
#define RANGE_CASE(name, ctype, code)                                                              \
    case TZ_DTYPE_##name:                                                                          \
        for (int64_t i = 0; i < count; i++) {                                                      \
            const double v = (double)((const ctype *)data)[i];                                     \
            const bool counts = v - v == 0.0;                                                      \
            finite += counts;                                                                      \
            lo = counts && v < lo ? v : lo;                                                        \
            hi = counts && v > hi ? v : hi;                                                        \
        }                                                                                          \
        break;
        TZ_DTYPE_TABLE(RANGE_CASE)
#undef RANGE_CASE
    default:
        return;
    }
    range->finite += finite;
    range->others += count - finite;
    range->lo = range->finite ? lo : 0.0;
    range->hi = range->finite ? hi : 0.0;
}

tz_range tz_range_of(const tz_array *array)
{
    tz_range range = {0};
    tz_range_add(&range, array->dtype, array->data, tz_shape_count(array->dims, array->shape));
    return range;
}

void tz_plane_destroy(tz_plane *plane)
{
    if (!plane)
        return;
    free(plane->values);
    free(plane);
}

static int reduced(int64_t extent, double factor, int limit)
{
    const double kept = extent < AXIS_KEPT ? (double)extent : AXIS_KEPT;
    const double n = fmin(fmax(floor((double)extent * factor + 0.5), kept), limit);
    return n < 1.0 ? 1 : (int)n;
}

tz_status tz_reducer_create(tz_reducer **out, int64_t nx, int64_t ny, int max_nx, int max_ny,
                            tz_error *error)
{
    *out = NULL;
    if (nx < 1 || ny < 1 || max_nx < 1 || max_ny < 1)
        return tz_error_set(error, TZ_RANGE, NULL, "a picture's extents must be 1 or more");
    const double factor = fmin(1.0, fmin((double)max_nx / (double)nx, (double)max_ny / (double)ny));
    tz_reducer *r = calloc(1, sizeof *r);
    tz_plane *plane = r ? r->plane = calloc(1, sizeof *plane) : NULL;
    if (plane) {
        plane->field_nx = nx;
        plane->field_ny = ny;
        plane->nx = reduced(nx, factor, max_nx);
        plane->ny = reduced(ny, factor, max_ny);
        plane->values = calloc((size_t)plane->nx * (size_t)plane->ny, sizeof(double));
        r->wide = malloc((size_t)nx * sizeof(double));
        r->narrow = malloc((size_t)plane->nx * sizeof(double));
    }
    if (!plane || !plane->values || !r->wide || !r->narrow) {
        tz_reducer_destroy(r);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the picture");
    }
    *out = r;
    return TZ_OK;
}

static void widen(double *to, tz_dtype dtype, const void *data, int64_t row, int64_t nx)
{
    switch (dtype) {
#define WIDEN_CASE(name, ctype, code)                                                              \
    case TZ_DTYPE_##name:                                                                          \
        for (int64_t i = 0; i < nx; i++)                                                           \
            to[i] = (double)((const ctype *)data)[row * nx + i];                                   \
        break;
        TZ_DTYPE_TABLE(WIDEN_CASE)
#undef WIDEN_CASE
    default:
        break;
    }
}

/* Cells a..b (in fractions) of a row that output i covers: the mean. */
static void average_across(const double *from, int64_t nx, double *to, int n)
{
    const double ratio = (double)nx / n;
    for (int i = 0; i < n; i++) {
        const double a = i * ratio, b = i + 1 == n ? (double)nx : (i + 1) * ratio;
        const int64_t first = (int64_t)a, last = (int64_t)ceil(b) - 1;
        if (first >= last) {
            to[i] = from[first];
            continue;
        }
        double sum = from[first] * ((double)(first + 1) - a);
        for (int64_t k = first + 1; k < last; k++)
            sum += from[k];
        to[i] = (sum + from[last] * (b - (double)last)) / (b - a);
    }
}

/* Add row `row`, averaged across, to the output rows that it overlaps. */
static void spread_down(const tz_reducer *r)
{
    const tz_plane *plane = r->plane;
    const double ratio = (double)plane->ny / (double)plane->field_ny;
    const double a = (double)r->row * ratio, b = (double)(r->row + 1) * ratio;
    for (int j = (int)a; j < plane->ny && j < b; j++) {
        const double weight = fmin(b, j + 1) - fmax(a, j);
        if (weight <= 1e-12)
            continue;
        double *to = plane->values + (size_t)j * (size_t)plane->nx;
        for (int i = 0; i < plane->nx; i++)
            to[i] += weight * r->narrow[i];
    }
}

tz_status tz_reducer_add(tz_reducer *r, tz_dtype dtype, const void *data, int64_t rows,
                         tz_error *error)
{
    const tz_plane *plane = r->plane;
    if (rows < 0 || rows > plane->field_ny - r->row)
        return tz_error_set(error, TZ_SHAPE, NULL, "more rows than the picture's field has");
    for (int64_t k = 0; k < rows; k++, r->row++) {
        const bool whole_rows = plane->ny == plane->field_ny;
        double *to = whole_rows ? plane->values + (size_t)r->row * (size_t)plane->nx : NULL;
        if (whole_rows && plane->nx == plane->field_nx) {
            widen(to, dtype, data, k, plane->field_nx);
            continue;
        }
        widen(r->wide, dtype, data, k, plane->field_nx);
        average_across(r->wide, plane->field_nx, whole_rows ? to : r->narrow, plane->nx);
        if (!whole_rows)
            spread_down(r);
    }
    return TZ_OK;
}

tz_status tz_reducer_finish(tz_reducer *r, tz_plane **out, tz_error *error)
{
    *out = NULL;
    tz_status status = TZ_OK;
    if (r->row != r->plane->field_ny) {
        status = tz_error_set(error, TZ_SHAPE, NULL,
                              "the picture has %" PRId64 " of its field's %" PRId64 " rows", r->row,
                              r->plane->field_ny);
    } else {
        *out = r->plane;
        r->plane = NULL;
    }
    tz_reducer_destroy(r);
    return status;
}

void tz_reducer_destroy(tz_reducer *r)
{
    if (!r)
        return;
    tz_plane_destroy(r->plane);
    free(r->wide);
    free(r->narrow);
    free(r);
}

tz_status tz_plane_from_array(tz_plane **out, const tz_array *array, int64_t z, int max_nx,
                              int max_ny, tz_error *error)
{
    *out = NULL;
    if (z < 0 || z >= array->shape[2])
        return tz_error_set(error, TZ_RANGE, NULL,
                            "there is no slice %" PRId64 "; the array has %" PRId64, z,
                            array->shape[2]);
    const int64_t nx = array->shape[0], ny = array->shape[1];
    const char *data =
        (const char *)array->data + (size_t)(z * nx * ny) * tz_dtype_size(array->dtype);
    tz_reducer *r;
    tz_status status = tz_reducer_create(&r, nx, ny, max_nx, max_ny, error);
    if (status != TZ_OK)
        return status;
    status = tz_reducer_add(r, array->dtype, data, ny, error);
    if (status != TZ_OK) {
        tz_reducer_destroy(r);
        return status;
    }
    return tz_reducer_finish(r, out, error);
}
