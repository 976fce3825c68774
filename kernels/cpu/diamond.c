/* Stages of the family "diamond": their geometry, counts of it, and the loops. Called by
 * core/backend/cpu/diamond.c. */
#include "kernels/cpu/diamond.h"

#include "base/minmax.h"
#include "kernels/cpu/domain.h"
#include "kernels/cpu/finish.h"
#include "kernels/cpu/points.h"
#include "kernels/cpu/stored.h"
#include "stencil/stencil.h"
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SPARE_BEGINS = 256, /* bytes that row functions of several rows may read before a row */
    TILES_MAX = 8192,
    LINE = 64,       /* bytes */
    JOBS_COUNTED = 8 /* of a phase, spread evenly */
};

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* The geometry of the levels of a stage. */
typedef struct diamonds {
    const tz_stage *stage;
    int levels;
    int across, along; /* the axis that is cut into tiles, and that of the wavefront; -1: none */
    int reach, lag;    /* by how much an edge moves from level to level; a level is behind */
    int64_t batch;     /* elements along the wavefront that a level computes at a time */
    int tiles;
    int grows;    /* levels in which a tile grows; 0: edges do not move, and there is one phase */
    int64_t half; /* from the mean place of an edge to where it is at level 1 */
    bool ring;    /* the tiles' axis is periodic */
    bool open;    /* the wavefront's axis is periodic, and is computed in two bands */
    int phases;
} diamonds;

static bool wraps(const tz_stage *stage, int axis)
{
    return tz_boundary_wraps(stage->boundary[axis][0]);
}

/* What a level reads along an axis. Along x whole cache lines: then rows begin and end at lines at
 * every level. */
static int64_t reach_along(const tz_stage *stage, int axis)
{
    return tz_round_up(tz_stencil_reach_along(stage->stencil, axis),
                       axis == 0 ? TZ_ALIGN_ELEMENTS : 1);
}

static int64_t unit_of(const diamonds *d)
{
    return d->across == 0 ? TZ_ALIGN_ELEMENTS : 1;
}

/* Levels of a diamond, at most. */
static int levels_of_job(const diamonds *d)
{
    return d->grows ? (int)tz_min(2 * (int64_t)d->grows, d->levels) : d->levels;
}

/* Edges that move as far as the widest tile allows, and then as many tiles as have room. Those of
 * one level do not move. */
static void cut_tiles(diamonds *d)
{
    const tz_stage *stage = d->stage;
    const int64_t n = stage->elements[d->across], unit = unit_of(d), reach = d->reach;
    const int64_t widest = tz_max(1, tz_min(n, stage->tile[d->across]));
    d->tiles = 1;
    if (stage->bits && d->across == 0)
        return; /* the neighbours of a word are at the other end of the row */
    if (d->levels == 1) {
        d->tiles = (int)tz_max(1, tz_min(TILES_MAX, n / tz_round_up(widest, unit)));
        return;
    }
    const int64_t grows = tz_min(d->levels, (widest + 2 * reach - 1) / (2 * reach));
    const int64_t half = tz_round_up((reach * grows + 1) / 2, unit);
    const int64_t mean = tz_round_up(tz_max((widest + 1) / 2, reach * grows), unit);
    int64_t tiles = tz_min(TILES_MAX, n / tz_max(mean, 2 * half));
    while (tiles > 1 && n / unit / tiles * unit < 2 * half)
        tiles--;
    if (d->ring)
        tiles -= tiles % 2;
    if (tiles < 2)
        return;
    d->tiles = (int)tiles;
    d->grows = (int)grows;
    d->half = half;
}

/* If there is one level, or the bands of a periodic axis are too short for the levels of a diamond,
 * each level computes all of it before the next one does. */
static void set_wavefront(diamonds *d)
{
    const tz_stage *stage = d->stage;
    const int axis = d->along;
    const int64_t n = stage->elements[axis];
    const int64_t columns = tz_round_up(stage->tile[0], TZ_ALIGN_ELEMENTS);
    d->lag = (int)(axis == 0 && stage->any_column ? tz_stencil_reach_along(stage->stencil, axis)
                                                  : reach_along(stage, axis));
    d->batch = axis == 2 ? stage->batch : stage->bits ? n : columns;
    d->open = wraps(stage, axis);
    if (d->levels == 1 || d->batch >= n ||
        (d->open && 2 * (int64_t)d->lag * (levels_of_job(d) - 1) > n)) {
        d->open = false;
        d->batch = n;
        d->lag = 0;
    }
}

static diamonds make_diamonds(const tz_stage *stage)
{
    diamonds d = {.stage = stage,
                  .levels = stage->height * stage->stencil->passes_count,
                  .across = stage->dims == 1 ? 0 : 1,
                  .along = stage->dims == 1   ? -1
                           : stage->dims == 2 ? 0
                                              : 2,
                  .batch = 1};
    d.reach = (int)tz_max(unit_of(&d), reach_along(stage, d.across));
    d.ring = wraps(stage, d.across);
    cut_tiles(&d);
    d.phases = d.grows ? (d.levels - 1) / d.grows + 2 : 1;
    if (d.along >= 0)
        set_wavefront(&d);
    return d;
}

/* Where the edge below a tile is at a level. It moves to the low side while the tile below shrinks.
 * In a ring it may lie outside the axis. */
static int64_t edge(const diamonds *d, int64_t tile, int level)
{
    const int64_t n = d->stage->elements[d->across], unit = unit_of(d);
    const int64_t mean = n / unit * tile / d->tiles * unit;
    if (!d->ring && tile == 0)
        return 0;
    if (!d->ring && tile == d->tiles)
        return n;
    if (d->grows == 0)
        return tile == d->tiles ? n : mean;
    const int v = (level - 1) % (2 * d->grows);
    const int64_t moved = (int64_t)d->reach * (v <= d->grows ? v : 2 * d->grows - v);
    const int64_t place = tile == d->tiles ? n : mean;
    return tile % 2 ? place + d->half - moved : place - d->half + moved;
}

/* Tiles of a phase: all, or every other one. */
static int tiles_of(const diamonds *d, int phase)
{
    return d->grows == 0 ? d->tiles : (d->tiles + 1 - phase % 2) / 2;
}

/* A diamond: a tile, and its levels. */
typedef struct job {
    int tile, phase, first, last;
} job;

static job job_of(const diamonds *d, int phase, int i)
{
    if (d->grows == 0)
        return (job){i, phase, 1, d->levels};
    return (job){2 * i + phase % 2, phase, (int)tz_max(1, (phase - 1) * d->grows + 1),
                 (int)tz_min(d->levels, (phase + 1) * d->grows)};
}

/* ---- Bands of the wavefront ------------------------------------------------------------------ */

/* A range of the wavefront's axis, at the first level of a diamond and from level to level. */
typedef struct band {
    int64_t low, high, shrinks;
} band;

/* The second band closes what the first one leaves open. */
static band band_of(const diamonds *d, int i)
{
    const int64_t n = d->along < 0 ? 1 : d->stage->elements[d->along];
    return (band){0, i == 0 ? n : 0, !d->open ? 0 : i == 0 ? d->lag : -d->lag};
}

/* ---- Counting -------------------------------------------------------------------------------- */

uint32_t tz_diamond_lost(const tz_stencil *stencil, const tz_pass *pass)
{
    uint32_t lost = 0;
    for (int f = 0; f < stencil->fields_count; f++) {
        const int from = pass->writes >> f & 1 ? tz_stencil_takes(stencil, pass, f) : -1;
        lost |= (uint32_t)(from >= 0 && pass->writes >> from & 1) << f;
    }
    return lost;
}

/* Row functions that <trapeze/rows.h> made load what they need before they store. Others may be
 * written by hand. */
uint32_t tz_diamond_stays(const tz_stencil *stencil, const tz_pass *pass)
{
    uint32_t stays = pass->slabs > 0 ? pass->writes : 0;
    for (int f = 0; f < stencil->fields_count; f++) {
        const tz_reads reads = tz_stencil_reads(stencil, pass, f);
        const int taken = tz_stencil_takes(stencil, pass, f);
        for (int axis = 0; axis < stencil->dims; axis++)
            if (reads.low[axis] != 0 || reads.high[axis] != 0)
                stays &= ~(1u << f);
        if (taken >= 0 && pass->writes >> f & 1)
            stays &= ~(1u << f | 1u << taken);
    }
    return stays;
}

int tz_diamond_arrays_used(const tz_stencil *stencil, int field)
{
    bool turns = false; /* between two arrays */
    for (int p = 0; p < stencil->passes_count; p++) {
        const tz_pass *pass = &stencil->passes[p];
        const uint32_t one = tz_diamond_lost(stencil, pass) | tz_diamond_stays(stencil, pass);
        turns = turns || (pass->writes & ~one) >> field & 1;
    }
    return turns ? 2 : 1;
}

static size_t spare_row_bytes(const tz_stage *stage)
{
    const size_t row = (size_t)(stage->elements[0] + 4 * TZ_ALIGN_ELEMENTS) * sizeof(double);
    return (row + LINE - 1) / LINE * LINE;
}

/* A row that is computed and lost, one of a streamed field, and rows of stored fields. */
size_t tz_diamond_spare_bytes(const tz_stage *stage)
{
    return 2 * spare_row_bytes(stage) + tz_stored_scratch_bytes(stage);
}

/* Counts a diamond `times` times; returns the elements that it computes. */
static double count_job(const diamonds *d, const job *j, double times, tz_stage_counts *out)
{
    const tz_stage *stage = d->stage;
    const double deep = stage->dims == 3 ? (double)stage->elements[2] : 1;
    const double row =
        d->along == 0 ? (double)tz_min(d->batch, stage->elements[0]) : (double)stage->elements[0];
    const double parts = d->along == 0 ? ceil((double)stage->elements[0] / row) : 1;
    double updates = 0;
    int64_t widest = 0;
    for (int t = j->first; t <= j->last; t++) {
        const int64_t width = edge(d, j->tile + 1, t) - edge(d, j->tile, t);
        if (width <= 0)
            continue;
        const double rows = d->across == 0 ? 1 : (double)width;
        const double length = d->across == 0 ? (double)width : (double)stage->elements[0];
        updates += rows * length * deep;
        out->rows += times * rows * parts * deep;
        out->spans += times * parts * ceil(deep / (double)d->batch);
        out->row = fmax(out->row, d->across == 0 ? length : row);
        out->slab = fmax(out->slab, d->along == 0 ? rows * row : rows * length);
        widest = tz_max(widest, width);
    }
    const double levels = j->last - j->first + 1, mean = updates / levels / deep;
    const double length = d->across == 0 ? 1 : (double)stage->elements[0];
    const double live = d->along < 0    ? mean
                        : d->along == 0 ? mean / length * ((double)d->lag * levels + row)
                                        : mean * (double)(d->lag * (int64_t)levels + d->batch + 1);
    out->ring_bytes = fmax(out->ring_bytes, live); /* in elements, for now */
    out->read += times * (double)(widest + d->reach) * length * deep;
    out->updates += times * updates;
    return updates;
}

void tz_diamond_count(const tz_stage *stage, tz_stage_counts *out)
{
    const diamonds d = make_diamonds(stage);
    const double cells =
        (double)stage->elements[0] * (double)stage->elements[1] * (double)stage->elements[2];
    double element = 0; /* bytes of all arrays */
    for (int f = 0; f < stage->stencil->fields_count; f++)
        if (stage->stencil->fields[f].role == TZ_STATE ||
            stage->stencil->fields[f].role == TZ_STATIC)
            element += tz_diamond_arrays_used(stage->stencil, f) * (double)stage->element_size[f];
    memset(out, 0, sizeof *out);
    for (int phase = 0; phase < d.phases; phase++) {
        const int jobs = tiles_of(&d, phase), counted = (int)tz_min(jobs, JOBS_COUNTED);
        double all = 0, longest = 0;
        for (int i = 0; i < counted; i++) {
            const job j = job_of(&d, phase, (int)((int64_t)jobs * i / counted));
            const double updates = count_job(&d, &j, (double)jobs / counted, out);
            all += updates * jobs / counted;
            longest = fmax(longest, updates);
        }
        out->jobs = fmax(out->jobs, jobs);
        out->slowest += fmax(longest, all / stage->threads);
    }
    /* Each phase, of which the first and the last are halves, reads and writes both arrays. */
    out->written = (d.phases > 2 ? 2 * d.phases - 3 : 1) * cells;
    out->ends = out->rows;
    if (out->updates > 0) /* those that were not counted are not quite like these */
        out->slowest *= cells * d.levels / out->updates;
    out->updates = cells * d.levels;
    out->ring_bytes *= element;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* One pass of one iteration. `several`: the function of `slabs` rows or planes at once, or NULL. */
typedef struct level {
    const tz_pass *pass;
    tz_row_fn *rows, *several;
    int slabs;
    int iteration;
    uint32_t lost; /* mask of the fields that take over others' values, and are not written */
    uint8_t reads[TZ_FIELDS_MAX], writes[TZ_FIELDS_MAX]; /* arrays, as in tz_diamond_arrays */
} level;

typedef struct run {
    diamonds d;
    level level[TZ_LEVELS_MAX + 1]; /* from 1 on */
    /* The same where all that is read is in the domain, if the stencil has one. */
    level inner[TZ_LEVELS_MAX + 1];
    tz_diamond_arrays arrays;      /* after the last level */
    size_t spare_bytes, spare_row; /* of a thread, in stage->spare */
    _Atomic int64_t next;
    /* Of each tile, the phases that are done and one more. */
    _Atomic int done[TILES_MAX];
} run;

static inline const tz_host_field *array_of(const tz_stage *stage, int number)
{
    return number % 2 ? &stage->out[number / 2] : &stage->in[number / 2];
}

/* Elements within the grid. */
typedef struct box {
    int64_t low[TZ_AXES], high[TZ_AXES];
} box;

static inline ptrdiff_t slab_stride(const tz_stage *stage, const tz_host_field *host)
{
    return stage->dims == 3 ? host->plane_stride : stage->dims == 2 ? host->row_stride : 0;
}

/* The view of element (x, y) of slab j, which may lie outside the grid. */
static tz_view view_of(const tz_stage *stage, const tz_host_field *host, int f, int64_t j,
                       int64_t x, int64_t y)
{
    const int last = stage->dims - 1;
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    j = tz_ghost_source(stage->boundary[last], j, stage->elements[last]);
    if (j < 0) {
        const tz_view *outside = &stage->outside[f][2 * last - 1 - j];
        return (tz_view){(const char *)outside->at + (y * outside->row_stride + x) * size,
                         outside->row_stride};
    }
    return (tz_view){host->origin +
                         (j * slab_stride(stage, host) + y * host->row_stride + x) * size,
                     host->row_stride};
}

/* The views of element (x, y) in `count` slabs from `first` on, some of which may lie outside the
 * grid. */
static void view_window(const tz_stage *stage, const tz_host_field *host, int f, int64_t first,
                        int count, int64_t x, int64_t y, tz_view *views)
{
    if (host->uniform) {
        for (int k = 0; k < count; k++)
            views[k] = (tz_view){host->origin, 0};
        return;
    }
    if (stage->dims > 1 && (first < 0 || first + count > stage->elements[stage->dims - 1])) {
        for (int k = 0; k < count; k++)
            views[k] = view_of(stage, host, f, first + k, x, y);
        return;
    }
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const ptrdiff_t stride = slab_stride(stage, host) * size;
    const char *at = host->origin + first * stride + (y * host->row_stride + x) * size;
    for (int k = 0; k < count; k++, at += stride)
        views[k] = (tz_view){at, host->row_stride};
}

/* What a row function gets, and the next slabs: by how many bytes pointers then move on. */
typedef struct spans {
    tz_span span;
    int window, slabs;
    tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + TZ_SLABS_IN_PLACE_MAX)];
    tz_target out[TZ_FIELDS_MAX * TZ_SLABS_IN_PLACE_MAX];
    ptrdiff_t in_step[TZ_FIELDS_MAX], out_step[TZ_FIELDS_MAX];
} spans;

static void begin_field(const run *r, const level *l, int f, int64_t j, const box *area,
                        char *spare, spans *s)
{
    const tz_stage *stage = r->d.stage;
    const tz_role role =
        f < stage->stencil->fields_count ? stage->stencil->fields[f].role : TZ_DERIVED;
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const int64_t x = area->low[0], y = stage->dims == 3 ? area->low[1] : 0;
    tz_view *in = &s->in[f * s->window];
    tz_target *out = &s->out[f * s->slabs];
    s->in_step[f] = s->out_step[f] = 0;
    /* Row functions do arithmetic on all of these pointers, and may load what they need not. */
    for (int k = 0; k < s->slabs; k++)
        out[k] = (tz_target){spare + SPARE_BEGINS, 0};
    for (int k = 0; k < s->window && role != TZ_STATE && role != TZ_STATIC; k++)
        in[k] = (tz_view){spare + SPARE_BEGINS, 0};
    if (role == TZ_STREAMED)
        in->at = stage->streamed_row(stage->streamed[f], stage->step + l->iteration, x,
                                     area->high[0] - x, (int32_t *)(void *)(spare + r->spare_row));
    if (role != TZ_STATE && role != TZ_STATIC)
        return;
    const int radius = stage->dims == 1 ? 0 : l->pass->radius;
    const tz_host_field *from = array_of(stage, l->reads[f]);
    view_window(stage, from, f, j - radius, s->window, x, y, in);
    if (!from->uniform)
        s->in_step[f] = s->slabs * slab_stride(stage, from) * size;
    if (!(l->pass->writes >> f & 1) || l->lost >> f & 1)
        return;
    const tz_host_field *to = array_of(stage, l->writes[f]);
    const ptrdiff_t stride = slab_stride(stage, to);
    for (int k = 0; k < s->slabs; k++)
        out[k] = (tz_target){to->origin + ((j + k) * stride + y * to->row_stride + x) * size,
                             to->row_stride};
    s->out_step[f] = s->slabs * stride * size;
}

/* Calls of a row function, each for `slabs` rows (in 3-D planes) at once from slab j on; in 2-D one
 * for all of them, if it goes on by itself. All but the first slabs read only those of the grid. */
static void call(const run *r, int thread, const level *l, tz_row_fn *function, int64_t j,
                 int slabs, int64_t calls, const box *area)
{
    const tz_stage *stage = r->d.stage;
    const bool planes = stage->dims == 3;
    const bool goes_on = stage->dims == 2 && !stage->storage && (slabs == 1 || l->pass->slabs > 0);
    const int fields = tz_stencil_fields_all(stage->stencil);
    char *spare = stage->spare + (size_t)thread * r->spare_bytes;
    spans s;
    s.slabs = slabs;
    s.window = (stage->dims == 1 ? 0 : 2 * l->pass->radius) + slabs;
    for (int f = 0; f < fields; f++)
        begin_field(r, l, f, j, area, spare, &s);
    for (int k = 0; k < fields * s.window && goes_on; k++)
        s.in[k].row_stride *= slabs;
    for (int k = 0; k < fields * slabs && goes_on; k++)
        s.out[k].row_stride *= slabs;
    s.span = (tz_span){
        .in = s.in,
        .out = s.out,
        .constants = stage->constants + l->iteration * stage->constants_stride,
        .count = area->high[0] - area->low[0],
        .rows = planes    ? area->high[1] - area->low[1]
                : goes_on ? calls
                          : 1,
        .x = area->low[0],
        .y = planes ? area->low[1] : j,
        .z = planes ? j : 0,
        .step = stage->step + l->iteration,
        .engine = l->pass->engine,
    };
    calls = goes_on ? 1 : calls;
    if (stage->storage) {
        const tz_row_calls all = {function, &s.span, s.window,  slabs,
                                  slabs,    calls,   s.in_step, s.out_step};
        tz_stored_call(stage, l->pass, &all, spare + 2 * r->spare_row);
        return;
    }
    for (function(&s.span); --calls > 0; function(&s.span)) {
        *(planes ? &s.span.z : &s.span.y) += slabs;
        for (int f = 0; f < fields; f++) {
            for (int k = 0; k < s.window; k++)
                s.in[f * s.window + k].at = (const char *)s.in[f * s.window + k].at + s.in_step[f];
            for (int k = 0; k < slabs; k++)
                s.out[f * slabs + k].at = (char *)s.out[f * slabs + k].at + s.out_step[f];
        }
    }
}

/* Ghosts of what a level has computed. */
static void finish(const run *r, const level *l, const box *b)
{
    const tz_stage *stage = r->d.stage;
    if (stage->dims == 2 && b->low[0] > stage->ghost &&
        b->high[0] < stage->elements[0] - stage->ghost)
        return;
    for (int f = 0; f < stage->stencil->fields_count; f++) {
        if (!((l->pass->writes & ~l->lost) >> f & 1))
            continue;
        const tz_host_field *host = array_of(stage, l->writes[f]);
        for (int64_t z = b->low[2]; z < b->high[2]; z++) {
            const tz_patch patch = {
                .at = host->origin + z * host->plane_stride * (ptrdiff_t)stage->element_size[f],
                .row_stride = host->row_stride,
                .x_low = b->low[0],
                .x_high = b->high[0],
                .y_low = b->low[1],
                .y_high = b->high[1],
                .rows = {stage->ghost, stage->ghost},
            };
            tz_patch_finish(stage, f, &patch, stage->ghost);
        }
    }
}

/* Points of what level t has computed. */
static void apply_points(const run *r, int t, const box *b)
{
    const tz_stage *stage = r->d.stage;
    const level *l = &r->level[t];
    for (int f = 0; f < stage->stencil->fields_count; f++) {
        if (!tz_points_due(stage->points, stage->stencil, (t - 1) % stage->stencil->passes_count,
                           f))
            continue;
        const tz_host_field *host = array_of(stage, l->writes[f]);
        tz_points_box points = {.field = f,
                                .iteration = l->iteration,
                                .at = host->origin,
                                .row_stride = host->row_stride,
                                .plane_stride = host->plane_stride};
        memcpy(points.low, b->low, sizeof points.low);
        memcpy(points.high, b->high, sizeof points.high);
        memcpy(points.own_low, b->low, sizeof points.own_low);
        memcpy(points.own_high, b->high, sizeof points.own_high);
        tz_points_apply(stage, &points);
    }
}

/* The row functions of a level on a box within the grid: of several rows (in 3-D planes) at once as
 * long as there are so many, and then of fewer. */
static void compute_rows(const run *r, int thread, const level *l, const box *b)
{
    const tz_stage *stage = r->d.stage;
    const int axis = stage->dims - 1, radius = l->pass->radius;
    const int64_t n = stage->elements[axis], end = axis == 0 ? 1 : b->high[axis];
    for (int64_t j = axis == 0 ? 0 : b->low[axis]; j < end;) {
        const int slabs = l->several && end - j >= l->slabs ? l->slabs : 1;
        tz_row_fn *function = slabs > 1 ? l->several : l->rows;
        /* Slabs past a side are in other places of the memory. */
        const bool inside = axis > 0 && j >= radius && j + slabs + radius <= n;
        int64_t calls = inside ? tz_min(end - j, n - radius - j) / slabs : 1;
        call(r, thread, l, function, j, slabs, calls, b);
        j += calls * slabs;
    }
}

/* The same of what lies in the domain: columns whose rows are alike at once, others in two halves
 * as long as these have several rows. */
static void compute_domain(const run *r, int thread, const level *l, const box *b)
{
    const tz_stage *stage = r->d.stage;
    const tz_domain_rows rows = {b->low[0],  b->high[0], b->low[1],
                                 b->high[1], b->low[2],  b->high[2]};
    const int64_t ny = rows.y_high - rows.y_low, nz = rows.z_high - rows.z_low;
    const int axis = nz > ny ? 2 : 1;
    box part = *b;
    for (int64_t x = rows.x_low; x < rows.x_high; x = part.high[0]) {
        tz_domain_kind kind;
        part.low[0] = x;
        part.high[0] = tz_domain_run(stage->domain, &rows, x, &kind);
        if (kind == TZ_DOMAIN_INNER) {
            compute_rows(r, thread, r->inner + (l - r->level), &part);
        } else if (kind != TZ_DOMAIN_OUTSIDE && tz_max(ny, nz) > l->slabs) {
            const int64_t middle = b->low[axis] + tz_max(ny, nz) / 2 / l->slabs * l->slabs;
            const int64_t split = middle > b->low[axis] ? middle : b->low[axis] + l->slabs;
            box half = part;
            half.high[axis] = split;
            compute_domain(r, thread, l, &half);
            half.low[axis] = split;
            half.high[axis] = b->high[axis];
            compute_domain(r, thread, l, &half);
        } else if (kind != TZ_DOMAIN_OUTSIDE) {
            compute_rows(r, thread, l, &part);
        }
    }
}

/* A level of a box within the grid. */
static void compute(const run *r, int thread, int t, const box *b)
{
    const tz_stage *stage = r->d.stage;
    const level *l = &r->level[t];
    if (stage->domain)
        compute_domain(r, thread, l, b);
    else
        compute_rows(r, thread, l, b);
    if (stage->points)
        apply_points(r, t, b);
    finish(r, l, b);
}

/* The same where ranges may wrap along an axis and those below it, within [-extent, 2 extent). */
static void compute_wrapped(const run *r, int thread, int t, int axis, const box *b)
{
    if (axis < 0) {
        compute(r, thread, t, b);
        return;
    }
    const int64_t n = r->d.stage->elements[axis];
    for (int64_t at = b->low[axis]; at < b->high[axis];) {
        const int64_t to = at < 0 ? n : at >= n ? -n : 0;
        const int64_t end = tz_min(b->high[axis], at < 0 ? 0 : at < n ? n : 2 * n);
        box part = *b;
        part.low[axis] = at + to;
        part.high[axis] = end + to;
        compute_wrapped(r, thread, t, axis - 1, &part);
        at = end;
    }
}

/* ---- Diamonds -------------------------------------------------------------------------------- */

static void run_band(const run *r, int thread, const job *j, const band *b)
{
    const diamonds *d = &r->d;
    const int64_t behind = (int64_t)d->lag * (j->last - j->first);
    const int64_t shrunk = b->shrinks * (j->last - j->first);
    const int64_t first = tz_min(b->low, b->low + shrunk + behind);
    const int64_t end = tz_max(b->high, b->high - shrunk + behind);
    struct {
        int64_t low, high;
    } tile[TZ_LEVELS_MAX];
    for (int t = j->first; t <= j->last; t++) {
        tile[t - j->first].low = edge(d, j->tile, t);
        tile[t - j->first].high = edge(d, j->tile + 1, t);
    }
    for (int64_t k = first; k < end; k += d->batch)
        for (int t = j->first; t <= j->last; t++) {
            const int64_t from = k - (int64_t)d->lag * (t - j->first);
            const int64_t less = b->shrinks * (t - j->first);
            box part = {{0, 0, 0}, {r->d.stage->elements[0], 1, 1}};
            part.low[d->across] = tile[t - j->first].low;
            part.high[d->across] = tile[t - j->first].high;
            if (d->along >= 0) {
                part.low[d->along] = tz_max(from, b->low + less);
                part.high[d->along] = tz_min(from + d->batch, b->high - less);
            }
            compute_wrapped(r, thread, t, d->stage->dims - 1, &part);
        }
}

/* Another thread may need this one's processor, so it is offered from time to time. */
static void wait_for(const _Atomic int *done, int phase)
{
    enum { TRIES = 256 };
    for (int i = 1; atomic_load_explicit(done, memory_order_acquire) < phase; i++)
        if (i % TRIES == 0)
            sched_yield();
        else
            tz_threads_pause();
}

/* Diamonds are taken phase by phase. Each waits for those of the phase before which it reads, and
 * other threads have begun these. */
static void run_thread(void *any, int thread, int threads)
{
    run *r = any;
    const diamonds *d = &r->d;
    const int even = tiles_of(d, 0), both = even + tiles_of(d, 1);
    const int64_t all = d->phases / 2 * (int64_t)both + d->phases % 2 * even;
    (void)threads;
    for (int64_t n; (n = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed)) < all;) {
        const int rest = (int)(n % both), odd = rest >= even;
        const int phase = 2 * (int)(n / both) + odd;
        const job j = job_of(d, phase, rest - (odd ? even : 0));
        for (int side = -1; phase > 0 && side <= 1; side += 2) {
            const int beside = (j.tile + side + d->tiles) % d->tiles;
            if (d->ring || beside == j.tile + side)
                wait_for(&r->done[beside], phase);
        }
        for (int i = 0; i < (d->open ? 2 : 1); i++) {
            const band b = band_of(d, i);
            run_band(r, thread, &j, &b);
        }
        atomic_store_explicit(&r->done[j.tile], phase + 1, memory_order_release);
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
static void pass_on(tz_diamond_arrays *arrays, const tz_stencil *stencil, const level *l)
{
    const tz_diamond_arrays was = *arrays;
    for (int f = 0; f < stencil->fields_count; f++) {
        if (!(l->pass->writes >> f & 1) || l->writes[f] == l->reads[f])
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

/* In the last iteration each field has an array of its own, and what it was before in the other
 * one. */
static void make_levels(run *r)
{
    const tz_stage *stage = r->d.stage;
    const int passes = stage->stencil->passes_count;
    for (int t = 1; t <= r->d.levels; t++) {
        level *l = &r->level[t];
        if (t > passes)
            *l = l[-passes];
        else
            *l = (level){.pass = &stage->stencil->passes[t - 1],
                         .rows = tz_stage_rows(stage, &stage->stencil->passes[t - 1])};
        l->several = tz_stage_several(stage, l->pass, &l->slabs);
        l->iteration = (t - 1) / passes;
        l->lost = l->iteration == stage->height - 1 ? 0 : tz_diamond_lost(stage->stencil, l->pass);
        if (stage->points) /* tz_points_takes() */
            l->lost &= ~stage->points->fields;
        memcpy(l->reads, r->arrays.values, sizeof l->reads);
        memcpy(l->writes, r->arrays.before, sizeof l->writes);
        for (int f = 0; f < stage->stencil->fields_count && l->iteration < stage->height - 1; f++)
            if (tz_diamond_stays(stage->stencil, l->pass) >> f & 1)
                l->writes[f] = l->reads[f];
        if (stage->domain) {
            level *inner = &r->inner[t];
            *inner = *l;
            if (stage->stencil->inner)
                inner->pass = &stage->stencil->inner[(t - 1) % passes];
            inner->rows = tz_stage_rows(stage, inner->pass);
            inner->several = tz_stage_several(stage, inner->pass, &inner->slabs);
        }
        pass_on(&r->arrays, stage->stencil, l);
    }
}

tz_diamond_arrays tz_diamond_run(const tz_stage *stage)
{
    run r;
    r.d = make_diamonds(stage);
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        r.arrays.values[f] = (uint8_t)(2 * f);
        r.arrays.before[f] = (uint8_t)(2 * f + 1);
    }
    r.spare_bytes = tz_diamond_spare_bytes(stage);
    r.spare_row = spare_row_bytes(stage);
    make_levels(&r);
    atomic_init(&r.next, 0);
    for (int i = 0; i < r.d.tiles; i++)
        atomic_init(&r.done[i], 0);
    tz_threads_run(stage->pool, stage->threads, run_thread, &r);
    return r.arrays;
}
