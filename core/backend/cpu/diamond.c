/* The family "diamond": kernels/cpu/skew.h. Called by the backend through its row of
 * tz_cpu_families. */
#include "backend/cpu/family.h"

#include "base/minmax.h"
#include "kernels/cpu/skew.h"
#include "model/constants.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

extern const tz_cpu_family tz_cpu_diamond; /* at the end of this file */

enum {
    /* Rows of the widest level of a diamond, for each row that a pass reads to a side. */
    ROWS_LEAST = 16,
    ROWS_MOST = 48,
    ROW_BYTES = 4 << 10, /* longer rows of the planes that a pass reads do not stay in L1 */
    DIAMONDS = 2,        /* the most above each other in a stage of a chosen height */
    LONG_LOG = 33,  /* a stage is long if a thread computes more than 2 to this power of cells */
    HEIGHT_MAX = 96 /* of the plans that are compared, divided by the reach */
};

/* What the family cannot compute; NULL: nothing. */
static const char *unsupported(const tz_problem *problem)
{
    if (problem->dims != 3)
        return "grids of one or two dimensions";
    for (int axis = 1; axis < problem->dims; axis++)
        if (tz_boundary_wraps(problem->boundary[axis][0]))
            return "grids whose y or z is periodic";
    return tz_cpu_skew_unsupported(problem);
}

static int64_t reach_of(const tz_problem *problem)
{
    return tz_max(1, tz_stencil_reach_along(problem->stencil, 1));
}

/* Iterations in which a diamond of so many rows grows and shrinks. */
static int64_t iterations_of(const tz_problem *problem, int64_t rows)
{
    return tz_max(1, rows / (reach_of(problem) * problem->stencil->passes_count));
}

/* A run stops, and writes, only between stages: so heights of long ones are not chosen if lower
 * ones are possible. */
static bool is_long(const tz_problem *problem, int threads, int64_t height)
{
    const double cells =
        (double)problem->elements[0] * (double)problem->elements[1] * (double)problem->elements[2];
    return cells * (double)height / threads > ldexp(1, LONG_LOG);
}

/* What the planes of all levels of a diamond of so many rows take, in both arrays. */
static double planes_bytes(const tz_problem *problem, int64_t rows)
{
    return 2 * tz_cpu_bytes(problem, TZ_STATE) * (double)problem->elements[0] *
           (double)(rows + TZ_DIAMOND_PLANES) * (double)rows / 2;
}

/* As many that a row of diamonds has a quarter more of them than threads, but planes do not take
 * much more than L2. */
static int64_t default_rows(const tz_problem *problem, int threads, const tz_machine *machine)
{
    const int64_t reach = reach_of(problem), widens = 2 * reach;
    const double l2 = fmax((double)machine->l2_bytes, (double)(1 << 20));
    int64_t rows = 4 * problem->elements[1] / (5 * (int64_t)threads) / widens * widens;
    rows = tz_max(ROWS_LEAST * reach, tz_min(ROWS_MOST * reach, rows));
    while (rows > ROWS_LEAST * reach && planes_bytes(problem, rows) > TZ_FIT_CPU_DIAMOND_L2 * l2)
        rows -= widens;
    return rows;
}

/* Not with long rows. */
static bool diamond_may(const tz_cpu_grid *grid, const tz_plan *plan)
{
    const tz_problem *problem = grid->problem;
    return tz_cpu_skew_allowed(grid, plan) && !unsupported(problem) &&
           problem->elements[0] * (int64_t)tz_problem_element_size(problem, 0) <= ROW_BYTES;
}

/* On processors with a large second level, which are slow to reach their third level, for one
 * computed field, where a row has at least as many diamonds as there are threads. */
static bool diamond_preferred(const tz_cpu_grid *grid, const tz_plan *plan)
{
    const tz_problem *problem = grid->problem;
    (void)plan;
    return grid->machine->l2_bytes >= TZ_CPU_L2_LARGE && tz_cpu_fields(problem, TZ_STATE) == 1 &&
           tz_cpu_fields(problem, TZ_STATIC) <= 1 &&
           problem->elements[1] >= ROWS_LEAST * reach_of(problem) * grid->stage.threads;
}

static tz_status diamond_plan(const tz_cpu_grid *grid, tz_plan *plan, tz_error *error)
{
    const tz_problem *problem = grid->problem;
    const int threads = grid->stage.threads;
    const char *what = unsupported(problem);
    if (what)
        return tz_error_set(error, TZ_UNSUPPORTED, "family",
                            "the family 'diamond' does not compute %s: use 'stream'", what);
    const tz_status status = tz_cpu_check_numbers(problem, plan, error);
    if (status)
        return status;
    for (int axis = 0; axis < problem->dims; axis++) {
        const int64_t given = plan->tile[axis], n = problem->elements[axis];
        if (axis != 1 && given > 0 && given < n)
            return tz_error_set(
                error, TZ_RANGE, "tile",
                "the family 'diamond' does not cut the grid along %c: omit the tile's "
                "%c or set it to %" PRId64,
                "xyz"[axis], "xyz"[axis], n);
        if (axis != 1)
            plan->tile[axis] = n;
    }
    const bool height_chosen = plan->height == 0, tile_chosen = plan->tile[1] == 0;
    if (tile_chosen)
        plan->tile[1] = default_rows(problem, threads, grid->machine);
    plan->tile[1] = tz_min(plan->tile[1], problem->elements[1]);
    if (height_chosen) {
        const int64_t one = iterations_of(problem, plan->tile[1]), all = DIAMONDS * one;
        plan->height = (int)tz_min(tz_stage_height_max(problem->stencil),
                                   is_long(problem, threads, all) ? one : all);
    }
    tz_cpu_finish_plan(plan, &tz_cpu_diamond, height_chosen, tile_chosen);
    return TZ_OK;
}

/* The default, and diamonds of several widths, one or two of them above each other in a stage, or
 * the given height. */
static void diamond_candidates(const tz_cpu_grid *grid, const tz_plan *given, tz_cpu_plans *plans)
{
    static const int widths[] = {16, 24, 32, 48};
    enum { WIDTHS = sizeof widths / sizeof *widths };
    const tz_problem *problem = grid->problem;
    const int64_t most =
        tz_min(HEIGHT_MAX / reach_of(problem), tz_stage_height_max(problem->stencil));
    tz_cpu_add(plans, given);
    for (int w = 0; w < WIDTHS && given->tile[1] == 0; w++)
        for (int times = 1; times <= (given->height > 0 ? 1 : DIAMONDS); times++) {
            const int64_t rows = widths[w] * reach_of(problem);
            const int64_t height =
                given->height > 0 ? given->height : times * iterations_of(problem, rows);
            tz_plan plan = *given;
            if (rows > problem->elements[1] || (given->height == 0 && height > most) ||
                (times > 1 && is_long(problem, grid->stage.threads, height)))
                continue;
            plan.tile[1] = rows;
            plan.height = (int)height;
            tz_cpu_add(plans, &plan);
        }
}

static void diamond_describe(const tz_cpu_grid *grid, tz_stage *stage)
{
    stage->diamonds = true;
    tz_cpu_skew_describe(grid, stage);
}

static void diamond_adjust(const tz_cpu_grid *grid, const tz_stage *stage,
                           const tz_stage_counts *counts, tz_model_work *out)
{
    tz_cpu_skew_adjust(grid, stage, counts, out);
    out->forks = out->forks > 0; /* diamonds wait for each other, and not at barriers */
    if (grid->machine->l2_bytes >= TZ_CPU_L2_LARGE) {
        out->near_reads *= TZ_FIT_CPU_DIAMOND_NEAR;
        out->near_writes *= TZ_FIT_CPU_DIAMOND_NEAR;
        out->ring_reads *= TZ_FIT_CPU_DIAMOND_RING;
        out->ring_writes *= TZ_FIT_CPU_DIAMOND_RING;
    }
}

const tz_cpu_family tz_cpu_diamond = {.name = "diamond",
                                      .in_arrays = true,
                                      .may = diamond_may,
                                      .preferred = diamond_preferred,
                                      .plan = diamond_plan,
                                      .candidates = diamond_candidates,
                                      .describe = diamond_describe,
                                      .room = tz_cpu_skew_room,
                                      .run = tz_cpu_skew_run,
                                      .count = tz_cpu_skew_count,
                                      .adjust = diamond_adjust};
