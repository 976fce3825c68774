/* The stream family in 3-D: planes pass through registers (kernels/cuda/planes.cuh).
 *
 * A plan's tile is the part that a block stores: tile[0] columns, tile[1] rows, and a chunk of
 * tile[2] planes. A block holds lanes*vector columns and 32/lanes*warps*R rows, R being the rows of a
 * lane. On each side it loses the height's reach; for columns, the reach is rounded up to a vector. So
 * tile[1] determines R. Planes are fetched `ahead` steps before they are needed. A chunk of 0 is
 * chosen at launch. */
#include "backend/cuda/family/planes/scheme.h"

#include "backend/cuda/family/family.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Plans ----------------------------------------------------------------------------------- */

static const char *planes_refuses(const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        if (problem->stencil->fields[f].role == TZ_STREAMED)
            return "has streamed fields, which planes do not support";
    }
    return NULL;
}

/* `slack`: by how many registers the estimate may exceed those of a thread. */
static bool fits(const planes_scheme *s, const tz_limits *limits, const tz_plan *plan, int slack)
{
    const int blocks = plan->blocks > 0 ? plan->blocks : 1;
    return s->shared_bytes * blocks <= limits->shared_bytes &&
           s->registers <= planes_registers_max(s->warps * blocks) + slack;
}

/* Useful rows of a tile whose lanes have `rows` rows each. Not positive: no tile has them. */
static int64_t useful_rows(const tz_problem *problem, const tz_plan *plan, int rows)
{
    const tz_reach ghost = planes_ghost(problem, 1, plan->height);
    return 32 / planes_lanes_of(plan) * (int64_t)plan->warps * rows - ghost.low[1] - ghost.high[1];
}

static int64_t useful_columns(const tz_problem *problem, const tz_plan *plan, int vector)
{
    const tz_reach ghost = planes_ghost(problem, vector, plan->height);
    return planes_lanes_of(plan) * (int64_t)vector - ghost.low[0] - ghost.high[0];
}

static tz_status check_numbers(const tz_plan *plan, tz_error *error)
{
    for (int d = 0; d < TZ_AXES; d++)
        if (plan->tile[d] < 0 || plan->tile[d] > 1 << 20)
            return tz_error_set(error, TZ_RANGE, "tile", "extent %d is %" PRId64 "; use 1 or more",
                                d + 1, plan->tile[d]);
    if (plan->height < 0 || plan->height > PLANES_STEPS_MAX)
        return tz_error_set(error, TZ_RANGE, "height", "height %d is out of range; 1 to %d",
                            plan->height, PLANES_STEPS_MAX);
    if (plan->vector != 0 && plan->vector != 1 && plan->vector != 2 && plan->vector != 4)
        return tz_error_set(error, TZ_RANGE, "vector", "vector is %d; use 1, 2 or 4", plan->vector);
    if (plan->ahead < 0 || plan->ahead > 8)
        return tz_error_set(error, TZ_RANGE, "ahead", "ahead is %d; use 1 to 8", plan->ahead);
    if (plan->warps < 0 || plan->warps > 32)
        return tz_error_set(error, TZ_RANGE, "warps", "warps is %d; use 1 to 32", plan->warps);
    if (plan->lanes != 0 && plan->lanes != 16 && plan->lanes != 32)
        return tz_error_set(error, TZ_RANGE, "lanes", "lanes is %d; use 16 or 32", plan->lanes);
    if (plan->blocks < 0 || plan->blocks > 16)
        return tz_error_set(error, TZ_RANGE, "blocks", "blocks is %d; use 1 to 16", plan->blocks);
    return TZ_OK;
}

enum { ROWS_MAX = 8 };

/* Tiles of so many lanes a row that cover a plane of the grid; 0: no tile is large enough. */
static int64_t count_tiles(const tz_problem *problem, const tz_plan *plan, int lanes, int rows)
{
    tz_plan trial = *plan;
    trial.lanes = lanes;
    const int64_t columns = useful_columns(problem, &trial, trial.vector);
    const int64_t high = useful_rows(problem, &trial, rows);
    return columns < 1 || high < 1 ? 0
                                   : (problem->elements[0] + columns - 1) / columns *
                                         ((problem->elements[1] + high - 1) / high);
}

/* Lanes of a row, by which fewer tiles cover the grid. Tiles of fewer columns than 64 are not worth it. */
static int choose_lanes(const tz_problem *problem, const tz_plan *given, const tz_plan *plan,
                        int rows)
{
    if (given->lanes > 0 || given->tile[0] > 0 || given->tile[1] > 0 || problem->bits ||
        plan->vector < 4 || planes_is_wide(problem))
        return planes_lanes_of(given);
    const int64_t square = count_tiles(problem, plan, 16, rows);
    const int64_t wide = count_tiles(problem, plan, 32, rows);
    return square > 0 && (wide == 0 || square < wide) ? 16 : 32;
}

/* Completes a plan that has a height. The requested columns, or else those of the grid, give the
 * vector; the requested rows, or else `rows`, give the rows of a lane. False: no tile is large enough. */
static bool complete(const tz_problem *problem, const tz_plan *given, int rows, tz_plan *plan)
{
    int64_t columns = given->tile[0] ? given->tile[0] : problem->elements[0];
    const int words =
        (planes_is_wide(problem) ? 2 : 1) * (problem->stencil->fields_count > 1 ? 2 : 1);
    if (plan->vector == 0) {
        plan->vector = 1;
        while (plan->vector < 4 && useful_columns(problem, plan, plan->vector) < columns)
            plan->vector *= 2;
        /* More than 16 bytes of all fields only if necessary. */
        while (plan->vector * words > 4 && given->tile[0] == 0 &&
               useful_columns(problem, plan, plan->vector / 2) > 0)
            plan->vector /= 2;
    }
    const int64_t high = given->tile[1] ? given->tile[1] : 1;
    if (given->tile[1] > 0)
        rows = 1;
    else if (problem->bits)
        rows = plan->vector == 1 ? 4 : 2;
    plan->lanes = choose_lanes(problem, given, plan, rows);
    columns = useful_columns(problem, plan, plan->vector);
    while (rows < ROWS_MAX && useful_rows(problem, plan, rows) < high)
        rows++;
    if (columns < (given->tile[0] ? given->tile[0] : 1) || useful_rows(problem, plan, rows) < high)
        return false;
    plan->tile[0] = columns < problem->elements[0] ? columns : problem->elements[0];
    plan->tile[1] = useful_rows(problem, plan, rows);
    if (plan->tile[1] > problem->elements[1])
        plan->tile[1] = problem->elements[1];
    return true;
}

/* A block to try: its warps, the rows of a lane, by how many registers the estimate may exceed those of a
 * thread, and whether lanes may have fewer columns than is usual for the problem. */
typedef struct block {
    int warps, rows, slack;
    bool narrower;
} block;

enum {
    SPARE =
        -16, /* a slack with which no register is spilt but in code of borders, see spills_at_borders(); */
    BORDERS = 24,  /* with which only code of borders spills; */
    REQUESTED = 64 /* with more spills, for a plan that was requested */
};

/* Has a block of eight warps too little work? Each scheduler has two of them, and a lane's cells are all that it can
 * compute while it waits. */
static bool is_idle(const planes_scheme *s, block of)
{
    enum { CELLS_MIN = 8 };
    return of.slack == SPARE && s->warps <= 8 && s->vector * s->rows < CELLS_MIN;
}

/* Would code of borders spill many registers of a block that has none to spare otherwise? Where the grid's edge runs between
 * two rows of a lane, that code also reads the lane's own rows from shared memory. From: NVRTC's allocation of the
 * 3-D stencils of the plugins. */
static bool spills_at_borders(const tz_problem *problem, const planes_scheme *s, block of)
{
    const int cell = planes_is_wide(problem) ? 4 : 1; /* registers */
    return of.slack == SPARE && planes_straddles(s, problem) &&
           s->registers + s->vector * s->rows * cell > planes_registers_max(s->warps) + SPARE;
}

/* Completes *plan for a height and a block; *spare: planes that its rings have room for. */
static bool possible(const tz_problem *problem, const tz_limits *limits, const tz_plan *given,
                     tz_plan *plan, int height, block of, int *spare)
{
    tz_plan trial = *plan;
    trial.height = height;
    trial.warps = of.warps;
    while (complete(problem, given, of.rows, &trial)) {
        planes_scheme *scheme = planes_scheme_make(problem, limits, &trial);
        const bool good = scheme && fits(scheme, limits, &trial, of.slack) &&
                          !is_idle(scheme, of) &&
                          (given->warps > 0 || !spills_at_borders(problem, scheme, of));
        *spare = good ? planes_spare(scheme) : 0;
        free(scheme);
        if (good)
            *plan = trial;
        if (good || !scheme)
            return good;
        /* Fewer columns, unless they were requested. */
        if (!of.narrower || given->vector > 0 || given->tile[0] > 0 || trial.vector == 1)
            return false;
        const int vector = trial.vector / 2;
        trial = *plan;
        trial.height = height;
        trial.warps = of.warps;
        trial.vector = vector;
    }
    return false;
}

enum { BLOCKS_MAX = 12 };

/* The blocks to try, the best ones first. For a cell, lanes with more rows read and write fewer rows of shared
 * memory: with one field, blocks of fewer warps with such lanes were faster, if they spill no registers.
 * `any`: also blocks whose registers are spilt, and of fewer warps, which many fields need. */
static int list_blocks(const tz_problem *problem, const tz_plan *given, bool any,
                       block blocks[BLOCKS_MAX])
{
    static const block usual[] = {{12, 3, SPARE, false},
                                  {8, 4, SPARE, false},
                                  {PLANES_WARPS, 2, BORDERS, false},
                                  {8, 3, SPARE, false}};
    const bool one = problem->stencil->fields_count == 1 && !problem->bits;
    int count = 0;
    if (given->warps > 0 && one)
        for (int rows = given->warps <= 8 ? 4 : given->warps <= 12 ? 3 : 2; rows > 2; rows--)
            blocks[count++] = (block){given->warps, rows, SPARE, false};
    if (given->warps == 0 && one)
        for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
            blocks[count++] = usual[k];
    for (int warps = given->warps > 0 ? given->warps
                     : problem->bits  ? 12
                                      : PLANES_WARPS;
         ; warps /= 2) {
        blocks[count++] = (block){warps, 2, BORDERS, true};
        if (!any)
            return count;
        blocks[count++] = (block){warps, 2, REQUESTED, true};
        if (given->warps > 0 || warps <= 4)
            return count;
    }
}

/* Completes *plan for a height with the first possible block. */
static bool choose_block(const tz_problem *problem, const tz_limits *limits, const tz_plan *given,
                         tz_plan *plan, int height, bool any, int *spare)
{
    block blocks[BLOCKS_MAX];
    const int count = list_blocks(problem, given, any, blocks);
    for (int k = 0; k < count; k++)
        if (possible(problem, limits, given, plan, height, blocks[k], spare))
            return true;
    return false;
}

/* Memory limits stars. If cells read corners, arithmetic becomes the limit at a lower height. */
static int usual_height(const tz_problem *problem)
{
    const int reach = tz_stencil_reach(problem->stencil);
    bool corners = problem->bits;
    for (int p = 0; p < problem->stencil->passes_count; p++)
        corners = corners || planes_corners(problem, &problem->stencil->passes[p]);
    const int height = (corners ? 2 : 4) / (reach > 0 ? reach : 1);
    return height > 0 ? height : 1;
}

/* Chooses how many planes to fetch ahead: as many as the rings have room for, and at least two, since
 * planes take longer to arrive than a step. But not if fields then no longer fit in shared memory, nor of
 * bits, whose steps are long. */
static void fetch_earlier(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                          int spare)
{
    tz_plan more = *plan;
    more.ahead = 2;
    if (spare == 0 && !problem->bits && planes_keeps_fields(problem, limits, plan, &more)) {
        planes_scheme *s = planes_scheme_make(problem, limits, &more);
        spare = s && fits(s, limits, &more, REQUESTED) ? 1 + planes_spare(s) : 0;
        free(s);
    }
    plan->ahead += spare;
}

static tz_status planes_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                             tz_error *error)
{
    const tz_plan given = *plan;
    int spare = 0;
    tz_status status = check_numbers(plan, error);
    if (status)
        return status;
    if (problem->bits && plan->lanes == 16)
        return tz_error_set(error, TZ_UNSUPPORTED, "lanes",
                            "rows of bits take 32 lanes of a warp: leave 'lanes' out");
    if (plan->ahead == 0)
        plan->ahead = 1;
    if (plan->tile[2] > problem->elements[2])
        plan->tile[2] = problem->elements[2];
    int height = plan->height;
    if (height == 0) {
        height = usual_height(problem);
        while (height > 1 && !choose_block(problem, limits, &given, plan, height, false, &spare))
            height--;
    }
    if (!choose_block(problem, limits, &given, plan, height, true, &spare)) {
        const int warps = given.warps > 0 ? given.warps : problem->bits ? 12 : PLANES_WARPS;
        int lower = height;
        do
            lower--;
        while (lower > 0 && !choose_block(problem, limits, &given, plan, lower, true, &spare));
        if (lower > 0)
            return tz_error_set(error, TZ_RANGE, "height",
                                "planes of this tile at height %d need more registers or shared "
                                "memory than a block of %d warps has: use a height up to %d",
                                height, warps, lower);
        return tz_error_set(error, TZ_RANGE, "tile",
                            "no block of %d warps holds planes of this tile with their ghost zone: "
                            "use a smaller one, fewer warps, or the family 'tile'",
                            warps);
    }
    if (given.ahead == 0)
        fetch_earlier(problem, limits, plan, spare);
    strcpy(plan->family, "stream");
    snprintf(plan->why, sizeof plan->why, "%s height", given.height == 0 ? "default" : "given");
    return TZ_OK;
}

static int planes_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                               const tz_plan *plan)
{
    planes_scheme *s = planes_scheme_make(problem, limits, plan);
    const int bytes = s ? (int)s->shared_bytes : 0;
    free(s);
    return bytes;
}

static tz_status planes_shape(const tz_problem *problem, const tz_limits *limits,
                              const tz_plan *plan, int blocks_each, int64_t length,
                              tz_cuda_shape *shape, tz_error *error)
{
    planes_scheme *s = planes_scheme_make(problem, limits, plan);
    if (!s)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to lay out a kernel");
    const int64_t wide = s->lanes * s->vector - s->ghost.low[0] - s->ghost.high[0];
    const int64_t high = s->groups * s->rows - s->ghost.low[1] - s->ghost.high[1];
    const int64_t tiles_x = (problem->elements[0] + wide - 1) / wide;
    const int64_t tiles_y = (problem->elements[1] + high - 1) / high;
    const int64_t each = blocks_each > 0 ? blocks_each : 1;
    int64_t chunk = plan->tile[2];
    if (chunk == 0)
        chunk = tz_cuda_choose_chunk(length, tiles_x * tiles_y, each * limits->multiprocessors,
                                     s->ghost.low[2] + s->lag, s->group);
    if (chunk > length)
        chunk = length;
    const int64_t blocks = tiles_x * tiles_y * ((length + chunk - 1) / chunk);
    *shape = (tz_cuda_shape){
        .grid = {(int)blocks, 1, 1},
        .threads = 32 * s->warps,
        .shared_bytes = (int)s->shared_bytes,
        .geometry = {(int)chunk, (int)tiles_x, (int)tiles_y},
    };
    free(s);
    if (blocks > INT32_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "%" PRId64 " tiles and chunks are more than a GPU takes: use larger "
                            "ones",
                            blocks);
    return TZ_OK;
}

const tz_cuda_family tz_cuda_family_planes = {
    .name = "stream",
    .doc = "planes stream through registers, rows through shared memory",
    .exact = true,
    .refuses = planes_refuses,
    .plan = planes_plan,
    .emit = planes_text_emit,
    .shared_bytes = planes_shared_bytes,
    .shape = planes_shape,
    .planner = &planes_planner,
};
