#include "kernels/cpu/pipeline.h"

#include <string.h>

size_t tz_pipeline_size(void)
{
    return sizeof(tz_pipeline);
}

int tz_stage_height_max(const tz_stencil *stencil)
{
    return TZ_LEVELS_MAX / stencil->passes_count;
}

/* ---- Levels and rings ------------------------------------------------------------------------ */

/* Place a ring at `at`; returns where it ends. */
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
    while (isa > TZ_ISA_BASE && !tz_kernels_rows(pass->kernels, (tz_isa)isa, stage->precision))
        isa--;
    return tz_kernels_rows(pass->kernels, (tz_isa)isa, stage->precision);
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

/* Slabs of the ring of `field` at level `maker`: a slab must stay until the last level that reads
 * it is done. 0: no later level reads the field. */
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

/* The largest extent of a job's slabs on an axis, in elements. */
static int64_t ext_max(const tz_stage *stage, int axis, int halo)
{
    return stage->tile[axis] >= stage->elements[axis]
               ? stage->elements[axis]
               : stage->tile[axis] + halo + tz_round_up(halo, axis == 0 ? TZ__PAD : 1);
}

/* Whether a tile may extend past the grid and wrap. */
static bool may_gather(const tz_stage *stage)
{
    for (int axis = 0; axis < (stage->dims == 3 ? 2 : 1); axis++)
        if (stage->boundary[axis][0] == TZ_PERIODIC && stage->tile[axis] < stage->elements[axis])
            return true;
    return false;
}

static void pipeline_place(tz_pipeline *pipeline, const tz_stage *stage)
{
    const tz_stencil *stencil = stage->stencil;
    const int64_t width = ext_max(stage, 0, pipeline->halo);
    const int64_t height = stage->dims == 3 ? ext_max(stage, 1, pipeline->halo) : 1;
    pipeline->row_stride = (ptrdiff_t)(tz_round_up(width + TZ__PAD, TZ__PAD) + 2 * TZ__PAD);
    pipeline->rows = height + (stage->dims == 3 ? 2 * stage->ghost : 0);
    size_t at = 0;
    /* If every pass of a 1-D stencil writes every state field, a level is read only by the next
     * one: two rings, used in turns, are enough. */
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
    pipeline->bytes = (size_t)tz_round_up((int64_t)at + pipeline->row_stride * 8 + 64, 64);
}

void tz__pipeline_make(tz_pipeline *pipeline, const tz_stage *stage)
{
    pipeline_levels(pipeline, stage);
    pipeline_place(pipeline, stage);
}

size_t tz_stage_arena_bytes(const tz_stage *stage, tz_pipeline *pipeline)
{
    tz__pipeline_make(pipeline, stage);
    return pipeline->bytes;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static tz__axis place_axis(const tz_stage *stage, int axis, int64_t index, int halo)
{
    const int64_t n = stage->elements[axis], tile = stage->tile[axis];
    tz__axis a = {.low = index * tile, .high = tz__smaller(n, (index + 1) * tile)};
    a.virtual = stage->boundary[axis][0] == TZ_PERIODIC && tile < n;
    /* Rows start at multiples of TZ__PAD, so that all levels read and write aligned vectors. */
    const int64_t unit = axis == 0 ? TZ__PAD : 1;
    const int64_t low = a.low - tz_round_up(halo, unit);
    a.ext_low = a.virtual ? low : tz__larger(0, low);
    a.ext_high = a.virtual ? a.high + halo : tz__smaller(n, a.high + halo);
    return a;
}

void tz__job_make(const tz_stage *stage, const tz_pipeline *pipeline, int64_t index, char *arena,
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
    job->y = (tz__axis){.high = 1, .ext_high = 1};
    if (stage->dims == 3)
        job->y = place_axis(stage, 1, index / tiles_x % tiles_y, pipeline->halo);
    const int64_t slab = index / tiles_x / tiles_y * chunk;
    job->slab_low = slab;
    job->slab_high = tz__smaller(tz__stream_extent(stage), slab + chunk);
    job->wrap = stage->dims > 1 && stage->boundary[axis][0] == TZ_PERIODIC;
    job->slab_base = job->slab_low - 2 * pipeline->halo - 2 * TZ_RADIUS_MAX;
    const bool x_out = job->x.ext_low < 0 || job->x.ext_high > stage->elements[0];
    const bool y_out =
        stage->dims == 3 && (job->y.ext_low < 0 || job->y.ext_high > stage->elements[1]);
    job->gather = x_out || y_out;
    const int64_t pad_rows = stage->dims == 3 ? stage->ghost : 0;
    job->zero =
        (ptrdiff_t)((pad_rows - job->y.ext_low) * pipeline->row_stride + TZ__PAD - job->x.ext_low);
}

int64_t tz__jobs_count(const tz_stage *stage)
{
    int64_t jobs = 1;
    for (int axis = 0; axis < stage->dims; axis++)
        jobs *= (stage->elements[axis] + stage->tile[axis] - 1) / stage->tile[axis];
    return jobs;
}

tz__area tz__level_area(const tz_pipeline *pipeline, const tz__job *job, int l)
{
    const tz__level *level = &pipeline->level[l];
    const int halo = level->halo;
    tz__area area = {
        .x_low = tz__larger(job->x.ext_low, job->x.low - halo),
        .x_high = tz__smaller(job->x.ext_high, job->x.high + halo),
        .y_low = tz__larger(job->y.ext_low, job->y.low - halo),
        .y_high = tz__smaller(job->y.ext_high, job->y.high + halo),
    };
    if (l < pipeline->levels) {
        area.x_low = job->x.ext_low + (area.x_low - job->x.ext_low) / TZ__PAD * TZ__PAD;
        area.x_high = area.x_low + tz_round_up(area.x_high - area.x_low, TZ__PAD);
    }
    return area;
}

void tz__level_slabs(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job, int l,
                     int64_t *from, int64_t *to)
{
    const int halo = stage->dims == 1 ? 0 : pipeline->level[l].halo;
    *from = tz__larger(*from, job->slab_low - halo);
    *to = tz__smaller(*to, job->slab_high + halo);
    if (!job->wrap) {
        *from = tz__larger(*from, 0);
        *to = tz__smaller(*to, tz__stream_extent(stage));
    }
}
