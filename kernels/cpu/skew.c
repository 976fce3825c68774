/* Stages of the families "skew" and "diamond": their geometry, counts of it, and the loops. */
#include "kernels/cpu/skew.h"

#include "kernels/cpu/finish.h"
#include "kernels/cpu/shares.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- Slopes ---------------------------------------------------------------------------------- */

int tz_skew_reach(const tz_stage *stage)
{
    return tz_stencil_reach_along(stage->stencil, stage->dims - 1);
}

int tz_diamond_grows(const tz_stage *stage)
{
    enum { DIAMONDS_MAX = (TZ__MARKS_MAX - 4) / 2 }; /* of a row of them */
    const int64_t reach = tz_max(1, tz_stencil_reach_along(stage->stencil, 1));
    const int64_t least = (stage->elements[1] + DIAMONDS_MAX - 1) / DIAMONDS_MAX;
    const int64_t rows = tz_min(stage->elements[1], tz_max(least, stage->tile[1]));
    return (int)tz_min(TZ_LEVELS_MAX, (rows + 2 * reach - 1) / (2 * reach));
}

int tz_skew_batch(const tz_stage *stage)
{
    if (stage->diamonds)
        return TZ_DIAMOND_PLANES;
    return stage->dims == 2 ? 4 : TZ_SLABS_TOGETHER;
}

int tz_skew_slope(const tz_stage *stage)
{
    if (stage->dims == 3)
        return tz_stencil_reach_along(stage->stencil, 1);
    /* Whole cache lines: then rows begin and end at lines at every level. */
    size_t size = 8;
    for (int f = 0; f < stage->stencil->fields_count; f++)
        if (stage->stencil->fields[f].role == TZ_STATE && stage->element_size[f] < size)
            size = stage->element_size[f];
    return (int)tz_round_up(tz_stencil_reach_along(stage->stencil, 0), 64 / (int64_t)size);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Do parts shrink at the grid's sides along an axis? Not if a tile is as wide as a periodic inner
 * axis: then its ghosts are copied from its other end, level by level, as if each side had a value
 * of its own. */
static bool is_open(const tz_stage *stage, int axis)
{
    return tz_boundary_wraps(stage->boundary[axis][0]) &&
           (axis == stage->dims - 1 || stage->tile[axis] < stage->elements[axis]);
}

/* What is open on a periodic axis is not longer than the axis. */
int tz__skew_levels_max(const tz_stage *stage)
{
    int64_t most = TZ_LEVELS_MAX;
    for (int axis = stage->dims - 2; axis < stage->dims; axis++) {
        const int64_t narrows = 2 * (int64_t)tz_stencil_reach_along(stage->stencil, axis);
        if (is_open(stage, axis) && narrows > 0)
            most = tz_min(most, stage->elements[axis] / narrows + 1);
    }
    return (int)most;
}

/* As many parts as are wanted if they are wide enough. */
static tz__cuts cut(const tz_stage *stage, int axis, int64_t wanted, int levels)
{
    tz__cuts c = {.extent = stage->elements[axis],
                  .reach = tz_stencil_reach_along(stage->stencil, axis),
                  .periodic = is_open(stage, axis)};
    const int64_t narrows = 2 * (int64_t)c.reach * (levels - 1);
    const int64_t most = narrows > 0 ? c.extent / narrows : c.extent;
    c.parts = (int)tz_max(1, tz_min(wanted, most));
    c.edges = c.periodic ? c.parts : c.parts - 1;
    return c;
}

void tz__skew_make(tz__skew *s, const tz_stage *stage, int levels)
{
    const int last = stage->dims - 1;
    const int64_t wanted = (stage->elements[last] + stage->tile[last] - 1) / stage->tile[last];
    *s = (tz__skew){.stage = stage,
                    .levels = levels,
                    .slope = tz_skew_slope(stage),
                    .batch = tz_skew_batch(stage),
                    .inner = last - 1,
                    .along = cut(stage, last, wanted, levels),
                    .across = cut(stage, last - 1, 1, levels),
                    .phases = TZ__SKEW_PHASES};
    if (stage->diamonds) {
        s->grows = tz_diamond_grows(stage);
        s->phases = levels > 1 ? (levels - 2) / s->grows + 2 : 1;
        s->across.reach = (int)tz_max(1, s->across.reach);
        s->along.parts = 1;
        s->along.edges = 0;
    }
}

/* Where part i begins; the last one ends at the end of the axis. */
static int64_t cut_at(const tz__cuts *c, int64_t i)
{
    return c->extent * i / c->parts;
}

static tz__band part_of(const tz__cuts *c, int i)
{
    return (tz__band){cut_at(c, i), cut_at(c, i + 1), c->periodic || i > 0 ? c->reach : 0,
                      c->periodic || i + 1 < c->parts ? -c->reach : 0};
}

/* What is open around an edge. */
static tz__band edge_of(const tz__cuts *c, int i)
{
    const int64_t at = cut_at(c, c->periodic ? i : i + 1);
    return (tz__band){at, at, -c->reach, c->reach};
}

/* The middle of diamond i of a row. */
static int64_t centre_of(const tz__skew *s, int row, int64_t i)
{
    const int64_t half = (int64_t)s->grows * s->across.reach;
    return 2 * half * i + (row % 2 == 0 ? half : 0);
}

int tz__skew_jobs(const tz__skew *s, int phase)
{
    if (s->grows > 0) { /* those that reach into the grid */
        const int64_t half = (int64_t)s->grows * s->across.reach;
        return (int)((s->across.extent - centre_of(s, phase, 0) + 3 * half - 1) / (2 * half));
    }
    if (phase == 0)
        return s->along.parts;
    if (phase == 1)
        return s->along.edges + s->along.parts * s->across.edges;
    return s->along.edges * s->across.edges;
}

tz__skew_job tz__skew_job_of(const tz__skew *s, int phase, int i)
{
    tz__skew_job j = {part_of(&s->along, 0), part_of(&s->across, 0), 1, s->levels, 0, 0};
    if (s->grows > 0) {
        j.start = (phase - 1) * s->grows + 1;
        j.first = j.start > 0 ? j.start + 1 : 1; /* at its first level it has no elements */
        j.last = (int)tz_min(s->levels, j.start + 2 * s->grows - 1);
        j.centre = centre_of(s, phase, i);
        return j;
    }
    const bool at_edge = phase == 2 || (phase == 1 && i < s->along.edges);
    const int part = phase == 1 && !at_edge ? i - s->along.edges : i;
    j.slabs = at_edge ? edge_of(&s->along, i) : part_of(&s->along, part);
    if (phase == 2 || (phase == 1 && !at_edge))
        j.part = edge_of(&s->across, 0);
    return j;
}

/* ---- Steps and tiles ------------------------------------------------------------------------- */

/* A band's limits and how far a level is behind are linear in t: the extremes are at the first or
 * the last level. */
int64_t tz__skew_first_step(const tz__skew *s, const tz__skew_job *j)
{
    const int64_t behind = (int64_t)s->along.reach * (j->last - j->first);
    return tz_min(j->slabs.low, tz__band_low(&j->slabs, j->last) + behind);
}

int64_t tz__skew_end_step(const tz__skew *s, const tz__skew_job *j)
{
    const int64_t behind = (int64_t)s->along.reach * (j->last - j->first);
    return tz_max(j->slabs.high, tz__band_high(&j->slabs, j->last) + behind);
}

int tz__skew_ahead(const tz__skew *s)
{
    return s->inner == 0 ? TZ__SKEW_STEPS_FETCHED : 0;
}

static int64_t floor_of(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The job's range of the inner axis at the middle level. There tiles are cut, so that those at the
 * sides have as much work as the others. */
static int64_t middle_low(const tz__skew *s, const tz__skew_job *j)
{
    return tz__band_low(&j->part, (s->levels + 1) / 2);
}

static int64_t middle_high(const tz__skew *s, const tz__skew_job *j)
{
    return tz__band_high(&j->part, (s->levels + 1) / 2);
}

int tz__skew_tiles(const tz__skew *s, const tz__skew_job *j)
{
    if (s->grows > 0)
        return 1;
    const int64_t tile = s->stage->tile[s->inner];
    return (int)tz_max(1, (middle_high(s, j) - middle_low(s, j) + tile - 1) / tile);
}

tz__skew_tile tz__skew_tile_of(const tz__skew *s, const tz__skew_job *j, int i)
{
    const int64_t tile = s->stage->tile[s->inner], open = INT64_MAX / 4;
    const int64_t unit =
        s->inner == 0 ? TZ_ALIGN_ELEMENTS : 1; /* in 2-D tiles begin at cache lines */
    const int64_t shift = (int64_t)s->slope * (s->levels - (s->levels + 1) / 2);
    const int64_t low = floor_of(middle_low(s, j) - shift, unit) * unit + i * tile;
    return (tz__skew_tile){i == 0 ? -open : low, i == tz__skew_tiles(s, j) - 1 ? open : low + tile};
}

/* ---- Counting -------------------------------------------------------------------------------- */

enum { COUNTED_JOBS = 2048 }; /* of more jobs of a phase, so many are counted, spread evenly */

/* Adds `times` tiles like this one; returns the elements that one computes. */
static double count_tiles(const tz__skew *s, const tz__skew_job *j, const tz__skew_tile *tile,
                          double times, tz_stage_counts *out)
{
    const bool planes = s->stage->dims == 3;
    const double row = planes ? (double)s->stage->elements[0] : 1;
    const int64_t first = tz__skew_first_step(s, j);
    int64_t least = INT64_MAX, most = INT64_MIN, widest = 0;
    double updates = 0;
    for (int t = j->first; t <= j->last; t++) {
        const int64_t start = first - (int64_t)s->along.reach * (t - j->first);
        const int64_t from = tz__skew_from(s, j, tile, t), to = tz__skew_to(s, j, tile, t);
        const int64_t low = tz__band_low(&j->slabs, t), high = tz__band_high(&j->slabs, t);
        if (from >= to || low >= high)
            continue;
        const double slabs = (double)(high - low), width = (double)(to - from);
        const double rows = slabs * (planes ? width : 1), slab = width * row;
        const int64_t spans =
            floor_of(high - 1 - start, s->batch) - floor_of(low - start, s->batch) + 1;
        out->spans += times * (double)spans;
        out->rows += times * rows;
        out->ends += times * rows;
        updates += slabs * slab;
        out->row = planes ? row : out->row > width ? out->row : width;
        out->slab = out->slab > slab ? out->slab : slab;
        least = tz_min(least, from);
        most = tz_max(most, to);
        widest = tz_max(widest, to - from);
    }
    out->updates += times * updates;
    if (least < most) {
        /* Of a slab, a level needs what the level before has just written, and what it leans over.
         * The levels of a diamond differ. */
        const int levels = j->last - j->first + 1;
        const double mean =
            updates / (row * (double)levels * (double)(j->slabs.high - j->slabs.low));
        const double needed = s->grows > 0 ? (mean + s->slope) * row
                                           : (double)tz_min(widest + s->slope, most - least) * row;
        const double slabs = (double)(levels * s->along.reach + s->batch + 1);
        out->read +=
            times * (double)(most - least) * row * (double)tz_max(0, j->slabs.high - j->slabs.low);
        if (needed * slabs > out->ring_bytes) /* in elements, for now */
            out->ring_bytes = needed * slabs;
    }
    return updates;
}

/* A tile that no side of its job cuts, at any level. All such tiles of a job are alike. */
static bool is_whole(const tz__skew *s, const tz__skew_job *j, int i)
{
    const tz__skew_tile tile = tz__skew_tile_of(s, j, i);
    /* The limits of tiles and bands are linear in t. */
    for (int t = 1; t <= s->levels; t += s->levels > 1 ? s->levels - 1 : 1) {
        const int64_t shift = (int64_t)s->slope * (s->levels - t);
        if (tile.low + shift < tz__band_low(&j->part, t) ||
            tile.high + shift > tz__band_high(&j->part, t))
            return false;
    }
    return true;
}

/* When the threads of a team are done, in elements, and when the last tile began and was done. Each
 * thread takes the next tile when it has done one, and stays behind the thread that has the tile
 * before. */
typedef struct team_clock {
    double thread[TZ__THREADS_MAX], begin, done;
    int team;
    double lag; /* the share of a tile that the thread before must have done */
} team_clock;

static void take_tile(team_clock *c, double updates)
{
    int next = 0;
    for (int t = 1; t < c->team; t++)
        next = c->thread[t] < c->thread[next] ? t : next;
    const double begin = fmax(c->thread[next], c->begin);
    c->begin = begin + fmin(1, c->lag) * updates;
    c->done = c->thread[next] = fmax(begin + updates, c->done);
}

/* The team takes `tiles` equal tiles. When each thread has had some, each round takes as long as
 * the last. */
static void take_tiles(team_clock *c, int64_t tiles, double updates)
{
    const int64_t alone = tz_min(tiles, 3 * (int64_t)c->team), rounds = (tiles - alone) / c->team;
    for (int64_t k = 0; k < alone; k++)
        take_tile(c, updates);
    if (rounds > 0) {
        const double before = c->done;
        for (int t = 0; t < c->team; t++)
            take_tile(c, updates);
        const double shift = (double)(rounds - 1) * (c->done - before);
        for (int t = 0; t < c->team; t++)
            c->thread[t] += shift;
        c->begin += shift;
        c->done += shift;
    }
    for (int64_t k = rounds * c->team + alone; k < tiles; k++)
        take_tile(c, updates);
}

/* Adds a job that a team of threads computes; returns when it is done, in elements. */
static double count_job(const tz__skew *s, const tz__skew_job *j, int team, tz_stage_counts *out)
{
    const int tiles = tz__skew_tiles(s, j);
    const double slabs = (double)(tz__skew_end_step(s, j) - tz__skew_first_step(s, j));
    team_clock clock = {.team = team,
                        .lag = (double)s->batch * (1 + tz__skew_ahead(s)) / fmax(slabs, 1)};
    int first = 0, end = tiles; /* of the tiles that are whole */
    while (first < tiles && !is_whole(s, j, first))
        first++;
    while (end > first && !is_whole(s, j, end - 1))
        end--;
    for (int k = 0; k < tiles; k++) {
        const tz__skew_tile tile = tz__skew_tile_of(s, j, k);
        if (k == first) {
            take_tiles(&clock, end - first, count_tiles(s, j, &tile, end - first, out));
            k = end - 1;
        } else {
            take_tile(&clock, count_tiles(s, j, &tile, 1, out));
        }
    }
    return clock.done;
}

/* Adds a phase. The threads wait for each other at its end; not so at that of a row of diamonds,
 * where a thread that is done goes on with the next row. */
static void count_phase(const tz__skew *s, int phase, tz_stage_counts *out)
{
    const int jobs = tz__skew_jobs(s, phase), counted = jobs < COUNTED_JOBS ? jobs : COUNTED_JOBS;
    const int threads = tz__team_threads(s->stage->threads);
    const double times = (double)jobs / fmax(counted, 1);
    double thread[TZ__THREADS_MAX] = {0}, slowest = 0,
           longest = 0; /* of the threads, and of the jobs */
    tz_stage_counts own = {.row = out->row, .slab = out->slab, .ring_bytes = out->ring_bytes};
    for (int i = 0; i < counted; i++) {
        const tz__skew_job j = tz__skew_job_of(s, phase, (int)tz__counted_job(i, jobs, counted));
        const int team = jobs < threads ? tz__team_size(threads, jobs, i) : 1;
        int next = 0;
        for (int t = 1; t < threads && t < jobs; t++)
            next = thread[t] < thread[next] ? t : next;
        const double done = count_job(s, &j, team, &own);
        longest = fmax(longest, done);
        thread[next] += done;
        slowest = fmax(slowest, thread[next]);
        if (phase == 0) {
            const double busy = fmin(team, tz__skew_tiles(s, &j));
            out->team = fmax(out->team, busy);
            out->jobs += times * busy;
        }
    }
    if (s->grows > 0)
        slowest = fmax(longest, own.updates / threads);
    out->slowest += times * slowest;
    out->updates += times * own.updates;
    out->rows += times * own.rows;
    out->spans += times * own.spans;
    out->ends += times * own.ends;
    out->read += times * own.read;
    out->row = own.row;
    out->slab = own.slab;
    out->ring_bytes = own.ring_bytes;
}

uint32_t tz_skew_lost(const tz_stencil *stencil, const tz_pass *pass)
{
    uint32_t lost = 0;
    for (int f = 0; f < stencil->fields_count; f++) {
        const int from = pass->writes >> f & 1 ? tz_stencil_takes(stencil, pass, f) : -1;
        lost |= (uint32_t)(from >= 0 && pass->writes >> from & 1) << f;
    }
    return lost;
}

size_t tz_skew_lost_bytes(const tz_stage *stage)
{
    enum { LINE = 64 };
    uint32_t lost = 0;
    for (int p = 0; p < stage->stencil->passes_count; p++)
        lost |= tz_skew_lost(stage->stencil, &stage->stencil->passes[p]);
    const size_t most = (size_t)(stage->elements[0] + TZ_ALIGN_ELEMENTS) * sizeof(double);
    return lost && stage->height > 1 ? (most + LINE - 1) / LINE * LINE : 0;
}

int tz_skew_arrays_used(const tz_stencil *stencil, int field)
{
    int arrays = stencil->fields[field].role == TZ_STATE ? 2 : 1;
    for (int p = 0; p < stencil->passes_count; p++)
        arrays -= tz_skew_lost(stencil, &stencil->passes[p]) >> field & 1;
    return arrays;
}

void tz_skew_count(const tz_stage *stage, tz_stage_counts *out)
{
    const int levels = stage->height * stage->stencil->passes_count;
    const int most = tz__skew_levels_max(stage);
    double element = 0; /* bytes of all arrays of state fields */
    for (int f = 0; f < stage->stencil->fields_count; f++)
        if (stage->stencil->fields[f].role == TZ_STATE)
            element += tz_skew_arrays_used(stage->stencil, f) * (double)stage->element_size[f];
    memset(out, 0, sizeof *out);
    for (int done = 0; done < levels; done += most) {
        tz__skew s;
        tz__skew_make(&s, stage, levels - done < most ? levels - done : most);
        out->jobs = 0; /* those of the last run: all have as many */
        for (int phase = 0; phase < s.phases; phase++)
            count_phase(&s, phase, out);
        /* Each row of diamonds, of which the first and the last are halves, writes both arrays. */
        out->written += (s.grows > 0 && s.phases > 2 ? 2 * s.phases - 3 : 1) *
                        (double)stage->elements[0] * (double)stage->elements[1] *
                        (double)stage->elements[2];
    }
    out->ring_bytes *= element;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* One pass of one iteration. */
typedef struct level {
    const tz_pass *pass;
    tz_row_fn *rows, *together; /* NULL: no function of several slabs at once */
    int iteration;
    uint32_t lost; /* mask of the fields that take over others' values, and are not written */
    uint8_t reads[TZ_FIELDS_MAX], writes[TZ_FIELDS_MAX]; /* arrays, as in tz_skew_arrays */
} level;

typedef struct run {
    tz__skew geometry;
    level level[TZ_LEVELS_MAX + 1]; /* of this run through the grid, from 1 on */
    tz_skew_arrays arrays;          /* after the last level */
    size_t lost_bytes;              /* of a thread, in stage->lost */
} run;

static inline const tz_host_field *array_of(const tz_stage *stage, int number)
{
    return number % 2 ? &stage->out[number / 2] : &stage->in[number / 2];
}

/* ---- One level of a tile on a few slabs ------------------------------------------------------ */

/* Elements of slabs; along an axis that is periodic, within [0, extent). */
typedef struct area {
    int64_t x_low, x_high, y_low, y_high;
} area;

static inline ptrdiff_t slab_stride(const tz_stage *stage, const tz_host_field *host)
{
    return stage->dims == 3 ? host->plane_stride : host->row_stride;
}

/* The view of an area in slab j, which may lie outside the grid. */
static tz_view view_of(const tz_stage *stage, const tz_host_field *host, int f, int64_t j,
                       const area *a)
{
    const int last = stage->dims - 1;
    const size_t size = stage->element_size[f];
    j = tz_ghost_source(stage->boundary[last], j, stage->elements[last]);
    if (j < 0) {
        const tz_view *outside = &stage->outside[f][2 * last - 1 - j];
        return (tz_view){(const char *)outside->at +
                             (a->y_low * outside->row_stride + a->x_low) * (ptrdiff_t)size,
                         outside->row_stride};
    }
    return (tz_view){host->origin +
                         (j * slab_stride(stage, host) + a->y_low * host->row_stride + a->x_low) *
                             (ptrdiff_t)size,
                     host->row_stride};
}

/* The views of an area in `count` slabs from `first` on, some of which may lie outside the grid. */
static void view_window(const tz_stage *stage, const tz_host_field *host, int f, int64_t first,
                        int count, const area *a, tz_view *views)
{
    if (host->uniform) {
        for (int k = 0; k < count; k++)
            views[k] = (tz_view){host->origin, 0};
        return;
    }
    if (first < 0 || first + count > stage->elements[stage->dims - 1]) {
        for (int k = 0; k < count; k++)
            views[k] = view_of(stage, host, f, first + k, a);
        return;
    }
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const ptrdiff_t stride = slab_stride(stage, host) * size;
    const char *at =
        host->origin + first * stride + (a->y_low * host->row_stride + a->x_low) * size;
    for (int k = 0; k < count; k++, at += stride)
        views[k] = (tz_view){at, host->row_stride};
}

static void finish(const tz_stage *stage, int f, const tz_host_field *host, int64_t j,
                   int64_t slabs, const area *a)
{
    const bool planes = stage->dims == 3;
    for (const int64_t end = planes ? j + slabs : j + 1; j < end; j++) {
        const tz_patch patch = {
            .at = host->origin + j * slab_stride(stage, host) * (ptrdiff_t)stage->element_size[f],
            .row_stride = host->row_stride,
            .x_low = a->x_low,
            .x_high = a->x_high,
            .y_low = planes ? a->y_low : 0,
            .y_high = planes ? a->y_high : slabs,
            .rows = {stage->ghost, stage->ghost},
        };
        tz_patch_finish(stage, f, &patch, stage->ghost);
    }
}

/* Slabs j to j + slabs - 1, with one call of a row function. `together`: with the one of so many
 * slabs. Else there is more than one only in 2-D, and if all slabs that are read are inside the
 * grid. */
static void compute(const run *r, int thread, int t, int64_t j, int64_t slabs, bool together,
                    const area *a)
{
    const tz_stage *stage = r->geometry.stage;
    const level *l = &r->level[t];
    const tz_stencil *stencil = stage->stencil;
    const int targets = together ? (int)slabs : 1, radius = l->pass->radius;
    const int window = 2 * radius + targets, all = tz_stencil_fields_all(stencil);
    const bool planes = stage->dims == 3;
    tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + TZ_SLABS_TOGETHER)];
    tz_target out[TZ_FIELDS_MAX * TZ_SLABS_TOGETHER];
    for (int f = 0; f < all; f++) {
        const tz_role role = f < stencil->fields_count ? stencil->fields[f].role : TZ_DERIVED;
        tz_target *to = &out[f * targets];
        for (int k = 0; k < targets; k++)
            to[k] = (tz_target){NULL, 0}; /* row functions do arithmetic on all of these pointers */
        if (role == TZ_DERIVED) {         /* never read, but maybe loaded */
            for (int k = 0; k < window; k++)
                in[f * window + k] = in[0];
            continue;
        }
        view_window(stage, array_of(stage, l->reads[f]), f, j - radius, window, a, &in[f * window]);
        if (!(l->pass->writes >> f & 1))
            continue;
        if (l->lost >> f & 1) {
            char *at = stage->lost + (size_t)thread * r->lost_bytes;
            for (int k = 0; k < targets; k++)
                to[k] = (tz_target){at, 0};
            continue;
        }
        const tz_host_field *host = array_of(stage, l->writes[f]);
        const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
        for (int k = 0; k < targets; k++)
            to[k] = (tz_target){host->origin + ((j + k) * slab_stride(stage, host) +
                                                a->y_low * host->row_stride + a->x_low) *
                                                   size,
                                host->row_stride};
    }
    const tz_span span = {
        .in = in,
        .out = out,
        .constants = stage->constants + l->iteration * stage->constants_stride,
        .count = a->x_high - a->x_low,
        .rows = planes     ? a->y_high - a->y_low
                : together ? 1
                           : slabs,
        .x = a->x_low,
        .y = planes ? a->y_low : j,
        .z = planes ? j : 0,
        .step = stage->step + l->iteration,
        .engine = l->pass->engine,
    };
    if (together)
        l->together(&span);
    else
        l->rows(&span);
    if (!planes && a->x_low > stage->ghost && a->x_high < stage->elements[0] - stage->ghost)
        return;
    for (int f = 0; f < stencil->fields_count; f++)
        if ((l->pass->writes & ~l->lost) >> f & 1)
            finish(stage, f, array_of(stage, l->writes[f]), j, slabs, a);
}

/* Columns [from, to) of the inner axis within the grid, in slabs [j, end) within the grid. */
static void compute_slabs(const run *r, int thread, int t, int64_t j, int64_t end, int64_t from,
                          int64_t to)
{
    const tz_stage *stage = r->geometry.stage;
    const int radius = r->level[t].pass->radius;
    const int64_t n = stage->elements[stage->dims - 1];
    const bool planes = stage->dims == 3;
    const area a = {planes ? 0 : from, planes ? stage->elements[0] : to, planes ? from : 0,
                    planes ? to : 1};
    for (int64_t slabs; j < end; j += slabs) {
        const bool together = r->level[t].together && end - j >= TZ_SLABS_TOGETHER;
        const bool inside = !planes && j >= radius && end + radius <= n;
        slabs = together ? TZ_SLABS_TOGETHER : inside ? end - j : 1;
        compute(r, thread, t, j, slabs, together, &a);
    }
}

/* The same with ranges that may wrap, [-extent, 2 extent). */
static void compute_wrapped(const run *r, int thread, int t, int64_t j, int64_t end, int64_t from,
                            int64_t to)
{
    const int64_t slabs = r->geometry.along.extent, n = r->geometry.across.extent;
    for (int64_t next_j; j < end; j = next_j) {
        const int64_t to_j = j < 0 ? slabs : j >= slabs ? -slabs : 0;
        next_j = tz_min(end, j < 0 ? 0 : j < slabs ? slabs : end);
        for (int64_t x = from, next; x < to; x = next) {
            const int64_t to_x = x < 0 ? n : x >= n ? -n : 0;
            next = tz_min(to, x < 0 ? 0 : x < n ? n : to);
            compute_slabs(r, thread, t, j + to_j, next_j + to_j, x + to_x, next + to_x);
        }
    }
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

enum { LINE = 64 };

/* Inlined by force: a compiler may take a function that only prefetches for one without any
 * effect. */
static inline __attribute__((always_inline)) void fetch_rows(const tz_stage *stage,
                                                             const tz_host_field *host, int f,
                                                             int64_t j, int64_t slabs, int64_t from,
                                                             int64_t to)
{
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const int64_t end = tz_min(j + slabs, stage->elements[1]);
    from = tz_max(from, 0);
    to = tz_min(to, stage->elements[0]);
    for (j = tz_max(j, 0); j < end; j++) {
        const char *row = host->origin + j * host->row_stride * size;
        for (const char *at = row + from * size; at < row + to * size; at += LINE)
            __builtin_prefetch(at);
    }
}

/* In 2-D rows of a tile are short, and processors do not find out in time what their beginnings
 * will need. Fetches what a later step of level t reads and no level of this tile has accessed: to
 * the low side of what level t - 1 has computed, the lines that the tile before has left. And a
 * share of the rows that come new to the first level, `first` to `end`. */
static inline __attribute__((always_inline)) void
fetch_ahead(const run *r, int t, int64_t behind, int64_t from, int64_t first, int64_t end)
{
    const tz__skew *g = &r->geometry;
    const tz_stage *stage = g->stage;
    const int64_t rows = g->batch, j = behind + TZ__SKEW_STEPS_FETCHED * rows;
    for (int f = 0; f < stage->stencil->fields_count; f++) {
        const tz_role role = stage->stencil->fields[f].role;
        if ((role != TZ_STATE && role != TZ_STATIC) || stage->in[f].uniform)
            continue;
        const int64_t line = LINE / (int64_t)stage->element_size[f];
        const bool state = role == TZ_STATE;
        const int64_t share = tz_round_up((end - first) / g->levels + 1, line);
        const int64_t part = first + (t - 1) * share, part_end = tz_min(part + share, end);
        const int64_t top = j + (t - 1) * g->along.reach;
        fetch_rows(stage, array_of(stage, r->level[t].reads[f]), f, j + g->along.reach, rows,
                   from - (state ? line : 0), from + g->slope);
        fetch_rows(stage, &stage->in[f], f, top + g->along.reach, rows, part, part_end);
        if (state && !(r->level[1].lost >> f & 1))
            fetch_rows(stage, &stage->out[f], f, top, rows, part, part_end);
    }
}

/* One step of a tile: `batch` slabs of each level. */
static void run_step(const run *r, int thread, const tz__skew_job *job, const tz__skew_tile *tile,
                     int64_t k)
{
    const tz__skew *s = &r->geometry;
    const int64_t first = tz__skew_from(s, job, tile, job->first),
                  first_end = tz__skew_to(s, job, tile, job->first);
    for (int t = job->first; t <= job->last; t++) {
        const int64_t behind = k - s->along.reach * (t - job->first);
        const int64_t j = tz_max(behind, tz__band_low(&job->slabs, t));
        const int64_t j_end = tz_min(behind + s->batch, tz__band_high(&job->slabs, t));
        const int64_t from = tz__skew_from(s, job, tile, t);
        const int64_t to = tz__skew_to(s, job, tile, t);
        if (s->stage->dims == 2 && from < to)
            fetch_ahead(r, t, behind, from, first, first_end);
        if (j < j_end && from < to)
            compute_wrapped(r, thread, t, j, j_end, from, to);
    }
}

/* Tile number `number` of a job. `before` and `mine`: of the tile before, and of this one. NULL:
 * this thread computes all tiles of the job. */
static void run_tile(const run *r, int thread, const tz__skew_job *job, int phase, int number,
                     tz__progress *before, tz__progress *mine)
{
    const tz__skew *s = &r->geometry;
    const tz__skew_tile tile = tz__skew_tile_of(s, job, number);
    const int64_t end = tz__skew_end_step(s, job);
    int64_t steps = 1;
    for (int64_t k = tz__skew_first_step(s, job); k < end; k += s->batch, steps++) {
        const int64_t needed = tz_min(steps + tz__skew_ahead(s), TZ__STEPS_ALL);
        if (before)
            tz__progress_wait(before, tz__mark_of(phase, number - 1, needed));
        run_step(r, thread, job, &tile, k);
        if (mine)
            tz__progress_set(
                mine, tz__mark_of(phase, number, k + s->batch < end ? steps : TZ__STEPS_ALL));
    }
}

/* ---- The stage ------------------------------------------------------------------------------- */

/* The field that takes over the values of field g in a pass; -1: none of those of the mask. */
static int taker_of(const tz_stencil *stencil, const tz_pass *pass, uint32_t lost, int g)
{
    for (int f = 0; f < stencil->fields_count; f++)
        if (lost >> f & 1 && tz_stencil_takes(stencil, pass, f) == g)
            return f;
    return -1;
}

/* The arrays after a level. The array of what a field was goes to the field that takes it over; the
 * array that nobody takes any more is the next one to be written. */
static void pass_on(tz_skew_arrays *arrays, const tz_stencil *stencil, const level *l)
{
    const tz_skew_arrays was = *arrays;
    for (int f = 0; f < stencil->fields_count; f++) {
        if (!(l->pass->writes >> f & 1))
            continue;
        if (l->lost >> f & 1) {
            arrays->values[f] = was.values[tz_stencil_takes(stencil, l->pass, f)];
            continue;
        }
        int last = f;
        for (int next; (next = taker_of(stencil, l->pass, l->lost, last)) >= 0;)
            last = next;
        arrays->values[f] = was.before[f];
        arrays->before[f] = was.values[last];
    }
}

/* The levels of a stage from number `first` on, which is 0 for the first of all. In the last
 * iteration each field has an array of its own, and what it was before in the other one. */
static void make_levels(run *r, const tz_stage *stage, int first, int levels)
{
    const int passes = stage->stencil->passes_count;
    for (int t = 1; t <= levels; t++) {
        level *l = &r->level[t];
        l->pass = &stage->stencil->passes[(first + t - 1) % passes];
        l->rows = t <= passes ? tz_stage_rows(stage, l->pass) : l[-passes].rows;
        l->together = t <= passes ? tz_stage_together(stage, l->pass) : l[-passes].together;
        l->iteration = (first + t - 1) / passes;
        l->lost = l->iteration == stage->height - 1 ? 0
                  : t <= passes                     ? tz_skew_lost(stage->stencil, l->pass)
                                                    : l[-passes].lost;
        memcpy(l->reads, r->arrays.values, sizeof l->reads);
        memcpy(l->writes, r->arrays.before, sizeof l->writes);
        pass_on(&r->arrays, stage->stencil, l);
    }
}

/* What the threads share. */
typedef struct teams {
    const run *run;
    tz_threads *pool;
    int threads;
    tz__shares shares[TZ__SKEW_PHASES]; /* where there are at least as many jobs as threads */
    atomic_int next[TZ__SKEW_PHASES][TZ__THREADS_MAX]; /* else: the next tile of each job */
    _Atomic int64_t next_diamond;
    tz__progress marks[TZ__MARKS_MAX];
} teams;

static void run_alone(teams *t, int phase, int thread)
{
    const run *r = t->run;
    int tried = 0;
    for (int64_t i; (i = tz__shares_take(&t->shares[phase], thread, &tried)) >= 0;) {
        const tz__skew_job job = tz__skew_job_of(&r->geometry, phase, (int)i);
        for (int k = 0; k < tz__skew_tiles(&r->geometry, &job); k++)
            run_tile(r, thread, &job, phase, k, NULL, NULL);
    }
}

static void run_together(teams *t, int phase, int thread, int threads)
{
    const run *r = t->run;
    const int jobs = tz__skew_jobs(&r->geometry, phase);
    const int i = tz__team_job(threads, jobs, thread);
    const int ring = tz__team_ring(threads, jobs);
    const tz__skew_job job = tz__skew_job_of(&r->geometry, phase, i);
    tz__progress *marks = &t->marks[i * ring];
    for (int tiles = tz__skew_tiles(&r->geometry, &job);;) {
        const int k = atomic_fetch_add_explicit(&t->next[phase][i], 1, memory_order_relaxed);
        if (k >= tiles)
            return;
        run_tile(r, thread, &job, phase, k, k > 0 ? &marks[(k - 1) % ring] : NULL,
                 &marks[k % ring]);
    }
}

static void run_phases(void *any, int thread, int threads)
{
    teams *t = any;
    for (int phase = 0; phase < TZ__SKEW_PHASES; phase++) {
        const int jobs = tz__skew_jobs(&t->run->geometry, phase);
        if (jobs == 0)
            continue;
        if (phase > 0)
            tz_threads_barrier(t->pool, threads);
        if (jobs >= threads)
            run_alone(t, phase, thread);
        else
            run_together(t, phase, thread, threads);
    }
}

/* Diamonds are taken in the order of their rows. Each waits for the two of the row before that it
 * overlaps, which other threads have begun. `at` is where the middle of a diamond is, in half
 * widths: odd in rows 0, 2, 4 and so on, even in the others. Mark `at` is the number of rows that
 * are done there. */
static void run_diamonds(void *any, int thread, int threads)
{
    teams *t = any;
    const run *r = t->run;
    const tz__skew *s = &r->geometry;
    const int even = tz__skew_jobs(s, 0), odd = tz__skew_jobs(s, 1);
    const int64_t all = (int64_t)(s->phases / 2) * (even + odd) + (s->phases % 2) * even;
    (void)threads;
    for (int64_t n; (n = atomic_fetch_add(&t->next_diamond, 1)) < all;) {
        const int64_t pair = n / (even + odd), rest = n % (even + odd);
        const int phase = (int)(2 * pair) + (rest >= even);
        const int i = (int)(rest >= even ? rest - even : rest), at = 2 * i + (rest < even);
        const tz__skew_job job = tz__skew_job_of(s, phase, i);
        for (int side = -1; side <= 1; side += 2) {
            const int other = at + side;
            if (phase > 0 && other >= 0 && (other % 2 ? other / 2 < even : other / 2 < odd))
                tz__progress_wait(&t->marks[other], phase);
        }
        if (job.first <= job.last)
            run_tile(r, thread, &job, phase, 0, NULL, NULL);
        tz__progress_set(&t->marks[at], phase + 1);
    }
}

static void run_levels(const run *r, teams *t)
{
    const bool diamonds = r->geometry.grows > 0;
    for (int i = 0; i < (diamonds ? TZ__MARKS_MAX : 3 * t->threads); i++)
        atomic_init(&t->marks[i].mark, diamonds ? 0 : -1);
    atomic_init(&t->next_diamond, 0);
    for (int phase = 0; phase < TZ__SKEW_PHASES && !diamonds; phase++) {
        tz__shares_make(&t->shares[phase], tz__skew_jobs(&r->geometry, phase), t->threads);
        for (int i = 0; i < t->threads; i++)
            atomic_init(&t->next[phase][i], 0);
    }
    tz_threads_run(t->pool, t->threads, diamonds ? run_diamonds : run_phases, t);
}

tz_skew_arrays tz_skew_run(const tz_stage *stage)
{
    run r;
    teams t;
    const int levels = stage->height * stage->stencil->passes_count;
    const int most = tz__skew_levels_max(stage);
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        r.arrays.values[f] = (uint8_t)(2 * f);
        r.arrays.before[f] = (uint8_t)(2 * f + 1);
    }
    r.lost_bytes = tz_skew_lost_bytes(stage);
    t.run = &r;
    t.pool = stage->pool;
    t.threads = tz__team_threads(stage->threads);
    for (int done = 0; done < levels; done += most) {
        const int count = levels - done < most ? levels - done : most;
        make_levels(&r, stage, done, count);
        tz__skew_make(&r.geometry, stage, count);
        run_levels(&r, &t);
    }
    return r.arrays;
}
