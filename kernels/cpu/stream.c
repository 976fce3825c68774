#include "kernels/cpu/stream.h"

#include "kernels/cpu/finish.h"
#include <omp.h>
#include <string.h>

enum {
    PAD = TZ_ALIGN_ELEMENTS, /* elements before a ring row: ghosts, and keeps it aligned */
    COUNTED_THREADS = 1024   /* of more, the slowest is taken from the first */
};

/* A few consecutive slabs of one field at one level. */
typedef struct tz__ring {
    size_t offset; /* of the ring in the arena */
    size_t slab_bytes;
    uint32_t depth;
    uint64_t inverse; /* ceil(2^32 / depth): slot = j mod depth without a division */
} tz__ring;

typedef struct tz__level {
    const tz_pass *pass;
    tz_row_fn *rows;
    int radius;
    int lag;  /* cells between the newest input and this level's output: sum of radii so far */
    int halo; /* cells that this level computes beyond the tile: sum of radii still to come */
    int iteration;
    int16_t source[TZ_FIELDS_MAX]; /* the level that made the version this level reads; 0: array */
    tz__ring ring[TZ_FIELDS_MAX];  /* what it makes; depth 0: nobody reads it */
} tz__level;

struct tz_pipeline {
    int levels;                   /* 1..levels; level 0 is the array */
    int halo;                     /* of level 0 */
    int16_t final[TZ_FIELDS_MAX]; /* the level that makes the field's new values; 0: unchanged */
    ptrdiff_t row_stride;         /* of every ring, in elements */
    int64_t rows;                 /* rows of a ring slab */
    size_t scratch;               /* offset of the streamed row */
    size_t bytes;
    tz__level level[TZ_LEVELS_MAX + 1];
};

/* How a tile lies on an inner axis. */
typedef struct span_axis {
    int64_t low, high;         /* useful elements */
    int64_t ext_low, ext_high; /* elements that the slab holds */
    bool virtual;              /* runs past the grid and wraps: no ghosts, values are gathered */
} span_axis;

typedef struct tz__job {
    span_axis x, y;
    int64_t slab_low, slab_high; /* chunk of the stream axis */
    bool wrap;                   /* the stream axis is periodic */
    bool gather;                 /* level 0 is copied into rings */
    int64_t slab_base;           /* slab that rings count from, so that slots are positive */
    char *arena;
    ptrdiff_t zero; /* elements from a ring slab's start to element (0, 0) */
} tz__job;

size_t tz_pipeline_size(void)
{
    return sizeof(tz_pipeline);
}

int tz_stage_height_max(const tz_stencil *stencil)
{
    return TZ_LEVELS_MAX / stencil->passes_count;
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static int inner_axes(const tz_stage *stage)
{
    return stage->dims == 3 ? 2 : 1;
}

static int64_t stream_extent(const tz_stage *stage)
{
    return stage->dims == 1 ? 1 : stage->elements[stage->dims - 1];
}

/* ---- The pipeline of levels ------------------------------------------------------------------ */

static size_t ring_place(tz__ring *ring, size_t at, int depth, size_t slab_bytes)
{
    ring->offset = at;
    ring->slab_bytes = slab_bytes;
    ring->depth = (uint32_t)depth;
    ring->inverse = ((UINT64_C(1) << 32) + ring->depth - 1) / ring->depth;
    return at + (size_t)depth * slab_bytes;
}

tz_row_fn *tz_stage_rows(const tz_stage *stage, const tz_pass *pass)
{
    int isa = stage->isa;
    while (isa > TZ_ISA_BASE && !pass->kernels->rows[stage->precision][isa])
        isa--;
    return pass->kernels->rows[stage->precision][isa];
}

static void pipeline_levels(tz_pipeline *pipeline, const tz_stage *stage)
{
    const tz_stencil *stencil = stage->stencil;
    int16_t newest[TZ_FIELDS_MAX] = {0};
    int lag = 0;
    pipeline->levels = stage->height * stencil->passes_count;
    memset(&pipeline->level[0], 0, sizeof pipeline->level[0]);
    for (int l = 1; l <= pipeline->levels; l++) {
        tz__level *level = &pipeline->level[l];
        memset(level, 0, sizeof *level);
        level->pass = &stencil->passes[(l - 1) % stencil->passes_count];
        level->rows = tz_stage_rows(stage, level->pass);
        level->radius = level->pass->radius;
        level->lag = lag += level->radius;
        level->iteration = (l - 1) / stencil->passes_count;
        for (int f = 0; f < stencil->fields_count; f++) {
            level->source[f] = newest[f];
            if (level->pass->writes >> f & 1)
                newest[f] = (int16_t)l;
        }
    }
    pipeline->halo = lag;
    pipeline->level[0].halo = lag;
    for (int l = 1; l <= pipeline->levels; l++)
        pipeline->level[l].halo = lag - pipeline->level[l].lag;
    memcpy(pipeline->final, newest, sizeof newest);
}

/* Slabs of version (maker, field) that must be alive at once: from when one is made until the last
 * reader has passed it by. 0: nobody reads it. */
static int ring_depth(const tz_pipeline *pipeline, const tz_stage *stage, int maker, int field)
{
    int depth = 0;
    for (int l = maker + 1; l <= pipeline->levels; l++) {
        const tz__level *reader = &pipeline->level[l];
        if (reader->source[field] == maker)
            depth = stage->dims == 1
                        ? 1
                        : reader->lag - pipeline->level[maker].lag + reader->radius + stage->batch;
    }
    return depth;
}

static int64_t ext_max(const tz_stage *stage, int axis, int halo)
{
    return stage->tile[axis] >= stage->elements[axis]
               ? stage->elements[axis]
               : stage->tile[axis] + halo + round_up(halo, axis == 0 ? PAD : 1);
}

static bool may_gather(const tz_stage *stage)
{
    for (int axis = 0; axis < inner_axes(stage); axis++)
        if (stage->boundary[axis] == TZ_PERIODIC && stage->tile[axis] < stage->elements[axis])
            return true;
    return false;
}

static void pipeline_place(tz_pipeline *pipeline, const tz_stage *stage)
{
    const tz_stencil *stencil = stage->stencil;
    const int64_t width = ext_max(stage, 0, pipeline->halo);
    const int64_t height = stage->dims == 3 ? ext_max(stage, 1, pipeline->halo) : 1;
    pipeline->row_stride = (ptrdiff_t)(round_up(width + PAD, PAD) + 2 * PAD);
    pipeline->rows = height + (stage->dims == 3 ? 2 * stage->ghost : 0);
    size_t at = 0;
    /* A 1-D level is read by the next alone when every pass writes every field: two buffers do. */
    bool swap = stage->dims == 1;
    for (int p = 0; p < stencil->passes_count; p++)
        for (int f = 0; f < stencil->fields_count; f++)
            swap =
                swap && (stencil->fields[f].role != TZ_STATE || stencil->passes[p].writes >> f & 1);
    for (int l = 0; l <= pipeline->levels; l++)
        for (int f = 0; f < stencil->fields_count; f++) {
            tz__level *level = &pipeline->level[l];
            const bool made = l == 0 ? may_gather(stage) && stencil->fields[f].role != TZ_STREAMED
                                     : level->pass->writes >> f & 1;
            const int depth = made ? ring_depth(pipeline, stage, l, f) : 0;
            const size_t slab_bytes =
                (size_t)pipeline->row_stride * (size_t)pipeline->rows * stage->element_size[f];
            level->ring[f].depth = 0;
            if (depth == 0)
                continue;
            if (swap && l > 2) {
                level->ring[f] = pipeline->level[l - 2].ring[f];
                continue;
            }
            at = ring_place(&level->ring[f], at, depth, slab_bytes);
        }
    pipeline->scratch = at;
    pipeline->bytes = (size_t)round_up((int64_t)at + pipeline->row_stride * 8 + 64, 64);
}

size_t tz_stage_arena_bytes(const tz_stage *stage, tz_pipeline *pipeline)
{
    pipeline_levels(pipeline, stage);
    pipeline_place(pipeline, stage);
    return pipeline->bytes;
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

static inline uint32_t ring_slot(const tz__job *job, const tz__ring *ring, int64_t j)
{
    const uint32_t n = (uint32_t)(j - job->slab_base);
    return n - (uint32_t)(n * ring->inverse >> 32) * ring->depth;
}

/* Element (0, 0) of slab j in a ring (which may lie before the ring's memory). */
static inline char *ring_slab(const tz__job *job, const tz__ring *ring, int64_t j, size_t size)
{
    const uint32_t slot = ring_slot(job, ring, j);
    return job->arena + ring->offset + slot * ring->slab_bytes + job->zero * (ptrdiff_t)size;
}

static inline char *array_slab(const tz_stage *stage, const tz_host_field *host, int64_t j,
                               size_t size)
{
    const ptrdiff_t stride = stage->dims == 3   ? host->plane_stride
                             : stage->dims == 2 ? host->row_stride
                                                : 0;
    return host->origin + (ptrdiff_t)j * stride * (ptrdiff_t)size;
}

/* Copy slab j of a field from its array into the job's ring, wrapping where the tile does. */
static void gather_slab(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int f, int64_t j)
{
    const tz_host_field *host = &stage->in[f];
    const size_t size = stage->element_size[f];
    const int64_t slabs = stream_extent(stage);
    const char *from =
        array_slab(stage, host, job->wrap ? tz_ghost_source(TZ_PERIODIC, j, slabs) : j, size);
    char *to = ring_slab(job, &pipeline->level[0].ring[f], j, size);
    const bool planes = stage->dims == 3;
    const int ghost = stage->ghost;
    const int64_t nx = stage->elements[0];
    const int64_t y_low = planes ? job->y.ext_low - (job->y.virtual ? 0 : ghost) : 0;
    const int64_t y_high = planes ? job->y.ext_high + (job->y.virtual ? 0 : ghost) : 1;
    const int64_t x_low = job->x.ext_low - (job->x.virtual ? 0 : ghost);
    const int64_t x_high = job->x.ext_high + (job->x.virtual ? 0 : ghost);
    for (int64_t y = y_low; y < y_high; y++) {
        const int64_t source_y = planes && job->y.virtual
                                     ? tz_ghost_source(TZ_PERIODIC, y, stage->elements[1])
                                     : y;
        const char *source = from + source_y * host->row_stride * (ptrdiff_t)size;
        char *target = to + y * pipeline->row_stride * (ptrdiff_t)size;
        if (!job->x.virtual) {
            memcpy(target + x_low * (int64_t)size, source + x_low * (int64_t)size,
                   (size_t)(x_high - x_low) * size);
            continue;
        }
        for (int64_t x = x_low; x < x_high;) {
            const int64_t wrapped = tz_ghost_source(TZ_PERIODIC, x, nx);
            const int64_t run = nx - wrapped < x_high - x ? nx - wrapped : x_high - x;
            memcpy(target + x * (int64_t)size, source + wrapped * (int64_t)size,
                   (size_t)run * size);
            x += run;
        }
    }
}

/* Where slab j of a field's version is read from, at element (x, y). */
static inline tz_view view_slab(const tz_stage *stage, const tz_pipeline *pipeline,
                                const tz__job *job, int f, int version, int64_t j, int64_t x,
                                int64_t y)
{
    const size_t size = stage->element_size[f];
    const tz_host_field *host = &stage->in[f];
    const int64_t slabs = stream_extent(stage);
    if (!job->wrap && (uint64_t)j >= (uint64_t)slabs) {
        j = tz_ghost_source(stage->boundary[stage->dims - 1], j, slabs);
        if (j < 0)
            return (tz_view){stage->boundary_row[f], 0};
    }
    if (version == 0 && host->uniform)
        return (tz_view){host->origin, 0};
    const char *at;
    ptrdiff_t row_stride;
    if (version > 0 || job->gather) {
        at = ring_slab(job, &pipeline->level[version].ring[f], j, size);
        row_stride = pipeline->row_stride;
    } else {
        at = array_slab(stage, host,
                        (uint64_t)j >= (uint64_t)slabs ? tz_ghost_source(TZ_PERIODIC, j, slabs) : j,
                        size);
        row_stride = host->row_stride;
    }
    return (tz_view){at + (y * row_stride + x) * (ptrdiff_t)size, row_stride};
}

/* Slabs j - radius to j + radius of a field's version, at element (x, y). Once per level and slab,
 * so the usual case, no slab outside the grid, steps from one pointer to the next. */
static void view_window(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int f, int version, int64_t j, int radius, int64_t x, int64_t y,
                        tz_view *views)
{
    const tz_field *field = &stage->stencil->fields[f];
    const int window = 2 * radius + 1;
    if (field->role == TZ_STATIC && field->radius == 0) {
        /* Only the middle is read. */
        const tz_view middle = view_slab(stage, pipeline, job, f, version, j, x, y);
        for (int k = 0; k < window; k++) {
            views[k].at = middle.at;
            views[k].row_stride = middle.row_stride;
        }
        return;
    }
    if (j - radius < 0 || j + radius >= stream_extent(stage)) {
        for (int k = 0; k < window; k++)
            views[k] = view_slab(stage, pipeline, job, f, version, j - radius + k, x, y);
        return;
    }
    views[0] = view_slab(stage, pipeline, job, f, version, j - radius, x, y);
    const char *at = views[0].at;
    const ptrdiff_t row_stride = views[0].row_stride;
    if (version == 0 && !job->gather) {
        const ptrdiff_t stride =
            array_slab(stage, &stage->in[f], 1, stage->element_size[f]) - stage->in[f].origin;
        for (int k = 1; k < window; k++)
            views[k] = (tz_view){at += stride, row_stride};
        return;
    }
    const tz__ring *ring = &pipeline->level[version].ring[f];
    uint32_t slot = ring_slot(job, ring, j - radius);
    for (int k = 1; k < window; k++) {
        at += ring->slab_bytes;
        if (++slot == ring->depth) {
            slot = 0;
            at -= ring->depth * ring->slab_bytes;
        }
        views[k] = (tz_view){at, row_stride};
    }
}

/* ---- One level on one slab ------------------------------------------------------------------- */

typedef struct tz__area {
    int64_t x_low, x_high, y_low, y_high;
} tz__area;

static void compute_area(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                         int l, int64_t j, const tz__area *area, int64_t x, int64_t y)
{
    const tz__level *level = &pipeline->level[l];
    const tz_stencil *stencil = stage->stencil;
    const int radius = stage->dims == 1 ? 0 : level->radius, window = 2 * radius + 1;
    tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + 1)];
    tz_target out[TZ_FIELDS_MAX] = {{0}}; /* rows are counted for those not written, too */
    for (int f = 0; f < stencil->fields_count; f++) {
        if (stencil->fields[f].role == TZ_STREAMED) {
            in[f * window] =
                (tz_view){stage->stream_row(stage->stream[f], stage->step + level->iteration,
                                            area->x_low, area->x_high - area->x_low,
                                            (int32_t *)(void *)(job->arena + pipeline->scratch)),
                          0};
            continue;
        }
        view_window(stage, pipeline, job, f, level->source[f], j, radius, area->x_low, area->y_low,
                    &in[f * window]);
        if (!(level->pass->writes >> f & 1))
            continue;
        const size_t size = stage->element_size[f];
        if (level->ring[f].depth) {
            char *at = ring_slab(job, &level->ring[f], j, size);
            out[f].at = at + (area->y_low * pipeline->row_stride + area->x_low) * (ptrdiff_t)size;
            out[f].row_stride = pipeline->row_stride;
        } else {
            const tz_host_field *host = &stage->out[f];
            out[f].at = array_slab(stage, host, j, size) +
                        (area->y_low * host->row_stride + area->x_low) * (ptrdiff_t)size;
            out[f].row_stride = host->row_stride;
        }
    }
    const int64_t slab = job->wrap ? tz_ghost_source(TZ_PERIODIC, j, stream_extent(stage)) : j;
    const tz_span span = {
        .in = in,
        .out = out,
        .constants = stage->constants,
        .count = area->x_high - area->x_low,
        .rows = area->y_high - area->y_low,
        .x = x,
        .y = stage->dims == 2 ? slab : y,
        .z = stage->dims == 3 ? slab : 0,
        .step = stage->step + level->iteration,
    };
    level->rows(&span);
}

/* Split an area where a wrapping tile crosses the grid's end, so that coordinates are right. */
static void compute_wrapped(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                            int l, int64_t j, const tz__area *whole)
{
    const int64_t nx = stage->elements[0], ny = stage->elements[1];
    tz__area part = *whole;
    for (int64_t y = whole->y_low; y < whole->y_high; y = part.y_high) {
        const int64_t wrapped_y = job->y.virtual ? tz_ghost_source(TZ_PERIODIC, y, ny) : y;
        part.y_low = y;
        part.y_high = whole->y_high;
        if (job->y.virtual && part.y_high - y > ny - wrapped_y)
            part.y_high = y + ny - wrapped_y;
        for (int64_t x = whole->x_low; x < whole->x_high; x = part.x_high) {
            const int64_t wrapped_x = job->x.virtual ? tz_ghost_source(TZ_PERIODIC, x, nx) : x;
            part.x_low = x;
            part.x_high = whole->x_high;
            if (job->x.virtual && part.x_high - x > nx - wrapped_x)
                part.x_high = x + nx - wrapped_x;
            compute_area(stage, pipeline, job, l, j, &part, wrapped_x, wrapped_y);
        }
    }
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* After level l made slab j: ghosts, and the copy of a final version that later levels still read.
 */
static void finish_slab(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int l, int64_t j, const tz__area *area)
{
    const tz__level *level = &pipeline->level[l];
    const bool useful = j >= job->slab_low && j < job->slab_high;
    for (int f = 0; f < stage->stencil->fields_count; f++) {
        if (!(level->pass->writes >> f & 1))
            continue;
        const size_t size = stage->element_size[f];
        const bool final = pipeline->final[f] == l;
        tz_patch patch = {
            .row_stride = pipeline->row_stride,
            .x_low = area->x_low,
            .x_high = min64(area->x_high, job->x.ext_high),
            .y_low = area->y_low,
            .y_high = area->y_high,
            .keep_x = job->x.virtual,
            .keep_y = job->y.virtual,
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
            for (int64_t y = job->y.low; y < job->y.high; y++)
                memcpy(array + (y * host->row_stride + job->x.low) * (ptrdiff_t)size,
                       patch.at + (y * pipeline->row_stride + job->x.low) * (ptrdiff_t)size,
                       (size_t)(job->x.high - job->x.low) * size);
        const tz_patch whole = {
            .at = array,
            .row_stride = host->row_stride,
            .x_low = job->x.low,
            .x_high = job->x.high,
            .y_low = job->y.low,
            .y_high = job->y.high,
        };
        tz_patch_finish(stage, f, &whole, stage->ghost);
    }
}

/* Columns and rows that level l computes: the tile and what is left of the ghost zone. Ring rows
 * start and end at whole vectors: the surplus is computed from whatever lies there and never used.
 */
static tz__area level_area(const tz_pipeline *pipeline, const tz__job *job, int l)
{
    const tz__level *level = &pipeline->level[l];
    const int halo = level->halo;
    tz__area area = {
        .x_low = max64(job->x.ext_low, job->x.low - halo),
        .x_high = min64(job->x.ext_high, job->x.high + halo),
        .y_low = max64(job->y.ext_low, job->y.low - halo),
        .y_high = min64(job->y.ext_high, job->y.high + halo),
    };
    if (l < pipeline->levels) {
        area.x_low = job->x.ext_low + (area.x_low - job->x.ext_low) / PAD * PAD;
        area.x_high = area.x_low + round_up(area.x_high - area.x_low, PAD);
    }
    return area;
}

/* Of slabs [*from, *to) those of level l that the job needs. */
static void level_slabs(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int l, int64_t *from, int64_t *to)
{
    const int halo = stage->dims == 1 ? 0 : pipeline->level[l].halo;
    *from = max64(*from, job->slab_low - halo);
    *to = min64(*to, job->slab_high + halo);
    if (!job->wrap) {
        *from = max64(*from, 0);
        *to = min64(*to, stream_extent(stage));
    }
}

static void run_level(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job, int l,
                      int64_t from, int64_t to)
{
    level_slabs(stage, pipeline, job, l, &from, &to);
    const tz__area area = level_area(pipeline, job, l);
    const bool wraps = job->x.virtual || job->y.virtual;
    for (int64_t j = from; j < to; j++) {
        if (wraps)
            compute_wrapped(stage, pipeline, job, l, j, &area);
        else
            compute_area(stage, pipeline, job, l, j, &area, area.x_low, area.y_low);
        finish_slab(stage, pipeline, job, l, j, &area);
    }
}

static void run_job(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job)
{
    const bool flat = stage->dims == 1;
    const int halo = flat ? 0 : pipeline->halo, batch = stage->batch;
    const int64_t slabs = stream_extent(stage);
    const int64_t first = job->wrap ? job->slab_low - halo : max64(0, job->slab_low - halo);
    const int64_t end = job->slab_high + halo;
    for (int64_t k = first; k < end; k += batch) {
        for (int64_t j = k; job->gather && j < k + batch && j < end; j++)
            for (int f = 0; (job->wrap || j < slabs) && f < stage->stencil->fields_count; f++)
                if (pipeline->level[0].ring[f].depth && !stage->in[f].uniform)
                    gather_slab(stage, pipeline, job, f, j);
        for (int l = 1; l <= pipeline->levels; l++) {
            const int64_t j = k - (flat ? 0 : pipeline->level[l].lag);
            run_level(stage, pipeline, job, l, j, j + batch);
        }
    }
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static span_axis place_axis(const tz_stage *stage, int axis, int64_t index, int halo)
{
    const int64_t n = stage->elements[axis], tile = stage->tile[axis];
    span_axis a = {.low = index * tile, .high = min64(n, (index + 1) * tile)};
    a.virtual = stage->boundary[axis] == TZ_PERIODIC && tile < n;
    /* Rows start at whole vectors, so that what every level reads and writes is aligned. */
    const int64_t unit = axis == 0 ? PAD : 1;
    const int64_t low = a.low - round_up(halo, unit);
    a.ext_low = a.virtual ? low : max64(0, low);
    a.ext_high = a.virtual ? a.high + halo : min64(n, a.high + halo);
    return a;
}

static void make_job(const tz_stage *stage, const tz_pipeline *pipeline, int64_t index, char *arena,
                     tz__job *job)
{
    const int64_t tiles_x = (stage->elements[0] + stage->tile[0] - 1) / stage->tile[0];
    const int64_t tiles_y =
        stage->dims == 3 ? (stage->elements[1] + stage->tile[1] - 1) / stage->tile[1] : 1;
    const int axis = stage->dims - 1;
    const int64_t chunk = stage->dims == 1 ? 1 : stage->tile[axis];
    memset(job, 0, sizeof *job);
    job->arena = arena;
    job->x = place_axis(stage, 0, index % tiles_x, pipeline->halo);
    job->y = (span_axis){.high = 1, .ext_high = 1};
    if (stage->dims == 3)
        job->y = place_axis(stage, 1, index / tiles_x % tiles_y, pipeline->halo);
    const int64_t slab = index / tiles_x / tiles_y * chunk;
    job->slab_low = slab;
    job->slab_high = min64(stream_extent(stage), slab + chunk);
    job->wrap = stage->dims > 1 && stage->boundary[axis] == TZ_PERIODIC;
    job->slab_base = job->slab_low - 2 * pipeline->halo - 2 * TZ_RADIUS_MAX;
    const bool x_out = job->x.ext_low < 0 || job->x.ext_high > stage->elements[0];
    const bool y_out =
        stage->dims == 3 && (job->y.ext_low < 0 || job->y.ext_high > stage->elements[1]);
    job->gather = x_out || y_out;
    const int64_t pad_rows = stage->dims == 3 ? stage->ghost : 0;
    job->zero =
        (ptrdiff_t)((pad_rows - job->y.ext_low) * pipeline->row_stride + PAD - job->x.ext_low);
}

static int64_t jobs_count(const tz_stage *stage)
{
    int64_t jobs = 1;
    for (int axis = 0; axis < stage->dims; axis++)
        jobs *= (stage->elements[axis] + stage->tile[axis] - 1) / stage->tile[axis];
    return jobs;
}

void tz_stage_count(const tz_stage *stage, tz_pipeline *pipeline, tz_stage_counts *out)
{
    double thread[COUNTED_THREADS] = {0};
    const int threads = stage->threads < COUNTED_THREADS ? stage->threads : COUNTED_THREADS;
    pipeline_levels(pipeline, stage);
    pipeline_place(pipeline, stage);
    memset(out, 0, sizeof *out);
    out->jobs = (double)jobs_count(stage);
    out->ring_bytes = (double)pipeline->scratch;
    for (int64_t i = 0; i < jobs_count(stage); i++) {
        tz__job job;
        make_job(stage, pipeline, i, NULL, &job);
        int next = 0;
        for (int t = 1; t < threads; t++)
            next = thread[t] < thread[next] ? t : next;
        for (int l = 0; l <= pipeline->levels; l++) {
            const tz__area area = level_area(pipeline, &job, l);
            int64_t from = INT64_MIN, to = INT64_MAX;
            level_slabs(stage, pipeline, &job, l, &from, &to);
            const double slabs = (double)(to - from), rows = (double)(area.y_high - area.y_low);
            const double row = (double)(area.x_high - area.x_low);
            if (l == 0) {
                out->read += slabs * rows * row;
                out->gathered += job.gather ? slabs * rows * row : 0.0;
                out->row = out->row > row ? out->row : row;
                out->slab = out->slab > rows * row ? out->slab : rows * row;
                continue;
            }
            out->spans += slabs;
            out->rows += slabs * rows;
            if (area.x_low <= stage->ghost || area.x_high >= stage->elements[0] - stage->ghost)
                out->ends += slabs * rows;
            thread[next] += slabs * rows * row;
        }
        out->written += (double)(job.x.high - job.x.low) * (double)(job.y.high - job.y.low) *
                        (double)(job.slab_high - job.slab_low);
        out->slowest = out->slowest > thread[next] ? out->slowest : thread[next];
    }
    for (int t = 0; t < threads; t++)
        out->updates += thread[t];
}

void tz_stage_run(const tz_stage *stage, tz_pipeline *pipeline, char *arena, size_t arena_bytes)
{
    pipeline_levels(pipeline, stage);
    pipeline_place(pipeline, stage);
    const int64_t jobs = jobs_count(stage);
    const int threads = (int)min64(stage->threads, jobs);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int64_t i = 0; i < jobs; i++) {
        tz__job job;
        make_job(stage, pipeline, i, arena + (size_t)omp_get_thread_num() * arena_bytes, &job);
        run_job(stage, pipeline, &job);
    }
}
