/* The stream family in two dimensions (kernels/cuda/rows.cuh): strips of a warp's width stream down
 * the rows of a chunk, all levels in registers.
 *
 * plan.tile: useful columns of a strip (follows from height and vector) and rows of a chunk (0: as
 * many as fill the GPU evenly). plan.vector: columns of a lane. plan.ahead: rows loaded before they
 * are needed. */
#include "backend/cuda/family/rows/design.h"
#include "model/constants.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    REGISTERS = 255,          /* of a thread */
    ROW_BYTES = 3 << 10,      /* sixteen warps with four such rows each fit a multiprocessor */
    ROW_BYTES_MANY = 1 << 10, /* twelve warps with twelve such rows each fit */
    AHEAD_MANY = 6,
    WARPS_THREE = 12, /* of a multiprocessor: three of a scheduler */
    CHUNK_MAX = 1 << 20
};

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

/* ---- Defaults, best on an H200 (docs/log/performance.md) ------------------------------------ */

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
    /* Only stencils of one real field or of rows of bits were measured. Others get a lower
     * limit. */
    const tz_stencil *stencil = problem->stencil;
    const bool known = stencil->passes_count == 1 &&
                       (stencil->passes[0].writes & (stencil->passes[0].writes - 1)) == 0 &&
                       (problem->bits || tz_type_is_real(stencil->fields[0].type));
    const int most = d.many       ? TZ_FIT_ROWS_REGISTERS_THREE
                     : !known     ? TZ_FIT_ROWS_REGISTERS_FEW - 10
                     : !two_warps ? TZ_FIT_ROWS_REGISTERS_THREE
                     : d.sums     ? TZ_FIT_ROWS_REGISTERS_SUMS_TWO
                                  : TZ_FIT_ROWS_REGISTERS_TWO;
    while (tried.height > 1 && (fits(problem, &tried) != FITS || estimate(problem, &tried) > most))
        tried.height--;
    return tried.height > 1 ? tried.height : 1;
}

/* Columns of all strips of a row, including their ghost zones. */
static int64_t covered(const tz_problem *problem, const tz_plan *plan)
{
    rows_design d;
    if (fits(problem, plan) != FITS || !rows_design_make(&d, problem, plan) ||
        rows_registers(&d) > TZ_FIT_ROWS_REGISTERS_THREE)
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
        return fits_with(problem, &four)  ? 4
               : fits_with(problem, &two) ? 2
                                          : tz_cuda_vector_least(problem);
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
    return bytes + (d.sums
                        ? 32 * d.vector * (int)tz_problem_computed_type(problem, 0)->size * d.levels
                        : 0);
}

static int rows_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan)
{
    (void)limits;
    return warp_bytes(problem, plan) * rows_warps(plan);
}

/* Memory answers after several steps of a warp. So six rows are loaded ahead, if shared memory then
 * has room for three warps a scheduler; if not, three. Rows of bits, which wait for the unit of
 * logic, have three. Rows of many fields are so long that fewer are enough. */
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
    if (plan->vector < tz_cuda_vector_least(problem))
        return tz_error_set(error, TZ_RANGE, "vector",
                            "'vector' is %d: lanes move 4 bytes at least, two halves",
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
    const int warps = needed > TZ_FIT_ROWS_REGISTERS_SMALL ? 12 : 16;
    if (plan->blocks == 0 && simple && needed > TZ_FIT_ROWS_REGISTERS_FEW - 5 &&
        needed <= TZ_FIT_ROWS_REGISTERS_THREE &&
        (warps == 12 || needed <= TZ_FIT_ROWS_REGISTERS_FEW))
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
    /* The first column that the next strip has as its own, and the last one that a strip between
     * may begin with. */
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
    if (plan->tile[1] == 0 && d.direct && chunk > TZ_FIT_ROWS_DIRECT_CHUNK)
        chunk = TZ_FIT_ROWS_DIRECT_CHUNK;
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

/* ---- The device text ------------------------------------------------------------------------ */

static const char *name_of(const rows_design *d, int field)
{
    return tz_text_field(d->problem->stencil, field);
}

static const char *type_of(const rows_design *d, int field)
{
    return tz_type_keyword(d->problem->stencil->fields[field].type);
}

static const char *role_of(const rows_design *d, int field)
{
    return tz_role_name(d->problem->stencil->fields[field].role);
}

/* The last level that writes a field; 0: none. */
static int last_level(const rows_design *d, int field)
{
    return rows_version_before(d, field, d->levels + 1);
}

/* Columns to each side in the window that a cell update reads. */
static int rows_columns(const rows_reads *reads)
{
    return reads->left > reads->right ? reads->left : reads->right;
}

static void emit_rings(tz_cuda_text *t, const rows_design *d)
{
    const tz_stencil *s = d->problem->stencil;
    tz_cuda_emit(t, "#define TZ_RING_LIST(D)");
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        tz_cuda_emit(t, " \\\n    D(%s, %s, %d, %d, %d)", name_of(d, r->field),
                     type_of(d, r->field), r->level, r->depth, r->halo);
    }
    tz_cuda_emit(t, "\n#define TZ_SUM_TYPE %s\n#define TZ_SUM_LIST(D)", type_of(d, 0));
    for (int l = 1; d->sums && l <= d->levels; l++)
        tz_cuda_emit(t, " \\\n    D(%d, %d)", l, 2 * d->problem->radius);
    tz_cuda_emit(t, "\n#define TZ_ONCE_LIST(D)");
    for (int l = 1; l <= d->levels; l++)
        if (rows_once_made(d, l) == l)
            tz_cuda_emit(t, " \\\n    D(%d, %s, %d, %d)", (l - 1) % s->passes_count,
                         rows_pass(d, l)->text_cell, l, rows_once_depth(d, l));
    tz_cuda_emit(t, "\n");
}

static void emit_queues(tz_cuda_text *t, const rows_design *d)
{
    tz_cuda_emit(t, "#define TZ_QUEUE_LIST(D)");
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        const bool state = d->problem->stencil->fields[f].role == TZ_STATE;
        tz_cuda_emit(t, " \\\n    D(%s, %s, %s, %d, %d)", role_of(d, f), name_of(d, f),
                     type_of(d, f), f, rows_queue(d, state));
    }
    tz_cuda_emit(t, "\n");
}

/* Moves a row of a loaded field from its queue into a ring. Later groups take rows that have waited
 * in the queue. */
static void emit_take(tz_cuda_text *t, const rows_design *d, const char *entry, const rows_ring *r)
{
    const int back = rows_find_ring(d, r->field, 0)->newest - r->newest;
    tz_cuda_emit(t, " \\\n    %s(%s, %s, %s, %d, %d, %d, %d)", entry, role_of(d, r->field),
                 name_of(d, r->field), type_of(d, r->field), r->field, r->level, r->newest,
                 back > 0 ? rows_queue(d, false) - back : 0);
}

static void emit_reads(tz_cuda_text *t, const rows_design *d, int level)
{
    const tz_stencil *s = d->problem->stencil;
    tz_cuda_emit(t, "#define TZ_READS_%d(TAKE, WINDOW)", level);
    for (int f = 0; f < s->fields_count; f++) {
        const tz_field *field = &s->fields[f];
        const bool state = field->role == TZ_STATE;
        const rows_ring *taken = rows_find_ring(d, f, level - 1);
        const rows_ring *r = rows_find_ring(
            d, f, state ? rows_version_before(d, f, level) : rows_group_start(d, level) - 1);
        const rows_reads *reads = rows_reads_of(d, level, f);
        if (!state && level > 1 && taken)
            emit_take(t, d, "TAKE", taken);
        tz_cuda_emit(t, " \\\n    WINDOW(%s, %s, %d, %d, %d, %d)", name_of(d, f), type_of(d, f),
                     r->level, r->depth - 1 - (r->newest + d->lag[level]) - reads->before,
                     reads->before + reads->after + 1, rows_columns(reads));
    }
    tz_cuda_emit(t, "\n");
}

/* The list for updates that are sums over rows. They have one field. */
static void emit_adds(tz_cuda_text *t, const rows_design *d, int level)
{
    const tz_pass *pass = rows_pass(d, level);
    const rows_ring *r = rows_find_ring(d, 0, level - 1);
    tz_cuda_emit(t, "#define TZ_ADDS_%d(D) D(%d, %s, %s, %d, %d, %d, %s)\n", level, level,
                 name_of(d, 0), type_of(d, 0), level - 1,
                 r->depth - 1 - (r->newest + d->lag[level] - pass->radius), pass->radius,
                 pass->text_cell);
}

static void emit_makes(tz_cuda_text *t, const rows_design *d, int level)
{
    tz_cuda_emit(t, "#define TZ_MAKES_%d(D)", level);
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        const rows_ring *r = rows_find_ring(d, f, level);
        const bool last = last_level(d, f) == level;
        if (rows_pass(d, level)->writes >> f & 1)
            tz_cuda_emit(t, " \\\n    D(%d, %s, %s, %d, %d, %d, %d)", level, name_of(d, f),
                         type_of(d, f), f, r->radius, last, r->read);
    }
    tz_cuda_emit(t, "\n");
}

static void emit_levels(tz_cuda_text *t, const rows_design *d)
{
    const int passes = d->problem->stencil->passes_count;
    tz_cuda_emit(t, "#define TZ_LEVEL_LIST(D)");
    for (int l = 1; l <= d->levels; l++) {
        const int made = rows_once_made(d, l), rows = rows_once_depth(d, made);
        tz_cuda_emit(t, " \\\n    D(%d, %d, %s, %d, %d, %d, %d, %d, %d)", l, (l - 1) % passes,
                     rows_pass(d, l)->text_cell, (l - 1) / passes, d->lag[l], l == made, made,
                     rows - 1, rows - 1 - (d->lag[l] - d->lag[made]));
    }
    tz_cuda_emit(t, "\n#define TZ_TAKE_LIST(D)");
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].level == 0)
            emit_take(t, d, "D", &d->rings[i]);
    tz_cuda_emit(t, "\n");
    for (int l = 1; l <= d->levels; l++) {
        if (d->sums)
            emit_adds(t, d, l);
        else
            emit_reads(t, d, l);
        emit_makes(t, d, l);
    }
}

static void emit_numbers(tz_cuda_text *t, const rows_design *d, const tz_plan *plan)
{
    const bool wraps = tz_boundary_wraps(d->problem->boundary[1][0]);
    int radius = 0, newest = 0, oldest = 0;
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        radius = r->radius > radius ? r->radius : radius;
        newest = r->level == 0 && r->newest > newest ? r->newest : newest;
        oldest = r->level == 0 && r->newest < oldest ? r->newest : oldest;
    }
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"V", d->vector},
        {"GHOST_LOW", rows_ghost_low(d, false)},
        {"GHOST_HIGH", rows_ghost_high(d, false)},
        {"SIDE_LOW", rows_ghost_low(d, true)},
        {"SIDE_HIGH", rows_ghost_high(d, true)},
        {"STEPS", d->unroll},
        {"WARPS", rows_warps(plan)},
        {"BLOCKS", plan->blocks},
        {"AHEAD", d->ahead},
        {"DIRECT", d->direct},
        {"QUEUE", rows_queue(d, true)},
        {"QUEUE_KEPT", rows_queue(d, false)},
        {"SIMPLE_ENDS", d->edges},
        {"END_STRIPS", rows_has_sides(d)},
        {"END_COLUMNS", rows_end_columns(d->problem, d->vector)},
        {"SUMS", d->sums},
        {"PACKETS", d->packets},
        {"SWAP", d->swaps},
        {"LEVELS", d->levels},
        {"GROUP", d->group},
        {"LAG", d->reach},
        {"WARM_UP", d->warm_up},
        {"FIRST_ROW", d->first_row},
        {"TOP_ROWS", wraps ? -oldest : d->reach + radius + 1 - oldest},
        {"BOTTOM_ROWS", d->unroll - 1 + newest + d->ahead},
    };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        tz_cuda_emit(t, "#define TZ_%s %d\n", numbers[k].name, numbers[k].value);
}

static void rows_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                           const tz_plan *plan)
{
    (void)limits;
    rows_design d;
    rows_design_make(&d, problem, plan);
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_points(t, problem);
    tz_cuda_emit_lists(t, problem);
    emit_numbers(t, &d, plan);
    emit_rings(t, &d);
    emit_queues(t, &d);
    emit_levels(t, &d);
    tz_cuda_emit(t, "#include \"rows.cuh\"\n");
    for (int p = 0; p < problem->stencil->passes_count; p++) {
        for (int f = 0; f < tz_stencil_fields_all(problem->stencil); f++) {
            static const rows_reads none = {0};
            const char *name = tz_text_field(problem->stencil, f);
            const rows_reads *reads =
                f < problem->stencil->fields_count ? &d.reads[p][f] : &none; /* or derived */
            tz_cuda_emit(t,
                         "#undef TZ__ROWS_%s\n#define TZ__ROWS_%s %d\n"
                         "#undef TZ__COLUMNS_%s\n#define TZ__COLUMNS_%s %d\n",
                         name, name, reads->before, name, name, rows_columns(reads));
        }
        tz_cuda_emit_pass(t, problem, p);
    }
    tz_cuda_emit(t, "#include \"rows_kernel.cuh\"\n");
}

const tz_cuda_family tz_cuda_family_rows = {
    .name = "stream",
    .doc = "strips of a warp's width stream down the rows, all iterations in registers",
    .exact = true,
    .points = true,
    .stored = true,
    .dims_low = 2,
    .dims_high = 2,
    .own = {"unroll", "swap"},
    .no_streamed = "has streamed fields, which rows do not support",
    .plan = rows_plan,
    .emit = rows_text_emit,
    .warps = ROWS_WARPS,
    .shared_bytes = rows_shared_bytes,
    .shape = rows_shape,
    .planner = &rows_planner,
};
