#include "kernels/cpu/skew_geometry.h"

#include "stencil/stencil.h"
#include <math.h>
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

/* Do parts shrink at the grid's sides along an axis? Not if a tile is as wide as a periodic inner axis: then its ghosts are
 * copied from its other end, level by level, as if each side had a value of its own. */
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

/* A band's limits and how far a level is behind are linear in t: the extremes are at the first or the
 * last level. */
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

/* The job's range of the inner axis at the middle level. There tiles are cut, so that those at the sides have
 * as much work as the others. */
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
        /* Of a slab, a level needs what the level before has just written, and what it leans over. The levels of a diamond
         * differ. */
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

/* When the threads of a team are done, in elements, and when the last tile began and was done. Each thread
 * takes the next tile when it has done one, and stays behind the thread that has the tile before. */
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

/* The team takes `tiles` equal tiles. When each thread has had some, each round takes as long as the last. */
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

/* Adds a phase. The threads wait for each other at its end; not so at that of a row of diamonds, where a thread that is done
 * goes on with the next row. */
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
