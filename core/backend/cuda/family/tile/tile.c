/* The tile family: Meng and Skadron's tiles in shared memory (kernels/cuda/tile.cuh). */
#include "backend/cuda/family/tile/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BYTES_MAX = 200 << 10 }; /* of a tile with its ghost zone, even if a block has more */

static int64_t shared_bytes(const tz_problem *problem, const tz_plan *plan)
{
    const int64_t halo = (int64_t)plan->height * tz_stencil_reach(problem->stencil);
    int64_t elements = 1, bytes = 0;
    for (int d = 0; d < problem->dims; d++)
        elements *= plan->tile[d] + 2 * halo;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STATE)
            bytes += 2 * elements * (int64_t)tz_problem_element_size(problem, f);
    return bytes;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static tz_status tile_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                           tz_error *error)
{
    static const int64_t tiles[][TZ_AXES] = {{0}, {2048, 1, 1}, {64, 32, 1}, {32, 8, 8}};
    static const int heights[] = {0, 20, 4, 2};
    const char *knob = tz_plan_first_knob(plan);
    if (knob)
        return tz_error_set(error, TZ_UNSUPPORTED, "plan", "tiles take no '%s'", knob);
    const bool chosen = plan->height == 0;
    const tz_plan given = *plan;
    const int bytes_max = limits->shared_bytes < BYTES_MAX ? limits->shared_bytes : BYTES_MAX;
    const int r = tz_stencil_reach(problem->stencil) > 0 ? tz_stencil_reach(problem->stencil) : 1;
    if (plan->height < 0 || plan->height > 512)
        return tz_error_set(error, TZ_RANGE, "height", "height %d is out of range; 1 to 512",
                            plan->height);
    if (chosen)
        plan->height = heights[problem->dims] / r > 0 ? heights[problem->dims] / r : 1;
    for (int d = 0; d < TZ_AXES; d++) {
        if (plan->tile[d] < 0)
            return tz_error_set(error, TZ_RANGE, "tile", "extent %d is %" PRId64 "; use 1 or more",
                                d + 1, plan->tile[d]);
        if (d >= problem->dims)
            plan->tile[d] = 1;
        else if (plan->tile[d] == 0)
            plan->tile[d] = tiles[problem->dims][d];
        if (plan->tile[d] > problem->elements[d])
            plan->tile[d] = problem->elements[d];
    }
    /* A large height leaves room only for a small tile. */
    while (shared_bytes(problem, plan) > bytes_max) {
        int widest = -1;
        for (int d = 0; d < problem->dims; d++)
            if (given.tile[d] == 0 && plan->tile[d] > 4 &&
                (widest < 0 || plan->tile[d] > plan->tile[widest]))
                widest = d;
        if (widest < 0)
            break;
        plan->tile[widest] = (plan->tile[widest] + 1) / 2;
    }
    const int wanted = plan->height;
    while (plan->height > 1 && shared_bytes(problem, plan) > bytes_max)
        plan->height--;
    if (shared_bytes(problem, plan) > bytes_max)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "a tile of %" PRId64 " x %" PRId64 " x %" PRId64
                            " with its ghost zone does not fit a block's shared memory: use a "
                            "smaller one",
                            plan->tile[0], plan->tile[1], plan->tile[2]);
    if (plan->height < wanted && !chosen)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d with this tile needs more shared memory than a block has: "
                            "use a height up to %d, or a smaller tile",
                            wanted, plan->height);
    strcpy(plan->family, "tile");
    snprintf(plan->why, sizeof plan->why, "%s height", chosen ? "default" : "given");
    return TZ_OK;
}

static int tile_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan)
{
    (void)limits;
    return (int)shared_bytes(problem, plan);
}

static tz_status tile_shape(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                            int blocks, int64_t length, tz_cuda_shape *shape, tz_error *error)
{
    (void)blocks;
    *shape = (tz_cuda_shape){.threads = 32 * TILE_WARPS,
                             .shared_bytes = tile_shared_bytes(problem, limits, plan)};
    for (int d = 0; d < TZ_AXES; d++) {
        const int64_t elements = d == problem->dims - 1 ? length : problem->elements[d];
        shape->grid[d] = (int)((elements + plan->tile[d] - 1) / plan->tile[d]);
    }
    if (shape->grid[1] > 65535 || shape->grid[2] > 65535)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "too many tiles along y or z for a GPU: use larger ones");
    return TZ_OK;
}

const tz_cuda_family tz_cuda_family_tile = {
    .name = "tile",
    .doc = "tiles with their ghost zones in shared memory",
    .plan = tile_plan,
    .emit = tile_text_emit,
    .warps = TILE_WARPS,
    .shared_bytes = tile_shared_bytes,
    .shape = tile_shape,
    .planner = &tile_planner,
};
