/* The work of a stage of the block family, and the family's candidates. */
#include "backend/cuda/family/work.h"
#include "backend/cuda/family/block/design.h"

#include <math.h>
#include <string.h>

/* The only loop that stores: each step stores an element of every written field. */
static double block_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                          const tz_cuda_loop *loop)
{
    (void)limits;
    (void)plan;
    return loop->parent < 0 ? loop->stores / tz_cuda_written_count(problem) : 0.0;
}

/* Lanes of a narrow block are in several rows of a tile, which may share banks. */
static tz_cuda_lanes block_lanes(const tz_problem *problem, const tz_plan *plan)
{
    enum { BANKS_BYTES = 128 };
    block_design d;
    int passes = 1;
    block_design_make(&d, problem, plan);
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const int lanes = BANKS_BYTES / (int)tz_problem_element_size(problem, f);
        int in_bank[BANKS_BYTES] = {0};
        for (int lane = 0; d.fields[f].tiled && lane < lanes; lane++) {
            const int at = lane / d.x * (d.x + d.low[0] + d.high[0]) + lane % d.x;
            const int same = ++in_bank[at % lanes];
            passes = same > passes ? same : passes;
        }
    }
    return (tz_cuda_lanes){.conflict = passes, .stored = 1.0};
}

static void block_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    tz_cuda_take_loop(&out->inner, &code->mix->loops[code->at[0]], code->steps[0], 0.0,
                      code->lanes);
}

/* Bytes that a warp loads in a step and, besides, at a chunk's start; and the same of fields that no
 * pass reads, which are not loaded. */
typedef struct block_loads {
    double step, start, unread;
} block_loads;

/* Left and right of a tile are parts of sectors of 32 bytes. */
static double halo_bytes(const block_design *d, double size)
{
    const double beside = ceil(d->low[0] * size / TZ_CUDA_SECTOR_BYTES) +
                          ceil(d->high[0] * size / TZ_CUDA_SECTOR_BYTES);
    const double rows = d->low[1] + d->high[1];
    return rows * d->x * size + TZ_CUDA_SECTOR_BYTES * beside * (d->y + (d->corners ? rows : 0.0));
}

static block_loads loads_of(const tz_problem *problem, const block_design *d)
{
    const double warps = d->threads / 32.0;
    block_loads loads = {0};
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const block_field *field = &d->fields[f];
        const double size = (double)tz_problem_element_size(problem, f);
        const double halo = halo_bytes(d, size) / warps;
        const bool streamed = problem->stencil->fields[f].role == TZ_STREAMED;
        if (!field->read && !streamed) {
            loads.unread += size;
            continue;
        }
        loads.step += 32.0 * size + (field->tiled ? halo : 0.0);
        loads.start += size * 32.0 * (field->high - field->low);
        if (field->tiled)
            loads.start += halo * (d->below + d->above);
    }
    return loads;
}

static void block_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const int last = problem->dims - 1;
    block_design d;
    block_design_make(&d, problem, job->plan);
    const block_loads loads = loads_of(problem, &d);
    const double chunk = job->shape->geometry[0] / (double)d.stride;
    const double tiles = (double)job->shape->geometry[1] * job->shape->geometry[2];
    const double steps = ceil((double)problem->elements[last] / d.stride);
    const double warps = d.threads / 32.0, chunks = ceil(steps / chunk);
    const double padded = (double)tz_cuda_pitch(problem) * (double)problem->elements[1] *
                          (double)problem->elements[2];
    out->read_bytes -= padded * loads.unread;
    tz_work_part *part =
        tz_cuda_add_part(out, "inner", &job->steps->inner, warps * tiles * chunks, steps / chunks);
    if (!part)
        return;
    part->bytes = loads.step;
    part->late = 0.0; /* the next step's loads come first in a step */
    out->redundancy = tz_cuda_count_redundancy(out, 32.0, tz_cuda_elements_of(problem));
    tz_cuda_count_ghosts(out, loads.step, loads.start / loads.step, d.span / chunk);
    out->ahead_bytes = loads.step * d.ahead;
    out->marches = true;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Adds the plan of a block shape. */
static void add_shape(tz_cuda_plans *plans, int64_t x, int64_t y, int ahead)
{
    tz_plan given = *plans->given;
    if ((given.tile[0] && given.tile[0] != x) || (given.tile[1] && given.tile[1] != y) ||
        (given.ahead && given.ahead != ahead))
        return;
    given.ahead = ahead;
    given.tile[0] = x;
    given.tile[1] = y;
    tz_cuda_plans others = *plans;
    others.given = &given;
    tz_cuda_plans_add(&others, 1, 0, 0);
    plans->count = others.count;
}

/* Whole warps side by side, in blocks of 128 to 1024 threads, that load one or two planes ahead. Where
 * other families are compared, too, a few of these. */
static void block_candidates(tz_cuda_plans *plans)
{
    const tz_plan *given = plans->given;
    const bool alone = strcmp(given->family, plans->family->name) == 0;
    const int dims = plans->problem->dims;
    if (tz_cuda_refusal(plans->family, plans->problem))
        return;
    if (alone && given->tile[0] && (given->tile[1] || dims == 1)) {
        tz_cuda_plans_add(plans, 1, 0, 0);
        return;
    }
    for (int ahead = 1; ahead <= (dims == 3 ? 2 : 1); ahead++)
        for (int y = 1; y <= (dims > 1 ? 32 : 1); y *= 2)
            for (int x = 32; x <= 256 && x * y <= 1024; x *= 2)
                if (alone ? x * y >= 128 : dims == 1 ? x == 256 : x == 32 && (y == 8 || y == 16))
                    add_shape(plans, x, y, ahead);
}

const tz_cuda_planner block_planner = {
    .lanes = block_lanes,
    .steps = block_steps,
    .parts = block_parts,
    .work = block_work,
    .candidates = block_candidates,
};
