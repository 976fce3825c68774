/* Pictures of fields and arrays: writers of outputs, tz.picture and the live view make them. */
#include "output/frame/frame.h"

#include "base/average.h"
#include "base/number.h"
#include "output/frame/canvas.h"
#include "output/frame/view.h"
#include "sim/fields.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PAPER_SCALE: of the font, where the width on paper is given. */
enum { PAPER_SCALE = 3, STRIP_ROWS = 48, MONTAGE_TILES = 36, CHUNK_CELLS = 1 << 16 };

tz_status tz_frame_create(tz_frame **out, const tz_look *look, tz_error *error)
{
    const size_t bytes = (size_t)look->overlay.path_count * sizeof *look->overlay.path;
    tz_frame *frame = calloc(1, sizeof *frame);
    if (frame && bytes > 0)
        frame->path_points = malloc(bytes);
    if (!frame || (bytes > 0 && !frame->path_points)) {
        free(frame);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a frame");
    }
    frame->look = *look;
    if (bytes > 0)
        memcpy(frame->path_points, look->overlay.path, bytes);
    frame->look.overlay.path = frame->path_points;
    *out = frame;
    return TZ_OK;
}

void tz_frame_destroy(tz_frame *frame)
{
    if (!frame)
        return;
    for (int i = 0; i < frame->planes_count; i++)
        tz_plane_destroy(frame->planes[i]);
    free(frame->planes);
    free(frame->path_points);
    free(frame);
}

void tz_frame_note(tz_frame *frame, const char *key, const char *format, ...)
{
    size_t i = 0;
    while (i < frame->texts_count && strcmp(frame->keys[i], key) != 0)
        i++;
    if (i == TZ_FRAME_TEXTS_MAX)
        return;
    frame->texts_count += i == frame->texts_count;
    va_list arguments;
    va_start(arguments, format);
    snprintf(frame->keys[i], sizeof frame->keys[i], "%s", key);
    vsnprintf(frame->values[i], sizeof frame->values[i], format, arguments);
    va_end(arguments);
}

void tz_frame_note_look(tz_frame *frame)
{
    const tz_look *look = &frame->look;
    char low[TZ_NUMBER_SIZE], high[TZ_NUMBER_SIZE];
    if (look->unit[0])
        tz_frame_note(frame, "Unit", "%s", look->unit);
    tz_frame_note(frame, "Range", "%s %s", tz_number_format(low, look->low),
                  tz_number_format(high, look->high));
    char map[320];
    size_t used = (size_t)snprintf(map, sizeof map, "%s",
                                   look->bits == 16      ? "gray, 16 bit"
                                   : look->colours_count ? "colours"
                                                         : look->map);
    for (int i = 0; i < look->colours_count && used < sizeof map - 9; i++)
        used += (size_t)snprintf(map + used, sizeof map - used, " #%02x%02x%02x",
                                 look->colours[i][0], look->colours[i][1], look->colours[i][2]);
    tz_frame_note(frame, "Map", "%s", map);
    if (look->isometric)
        tz_frame_note(frame, "View", "isometric");
    if (look->log)
        tz_frame_note(frame, "Scale", "logarithmic");
    double levels[TZ_CONTOURS_MAX], from, to;
    tz_frame_drawn_range(frame, &from, &to);
    const int count = tz_overlay_levels(&look->overlay, from, to, levels);
    for (int i = 0; look->log && !look->overlay.contours_count && i < count; i++)
        levels[i] = pow(10, levels[i]);
    char contours[320] = "", number[TZ_NUMBER_SIZE];
    used = 0;
    for (int i = 0; i < count && used < sizeof contours - TZ_NUMBER_SIZE - 1; i++)
        used += (size_t)snprintf(contours + used, sizeof contours - used, "%s%s", i > 0 ? " " : "",
                                 tz_number_format(number, levels[i]));
    if (count > 0)
        tz_frame_note(frame, "Contours", "%s", contours);
}

void tz_look_take_range(tz_look *look, double low, double high)
{
    look->low = isfinite(low) ? low : 0;
    look->high = isfinite(high) ? high : 0;
    if (look->log && !(look->high > 0)) {
        look->low = 0.1;
        look->high = 1;
    } else if (look->log && !(look->low > TZ_LOOK_LOG * look->high)) {
        look->low = TZ_LOOK_LOG * look->high;
    }
}

void tz_frame_drawn_range(const tz_frame *frame, double *low, double *high)
{
    const tz_look *look = &frame->look;
    *low = look->log ? log10(look->low) : look->low;
    *high = look->log ? log10(look->high) : look->high;
}

/* What is not above 0 is below every range. */
static void take_logarithms(const tz_frame *frame)
{
    for (int i = 0; frame->look.log && i < frame->planes_count; i++) {
        tz_plane *plane = frame->planes[i];
        for (size_t k = 0; k < (size_t)plane->nx * (size_t)plane->ny; k++) {
            const double value = plane->values[k];
            plane->values[k] = value > 0 ? log10(value) : value <= 0 ? -INFINITY : value;
        }
    }
}

/* ---- Planes ---------------------------------------------------------------------------------- */

/* How many slices a picture of that grid shows, and the most pixels a slice may have. */
static int lay_out(tz_frame *frame, int dims, const int64_t *shape, tz_slice slice, int *max_width,
                   int *max_height)
{
    const int size = frame->look.size > 0 ? (int)frame->look.size
                     : frame->look.width_mm > 0
                         ? (int)(frame->look.width_mm * TZ_LOOK_MM * PAPER_SCALE)
                         : TZ_LOOK_SIZE;
    const bool montage = dims == 3 && slice.at < 0;
    const int64_t slices = shape[slice.axis];
    const int count = !montage ? 1 : slices < MONTAGE_TILES ? (int)slices : MONTAGE_TILES;
    const int columns = count == 1
                            ? 1
                            : tz_canvas_tile_columns(count, shape[tz_slice_right(slice.axis)],
                                                     shape[tz_slice_down(slice.axis)]);
    frame->slice_axis = slice.axis;
    frame->slices = slices;
    const int rows = (count + columns - 1) / columns;
    *max_width = (size - 2 * (columns - 1)) / columns;
    *max_height = (size - 2 * (rows - 1)) / rows;
    *max_width = *max_width > 1 ? *max_width : 1;
    *max_height = *max_height > 1 ? *max_height : 1;
    return count;
}

static tz_slice pick_slice(int k, int count, int dims, int64_t slices, tz_slice slice)
{
    if (dims < 3)
        slice.at = 0;
    else if (slice.at < 0)
        slice.at = tz_canvas_tile_slice(k, count, slices);
    return slice;
}

/* A slice of a field. With a domain cells outside of it count as 0, and cells of the domain's own
 * field that are not 0 as 1. */
typedef struct cut {
    const tz_simulation *simulation;
    int field, domain; /* domain -1: none */
    tz_slice slice;
} cut;

/* Cells of the cut, in its type. `mask` has as much room. */
static tz_status read_cut(const cut *s, const tz_box *box, double *cells, double *mask,
                          tz_error *error)
{
    int64_t count = 1;
    if (s->domain < 0)
        return tz_simulation_read_cells(s->simulation, s->field, box, cells, error);
    for (int axis = 0; axis < TZ_AXES; axis++)
        count *= box->high[axis] - box->low[axis];
    tz_status status = tz_simulation_read(s->simulation, s->domain, box, mask, error);
    if (status == TZ_OK && s->field != s->domain)
        status = tz_simulation_read(s->simulation, s->field, box, cells, error);
    for (int64_t i = 0; i < count && status == TZ_OK; i++)
        cells[i] = mask[i] == 0 ? 0 : s->field == s->domain ? 1 : cells[i];
    return status;
}

/* Average the part of a slice that some values of each line cover, a few rows of cells at a time.
 */
static tz_status average_part(double *values, int nx, int ny, const tz_reducer_part *part,
                              const cut *s, tz_error *error)
{
    const tz_slice slice = s->slice;
    const int64_t *extent = tz_simulation_extent(s->simulation);
    const tz_dtype dtype =
        s->domain < 0 ? tz_simulation_dtype(s->simulation, s->field) : TZ_DTYPE_F64;
    const int right = tz_slice_right(slice.axis), down = tz_slice_down(slice.axis);
    const int64_t low = tz_average_span_of(extent[right], nx, part->first).first;
    const int64_t high =
        tz_average_span_of(extent[right], nx, part->first + part->count - 1).last + 1;
    int64_t rows = CHUNK_CELLS / (high - low);
    rows = rows < 1 ? 1 : rows > extent[down] ? extent[down] : rows;
    double *cells = malloc(2 * (size_t)(rows * (high - low)) * sizeof *cells);
    double *mask = cells + rows * (high - low);
    if (!cells)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a frame");
    tz_reducer *reducer = NULL;
    tz_status status =
        tz_reducer_create(&reducer, extent[right], extent[down], nx, ny, part, values, error);
    tz_box box;
    box.low[slice.axis] = slice.at;
    box.high[slice.axis] = slice.at + 1;
    box.low[right] = low;
    box.high[right] = high;
    for (int64_t y = 0; status == TZ_OK && y < extent[down]; y += rows) {
        box.low[down] = y;
        box.high[down] = y + rows < extent[down] ? y + rows : extent[down];
        status = read_cut(s, &box, cells, mask, error);
        if (status == TZ_OK)
            status = tz_reducer_add(reducer, dtype, cells, box.high[down] - y, error);
    }
    if (status == TZ_OK)
        status = tz_reducer_finish(reducer, error);
    else
        tz_reducer_destroy(reducer);
    free(cells);
    return status;
}

/* Average a slice on the host. Long rows are done in parts: a 1-D field is a single row. */
static tz_status average_rows(double *values, int nx, int ny, const cut *s, tz_error *error)
{
    const int64_t cells = tz_simulation_extent(s->simulation)[tz_slice_right(s->slice.axis)];
    const int64_t most = cells < CHUNK_CELLS ? nx : CHUNK_CELLS / (cells / nx);
    tz_reducer_part part = {.first = 0, .count = most < 1 ? 1 : (int)most};
    tz_status status = TZ_OK;
    for (; status == TZ_OK && part.first < nx; part.first += part.count) {
        part.count = part.count < nx - part.first ? part.count : nx - part.first;
        status = average_part(values, nx, ny, &part, s, error);
    }
    return status;
}

/* The averages of cells in the domain; where there are none, NaN, which is left out. */
static tz_status average_domain(tz_plane *plane, int ny, const cut *s, tz_error *error)
{
    const size_t count = (size_t)plane->nx * (size_t)plane->ny;
    const cut domain = {s->simulation, s->domain, s->domain, s->slice};
    double *weights = malloc(count * sizeof *weights);
    plane->shades = malloc(count * sizeof *plane->shades);
    tz_status status = !weights || !plane->shades
                           ? tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a frame")
                           : average_rows(plane->values, plane->nx, ny, s, error);
    if (status == TZ_OK)
        status = average_rows(weights, plane->nx, ny, &domain, error);
    for (size_t i = 0; i < count && status == TZ_OK; i++) {
        const size_t from = i % ((size_t)plane->nx * (size_t)ny);
        plane->shades[i] = weights[from] > 0 ? 1.0f : TZ_SHADE_CLEAR;
        if (i == from)
            plane->values[i] = weights[i] > 0 ? plane->values[i] / weights[i] : NAN;
    }
    free(weights);
    return status;
}

/* Read one slice of a field: the backend averages it if it can, else the host does. A 1-D field is
 * one row, repeated to a strip. */
static tz_status read_slice(tz_plane **out, const tz_simulation *simulation, int field,
                            tz_slice slice, int max_width, int max_height, tz_error *error)
{
    const int64_t *extent = tz_simulation_extent(simulation);
    const bool strip = tz_simulation_stencil(simulation)->dims == 1;
    tz_plane *plane;
    tz_status status = tz_plane_create(&plane, extent[tz_slice_right(slice.axis)],
                                       strip ? STRIP_ROWS : extent[tz_slice_down(slice.axis)],
                                       max_width, max_height, error);
    if (status != TZ_OK)
        return status;
    const int ny = strip ? 1 : plane->ny;
    const cut s = {simulation, field, tz_simulation_domain_of(simulation, field), slice};
    status = TZ_UNSUPPORTED;
    if (s.domain >= 0)
        status = average_domain(plane, ny, &s, error);
    else if (slice.axis == 2)
        status =
            tz_simulation_shrink(simulation, field, slice.at, plane->nx, ny, plane->values, error);
    if (status == TZ_UNSUPPORTED)
        status = average_rows(plane->values, plane->nx, ny, &s, error);
    for (int j = ny; status == TZ_OK && j < plane->ny; j++)
        memcpy(plane->values + (size_t)j * (size_t)plane->nx, plane->values,
               (size_t)plane->nx * sizeof *plane->values);
    tz_slice_turn(plane, slice.axis);
    if (status == TZ_OK)
        *out = plane;
    else
        tz_plane_destroy(plane);
    return status;
}

/* Whence slices come: a field of a simulation, or an array. */
typedef struct slices {
    const tz_simulation *simulation;
    int field;
    const tz_array *array; /* NULL: of the simulation */
    int dims;
    const int64_t *shape;
    bool bits;
} slices;

/* ---- Regions and maxima, in 2-D -------------------------------------------------------------- */

/* The cells of a region along an axis. */
static int64_t region_cells(const tz_look_region *region, int axis, const int64_t *shape)
{
    return region->high[axis] > 0 ? region->high[axis] - region->low[axis] : shape[axis];
}

/* Regions between which a film moves have the shape of the first one, to a cell. */
static tz_status check_shapes(const tz_look *look, const int64_t *shape, tz_error *error)
{
    const double nx = (double)region_cells(&look->regions[0], 0, shape);
    const double ny = (double)region_cells(&look->regions[0], 1, shape);
    for (int i = 1; i < look->regions_count; i++) {
        const tz_look_region *region = &look->regions[i];
        const int64_t x = region_cells(region, 0, shape), y = region_cells(region, 1, shape);
        const double fits = (double)x * ny / nx;
        if (fabs((double)y - fits) >= 1 && fabs((double)x - (double)y * nx / ny) >= 1)
            return tz_error_set(error, TZ_SHAPE, NULL,
                                "region[%d] is %lld x %lld cells; the first is %g x %g, so that "
                                "%lld x %.0f would have its shape",
                                i + 1, (long long)x, (long long)y, nx, ny, (long long)x,
                                fmax(1, round(fits)));
    }
    return TZ_OK;
}

tz_status tz_look_check_region(const tz_look *look, int dims, const int64_t *shape, tz_error *error)
{
    const int count = look->regions_count;
    if ((count > 0 || look->greatest) && dims != 2)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "'%s' is for 2-D grids; this one is %d-D",
                            count > 0 ? "region" : "reduce", dims);
    if (count > 0 && look->overlay.path_count > 0)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "a 'region' has no 'path'");
    for (int i = 0; i < 2 * count; i++)
        if (look->regions[i / 2].high[i % 2] > shape[i % 2])
            return tz_error_set(error, TZ_RANGE, NULL,
                                "'region' ends at %c = %lld, and the grid at %lld", "xy"[i % 2],
                                (long long)look -> regions[i / 2].high[i % 2],
                                (long long)shape[i % 2]);
    return count > 1 ? check_shapes(look, shape, error) : TZ_OK;
}

/* Cells from (low[0], low[1]) on, in `cells` or in the array: rows of them, *stride bytes apart. */
static tz_status get_rows(const slices *s, const tz_box *box, double *cells, const char **rows,
                          size_t *stride, tz_error *error)
{
    if (s->array) {
        const size_t size = tz_dtype_size(s->array->dtype);
        *rows =
            (const char *)s->array->data + (size_t)(box->low[1] * s->shape[0] + box->low[0]) * size;
        *stride = (size_t)s->shape[0] * size;
        return TZ_OK;
    }
    *rows = (const char *)cells;
    *stride = (size_t)(box->high[0] - box->low[0]) *
              tz_dtype_size(tz_simulation_dtype(s->simulation, s->field));
    return tz_simulation_read_cells(s->simulation, s->field, box, cells, error);
}

typedef tz_status row_function(void *state, tz_dtype dtype, const void *row, int64_t y,
                               tz_error *error);

/* Go over the rows of a box. */
static tz_status each_row(const slices *s, const tz_box *box, row_function *function, void *state,
                          tz_error *error)
{
    const tz_dtype dtype =
        s->array ? s->array->dtype : tz_simulation_dtype(s->simulation, s->field);
    const int64_t nx = box->high[0] - box->low[0];
    const int64_t rows = nx < CHUNK_CELLS ? CHUNK_CELLS / nx : 1;
    double *cells = malloc((size_t)(s->array ? 1 : rows * nx) * sizeof *cells);
    tz_status status =
        cells ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a frame");
    for (tz_box part = *box; status == TZ_OK && part.low[1] < box->high[1]; part.low[1] += rows) {
        const char *from = NULL;
        size_t stride = 0;
        part.high[1] = part.low[1] + rows < box->high[1] ? part.low[1] + rows : box->high[1];
        status = get_rows(s, &part, cells, &from, &stride, error);
        for (int64_t y = part.low[1]; status == TZ_OK && y < part.high[1]; y++, from += stride)
            status = function(state, dtype, from, y, error);
    }
    free(cells);
    return status;
}

/* The smallest box that holds all cells but 0. */
typedef struct living {
    int64_t nx, low[2], high[2]; /* high 0: there is none */
    double *values;
} living;

static tz_status find_living(void *state, tz_dtype dtype, const void *row, int64_t y,
                             tz_error *error)
{
    (void)error;
    living *l = state;
    const tz_array cells = {.dtype = dtype, .data = (void *)row};
    int64_t first = 0, last = l->nx - 1;
    tz_array_values(&cells, 0, l->nx, l->values);
    while (first < l->nx && l->values[first] == 0)
        first++;
    if (first == l->nx)
        return TZ_OK;
    while (l->values[last] == 0)
        last--;
    const bool begins = l->high[1] == 0;
    l->low[0] = begins || first < l->low[0] ? first : l->low[0];
    l->high[0] = begins || last + 1 > l->high[0] ? last + 1 : l->high[0];
    l->low[1] = begins ? y : l->low[1];
    l->high[1] = y + 1;
    return TZ_OK;
}

/* The box of a look's region: if it follows, with the living cells in its middle, in the grid. */
static tz_status place_region(const slices *s, const tz_look *look, tz_box *box, tz_error *error)
{
    const tz_look_region *region = &look->regions[0];
    *box = (tz_box){{0, 0, 0}, {s->shape[0], s->shape[1], 1}};
    living l = {.nx = s->shape[0]};
    if (look->regions_count > 0 && look->follows) {
        l.values = malloc((size_t)l.nx * sizeof *l.values);
        if (!l.values)
            return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a frame");
        const tz_status status = each_row(s, box, find_living, &l, error);
        free(l.values);
        if (status != TZ_OK)
            return status;
    }
    for (int axis = 0; axis < 2 && look->regions_count > 0; axis++) {
        if (region->high[axis] == 0)
            continue;
        const int64_t size = region->high[axis] - region->low[axis];
        const int64_t most = s->shape[axis] - size;
        int64_t low = region->low[axis];
        if (l.high[1] > 0)
            low = (l.low[axis] + l.high[axis] - size) / 2;
        box->low[axis] = low < 0 ? 0 : low > most ? most : low;
        box->high[axis] = box->low[axis] + size;
    }
    return TZ_OK;
}

/* Where a region that moves is at a step, in cells: its corner, and its width. The width grows by
 * the same factor in each step, about a point that stays, so that a zoom looks even. */
static double move_region(const tz_look *look, const int64_t *shape, int64_t step, double low[2])
{
    const tz_look_region *from = look->regions, *to = from;
    for (int i = 1; i < look->regions_count && to == from; i++)
        if (look->regions[i].step > step)
            to = &look->regions[i];
        else
            from = to = &look->regions[i];
    const double nx = (double)region_cells(from, 0, shape);
    const double grown = (double)region_cells(to, 0, shape) - nx;
    double part = 0;
    if (to != from && step > from->step)
        part = (double)(step - from->step) / (double)(to->step - from->step);
    if (grown != 0)
        part = expm1(part * log1p(grown / nx)) / (grown / nx);
    for (int axis = 0; axis < 2; axis++)
        low[axis] = (double)from->low[axis] + part * (double)(to->low[axis] - from->low[axis]);
    return nx + part * grown;
}

/* The window of a region that moves, and the cells that lie in it. The picture has the shape of the
 * first region. Where cells are smaller than pixels, it begins at a whole cell. */
static void place_window(const slices *s, const tz_look *look, tz_box *box, tz_window *window)
{
    const double nx = (double)region_cells(&look->regions[0], 0, s->shape);
    const double ny = (double)region_cells(&look->regions[0], 1, s->shape);
    const double longest = fmax(nx, ny), small = TZ_LOOK_SIZE / 2;
    const double size = look->size > 0               ? (double)look->size
                        : longest > TZ_LOOK_SIZE     ? TZ_LOOK_SIZE
                        : longest * 2 > TZ_LOOK_SIZE ? longest
                                                     : longest * floor(small / longest);
    double low[2];
    const int64_t step = s->simulation ? tz_simulation_step(s->simulation) : look->regions[0].step;
    const double width = move_region(look, s->shape, step, low);
    const double sizes[] = {width, width * ny / nx};
    *window = (tz_window){.width = (int)fmax(1, round(size * nx / longest)),
                          .height = (int)fmax(1, round(size * ny / longest))};
    window->zoom = window->width / width;
    *box = (tz_box){{0, 0, 0}, {1, 1, 1}};
    for (int axis = 0; axis < 2; axis++) {
        const double end = (double)s->shape[axis] - sizes[axis];
        low[axis] = fmax(0, fmin(low[axis], end));
        if (window->zoom < 1)
            low[axis] = round(low[axis]);
        box->low[axis] = (int64_t)low[axis];
        box->high[axis] = (int64_t)fmin((double)s->shape[axis],
                                        window->zoom < 1 ? fmax(1, round(low[axis] + sizes[axis]))
                                                         : ceil(low[axis] + sizes[axis]));
        low[axis] -= (double)box->low[axis];
    }
    window->x = low[0];
    window->y = low[1];
}

static tz_status reduce_row(void *state, tz_dtype dtype, const void *row, int64_t y,
                            tz_error *error)
{
    (void)y;
    return tz_reducer_add(state, dtype, row, 1, error);
}

static tz_status read_region(tz_plane **out, const slices *s, const tz_look *look, int max_width,
                             int max_height, tz_error *error)
{
    tz_box box;
    tz_plane *plane = NULL;
    tz_reducer *reducer = NULL;
    tz_window window = {0};
    tz_status status = TZ_OK;
    if (look->regions_count > 1)
        place_window(s, look, &box, &window);
    else
        status = place_region(s, look, &box, error);
    const int64_t nx = box.high[0] - box.low[0], ny = box.high[1] - box.low[1];
    if (window.width > 0) { /* where cells are larger than pixels, all of them */
        max_width = window.zoom < 1 ? window.width : (int)nx;
        max_height = window.zoom < 1 ? window.height : (int)ny;
    }
    if (status == TZ_OK)
        status = tz_plane_create(&plane, nx, ny, max_width, max_height, error);
    if (status == TZ_OK && window.width > 0) {
        plane->window = window;
        if (window.zoom < 1)
            plane->window.zoom = (double)window.width / plane->nx;
    }
    if (status == TZ_OK)
        status =
            tz_reducer_create(&reducer, nx, ny, plane->nx, plane->ny, NULL, plane->values, error);
    if (status == TZ_OK && look->greatest)
        tz_reducer_take_greatest(reducer);
    if (status == TZ_OK)
        status = each_row(s, &box, reduce_row, reducer, error);
    if (status == TZ_OK)
        status = tz_reducer_finish(reducer, error);
    else
        tz_reducer_destroy(reducer);
    if (status == TZ_OK)
        *out = plane;
    else
        tz_plane_destroy(plane);
    return status;
}

static tz_status get_slice(tz_plane **out, const slices *s, tz_slice slice, int max_width,
                           int max_height, tz_error *error)
{
    return s->array ? tz_plane_from_array(out, s->array, slice, max_width, max_height, error)
                    : read_slice(out, s->simulation, s->field, slice, max_width, max_height, error);
}

/* ---- Views ----------------------------------------------------------------------------------- */

/* A view holds at most so many cells along its longest axis; larger fields are averaged in x and
 * y, and slices are left out. Short axes are kept, as in other pictures (tz_plane_create). */
enum { VIEW_CELLS = 192, VIEW_PIXELS = 720 };

/* Read a volume into *values, which the caller frees also after an error. */
static tz_status read_volume(const slices *s, tz_volume *volume, float **values, tz_error *error)
{
    tz_status status = TZ_OK;
    *values = NULL;
    const int64_t wider = s->shape[0] > s->shape[1] ? s->shape[0] : s->shape[1];
    const int64_t longest = wider > s->shape[2] ? wider : s->shape[2];
    const double factor = longest > VIEW_CELLS ? (double)VIEW_CELLS / (double)longest : 1;
    const int most = (int)ceil((double)wider * factor);
    volume->nz = (int)ceil((double)s->shape[2] * factor);
    for (int k = 0; status == TZ_OK && k < volume->nz; k++) {
        tz_plane *plane = NULL;
        const tz_slice slice = {2, tz_canvas_tile_slice(k, volume->nz, s->shape[2])};
        status = get_slice(&plane, s, slice, most, most, error);
        if (status != TZ_OK)
            return status;
        const size_t cells = (size_t)plane->nx * (size_t)plane->ny;
        if (k == 0) {
            volume->nx = plane->nx;
            volume->ny = plane->ny;
            *values = malloc(cells * (size_t)volume->nz * sizeof **values);
        }
        if (!*values)
            status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a view");
        for (size_t i = 0; status == TZ_OK && i < cells; i++)
            (*values)[(size_t)k * cells + i] = (float)plane->values[i];
        tz_plane_destroy(plane);
    }
    volume->values = *values;
    return status;
}

/* Bits are coloured by their height, so the range is that of z. */
static tz_status read_view(tz_frame *frame, const slices *s, tz_error *error)
{
    tz_look *look = &frame->look;
    if (s->bits) {
        look->low = 0;
        look->high = (double)s->shape[2];
        snprintf(look->unit, sizeof look->unit, "z");
    }
    tz_volume volume;
    float *values;
    tz_status status = read_volume(s, &volume, &values, error);
    if (status == TZ_OK) {
        const double size = look->size > 0 ? (double)look->size : VIEW_PIXELS;
        const tz_solid_view view = {
            .level = look->has_level ? look->level
                     : s->bits       ? TZ_LEVEL_OF_BITS
                                     : (look->low + look->high) / 2,
            .cut = look->cut,
            .by_height = s->bits,
            .lo = look->low,
            .hi = look->high,
            .cell_width = look->zoom > 0
                              ? (double)look->zoom
                              : size / tz_view_extent(volume.nx, volume.ny, volume.nz, 1)};
        status = tz_view_draw(&frame->planes[0], &volume, &view, error);
    }
    free(values);
    return status;
}

static tz_status read_planes(tz_frame *frame, const slices *s, tz_slice slice, tz_error *error)
{
    int max_width = 0, max_height = 0, count = 1;
    if (!frame->look.isometric)
        count = lay_out(frame, s->dims, s->shape, slice, &max_width, &max_height);
    frame->planes = calloc((size_t)count, sizeof *frame->planes);
    if (!frame->planes)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a frame");
    frame->planes_count = count;
    if (frame->look.isometric)
        return read_view(frame, s, error);
    tz_status status = TZ_OK;
    const bool part = frame->look.regions_count > 0 || frame->look.greatest;
    if (part && s->simulation && tz_simulation_domain_of(s->simulation, s->field) >= 0)
        status = tz_error_set(error, TZ_UNSUPPORTED, NULL,
                              "'region' and 'reduce' would show what is outside of the domain: "
                              "leave them out");
    else if (part)
        status = read_region(&frame->planes[0], s, &frame->look, max_width, max_height, error);
    const bool done = frame->planes[0] != NULL;
    for (int k = 0; status == TZ_OK && k < count && !done; k++)
        status =
            get_slice(&frame->planes[k], s, pick_slice(k, count, s->dims, frame->slices, slice),
                      max_width, max_height, error);
    if (status == TZ_OK)
        take_logarithms(frame);
    return status;
}

tz_status tz_frame_read(tz_frame *frame, const tz_simulation *simulation, int field, tz_slice slice,
                        tz_error *error)
{
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    const slices s = {.simulation = simulation,
                      .field = field,
                      .dims = stencil->dims,
                      .shape = tz_simulation_extent(simulation),
                      .bits = tz_type_is_bits(stencil->fields[field].type)};
    return read_planes(frame, &s, slice, error);
}

tz_status tz_frame_read_array(tz_frame *frame, const tz_array *array, tz_slice slice,
                              tz_error *error)
{
    const slices s = {.array = array, .dims = array->dims, .shape = array->shape};
    return read_planes(frame, &s, slice, error);
}

bool tz_look_y_up(const tz_look *look, bool y_up)
{
    return look->y == TZ_Y_UP ||
           (look->y == TZ_Y_AUTO && (y_up || look->overlay.outlines_count > 0));
}

bool tz_frame_turn(tz_frame *frame, int dims, bool rows_up, bool y_up)
{
    tz_overlay *overlay = &frame->look.overlay;
    const bool wanted = rows_up || (frame->look.y == TZ_Y_UP && overlay->outlines_count == 0);
    if (!wanted || y_up || dims < 2 || frame->slice_axis != 2 || frame->look.isometric)
        return y_up || rows_up;
    for (int k = 0; k < frame->planes_count; k++) {
        const tz_plane *plane = frame->planes[k];
        for (int y = 0; y < plane->ny / 2; y++)
            for (int x = 0; x < plane->nx; x++) {
                double *low = &plane->values[y * plane->nx + x];
                double *high = &plane->values[(plane->ny - 1 - y) * plane->nx + x];
                const double kept = *low;
                *low = *high;
                *high = kept;
            }
    }
    tz_window *window = &frame->planes[0]->window;
    if (window->width > 0)
        window->y = frame->planes[0]->ny - window->y - window->height / window->zoom;
    frame->turned = true;
    const int64_t rows = frame->planes[0]->field_ny;
    for (int64_t i = 0; i < overlay->path_count; i++)
        frame->path_points[i].y = (double)(rows - 1) - frame->path_points[i].y;
    if (overlay->outlines_high[1] > 0) {
        const int64_t low = overlay->outlines_low[1];
        overlay->outlines_low[1] = rows - overlay->outlines_high[1];
        overlay->outlines_high[1] = rows - low;
    }
    return true;
}

void tz_frame_set_axes(tz_frame *frame, int dims, const int64_t *shape, int slice_axis,
                       const double spacing[TZ_AXES], const char *unit, bool y_up)
{
    const tz_look *look = &frame->look;
    const int shown[] = {tz_slice_right(slice_axis), tz_slice_down(slice_axis)};
    double widths[TZ_AXES], longest = 0;
    for (int a = 0; a < TZ_AXES; a++)
        widths[a] = look->spacing_count > 0 ? look->spacing[look->spacing_count > 1 ? a : 0]
                    : unit                  ? spacing[a]
                                            : 0;
    for (int k = 0; k < 2; k++)
        longest = fmax(longest, shown[k] < dims ? (double)shape[shown[k]] * widths[shown[k]] : 0);
    for (int k = 0; k < 2 && look->axes; k++)
        if (shown[k] < dims)
            tz_axis_make(&frame->axes[k], "xyz"[shown[k]], shape[shown[k]], widths[shown[k]],
                         look -> spacing_count > 0 ? look -> axes_unit
                     : unit                        ? unit
                                                   : "",
                         longest,
                         k == 1 && (slice_axis != 2 || frame->turned ||
                                    (widths[1] > 0 && tz_look_y_up(look, y_up))));
}

/* ---- Drawing --------------------------------------------------------------------------------- */

/* The pixels of the picture's longer side that the look's zoom asks for. */
static int zoom_to(const tz_frame *frame)
{
    const tz_look *look = &frame->look;
    const int size = look->size > 0 ? (int)look->size : TZ_LOOK_SIZE;
    if (look->isometric)
        return 0;
    if (look->zoom == 0)
        return look->bits == 16 ? 0 : size / 2;
    const int nx = frame->planes[0]->nx, ny = frame->planes[0]->ny, count = frame->planes_count;
    const int columns = count == 1 ? 1 : tz_canvas_tile_columns(count, nx, ny);
    const int rows = (count + columns - 1) / columns;
    const int longest = columns * nx > rows * ny ? columns * nx : rows * ny;
    const int gaps = 2 * ((columns > rows ? columns : rows) - 1);
    const int64_t wanted = look->zoom * longest + gaps;
    return wanted < TZ_IMAGE_MAX_EXTENT ? (int)wanted : TZ_IMAGE_MAX_EXTENT;
}

tz_status tz_frame_image(const tz_frame *frame, tz_image **out, tz_error *error)
{
    const tz_look *look = &frame->look;
    tz_colormap map;
    if (look->colours_count > 0)
        tz_colormap_mix(look->colours, look->colours_count, &map);
    else if (tz_colormap_find(look->map, &map, error) != TZ_OK)
        return TZ_UNKNOWN;
    double low, high;
    tz_frame_drawn_range(frame, &low, &high);
    const bool sized = look->size > 0 && look->zoom == 0 && look->bits == 8 && !look->isometric;
    const int exact = sized ? (int)look->size : 0;
    tz_canvas_options options = {.map = &map,
                                 .lo = low,
                                 .hi = high,
                                 .log = look->log,
                                 .zoom_to = zoom_to(frame),
                                 .exact = exact,
                                 .width = (int)lround(look->width_mm * TZ_LOOK_MM * PAPER_SCALE),
                                 .width_mm = look->width_mm,
                                 .scale = look->width_mm > 0 ? PAPER_SCALE : 0,
                                 .vectors = frame->vectors,
                                 .gray16 = look->bits == 16,
                                 .overlay = look->overlay,
                                 .colorbar = look->bar,
                                 .caption = look->caption,
                                 .axes = look->axes ? frame->axes : NULL,
                                 .slice_axis = look->bits == 16 ? '\0' : "xyz"[frame->slice_axis],
                                 .slices = frame->slices,
                                 .unit = look->unit};
    for (int i = 0; look->log && i < look->overlay.contours_count; i++)
        options.overlay.contours[i] = log10(look->overlay.contours[i]);
    return tz_canvas_draw(out, (const tz_plane *const *)frame->planes, frame->planes_count,
                          &options, error);
}

size_t tz_frame_notes(const tz_frame *frame, tz_image_note texts[TZ_FRAME_TEXTS_MAX])
{
    for (size_t i = 0; i < frame->texts_count; i++)
        texts[i] = (tz_image_note){frame->keys[i], frame->values[i]};
    return frame->texts_count;
}

tz_status tz_frame_draw(const tz_frame *frame, tz_error *error)
{
    tz_image *image;
    tz_image_note texts[TZ_FRAME_TEXTS_MAX];
    tz_status status = tz_frame_image(frame, &image, error);
    if (status != TZ_OK)
        return status;
    const size_t count = tz_frame_notes(frame, texts);
    status = frame->draw(frame->path, image, texts, count, error);
    tz_image_destroy(image);
    return status;
}
