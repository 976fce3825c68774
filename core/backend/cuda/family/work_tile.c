/* What stages of the tile and resident families do. */
#include "backend/cuda/family/work.h"

#include "backend/cuda/family/resident/design.h"
#include "backend/host/store.h"
#include "model/scheduler/scheduler.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CODE_BYTES = 16 }; /* of an instruction */

/* Warps' rounds over a slab of `extent` elements in which a lane at least is within the box of
 * those that are `rest` from the tile: elements lie in a row, 32 of them a warp's. */
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

/* A copy in or out: `rounds` of the slowest warp, `done` of all warps of a block. */
static void add_copy(tz_work_part *part, const tz_work_part *copy, double rounds, double done,
                     double warps)
{
    tz_rounds_blend(&part->once_rounds, 1.0, &copy->rounds, done / warps);
    tz_work_mix_add(&part->once, &copy->step, done / warps);
    part->once_clocks += rounds * copy->clocks;
}

/* Blocks go to whatever multiprocessor has room, `each` to one: as many of them are at the border
 * as so many draws have at least once in so many multiprocessors. */
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

void tz_cuda_work_tile(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_stencil *stencil = problem->stencil;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    const double warps = out->threads / 32.0,
                 halo = (double)plan->height * tz_stencil_reach(stencil);
    const double passes = (double)plan->height * stencil->passes_count;
    double extents[TZ_AXES] = {1.0, 1.0, 1.0}, halos[TZ_AXES] = {0};
    double extent = 1.0, computed = 0.0, wanted = 0.0, useful = 1.0, inner = 1.0;
    for (int d = 0; d < problem->dims; d++) {
        const double tiles = job->shape->grid[d],
                     edges = fmin(tiles, 2.0 * ceil(halo / (double)plan->tile[d]));
        halos[d] = halo;
        extents[d] = (double)plan->tile[d] + 2.0 * halo;
        extent *= extents[d];
        useful *= (double)plan->tile[d];
        inner *= tiles - edges;
    }
    /* A step is one element of a thread in one pass: all of the slab is gone through, those that
     * are still wanted are computed. */
    double rest = halo;
    for (int t = 0; t < plan->height; t++)
        for (int p = 0; p < stencil->passes_count; p++) {
            double region = 1.0;
            rest -= stencil->passes[p].radius;
            for (int d = 0; d < problem->dims; d++)
                region *= (double)plan->tile[d] + 2.0 * rest;
            computed += region;
            wanted += rounds_wanted(extents, halos, rest, problem->dims);
        }
    const double all = ceil(extent / 32.0), rounds = ceil(extent / out->threads);
    const double taken = rounds_wanted(extents, halos, 0.0, problem->dims);
    const tz_cuda_steps *steps = job->steps;
    const tz_work_part *const codes[] = {&steps->inner, &steps->side};
    const tz_work_part *const ends[] = {&steps->end, &steps->side_end};
    const double blocks[] = {inner, out->blocks - inner};
    double crowd[2] = {0};
    const double multiprocessors = job->limits->multiprocessors,
                 each = ceil(out->blocks / multiprocessors);
    if (each <= 2.0 * job->blocks) {
        crowd[1] = count_crowd(each, blocks[1] / out->blocks, multiprocessors);
        crowd[0] = each - crowd[1];
    }
    for (int k = 0; k < 2; k++) {
        if (blocks[k] <= 0.0)
            continue;
        tz_work_part *part = &out->parts[out->parts_count++];
        const double left = fmax(1.0, rounds - ends[k]->steps), of_all = all / warps / rounds;
        const double share = wanted / (all * passes);
        *part = *codes[k];
        snprintf(part->name, sizeof part->name, "%s", k ? "border" : "inner");
        part->warps = blocks[k] * warps;
        part->crowd = crowd[k] * warps;
        part->steps = left * passes;
        double straight = 0.0;
        for (int c = 0; c < TZ_WORK_CLASSES; c++)
            straight += part->once.of[c];
        /* Not all warps have as many rounds, and in some of these nothing to do. */
        memset(&part->step, 0, sizeof part->step);
        tz_work_mix_add(&part->step, &codes[k]->step, share * of_all);
        part->step.of[TZ_WORK_CONTROL] += (1.0 - share) * of_all * steps->skipped;
        part->shared_wavefronts *= share * of_all;
        const double of_code =
            (share + (1.0 - share) * steps->skipped / fmax(tz_work_mix_sum(&codes[k]->step), 1.0)) *
            of_all;
        memset(&part->rounds, 0, sizeof part->rounds);
        tz_rounds_blend(&part->rounds, 0.0, &codes[k]->rounds, of_code);
        tz_rounds_blend(&part->rounds, 1.0, &ends[k]->rounds, 1.0 / left);
        tz_work_mix_add(&part->step, &ends[k]->step, 1.0 / left);
        part->shared_wavefronts += ends[k]->shared_wavefronts / left;
        part->clocks += ends[k]->clocks / left;
        tz_work_mix_add(&part->chain, &ends[k]->chain, 1.0 / left);
        part->waits += ends[k]->waits / left;
        add_copy(part, &steps->load, rounds, all, warps);
        add_copy(part, &steps->store, ceil(taken / warps), taken, warps);
        part->once_waits = ceil(rounds * steps->load.once_waits);
        part->text_bytes += ends[k]->text_bytes + steps->load.text_bytes + steps->store.text_bytes +
                            CODE_BYTES * straight;
    }
    out->redundancy = fmax(1.0, computed / (useful * passes));
    const double loaded =
        out->blocks * extent * (bytes.state + (bytes.fixed + bytes.streamed) * plan->height);
    out->ghost_bytes = fmax(0.0, loaded - out->read_bytes);
    out->stream_bytes =
        (double)tz_cuda_pitch(problem) * bytes.streamed * plan->height; /* slabs are rows */
    out->ahead_bytes = 0.0;
}

/* An exchange of a block with others on all sides: batches of cells of which a warp has ghost
 * cells, as a mean and of the warp that has the most of them. */
static void count_batches(const tz_resident *d, int dims, double *mean, double *most)
{
    const int cells = d->cells[0] * d->cells[1] * d->cells[2];
    const int threads = d->threads[0] * d->threads[1] * d->threads[2];
    const int batches = (cells + d->batch - 1) / d->batch;
    *mean = *most = 0.0;
    for (int w = 0; w < d->warps; w++) {
        double here = 0.0;
        for (int n = 0; n < batches; n++) {
            bool asks = false;
            for (int t = 32 * w; t < 32 * w + 32 && t < threads && !asks; t++) {
                const int at[] = {t % d->threads[0], t / d->threads[0] % d->threads[1],
                                  t / (d->threads[0] * d->threads[1])};
                for (int c = n * d->batch; c < (n + 1) * d->batch && c < cells && !asks; c++) {
                    const int cell[] = {c % d->cells[0], c / d->cells[0] % d->cells[1],
                                        c / (d->cells[0] * d->cells[1])};
                    for (int axis = 0; axis < dims; axis++) {
                        const int x = at[axis] * d->cells[axis] + cell[axis];
                        const int extent = d->threads[axis] * d->cells[axis];
                        asks = asks ||
                               (d->blocks[axis] > 1 && (x < d->ghost || x >= extent - d->ghost));
                    }
                }
            }
            here += asks;
        }
        *mean += here / d->warps;
        *most = fmax(*most, here);
    }
}

void tz_cuda_work_resident(const tz_cuda_job *job, tz_model_work *out)
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
    /* An exchange ends each stage of a launch; loading and storing is the launch's. */
    out->stages_per_launch = fmax(1.0, (double)plan->launch_iterations / plan->height);
    tz_work_mix once = part->once;
    memset(&part->once, 0, sizeof part->once);
    tz_work_mix_add(&part->once, &once, 1.0 / out->stages_per_launch);
    double mean = 0.0, most = 0.0, share = 0.0;
    if (d.ghost > 0) {
        const double all = ceil((double)d.cells[0] * d.cells[1] * d.cells[2] / d.batch);
        count_batches(&d, problem->dims, &mean, &most);
        share = mean / all;
        tz_work_mix_add(&part->once, &job->steps->end.step, share);
        tz_rounds_blend(&part->once_rounds, 0.0, &job->steps->end.rounds, share);
        share = most / all;
    }
    part->once_clocks = share * job->steps->end.clocks + part->once_clocks / out->stages_per_launch;
    /* What is not there when a batch of ghost cells is asked for is asked for again: each takes as
     * long as two blocks that hand each other a word. */
    out->meetings = d.ghost > 0 ? fmax(1.0, most) : 0.0;
    part->once_waits = 0.0;
    if (bytes.streamed > 0.0) {
        /* The next row is asked for when a step begins. */
        part->waits = 1.0;
        out->ahead_bytes = part->bytes;
    }
    double tile = 1.0, own = 1.0;
    for (int axis = 0; axis < problem->dims; axis++) {
        tile *= (double)d.cells[axis] * d.threads[axis];
        own *= (double)problem->elements[axis] / d.blocks[axis];
    }
    out->redundancy = fmax(1.0, tile / own);
    /* Slots of 8 bytes, written and read. */
    out->ghost_bytes = d.ghost > 0 ? out->blocks * (tile - own) * 16.0 * d.sent_words : 0.0;
    out->read_bytes /= out->stages_per_launch;
    out->stream_bytes = (double)tz_cuda_pitch(problem) * bytes.streamed * plan->height;
    out->read_bytes += out->stream_bytes;
    out->write_bytes /= out->stages_per_launch;
    out->resident_bytes = 0.0;
}
