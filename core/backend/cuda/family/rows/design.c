/* Layouts of stages of the 2-D stream family. */
#include "backend/cuda/family/rows/design.h"

#include <string.h>

enum {
    /* Fitted to NVRTC's allocation for sm_90. */
    REGISTERS_OTHER = 45,   /* addresses, loop, rows in flight */
    REGISTERS_STATIC = 130, /* as estimated: 168 as compiled, where static fields are */
    UNROLLED_WORDS = 150,   /* levels times words a lane of a loop body: more code misses the
                           * instruction cache */
    UNROLL_MAX = 16,
    QUEUE_BYTES = 16 << 10 /* of a warp, for static fields: sixteen warps fit a multiprocessor */
};

const tz_pass *rows_pass(const rows_design *d, int level)
{
    return &d->problem->stencil->passes[(level - 1) % d->problem->stencil->passes_count];
}

int rows_version_before(const rows_design *d, int field, int level)
{
    int version = level - 1;
    while (version > 0 && !(rows_pass(d, version)->writes >> field & 1))
        version--;
    return version;
}

static int rows_element_words(const tz_problem *problem, int field)
{
    return (int)tz_problem_element_size(problem, field) / 4;
}

const rows_ring *rows_find_ring(const rows_design *d, int field, int level)
{
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].field == field && d->rings[i].level == level)
            return &d->rings[i];
    return NULL;
}

static void add_state_ring(rows_design *d, int field, int made, bool eager)
{
    rows_ring r = {.field = field, .level = made, .newest = -d->lag[made]};
    int oldest = r.newest;
    for (int l = made + 1; l <= d->levels; l++) {
        if (rows_version_before(d, field, l) != made)
            continue;
        const int radius = rows_pass(d, l)->radius;
        const int last = -d->lag[l] + (d->sums ? radius : -radius);
        r.radius = radius > r.radius ? radius : r.radius;
        oldest = last < oldest ? last : oldest;
    }
    r.depth = r.newest - oldest + 1;
    r.halo = eager ? r.radius : 0;
    d->rings[d->rings_count++] = r;
}

/* Register moves a step, which a loop body of `unroll` steps makes at its end. */
static double moves(const rows_design *d, int unroll)
{
    double words = 0.0;
    for (int i = 0; i < d->rings_count; i++)
        if (unroll % d->rings[i].depth != 0)
            words += d->rings[i].depth * (d->vector + 2 * d->rings[i].halo) *
                     rows_element_words(d->problem, d->rings[i].field);
    const int sums = d->sums ? 2 * d->problem->radius : 1;
    if (unroll % sums != 0)
        words += d->levels * sums * d->vector * rows_element_words(d->problem, 0);
    return words / unroll;
}

int rows_end_columns(const tz_problem *problem, int vector)
{
    return (int)((problem->elements[0] - 1) % vector) + 1;
}

/* The largest radius at which a field is read. */
static int reads_radius(const tz_stencil *s)
{
    int radius = 0;
    for (int p = 0; p < s->passes_count; p++)
        radius = s->passes[p].radius > radius ? s->passes[p].radius : radius;
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role != TZ_STATE)
            radius = s->fields[f].radius > radius ? s->fields[f].radius : radius;
    return radius;
}

/* Is only one lane at each end of a row affected by the boundary, and does a strip or a chunk cross
 * each end of the grid at most once? */
static bool has_simple_edges(const rows_design *d)
{
    const tz_problem *problem = d->problem;
    const int64_t nx = problem->elements[0], ny = problem->elements[1];
    const int end = rows_end_columns(problem, d->vector), radius = reads_radius(problem->stencil);
    if (nx < 32 * d->vector || ny < 2 * d->reach + 4 * radius + d->ahead + UNROLL_MAX)
        return false;
    if (problem->bits)
        return end == d->vector && problem->extent[0] == 32 * nx;
    return problem->boundary[0][0] == TZ_PERIODIC ? end == d->vector
                                                  : radius <= d->vector && radius <= end;
}

/* Can static fields stay in their queue until the last level has read them? */
static bool keeps_static_in_queue(const rows_design *d)
{
    const tz_stencil *s = d->problem->stencil;
    int64_t bytes = 0; /* of a warp */
    for (int f = 0; f < s->fields_count; f++) {
        if (s->fields[f].role == TZ_STATE)
            continue;
        if (s->fields[f].radius > 0)
            return false;
        bytes += (int64_t)(d->reach + d->ahead + UNROLL_MAX) * 32 * d->vector *
                 (int64_t)tz_problem_element_size(d->problem, f);
    }
    return s->passes_count == 1 && bytes > 0 && bytes <= QUEUE_BYTES;
}

int rows_group_start(const rows_design *d, int level)
{
    return (level - 1) / d->group * d->group + 1;
}

/* Rows between the rows of static fields that a group's first and last level read. */
static int group_span(const rows_design *d, int level)
{
    const int first = rows_group_start(d, level), last = first + d->group - 1;
    return d->lag[last < d->levels ? last : d->levels] - d->lag[first];
}

/* Is the update a sum over rows? Then each row is added when it arrives, and is not kept. */
static bool is_sum_of_rows(const tz_stencil *s)
{
    return s->passes_count == 1 && s->fields_count == 1 && s->passes[0].radius > 0 &&
           strstr(s->passes[0].text, "TZ_CELL_ROWS(") != NULL;
}

bool rows_has_sides(const rows_design *d)
{
    return !d->edges || d->problem->bits || d->problem->boundary[0][0] != TZ_PERIODIC;
}

static bool design_of(rows_design *d, const tz_problem *problem, const tz_plan *plan, int group)
{
    const tz_stencil *s = problem->stencil;
    *d = (rows_design){.problem = problem, .vector = plan->vector, .ahead = plan->ahead};
    if (plan->height * s->passes_count > ROWS_LEVELS_MAX)
        return false;
    d->levels = plan->height * s->passes_count;
    for (int l = 1; l <= d->levels; l++)
        d->lag[l] = d->lag[l - 1] + rows_pass(d, l)->radius;
    d->reach = d->lag[d->levels];
    d->group = group < d->levels && keeps_static_in_queue(d) ? group : d->levels;
    d->edges = has_simple_edges(d);
    d->sums = d->edges && is_sum_of_rows(s) && problem->boundary[1][0] != TZ_MIRROR &&
              problem->boundary[1][1] != TZ_MIRROR;
    /* A box reads neighbours in every row, so they are fetched once for each row and kept with it. */
    const bool eager = !d->sums && tz_stencil_reads_diagonals(s);
    for (int f = 0; f < s->fields_count; f++) {
        if (s->fields[f].role == TZ_STATE) {
            add_state_ring(d, f, 0, eager);
            for (int l = 1; l <= d->levels; l++)
                if (rows_pass(d, l)->writes >> f & 1)
                    add_state_ring(d, f, l, eager);
        } else {
            const int r = s->fields[f].radius;
            const int extra = 2 * r - s->passes[0].radius - d->lag[1];
            for (int l = 1; l <= d->levels; l += d->group)
                d->rings[d->rings_count++] = (rows_ring){.field = f,
                                                         .level = l - 1,
                                                         .newest = r - d->lag[l],
                                                         .depth = group_span(d, l) + 2 * r + 1,
                                                         .radius = r};
            d->extra = extra > d->extra ? extra : d->extra;
        }
    }
    d->unroll = 1;
    for (int u = 2; u <= UNROLL_MAX && u * d->levels * d->vector <= UNROLLED_WORDS; u++)
        if (moves(d, u) < moves(d, d->unroll))
            d->unroll = u;
    return true;
}

/* The oldest and the newest row of a ring share registers. */
int rows_registers(const rows_design *d)
{
    int words = REGISTERS_OTHER;
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        if (r->radius == 0 && r->level == d->levels)
            continue;
        words +=
            (r->depth - 1) * (d->vector + 2 * r->halo) * rows_element_words(d->problem, r->field);
    }
    if (d->sums)
        words += d->levels * 2 * d->problem->radius * d->vector * rows_element_words(d->problem, 0);
    return words;
}

/* Each group of levels loads a static row from the queue, and keeps it in a register for each
 * column. So groups are as large as registers allow. */
bool rows_design_make(rows_design *d, const tz_problem *problem, const tz_plan *plan)
{
    if (!design_of(d, problem, plan, ROWS_LEVELS_MAX))
        return false;
    for (int group = d->levels - 1; group >= 1 && rows_registers(d) > REGISTERS_STATIC; group--) {
        design_of(d, problem, plan, group);
        if (d->group != group)
            break; /* static fields cannot stay in their queue */
    }
    return true;
}

int rows_once_made(const rows_design *d, int level)
{
    const int passes = d->problem->stencil->passes_count;
    return passes == 1 ? rows_group_start(d, level) : (level - 1) % passes + 1;
}

int rows_once_depth(const rows_design *d, int made)
{
    const int passes = d->problem->stencil->passes_count;
    if (passes == 1)
        return group_span(d, made) + 1;
    return d->lag[d->levels - passes + made] - d->lag[made] + 1;
}

int rows_queue(const rows_design *d, bool state)
{
    const int kept = state ? 0 : d->lag[rows_group_start(d, d->levels)] - d->lag[1];
    return (d->ahead + kept + d->unroll) / d->unroll * d->unroll;
}

int rows_warps(const tz_plan *plan)
{
    return plan->warps > 0 ? plan->warps : ROWS_WARPS;
}

int rows_ghost(const rows_design *d)
{
    return (d->reach + d->vector - 1) / d->vector * d->vector;
}
