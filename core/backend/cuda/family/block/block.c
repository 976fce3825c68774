/* The block family: a thread for each cell of a plane's tile, which marches along the last axis
 * (kernels/cuda/block.cuh).
 *
 * A plan's tile is the block's shape, tile[0] x tile[1] threads, and in 3-D a chunk of tile[2] planes.
 * A chunk of 0 is chosen at launch, as are those of 1-D and 2-D. Planes are loaded `ahead` steps before
 * they are needed. */
#include "backend/cuda/family/block/design.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { THREADS_MIN = 32, THREADS_MAX = 1024, WIDTH = 32, PLANES_MAX = 1 << 20, AHEAD_MAX = 4 };

static const char *block_refuses(const tz_problem *problem)
{
    if (problem->bits)
        return "has bits, 32 cells in a word, and a thread of a block computes one cell";
    if (problem->stencil->passes_count > 1)
        return "has several passes, and a launch of blocks computes one";
    if (tz_cuda_pitch(problem) * problem->elements[1] > INT32_MAX)
        return "has planes of more than 2^31 cells on this grid, which blocks do not count";
    return NULL;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static tz_status check_numbers(const tz_problem *problem, const tz_plan *plan, tz_error *error)
{
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (plan->tile[axis] < 0 || plan->tile[axis] > PLANES_MAX)
            return tz_error_set(error, TZ_RANGE, "tile", "extent %d is %" PRId64 "; use 1 or more",
                                axis + 1, plan->tile[axis]);
    if (plan->height < 0 || plan->height > 1)
        return tz_error_set(error, TZ_RANGE, "height",
                            "a launch of blocks computes one iteration: use height 1, not %d",
                            plan->height);
    if (plan->vector)
        return tz_error_set(error, TZ_UNSUPPORTED, "plan", "blocks take no 'vector'");
    if (plan->ahead < 0 || plan->ahead > (problem->dims == 3 ? AHEAD_MAX : 1))
        return tz_error_set(error, TZ_RANGE, "ahead", "ahead is %d; use 1%s", plan->ahead,
                            problem->dims == 3 ? " to 4" : "");
    if (plan->blocks < 0 || plan->blocks > 32)
        return tz_error_set(error, TZ_RANGE, "blocks", "blocks is %d; use 1 to 32", plan->blocks);
    return TZ_OK;
}

/* Chooses the sides of the block that are not given. Large tiles have less halo: more rows, where cells
 * read far along y. */
static void choose_shape(const tz_problem *problem, tz_plan *plan)
{
    block_design d;
    tz_plan trial = *plan;
    const int threads = plan->warps > 0 ? 32 * plan->warps : 0;
    trial.tile[0] = trial.tile[1] = 1;
    block_design_make(&d, problem, &trial);
    const int wanted = threads > 0 ? threads : d.low[1] + d.high[1] >= 6 ? 512 : 256;
    if (problem->dims == 1)
        plan->tile[1] = 1;
    if (plan->tile[0] == 0) {
        const int64_t width = plan->tile[1] ? wanted / plan->tile[1] / WIDTH * WIDTH : WIDTH;
        plan->tile[0] = width > WIDTH ? width : WIDTH;
    }
    if (plan->tile[1] == 0)
        plan->tile[1] = wanted > plan->tile[0] ? wanted / plan->tile[0] : 1;
}

static tz_status block_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                            tz_error *error)
{
    const tz_plan given = *plan;
    block_design d;
    const tz_status status = check_numbers(problem, plan, error);
    if (status)
        return status;
    plan->height = 1;
    plan->ahead = plan->ahead > 0 ? plan->ahead : 1;
    choose_shape(problem, plan);
    const int64_t threads = plan->tile[0] * plan->tile[1];
    if (threads < THREADS_MIN || threads > THREADS_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "a block of %" PRId64 " x %" PRId64 " has %" PRId64
                            " threads: use %d to %d",
                            plan->tile[0], plan->tile[1], threads, THREADS_MIN, THREADS_MAX);
    if (problem->dims < 3)
        plan->tile[2] = 1;
    else if (plan->tile[2] > problem->elements[2])
        plan->tile[2] = problem->elements[2];
    block_design_make(&d, problem, plan);
    while (d.shared_bytes > limits->shared_bytes && given.tile[1] == 0 && !given.warps &&
           plan->tile[0] * plan->tile[1] >= 2 * THREADS_MIN && plan->tile[1] > 1) {
        plan->tile[1] /= 2;
        block_design_make(&d, problem, plan);
    }
    if (given.warps && given.warps != d.threads / 32)
        return tz_error_set(error, TZ_RANGE, "warps",
                            "a block of %" PRId64 " x %" PRId64 " threads has %d warps, not %d: "
                            "leave 'warps' or the tile out",
                            plan->tile[0], plan->tile[1], d.threads / 32, given.warps);
    plan->warps = d.threads / 32;
    if (d.shared_bytes > limits->shared_bytes)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "tiles of %" PRId64 " x %" PRId64 " with their halo need %" PRId64
                            " bytes of shared memory, of %d: use smaller ones",
                            plan->tile[0], plan->tile[1], d.shared_bytes, limits->shared_bytes);
    strcpy(plan->family, "block");
    snprintf(plan->why, sizeof plan->why, "%s height", given.height ? "given" : "default");
    return TZ_OK;
}

static int block_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                              const tz_plan *plan)
{
    block_design d;
    (void)limits;
    block_design_make(&d, problem, plan);
    return (int)d.shared_bytes;
}

/* A chunk begins with the planes of the longest queue. */
static tz_status block_shape(const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan, int blocks_each, int64_t length,
                             tz_cuda_shape *shape, tz_error *error)
{
    block_design d;
    block_design_make(&d, problem, plan);
    const int last = problem->dims - 1;
    const int64_t wide = last > 0 ? (problem->elements[0] + d.x - 1) / d.x : 1;
    const int64_t high = last > 1 ? (problem->elements[1] + d.y - 1) / d.y : 1;
    const int64_t steps = (length + d.stride - 1) / d.stride;
    const int64_t at_once = (int64_t)limits->multiprocessors * (blocks_each > 0 ? blocks_each : 1);
    int64_t chunk = last == 2 ? plan->tile[2] : 0;
    if (chunk == 0)
        chunk = tz_cuda_choose_chunk(steps, wide * high, at_once, d.span + d.ahead, 1);
    if (chunk > steps)
        chunk = steps;
    const int64_t blocks = wide * high * ((steps + chunk - 1) / chunk);
    *shape = (tz_cuda_shape){
        .grid = {(int)blocks, 1, 1},
        .threads = d.threads,
        .shared_bytes = (int)d.shared_bytes,
        .geometry = {(int)(chunk * d.stride), (int)wide, (int)high},
    };
    if (blocks > INT32_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "%" PRId64 " blocks are more than a GPU takes: use larger ones",
                            blocks);
    return TZ_OK;
}

const tz_cuda_family tz_cuda_family_block = {
    .name = "block",
    .doc = "a thread a cell: blocks march along the last axis, one iteration a launch",
    .refuses = block_refuses,
    .plan = block_plan,
    .emit = block_text_emit,
    .shared_bytes = block_shared_bytes,
    .shape = block_shape,
    .planner = &block_planner,
};
