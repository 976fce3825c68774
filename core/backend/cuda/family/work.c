/* What the kernels of plans do in a stage, for predictions (tz_backend.work), and the plans that
 * the planner compares (tz_backend.candidates, tz_backend.shorten). Families have their part of it
 * in tz_cuda_planner. */
#include "backend/cuda/family/work.h"

#include "backend/host/store.h"
#include "model/constants.h"
#include "model/roofs.h"
#include "model/scheduler_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- The steps of a compiled kernel --------------------------------------------------------- */

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
    /* Without numbers of the scheduler, loops are only counted, and the model refuses the
     * record. */
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
                                 &place->cancel, error);
    if (!status && *found)
        status = find_steps(out, family, problem, &limits, plan, mix, error);
    free(source);
    free(mix);
    return status;
}

/* ---- Estimated registers --------------------------------------------------------------------- */

/* At least the spills of a loop that lacks `registers`: a step stores and loads each of them. */
static void add_spills(tz_work_part *part, double registers)
{
    part->spills = fmax(part->spills, 2.0 * registers);
    part->spilt_stores = fmax(part->spilt_stores, registers);
}

void tz_cuda_estimate_registers(const tz_model_device *device, const tz_plan *plan,
                                tz_model_work *out)
{
    enum { UNIT = 8, LEAST = 24 };
    const int estimated = out->registers;
    tz_model_work least = *out;
    least.registers = LEAST;
    int wanted = plan->blocks > 0 ? plan->blocks : 1;
    const int most = tz_roofs_blocks_per_sm(device, &least, NULL, 0);
    wanted = wanted < most ? wanted : most;
    while (out->registers > LEAST && tz_roofs_blocks_per_sm(device, out, NULL, 0) < wanted)
        out->registers -= UNIT;
    const int lacking = estimated - out->registers;
    out->local_bytes += 4 * lacking;
    for (int p = 0; lacking > 0 && p < out->parts_count; p++)
        add_spills(&out->parts[p], lacking + out->parts[p].spilt_stores);
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
    if (!status && effort != TZ_EFFORT_ESTIMATE)
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

/* ---- Candidates ----------------------------------------------------------------------------- */

bool tz_cuda_plans_make(const tz_cuda_plans *plans, int height, int vector, int warps, tz_plan *out,
                        bool *made)
{
    const tz_plan *given = plans->given;
    *made = false;
    *out = *given;
    if ((given->height && given->height != height) ||
        (vector && given->vector && given->vector != vector) ||
        (warps && given->warps && given->warps != warps))
        return true;
    strcpy(out->family, plans->family->name);
    out->height = height;
    out->vector = given->vector ? given->vector : vector;
    out->warps = given->warps ? given->warps : warps;
    *made = tz_cuda_plan(plans->problem, plans->limits, out, NULL) == TZ_OK;
    return *made;
}

void tz_cuda_plans_keep(tz_cuda_plans *plans, const tz_plan *plan)
{
    for (int k = 0; k < plans->count; k++)
        if (tz_plan_equal(&plans->plans[k], plan))
            return;
    if (plans->count < plans->max)
        plans->plans[plans->count++] = *plan;
}

bool tz_cuda_plans_add(tz_cuda_plans *plans, int height, int vector, int warps)
{
    tz_plan plan;
    bool made;
    const bool taken = tz_cuda_plans_make(plans, height, vector, warps, &plan, &made);
    if (made)
        tz_cuda_plans_keep(plans, &plan);
    return taken;
}

/* The heights to try, in growing distances. */
static int next_height(int height)
{
    return height < 12 ? height + 1 : height < 32 ? height + 4 : height + height / 4;
}

void tz_cuda_plans_add_heights(tz_cuda_plans *plans, int most, const tz_cuda_variant *others,
                               int others_count)
{
    const int given = plans->given->height, reach = tz_stencil_reach(plans->problem->stencil);
    const int highest = given > 0 ? given : most;
    for (int h = given > 0 ? given : 1; h <= highest; h = given ? h + 1 : next_height(h)) {
        const bool taken = tz_cuda_plans_add(plans, h, 0, 0);
        for (int k = 0; k < others_count; k++)
            tz_cuda_plans_add(plans, h, others[k].vector, others[k].warps);
        if (!taken && h * (reach > 0 ? reach : 1) > most)
            break;
    }
}

tz_status tz_cuda_candidates(const tz_problem *problem, const tz_place *place, const tz_plan *given,
                             tz_plan *plans, int max, int *count, tz_error *error)
{
    const tz_limits limits = tz_place_limits(place);
    tz_cuda_plans made = {
        .problem = problem, .limits = &limits, .given = given, .plans = plans, .max = max};
    const tz_cuda_family *named = NULL;
    if (given->family[0])
        tz_cuda_family_find(given->family, problem, &named, NULL);
    for (int i = 0; tz_cuda_family_at(i, problem->dims, &made.family); i++)
        if (made.family && (given->family[0] ? made.family == named : !made.family->named))
            made.family->planner->candidates(&made);
    *count = made.count;
    if (made.count > 0)
        return TZ_OK;
    tz_plan plan = *given;
    const tz_status status = tz_cuda_plan(problem, &limits, &plan, error);
    if (!status) {
        plans[0] = plan;
        *count = 1;
    }
    return status;
}

bool tz_cuda_shorten(const tz_problem *problem, const tz_place *place, double *bytes, tz_plan *plan)
{
    const tz_limits limits = tz_place_limits(place);
    const tz_cuda_family *family;
    tz_plan shorter = *plan;
    double length = *bytes;
    if (tz_cuda_family_find(plan->family, problem, &family, NULL) || !family->planner->shorten ||
        !family->planner->shorten(problem, &length, &shorter) ||
        tz_cuda_plan(problem, &limits, &shorter, NULL) != TZ_OK)
        return false;
    *plan = shorter;
    *bytes = length;
    return true;
}
