/* Runs a stage of the family "stream": jobs on threads, levels slab by slab, rows through the row
 * functions. Called by core/backend/cpu and core/calibrate. */
#include "kernels/cpu/stage.h"

#include "kernels/cpu/finish.h"
#include "kernels/cpu/lean.h"
#include "kernels/cpu/lines.h"
#include "kernels/cpu/pipeline.h"
#include "kernels/cpu/results.h"
#include "kernels/cpu/shares.h"
#include "kernels/cpu/teams.h"
#include <string.h>

/* ---- Slabs ----------------------------------------------------------------------------------- */

/* The slot of slab j: its distance from slab_base, modulo the ring's depth. */
static inline uint32_t ring_slot(const tz__job *job, const tz__ring *ring, int64_t j)
{
    const uint32_t n = (uint32_t)(j - ring->slabs_lower - job->slab_base);
    const uint32_t turns = (uint32_t)((unsigned __int128)n * ring->inverse >> 64);
    return ring->depth == 1 ? 0 : n - turns * ring->depth;
}

/* Element (0, 0) of slab j in a ring. It may lie before the ring's memory. */
static inline char *ring_slab(const tz__job *job, const tz__ring *ring, int64_t j, size_t size)
{
    const uint32_t slot = ring_slot(job, ring, j);
    return job->arena + ring->offset + slot * ring->slab_bytes +
           (job->zero - ring->elements_lower) * (ptrdiff_t)size;
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

/* Copy the rows of a group of slab j of a field from its array into the job's ring, wrapping where
 * the tile does. */
static void gather_slab(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int f, int64_t j, int64_t group)
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
    const int64_t y_low = tz_max(job->y.ext_low - beyond, tz__group_low(pipeline, job, 0, group));
    const int64_t y_high =
        tz_min(job->y.ext_high + beyond, tz__group_low(pipeline, job, 0, group + 1));
    const int64_t x_low = job->x.ext_low - (job->x.virtual ? 0 : ghost);
    const int64_t x_high = job->x.ext_high + (job->x.virtual ? 0 : ghost);
    for (int64_t y = y_low; y < y_high; y++) {
        const int64_t source_y = planes && job->y.virtual ? tz__wrap(y, stage->elements[1]) : y;
        const char *source = from + source_y * host->row_stride * (ptrdiff_t)size;
        char *target = to + y * pipeline->row_stride * (ptrdiff_t)size;
        if (!job->x.virtual) {
            tz__copy_ahead(target + x_low * (int64_t)size, source + x_low * (int64_t)size,
                           (x_high - x_low) * (int64_t)size);
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

/* Does a job have the values of a field at level `version` in a ring? */
static inline bool in_ring(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                           int f, int version)
{
    return version > 0 || job->gather ||
           (pipeline->copies && stage->stencil->fields[f].role == TZ_STATE);
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
    if (in_ring(stage, pipeline, job, f, version)) {
        at = ring_slab(job, &pipeline->level[version].ring[f], j, size);
        row_stride = pipeline->row_stride;
    } else {
        at = array_slab(stage, host, (uint64_t)j >= (uint64_t)slabs ? tz__wrap(j, slabs) : j, size);
        row_stride = host->row_stride;
    }
    return (tz_view){at + (y * row_stride + x) * (ptrdiff_t)size, row_stride};
}

/* The views of slabs j - radius to j + count - 1 + radius, of which those that the pass reads for
 * slabs j to j + slabs - 1 are set; the others are views of slab j. This runs for each level and
 * slab, so if all slabs are inside the grid, each pointer is computed from the one before. */
static void view_window(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int l, int f, int64_t j, int slabs, int count, int64_t x, int64_t y,
                        tz_view *views)
{
    const tz__level *level = &pipeline->level[l];
    const int radius = stage->dims == 1 ? 0 : level->radius, version = level->source[f].level;
    const int pass = (l - 1) % stage->stencil->passes_count;
    const int low = pipeline->slabs[pass][f].low;
    const int high = pipeline->slabs[pass][f].high + slabs - 1;
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
        if (!in_ring(stage, pipeline, job, f, version) || (version == 0 && stage->in[f].uniform)) {
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
    for (int d = high + 1; d < count + radius; d++)
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

/* Compute an area of slabs j to j + slabs - 1 at level l with one call of the row function. (x, y)
 * are the grid's coordinates of its first element. More than one slab only in place. */
static void compute_area(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                         int l, int64_t j, int slabs, const tz__area *area, int64_t x, int64_t y)
{
    const tz__level *level = &pipeline->level[l];
    const tz_stencil *stencil = stage->stencil;
    const int count = pipeline->at_once;
    const int window = (stage->dims == 1 ? 1 : 2 * level->radius + 1) + count - 1;
    const int all = tz_stencil_fields_all(stencil);
    tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + TZ_SLABS_IN_PLACE_MAX)];
    tz_target out[TZ_FIELDS_MAX * TZ_SLABS_IN_PLACE_MAX];
    /* Row functions do arithmetic on the pointers of what is neither read nor written, and those of
     * several rows may load it. */
    const tz_target nobody = {
        pipeline->in_place ? job->arena + pipeline->scratch + pipeline->row_stride * 8 : NULL, 0};
    for (int v = 0; v < all * window; v++)
        in[v] = (tz_view){nobody.at, 0};
    for (int v = 0; v < all * count; v++)
        out[v] = nobody;
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
        view_window(stage, pipeline, job, l, f, j, slabs, count, area->x_low, area->y_low,
                    &in[f * window]);
        if (!(level->pass->writes >> f & 1))
            continue;
        if (level->makes >> f & 1)
            for (int k = 0; k < slabs; k++)
                out[f * count + k] =
                    target_slab(stage, pipeline, job, l, f, j + k, area->x_low, area->y_low);
        else /* the values exist */
            out[f].at = job->arena + pipeline->scratch + pipeline->row_stride * 8;
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
        .engine = level->pass->engine,
    };
    if (pipeline->past && l == pipeline->levels)
        tz__results_compute(stage, pipeline, job, &span, in, out, slabs);
    else
        level->rows(&span);
}

/* Compute an area of a tile that wraps: split where it crosses the end of the grid, so that each
 * call gets the right coordinates. */
static void compute_wrapped(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                            int l, int64_t j, int slabs, const tz__area *whole)
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
            compute_area(stage, pipeline, job, l, j, slabs, &part, wrapped_x, wrapped_y);
        }
    }
}

/* Set the ghosts of an area of slab j, which level l has computed. If the values are final but in a
 * ring, because later levels read them, copy them to the array. */
static void finish_slab(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                        int l, int64_t j, const tz__area *area)
{
    const tz__level *level = &pipeline->level[l];
    const bool useful = j >= job->slab_low && j < job->slab_high;
    const int64_t ny = stage->elements[1];
    const bool ends = stage->dims == 3 && area->y_high >= ny;
    /* In place, others would lie where rows of the next level are. */
    const int ghosts = job->y.virtual ? 0 : (int)tz_min(stage->ghost, pipeline->group_slope);
    const int64_t y_low = pipeline->leaning ? area->y_low : tz_max(job->y.low, area->y_low);
    const int64_t y_high = pipeline->leaning ? area->y_high : tz_min(job->y.high, area->y_high);
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
            .rows = {ghosts, ends ? ghosts : 0},
        };
        if (level->ring[f].depth) {
            patch.at = ring_slab(job, &level->ring[f], j, size);
            tz_patch_finish(stage, f, &patch, stage->ghost);
            const int64_t mirrored = tz_max(0, ny - 1 - pipeline->group_slope);
            if (ghosts > 0 && ends && patch.y_low > mirrored) {
                /* In place the ghosts past the high side of y lie where rows of the level before
                 * did. So they are written with the last group, also from rows of other groups. */
                patch.y_low = mirrored;
                patch.rows[0] = 0;
                tz_patch_finish(stage, f, &patch, stage->ghost);
            }
            if (pipeline->leaning)
                tz__lean_pass_on(stage, pipeline, job, l, f, j, area, patch.at);
        }
        if (!final || !useful)
            continue;
        const tz_host_field *host = &stage->out[f];
        char *array = array_slab(stage, host, j, size);
        if (level->ring[f].depth)
            for (int64_t y = y_low; y < y_high; y++)
                memcpy(array + (y * host->row_stride + job->x.low) * (ptrdiff_t)size,
                       patch.at + (y * pipeline->row_stride + job->x.low) * (ptrdiff_t)size,
                       (size_t)(job->x.high - job->x.low) * size);
        const tz_patch whole = {
            .at = array,
            .row_stride = host->row_stride,
            .x_low = job->x.low,
            .x_high = job->x.high,
            .y_low = y_low,
            .y_high = y_high,
            .rows = {stage->ghost, stage->ghost},
        };
        if (pipeline->past && l == pipeline->levels)
            tz__results_finish(stage, f, &whole);
        else
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

/* Slabs from j on, at most `slabs`, that are computed at once: their coordinates do not wrap. */
static int slabs_at_once(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                         int64_t j, int64_t slabs)
{
    if (!pipeline->in_place)
        return 1;
    slabs = tz_min(slabs, pipeline->at_once);
    const int64_t extent = tz__stream_extent(stage);
    const int64_t here = job->wrap ? tz__wrap(j, extent) : j;
    if (job->wrap)
        slabs = tz_min(slabs, extent - here);
    return (int)tz_min(slabs, stage->whole - tz_stage_coordinate(stage, here));
}

/* Compute the rows of a group at level l, in slabs `from` to `to` - 1. */
static void run_level(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job, int l,
                      int64_t group, int64_t from, int64_t to)
{
    tz__area area = tz__level_area(pipeline, job, l);
    tz__level_slabs(stage, pipeline, job, l, &from, &to);
    area.y_low = tz_max(area.y_low, tz__group_low(pipeline, job, l, group));
    area.y_high = tz_min(area.y_high, tz__group_low(pipeline, job, l, group + 1));
    if (area.y_low >= area.y_high)
        return;
    const bool wraps = job->x.virtual || job->y.virtual;
    for (int64_t j = from; j < to;) {
        const int slabs = slabs_at_once(stage, pipeline, job, j, to - j);
        if (wraps)
            compute_wrapped(stage, pipeline, job, l, j, slabs, &area);
        else if (stage->dims == 1 && stage->first != 0)
            compute_line(stage, pipeline, job, l, &area);
        else
            compute_area(stage, pipeline, job, l, j, slabs, &area, area.x_low, area.y_low);
        for (const int64_t end = j + slabs; j < end; j++)
            finish_slab(stage, pipeline, job, l, j, &area);
    }
}

/* `number`: of the tile in its chunk, if tiles lean. `before` and `mine`: of the tile before and of
 * this one, if other threads compute tiles of this chunk. */
static void run_job(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                    int number, tz__progress *before, tz__progress *mine)
{
    const bool flat = stage->dims == 1;
    const int halo = flat ? 0 : pipeline->level[0].halo.low[stage->dims - 1];
    const int batch = pipeline->batch;
    const bool copies = job->gather || pipeline->copies;
    const int64_t slabs = tz__stream_extent(stage);
    const int64_t first = job->wrap ? job->slab_low - halo : tz_max(0, job->slab_low - halo);
    const int64_t end = job->slab_high + pipeline->level[pipeline->levels].lag;
    int64_t steps = 1;
    for (int64_t k = first; k < end; k += batch, steps++) {
        if (before)
            tz__progress_wait(before, tz__mark_of(0, number - 1, steps));
        for (int64_t group = job->first_group; group <= job->last_group; group++) {
            for (int64_t j = k; copies && j < k + batch && j < end; j++)
                for (int f = 0; (job->wrap || j < slabs) && f < stage->stencil->fields_count; f++)
                    if (in_ring(stage, pipeline, job, f, 0) && pipeline->level[0].ring[f].depth &&
                        !stage->in[f].uniform)
                        gather_slab(stage, pipeline, job, f, j, group);
            for (int l = 1; l <= pipeline->levels; l++) {
                const int64_t j = k - pipeline->level[l].lag;
                run_level(stage, pipeline, job, l, group, j, j + batch);
            }
        }
        if (mine)
            tz__progress_set(mine, tz__mark_of(0, number, k + batch < end ? steps : TZ__STEPS_ALL));
    }
}

/* ---- The stage ------------------------------------------------------------------------------- */

/* What the threads share. Chunks whose tiles lean have teams if there are more threads. */
typedef struct crew {
    int64_t jobs, in_order; /* in_order jobs, one after the other, are one for a thread or a team */
    tz__shares shares;
    atomic_int next[TZ__THREADS_MAX]; /* tile of a chunk that has a team */
    tz__progress marks[TZ__MARKS_MAX];
    const tz_stage *stage;
    const tz_pipeline *pipeline;
    char *arena; /* of all threads */
    size_t arena_bytes;
    bool teams;
} crew;

static void run_alone(crew *c, int thread)
{
    int tried = 0;
    for (int64_t i; (i = tz__shares_take(&c->shares, thread, &tried)) >= 0;)
        for (int64_t k = i * c->in_order; k < (i + 1) * c->in_order; k++) {
            tz__job job;
            tz__job_make(c->stage, c->pipeline, k, c->arena + (size_t)thread * c->arena_bytes,
                         &job);
            job.alone = true;
            run_job(c->stage, c->pipeline, &job, 0, NULL, NULL);
        }
}

static void run_together(crew *c, int threads, int thread)
{
    const int chunks = (int)c->jobs, chunk = tz__team_job(threads, chunks, thread);
    const int ring = tz__team_ring(threads, chunks);
    tz__progress *marks = &c->marks[chunk * ring];
    for (;;) {
        tz__job job;
        const int k = atomic_fetch_add_explicit(&c->next[chunk], 1, memory_order_relaxed);
        if (k >= c->in_order)
            return;
        tz__job_make(c->stage, c->pipeline, chunk * c->in_order + k,
                     c->arena + (size_t)thread * c->arena_bytes, &job);
        job.seams = c->arena + (size_t)chunk * c->arena_bytes;
        run_job(c->stage, c->pipeline, &job, k, k > 0 ? &marks[(k - 1) % ring] : NULL,
                &marks[k % ring]);
    }
}

static void run_thread(void *any, int thread, int threads)
{
    crew *c = any;
    if (c->teams && c->jobs < threads)
        run_together(c, threads, thread);
    else
        run_alone(c, thread);
    if (c->pipeline->past)
        tz__past_done();
}

void tz_stage_run(const tz_stage *stage, tz_pipeline *pipeline, char *arena, size_t arena_bytes)
{
    crew c;
    tz__pipeline_make(pipeline, stage);
    c.stage = stage;
    c.pipeline = pipeline;
    c.arena = arena;
    c.arena_bytes = arena_bytes;
    c.in_order = tz__jobs_in_order(pipeline);
    c.jobs = tz__jobs_count(stage, pipeline) / c.in_order;
    const int threads = tz__team_threads((int)tz_min(stage->threads, c.jobs * c.in_order));
    tz__shares_make(&c.shares, c.jobs, threads);
    c.teams = c.in_order > 1 && c.jobs < threads;
    for (int i = 0; c.teams && i < TZ__THREADS_MAX; i++)
        atomic_init(&c.next[i], 0);
    for (int i = 0; c.teams && i < TZ__MARKS_MAX; i++)
        atomic_init(&c.marks[i].mark, -1);
    tz_threads_run(stage->pool, threads, run_thread, &c);
}
