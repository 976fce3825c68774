/* Lays out a stage: reach, lag and rings of each level, and the tile of each job. Called by
 * stream.c and count.c; core/backend/cpu asks for sizes and row functions. */
#include "kernels/cpu/pipeline.h"

#include "kernels/cpu/stored.h"
#include <string.h>

size_t tz_pipeline_size(const tz_stencil *stencil, int height)
{
    const size_t levels = (size_t)height * (size_t)stencil->passes_count + 1;
    return sizeof(tz_pipeline) + levels * sizeof(tz__level);
}

int tz_stage_height_max(const tz_stencil *stencil)
{
    return TZ_LEVELS_MAX / stencil->passes_count;
}

/* ---- Levels and rings ------------------------------------------------------------------------ */

/* Place a ring at `at`; returns where it ends. */
static size_t ring_place(tz__ring *ring, size_t at, int64_t depth, size_t slab_bytes)
{
    ring->offset = at;
    ring->slab_bytes = slab_bytes;
    ring->depth = (uint32_t)depth;
    ring->inverse = UINT64_MAX / ring->depth + 1;                      /* 0 for a depth of 1 */
    return at + (size_t)depth * slab_bytes + TZ__PAD * sizeof(double); /* the last row's end */
}

/* The best function that the stage's instruction set allows; NULL: there is none. */
static tz_row_fn *best_of(const tz_stage *stage, const tz_kernels *kernels)
{
    tz_row_fn *found = NULL;
    for (int isa = (int)stage->isa; kernels && isa >= TZ_ISA_BASE && !found; isa--)
        found = tz_kernels_rows(kernels, (tz_isa)isa, stage->precision);
    return found;
}

tz_row_fn *tz_stage_rows(const tz_stage *stage, const tz_pass *pass)
{
    return best_of(stage, pass->kernels);
}

tz_row_fn *tz_stage_several(const tz_stage *stage, const tz_pass *pass, int *slabs)
{
    const tz_stencil *stencil = stage->stencil;
    bool alone = false;
    for (int p = 0; p < stencil->passes_count; p++)
        if (pass == &stencil->passes[p] || (stencil->inner && pass == &stencil->inner[p]))
            alone = stage->alone >> p & 1;
    tz_row_fn *found = alone || stage->dims == 1 ? NULL : best_of(stage, pass->in_place);
    *slabs = found ? tz_pass_slabs(pass, stage->dims) : TZ_SLABS_TOGETHER;
    return found || alone ? found : best_of(stage, pass->together);
}

/* Whether a tile may extend past the grid and wrap. */
static bool may_gather(const tz_stage *stage)
{
    for (int axis = 0; axis < (stage->dims == 3 ? 2 : 1); axis++)
        if (tz_boundary_wraps(stage->boundary[axis][0]) &&
            stage->tile[axis] < stage->elements[axis])
            return true;
    return false;
}

/* A mirror brings what is read past its side from the other direction. */
static void reflect(const tz_stage *stage, int axis, int *low, int *high)
{
    const int before = *low;
    if (tz_boundary_reflects(stage->boundary[axis][1]) && -*high < *low)
        *low = -*high;
    if (tz_boundary_reflects(stage->boundary[axis][0]) && -before > *high)
        *high = -before;
}

/* What a pass reads: of state fields, and of all fields. */
typedef struct pass_reach {
    tz_reach state, all;
} pass_reach;

static void grow(tz_reach *reach, int axis, int low, int high)
{
    reach->low[axis] = -low > reach->low[axis] ? -low : reach->low[axis];
    reach->high[axis] = high > reach->high[axis] ? high : reach->high[axis];
}

static pass_reach reach_of(tz_pipeline *pipeline, const tz_stage *stage, int p)
{
    const tz_stencil *stencil = stage->stencil;
    pass_reach reach = {{{0}, {0}}, {{0}, {0}}};
    for (int f = 0; f < stencil->fields_count; f++) {
        const tz_role role = stencil->fields[f].role;
        pipeline->slabs[p][f].low = pipeline->slabs[p][f].high = 0;
        if (role != TZ_STATE && role != TZ_STATIC)
            continue;
        tz_reads reads = tz_stencil_reads(stencil, &stencil->passes[p], f);
        for (int axis = 0; axis < stage->dims; axis++) {
            reflect(stage, axis, &reads.low[axis], &reads.high[axis]);
            grow(&reach.all, axis, reads.low[axis], reads.high[axis]);
            if (role == TZ_STATE)
                grow(&reach.state, axis, reads.low[axis], reads.high[axis]);
        }
        if (stage->dims == 1)
            continue;
        pipeline->slabs[p][f].low = (int8_t)reads.low[stage->dims - 1];
        pipeline->slabs[p][f].high = (int8_t)reads.high[stage->dims - 1];
    }
    return reach;
}

static void add_reach(tz_reach *to, const tz_reach *a, const tz_reach *b)
{
    for (int axis = 0; axis < TZ_AXES; axis++) {
        to->low[axis] = a->low[axis] + b->low[axis];
        to->high[axis] = a->high[axis] + b->high[axis];
    }
}

/* Lags and halos of the levels. Level 0 of a job that gathers also has the cells of static fields:
 * its first slabs come early enough for the level that reads farthest ahead. */
static void pipeline_reach(tz_pipeline *pipeline, const tz_stage *stage)
{
    const int passes = stage->stencil->passes_count;
    const int axis = stage->dims - 1;
    const bool gathers = may_gather(stage);
    pass_reach reach[TZ_PASSES_MAX];
    for (int p = 0; p < passes; p++)
        reach[p] = reach_of(pipeline, stage, p);
    int lag = 0, lead = 0;
    for (int l = 1; l <= pipeline->levels; l++) {
        const pass_reach *r = &reach[(l - 1) % passes];
        lag += stage->dims == 1 ? 0 : r->state.high[axis];
        pipeline->level[l].lag = lag;
        if (gathers && stage->dims > 1 && r->all.high[axis] > lag + lead)
            lead = r->all.high[axis] - lag;
    }
    tz_reach first = {{0}, {0}};
    memset(&pipeline->level[pipeline->levels].halo, 0, sizeof first);
    for (int l = pipeline->levels; l >= 1; l--) {
        const pass_reach *r = &reach[(l - 1) % passes];
        tz_reach needed;
        pipeline->level[l].lag += lead;
        add_reach(&pipeline->level[l - 1].halo, &pipeline->level[l].halo, &r->state);
        add_reach(&needed, &pipeline->level[l].halo, gathers ? &r->all : &r->state);
        for (int a = 0; a < TZ_AXES; a++)
            grow(&first, a, -needed.low[a], needed.high[a]);
    }
    pipeline->level[0].halo = first;
}

static void pipeline_levels(tz_pipeline *pipeline, const tz_stage *stage)
{
    const tz_stencil *stencil = stage->stencil;
    tz__origin newest[TZ_FIELDS_MAX];
    for (int f = 0; f < stencil->fields_count; f++)
        newest[f] = (tz__origin){0, (int16_t)f};
    pipeline->levels = stage->height * stencil->passes_count;
    pipeline->batch = stage->batch;
    memset(&pipeline->level[0], 0, sizeof pipeline->level[0]);
    for (int l = 1; l <= pipeline->levels; l++) {
        tz__level *level = &pipeline->level[l];
        memset(level, 0, sizeof *level);
        level->pass = &stencil->passes[(l - 1) % stencil->passes_count];
        level->rows = l > stencil->passes_count ? level[-stencil->passes_count].rows
                                                : tz_stage_rows(stage, level->pass);
        level->inner = stage->domain && stencil->inner
                           ? &stencil->inner[(l - 1) % stencil->passes_count]
                           : NULL;
        level->inner_rows = level->inner ? tz_stage_rows(stage, level->inner) : NULL;
        level->radius = level->pass->radius;
        level->iteration = (l - 1) / stencil->passes_count;
        memcpy(level->source, newest, sizeof newest);
        for (int f = 0; f < stencil->fields_count; f++) {
            const int from = tz_points_takes(stage->points, stencil, level->pass, f);
            /* In the last iteration the row function writes it to the array, unless the stage's
             * input has it. */
            if (from >= 0 &&
                (level->iteration < stage->height - 1 || level->source[from].level == 0))
                newest[f] = level->source[from];
            else if (level->pass->writes >> f & 1) {
                newest[f] = (tz__origin){(int16_t)l, (int16_t)f};
                level->makes |= 1u << f;
            }
        }
    }
    memcpy(pipeline->final, newest, sizeof newest);
    pipeline_reach(pipeline, stage);
}

/* Slabs of the ring of each field at each level: a slab must stay until the last level that reads
 * it is done. 0: no later level reads the field. */
static void ring_depths(tz_pipeline *pipeline, const tz_stage *stage)
{
    const int passes = stage->stencil->passes_count;
    for (int l = 1; l <= pipeline->levels; l++)
        for (int f = 0; f < stage->stencil->fields_count; f++) {
            const tz__level *reader = &pipeline->level[l];
            tz__level *maker = &pipeline->level[reader->source[f].level];
            tz__ring *ring = &maker->ring[reader->source[f].field];
            const int back = -pipeline->slabs[(l - 1) % passes][f].low;
            const uint32_t depth =
                stage->dims == 1 ? 1
                                 : (uint32_t)(reader->lag - maker->lag + back + pipeline->batch);
            if (depth > ring->depth)
                ring->depth = depth;
        }
}

/* The largest extent of a job's slabs on an axis, in elements. */
static int64_t ext_max(const tz_stage *stage, int axis, const tz_reach *halo)
{
    return stage->tile[axis] >= stage->elements[axis]
               ? stage->elements[axis]
               : stage->tile[axis] + halo->high[axis] +
                     tz_round_up(halo->low[axis], axis == 0 ? TZ__PAD : 1);
}

static void pipeline_place(tz_pipeline *pipeline, const tz_stage *stage)
{
    const tz_stencil *stencil = stage->stencil;
    const tz_reach *halo = &pipeline->level[0].halo;
    const int64_t width = ext_max(stage, 0, halo);
    /* The last ghosts of a row and the first ones of the next row may lie in one line. But the
     * surplus elements of a row must not lie there where the next row is not computed after it: in
     * 2-D it is another slab, and the rows of a tile that wraps are computed in parts. */
    const bool apart = stage->dims == 2 || may_gather(stage);
    pipeline->row_stride =
        (ptrdiff_t)tz_round_up(width + 2 * stage->ghost, TZ__PAD) + (apart ? TZ__PAD : 0);
    pipeline->rows = stage->dims == 3 ? ext_max(stage, 1, halo) + 2 * stage->ghost : 1;
    size_t at = 0;
    const bool gathers = may_gather(stage);
    ring_depths(pipeline, stage);
    /* If every pass of a 1-D stencil computes every state field, a level is read only by the next
     * one: two rings, used in turns, are enough. */
    bool swap = stage->dims == 1;
    for (int p = 0; p < stencil->passes_count; p++)
        for (int f = 0; f < stencil->fields_count; f++)
            swap = swap &&
                   (stencil->fields[f].role != TZ_STATE || pipeline->level[p + 1].makes >> f & 1);
    for (int l = 0; l <= pipeline->levels; l++)
        for (int f = 0; f < stencil->fields_count; f++) {
            tz__level *level = &pipeline->level[l];
            const tz_role role = stencil->fields[f].role;
            const bool made =
                l > 0 ? level->makes >> f & 1 : gathers && (role == TZ_STATIC || role == TZ_STATE);
            const int depth = made ? (int)level->ring[f].depth : 0;
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
    at = (size_t)tz_round_up((int64_t)at + 2 * (pipeline->row_stride + 2 * TZ__PAD) * 8, 64);
    pipeline->stored = at;
    pipeline->bytes = at + tz_stored_scratch_bytes(stage);
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

int tz_pipeline_hands_over(const tz_pipeline *pipeline, int field)
{
    const tz__origin *final = &pipeline->final[field];
    return final->level == 0 ? final->field : -1;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static tz__axis place_axis(const tz_stage *stage, int axis, int64_t index, const tz_reach *halo)
{
    const int64_t n = stage->elements[axis], tile = stage->tile[axis];
    const int64_t first = tz__span_low(stage, axis) + index * tile;
    tz__axis a = {.low = first, .high = tz_min(tz__span_high(stage, axis), first + tile)};
    a.virtual = tz_boundary_wraps(stage->boundary[axis][0]) && tile < n;
    /* Rows start at multiples of TZ__PAD, so that all levels read and write aligned vectors. */
    const int64_t unit = axis == 0 ? TZ__PAD : 1;
    const int64_t low = a.low - tz_round_up(halo->low[axis], unit);
    const int64_t high = a.high + halo->high[axis];
    a.ext_low = a.virtual ? low : tz_max(0, low);
    a.ext_high = a.virtual ? high : tz_min(n, high);
    return a;
}

static int64_t rows_of_tiles(const tz_stage *stage)
{
    return stage->dims == 3 ? tz__tiles(stage, 1) : 1;
}

void tz__job_make(const tz_stage *stage, const tz_pipeline *pipeline, int64_t index, char *arena,
                  tz__job *job)
{
    const int64_t tiles_x = tz__tiles(stage, 0);
    const int64_t tiles_y = rows_of_tiles(stage);
    const int axis = stage->dims - 1;
    const int64_t chunk = stage->dims == 1 ? 1 : stage->tile[axis];
    const tz_reach *halo = &pipeline->level[0].halo;
    memset(job, 0, sizeof *job);
    job->arena = arena;
    job->x = place_axis(stage, 0, index % tiles_x, halo);
    job->y = (tz__axis){.high = 1, .ext_high = 1};
    if (stage->dims == 3)
        job->y = place_axis(stage, 1, index / tiles_x % tiles_y, halo);
    const int64_t last = axis == 0 ? 1 : tz__span_high(stage, axis);
    job->slab_low = (axis == 0 ? 0 : tz__span_low(stage, axis)) + index / tiles_x / tiles_y * chunk;
    job->slab_high = tz_min(last, job->slab_low + chunk);
    job->wrap = stage->dims > 1 && tz_boundary_wraps(stage->boundary[axis][0]);
    job->slab_base = job->slab_low - 2 * halo->low[axis] - 2 * TZ_RADIUS_MAX;
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
    int64_t jobs = rows_of_tiles(stage);
    for (int axis = 0; axis < stage->dims; axis++)
        if (stage->dims < 3 || axis != 1)
            jobs *= tz__tiles(stage, axis);
    return jobs;
}

tz__area tz__level_area(const tz_pipeline *pipeline, const tz__job *job, int l)
{
    const tz_reach *halo = &pipeline->level[l].halo;
    tz__area area = {
        .x_low = tz_max(job->x.ext_low, job->x.low - halo->low[0]),
        .x_high = tz_min(job->x.ext_high, job->x.high + halo->high[0]),
        .y_low = tz_max(job->y.ext_low, job->y.low - halo->low[1]),
        .y_high = tz_min(job->y.ext_high, job->y.high + halo->high[1]),
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
    const tz_reach *halo = &pipeline->level[l].halo;
    const int axis = stage->dims - 1;
    *from = tz_max(*from, job->slab_low - (axis == 0 ? 0 : halo->low[axis]));
    *to = tz_min(*to, job->slab_high + (axis == 0 ? 0 : halo->high[axis]));
    if (!job->wrap) {
        *from = tz_max(*from, 0);
        *to = tz_min(*to, tz__stream_extent(stage));
    }
}
