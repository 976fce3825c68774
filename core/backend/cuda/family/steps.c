/* Finds the loops of a compiled kernel that are its family's steps, and counts a step of each. */
#include "backend/cuda/family/work.h"
#include "model/constants.h"
#include "model/scheduler_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tz_cuda_lanes lanes_of(const tz_cuda_family *family, const tz_problem *problem,
                              const tz_plan *plan)
{
    return family->planner->lanes ? family->planner->lanes(problem, plan)
                                  : (tz_cuda_lanes){1.0, 1.0};
}

void tz_cuda_take_loop(tz_work_part *part, const tz_cuda_loop *loop, double steps, double all,
                       tz_cuda_lanes of)
{
    const double way = tz_work_mix_sum(&loop->way);
    memset(&part->step, 0, sizeof part->step);
    tz_work_mix_add(&part->step, &loop->way, (1.0 - all) / steps);
    tz_work_mix_add(&part->step, &loop->all, all / steps);
    memset(&part->chain, 0, sizeof part->chain);
    tz_work_mix_add(&part->chain, &loop->waits, 1.0 / steps);
    part->clocks = loop->clocks / steps;
    if (way > 0.0)
        part->clocks *= tz_work_mix_sum(&part->step) * steps / way;
    part->once = loop->once;
    part->once_clocks = loop->once_clocks;
    part->shared_wavefronts =
        (of.conflict * (loop->passes - loop->local) + loop->local + loop->copies_passes +
         loop->reads_words + of.conflict * of.stored * loop->stores_words) /
        steps;
    part->bytes = 128.0 * (loop->copies_words + loop->reads_words) / steps;
    part->text_bytes = part->loop_bytes = loop->text_bytes;
    part->spills = loop->local / steps;
    part->late = loop->late;
    part->apart = loop->apart;
    memset(&part->rounds, 0, sizeof part->rounds);
    if (way > 0.0)
        tz_rounds_blend(&part->rounds, 0.0, &loop->rounds, tz_work_mix_sum(&part->step) / way);
    part->spilt_stores = loop->local_stores / steps;
}

int tz_cuda_outermost(const tz_cuda_mix *mix, int loop)
{
    while (mix->loops[loop].parent >= 0)
        loop = mix->loops[loop].parent;
    return loop;
}

int tz_cuda_end_of(const tz_cuda_code *code)
{
    return code->count - 1;
}

int tz_cuda_side_of(const tz_cuda_code *code)
{
    return code->count > 2 ? 1 : code->count - 1;
}

void tz_cuda_take_ends(const tz_cuda_code *code, double diverged, tz_cuda_steps *out)
{
    const tz_cuda_loop *loops = code->mix->loops;
    const int side = tz_cuda_side_of(code), end = tz_cuda_end_of(code);
    tz_cuda_take_loop(&out->inner, &loops[code->at[0]], code->steps[0], 0.0, code->lanes);
    tz_cuda_take_loop(&out->side, &loops[code->at[side]], code->steps[side],
                      side == 0 ? 0.0 : diverged, code->lanes);
    tz_cuda_take_loop(&out->end, &loops[code->at[end]], code->steps[end],
                      end == 0 ? 0.0 : TZ_FIT_DIVERGED_ENDS * diverged, code->lanes);
    out->side.own_bytes = side > 0 ? loops[code->at[side]].text_bytes / code->steps[side] : 0.0;
    out->end.own_bytes = end > 0 ? loops[code->at[end]].text_bytes / code->steps[end] : 0.0;
}

/* Inserts a loop into the list, which is sorted by the cost of a step. */
static void insert(tz_cuda_code *code, int loop, double steps)
{
    const double cost = tz_work_mix_sum(&code->mix->loops[loop].way) / steps;
    int k = code->count++;
    for (; k > 0 &&
           tz_work_mix_sum(&code->mix->loops[code->at[k - 1]].way) / code->steps[k - 1] > cost;
         k--) {
        code->at[k] = code->at[k - 1];
        code->steps[k] = code->steps[k - 1];
    }
    code->at[k] = loop;
    code->steps[k] = steps;
}

/* The steps of a family in a kernel's mix. TZ_UNSUPPORTED: the loop is not found. */
static tz_status find_steps(tz_cuda_steps *out, const tz_cuda_family *family,
                            const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                            const tz_cuda_mix *mix, tz_error *error)
{
    const int room = sizeof((tz_cuda_code *)0)->at / sizeof(int);
    tz_cuda_code code = {.problem = problem,
                         .limits = limits,
                         .plan = plan,
                         .mix = mix,
                         .lanes = lanes_of(family, problem, plan)};
    memset(out, 0, sizeof *out);
    out->registers = mix->registers;
    out->local_bytes = mix->local_bytes;
    out->shared_bytes = mix->shared_bytes;
    for (int l = 0; l < mix->loops_count && code.count < room; l++) {
        const double steps = family->planner->steps(problem, limits, plan, &mix->loops[l]);
        if (steps > 0.0)
            insert(&code, l, steps);
    }
    if (code.count == 0)
        return tz_error_set(error, TZ_UNSUPPORTED, plan->family,
                            "the main loop of the kernel for '%s' at height %d is not found among "
                            "its %d loops",
                            problem->stencil->id, plan->height, mix->loops_count);
    family->planner->parts(&code, out);
    return TZ_OK;
}

tz_status tz_cuda_steps_get(tz_cuda_steps *out, bool *found, const tz_cuda_family *family,
                            const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                            bool compile, tz_error *error)
{
    char architecture[16];
    char *source = NULL;
    const tz_limits limits = tz_place_limits(place);
    /* Without numbers of the scheduler, loops are only counted, and the model refuses the record. */
    tz_cuda_machine machine;
    memset(&machine, 0, sizeof machine);
    const bool scheduled = tz_scheduler_of(place->device, &machine.scheduler, NULL) == TZ_OK;
    machine.block_warps = ceil(tz_cuda_threads(family, plan) / 32.0);
    machine.conflict = lanes_of(family, problem, plan).conflict;
    tz_cuda_mix *mix = malloc(sizeof *mix);
    if (!mix)
        return tz_error_set(error, TZ_MEMORY, NULL,
                            "not enough memory to count a kernel's instructions");
    snprintf(architecture, sizeof architecture, "sm_%d",
             (int)place->device->compute_capability.value);
    tz_status status = tz_cuda_source(problem, &limits, plan, &source, error);
    if (!status)
        status = tz_cuda_mix_get(mix, found, scheduled ? &machine : NULL, architecture, source,
                                 TZ_CUDA_ENTRY, tz_cuda_headers, tz_cuda_headers_count, compile,
                                 place->stopped, error);
    if (!status && *found)
        status = find_steps(out, family, problem, &limits, plan, mix, error);
    free(source);
    free(mix);
    return status;
}
