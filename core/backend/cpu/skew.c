/* The family "skew": kernels/cpu/skew.h. Called by the backend through its row of
 * tz_cpu_families. */
#include "backend/cpu/family.h"

#include "base/minmax.h"
#include "kernels/cpu/skew.h"
#include "model/constants.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

extern const tz_cpu_family tz_cpu_skew; /* at the end of this file */

enum {
    TEAM = 4,             /* threads of a team, of the plans that are compared */
    ROW_BYTES = 16 << 10, /* of a tile's row in 2-D */
    /* Rows of a tile in 3-D. With 64 rows of 2 KiB, star3d1r at height 24 was 5 % slower on a
     * machine whose third level is shared with others, and in double precision 34 %. */
    ROWS_MAX = 32,
    PART_OF_OPENING = 20 /* how much longer a part is than what is open at its edge, at least, if
                           * there are two for each thread */
};

const char *tz_cpu_skew_unsupported(const tz_problem *problem)
{
    const tz_stencil *stencil = problem->stencil;
    if (problem->dims == 1)
        return "grids of one dimension";
    if (problem->bits)
        return "fields of bits";
    if (problem->slab.of)
        return "grids on several devices";
    uint32_t written = 0;
    for (int p = 0; p < stencil->passes_count; p++) {
        if (written & stencil->passes[p].writes)
            return "stencils of which several passes write the same field";
        written |= stencil->passes[p].writes;
    }
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            return "streamed fields";
    return NULL;
}

/* ---- What stays in cache --------------------------------------------------------------------- */

/* Bytes of an element of all arrays that a stage uses. */
static double element_bytes(const tz_problem *problem)
{
    double bytes = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STATE ||
            problem->stencil->fields[f].role == TZ_STATIC)
            bytes += (double)tz_problem_element_size(problem, f) *
                     tz_skew_arrays_used(problem->stencil, f);
    return bytes;
}

/* What a thread's slabs may take of the caches. */
static double cache_bytes(const tz_stage *stage, const tz_machine *machine)
{
    const double l2 = machine->l2_bytes > 0 ? (double)machine->l2_bytes : 1 << 20;
    const double l3 = (double)machine->l3_bytes / stage->threads;
    return l2 >= TZ_CPU_L2_LARGE ? TZ_FIT_CPU_SKEW_L2 * l2
                                 : fmax(TZ_FIT_CPU_SKEW_L2 * l2, TZ_FIT_CPU_SKEW_L3 * l3);
}

/* The tile along the inner axis whose slabs, of all levels at once, take so many bytes. */
static int64_t tile_in_cache(const tz_problem *problem, const tz_stage *stage, double bytes,
                             int height)
{
    const int levels = height * problem->stencil->passes_count;
    const double row =
        element_bytes(problem) * (problem->dims == 3 ? (double)problem->elements[0] : 1);
    const double slabs = (double)levels * tz_skew_reach(stage) + tz_skew_batch(stage) + 1;
    return (int64_t)(bytes / row / slabs) - (int64_t)levels * tz_skew_slope(stage);
}

/* The height is that for radius 1 divided by the reach, rounded, and less if a tile would be
 * shifted by more than half its extent in a stage. */
static void choose_height(const tz_problem *problem, const tz_stage *stage,
                          const tz_machine *machine, tz_plan *plan)
{
    static const int best[] = TZ_FIT_CPU_SKEW_HEIGHTS;
    const int reach = (int)tz_max(1, tz_skew_reach(stage) * problem->stencil->passes_count);
    if (plan->height > 0)
        return;
    plan->height = (int)tz_max(1, (2 * best[problem->dims] + reach) / (2 * reach));
    while (plan->height > 1 &&
           tile_in_cache(problem, stage, cache_bytes(stage, machine), plan->height) <
               2 * (int64_t)plan->height * problem->stencil->passes_count * tz_skew_slope(stage))
        plan->height--;
}

/* The threads of a part of the grid. */
static int64_t team_of(const tz_problem *problem, const tz_stage *stage, const tz_plan *plan)
{
    const int last = problem->dims - 1;
    const int64_t part = tz_max(1, tz_min(plan->tile[last], problem->elements[last]));
    return tz_max(1, stage->threads / ((problem->elements[last] + part - 1) / part));
}

static void choose_tile(const tz_problem *problem, const tz_stage *stage, const tz_machine *machine,
                        tz_plan *plan)
{
    const int inner = problem->dims - 2, last = problem->dims - 1;
    if (problem->dims == 3)
        plan->tile[0] = problem->elements[0];
    if (plan->tile[last] == 0) {
        const int64_t n = problem->elements[last];
        const int64_t opens = 2 * (int64_t)plan->height * problem->stencil->passes_count *
                              tz_max(1, tz_skew_reach(stage));
        const int64_t parts = n / stage->threads < 2 * PART_OF_OPENING * opens ? 1 : 2;
        plan->tile[last] = (n + parts * stage->threads - 1) / (parts * stage->threads);
    }
    if (plan->tile[inner] == 0) {
        const int64_t n = problem->elements[inner], team = team_of(problem, stage, plan);
        const int64_t most =
            inner == 0 ? ROW_BYTES / (int64_t)tz_problem_element_size(problem, 0) : ROWS_MAX;
        const int64_t least = inner == 0 ? TZ_ALIGN_ELEMENTS : 1;
        const int64_t room =
            tile_in_cache(problem, stage, cache_bytes(stage, machine), plan->height);
        int64_t tile = tz_max(least, tz_min(most, room));
        /* A tile as wide as the axis does not lean, and a periodic grid is not open at its
         * sides. */
        const int64_t leans =
            (int64_t)plan->height * problem->stencil->passes_count * tz_skew_slope(stage);
        if (tz_boundary_wraps(problem->boundary[inner][0]) && n <= room + leans)
            tile = n;
        /* As many for each thread of a team. */
        const int64_t tiles = tz_round_up((n + tile - 1) / tile, team);
        plan->tile[inner] = tz_cpu_split_evenly(n, (n + tiles - 1) / tiles, least);
    }
}

/* ---- One slab or two at once ----------------------------------------------------------------- */

/* Clocks, about, of the loads of the cells of a row: neighbours in x lie across two cache lines. */
static double loads_of(uint32_t row)
{
    const uint32_t centre = 1u << TZ_RADIUS_MAX;
    return 0.5 * ((row & centre) != 0) + __builtin_popcount(row & ~centre);
}

/* Row number `row` of slab `slab` of what an update reads of a field. A slab is a plane in 3-D,
 * else a row. */
static uint32_t row_of(const tz_footprint *found, int field, bool planes, int slab, int row)
{
    if (slab < 0 || slab >= TZ_FOOTPRINT_REACH)
        return 0;
    if (planes)
        return found->row[field][slab][row];
    return row == 0 ? found->row[field][TZ_RADIUS_MAX][slab] : 0;
}

/* What two slabs at once save of the loads of a pass, as a part of them. Also how many arrays an
 * update uses, and how many of their rows. */
static double loads_saved(const tz_problem *problem, const tz_pass *pass, int *arrays, int *rows)
{
    const bool planes = problem->dims == 3;
    double one = 0, two = 0;
    tz_footprint found;
    tz_footprint_find(problem, pass, &found);
    *arrays = *rows = __builtin_popcount(pass->writes);
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const int others = *rows;
        for (int slab = 0; slab <= TZ_FOOTPRINT_REACH; slab++)
            for (int row = 0; row < TZ_FOOTPRINT_REACH; row++) {
                const uint32_t first = row_of(&found, f, planes, slab, row);
                const uint32_t second = row_of(&found, f, planes, slab - 1, row);
                one += loads_of(first);
                two += loads_of(first | second) / 2;
                *rows += first != 0;
            }
        *arrays += *rows > others;
    }
    return one > 0 ? 1 - two / one : 0;
}

/* Two slabs at once load what both read only once. That is worth it where an update reads many
 * cells, as of a box. It costs registers, and twice as many rows are in use at once: of stencils
 * with several fields, more than a processor fetches ahead. If the rows that an update reads stay
 * in L1, so that the next row finds them there, one after the other takes less time; with two
 * arrays, one read and one written, it makes no difference. In 3-D planes are larger than L1. */
static uint32_t slabs_alone(const tz_problem *problem, const tz_stage *stage,
                            const tz_machine *machine)
{
    enum { FEW_ARRAYS = 2 };
    static const double nothing = 0.01; /* of the loads */
    const tz_stencil *s = problem->stencil;
    const double l1 = machine->l1_bytes > 0 ? (double)machine->l1_bytes : 32 << 10;
    const double row =
        (double)tz_min(stage->tile[0], problem->elements[0]) * (double)stage->element_size[0];
    uint32_t alone = 0;
    for (int p = 0; p < s->passes_count; p++) {
        int arrays, rows;
        const double saved = loads_saved(problem, &s->passes[p], &arrays, &rows);
        const bool near =
            problem->dims == 2 && arrays > FEW_ARRAYS && rows * row <= TZ_FIT_CPU_ROWS_NEAR * l1;
        alone |= (uint32_t)(saved < (near ? TZ_FIT_CPU_LOADS_SHARED : nothing)) << p;
    }
    return alone;
}

bool tz_cpu_skew_allowed(const tz_cpu_grid *grid, const tz_plan *plan)
{
    bool tile_given = false;
    for (int axis = 0; axis < TZ_AXES; axis++)
        tile_given = tile_given || plan->tile[axis] > 0;
    return !tile_given && !tz_cpu_skew_unsupported(grid->problem);
}

/* Of 17 problems with several fields all were faster than with "stream" on a Zen 3, and 14 on a
 * Xeon. */
static bool skew_preferred(const tz_cpu_grid *grid, const tz_plan *plan)
{
    (void)plan;
    return !tz_cpu_prefers_in_place(grid);
}

static tz_status skew_plan(const tz_cpu_grid *grid, tz_plan *plan, tz_error *error)
{
    const tz_problem *problem = grid->problem;
    const char *what = tz_cpu_skew_unsupported(problem);
    if (what)
        return tz_error_set(error, TZ_UNSUPPORTED, "family",
                            "the family 'skew' does not compute %s: use 'stream'", what);
    const tz_status status = tz_cpu_check_numbers(problem, plan, error);
    if (status)
        return status;
    if (problem->dims == 3 && plan->tile[0] > 0 && plan->tile[0] < problem->elements[0])
        return tz_error_set(
            error, TZ_RANGE, "tile",
            "the family 'skew' does not cut rows of 3-D grids: omit the tile's x or set "
            "it to %" PRId64,
            problem->elements[0]);
    const bool height_chosen = plan->height == 0;
    const bool tile_chosen = plan->tile[problem->dims - 2] == 0;
    choose_height(problem, &grid->stage, grid->machine, plan);
    choose_tile(problem, &grid->stage, grid->machine, plan);
    for (int axis = 0; axis < TZ_AXES; axis++)
        plan->tile[axis] =
            axis < problem->dims ? tz_max(1, tz_min(plan->tile[axis], problem->elements[axis])) : 1;
    tz_cpu_finish_plan(plan, &tz_cpu_skew, height_chosen, tile_chosen);
    return TZ_OK;
}

/* With a part of the grid for each thread: the default tile, and those of twice and of half its
 * extent along the inner axis. With a part for a few threads, and with one part: the default tile.
 * Tiles other than the first are left out if a stage shifts them by more than their extent. */
static void add_tiles(const tz_cpu_grid *grid, const tz_plan *given, int height,
                      tz_cpu_plans *plans)
{
    const tz_problem *problem = grid->problem;
    const tz_stage *stage = &grid->stage;
    const int inner = problem->dims - 2, last = problem->dims - 1;
    const int64_t n = problem->elements[last];
    const int64_t least = (int64_t)height * problem->stencil->passes_count * tz_skew_slope(stage);
    /* Parts of the grid; 0: by default as many as threads. */
    const int64_t choices[] = {0, stage->threads / TEAM, 1};
    for (int i = 0; i < 3; i++) {
        const int64_t parts = choices[i];
        tz_plan whole = *given, usual;
        if (i > 0 && (given->tile[last] > 0 || stage->threads == 1 || parts < (i == 1 ? 2 : 1)))
            continue;
        whole.height = height;
        if (parts > 0)
            whole.tile[last] = (n + parts - 1) / parts;
        usual = whole;
        if (skew_plan(grid, &usual, NULL))
            continue;
        const int64_t tile = usual.tile[inner];
        if (i == 0 || given->tile[inner] > 0 || tile >= least)
            tz_cpu_add(plans, &whole);
        for (int twice = 0; twice < 2 && i == 0 && given->tile[inner] == 0; twice++) {
            const int64_t other = twice ? 2 * tile : tile / 2;
            tz_plan changed = whole;
            if (other < least || (problem->dims == 3 && other > ROWS_MAX))
                continue;
            changed.tile[inner] = tz_max(1, other);
            tz_cpu_add(plans, &changed);
        }
    }
}

static void skew_candidates(const tz_cpu_grid *grid, const tz_plan *given, tz_cpu_plans *plans)
{
    for (int height = 0; (height = tz_cpu_height_next(grid->problem, given, height)) > 0;)
        add_tiles(grid, given, height, plans);
}

/* ---- Stages, also of the family "diamond" ---------------------------------------------------- */

void tz_cpu_skew_describe(const tz_cpu_grid *grid, tz_stage *stage)
{
    stage->batch = tz_skew_batch(stage);
    stage->group = 0;
    stage->alone = slabs_alone(grid->problem, stage, grid->machine);
}

int64_t tz_cpu_skew_room(const tz_stage *stage)
{
    return (int64_t)tz_skew_lost_bytes(stage);
}

void tz_cpu_skew_run(tz_cpu_room *room, tz_stage *stage, uint32_t written)
{
    stage->lost = room->arena;
    const tz_skew_arrays arrays = tz_skew_run(stage);
    tz_host_store_turn(room->store, written, arrays.values, arrays.before);
}

tz_status tz_cpu_skew_count(const tz_stage *stage, tz_stage_counts *out, tz_error *error)
{
    (void)error;
    tz_skew_count(stage, out);
    return TZ_OK;
}

void tz_cpu_skew_adjust(const tz_cpu_grid *grid, const tz_stage *stage,
                        const tz_stage_counts *counts, tz_model_work *out)
{
    const tz_problem *problem = grid->problem;
    const double cells =
        (double)problem->elements[0] * (double)problem->elements[1] * (double)problem->elements[2];
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (tz_problem_written(problem) >> f & 1 && out->height > 1) {
            const double bytes = (double)tz_problem_element_size(problem, f);
            out->write_bytes += bytes * counts->written;
            out->ghost_bytes += bytes * (counts->read - cells);
        }
    out->starts = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->dims == 2 && stage->tile[0] < stage->elements[0] &&
            problem->stencil->fields[f].role != TZ_STREAMED)
            out->leaning_lines += counts->rows;
    out->forks *= 2;
}

const tz_cpu_family tz_cpu_skew = {.name = "skew",
                                   .in_arrays = true,
                                   .may = tz_cpu_skew_allowed,
                                   .preferred = skew_preferred,
                                   .plan = skew_plan,
                                   .candidates = skew_candidates,
                                   .describe = tz_cpu_skew_describe,
                                   .room = tz_cpu_skew_room,
                                   .run = tz_cpu_skew_run,
                                   .count = tz_cpu_skew_count,
                                   .adjust = tz_cpu_skew_adjust};
