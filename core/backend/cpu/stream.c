/* The family "stream": kernels/cpu/stage.h. How it chooses height and tile from the machine's
 * caches. */
#include "backend/cpu/family.h"

#include "base/minmax.h"
#include "kernels/cpu/stage.h"
#include "model/constants.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const tz_cpu_family tz_cpu_stream; /* at the end of this file */

enum {
    ROW_BYTES = 16 << 10,   /* of a tile's row, */
    ROW_BYTES_3D = 2 << 10, /* and in 3-D, if L3 has no room for more */
    L3_MAX = 32 << 20,      /* of which rings make use */
    WIDTH_OF_GHOSTS = 100,
    ROWS_OF_GHOSTS = 10, /* rows of a tile in 3-D, at least, for each of the ghost zone of a side */
    LINE_ELEMENTS = 32 << 10 /* of a tile in 1-D: two tiles fit L2, and streamed rows are long */
};

/* The limit of the rings of a plan, of all threads. Rings and the padding of arrays (24 MiB,
 * backend/host/store.c) together stay below 64 MiB. */
static const int64_t RINGS_MAX = INT64_C(36) << 20;

/* The largest of an axis; 1 or more. */
static int growth_max(const tz_problem *problem)
{
    int most = 1;
    for (int axis = 0; axis < problem->dims; axis++)
        most = tz_cpu_growth(problem, axis) > most ? tz_cpu_growth(problem, axis) : most;
    return most;
}

/* Slabs of a field that the pass which reads most of them needs at once. */
static int slabs_read(const tz_problem *problem, int field)
{
    const int axis = problem->dims - 1;
    int most = 1;
    for (int p = 0; axis > 0 && p < problem->stencil->passes_count; p++) {
        const tz_reads reads =
            tz_stencil_reads(problem->stencil, &problem->stencil->passes[p], field);
        const int slabs = reads.high[axis] - reads.low[axis] + 1;
        most = slabs > most ? slabs : most;
    }
    return most;
}

/* Bytes that an iteration adds to the rings, for each element of a slab: about the slabs that are
 * read of each field which a pass writes. */
static double ring_bytes_per_element(const tz_problem *problem)
{
    double bytes = 0.0;
    for (int p = 0; p < problem->stencil->passes_count; p++)
        for (int f = 0; f < problem->stencil->fields_count; f++)
            if (problem->stencil->passes[p].writes >> f & 1)
                bytes += slabs_read(problem, f) * (double)tz_problem_element_size(problem, f);
    return bytes;
}

/* Bytes of static fields, for each element of a slab and iteration, that must stay in cache while a
 * slab passes through the levels. */
static double static_bytes_per_element(const tz_problem *problem)
{
    return tz_cpu_bytes(problem, TZ_STATIC) * tz_cpu_growth(problem, problem->dims - 1);
}

static tz_status check_given(const tz_problem *problem, const tz_plan *plan, tz_error *error)
{
    const tz_status status = tz_cpu_check_numbers(problem, plan, error);
    if (status)
        return status;
    const tz_reach reach = tz_stencil_reach_sides(problem->stencil);
    const int inner = problem->dims == 3 ? 2 : 1;
    for (int axis = 0; axis < problem->dims; axis++) {
        const int64_t grows = tz_max(reach.low[axis], reach.high[axis]);
        const int64_t ghost = plan->height * grows;
        if (axis < inner && plan->tile[axis] > 0 && plan->tile[axis] < problem->elements[axis] &&
            ghost > plan->tile[axis])
            return tz_error_set(error, TZ_RANGE, "height",
                                "height %d needs a ghost zone of %" PRId64
                                " cells on a side, more than the tile's %" PRId64
                                " along axis %d: use a height up to %" PRId64 " or a larger tile",
                                plan->height, ghost, plan->tile[axis], axis + 1,
                                plan->tile[axis] / grows);
    }
    return TZ_OK;
}

static double l2_of(const tz_machine *machine)
{
    return machine->l2_bytes > 0 ? (double)machine->l2_bytes : 1 << 20;
}

/* The elements of a slab with which the rings take so many bytes. */
static double slab_elements(const tz_problem *problem, double bytes, int height)
{
    return bytes / (height * (ring_bytes_per_element(problem) + static_bytes_per_element(problem)));
}

/* Those with which they take the share TZ_FIT_CPU_RING_SHARE of L2. */
static double slab_budget(const tz_problem *problem, const tz_machine *machine, int height)
{
    return slab_elements(problem, TZ_FIT_CPU_RING_SHARE * l2_of(machine), height);
}

/* A tile narrower than the grid costs much where its rows begin and end in arrays: what a
 * processor fetches ahead lies in other tiles. So rows are as long as this thread's share of L3
 * allows, of which the rings of a 2-D tile may take an eighth, in place a quarter, and those of a
 * 3-D tile with few rows all. */
static int64_t row_in_l3(const tz_problem *problem, const tz_machine *machine,
                         const tz_stage *stage, int height)
{
    const double share = (double)tz_min(machine->l3_bytes, L3_MAX) / stage->threads;
    if (problem->dims == 2)
        return (int64_t)slab_elements(problem, share / 8, height);
    return (
        int64_t)(slab_elements(problem, share, height) /
                 ((ROWS_OF_GHOSTS + 2) * (double)tz_max(1, height * tz_cpu_growth(problem, 1))));
}

static int64_t rings_bytes(const tz_stage *stage)
{
    tz_pipeline *pipeline = malloc(tz_pipeline_size(stage->stencil, stage->height));
    if (!pipeline)
        return INT64_MAX / 64;
    const int64_t bytes = (int64_t)tz_stage_arena_bytes(stage, pipeline);
    free(pipeline);
    return bytes;
}

/* In 2-D a batch of up to six rows fits L1, where the next level finds it. */
static void stream_describe(const tz_cpu_grid *grid, tz_stage *stage)
{
    const tz_problem *problem = grid->problem;
    const int64_t l1 = grid->machine->l1_bytes > 0 ? grid->machine->l1_bytes : 32 << 10;
    const int64_t row = stage->tile[0] * (int64_t)tz_cpu_bytes(problem, TZ_STATE);
    stage->batch = problem->dims != 2 ? 1 : (int)tz_max(1, tz_min(6, l1 / row));
    if (stage->storage) /* what slabs share is loaded once */
        stage->batch = problem->dims == 2 ? 16 : 8;
}

/* Ghost zones grow with the reach of an iteration, so the height is that for radius 1 divided by
 * the reach, rounded. With many fields in 2-D it is less: their rings leave room for a narrow tile,
 * and its width should be WIDTH_OF_GHOSTS times the ghost zone of a side. */
static void choose_height(const tz_problem *problem, const tz_machine *machine, tz_plan *plan)
{
    static const int best[] = TZ_FIT_CPU_HEIGHTS, best_bits[] = TZ_FIT_CPU_HEIGHTS_BITS;
    const int r = growth_max(problem);
    const int *heights = problem->bits ? best_bits : best;
    const int height = (2 * heights[problem->dims] + r) / (2 * r);
    const double most = sqrt(slab_budget(problem, machine, 1) / (WIDTH_OF_GHOSTS * r));
    plan->height = problem->dims == 2 && !problem->bits && most < height ? (int)most : height;
    plan->height = plan->height < 1 ? 1 : plan->height;
}

/* The length of a chunk of the stream axis. A chunk of n slabs costs about n + halo, and the time
 * is that of the slowest thread. Returns the shortest chunk that costs at most 1 % more than the
 * best: with more chunks, other threads can take over the work of a thread that is delayed. */
static int64_t choose_chunk(int64_t extent, int64_t tiles, int64_t halo, int threads)
{
    int64_t best_cost = INT64_MAX, best = extent;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t parts = 1; parts <= extent && tiles * parts <= 8 * (int64_t)threads; parts++) {
            const int64_t chunk = (extent + parts - 1) / parts;
            const int64_t cost = (tiles * parts + threads - 1) / threads * (chunk + halo);
            if (pass == 0)
                best_cost = tz_min(best_cost, cost);
            else if (cost <= best_cost + best_cost / 100)
                best = chunk;
        }
    return best;
}

static void choose_tile(const tz_problem *problem, const tz_stage *stage, const tz_machine *machine,
                        tz_plan *plan)
{
    const int threads = stage->threads;
    const int64_t *n = problem->elements;
    const int last = problem->dims - 1;
    int64_t halo[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++)
        halo[axis] = (int64_t)plan->height * tz_cpu_growth(problem, axis);
    const double budget = slab_budget(problem, machine, plan->height);
    /* A batch of rows must fit L1. */
    const int64_t size = (int64_t)tz_problem_element_size(problem, 0);
    const int64_t row_elements = ROW_BYTES / size;
    const int64_t in_l3 =
        problem->dims == 1 ? 0
                           : tz_min(row_elements, row_in_l3(problem, machine, stage, plan->height));
    int64_t *tile = plan->tile;
    if (problem->bits)
        tile[0] = n[0]; /* the layout of bits does not allow cutting rows */
    if (problem->dims == 1 && tile[0] == 0)
        tile[0] = tz_cpu_split_evenly(
            n[0],
            tz_max(16 * halo[0], tz_min(LINE_ELEMENTS, (n[0] + 2 * threads - 1) / (2 * threads))),
            TZ_ALIGN_ELEMENTS);
    if (problem->dims == 2 && tile[0] == 0)
        tile[0] = tz_cpu_split_evenly(
            n[0], tz_max(8 * halo[0], tz_max(in_l3, tz_min((int64_t)budget, row_elements))),
            TZ_ALIGN_ELEMENTS);
    if (problem->dims == 3) {
        /* A tile whose rings fill more than L2 is faster than one with much redundant work. */
        if (tile[0] == 0)
            tile[0] = tz_cpu_split_evenly(
                n[0], tz_max(tz_max(in_l3, ROW_BYTES_3D / size), 8 * halo[0]), TZ_ALIGN_ELEMENTS);
        if (tile[1] == 0)
            tile[1] = tz_cpu_split_evenly(
                n[1],
                tz_max((int64_t)(budget / (double)tile[0]) - 2 * halo[1], ROWS_OF_GHOSTS * halo[1]),
                1);
    }
    if (problem->dims > 1 && tile[last] == 0) {
        const int64_t rows = problem->dims == 3 ? (n[1] + tile[1] - 1) / tile[1] : 1;
        const int64_t tiles = (n[0] + tile[0] - 1) / tile[0] * rows;
        tile[last] = choose_chunk(n[last], tiles, halo[last], threads);
    }
    for (int axis = 0; axis < TZ_AXES; axis++)
        tile[axis] = axis < problem->dims ? tz_max(1, tz_min(tile[axis], n[axis])) : 1;
}

/* A plan whose rings may take any number of bytes. */
static tz_status complete(const tz_cpu_grid *grid, tz_plan *plan, tz_error *error)
{
    const tz_problem *problem = grid->problem;
    tz_status status = check_given(problem, plan, error);
    if (status)
        return status;
    if (problem->bits && plan->tile[0] > 0 && plan->tile[0] < problem->elements[0])
        return tz_error_set(
            error, TZ_RANGE, "tile",
            "rows of a bit field are not cut: omit the tile's x or set it to %" PRId64,
            problem->elements[0]);
    const bool height_chosen = plan->height == 0, tile_chosen = plan->tile[0] == 0;
    if (height_chosen)
        choose_height(problem, grid->machine, plan);
    choose_tile(problem, &grid->stage, grid->machine, plan);
    tz_cpu_finish_plan(plan, &tz_cpu_stream, height_chosen, tile_chosen);
    const size_t length = strlen(plan->why);
    snprintf(plan->why + length, sizeof plan->why - length, " (L2 %" PRId64 " KiB)",
             grid->machine->l2_bytes >> 10);
    return TZ_OK;
}

static tz_status stream_plan(const tz_cpu_grid *grid, tz_plan *plan, tz_error *error)
{
    const tz_plan given = *plan;
    const tz_status status = complete(grid, plan, error);
    if (status)
        return status;
    const int wanted = plan->height;
    for (;;) {
        const tz_stage stage = tz_cpu_stage_of(grid, &tz_cpu_stream, plan);
        if (rings_bytes(&stage) * stage.threads <= RINGS_MAX || plan->height <= 1)
            break;
        const int lower = plan->height - (plan->height + 7) / 8;
        *plan = given;
        plan->height = lower;
        complete(grid, plan, NULL);
    }
    if (given.height > 0 && plan->height < wanted)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d with a tile of %" PRId64 " x %" PRId64
                            " needs more than %" PRId64
                            " MiB of work space: use a height up to %d, or a smaller tile",
                            wanted, plan->tile[0], plan->tile[1], RINGS_MAX >> 20, plan->height);
    return TZ_OK;
}

/* Of a height: the default tile, and tiles with rows (in 3-D also planes) of half and twice the
 * length. */
static void add_tiles(const tz_cpu_grid *grid, const tz_plan *given, int height,
                      tz_cpu_plans *plans)
{
    const tz_problem *problem = grid->problem;
    tz_plan usual = *given;
    usual.height = height;
    if (complete(grid, &usual, NULL))
        return;
    const bool free_x = given->tile[0] == 0 && !problem->bits;
    const bool free_y = given->tile[1] == 0 && problem->dims == 3;
    for (int x = free_x ? -1 : 0; x <= (free_x ? 1 : 0); x++)
        for (int y = free_y ? -1 : 0; y <= (free_y ? 1 : 0); y++) {
            tz_plan plan = *given;
            plan.height = height;
            if (x != 0)
                plan.tile[0] = tz_round_up(tz_max(1, x < 0 ? usual.tile[0] / 2 : usual.tile[0] * 2),
                                           TZ_ALIGN_ELEMENTS);
            if (y != 0)
                plan.tile[1] = tz_max(1, y < 0 ? usual.tile[1] / 2 : usual.tile[1] * 2);
            for (int axis = 0; axis < problem->dims; axis++)
                plan.tile[axis] = tz_min(plan.tile[axis], problem->elements[axis]);
            tz_cpu_add(plans, &plan);
        }
}

static void stream_candidates(const tz_cpu_grid *grid, const tz_plan *given, tz_cpu_plans *plans)
{
    for (int height = 0; (height = tz_cpu_height_next(grid->problem, given, height)) > 0;)
        add_tiles(grid, given, height, plans);
}

static void stream_run(tz_cpu_room *room, tz_stage *stage, uint32_t written)
{
    int from[TZ_FIELDS_MAX];
    tz_stage_run(stage, room->pipeline, room->arena, room->arena_bytes);
    for (int f = 0; f < stage->stencil->fields_count; f++)
        from[f] = tz_pipeline_hands_over(room->pipeline, f);
    tz_host_store_advance(room->store, written, from);
}

static tz_status stream_count(const tz_stage *stage, tz_stage_counts *out, tz_error *error)
{
    tz_pipeline *pipeline = malloc(tz_pipeline_size(stage->stencil, stage->height));
    if (!pipeline)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    tz_stage_count(stage, pipeline, out);
    free(pipeline);
    return TZ_OK;
}

const tz_cpu_family tz_cpu_stream = {.name = "stream",
                                     .plan = stream_plan,
                                     .candidates = stream_candidates,
                                     .describe = stream_describe,
                                     .room = rings_bytes,
                                     .run = stream_run,
                                     .count = stream_count};
