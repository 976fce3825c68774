/* The resident family: a grid that fits on chip stays there (kernels/cuda/resident.cuh). design.c
 * chooses the layout, text.c emits the kernel. */
#include "backend/cuda/family/family.h"
#include "backend/cuda/family/resident/design.h"
#include "backend/host/store.h"
#include "model/constants.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Plans ----------------------------------------------------------------------------------- */

enum {
    SPAN = 16384, /* iterations of a launch: about 10 ms, so that a run can be interrupted */
    SPAN_BYTES_MAX = 64 << 20 /* of streamed rows */
};

static const char *resident_refuses(const tz_problem *problem)
{
    if (tz_resident_spare_bits(problem) > 0 && problem->elements[0] < tz_resident_radius(problem))
        return "has periodic rows of bits with fewer words than the radius, which cannot stay on "
               "chip";
    if (problem->bits && tz_cuda_edges(problem) > 1)
        return "has bits and boundary values that differ from side to side, which cannot stay on "
               "chip";
    return NULL;
}

static tz_status check_numbers(const tz_problem *problem, const tz_plan *plan, tz_error *error)
{
    if (plan->height < 0 || plan->height > TZ_RESIDENT_HEIGHT_MAX)
        return tz_error_set(error, TZ_RANGE, "height", "height %d is out of range; 1 to %d",
                            plan->height, TZ_RESIDENT_HEIGHT_MAX);
    if (plan->ahead || plan->blocks)
        return tz_error_set(error, TZ_UNSUPPORTED, "plan",
                            "grids that stay on chip take no 'ahead' or 'blocks'");
    if (plan->warps < 0 || plan->warps > 32)
        return tz_error_set(error, TZ_RANGE, "warps", "%d warps are out of range; 1 to 32",
                            plan->warps);
    if (plan->vector < 0 || plan->vector > TZ_RESIDENT_CELLS_MAX)
        return tz_error_set(error, TZ_RANGE, "vector", "a thread has 1 to %d cells a row, not %d",
                            TZ_RESIDENT_CELLS_MAX, plan->vector);
    for (int axis = 0; axis < problem->dims; axis++)
        if (plan->tile[axis] < 0)
            return tz_error_set(error, TZ_RANGE, "tile", "extent %d is %" PRId64 "; use 1 or more",
                                axis + 1, plan->tile[axis]);
    return TZ_OK;
}

static tz_status cannot(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                        tz_error *error)
{
    tz_resident d;
    tz_plan lower = *plan;
    if (!error) /* skip the search that only the message needs */
        return TZ_RANGE;
    while (lower.height > 1) {
        lower.height--;
        if (tz_resident_design(problem, limits, &lower, &d))
            return tz_error_set(error, TZ_RANGE, "height",
                                "with height %d the grid and its ghost zones do not fit on chip: "
                                "use a height up to %d",
                                plan->height, lower.height);
    }
    const tz_plan free = {.height = plan->height};
    if (tz_resident_design(problem, limits, &free, &d))
        return tz_error_set(error, TZ_RANGE, "tile",
                            "the grid stays on chip, but not with this tile, vector and number of "
                            "warps: leave them out");
    return tz_error_set(error, TZ_RANGE, "family",
                        "%" PRId64 " x %" PRId64 " x %" PRId64 " cells do not stay on chip: use "
                        "another family or a smaller grid",
                        problem->extent[0], problem->extent[1], problem->extent[2]);
}

static tz_status resident_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                               tz_error *error)
{
    tz_resident d;
    const tz_status status = check_numbers(problem, plan, error);
    const bool chosen = plan->height == 0;
    if (status)
        return status;
    if (chosen)
        plan->height = tz_resident_height(problem, limits, plan);
    if (!tz_resident_design(problem, limits, plan, &d))
        return cannot(problem, limits, plan, error);
    for (int axis = 0; axis < TZ_AXES; axis++)
        plan->tile[axis] = (problem->elements[axis] + d.blocks[axis] - 1) / d.blocks[axis];
    plan->vector = d.cells[0];
    plan->warps = d.warps;
    plan->launch_iterations = SPAN;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STREAMED)
            plan->launch_iterations = (int)(SPAN_BYTES_MAX / (tz_cuda_pitch(problem) * 4));
    plan->launch_iterations = plan->launch_iterations < plan->height
                                  ? plan->height
                                  : plan->launch_iterations / plan->height * plan->height;
    strcpy(plan->family, "resident");
    snprintf(plan->why, sizeof plan->why,
             "%s height; %d x %d x %d blocks, bricks of %d x %d x %d cells in %s",
             chosen ? "default" : "given", d.blocks[0], d.blocks[1], d.blocks[2], d.cells[0],
             d.cells[1], d.cells[2], d.held ? "registers" : "shared memory");
    return TZ_OK;
}

/* A rule from measurements (docs/performance.md, "Small grids") for plans that name at most the
 * height. A grid in registers is nearly always faster on chip; a grid in shared memory only if few
 * words change. */
static bool resident_claims(const tz_problem *problem, const tz_limits *limits, tz_plan *plan)
{
    const tz_stencil *s = problem->stencil;
    if (plan->tile[0] || plan->tile[1] || plan->tile[2] || tz_plan_first_knob(plan) ||
        problem->dims < 2)
        return false;
    int64_t changed = 0;
    for (int f = 0; f < s->fields_count; f++) {
        if (s->fields[f].role == TZ_STREAMED)
            return false;
        if (tz_problem_written(problem) >> f & 1)
            changed += tz_problem_elements(problem) * (int64_t)tz_problem_element_size(problem, f);
    }
    tz_resident design;
    if (resident_plan(problem, limits, plan, NULL) ||
        !tz_resident_design(problem, limits, plan, &design) ||
        tz_resident_is_lengthy(problem, &design))
        return false;
    const int64_t blocks = (int64_t)design.blocks[0] * design.blocks[1] * design.blocks[2];
    return design.held || changed <= blocks * TZ_FIT_RESIDENT_CHANGED_BYTES;
}

static int resident_shared(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan)
{
    tz_resident d;
    return tz_resident_design(problem, limits, plan, &d) ? d.shared_bytes : 0;
}

/* Slots for a word of all cells: a row has as many as its bricks have columns. */
static int64_t slots_of(const tz_problem *problem, const tz_resident *d)
{
    return tz_resident_slots_apart(problem, d) * d->cells[0] * problem->elements[1] *
           problem->elements[2];
}

static tz_status resident_shape(const tz_problem *problem, const tz_limits *limits,
                                const tz_plan *plan, int blocks_each, int64_t length,
                                tz_cuda_shape *shape, tz_error *error)
{
    (void)length; /* the family is whole */
    tz_resident d;
    if (!tz_resident_design(problem, limits, plan, &d))
        return cannot(problem, limits, plan, error);
    const int blocks = d.blocks[0] * d.blocks[1] * d.blocks[2];
    const int room = limits->multiprocessors * (blocks_each > 0 ? blocks_each : 1);
    if (blocks > room)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "the plan takes %d blocks at once and the GPU %d: use larger tiles or "
                            "another family",
                            blocks, room);
    *shape = (tz_cuda_shape){
        .grid = {d.blocks[0], d.blocks[1], d.blocks[2]},
        .threads = 32 * d.warps,
        .shared_bytes = d.shared_bytes,
        .scratch_bytes = d.ghost > 0 ? TZ_RESIDENT_TAGS_BYTES +
                                           16 * (int64_t)d.sent_words * slots_of(problem, &d)
                                     : TZ_RESIDENT_TAGS_BYTES,
        .cooperative = d.ghost > 0,
    };
    return TZ_OK;
}

const tz_cuda_family tz_cuda_family_resident = {
    .name = "resident",
    .doc = "a small grid stays on chip; blocks hand each other their edges",
    .spans = true,
    .whole = true,
    .refuses = resident_refuses,
    .plan = resident_plan,
    .claims = resident_claims,
    .emit = resident_text_emit,
    .shared_bytes = resident_shared,
    .shape = resident_shape,
    .planner = &resident_planner,
};
