/* What stages of the tile and resident families do. */
#include "cuda/work.h"

#include "cuda/resident_design.h"
#include "sim/host_store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void tz_cuda_work_tile(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_stencil *stencil = problem->stencil;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    const double warps = out->threads / 32.0;
    double extent = 1.0, computed = 0.0, useful = 1.0, inner = 1.0;
    for (int d = 0; d < problem->dims; d++) {
        const double halo = (double)plan->height * tz_stencil_reach(stencil);
        const double tiles = job->shape->grid[d],
                     edges = fmin(tiles, 2.0 * ceil(halo / (double)plan->tile[d]));
        extent *= (double)plan->tile[d] + 2.0 * halo;
        useful *= (double)plan->tile[d];
        inner *= tiles - edges;
    }
    /* A step is one element of a thread in one pass: all of the slab is gone through, those that
     * are still wanted are computed. */
    double rest = (double)plan->height * tz_stencil_reach(stencil);
    for (int t = 0; t < plan->height; t++)
        for (int p = 0; p < stencil->passes_count; p++) {
            double region = 1.0;
            rest -= stencil->passes[p].radius;
            for (int d = 0; d < problem->dims; d++)
                region *= (double)plan->tile[d] + 2.0 * rest;
            computed += region;
        }
    /* Warps go through the slab in turn: some once more than others. */
    const double elements = ceil(extent / 32.0) / warps;
    const double rounds = elements * plan->height * stencil->passes_count;
    const tz_work_part *const codes[] = {&job->steps->inner, &job->steps->side};
    const double blocks[] = {inner, out->blocks - inner};
    for (int k = 0; k < 2; k++) {
        if (blocks[k] <= 0.0)
            continue;
        tz_work_part *part = &out->parts[out->parts_count++];
        *part = *codes[k];
        snprintf(part->name, sizeof part->name, "%s", k ? "border" : "inner");
        part->warps = blocks[k] * warps;
        /* Loading and storing, too, goes element by element: `once` is of one of them. */
        memset(&part->once, 0, sizeof part->once);
        tz_work_mix_add(&part->once, &codes[k]->once, elements);
        tz_work_mix_add(&part->once, &job->steps->end.once, 1.0);
        part->once_clocks = part->once_clocks * ceil(elements) + job->steps->end.once_clocks;
        part->once_waits *= ceil(elements);
        part->steps = rounds;
        const double passes = (double)plan->height * stencil->passes_count;
        tz_work_mix_add(&part->step, &job->steps->end.step, passes / fmax(rounds, 1.0));
        part->clocks += job->steps->end.clocks * passes / fmax(rounds, 1.0);
    }
    out->redundancy = fmax(1.0, computed / (useful * plan->height * stencil->passes_count));
    const double loaded =
        out->blocks * extent * (bytes.state + (bytes.fixed + bytes.streamed) * plan->height);
    out->ghost_bytes = fmax(0.0, loaded - out->read_bytes);
    out->ahead_bytes = 0.0;
}

void tz_cuda_work_resident(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    tz_resident d;
    if (!tz_resident_design(problem, plan, &d))
        return;
    tz_work_part *part = &out->parts[out->parts_count++];
    *part = job->steps->inner;
    snprintf(part->name, sizeof part->name, "bricks");
    part->warps = out->blocks * d.warps;
    part->steps = plan->height;
    /* An exchange ends each stage of a launch; loading and storing is the launch's. */
    out->stages_per_launch = fmax(1.0, (double)plan->span / plan->height);
    tz_work_mix once = part->once;
    memset(&part->once, 0, sizeof part->once);
    tz_work_mix_add(&part->once, &once, 1.0 / out->stages_per_launch);
    if (d.ghost > 0)
        tz_work_mix_add(&part->once, &job->steps->end.step, 1.0);
    part->once_clocks = job->steps->end.clocks + part->once_clocks / out->stages_per_launch;
    part->once_waits = job->steps->end.once_waits;
    double tile = 1.0, own = 1.0;
    for (int axis = 0; axis < problem->dims; axis++) {
        tile *= (double)d.cells[axis] * d.threads[axis];
        own *= (double)problem->elements[axis] / d.blocks[axis];
    }
    out->redundancy = fmax(1.0, tile / own);
    out->meetings = d.ghost > 0 ? 1.0 : 0.0;
    out->ghost_bytes = d.ghost > 0 ? out->blocks * (tile - own) * 16.0 * d.sent_words : 0.0;
    out->read_bytes /= out->stages_per_launch;
    if (bytes.streamed > 0.0)
        out->read_bytes += (double)tz_cuda_pitch(problem) * bytes.streamed * plan->height;
    out->write_bytes /= out->stages_per_launch;
    out->resident_bytes = 0.0;
}
