/* The work of a stage of the resident family, and the family's candidates. */
#include "backend/cuda/family/work.h"
#include "backend/cuda/family/resident/design.h"
#include "model/constants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- The loops of a kernel ------------------------------------------------------------------- */

static double resident_steps(const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan, const tz_cuda_loop *loop)
{
    tz_resident d;
    if (loop->way.of[TZ_WORK_SHARED_WRITE] == 0.0 || loop->stores > 0.0 ||
        !tz_resident_design(problem, limits, plan, &d))
        return 0.0;
    return loop->way.of[TZ_WORK_BARRIER] / problem->stencil->passes_count /
           (d.buffers == 1 ? 2.0 : 1.0);
}

/* The cells of a brick, at each height. */
static double resident_updates(const tz_problem *problem, const tz_limits *limits,
                               const tz_plan *plan)
{
    tz_resident d;
    return tz_resident_design(problem, limits, plan, &d)
               ? (double)d.cells[0] * d.cells[1] * d.cells[2]
               : 1.0;
}

/* An exchange: the loop around the iterations, with its inner loops that wait for words. */
static void find_exchange(const tz_cuda_mix *mix, int inner, tz_cuda_steps *out)
{
    const int around = tz_cuda_outermost(mix, inner);
    int own = inner; /* its inner loop over iterations */
    memset(&out->end, 0, sizeof out->end);
    if (around == inner)
        return;
    while (mix->loops[own].parent != around)
        own = mix->loops[own].parent;
    tz_cuda_take_loop(&out->end, &mix->loops[around], 1.0, TZ_FIT_DIVERGED,
                      (tz_cuda_lanes){1.0, 1.0});
    for (int l = 0; l < mix->loops_count; l++)
        if (mix->loops[l].parent == around && l != own) {
            tz_work_mix_add(&out->end.step, &mix->loops[l].way, 1.0);
            out->end.clocks += mix->loops[l].clocks;
            tz_rounds_blend(&out->end.rounds, 1.0, &mix->loops[l].rounds, 1.0);
            out->end.once_waits += mix->loops[l].reads_words > 0.0;
        }
}

static void resident_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    tz_cuda_take_ends(code, TZ_FIT_DIVERGED, out);
    find_exchange(code->mix, code->at[0], out);
}

/* ---- A stage --------------------------------------------------------------------------------- */

/* A step takes less time than the code tells if bricks are in registers. So it does if a tile has rows, and no warp has
 * parts of two of them. */
static void fit_step(const tz_resident *d, int dims, tz_work_part *part)
{
    const double share = (d->held ? TZ_FIT_RESIDENT_HELD : 1.0) *
                         (dims > 1 && d->threads[0] % 32 == 0 ? TZ_FIT_RESIDENT_WHOLE_ROWS : 1.0);
    const tz_rounds rounds = part->rounds;
    part->clocks *= share;
    tz_rounds_blend(&part->rounds, share, &rounds, 0.0);
}

static void resident_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    tz_resident d;
    if (!tz_resident_design(problem, job->limits, plan, &d))
        return;
    tz_work_part *part = &out->parts[out->parts_count++];
    *part = job->steps->inner;
    snprintf(part->name, sizeof part->name, "bricks");
    part->warps = out->blocks * d.warps;
    part->steps = plan->height;
    fit_step(&d, problem->dims, part);
    /* Each stage of a launch ends with an exchange; a launch loads and stores the grid once. */
    out->stages_per_launch = fmax(1.0, (double)plan->launch_iterations / plan->height);
    tz_work_mix once = part->once;
    memset(&part->once, 0, sizeof part->once);
    tz_work_mix_add(&part->once, &once, 1.0 / out->stages_per_launch);
    tz_resident_exchange e = {.sectors = 0.0};
    double share = 0.0;
    if (d.ghost > 0) {
        const double all = ceil((double)d.cells[0] * d.cells[1] * d.cells[2] / d.batch);
        tz_resident_count(problem, &d, &e);
        share = d.gather > 0 ? 1.0 : e.batches_mean / all;
        tz_work_mix_add(&part->once, &job->steps->end.step, share);
        tz_rounds_blend(&part->once_rounds, 0.0, &job->steps->end.rounds, share);
        share = d.gather > 0 ? 1.0 : e.batches_most / all;
    }
    part->once_clocks = TZ_FIT_RESIDENT_EXCHANGE_SHARE * share * job->steps->end.clocks +
                        part->once_clocks / out->stages_per_launch;
    /* The first batch of ghost cells is read again until all words have arrived. By then those of the
     * others have arrived, too, but each batch is requested only when the one before is here. */
    out->syncs = d.ghost > 0 ? TZ_FIT_RESIDENT_SYNC : 0.0;
    const double batches = d.gather > 0
                               ? tz_resident_request_time(&d, &e) + TZ_FIT_RESIDENT_GATHERED_TIME
                               : d.groups * e.batches_most;
    part->once_waits = 1.0 + TZ_FIT_RESIDENT_BATCH * fmax(0.0, batches - 1.0);
    if (bytes.streamed > 0.0) {
        /* The next row is loaded when a step begins. */
        part->waits = 1.0;
        out->ahead_bytes = part->bytes;
    }
    double tile = 1.0, own = 1.0;
    for (int axis = 0; axis < problem->dims; axis++) {
        tile *= (double)d.cells[axis] * d.threads[axis];
        own *= (double)problem->elements[axis] / d.blocks[axis];
    }
    out->redundancy = fmax(1.0, tile / own);
    out->ghost_bytes = out->blocks * e.sectors * d.sent_words * TZ_CUDA_SECTOR_BYTES;
    out->slots_bytes = tz_resident_slots_bytes(problem, &d);
    out->read_bytes /= out->stages_per_launch;
    out->streamed_bytes = (double)tz_cuda_pitch(problem) * bytes.streamed * plan->height;
    out->read_bytes += out->streamed_bytes;
    out->write_bytes /= out->stages_per_launch;
    out->resident_bytes = 0.0;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* False if the height does not fit. */
static bool add_candidate(tz_cuda_plans *plans, int height, int vector, int warps)
{
    tz_plan plan;
    tz_resident design;
    bool made;
    const bool taken = tz_cuda_plans_make(plans, height, vector, warps, &plan, &made);
    if (made && (plans->given->family[0] ||
                 !tz_resident_design(plans->problem, plans->limits, &plan, &design) ||
                 !tz_resident_is_lengthy(plans->problem, &design)))
        tz_cuda_plans_keep(plans, &plan);
    return taken;
}

/* The cheapest way to cut a grid by the costs of design.c is not always the fastest: the model knows
 * more of those for which there is a text. */
static void resident_candidates(tz_cuda_plans *plans)
{
    static const int heights[] = {1, 2, 4, 6, 8, 12, 16, 24};
    static const tz_cuda_variant others[] = {{1, 0}, {0, 8}, {0, 12}, {0, 16}, {1, 12}};
    for (int k = 0; k < 8; k++) {
        const int height = plans->given->height ? plans->given->height : heights[k];
        if (!add_candidate(plans, height, 0, 0) && k > 0)
            break;
        for (size_t n = 0; n < sizeof others / sizeof *others; n++)
            add_candidate(plans, height, others[n].vector, others[n].warps);
    }
}

const tz_cuda_planner resident_planner = {
    .refits = true,
    .steps = resident_steps,
    .updates = resident_updates,
    .parts = resident_parts,
    .work = resident_work,
    .candidates = resident_candidates,
};
