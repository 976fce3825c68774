#include "backend/cpu/diamond_plan.h"

#include "backend/cpu/plan.h"
#include "backend/cpu/skew_plan.h"
#include "base/minmax.h"
#include "kernels/cpu/skew.h"
#include "model/constants.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    /* Rows of the widest level of a diamond, for each row that a pass reads to a side. */
    ROWS_LEAST = 16,
    ROWS_MOST = 48,
    ROW_BYTES = 4 << 10, /* longer rows of the planes that a pass reads do not stay in L1 */
    DIAMONDS = 2,        /* the most above each other in a stage of a chosen height */
    LONG_LOG = 33,  /* a stage is long if a thread computes more than 2 to this power of cells */
    HEIGHT_MAX = 96 /* of the plans that are compared, divided by the reach */
};

const char tz_cpu_diamond[] = "diamond";

bool tz_cpu_is_diamond(const tz_plan *plan)
{
    return strcmp(plan->family, tz_cpu_diamond) == 0;
}

bool tz_cpu_is_in_arrays(const tz_plan *plan)
{
    return tz_cpu_is_skew(plan) || tz_cpu_is_diamond(plan);
}

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

/* A run stops, and writes, only between stages: so heights of long ones are not chosen if lower ones are possible. */
static bool is_long(const tz_problem *problem, int threads, int64_t height)
{
    const double cells =
        (double)problem->elements[0] * (double)problem->elements[1] * (double)problem->elements[2];
    return cells * (double)height / threads > ldexp(1, LONG_LOG);
}

/* What the planes of all levels of a diamond of so many rows take, in both arrays. */
static double planes_bytes(const tz_problem *problem, int64_t rows)
{
    double element = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STATE)
            element += 2 * (double)tz_problem_element_size(problem, f);
    return element * (double)problem->elements[0] * (double)(rows + TZ_DIAMOND_PLANES) *
           (double)rows / 2;
}

/* As many that a row of diamonds has a quarter more of them than threads, but planes do not take much more than L2. */
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

bool tz_cpu_diamond_may(const tz_problem *problem, const tz_plan *plan)
{
    return tz_cpu_skew_may(problem, plan) && !unsupported(problem) &&
           problem->elements[0] * (int64_t)tz_problem_element_size(problem, 0) <= ROW_BYTES;
}

void tz_cpu_diamond_choose(const tz_problem *problem, int threads, const tz_machine *machine,
                           tz_plan *plan)
{
    const tz_stencil *s = problem->stencil;
    int computed = 0, given = 0; /* fields */
    for (int f = 0; f < s->fields_count; f++) {
        computed += s->fields[f].role == TZ_STATE;
        given += s->fields[f].role == TZ_STATIC;
    }
    if (tz_cpu_diamond_may(problem, plan) && machine->l2_bytes >= TZ_CPU_L2_LARGE &&
        computed == 1 && given <= 1 &&
        problem->elements[1] >= ROWS_LEAST * reach_of(problem) * threads)
        strcpy(plan->family, tz_cpu_diamond);
}

tz_status tz_cpu_diamond_plan(const tz_problem *problem, int threads, const tz_machine *machine,
                              tz_plan *plan, tz_error *error)
{
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
        plan->tile[1] = default_rows(problem, threads, machine);
    plan->tile[1] = tz_min(plan->tile[1], problem->elements[1]);
    if (height_chosen) {
        const int64_t one = iterations_of(problem, plan->tile[1]), all = DIAMONDS * one;
        plan->height = (int)tz_min(tz_stage_height_max(problem->stencil),
                                   is_long(problem, threads, all) ? one : all);
    }
    strcpy(plan->family, tz_cpu_diamond);
    snprintf(plan->why, sizeof plan->why, "%s height, %s tile", height_chosen ? "default" : "given",
             tile_chosen ? "default" : "given");
    return TZ_OK;
}

int tz_cpu_diamond_shapes(const tz_problem *problem, int threads, const tz_plan *given,
                          tz_plan shapes[TZ_CPU_DIAMOND_SHAPES_MAX])
{
    static const int widths[] = {16, 24, 32, 48};
    enum { WIDTHS = sizeof widths / sizeof *widths };
    const int64_t most =
        tz_min(HEIGHT_MAX / reach_of(problem), tz_stage_height_max(problem->stencil));
    int count = 0;
    if (!tz_cpu_is_diamond(given) && !tz_cpu_diamond_may(problem, given))
        return 0;
    shapes[count] = *given; /* the default */
    strcpy(shapes[count++].family, tz_cpu_diamond);
    for (int w = 0; w < WIDTHS && given->tile[1] == 0; w++)
        for (int times = 1; times <= (given->height > 0 ? 1 : DIAMONDS); times++) {
            const int64_t rows = widths[w] * reach_of(problem);
            const int64_t height =
                given->height > 0 ? given->height : times * iterations_of(problem, rows);
            if (rows > problem->elements[1] || (given->height == 0 && height > most) ||
                (times > 1 && is_long(problem, threads, height)))
                continue;
            shapes[count] = shapes[0];
            shapes[count].tile[1] = rows;
            shapes[count++].height = (int)height;
        }
    return count;
}
