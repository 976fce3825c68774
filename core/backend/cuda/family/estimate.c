/* Estimates of kernels that are not compiled: what a cell computes is known from the kernel of the
 * base family, which compiles at once; what a family adds to that follows from its geometry. Called
 * by work.c. */
#include "backend/cuda/family/work.h"
#include "model/constants.h"

#include <math.h>
#include <string.h>

enum { INSTRUCTION_BYTES = 16, REGISTERS_MAX = 255, ONCE = 400 };

/* The steps of the base family's kernel, one element each, which is compiled if need be. */
static tz_status find_base(tz_cuda_steps *out, const tz_problem *problem, const tz_place *place,
                           tz_error *error)
{
    const tz_limits limits = tz_place_limits(place);
    tz_plan plan = {.height = 1, .family = TZ_CUDA_BASE};
    const tz_cuda_family *family;
    tz_status status = tz_cuda_family_find(plan.family, problem, &family, error);
    if (!status)
        status = tz_cuda_plan(problem, &limits, &plan, error);
    if (!status)
        status = tz_cuda_steps_get(out, &(bool){false}, family, problem, place, &plan, true, error);
    return status;
}

/* The operations of an element in an iteration: those of such a step without its addresses, loads
 * and stores. */
static tz_work_mix find_operations(const tz_cuda_steps *base)
{
    tz_work_mix operations = base->inner.step;
    double *of = operations.of;
    const double accesses = of[TZ_WORK_READ] + of[TZ_WORK_WRITE];
    double addresses = TZ_FIT_ESTIMATE_ADDRESSES * accesses;
    for (int c = TZ_WORK_INTEGER; c <= TZ_WORK_MOVE; c++) {
        const double taken = fmin(addresses, of[c]);
        of[c] -= taken;
        addresses -= taken;
    }
    of[TZ_WORK_CONTROL] = fmax(0.0, of[TZ_WORK_CONTROL] - 1.0);
    of[TZ_WORK_READ] = of[TZ_WORK_WRITE] = 0.0;
    return operations;
}

/* The part as a step of so many instructions more. */
static tz_work_part at_ends(const tz_work_part *inner)
{
    tz_work_part part = *inner;
    memset(&part.step, 0, sizeof part.step);
    tz_work_mix_add(&part.step, &inner->step, TZ_FIT_ESTIMATE_ENDS);
    part.clocks *= TZ_FIT_ESTIMATE_ENDS;
    return part;
}

static void shorten(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                    tz_work_part *part)
{
    tz_plan shorter = *plan;
    double bytes = part->loop_bytes;
    if (tz_cuda_shorten(problem, place, &bytes, &shorter))
        part->loop_bytes = part->text_bytes = bytes;
}

tz_status tz_cuda_steps_estimate(tz_cuda_steps *out, const tz_cuda_family *family,
                                 const tz_problem *problem, const tz_place *place,
                                 const tz_plan *plan, tz_error *error)
{
    const tz_limits limits = tz_place_limits(place);
    const tz_cuda_draft draft = {problem, &limits, plan};
    tz_cuda_estimate e = {.unroll = 1.0};
    if (!family->planner->estimate)
        return tz_cuda_steps_get(out, &(bool){false}, family, problem, place, plan, true, error);
    const tz_status status = find_base(out, problem, place, error);
    if (status || (strcmp(plan->family, TZ_CUDA_BASE) == 0 && plan->vector == 0))
        return status;
    const tz_work_mix operations = find_operations(out);
    memset(out, 0, sizeof *out);
    family->planner->estimate(&draft, &e);
    tz_work_part *inner = &out->inner;
    inner->step = e.step;
    tz_work_mix_add(&inner->step, &operations, e.updates);
    const double sum = tz_work_mix_sum(&inner->step);
    inner->clocks = TZ_FIT_ESTIMATE_ALONE * sum +
                    TZ_FIT_ESTIMATE_SPECIAL_CLOCKS * inner->step.of[TZ_WORK_SPECIAL];
    inner->chain.of[TZ_WORK_SHARED_READ] = inner->chain.of[TZ_WORK_SHUFFLE] =
        inner->step.of[TZ_WORK_BARRIER];
    inner->once.of[TZ_WORK_INTEGER] = ONCE;
    inner->once_clocks = ONCE * TZ_FIT_ESTIMATE_ALONE;
    inner->shared_wavefronts = e.wavefronts;
    inner->waits = e.waits;
    inner->text_bytes = inner->loop_bytes = INSTRUCTION_BYTES * sum * e.unroll;
    shorten(problem, place, plan, inner);
    const double results =
        TZ_FIT_ESTIMATE_HELD + TZ_FIT_ESTIMATE_HELD_EACH * (operations.of[TZ_WORK_FP32] +
                                                            2.0 * operations.of[TZ_WORK_FP64] +
                                                            operations.of[TZ_WORK_LOGIC]);
    e.registers += (int)(e.held * results);
    const int lacking = e.registers > REGISTERS_MAX ? e.registers - REGISTERS_MAX : 0;
    out->registers = e.registers - lacking;
    out->local_bytes = 4 * lacking;
    inner->spills = 2.0 * lacking;
    inner->spilt_stores = lacking;
    out->end = out->side = out->side_end = at_ends(inner);
    out->inner_idle = out->inner;
    out->end_idle = out->side_idle = out->end;
    return TZ_OK;
}
