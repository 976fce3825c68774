#include "backend/cuda/family/work.h"
#include "backend/host/store.h"

#include "model/roofs.h"
#include "model/scheduler_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tz_cuda_bytes tz_cuda_bytes_of(const tz_problem *problem)
{
    const uint32_t written = tz_problem_written(problem);
    tz_cuda_bytes b = {0};
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const double size = (double)tz_problem_element_size(problem, f);
        const tz_role role = problem->stencil->fields[f].role;
        if (role == TZ_STATE)
            b.state += size;
        if (written >> f & 1)
            b.written += size;
        if (role == TZ_STATIC)
            b.fixed += size;
        if (role == TZ_STREAMED)
            b.streamed += size;
    }
    return b;
}

double tz_cuda_elements_of(const tz_problem *problem)
{
    return (double)problem->elements[0] * (double)problem->elements[1] *
           (double)problem->elements[2];
}

/* ---- Loops ----------------------------------------------------------------------------------- */

double tz_cuda_stored_steps(const tz_problem *problem, uint32_t fields, int vector,
                            const tz_cuda_loop *loop)
{
    double packets = 0.0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (fields >> f & 1)
            packets +=
                ceil((double)tz_problem_element_size(problem, f) * vector / TZ_CUDA_PACKET_BYTES);
    return loop->stores == 0.0 ? 0.0 : fmax(1.0, floor(loop->stores / packets + 0.5));
}

double tz_cuda_written_count(const tz_problem *problem)
{
    return __builtin_popcount(tz_problem_written(problem));
}

/* ---- Parts ----------------------------------------------------------------------------------- */

tz_work_part *tz_cuda_add_part(tz_model_work *out, const char *name, const tz_work_part *code,
                               double warps, double steps)
{
    if (warps <= 0.0 || steps <= 0.0 || out->parts_count == TZ_WORK_PARTS_MAX)
        return NULL;
    tz_work_part *part = &out->parts[out->parts_count++];
    *part = *code;
    snprintf(part->name, sizeof part->name, "%s", name);
    part->warps = warps;
    part->steps = steps;
    return part;
}

void tz_cuda_mix_steps(tz_work_part *part, const tz_work_part *other, double share, double warps)
{
    for (int c = 0; c < TZ_WORK_CLASSES; c++) {
        part->step.of[c] += share * (other->step.of[c] - part->step.of[c]);
        part->chain.of[c] += share * (other->chain.of[c] - part->chain.of[c]);
    }
    part->clocks += share * (other->clocks - part->clocks);
    tz_rounds_blend(&part->rounds, 1.0 - share, &other->rounds, share);
    part->shared_wavefronts += share * (other->shared_wavefronts - part->shared_wavefronts);
    part->text_bytes += warps * other->text_bytes;
    part->own_bytes += share * (other->own_bytes - part->own_bytes);
    part->spills += share * (other->spills - part->spills);
    part->spilt_stores += share * (other->spilt_stores - part->spilt_stores);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

double tz_cuda_count_redundancy(const tz_model_work *out, double elements_a_step, double useful)
{
    double computed = 0.0;
    for (int p = 0; p < out->parts_count; p++)
        computed += out->parts[p].warps * out->parts[p].steps * elements_a_step;
    return fmax(1.0, computed / useful);
}

void tz_cuda_count_ghosts(tz_model_work *out, double loaded_a_step, double ahead, double far_share)
{
    double loaded = 0.0;
    for (int p = 0; p < out->parts_count; p++)
        loaded += out->parts[p].warps * (out->parts[p].steps + ahead) * loaded_a_step;
    out->ghost_bytes = fmax(0.0, loaded - out->read_bytes);
    out->far_bytes = fmin(out->ghost_bytes, far_share * out->read_bytes);
}

void tz_cuda_count_pairs(const tz_problem *problem, tz_model_work *out, uint32_t fields)
{
    const double written = tz_cuda_bytes_of(problem).written;
    fields &= tz_problem_written(problem);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (fields >> f & 1u)
            out->pairs_bytes +=
                out->write_bytes * (double)tz_problem_element_size(problem, f) / written;
}

void tz_cuda_count_halves(const tz_problem *problem, tz_model_work *out, uint32_t fields)
{
    const double steps_bytes = out->read_bytes + out->ghost_bytes;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role != TZ_STREAMED && (fields >> f & 1u))
            out->half_bytes += steps_bytes * (double)tz_problem_element_size(problem, f) /
                               (bytes.state + bytes.fixed);
}

/* ---- Work ------------------------------------------------------------------------------------ */

static void common_numbers(const tz_problem *problem, const tz_plan *plan, tz_model_work *out)
{
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    const double padded = (double)tz_cuda_pitch(problem) * (double)problem->elements[1] *
                          (double)problem->elements[2];
    out->kind = TZ_WORK_GPU;
    out->height = plan->height;
    out->cells = (double)problem->extent[0] * (double)problem->extent[1] *
                 (double)problem->extent[2] * plan->height;
    out->read_bytes = padded * (bytes.state + bytes.fixed + bytes.streamed * plan->height);
    out->write_bytes = padded * bytes.written;
    out->resident_bytes = padded * (bytes.state + bytes.written + bytes.fixed);
    out->redundancy = 1.0;
    out->stages_per_launch = 1.0;
}

static double count_updates(const tz_cuda_family *family, const tz_problem *problem,
                            const tz_limits *limits, const tz_plan *plan)
{
    if (family->planner->updates)
        return family->planner->updates(problem, limits, plan);
    return plan->vector > 0 ? (double)plan->vector * plan->height : 1.0;
}

tz_status tz_cuda_work(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                       tz_effort effort, tz_model_work *out, tz_error *error)
{
    static const char *const needs[] = {"compute_capability", "sm_count",      "registers_per_sm",
                                        "register_unit",      "warp_size",     "threads_per_sm_max",
                                        "blocks_per_sm",      "shared_per_sm", NULL};
    const tz_cuda_family *family;
    tz_cuda_steps steps;
    tz_error missing = {0};
    bool found = false;
    memset(out, 0, sizeof *out);
    if (!place->device ||
        tz_model_device_check(place->device, "of kernels' work", needs, NULL, &missing))
        return tz_error_set(error, TZ_UNSUPPORTED, "device", "%s",
                            place->device ? missing.message : "there is no device to plan for");
    tz_status status = tz_cuda_family_find(plan->family, problem, &family, error);
    const tz_limits limits = tz_place_limits(place);
    const double updates = status ? 0.0 : count_updates(family, problem, &limits, plan);
    if (!status)
        status = tz_cuda_steps_get(&steps, &found, family, problem, place, plan,
                                   effort == TZ_EFFORT_COMPILE, error);
    if (!status && !found) {
        out->estimated = true;
        out->kind = TZ_WORK_GPU;
        out->updates = updates;
        if (effort == TZ_EFFORT_KNOWN)
            return TZ_OK;
        status = tz_cuda_steps_estimate(&steps, family, problem, place, plan, error);
    }
    if (status)
        return status;
    common_numbers(problem, plan, out);
    out->updates = updates;
    out->registers = steps.registers;
    out->local_bytes = steps.local_bytes;
    out->threads = tz_cuda_threads(family, plan);
    out->shared_bytes = family->shared_bytes(problem, &limits, plan) + steps.shared_bytes;
    /* Since Hopper, compilers count the shared memory that the system reserves as static. */
    if (place->device->shared_reserved_bytes.known && steps.shared_bytes >= 1024)
        out->shared_bytes -= (int)place->device->shared_reserved_bytes.value;
    if (out->estimated)
        tz_cuda_estimate_registers(place->device, plan, out);
    const int blocks = tz_roofs_blocks_per_sm(place->device, out, NULL, 0);
    tz_cuda_shape shape;
    status = tz_cuda_shape_all(family, problem, &limits, plan, blocks, &shape, error);
    if (status)
        return status;
    out->threads = shape.threads;
    out->blocks = (double)shape.grid[0] * shape.grid[1] * shape.grid[2];
    out->cooperative = shape.cooperative;
    const tz_cuda_job job = {problem, &limits, plan, &shape, &steps, blocks};
    family->planner->work(&job, out);
    return TZ_OK;
}
