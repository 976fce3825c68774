/* Runs a stage of the family "stream": jobs on threads, levels slab by slab, rows through the row
 * functions. Called by core/backend/cpu and core/calibrate. */
#include "kernels/cpu/stage.h"

#include "kernels/cpu/domain.h"
#include "kernels/cpu/finish.h"
#include "kernels/cpu/pipeline.h"
#include "kernels/cpu/points.h"
#include "kernels/cpu/shares.h"
#include "kernels/cpu/stored.h"
#include <string.h>

enum {
    TOGETHER = 16, /* slabs of stored fields, at most */
    ROWS_ALIKE = 8 /* of a plane, whose parts in a domain are found together */
};

/* ---- Slabs ----------------------------------------------------------------------------------- */

/* The slot of slab j: its distance from slab_base, modulo the ring's depth. */
static inline uint32_t ring_slot(const tz__job *job, const tz__ring *ring, int64_t j)
{
    const uint32_t n = (uint32_t)(j - job->slab_base);
    const uint32_t turns = (uint32_t)((unsigned __int128)n * ring->inverse >> 64);
    return ring->depth == 1 ? 0 : n - turns * ring->depth;
}

/* Element (0, 0) of slab j in a ring. It may lie before the ring's memory. */
static inline char *ring_slab(const tz__job *job, const tz__ring *ring, int64_t j, size_t size)
{
    const uint32_t slot = ring_slot(job, ring, j);
    return job->arena + ring->offset + slot * ring->slab_bytes + job->zero * (ptrdiff_t)size;
}

/* Element (0, 0) of slab j in an array. */
static inline char *array_slab(const tz_stage *stage, const tz_host_field *host, int64_t j,
                               size_t size)
{
    const ptrdiff_t stride = stage->dims == 3   ? host->plane_stride
                             : stage->dims == 2 ? host->row_stride
                                                : 0;
    return host->origin + (ptrdiff_t)j * stride * (ptrdiff_t)size;
}

/* Copy slab j of a field from its array into the job's ring, wrapping where
 * the tile does. */
static void gather_slab(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int f, int64_t j)
{
    const tz_host_field *host = &stage->in[f];
    const size_t size = stage->element_size[f];
    const int64_t slabs = tz__stream_extent(stage);
    const char *from = array_slab(stage, host, job->wrap ? tz__wrap(j, slabs) : j, size);
    char *to = ring_slab(job, &pipeline->level[0].ring[f], j, size);
    const bool planes = stage->dims == 3;
    const int ghost = stage->ghost;
    const int64_t nx = stage->elements[0];
    const int64_t beyond = planes && !job->y.virtual ? ghost : 0;
    const int64_t y_low = job->y.ext_low - beyond, y_high = job->y.ext_high + beyond;
    const int64_t x_low = job->x.ext_low - (job->x.virtual ? 0 : ghost);
    const int64_t x_high = job->x.ext_high + (job->x.virtual ? 0 : ghost);
    for (int64_t y = y_low; y < y_high; y++) {
        const int64_t source_y = planes && job->y.virtual ? tz__wrap(y, stage->elements[1]) : y;
        const char *source = from + source_y * host->row_stride * (ptrdiff_t)size;
        char *target = to + y * pipeline->row_stride * (ptrdiff_t)size;
        if (!job->x.virtual) {
            memcpy(target + x_low * (int64_t)size, source + x_low * (int64_t)size,
                   (size_t)(x_high - x_low) * size);
            continue;
        }
        for (int64_t x = x_low; x < x_high;) {
            const int64_t wrapped = tz__wrap(x, nx);
            const int64_t run = nx - wrapped < x_high - x ? nx - wrapped : x_high - x;
            memcpy(target + x * (int64_t)size, source + wrapped * (int64_t)size,
                   (size_t)run * size);
            x += run;
        }
    }
}

/* A view of element (x, y) of slab j of a field, as level `version` wrote it. */
static inline tz_view view_slab(const tz_stage *stage, const tz_pipeline *pipeline,
                                const tz__job *job, int f, int version, int64_t j, int64_t x,
                                int64_t y)
{
    const size_t size = stage->element_size[f];
    const tz_host_field *host = &stage->in[f];
    const int64_t slabs = tz__stream_extent(stage);
    if (!job->wrap && (uint64_t)j >= (uint64_t)slabs) {
        j = tz_ghost_source(stage->boundary[stage->dims - 1], j, slabs);
        if (j < 0) {
            /* A tile wraps only on axes on which these slabs do not change. */
            const tz_view *outside = &stage->outside[f][2 * stage->dims - 3 - j];
            const ptrdiff_t from =
                (job->y.virtual ? 0 : y * outside->row_stride) + (job->x.virtual ? 0 : x);
            return (tz_view){(const char *)outside->at + from * (ptrdiff_t)size,
                             outside->row_stride};
        }
    }
    if (version == 0 && host->uniform)
        return (tz_view){host->origin, 0};
    const char *at;
    ptrdiff_t row_stride;
    if ((version > 0 || job->gather)) {
        at = ring_slab(job, &pipeline->level[version].ring[f], j, size);
        row_stride = pipeline->row_stride;
    } else {
        at = array_slab(stage, host, (uint64_t)j >= (uint64_t)slabs ? tz__wrap(j, slabs) : j, size);
        row_stride = host->row_stride;
    }
    return (tz_view){at + (y * row_stride + x) * (ptrdiff_t)size, row_stride};
}

/* The views of slabs j - radius to j + radius, of which those that the pass reads are set; the
 * others are views of slab j. This runs for each level and
 * slab, so if all slabs are inside the grid, each pointer is computed from the one before. */
static void view_window(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int l, int f, int64_t j, int64_t x, int64_t y, tz_view *views)
{
    const tz__level *level = &pipeline->level[l];
    const int radius = stage->dims == 1 ? 0 : level->radius, version = level->source[f].level;
    const int pass = (l - 1) % stage->stencil->passes_count;
    const int low = pipeline->slabs[pass][f].low;
    const int high = pipeline->slabs[pass][f].high;
    f = level->source[f].field; /* the other reads as far: to the cell itself */
    tz_view *middle = views + radius;
    if (j + low < 0 || j + high >= tz__stream_extent(stage)) {
        for (int d = low; d <= high; d++)
            middle[d] = view_slab(stage, pipeline, job, f, version, j + d, x, y);
    } else {
        middle[low] = view_slab(stage, pipeline, job, f, version, j + low, x, y);
        const char *at = middle[low].at;
        const ptrdiff_t row_stride = middle[low].row_stride;
        const tz__ring *ring = &pipeline->level[version].ring[f];
        if ((version == 0 && !job->gather) || (version == 0 && stage->in[f].uniform)) {
            const ptrdiff_t stride =
                array_slab(stage, &stage->in[f], 1, stage->element_size[f]) - stage->in[f].origin;
            for (int d = low + 1; d <= high; d++)
                middle[d] = (tz_view){at += stride, row_stride};
        } else if (low < high) {
            uint32_t slot = ring_slot(job, ring, j + low);
            for (int d = low + 1; d <= high; d++) {
                at += ring->slab_bytes;
                if (++slot == ring->depth) {
                    slot = 0;
                    at -= ring->depth * ring->slab_bytes;
                }
                middle[d] = (tz_view){at, row_stride};
            }
        }
    }
    for (int d = -radius; d < low; d++)
        middle[d] = middle[0];
    for (int d = high + 1; d <= radius; d++)
        middle[d] = middle[0];
}

/* ---- One level on one slab ------------------------------------------------------------------- */

/* Where level l writes element (x, y) of slab j of field f. */
static tz_target target_slab(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                             int l, int f, int64_t j, int64_t x, int64_t y)
{
    const tz__ring *ring = &pipeline->level[l].ring[f];
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    if (ring->depth)
        return (tz_target){ring_slab(job, ring, j, (size_t)size) +
                               (y * pipeline->row_stride + x) * size,
                           pipeline->row_stride};
    const tz_host_field *host = &stage->out[f];
    return (tz_target){array_slab(stage, host, j, (size_t)size) + (y * host->row_stride + x) * size,
                       host->row_stride};
}

/* Points of an area of slab j, which level l has computed: element (x, y) of the grid is its first
 * one, at `out`. */
static void apply_points(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                         int l, int64_t j, const tz__area *area, int64_t x, int64_t y,
                         const tz_target *out)
{
    const bool useful = j >= job->slab_low && j < job->slab_high;
    const int64_t slab = job->wrap ? tz__wrap(j, tz__stream_extent(stage)) : j;
    const int64_t to_x = x - area->x_low, to_y = y - area->y_low; /* from the job to the grid */
    tz_points_box box = {
        .iteration = pipeline->level[l].iteration,
        .low = {x, y, 0},
        .high = {area->x_high + to_x, area->y_high + to_y, 1},
        .own_low = {tz_max(area->x_low, job->x.low) + to_x, job->y.low + to_y, 0},
        .own_high = {tz_min(area->x_high, job->x.high) + to_x, job->y.high + to_y, useful ? 1 : 0},
    };
    if (stage->dims > 1) { /* the slab's number is the last coordinate */
        const int axis = stage->dims - 1;
        box.low[axis] = slab;
        box.high[axis] = slab + 1;
        box.own_low[axis] = slab;
        box.own_high[axis] = useful ? slab + 1 : slab;
    }
    for (int f = 0; f < stage->stencil->fields_count; f++) {
        if (!(pipeline->level[l].makes >> f & 1) ||
            !tz_points_due(stage->points, stage->stencil, (l - 1) % stage->stencil->passes_count,
                           f))
            continue;
        if (!pipeline->level[l].ring[f].depth) { /* in an array the rest is other tiles' */
            memcpy(box.low, box.own_low, sizeof box.low);
            memcpy(box.high, box.own_high, sizeof box.high);
        }
        box.field = f;
        box.row_stride = stage->dims == 3 ? out[f].row_stride : 0;
        box.at = (char *)out[f].at - (x + (stage->dims == 3 ? y * box.row_stride : 0)) *
                                         (ptrdiff_t)stage->element_size[f];
        tz_points_apply(stage, &box);
    }
}

/* The views of slabs j - radius to j + count - 1 + radius. */
static void view_slabs(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                       int l, int f, int64_t j, int count, const tz__area *area, tz_view *in)
{
    const int radius = stage->dims == 1 ? 0 : pipeline->level[l].radius;
    const int pass = (l - 1) % stage->stencil->passes_count;
    tz_view views[2 * TZ_RADIUS_MAX + 1];
    view_window(stage, pipeline, job, l, f, j, area->x_low, area->y_low, in);
    for (int s = 1; s < count; s++) {
        view_window(stage, pipeline, job, l, f, j + s, area->x_low, area->y_low, views);
        for (int k = 0; k <= 2 * radius; k++)
            if (k == 2 * radius || (k - radius >= pipeline->slabs[pass][f].low &&
                                    k - radius <= pipeline->slabs[pass][f].high))
                in[s + k] = views[k];
    }
}

/* Compute an area of `count` slabs from slab j on at level l: with one call of the row function, or
 * of fields that are stored otherwise than computed with one for each slab. (x, y) are the grid's
 * coordinates of its first element. */
static void compute_part(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                         int l, int64_t j, int count, const tz__area *area, int64_t x, int64_t y,
                         bool inner)
{
    const tz__level *level = &pipeline->level[l];
    const tz_pass *pass = inner ? level->inner : level->pass;
    tz_row_fn *function = inner ? level->inner_rows : level->rows;
    const tz_stencil *stencil = stage->stencil;
    const int window = stage->dims == 1 ? 1 : 2 * level->radius + count;
    const int all = tz_stencil_fields_all(stencil);
    tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + TOGETHER)];
    tz_target out[TZ_FIELDS_MAX * TOGETHER];
    /* Row functions do arithmetic on the pointers of what is neither read nor written. */
    for (int v = 0; v < all * window; v++)
        in[v] = (tz_view){NULL, 0};
    for (int v = 0; v < all * count; v++)
        out[v] = (tz_target){NULL, 0};
    for (int f = 0; f < stencil->fields_count; f++) {
        const tz_role role = stencil->fields[f].role;
        if (role == TZ_DERIVED) /* not stored, never read */
            continue;
        if (role == TZ_STREAMED) {
            in[f * window] =
                (tz_view){stage->streamed_row(stage->streamed[f], stage->step + level->iteration,
                                              area->x_low, area->x_high - area->x_low,
                                              (int32_t *)(void *)(job->arena + pipeline->scratch)),
                          0};
            continue;
        }
        view_slabs(stage, pipeline, job, l, f, j, count, area, &in[f * window]);
        if (!(level->pass->writes >> f & 1))
            continue;
        for (int s = 0; s < count; s++)
            if (level->makes >> f & 1)
                out[f * count + s] =
                    target_slab(stage, pipeline, job, l, f, j + s, area->x_low, area->y_low);
            else /* the values exist */
                out[f * count + s].at = job->arena + pipeline->scratch + pipeline->row_stride * 8;
    }
    const int64_t slab =
        tz_stage_coordinate(stage, job->wrap ? tz__wrap(j, tz__stream_extent(stage)) : j);
    const tz_span span = {
        .in = in,
        .out = out,
        .constants = stage->constants + level->iteration * stage->constants_stride,
        .count = area->x_high - area->x_low,
        .rows = area->y_high - area->y_low,
        .x = x,
        .y = stage->dims == 2 ? slab : y,
        .z = stage->dims == 3 ? slab : 0,
        .step = stage->step + level->iteration,
        .engine = pass->engine,
    };
    const tz_row_calls calls = {.function = function,
                                .span = &span,
                                .window = window,
                                .slabs = count,
                                .each = 1,
                                .calls = 1};
    if (stage->storage)
        tz_stored_call(stage, pass, &calls, job->arena + pipeline->stored);
    else
        function(&span);
    if (stage->points) /* in 1-D `x` counts from the whole grid's first cell */
        apply_points(stage, pipeline, job, l, j, area, job->x.virtual ? x : area->x_low, y, out);
}

/* Rows of an area of `count` slabs from slab j on, whose first element is (x, y) of the grid, in
 * the grid. */
static tz_domain_rows rows_of(const tz_stage *stage, const tz__job *job, int64_t j, int count,
                              const tz__area *area, int64_t x, int64_t y)
{
    const int64_t slab = job->wrap ? tz__wrap(j, tz__stream_extent(stage)) : j;
    const int64_t columns = area->x_high - area->x_low, rows = area->y_high - area->y_low;
    const int64_t end = tz_min(stage->elements[0], x + columns);
    if (stage->dims == 3)
        return (tz_domain_rows){x, end, y, y + rows, slab, slab + count};
    return (tz_domain_rows){
        x, end, stage->dims == 2 ? slab : 0, stage->dims == 2 ? slab + count : 1, 0, 1};
}

/* compute_part() of what lies in the domain. Elements of a row past the grid are left out. */
static void compute_domain(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                           int l, int64_t j, int count, const tz__area *area, int64_t x, int64_t y)
{
    const int64_t here = job->x.virtual ? x : area->x_low; /* of a slab in 1-D */
    tz__area part = *area;
    for (; part.y_low < area->y_high; part.y_low = part.y_high) {
        const int64_t row = y + part.y_low - area->y_low;
        part.y_high = tz_min(area->y_high, part.y_low + ROWS_ALIKE);
        part.x_low = area->x_low;
        part.x_high = area->x_high;
        const tz_domain_rows rows = rows_of(stage, job, j, count, &part, here, row);
        for (int64_t at = rows.x_low, end; at < rows.x_high; at = end) {
            tz_domain_kind kind;
            end = tz_domain_run(stage->domain, &rows, at, &kind);
            part.x_low = area->x_low + at - here;
            part.x_high = area->x_low + end - here;
            if (kind != TZ_DOMAIN_OUTSIDE)
                compute_part(stage, pipeline, job, l, j, count, &part, x + at - here, row,
                             kind == TZ_DOMAIN_INNER && pipeline->level[l].inner);
        }
    }
}

static void compute_area(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                         int l, int64_t j, int count, const tz__area *area, int64_t x, int64_t y)
{
    if (stage->domain)
        compute_domain(stage, pipeline, job, l, j, count, area, x, y);
    else
        compute_part(stage, pipeline, job, l, j, count, area, x, y, false);
}

/* How many slabs from j up to `to` are computed at once, so that what they share is loaded once:
 * those of stored fields inside the grid, of a stage without points and streamed fields. */
static int slabs_together(const tz_stage *stage, int64_t j, int64_t to)
{
    bool may = stage->storage && !stage->points && stage->dims > 1 && stage->first == 0 && j >= 0;
    for (int f = 0; may && f < stage->stencil->fields_count; f++)
        may = stage->stencil->fields[f].role != TZ_STREAMED;
    return may ? (int)tz_max(1, tz_min(TOGETHER, tz_min(to, tz__stream_extent(stage)) - j)) : 1;
}

/* Compute an area of a tile that wraps: split where it crosses the end of the grid, so that each
 * call gets the right coordinates. */
static void compute_wrapped(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                            int l, int64_t j, const tz__area *whole)
{
    const int64_t nx = stage->elements[0], ny = stage->elements[1];
    tz__area part = *whole;
    for (int64_t y = whole->y_low; y < whole->y_high; y = part.y_high) {
        const int64_t wrapped_y = job->y.virtual ? tz__wrap(y, ny) : y;
        part.y_low = y;
        part.y_high = whole->y_high;
        if (job->y.virtual && part.y_high - y > ny - wrapped_y)
            part.y_high = y + ny - wrapped_y;
        for (int64_t x = whole->x_low; x < whole->x_high; x = part.x_high) {
            const int64_t wrapped_x = job->x.virtual ? tz__wrap(x, nx) : x;
            part.x_low = x;
            part.x_high = whole->x_high;
            if (job->x.virtual && part.x_high - x > nx - wrapped_x)
                part.x_high = x + nx - wrapped_x;
            compute_area(stage, pipeline, job, l, j, 1, &part, wrapped_x, wrapped_y);
        }
    }
}

/* Copy a row of the job from a ring to an array, both at element 0 of the row: what lies in the
 * domain, where other cells have not been computed. */
static void copy_row(const tz_stage *stage, const tz__job *job, int64_t j, int64_t y, char *to,
                     const char *from, size_t size)
{
    const tz__area area = {job->x.low, job->x.high, y, y + 1};
    if (!stage->domain) {
        memcpy(to + job->x.low * (ptrdiff_t)size, from + job->x.low * (ptrdiff_t)size,
               (size_t)(job->x.high - job->x.low) * size);
        return;
    }
    const tz_domain_rows rows = rows_of(stage, job, j, 1, &area, job->x.low, y);
    for (int64_t at = rows.x_low, end; at < rows.x_high; at = end) {
        tz_domain_kind kind;
        end = tz_domain_run(stage->domain, &rows, at, &kind);
        if (kind != TZ_DOMAIN_OUTSIDE)
            memcpy(to + at * (ptrdiff_t)size, from + at * (ptrdiff_t)size,
                   (size_t)(end - at) * size);
    }
}

/* Set the ghosts of an area of slab j, which level l has computed. If the values are final but in a
 * ring, because later levels read them, copy them to the array. */
static void finish_slab(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int l, int64_t j, const tz__area *area)
{
    const tz__level *level = &pipeline->level[l];
    const bool useful = j >= job->slab_low && j < job->slab_high;
    const int ghosts = job->y.virtual ? 0 : stage->ghost;
    const int64_t y_low = tz_max(job->y.low, area->y_low);
    const int64_t y_high = tz_min(job->y.high, area->y_high);
    for (int f = 0; f < stage->stencil->fields_count; f++) {
        if (!(level->makes >> f & 1))
            continue;
        const size_t size = stage->element_size[f];
        const bool final = pipeline->final[f].level == l;
        tz_patch patch = {
            .row_stride = pipeline->row_stride,
            .x_low = area->x_low,
            .x_high = tz_min(area->x_high, job->x.ext_high),
            .y_low = area->y_low,
            .y_high = area->y_high,
            .keep_x = job->x.virtual,
            .rows = {ghosts, ghosts},
        };
        if (level->ring[f].depth) {
            patch.at = ring_slab(job, &level->ring[f], j, size);
            tz_patch_finish(stage, f, &patch, stage->ghost);
        }
        if (!final || !useful)
            continue;
        const tz_host_field *host = &stage->out[f];
        char *array = array_slab(stage, host, j, size);
        if (level->ring[f].depth)
            for (int64_t y = y_low; y < y_high; y++)
                copy_row(stage, job, j, y, array + y * host->row_stride * (ptrdiff_t)size,
                         patch.at + y * pipeline->row_stride * (ptrdiff_t)size, size);
        const tz_patch whole = {
            .at = array,
            .row_stride = host->row_stride,
            .x_low = job->x.low,
            .x_high = job->x.high,
            .y_low = y_low,
            .y_high = y_high,
            .rows = {stage->ghost, stage->ghost},
        };
        tz_patch_finish(stage, f, &whole, stage->ghost);
    }
}

/* Compute an area of a slab of a 1-D grid: split where the coordinates wrap. */
static void compute_line(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                         int l, const tz__area *whole)
{
    tz__area part = *whole;
    for (int64_t x = whole->x_low; x < whole->x_high; x = part.x_high) {
        const int64_t at = tz_stage_coordinate(stage, x);
        part.x_low = x;
        part.x_high = tz_min(whole->x_high, x + stage->whole - at);
        compute_area(stage, pipeline, job, l, 0, 1, &part, at, 0);
    }
}

/* Compute level l in slabs `from` to `to` - 1. */
static void run_level(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job, int l,
                      int64_t from, int64_t to)
{
    const tz__area area = tz__level_area(pipeline, job, l);
    tz__level_slabs(stage, pipeline, job, l, &from, &to);
    const bool wraps = job->x.virtual || job->y.virtual;
    for (int64_t j = from; j < to;) {
        const int count = wraps ? 1 : slabs_together(stage, j, to);
        if (wraps)
            compute_wrapped(stage, pipeline, job, l, j, &area);
        else if (stage->dims == 1 && stage->first != 0)
            compute_line(stage, pipeline, job, l, &area);
        else
            compute_area(stage, pipeline, job, l, j, count, &area, area.x_low, area.y_low);
        for (const int64_t end = j + count; j < end; j++)
            finish_slab(stage, pipeline, job, l, j, &area);
    }
}

static void run_job(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job)
{
    const bool flat = stage->dims == 1;
    const int halo = flat ? 0 : pipeline->level[0].halo.low[stage->dims - 1];
    const int batch = pipeline->batch;
    const int64_t slabs = tz__stream_extent(stage);
    const int64_t first = job->wrap ? job->slab_low - halo : tz_max(0, job->slab_low - halo);
    const int64_t end = job->slab_high + pipeline->level[pipeline->levels].lag;
    for (int64_t k = first; k < end; k += batch) {
        for (int64_t j = k; job->gather && j < k + batch && j < end; j++)
            for (int f = 0; (job->wrap || j < slabs) && f < stage->stencil->fields_count; f++)
                if (pipeline->level[0].ring[f].depth && !stage->in[f].uniform)
                    gather_slab(stage, pipeline, job, f, j);
        for (int l = 1; l <= pipeline->levels; l++) {
            const int64_t j = k - pipeline->level[l].lag;
            run_level(stage, pipeline, job, l, j, j + batch);
        }
    }
}

/* ---- The stage ------------------------------------------------------------------------------- */

/* What the threads share. */
typedef struct crew {
    tz__shares shares;
    const tz_stage *stage;
    const tz_pipeline *pipeline;
    char *arena; /* of all threads */
    size_t arena_bytes;
} crew;

static void run_thread(void *any, int thread, int threads)
{
    crew *c = any;
    int tried = 0;
    (void)threads;
    for (int64_t i; (i = tz__shares_take(&c->shares, thread, &tried)) >= 0;) {
        tz__job job;
        tz__job_make(c->stage, c->pipeline, i, c->arena + (size_t)thread * c->arena_bytes, &job);
        run_job(c->stage, c->pipeline, &job);
    }
}

void tz_stage_run(const tz_stage *stage, tz_pipeline *pipeline, char *arena, size_t arena_bytes)
{
    tz__pipeline_make(pipeline, stage);
    const int64_t jobs = tz__jobs_count(stage);
    const int threads = (int)tz_min(tz_min(stage->threads, jobs), TZ__SHARES_MAX);
    crew c = {.stage = stage, .pipeline = pipeline, .arena = arena, .arena_bytes = arena_bytes};
    tz__shares_make(&c.shares, jobs, threads);
    tz_threads_run(stage->pool, threads, run_thread, &c);
}
