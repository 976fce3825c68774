/* The family "diamond": kernels/cpu/diamond.h. Called by the backend through its row of
 * tz_cpu_families. */
#include "backend/cpu/family.h"

#include "base/minmax.h"
#include "kernels/cpu/diamond.h"
#include "model/constants.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

extern const tz_cpu_family tz_cpu_diamond; /* at the end of this file */

static void diamond_describe(const tz_cpu_grid *grid, tz_stage *stage);

enum {
    DIAMONDS = 2,  /* the most above each other in a stage of a chosen height */
    PLANES = 4,    /* that a level computes before the next one does, for a reach of 1 */
    LONG_LOG = 33, /* a stage is long if a thread computes more than 2 to this power of cells */
    /* Of the columns of a level in 2-D; half of it if any column may be first. Rows of up to twice
     * that are not cut. */
    ROW_BYTES = 4 << 10
};

/* Where diamonds are widest, for each element that a pass reads to a side: the least, and the most
 * of a plan chosen without predictions. `enough`: narrower than that, what arrays move costs more
 * than what L2 saves. */
static const int least_of[] = {0, 256, 16, 16}, enough[] = {0, 256, 64, 16},
                 most_of[] = {0, 512, 128, 48};

/* Heights of the plans that are compared, for a reach of 1. */
static const int heights_of[] = {0, TZ_LEVELS_MAX, 256, 96};

static int across_of(const tz_problem *problem)
{
    return problem->dims == 1 ? 0 : 1;
}

static int64_t reach_of(const tz_problem *problem)
{
    const int64_t reach = tz_stencil_reach_along(problem->stencil, across_of(problem));
    return problem->dims == 1 ? tz_max(1, tz_round_up(reach, TZ_ALIGN_ELEMENTS)) : tz_max(1, reach);
}

/* Iterations in which a diamond of such a width grows and shrinks. */
static int64_t iterations_of(const tz_problem *problem, int64_t width)
{
    return tz_max(1, width / (reach_of(problem) * problem->stencil->passes_count));
}

/* A run stops, and writes, only between stages: so heights of long ones are not chosen if lower
 * ones are possible. */
static bool is_long(const tz_problem *problem, int threads, int64_t height)
{
    const double cells =
        (double)problem->elements[0] * (double)problem->elements[1] * (double)problem->elements[2];
    return cells * (double)height / threads > ldexp(1, LONG_LOG);
}

/* What the cells of all levels of a diamond of such a width take, in all arrays. */
static double live_bytes(const tz_cpu_grid *grid, tz_stage stage, int64_t width)
{
    tz_stage_counts counts;
    stage.height = (int)tz_min(iterations_of(grid->problem, width),
                               tz_stage_height_max(grid->problem->stencil));
    stage.tile[across_of(grid->problem)] = width;
    tz_diamond_count(&stage, &counts);
    return counts.ring_bytes;
}

/* As many that a row of diamonds has a quarter more of them than threads. */
static int64_t widest_of(const tz_cpu_grid *grid)
{
    const tz_problem *problem = grid->problem;
    const int64_t reach = reach_of(problem), least = least_of[problem->dims] * reach;
    const int64_t width =
        4 * problem->elements[across_of(problem)] / (5 * (int64_t)grid->stage.threads);
    return tz_max(least, tz_min(most_of[problem->dims] * reach, width / (2 * reach) * 2 * reach));
}

/* That, but what cells take has room in L2, and in 3-D not much more than that. */
static int64_t default_width(const tz_cpu_grid *grid, tz_stage stage, int64_t columns)
{
    const tz_problem *problem = grid->problem;
    const int dims = problem->dims;
    const int64_t reach = reach_of(problem);
    const double l2 = fmax((double)grid->machine->l2_bytes, (double)(1 << 20));
    int64_t width = widest_of(grid);
    if (dims == 2)
        stage.tile[0] = columns;
    while (width > enough[dims] * reach &&
           live_bytes(grid, stage, width) >
               l2 * (dims == 3 ? TZ_FIT_CPU_DIAMOND_L2 : TZ_FIT_CPU_DIAMOND_L2_2D))
        width -= 2 * reach;
    return width;
}

static int64_t default_columns(const tz_problem *problem, bool any_column)
{
    const int64_t n = problem->elements[0];
    const int64_t most =
        ROW_BYTES / (any_column ? 2 : 1) / (int64_t)tz_problem_element_size(problem, 0);
    return problem->bits || n <= 2 * most ? n : tz_cpu_split_evenly(n, most, TZ_ALIGN_ELEMENTS);
}

static const char *unsupported(const tz_problem *problem)
{
    return problem->slab.of ? "grids on several devices" : NULL;
}

/* Not if the rows are too few for the threads, nor if a row is a few words of bits, nor with
 * streamed rows, of which diamonds read short parts, nor for one level, where nothing is gained. */
static bool diamond_preferred(const tz_cpu_grid *grid, const tz_plan *plan)
{
    const tz_problem *problem = grid->problem;
    const int64_t least = least_of[problem->dims] * reach_of(problem);
    return plan->height * problem->stencil->passes_count != 1 &&
           problem->elements[across_of(problem)] >= least * grid->stage.threads &&
           !(problem->bits && problem->dims != 2) && tz_cpu_fields(problem, TZ_STREAMED) == 0;
}

/* A given tile is one of "stream". */
static bool diamond_may(const tz_cpu_grid *grid, const tz_plan *plan)
{
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (plan->tile[axis] > 0)
            return false;
    return !unsupported(grid->problem);
}

static tz_status diamond_plan(const tz_cpu_grid *grid, tz_plan *plan, tz_error *error)
{
    const tz_problem *problem = grid->problem;
    const int threads = grid->stage.threads, across = across_of(problem), dims = problem->dims;
    const char *what = unsupported(problem);
    if (what)
        return tz_error_set(error, TZ_UNSUPPORTED, "family",
                            "the family 'diamond' does not compute %s: use 'stream'", what);
    const tz_status status = tz_cpu_check_numbers(problem, plan, error);
    if (status)
        return status;
    for (int axis = 0; axis < dims; axis++) {
        const int64_t given = plan->tile[axis], n = problem->elements[axis];
        const bool cut = problem->bits ? axis == 1 : axis == across || dims == 2;
        if (!cut && given > 0 && given < n)
            return tz_error_set(
                error, TZ_RANGE, "tile",
                "the family 'diamond' does not cut this grid along %c: omit the tile's "
                "%c or set it to %" PRId64,
                "xyz"[axis], "xyz"[axis], n);
        if (!cut)
            plan->tile[axis] = n;
    }
    tz_stage stage = grid->stage;
    diamond_describe(grid, &stage);
    const bool height_chosen = plan->height == 0, tile_chosen = plan->tile[across] == 0;
    if (plan->tile[0] == 0 && dims == 2)
        plan->tile[0] = default_columns(problem, stage.any_column);
    if (tile_chosen)
        plan->tile[across] = default_width(grid, stage, plan->tile[0]);
    if (height_chosen) {
        const int64_t one = iterations_of(problem, plan->tile[across]), all = DIAMONDS * one;
        plan->height = (int)tz_min(tz_stage_height_max(problem->stencil),
                                   is_long(problem, threads, all) ? one : all);
    }
    for (int axis = 0; axis < TZ_AXES; axis++)
        plan->tile[axis] = axis < dims ? tz_min(plan->tile[axis], problem->elements[axis]) : 1;
    tz_cpu_finish_plan(plan, &tz_cpu_diamond, height_chosen, tile_chosen);
    return TZ_OK;
}

/* The default, and diamonds of several widths, one or two of them above each other in a stage, or
 * the given height. Not wider than threads allow, which else wait for each other. */
static void diamond_candidates(const tz_cpu_grid *grid, const tz_plan *given, tz_cpu_plans *plans)
{
    static const int widths[] = {16, 24, 32, 48, 64, 96, 128};
    enum { WIDTHS = sizeof widths / sizeof *widths };
    const tz_problem *problem = grid->problem;
    const int across = across_of(problem);
    const int64_t reach = tz_max(1, tz_stencil_reach_along(problem->stencil, across));
    const int64_t most =
        tz_min(heights_of[problem->dims] / reach, tz_stage_height_max(problem->stencil));
    const int64_t widest = widest_of(grid);
    tz_cpu_add(plans, given);
    for (int w = 0; w < WIDTHS && given->tile[across] == 0; w++)
        for (int times = 1; times <= (given->height > 0 ? 1 : DIAMONDS); times++) {
            const int64_t width = widths[w] * reach_of(problem) * (problem->dims == 1 ? 16 : 1);
            const int64_t height =
                given->height > 0 ? given->height : times * iterations_of(problem, width);
            tz_plan plan = *given;
            if (width > tz_min(widest, problem->elements[across]) ||
                (given->height == 0 && height > most) ||
                (times > 1 && is_long(problem, grid->stage.threads, height)))
                continue;
            plan.tile[across] = width;
            plan.height = (int)height;
            tz_cpu_add(plans, &plan);
        }
}

/* ---- One slab or several at once ------------------------------------------------------------- */

/* Passes of which one slab after the other takes less time here. Several at once load what they
 * share only once. It costs registers, and more rows are in use at a time. */
static uint32_t slabs_alone(const tz_cpu_grid *grid, const tz_stage *stage)
{
    enum { COLUMNS = 1024, ROWS = 8 };
    const tz_problem *problem = grid->problem;
    const bool planes = problem->dims == 3;
    const int64_t count = tz_min(COLUMNS, tz_min(stage->tile[0], problem->elements[0]));
    uint32_t alone = 0;
    for (int p = 0; p < problem->stencil->passes_count && !grid->absent; p++) {
        const tz_pass *pass = &problem->stencil->passes[p];
        int slabs;
        tz_row_fn *function = tz_stage_several(stage, pass, &slabs);
        const tz_rows_call one = {problem, pass, tz_stage_rows(stage, pass), 1};
        const tz_rows_call several = {problem, pass, function, slabs};
        double one_s = 0, several_s = 0;
        tz_error ignored;
        if (function &&
            tz_rows_time(&one, count, planes ? ROWS : slabs, &one_s, &ignored) == TZ_OK &&
            tz_rows_time(&several, count, planes ? ROWS : 1, &several_s, &ignored) == TZ_OK)
            alone |= (uint32_t)(one_s * (planes ? slabs : 1) < several_s) << p;
    }
    return alone;
}

/* Whether row functions are as fast where rows do not begin at cache lines: those that turn
 * vectors (<trapeze/rows_shifted.h>) compute the first one in part, of reals without branches. */
static bool any_column(const tz_stage *stage)
{
    bool all = tz_isa_vector_bytes(stage->isa) >= 64 && tz_stencil_has_real(stage->stencil);
    for (int p = 0; p < stage->stencil->passes_count; p++)
        all =
            all && stage->stencil->passes[p].slabs > TZ_SLABS_TOGETHER && !(stage->alone >> p & 1);
    return all;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static void diamond_describe(const tz_cpu_grid *grid, tz_stage *stage)
{
    /* The planes of two levels should fit L2. */
    stage->batch = PLANES * (int)tz_max(1, tz_stencil_reach_along(stage->stencil, 2));
    stage->alone = 0;
    stage->alone = slabs_alone(grid, stage);
    stage->any_column = any_column(stage);
}

static int64_t diamond_room(const tz_stage *stage)
{
    return (int64_t)tz_diamond_spare_bytes(stage);
}

static void diamond_run(tz_cpu_room *room, tz_stage *stage, uint32_t written)
{
    stage->spare = room->arena;
    const tz_diamond_arrays arrays = tz_diamond_run(stage);
    tz_host_store_turn(room->store, written, arrays.values, arrays.before);
}

static tz_status diamond_count(const tz_stage *stage, tz_stage_counts *out, tz_error *error)
{
    (void)error;
    tz_diamond_count(stage, out);
    return TZ_OK;
}

/* A stage of several iterations reads and writes both arrays of a state field. Diamonds wait for
 * each other, and not at barriers. */
static void diamond_adjust(const tz_cpu_grid *grid, const tz_stage *stage,
                           const tz_stage_counts *counts, tz_model_work *out)
{
    const tz_problem *problem = grid->problem;
    const double cells =
        (double)problem->elements[0] * (double)problem->elements[1] * (double)problem->elements[2];
    (void)stage;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (tz_problem_written(problem) >> f & 1 && out->height > 1) {
            const double bytes = (double)tz_problem_element_size(problem, f);
            out->write_bytes += bytes * counts->written;
            out->ghost_bytes += bytes * (counts->read - cells);
        }
    out->starts = 0;
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
                                      .room = diamond_room,
                                      .run = diamond_run,
                                      .count = diamond_count,
                                      .adjust = diamond_adjust};
