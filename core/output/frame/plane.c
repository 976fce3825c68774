/* Ranges and averages of values: frames and the reduction of large fields. */
#include "output/frame/plane.h"

#include "base/average.h"
#include "base/minmax.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS_KEPT = 64, VALUES = 1024 /* that are converted at a time */ };

struct tz_reducer {
    int64_t cells_nx, cells_ny; /* of a row that is added */
    int nx, ny;
    double *values;
    int stride;              /* values from a line to the next */
    bool copied;             /* a value is a cell */
    bool greatest;           /* values are maxima: columns, too */
    int64_t row;             /* of the next row to come */
    int line;                /* of values in the making */
    tz_average_span down;    /* the rows of that line */
    tz_average_span *across; /* the columns of each value of a line */
    double *columns;         /* sums of the columns over the line's rows so far */
};

void tz_range_add(tz_range *range, tz_dtype dtype, const void *data, int64_t count)
{
    const tz_array cells = {.dtype = dtype, .data = (void *)data};
    double lo = range->finite ? range->lo : INFINITY, hi = range->finite ? range->hi : -INFINITY;
    double values[VALUES];
    int64_t finite = 0;
    for (int64_t at = 0, n; at < count; at += n) {
        n = tz_min(count - at, VALUES);
        tz_array_values(&cells, at, n, values);
        for (int64_t i = 0; i < n; i++) {
            const double v = values[i];
            const bool counts = v - v == 0.0;
            finite += counts;
            lo = counts && v < lo ? v : lo;
            hi = counts && v > hi ? v : hi;
        }
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
    free(plane->shades);
    free(plane);
}

static int reduced(int64_t extent, double factor, int limit)
{
    const double kept = extent < AXIS_KEPT ? (double)extent : AXIS_KEPT;
    const double n = fmin(fmax(floor((double)extent * factor + 0.5), kept), limit);
    return n < 1.0 ? 1 : (int)n;
}

tz_status tz_plane_create(tz_plane **out, int64_t nx, int64_t ny, int max_nx, int max_ny,
                          tz_error *error)
{
    *out = NULL;
    if (nx < 1 || ny < 1 || max_nx < 1 || max_ny < 1)
        return tz_error_set(error, TZ_RANGE, NULL, "a picture's extents must be 1 or more");
    const double factor = fmin(1.0, fmin((double)max_nx / (double)nx, (double)max_ny / (double)ny));
    tz_plane *plane = calloc(1, sizeof *plane);
    if (plane) {
        plane->field_nx = nx;
        plane->field_ny = ny;
        plane->nx = reduced(nx, factor, max_nx);
        plane->ny = reduced(ny, factor, max_ny);
        plane->values = calloc((size_t)plane->nx * (size_t)plane->ny, sizeof(double));
    }
    if (!plane || !plane->values) {
        tz_plane_destroy(plane);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the picture");
    }
    *out = plane;
    return TZ_OK;
}

tz_status tz_reducer_create(tz_reducer **out, int64_t nx, int64_t ny, int values_nx, int values_ny,
                            const tz_reducer_part *part, double *values, tz_error *error)
{
    const tz_reducer_part all = {.first = 0, .count = values_nx};
    part = part ? part : &all;
    *out = NULL;
    if (values_nx < 1 || values_nx > nx || values_ny < 1 || values_ny > ny || part->count < 1 ||
        part->first < 0 || part->first > values_nx - part->count)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "%" PRId64 " x %" PRId64
                            " cells cannot be averaged down to %d x %d values",
                            nx, ny, values_nx, values_ny);
    tz_reducer *r = calloc(1, sizeof *r);
    if (r) {
        const int64_t low = tz_average_span_of(nx, values_nx, part->first).first;
        *r = (tz_reducer){
            .cells_nx =
                tz_average_span_of(nx, values_nx, part->first + part->count - 1).last + 1 - low,
            .cells_ny = ny,
            .nx = part->count,
            .ny = values_ny,
            .values = values + part->first,
            .stride = values_nx,
            .copied = values_nx == nx && values_ny == ny};
        r->across = malloc((size_t)r->nx * sizeof *r->across);
        r->columns = malloc((size_t)r->cells_nx * sizeof *r->columns);
        for (int i = 0; r->across && i < r->nx; i++) {
            r->across[i] = tz_average_span_of(nx, values_nx, part->first + i);
            r->across[i].first -= low;
            r->across[i].last -= low;
        }
    }
    if (!r || !r->across || !r->columns) {
        tz_reducer_destroy(r);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the picture");
    }
    r->down = tz_average_span_of(ny, values_ny, 0);
    *out = r;
    return TZ_OK;
}

void tz_reducer_take_greatest(tz_reducer *r)
{
    r->greatest = true;
}

/* Copy a row of cells. A zero becomes +0, as in sums. */
static void copy_row(double *to, tz_dtype dtype, const void *data, int64_t nx)
{
    const tz_array cells = {.dtype = dtype, .data = (void *)data};
    tz_array_values(&cells, 0, nx, to);
    for (int64_t i = 0; i < nx; i++)
        to[i] += 0.0;
}

static double greater(double a, double b)
{
    return b > a || isnan(b) ? b : a;
}

/* The maxima of columns, over one more row. */
static void take_greatest_row(tz_reducer *r, tz_dtype dtype, const void *row, bool begins)
{
    const tz_array cells = {.dtype = dtype, .data = (void *)row};
    double values[VALUES];
    for (int64_t x = 0, n; x < r->cells_nx; x += n) {
        n = tz_min(r->cells_nx - x, VALUES);
        tz_array_values(&cells, x, n, values);
        for (int64_t i = 0; i < n; i++)
            r->columns[x + i] = begins ? values[i] : greater(r->columns[x + i], values[i]);
    }
}

static void take_greatest_line(const tz_reducer *r)
{
    double *to = r->values + (size_t)r->line * (size_t)r->stride;
    for (int i = 0; i < r->nx; i++) {
        const tz_average_span *span = &r->across[i];
        double value = r->columns[span->first];
        for (int64_t k = span->first + 1; k <= span->last; k++)
            value = greater(value, r->columns[k]);
        to[i] = value + 0.0;
    }
}

/* Add rows times a weight to the sums of columns, a few columns at a time, or begin them. */
static void add_rows(tz_reducer *r, tz_dtype dtype, const void *data, int64_t rows, double weight,
                     bool begins)
{
    const tz_array cells = {.dtype = dtype, .data = (void *)data};
    double values[VALUES];
    for (int64_t x = 0, n; x < r->cells_nx; x += n) {
        double *columns = r->columns + x;
        n = tz_min(r->cells_nx - x, VALUES);
        for (int64_t y = 0; y < rows; y++) {
            tz_array_values(&cells, y * r->cells_nx + x, n, values);
            if (begins)
                for (int64_t i = 0; i < n; i++)
                    columns[i] = weight * values[i];
            else
                for (int64_t i = 0; i < n; i++)
                    columns[i] += weight * values[i];
        }
    }
}

/* Add rows to the sums; `left` rows are there, the first is r->row. Returns how many it used up. A
 * row that two lines of values share is added to both: it is not used up by the first. */
static int64_t take_rows(tz_reducer *r, tz_dtype dtype, const void *rows, int64_t left)
{
    const tz_average_span *down = &r->down;
    if (!r->greatest && r->row > down->first && r->row < down->last) {
        const int64_t taken = tz_min(down->last - r->row, left);
        add_rows(r, dtype, rows, taken, 1.0, false);
        return taken;
    }
    const bool begins = r->row == down->first;
    if (r->greatest)
        take_greatest_row(r, dtype, rows, begins);
    else
        add_rows(r, dtype, rows, 1, begins ? down->first_weight : down->last_weight, begins);
    if (r->row < down->last)
        return 1;
    if (r->greatest)
        take_greatest_line(r);
    else
        tz_average_across(r->columns, r->across, down->width,
                          r->values + (size_t)r->line * (size_t)r->stride, r->nx);
    r->line++;
    if (r->line == r->ny)
        return 1;
    r->down = tz_average_span_of(r->cells_ny, r->ny, r->line);
    return r->down.first - r->row;
}

tz_status tz_reducer_add(tz_reducer *r, tz_dtype dtype, const void *data, int64_t rows,
                         tz_error *error)
{
    const size_t bytes = (size_t)r->cells_nx * tz_dtype_size(dtype);
    if (rows < 0 || rows > r->cells_ny - r->row)
        return tz_error_set(error, TZ_SHAPE, NULL, "more rows than the picture's field has");
    const char *at = data;
    for (const int64_t end = r->row + rows; r->row < end;) {
        int64_t taken = 1;
        if (r->copied)
            copy_row(r->values + r->row * r->stride, dtype, at, r->cells_nx);
        else
            taken = take_rows(r, dtype, at, end - r->row);
        r->row += taken;
        at += (size_t)taken * bytes;
    }
    return TZ_OK;
}

tz_status tz_reducer_finish(tz_reducer *r, tz_error *error)
{
    tz_status status = TZ_OK;
    if (r->row != r->cells_ny)
        status = tz_error_set(error, TZ_SHAPE, NULL,
                              "the picture has %" PRId64 " of its field's %" PRId64 " rows", r->row,
                              r->cells_ny);
    tz_reducer_destroy(r);
    return status;
}

void tz_reducer_destroy(tz_reducer *r)
{
    if (!r)
        return;
    free(r->across);
    free(r->columns);
    free(r);
}

/* ---- Slices ---------------------------------------------------------------------------------- */

int tz_slice_right(int axis)
{
    return axis == 0 ? 1 : 0;
}

int tz_slice_down(int axis)
{
    return axis == 2 ? 1 : 2;
}

void tz_slice_turn(tz_plane *plane, int axis)
{
    const size_t nx = (size_t)plane->nx;
    for (int j = 0; axis != 2 && j < plane->ny / 2; j++) {
        double *above = plane->values + (size_t)j * nx;
        double *below = plane->values + (size_t)(plane->ny - 1 - j) * nx;
        for (size_t i = 0; i < nx; i++) {
            const double value = above[i];
            above[i] = below[i];
            below[i] = value;
        }
        for (size_t i = 0; plane->shades && i < nx; i++) {
            float *shade = plane->shades + (size_t)j * nx + i;
            float *other = plane->shades + (size_t)(plane->ny - 1 - j) * nx + i;
            const float value = *shade;
            *shade = *other;
            *other = value;
        }
    }
}

/* Add the rows of a slice one by one. */
static tz_status add_slice(tz_reducer *r, const tz_array *array, tz_slice slice, tz_error *error)
{
    const size_t size = tz_dtype_size(array->dtype);
    const int right = tz_slice_right(slice.axis), down = tz_slice_down(slice.axis);
    const int64_t strides[] = {1, array->shape[0], array->shape[0] * array->shape[1]};
    const int64_t nx = array->shape[right];
    char *row = right == 0 ? NULL : malloc((size_t)nx * size);
    if (right != 0 && !row)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the picture");
    tz_status status = TZ_OK;
    for (int64_t j = 0; status == TZ_OK && j < array->shape[down]; j++) {
        const char *from = (const char *)array->data +
                           (size_t)(slice.at * strides[slice.axis] + j * strides[down]) * size;
        for (int64_t i = 0; row && i < nx; i++)
            memcpy(row + (size_t)i * size, from + (size_t)(i * strides[right]) * size, size);
        status = tz_reducer_add(r, array->dtype, row ? row : from, 1, error);
    }
    free(row);
    return status;
}

tz_status tz_plane_from_array(tz_plane **out, const tz_array *array, tz_slice slice, int max_nx,
                              int max_ny, tz_error *error)
{
    *out = NULL;
    const int64_t slices = array->shape[slice.axis];
    if (slice.at < 0 || slice.at >= slices)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "there is no slice %" PRId64 "; the array has %" PRId64, slice.at,
                            slices);
    const int64_t nx = array->shape[tz_slice_right(slice.axis)];
    const int64_t ny = array->shape[tz_slice_down(slice.axis)];
    tz_plane *plane;
    tz_reducer *r = NULL;
    tz_status status = tz_plane_create(&plane, nx, ny, max_nx, max_ny, error);
    if (status != TZ_OK)
        return status;
    status = tz_reducer_create(&r, nx, ny, plane->nx, plane->ny, NULL, plane->values, error);
    if (status == TZ_OK && slice.axis == 2)
        status = tz_reducer_add(r, array->dtype,
                                (const char *)array->data +
                                    (size_t)(slice.at * nx * ny) * tz_dtype_size(array->dtype),
                                ny, error);
    else if (status == TZ_OK)
        status = add_slice(r, array, slice, error);
    if (status == TZ_OK)
        status = tz_reducer_finish(r, error);
    else
        tz_reducer_destroy(r);
    tz_slice_turn(plane, slice.axis);
    if (status == TZ_OK)
        *out = plane;
    else
        tz_plane_destroy(plane);
    return status;
}
