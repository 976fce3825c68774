/* Layouts of stages of the 2-D stream family. */
#include "backend/cuda/family/rows/design.h"
#include "base/minmax.h"
#include "model/constants.h"

#include <string.h>

enum {
    UNROLL_MAX = 16,
    UNROLL_MANY = 2,
    INSTRUCTION_BYTES = 16,
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
    return (int)tz_problem_computed_type(problem, field)->size / 4;
}

int rows_lane_bytes(const rows_design *d, int field)
{
    return d->vector * (int)tz_problem_element_size(d->problem, field);
}

const rows_ring *rows_find_ring(const rows_design *d, int field, int level)
{
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].field == field && d->rings[i].level == level)
            return &d->rings[i];
    return NULL;
}

/* What the level reads of a field. */
const rows_reads *rows_reads_of(const rows_design *d, int level, int field)
{
    return &d->reads[(level - 1) % d->problem->stencil->passes_count][field];
}

static void find_reads(rows_design *d)
{
    const tz_problem *problem = d->problem;
    const tz_stencil *s = problem->stencil;
    const tz_boundary(*sides)[2] = problem->boundary;
    for (int p = 0; p < s->passes_count; p++)
        for (int f = 0; f < s->fields_count; f++) {
            const tz_reads listed = tz_stencil_reads(s, &s->passes[p], f);
            int low[2], high[2];
            for (int axis = 0; axis < 2; axis++) {
                low[axis] = -listed.low[axis];
                high[axis] = listed.high[axis];
                if (s->fields[f].role == TZ_STATE && tz_boundary_reflects(sides[axis][0]))
                    high[axis] = tz_max_int(high[axis], low[axis]);
                if (s->fields[f].role == TZ_STATE && tz_boundary_reflects(sides[axis][1]))
                    low[axis] = tz_max_int(low[axis], high[axis]);
                d->radius = tz_max_int(d->radius, tz_max_int(low[axis], high[axis]));
            }
            d->reads[p][f] =
                (rows_reads){(int8_t)low[0], (int8_t)high[0], (int8_t)low[1], (int8_t)high[1]};
        }
}

/* A level computes a row as soon as the rows that it reads are there. */
static void find_lags(rows_design *d)
{
    const tz_stencil *s = d->problem->stencil;
    for (int l = 1; l <= d->levels; l++) {
        d->lag[l] = d->lag[l - 1];
        for (int f = 0; f < s->fields_count; f++)
            if (s->fields[f].role == TZ_STATE)
                d->lag[l] = tz_max_int(d->lag[l], d->lag[rows_version_before(d, f, l)] +
                                                      rows_reads_of(d, l, f)->after);
    }
    d->reach = d->lag[d->levels];
}

static void ring_is_read(rows_ring *r, const rows_reads *reads, int lag, bool sums, int *oldest)
{
    const int last = -lag + (sums ? reads->after : -reads->before);
    r->radius = tz_max_int(r->radius, tz_max_int(reads->before, reads->after));
    r->before = tz_max_int(r->before, reads->before);
    r->columns = tz_max_int(r->columns, tz_max_int(reads->left, reads->right));
    *oldest = !r->read || last < *oldest ? last : *oldest;
    r->read = true;
}

/* Loaded rows arrive when the first level reads them. */
static void add_ring(rows_design *d, rows_ring r, int last_level, bool eager)
{
    const bool state = d->problem->stencil->fields[r.field].role == TZ_STATE;
    const bool loaded = !state || r.level == 0;
    int oldest = 0, newest = -d->lag[r.level];
    for (int l = r.level + 1; l <= last_level; l++) {
        if (state && rows_version_before(d, r.field, l) != r.level)
            continue;
        const rows_reads *reads = rows_reads_of(d, l, r.field);
        const int first = reads->after - d->lag[l];
        newest = loaded && (!r.read || first > newest) ? first : newest;
        ring_is_read(&r, reads, d->lag[l], d->sums, &oldest);
    }
    r.newest = newest;
    r.depth = r.read ? newest - oldest + 1 : 1;
    r.halo = eager ? r.columns : 0;
    if (d->rings_count < ROWS_RINGS_MAX)
        d->rings[d->rings_count] = r;
    d->rings_count++;
}

/* The rows before a chunk's first row, and the columns at its sides, that each level must have
 * right for the last versions to be right in the chunk. */
typedef struct needs {
    int before, left, right;
    bool any;
} needs;

static void needs_more(needs *n, const needs *of, const rows_reads *reads)
{
    n->before = tz_max_int(n->any ? n->before : 0, of->before + reads->before);
    n->left = tz_max_int(n->any ? n->left : 0, of->left + reads->left);
    n->right = tz_max_int(n->any ? n->right : 0, of->right + reads->right);
    n->any = true;
}

static void find_ghosts(rows_design *d)
{
    const tz_stencil *s = d->problem->stencil;
    needs of[ROWS_LEVELS_MAX + 1] = {0};
    d->warm_up = 0;
    d->first_row = 0;
    for (int l = d->levels; l >= 1; l--)
        for (int f = 0; f < s->fields_count; f++) {
            const bool state = s->fields[f].role == TZ_STATE;
            const int made = state ? rows_version_before(d, f, l) : 0;
            needs loaded = {0};
            needs *n = made > 0 ? &of[made] : &loaded;
            needs_more(n, &of[l], rows_reads_of(d, l, f));
            if (made > 0)
                continue;
            const int newest = rows_find_ring(d, f, 0)->newest;
            d->warm_up = tz_max_int(d->warm_up, n->before + newest);
            d->first_row = tz_max_int(d->first_row, rows_reads_of(d, l, f)->before + newest);
            d->left = tz_max_int(d->left, n->left);
            d->right = tz_max_int(d->right, n->right);
        }
    for (int l = 1; l <= d->levels; l++)
        d->warm_up = tz_max_int(d->warm_up, of[l].before - d->lag[l]);
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].level > 0)
            d->first_row = tz_max_int(d->first_row, d->rings[i].before - d->lag[d->rings[i].level]);
    d->first_row = -d->first_row;
}

static bool writes_many(const tz_stencil *s)
{
    int written = 0;
    for (int p = 0; p < s->passes_count; p++)
        for (int f = 0; f < s->fields_count; f++)
            written += s->passes[p].writes >> f & 1;
    return written > 4 * s->passes_count;
}

double rows_moves(const rows_design *d, int unroll)
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

int rows_short_unroll(const rows_design *d, double *bytes)
{
    const double now = rows_moves(d, d->unroll),
                 step = *bytes / INSTRUCTION_BYTES / d->unroll - now;
    int best = d->unroll;
    if (*bytes <= TZ_FIT_ROWS_TEXT_BYTES)
        return best;
    for (int u = d->unroll - 1; u >= 1; u--)
        if (INSTRUCTION_BYTES * u * (step + rows_moves(d, u)) <= TZ_FIT_ROWS_TEXT_BYTES &&
            (best == d->unroll || rows_moves(d, u) < rows_moves(d, best)))
            best = u;
    if (best == d->unroll || rows_moves(d, best) - now > TZ_FIT_ROWS_MOVES_MORE * (step + now))
        return d->unroll;
    *bytes = INSTRUCTION_BYTES * best * (step + rows_moves(d, best));
    return best;
}

int rows_end_columns(const tz_problem *problem, int vector)
{
    return (int)((problem->elements[0] - 1) % vector) + 1;
}

/* Do lanes at the ends of a row read no further than the next lane's columns, and does a strip or a
 * chunk cross each end of the grid at most once? */
static bool has_simple_edges(const rows_design *d)
{
    const tz_problem *problem = d->problem;
    const int64_t nx = problem->elements[0], ny = problem->elements[1];
    const int end = rows_end_columns(problem, d->vector), radius = d->radius;
    if (nx < 32 * d->vector || ny < 2 * d->reach + 4 * radius + d->ahead + UNROLL_MAX)
        return false;
    if (problem->bits)
        return end == d->vector && problem->extent[0] == 32 * nx;
    return tz_boundary_wraps(problem->boundary[0][0]) || radius <= d->vector;
}

/* Can static fields stay in their queue until the last level has read them? */
static bool keeps_static_in_queue(const rows_design *d)
{
    const tz_stencil *s = d->problem->stencil;
    /* The most steps that design_of() may choose for a loop body. */
    const int most = TZ_FIT_ROWS_UNROLLED_WORDS / (d->levels * d->vector);
    const int rows = d->reach + d->ahead + (most < UNROLL_MAX ? tz_max_int(most, 1) : UNROLL_MAX);
    int64_t bytes = 0; /* of a warp */
    for (int f = 0; f < s->fields_count; f++) {
        if (s->fields[f].role == TZ_STATE)
            continue;
        for (int p = 0; p < s->passes_count; p++) {
            const rows_reads *r = &d->reads[p][f];
            if (r->left + r->right + r->before + r->after > 0)
                return false;
        }
        bytes += (int64_t)rows * 32 * d->vector * (int64_t)tz_problem_element_size(d->problem, f);
    }
    return bytes > 0 && bytes <= QUEUE_BYTES && !d->direct;
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

bool rows_is_sum(const tz_stencil *s)
{
    return s->passes_count == 1 && s->fields_count == 1 && s->passes[0].radius > 0 &&
           s->passes[0].reads_count == 0 &&
           (strstr(s->passes[0].text, "TZ_CELL_ROWS(") ||
            strstr(s->passes[0].text, "TZ_CELL_ROWS_OF("));
}

bool rows_has_sides(const rows_design *d)
{
    return !d->edges || d->problem->bits || d->packets ||
           !tz_boundary_wraps(d->problem->boundary[0][0]) ||
           rows_end_columns(d->problem, d->vector) != d->vector;
}

static bool design_of(rows_design *d, const tz_problem *problem, const tz_plan *plan, int group)
{
    const tz_stencil *s = problem->stencil;
    *d = (rows_design){
        .problem = problem, .vector = plan->vector, .ahead = plan->ahead, .many = writes_many(s)};
    d->direct = rows_is_direct(problem, plan);
    if (plan->height * s->passes_count > ROWS_LEVELS_MAX)
        return false;
    d->levels = plan->height * s->passes_count;
    find_reads(d);
    find_lags(d);
    d->group = group < d->levels && keeps_static_in_queue(d) ? group : d->levels;
    d->edges = has_simple_edges(d);
    /* Bits wait for the unit of logic, not for copies. */
    d->packets = d->edges && !d->direct && !problem->bits &&
                 tz_cuda_fields_of_packets(problem, d->vector) != 0;
    d->swaps = d->packets && plan->swap != ROWS_NO_SWAP;
    d->sums = d->edges && rows_is_sum(s) && !problem->points &&
              !tz_boundary_reflects(problem->boundary[1][0]) &&
              !tz_boundary_reflects(problem->boundary[1][1]);
    /* A box reads neighbours in every row, so they are fetched once for each row and kept with
     * it. */
    const bool eager = !d->sums && tz_stencil_reads_diagonals(s);
    for (int f = 0; f < s->fields_count; f++) {
        const bool state = s->fields[f].role == TZ_STATE;
        for (int l = 0; l < d->levels; l += state ? 1 : d->group)
            if (!state || l == 0 || rows_pass(d, l)->writes >> f & 1)
                add_ring(d, (rows_ring){.field = f, .level = l},
                         state                      ? d->levels
                         : l + d->group < d->levels ? l + d->group
                                                    : d->levels,
                         state && eager);
        if (state && rows_pass(d, d->levels)->writes >> f & 1)
            add_ring(d, (rows_ring){.field = f, .level = d->levels}, d->levels, eager);
    }
    if (d->rings_count > ROWS_RINGS_MAX)
        return false;
    find_ghosts(d);
    d->unroll = plan->unroll > 0 ? plan->unroll : 1;
    /* Of many fields, a long body takes far more registers than the moves that it saves. */
    const int most = d->many ? UNROLL_MANY : UNROLL_MAX;
    for (int u = 2;
         plan->unroll == 0 && u <= most && u * d->levels * d->vector <= TZ_FIT_ROWS_UNROLLED_WORDS;
         u++)
        if (rows_moves(d, u) < rows_moves(d, d->unroll))
            d->unroll = u;
    return true;
}

/* The oldest and the newest row of a ring share registers. */
int rows_registers(const rows_design *d)
{
    int words = TZ_FIT_ROWS_REGISTERS_OTHER;
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        if (!r->read)
            continue;
        words +=
            (r->depth - 1) * (d->vector + 2 * r->halo) * rows_element_words(d->problem, r->field);
    }
    if (d->sums)
        words += d->levels * 2 * d->problem->radius * d->vector * rows_element_words(d->problem, 0);
    return words;
}

static void choose_group(rows_design *d, const tz_problem *problem, const tz_plan *plan,
                         int registers)
{
    design_of(d, problem, plan, ROWS_LEVELS_MAX);
    for (int group = d->levels - 1; group >= 1 && rows_registers(d) > registers; group--) {
        design_of(d, problem, plan, group);
        if (d->group != group)
            break; /* static fields cannot stay in their queue */
    }
}

/* Each group of levels loads a static row from the queue, and keeps it in a register for each
 * column. So groups are as large as registers allow: for three warps a scheduler, or for two if the
 * plan or its rings leave no room for three. */
bool rows_design_make(rows_design *d, const tz_problem *problem, const tz_plan *plan)
{
    if (!design_of(d, problem, plan, ROWS_LEVELS_MAX))
        return false;
    const bool two = plan->blocks > 0 && plan->blocks * rows_warps(plan) <= ROWS_WARPS_TWO;
    choose_group(d, problem, plan, two ? TZ_FIT_ROWS_REGISTERS_TWO : TZ_FIT_ROWS_REGISTERS_STATIC);
    if (!two && d->group < d->levels && rows_registers(d) > TZ_FIT_ROWS_REGISTERS_THREE)
        choose_group(d, problem, plan, TZ_FIT_ROWS_REGISTERS_TWO);
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
    int kept = 0;
    for (int i = 0; !state && i < d->rings_count; i++)
        if (d->problem->stencil->fields[d->rings[i].field].role != TZ_STATE)
            kept = tz_max_int(kept,
                              rows_find_ring(d, d->rings[i].field, 0)->newest - d->rings[i].newest);
    return (d->ahead + kept + d->unroll) / d->unroll * d->unroll;
}

bool rows_is_direct(const tz_problem *problem, const tz_plan *plan)
{
    return plan->height == 1 && plan->ahead == 0 && !problem->bits;
}

int rows_warps(const tz_plan *plan)
{
    return plan->warps > 0 ? plan->warps : ROWS_WARPS;
}

/* If lanes have two packets of each field, ghost zones may end between them. Lanes that swap
 * packets would then store halves of sectors. */
static int ghost_columns(const rows_design *d, int columns, bool side)
{
    int unit = d->packets && !d->swaps && !side ? d->vector / 2 : d->vector;
    for (int f = 0; f < d->problem->stencil->fields_count; f++)
        if (rows_lane_bytes(d, f) != 2 * TZ_CUDA_PACKET_BYTES)
            unit = d->vector;
    return (columns + unit - 1) / unit * unit;
}

int rows_ghost_low(const rows_design *d, bool side)
{
    return ghost_columns(d, d->left, side);
}

int rows_ghost_high(const rows_design *d, bool side)
{
    return ghost_columns(d, d->right, side);
}

int rows_useful(const rows_design *d, bool side)
{
    return 32 * d->vector - rows_ghost_low(d, side) - rows_ghost_high(d, side);
}
