/* The stream family in two dimensions (kernels/cuda/rows.cuh): strips of a warp's width stream down
 * the rows of a chunk, all levels in registers.
 *
 * plan.tile: useful columns of a strip (follows from height and vector) and rows of a chunk (0: as
 * many as fill the GPU evenly). plan.vector: columns of a lane. plan.ahead: rows loaded before they
 * are needed. */
#include "backend/cuda/family/rows/design.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    REGISTERS = 255,          /* of a thread */
    REGISTERS_FEW = 110,      /* as estimated: four warps a scheduler, 128 as compiled */
    REGISTERS_SMALL = 115,    /* the compiler needs no limit */
    REGISTERS_SUMS_TWO = 175, /* where rows are summed */
    ROW_BYTES = 3 << 10,      /* sixteen warps with four such rows each fit a multiprocessor */
    ROW_BYTES_MANY = 1 << 10, /* twelve warps with twelve such rows each fit */
    AHEAD_MANY = 6,
    WARPS_THREE = 12, /* of a multiprocessor: three of a scheduler */
    CHUNK_MAX = 1 << 20,
    DIRECT_CHUNK = 16 /* rows; of 8 to 128 the fastest on an H200 */
};

static const char *rows_refuses(const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STREAMED)
            return "has streamed fields, which rows do not support";
    return NULL;
}

/* Does a plan fit? If not, which limit does it exceed? */
enum { FITS, TOO_MANY_REGISTERS, TOO_NARROW };
static int fits(const tz_problem *problem, const tz_plan *plan)
{
    rows_design d;
    if (!rows_design_make(&d, problem, plan))
        return TOO_MANY_REGISTERS;
    if (rows_useful(&d, true) < d.vector)
        return TOO_NARROW;
    return rows_registers(&d) > REGISTERS ? TOO_MANY_REGISTERS : FITS;
}

static int estimate(const tz_problem *problem, const tz_plan *plan)
{
    rows_design d;
    return rows_design_make(&d, problem, plan) ? rows_registers(&d) : INT_MAX;
}

/* ---- Defaults: what measured best on an H200 (docs/performance.md) --------------------------- */

bool rows_is_wide(const tz_problem *problem)
{
    return tz_problem_real(problem)->size > sizeof(float) && tz_stencil_has_real(problem->stencil);
}

/* The largest height that leaves registers for three warps a scheduler, or less if four warps are
 * faster. */
static int default_height(const tz_problem *problem, const tz_plan *plan)
{
    const bool two_warps = rows_is_wide(problem) && plan->vector >= 4;
    tz_plan tried = *plan;
    rows_design d;
    tried.height = 1;
    rows_design_make(&d, problem, &tried);
    const int reach = d.reach > 0 ? d.reach : 1;
    tried.height = (two_warps                            ? 10
                    : problem->bits                      ? 4
                    : d.sums                             ? (reach == 1 ? 6 : 8)
                    : problem->stencil->fields_count > 1 ? (rows_is_wide(problem) ? 6 : 8)
                    : rows_is_wide(problem)              ? (reach == 1 ? 8 : 10)
                                                         : 12) /
                   reach;
    /* Only stencils of one real field or of rows of bits were measured. Others get a lower limit. */
    const tz_stencil *stencil = problem->stencil;
    const bool known = stencil->passes_count == 1 &&
                       (stencil->passes[0].writes & (stencil->passes[0].writes - 1)) == 0 &&
                       (problem->bits || tz_type_is_real(stencil->fields[0].type));
    const int most = d.many       ? ROWS_REGISTERS_THREE
                     : !known     ? REGISTERS_FEW - 10
                     : !two_warps ? ROWS_REGISTERS_THREE
                     : d.sums     ? REGISTERS_SUMS_TWO
                                  : ROWS_REGISTERS_TWO;
    while (tried.height > 1 && (fits(problem, &tried) != FITS || estimate(problem, &tried) > most))
        tried.height--;
    return tried.height > 1 ? tried.height : 1;
}

/* Columns of all strips of a row, including their ghost zones. */
static int64_t covered(const tz_problem *problem, const tz_plan *plan)
{
    rows_design d;
    if (fits(problem, plan) != FITS || !rows_design_make(&d, problem, plan) ||
        rows_registers(&d) > ROWS_REGISTERS_THREE)
        return INT64_MAX;
    const int64_t width = 32 * (int64_t)plan->vector, useful = rows_useful(&d, false);
    return (problem->elements[0] + useful - 1) / useful * width;
}

/* Does the plan fit, at height 1 if it has none? */
static bool fits_with(const tz_problem *problem, const tz_plan *plan)
{
    tz_plan tried = *plan;
    tried.height = plan->height > 0 ? plan->height : 1;
    return fits(problem, &tried) == FITS;
}

/* Four columns, since these are 16 bytes of most fields. Rows of bits take eight if their strips
 * then cover the row with no more columns. Double precision takes two, or four if lanes exchange
 * many neighbours. */
static int default_vector(const tz_problem *problem, const tz_plan *plan)
{
    tz_plan two = *plan, four = *plan, eight = *plan;
    two.vector = 2;
    four.vector = 4;
    eight.vector = 8;
    two.ahead = four.ahead = eight.ahead = plan->ahead > 0 ? plan->ahead : 3;
    if (rows_is_wide(problem))
        return problem->radius == 2 && problem->stencil->fields_count == 1 &&
                       problem->stencil->passes_count == 1 && plan->height != 1 &&
                       (plan->height == 0 || fits(problem, &four) == FITS)
                   ? 4
               : fits_with(problem, &two) ? 2
                                          : 1;
    if (!problem->bits)
        return fits_with(problem, &four) ? 4 : fits_with(problem, &two) ? 2 : 1;
    if (plan->height == 0)
        four.height = eight.height = default_height(problem, &four);
    return covered(problem, &eight) < INT64_MAX &&
                   covered(problem, &eight) <= covered(problem, &four)
               ? 8
               : 4;
}

static int warp_bytes(const tz_problem *problem, const tz_plan *plan)
{
    rows_design d;
    int bytes = 0;
    rows_design_make(&d, problem, plan);
    for (int f = 0; f < problem->stencil->fields_count && !d.direct; f++) {
        const int lane = rows_lane_bytes(&d, f);
        bytes += 32 * lane * rows_queue(&d, problem->stencil->fields[f].role == TZ_STATE) +
                 (lane >= TZ_CUDA_PACKET_BYTES ? TZ_CUDA_SECTOR_BYTES
                                               : 0); /* tz_queue_room() of rows.cuh */
    }
    return bytes + (d.sums ? 32 * rows_lane_bytes(&d, 0) * d.levels : 0);
}

static int rows_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan)
{
    (void)limits;
    return warp_bytes(problem, plan) * rows_warps(plan);
}

/* Memory answers after several steps of a warp. So six rows are loaded ahead, if shared memory then has room for
 * three warps a scheduler; if not, three. Rows of bits, which wait for the unit of logic, have three. Rows of
 * many fields are so long that fewer are enough. */
static int default_ahead(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan)
{
    int bytes = 0; /* of a row of a strip */
    for (int f = 0; f < problem->stencil->fields_count; f++)
        bytes += (int)tz_problem_element_size(problem, f) * 32 * plan->vector;
    tz_plan six = *plan;
    six.ahead = AHEAD_MANY;
    six.height = plan->height > 0 ? plan->height : 1;
    if (!problem->bits && bytes <= ROW_BYTES_MANY &&
        WARPS_THREE * warp_bytes(problem, &six) <= limits->shared_bytes)
        return AHEAD_MANY;
    return bytes <= ROW_BYTES ? 3 : bytes <= 2 * ROW_BYTES ? 2 : 1;
}

static tz_status rows_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                           tz_error *error)
{
    const tz_stencil *s = problem->stencil;
    const tz_plan given = *plan;
    if (plan->height < 0)
        return tz_error_set(error, TZ_RANGE, "height", "height %d is out of range; use 1 or more",
                            plan->height);
    if (plan->vector == 0)
        plan->vector = default_vector(problem, plan);
    if (plan->vector != 1 && plan->vector != 2 && plan->vector != 4 && plan->vector != 8)
        return tz_error_set(error, TZ_RANGE, "vector", "'vector' is 1, 2, 4 or 8, not %d",
                            plan->vector);
    const int ahead = plan->ahead;
    plan->ahead = ahead > 0 ? ahead : default_ahead(problem, limits, plan);
    if (plan->height == 0)
        plan->height = default_height(problem, plan);
    if (ahead == 0)
        plan->ahead = default_ahead(problem, limits, plan);
    /* Sums of many rows gain less than the rows that short chunks load twice. */
    const bool many_sums = rows_is_sum(s) && problem->radius > 1;
    if (ahead == 0 && plan->height == 1 && !problem->bits && !many_sums)
        plan->ahead = 0; /* rows_is_direct() */
    const int why = fits(problem, plan);
    if (why != FITS) {
        tz_plan lower = *plan;
        while (lower.height > 0 && fits(problem, &lower) != FITS)
            lower.height = lower.height > ROWS_LEVELS_MAX ? ROWS_LEVELS_MAX : lower.height - 1;
        if (lower.height == 0)
            return tz_error_set(error, TZ_RANGE, "vector",
                                "%s at any height with %d columns a lane: use family \"tile\"",
                                why == TOO_NARROW ? "the ghost zone fills the strip"
                                                  : "the rows need more registers than there are",
                                plan->vector);
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d %s: use a height up to %d, or family \"tile\"", plan->height,
                            why == TOO_NARROW ? "has a ghost zone that fills the strip"
                                              : "needs more registers than there are",
                            lower.height);
    }
    rows_design d;
    rows_design_make(&d, problem, plan);
    if (plan->swap > 0 && !d.packets)
        return tz_error_set(error, TZ_UNSUPPORTED, "swap",
                            "lanes of this plan have no two packets of 16 bytes of a row that they "
                            "could swap: leave 'swap' out");
    const int useful = rows_useful(&d, false);
    if (given.tile[0] != 0 && given.tile[0] != useful)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "strips of height %d and %d columns a lane are %d wide, not %" PRId64
                            ": leave the tile's x out (0) or choose another 'vector'",
                            plan->height, d.vector, useful, given.tile[0]);
    plan->tile[0] = useful;
    const int needed = rows_registers(&d);
    /* With one field and one pass, the estimate is good enough to request blocks without spills. */
    const bool simple = s->passes_count == 1 && problem->radius <= 2 &&
                        (s->passes[0].writes & (s->passes[0].writes - 1)) == 0;
    const int warps = needed > REGISTERS_SMALL ? 12 : 16;
    if (plan->blocks == 0 && simple && needed > REGISTERS_FEW - 5 &&
        needed <= ROWS_REGISTERS_THREE && (warps == 12 || needed <= REGISTERS_FEW))
        plan->blocks = warps / rows_warps(plan) > 0 ? warps / rows_warps(plan) : 1;
    if (plan->tile[1] < 0 || plan->tile[1] > CHUNK_MAX)
        return tz_error_set(error, TZ_RANGE, "tile", "a chunk has 1 to %d rows, not %" PRId64,
                            CHUNK_MAX, plan->tile[1]);
    if (rows_shared_bytes(problem, limits, plan) > limits->shared_bytes)
        return tz_error_set(error, TZ_RANGE, "warps",
                            "blocks of %d warps need %d bytes of shared memory, of %d: use fewer "
                            "'warps' or rows 'ahead'",
                            rows_warps(plan), rows_shared_bytes(problem, limits, plan),
                            limits->shared_bytes);
    plan->tile[2] = 1;
    strcpy(plan->family, "stream");
    snprintf(plan->why, sizeof plan->why, "%s height", given.height ? "given" : "default");
    return TZ_OK;
}

/* Border strips have shorter chunks if their rows take much longer. */
static int64_t border_chunk_of(const rows_design *d, int64_t chunk)
{
    const int64_t shorter = d->edges ? chunk : chunk / 4;
    return shorter > 0 ? shorter : 1;
}

static int64_t count_items(const rows_design *d, int64_t rows, int64_t inner, int64_t border,
                           int64_t chunk)
{
    const int64_t short_chunk = border_chunk_of(d, chunk);
    return border * ((rows + short_chunk - 1) / short_chunk) + inner * ((rows + chunk - 1) / chunk);
}

/* The number of rows of a chunk that gives the slowest warp the fewest steps. Each chunk adds its
 * warm-up steps. */
static int64_t choose_chunk(const rows_design *d, int64_t rows, int64_t inner, int64_t border,
                            int64_t warm_up, int64_t slots)
{
    int64_t best = rows, best_cost = INT64_MAX;
    for (int64_t parts = 1; parts <= rows && parts <= 4096; parts++) {
        const int64_t chunk = (rows + parts - 1) / parts;
        const int64_t waves = (count_items(d, rows, inner, border, chunk) + slots - 1) / slots;
        const int64_t cost = waves * (chunk + warm_up);
        if (cost < best_cost) {
            best_cost = cost;
            best = chunk;
        }
    }
    return best;
}

/* Strips at the low end of a row, between its ends, and at its high end. */
static void count_strips(const rows_design *d, int64_t *left, int64_t *inner, int64_t *right)
{
    const tz_problem *problem = d->problem;
    const bool sides = rows_has_sides(d);
    const int64_t nx = problem->elements[0], low = rows_ghost_low(d, false);
    const int64_t useful = rows_useful(d, false), useful_side = rows_useful(d, true);
    /* Words with bits past the row's end also belong to the border. */
    const int64_t end =
        problem->bits && problem->extent[0] - 31 * nx < nx ? problem->extent[0] - 31 * nx : nx;
    const int64_t most = (nx + useful_side - 1) / useful_side;
    *left = sides ? (low + useful_side - 1) / useful_side : 0;
    *left = *left < most ? *left : most;
    /* The first column that the next strip has as its own, and the last one that a strip between may begin with. */
    const int64_t at = *left * useful_side, last = sides ? end - 32 * d->vector + low : nx - 1;
    *inner = at <= last ? (last - at) / useful + 1 : 0;
    const int64_t rest = nx - at - *inner * useful;
    *right = rest > 0 ? (rest + useful_side - 1) / useful_side : 0;
}

static tz_status rows_shape(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                            int blocks_each, int64_t length, tz_cuda_shape *shape, tz_error *error)
{
    (void)error;
    rows_design d;
    rows_design_make(&d, problem, plan);
    int64_t left, inner, right;
    count_strips(&d, &left, &inner, &right);
    const int64_t strips = left + inner + right;
    const int64_t slots =
        (int64_t)limits->multiprocessors * (blocks_each > 0 ? blocks_each : 8) * rows_warps(plan);
    const int64_t warm_up = d.reach + d.warm_up;
    int64_t chunk = plan->tile[1];
    if (chunk == 0)
        chunk = choose_chunk(&d, length, inner, left + right, warm_up, slots);
    if (plan->tile[1] == 0 && d.direct && chunk > DIRECT_CHUNK)
        chunk = DIRECT_CHUNK;
    const int64_t border_chunk = border_chunk_of(&d, chunk);
    const int64_t items = count_items(&d, length, inner, left + right, chunk);
    const int64_t blocks = (items + rows_warps(plan) - 1) / rows_warps(plan);
    *shape = (tz_cuda_shape){
        .grid = {(int)blocks, 1, 1},
        .threads = 32 * rows_warps(plan),
        .shared_bytes = rows_shared_bytes(problem, limits, plan),
        .geometry = {(int)strips, (int)left, (int)right, (int)chunk, (int)border_chunk},
    };
    return TZ_OK;
}

const tz_cuda_family tz_cuda_family_rows = {
    .name = "stream",
    .doc = "strips of a warp's width stream down the rows, all iterations in registers",
    .exact = true,
    .refuses = rows_refuses,
    .plan = rows_plan,
    .emit = rows_text_emit,
    .warps = ROWS_WARPS,
    .shared_bytes = rows_shared_bytes,
    .shape = rows_shape,
    .planner = &rows_planner,
};
