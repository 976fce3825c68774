/* The families tile and whole: Meng and Skadron's tiles in shared memory (kernels/tile.cuh).
 * core/papers.c adds them to the families. In tile an iteration computes what later ones need, and
 * a thread has several elements; in whole, the second of the ways in section 3.3 of the paper
 * (2009), the paper's own kernel, each iteration computes the whole tile, and a thread has one
 * element. */
#include "backend/cuda/family/work.h"
#include "base/embed.h"
#include "base/minmax.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TZ_EMBED(tz_papers_text_tile, "tile.cuh");
TZ_EMBED(tz_papers_text_tile_kernel, "tile_kernel.cuh");

enum { TILE_WARPS = 8 };        /* of a block */
enum { BYTES_MAX = 200 << 10 }; /* of a tile with its ghost zone, even if a block has more */

/* Elements of a tile with its ghost zone. */
static int64_t elements_of(const tz_problem *problem, const tz_plan *plan)
{
    const int64_t halo = (int64_t)plan->height * tz_stencil_reach(problem->stencil);
    int64_t elements = 1;
    for (int d = 0; d < problem->dims; d++)
        elements *= plan->tile[d] + 2 * halo;
    return elements;
}

static int64_t shared_bytes(const tz_problem *problem, const tz_plan *plan)
{
    const int64_t elements = elements_of(problem, plan);
    int64_t bytes = 0;
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
    if (chosen)
        plan->height = heights[problem->dims] / r > 0 ? heights[problem->dims] / r : 1;
    for (int d = 0; d < TZ_AXES; d++) {
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
    return TZ_OK;
}

/* The blocks of table 2 of the paper, with their ghost zones. */
static const int64_t WHOLE_BLOCKS[][TZ_AXES] = {{0}, {256, 1, 1}, {20, 20, 1}, {8, 8, 8}};
enum { WHOLE_THREADS_MAX = 1024 }; /* of more elements a thread has several */

static tz_status whole_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                            tz_error *error)
{
    const int warps = plan->warps, reach = tz_stencil_reach(problem->stencil);
    plan->warps = 0;
    const char *knob = tz_plan_first_knob(plan);
    if (knob)
        return tz_error_set(error, TZ_UNSUPPORTED, "plan", "whole tiles take no '%s'", knob);
    plan->height = plan->height > 0 ? plan->height : 1;
    for (int d = 0; d < TZ_AXES; d++) {
        const int64_t inner = WHOLE_BLOCKS[problem->dims][d] - 2 * (int64_t)plan->height * reach;
        if (plan->tile[d] == 0)
            plan->tile[d] = d < problem->dims && inner > 1 ? inner : 1;
        if (plan->tile[d] > problem->elements[d])
            plan->tile[d] = problem->elements[d];
    }
    if (shared_bytes(problem, plan) > limits->shared_bytes)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "a tile of %" PRId64 " x %" PRId64 " x %" PRId64
                            " with its ghost zone does not fit a block's shared memory: use a "
                            "smaller one, or a lower height",
                            plan->tile[0], plan->tile[1], plan->tile[2]);
    const int64_t elements = elements_of(problem, plan);
    plan->warps = (int)((tz_min(elements, WHOLE_THREADS_MAX) + 31) / 32);
    return warps == 0 || warps == plan->warps
               ? TZ_OK
               : tz_error_set(error, TZ_RANGE, "warps",
                              "a thread an element makes %d warps, not %d: leave 'warps' out",
                              plan->warps, warps);
}

static int threads_of(const tz_plan *plan)
{
    return 32 * (plan->warps > 0 ? plan->warps : TILE_WARPS);
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
    *shape = (tz_cuda_shape){.threads = threads_of(plan),
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

/* ---- The device text ------------------------------------------------------------------------ */

static void tile_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                           const tz_plan *plan)
{
    (void)limits;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_lists(t, problem);
    tz_cuda_emit(t, "#define TZ_THREADS %d\n#define TZ_REACH %d\n#define TZ_WHOLE %d\n%s",
                 threads_of(plan), tz_stencil_reach(problem->stencil), plan->warps > 0,
                 tz_papers_text_tile);
    for (int p = 0; p < problem->stencil->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    tz_cuda_emit(t, "%s", tz_papers_text_tile_kernel);
}

/* ---- The planner ---------------------------------------------------------------------------- */

/* ---- The loops of a kernel ------------------------------------------------------------------- */

/* Loops that compute write elements to shared memory. If passes read none there, a loop over
 * iterations around them tells them from the loops that load the tile. */
static double tile_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         const tz_cuda_loop *loop)
{
    (void)limits;
    (void)plan;
    return loop->way.of[TZ_WORK_SHARED_READ] > 0.0 || loop->parent >= 0
               ? loop->way.of[TZ_WORK_SHARED_WRITE] / tz_cuda_written_count(problem)
               : 0.0;
}

/* One element into or out of shared memory, from a loop that moves several at once. */
static void take_copy(tz_work_part *part, const tz_cuda_loop *loop, double elements)
{
    if (elements <= part->steps)
        return; /* the remainder of an unrolled loop */
    tz_cuda_take_loop(part, loop, elements, 0.0, (tz_cuda_lanes){1.0, 1.0});
    part->steps = elements;
    part->once_waits = loop->memory_waits / elements;
}

/* Two loop nests compute: one for inner blocks and a more expensive one for border blocks. In each,
 * the loop over elements is inside the loop over iterations, which may contain a part of a pass. */
static void tile_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    const tz_problem *problem = code->problem;
    const tz_cuda_mix *mix = code->mix;
    const int *at = code->at;
    const double *steps = code->steps;
    const double written = tz_cuda_written_count(problem);
    double states = 0.0;
    int nests[2] = {-1, -1};
    tz_work_part *const elements[] = {&out->inner, &out->side};
    tz_work_part *const passes[] = {&out->end, &out->side_end};
    for (int f = 0; f < problem->stencil->fields_count; f++)
        states += problem->stencil->fields[f].role == TZ_STATE;
    memset(&out->load, 0, sizeof out->load);
    memset(&out->store, 0, sizeof out->store);
    for (int k = 0; k < 2; k++) {
        /* The nest with the cheapest step is that of inner blocks. */
        int main_loop = -1;
        for (int c = 0; c < code->count; c++) {
            const int nest = tz_cuda_outermost(mix, at[c]);
            if (k == 1 && nest == nests[0])
                continue;
            if (nests[k] < 0)
                nests[k] = nest;
            if (nest == nests[k] && (main_loop < 0 || steps[c] > steps[main_loop]))
                main_loop = c;
        }
        if (main_loop < 0) {
            *elements[k] = *elements[0];
            *passes[k] = *passes[0];
            continue;
        }
        tz_cuda_take_loop(elements[k], &mix->loops[at[main_loop]], steps[main_loop], 1.0,
                          code->lanes);
        elements[k]->waits = mix->loops[at[main_loop]].memory_waits / steps[main_loop];
        memset(passes[k], 0, sizeof *passes[k]);
        const int around = mix->loops[at[main_loop]].parent;
        if (around >= 0) {
            tz_cuda_take_loop(passes[k], &mix->loops[around], 1.0, 0.0, code->lanes);
            passes[k]->steps = passes[k]->step.of[TZ_WORK_SHARED_WRITE] / written;
            passes[k]->waits = mix->loops[around].memory_waits;
        }
    }
    const tz_work_mix *one = &out->inner.step;
    out->skipped = tz_work_mix_sum(one) - one->of[TZ_WORK_FP32] - one->of[TZ_WORK_FP64] -
                   one->of[TZ_WORK_SHARED_READ] - one->of[TZ_WORK_SHARED_WRITE] -
                   one->of[TZ_WORK_READ] - one->of[TZ_WORK_SPECIAL];
    for (int l = 0; l < mix->loops_count; l++) {
        const tz_cuda_loop *loop = &mix->loops[l];
        const double in = loop->way.of[TZ_WORK_SHARED_WRITE];
        if (loop->parent >= 0 || (in > 0.0 && loop->way.of[TZ_WORK_SHARED_READ] > 0.0))
            continue;
        if (in > 0.0)
            take_copy(&out->load, loop, in / states);
        else if (loop->stores > 0.0)
            take_copy(&out->store, loop, loop->stores / written);
    }
}

/* ---- A stage --------------------------------------------------------------------------------- */

/* Rounds of warps over a slab of `extent` elements in which at least one lane is in the box that
 * extends `rest` cells beyond the tile. The elements of the slab form one row, 32 for each warp. */
static double rounds_wanted(const double extent[TZ_AXES], const double halo[], double rest,
                            int dims)
{
    double last = -1.0, count = 0.0, low[TZ_AXES] = {0}, high[TZ_AXES] = {1.0, 1.0, 1.0};
    for (int d = 0; d < dims; d++) {
        low[d] = halo[d] - rest;
        high[d] = extent[d] - low[d];
    }
    for (double z = low[2]; z < high[2]; z++)
        for (double y = low[1]; y < high[1]; y++) {
            const double row = extent[0] * (y + extent[1] * z);
            const double begin = floor((row + low[0]) / 32.0);
            const double end = floor((row + high[0] - 1.0) / 32.0);
            count += end - fmax(begin, last + 1.0) + 1.0;
            last = end;
        }
    return count;
}

/* Adds a copy in or out: `rounds` of the slowest warp, `done` of all warps of a block. */
static void add_copy(tz_work_part *part, const tz_work_part *copy, double rounds, double done,
                     double warps)
{
    tz_rounds_blend(&part->once_rounds, 1.0, &copy->rounds, done / warps);
    tz_work_mix_add(&part->once, &copy->step, done / warps);
    part->once_clocks += rounds * copy->clocks;
}

/* Each multiprocessor gets `each` blocks, of which a random share are border blocks. Returns the
 * typical number of border blocks of the multiprocessor that has most. */
static double count_crowd(double each, double share, double multiprocessors)
{
    double most = 0.0, tail = 1.0, here = pow(1.0 - share, each);
    for (double k = 0.0; k <= each; k++) {
        if (tail * multiprocessors >= 1.0)
            most = k;
        tail -= here;
        here *= (each - k) / (k + 1.0) * share / fmax(1.0 - share, 1e-12);
    }
    return share >= 1.0 ? each : most;
}

/* A tile with its ghost zone, and the rounds of warps over it. */
typedef struct slab {
    double warps;            /* of a block */
    double extent;           /* elements */
    double useful;           /* the tile's own elements */
    double computed, wanted; /* elements and warps' rounds of all passes */
    double passes;           /* of a stage */
    double all, rounds;      /* rounds over the slab in a pass: of all warps; of the slowest warp */
    double taken;            /* warps' rounds over the tile */
    double inner;            /* blocks away from the grid's border */
} slab;

static slab slab_of(const tz_cuda_job *job, double threads)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_stencil *stencil = problem->stencil;
    const double halo = (double)plan->height * tz_stencil_reach(stencil);
    double extents[TZ_AXES] = {1.0, 1.0, 1.0}, halos[TZ_AXES] = {0};
    slab s = {.warps = threads / 32.0,
              .extent = 1.0,
              .useful = 1.0,
              .inner = 1.0,
              .passes = (double)plan->height * stencil->passes_count};
    for (int d = 0; d < problem->dims; d++) {
        const double tiles = job->shape->grid[d];
        halos[d] = halo;
        extents[d] = (double)plan->tile[d] + 2.0 * halo;
        s.extent *= extents[d];
        s.useful *= (double)plan->tile[d];
        s.inner *= tiles - fmin(tiles, 2.0 * ceil(halo / (double)plan->tile[d]));
    }
    /* A step is one element of a thread in one pass. Threads visit the entire slab and compute the
     * elements that later passes need. */
    double rest = halo;
    for (int t = 0; t < plan->height; t++)
        for (int p = 0; p < stencil->passes_count; p++) {
            double region = 1.0;
            rest -= stencil->passes[p].radius;
            for (int d = 0; d < problem->dims; d++)
                region *= (double)plan->tile[d] + 2.0 * rest;
            s.computed += region;
            s.wanted += rounds_wanted(extents, halos, rest, problem->dims);
        }
    s.all = ceil(s.extent / 32.0);
    s.rounds = ceil(s.extent / threads);
    s.taken = rounds_wanted(extents, halos, 0.0, problem->dims);
    return s;
}

/* Fills a part with a stage of its warps. `code` is a step that computes an element, `end` the
 * other instructions of a pass. */
static void fill_part(tz_work_part *part, const slab *s, const tz_cuda_steps *steps,
                      const tz_work_part *code, const tz_work_part *end)
{
    const double left = fmax(1.0, s->rounds - end->steps), of_all = s->all / s->warps / s->rounds;
    const double share = s->wanted / (s->all * s->passes);
    const double straight = tz_work_mix_sum(&part->once);
    part->steps = left * s->passes;
    /* Some warps have fewer rounds than others, and some of their rounds compute nothing. */
    memset(&part->step, 0, sizeof part->step);
    tz_work_mix_add(&part->step, &code->step, share * of_all);
    part->step.of[TZ_WORK_CONTROL] += (1.0 - share) * of_all * steps->skipped;
    part->shared_wavefronts *= share * of_all;
    const double of_code =
        (share + (1.0 - share) * steps->skipped / fmax(tz_work_mix_sum(&code->step), 1.0)) * of_all;
    memset(&part->rounds, 0, sizeof part->rounds);
    tz_rounds_blend(&part->rounds, 0.0, &code->rounds, of_code);
    tz_rounds_blend(&part->rounds, 1.0, &end->rounds, 1.0 / left);
    tz_work_mix_add(&part->step, &end->step, 1.0 / left);
    part->shared_wavefronts += end->shared_wavefronts / left;
    part->clocks += end->clocks / left;
    tz_work_mix_add(&part->chain, &end->chain, 1.0 / left);
    part->waits += end->waits / left;
    add_copy(part, &steps->load, s->rounds, s->all, s->warps);
    add_copy(part, &steps->store, ceil(s->taken / s->warps), s->taken, s->warps);
    part->once_waits = ceil(s->rounds * steps->load.once_waits);
    part->text_bytes += end->text_bytes + steps->load.text_bytes + steps->store.text_bytes +
                        TZ_SASS_BYTES * straight;
}

static void tile_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(job->problem);
    const tz_cuda_steps *steps = job->steps;
    const tz_work_part *const codes[] = {&steps->inner, &steps->side};
    const tz_work_part *const ends[] = {&steps->end, &steps->side_end};
    const slab s = slab_of(job, out->threads);
    const double blocks[] = {s.inner, out->blocks - s.inner};
    const double multiprocessors = job->limits->multiprocessors;
    const double each = ceil(out->blocks / multiprocessors);
    double crowd[2] = {0};
    if (each <= 2.0 * job->blocks) {
        crowd[1] = count_crowd(each, blocks[1] / out->blocks, multiprocessors);
        crowd[0] = each - crowd[1];
    }
    for (int k = 0; k < 2; k++) {
        tz_work_part *part =
            tz_cuda_add_part(out, k ? "border" : "inner", codes[k], blocks[k] * s.warps, 1.0);
        if (part) {
            part->busiest_warps = crowd[k] * s.warps;
            fill_part(part, &s, steps, codes[k], ends[k]);
        }
    }
    out->redundancy = fmax(1.0, s.computed / (s.useful * s.passes));
    const double loaded =
        out->blocks * s.extent * (bytes.state + (bytes.fixed + bytes.streamed) * job->plan->height);
    out->ghost_bytes = fmax(0.0, loaded - out->read_bytes);
    out->streamed_bytes = (double)tz_cuda_pitch(job->problem) * bytes.streamed *
                          job->plan->height; /* slabs are rows */
    out->ahead_bytes = 0.0;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* The paper's tiles are slower than streams, but support more stencils. */
static void tile_candidates(tz_cuda_plans *plans)
{
    static const int heights[] = {1, 2, 4};
    for (int k = 0; k < 3; k++)
        tz_cuda_plans_add(plans, plans->given->height ? plans->given->height : heights[k], 0, 0);
}

static const tz_cuda_planner tile_planner = {
    .steps = tile_steps,
    .parts = tile_parts,
    .work = tile_work,
    .candidates = tile_candidates,
};

/* It is there to be measured beside the paper's equations, which predict it. */
static double whole_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                          const tz_cuda_loop *loop)
{
    (void)problem;
    (void)limits;
    (void)plan;
    (void)loop;
    return 0.0;
}

static void whole_candidates(tz_cuda_plans *plans)
{
    tz_cuda_plans_add(plans, plans->given->height, 0, 0);
}

static const tz_cuda_planner whole_planner = {
    .steps = whole_steps,
    .parts = tile_parts,
    .work = tile_work,
    .candidates = whole_candidates,
};

const tz_cuda_family tz_cuda_family_whole = {
    .name = "whole",
    .doc = "the same, an element a thread, of which each iteration computes all",
    .dims_low = 1,
    .dims_high = 3,
    .named = true,
    .height_max = 512,
    .plan = whole_plan,
    .emit = tile_text_emit,
    .warps = TILE_WARPS,
    .shared_bytes = tile_shared_bytes,
    .shape = tile_shape,
    .planner = &whole_planner,
};

const tz_cuda_family tz_cuda_family_tile = {
    .name = "tile",
    .doc = "tiles with their ghost zones in shared memory",
    .dims_low = 1,
    .dims_high = 3,
    .named = true,
    .height_max = 512,
    .plan = tile_plan,
    .emit = tile_text_emit,
    .warps = TILE_WARPS,
    .shared_bytes = tile_shared_bytes,
    .shape = tile_shape,
    .planner = &tile_planner,
};
