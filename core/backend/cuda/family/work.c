#include "backend/cuda/family/work.h"

#include "backend/cuda/family/planes/scheme.h"
#include "backend/cuda/family/resident/design.h"
#include "backend/cuda/family/rows/design.h"
#include "backend/host/store.h"
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

/* ---- What a compiled kernel's loops are to its family ---------------------------------------- */

/* How a lane's words lie: packets of 16 bytes that are further apart than that meet in banks of
 * shared memory, and not all lanes store what they have. */
typedef struct lanes {
    double conflict, stored;
} lanes;

/* What a copy to shared memory takes there: to ask, and to put it down when it has come. */
#define COPY_PASSES 2.0

static lanes lanes_of(const tz_cuda_family *family, const tz_problem *problem, const tz_plan *plan)
{
    lanes of = {1.0, 1.0};
    double widest = 4.0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        widest = fmax(widest, (double)tz_problem_element_size(problem, f));
    if (family == &tz_cuda_family_rows)
        of.conflict = fmax(1.0, widest * plan->vector / 16.0);
    if (family == &tz_cuda_family_rows || family == &tz_cuda_family_planes)
        of.stored = (double)plan->tile[0] / (32.0 * plan->vector);
    return of;
}

static void take_loop(tz_work_part *part, const tz_cuda_loop *loop, double steps, double all,
                      lanes of)
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
    part->shared_wavefronts = (of.conflict * (loop->passes - loop->local) + loop->local +
                               COPY_PASSES * loop->way.of[TZ_WORK_COPY] + loop->reads_words +
                               of.conflict * of.stored * loop->stores_words) /
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

/* A loop inside another that moves elements one by one, where rows cannot be moved as packets. */
static void add_elements(const tz_cuda_mix *mix, int loop, double times, tz_work_part *part)
{
    for (int l = 0; l < mix->loops_count; l++) {
        const tz_work_mix *m = &mix->loops[l].way;
        if (mix->loops[l].parent != loop ||
            m->of[TZ_WORK_COPY] + m->of[TZ_WORK_READ] + m->of[TZ_WORK_SHARED_WRITE] == 0.0)
            continue;
        tz_work_mix_add(&part->step, m, times);
        part->clocks += times * mix->loops[l].clocks;
        tz_rounds_blend(&part->rounds, 1.0, &mix->loops[l].rounds, times);
    }
}

/* Rows are on their way before the loop begins: a loop before it, gone round once for each. */
static void add_start(const tz_cuda_mix *mix, int main_loop, double ahead, double elements,
                      tz_work_part *part)
{
    for (int l = 0; l < main_loop; l++) {
        const tz_cuda_loop *loop = &mix->loops[l];
        if (loop->parent >= 0 || loop->stores > 0.0)
            continue;
        tz_work_part scratch = {0};
        if (elements > 0.0)
            add_elements(mix, l, elements, &scratch);
        tz_work_mix_add(&part->once, &loop->way, ahead);
        tz_work_mix_add(&part->once, &scratch.step, ahead);
        part->once_clocks += ahead * (loop->clocks + scratch.clocks);
    }
}

static double packets_of(const tz_problem *problem, int vector)
{
    double packets = 0.0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (tz_problem_written(problem) >> f & 1)
            packets += ceil((double)tz_problem_element_size(problem, f) * vector / 16.0);
    return packets;
}

/* 3-D streams: a loop is of one step, or of a whole group of them. Each fetches a plane. */
static double planes_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                           double copies)
{
    planes_scheme *s = malloc(sizeof *s);
    double steps = 1.0, packets = 0.0;
    if (s && planes_scheme_make(s, problem, limits, plan)) {
        for (int k = 0; k < s->versions_count; k++) {
            const planes_version *v = &s->versions[k];
            if (v->number == 0 && v->planes > 0)
                packets += s->rows * ceil((double)tz_problem_element_size(problem, v->field) *
                                          s->vector / 16.0);
        }
        steps = copies / fmax(packets, 1.0) < 0.5 * (1.0 + s->group) ? 1.0 : s->group;
    }
    free(s);
    return steps;
}

/* How many steps a loop goes on in one round; 0: it is none of the family's steps. */
static double steps_of(const tz_cuda_family *family, const tz_problem *problem,
                       const tz_limits *limits, const tz_plan *plan, const tz_cuda_loop *loop)
{
    const tz_work_mix *way = &loop->way;
    const int passes = problem->stencil->passes_count;
    if (family == &tz_cuda_family_line) {
        if (loop->parent >= 0 || tz_work_mix_sum(way) < 8.0 ||
            (tz_stencil_reach(problem->stencil) > 0 && way->of[TZ_WORK_SHUFFLE] == 0.0))
            return 0.0;
        return plan->ahead > 0 ? plan->ahead : 4.0;
    }
    if (family == &tz_cuda_family_tile) {
        double states = 0.0;
        for (int f = 0; f < problem->stencil->fields_count; f++)
            states += tz_problem_written(problem) >> f & 1;
        return way->of[TZ_WORK_SHARED_READ] > 0.0
                   ? way->of[TZ_WORK_SHARED_WRITE] / fmax(1.0, states)
                   : 0.0;
    }
    if (family == &tz_cuda_family_resident) {
        tz_resident d;
        if (way->of[TZ_WORK_SHARED_WRITE] == 0.0 || loop->stores > 0.0 ||
            !tz_resident_design(problem, limits, plan, &d))
            return 0.0;
        return way->of[TZ_WORK_BARRIER] / passes / (d.buffers == 1 ? 2.0 : 1.0);
    }
    if (loop->stores == 0.0 || way->of[TZ_WORK_SHARED_READ] + way->of[TZ_WORK_SHUFFLE] == 0.0)
        return 0.0;
    if (family == &tz_cuda_family_rows)
        return fmax(1.0, floor(loop->stores / packets_of(problem, plan->vector) + 0.5));
    return way->of[TZ_WORK_COPY] > 0.0 ? planes_steps(problem, limits, plan, way->of[TZ_WORK_COPY])
                                       : 0.0;
}

/* Lanes at a border go different ways: that much of what is beside the shortest one. */
#define DIVERGED 0.5

/* Tiles: one element in or out of shared memory, of a loop that does some at once. */
static void take_copy(tz_work_part *part, const tz_cuda_loop *loop, double elements)
{
    if (elements <= part->steps)
        return; /* what is left over of another loop */
    take_loop(part, loop, elements, 0.0, (lanes){1.0, 1.0});
    part->steps = elements;
    part->once_waits = loop->memory_waits / elements;
}

static int outermost(const tz_cuda_mix *mix, int loop)
{
    while (mix->loops[loop].parent >= 0)
        loop = mix->loops[loop].parent;
    return loop;
}

/* Tiles: two nests of loops compute, one of inner blocks and one, dearer, of those at the border.
 * In each the loop over elements is inside that over iterations, which may do some of a pass, too.
 */
static void find_tiles(const tz_problem *problem, const tz_cuda_mix *mix, const int *at,
                       const double *steps, int count, tz_cuda_steps *out)
{
    double states = 0.0, written = 0.0;
    int nests[2] = {-1, -1};
    tz_work_part *const elements[] = {&out->inner, &out->side};
    tz_work_part *const passes[] = {&out->end, &out->side_end};
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        states += problem->stencil->fields[f].role == TZ_STATE;
        written += tz_problem_written(problem) >> f & 1;
    }
    memset(&out->load, 0, sizeof out->load);
    memset(&out->store, 0, sizeof out->store);
    for (int k = 0; k < 2; k++) {
        /* The cheapest step is of an inner block, the dearest of another nest of a border's. */
        int main_loop = -1;
        for (int c = 0; c < count; c++) {
            const int nest = outermost(mix, at[c]);
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
        take_loop(elements[k], &mix->loops[at[main_loop]], steps[main_loop], 1.0,
                  (lanes){1.0, 1.0});
        elements[k]->waits = mix->loops[at[main_loop]].memory_waits / steps[main_loop];
        memset(passes[k], 0, sizeof *passes[k]);
        const int around = mix->loops[at[main_loop]].parent;
        if (around >= 0) {
            take_loop(passes[k], &mix->loops[around], 1.0, 0.0, (lanes){1.0, 1.0});
            passes[k]->steps = passes[k]->step.of[TZ_WORK_SHARED_WRITE] / fmax(written, 1.0);
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
            take_copy(&out->store, loop, loop->stores / fmax(written, 1.0));
    }
}

/* Resident grids: the loop around the iterations, and those in it that wait for words. */
static void find_exchange(const tz_cuda_mix *mix, int inner, tz_cuda_steps *out)
{
    const int around = outermost(mix, inner);
    int own = inner; /* the loop in it that iterations are in */
    memset(&out->end, 0, sizeof out->end);
    if (around == inner)
        return;
    while (mix->loops[own].parent != around)
        own = mix->loops[own].parent;
    take_loop(&out->end, &mix->loops[around], 1.0, DIVERGED, (lanes){1.0, 1.0});
    for (int l = 0; l < mix->loops_count; l++)
        if (mix->loops[l].parent == around && l != own) {
            tz_work_mix_add(&out->end.step, &mix->loops[l].way, 1.0);
            out->end.clocks += mix->loops[l].clocks;
            tz_rounds_blend(&out->end.rounds, 1.0, &mix->loops[l].rounds, 1.0);
            out->end.once_waits += mix->loops[l].reads_words > 0.0;
        }
}

static void take_around(const tz_cuda_mix *mix, int loop, tz_work_part *part, double times,
                        bool once)
{
    const int around = mix->loops[loop].parent;
    if (around < 0)
        return;
    tz_work_mix_add(once ? &part->once : &part->step, &mix->loops[around].way, times);
    *(once ? &part->once_clocks : &part->clocks) += times * mix->loops[around].clocks;
    if (!once)
        tz_rounds_blend(&part->rounds, 1.0, &mix->loops[around].rounds, times);
}

/* Planes: steps that do not do all, and what is around loops. A group at the grid's ends is a loop
 * of its steps, and says again where it is. Before all of it rings are cleared and tables made. */
static void find_planes(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                        const tz_cuda_mix *mix, const int *at, const double *steps,
                        tz_cuda_steps *out)
{
    planes_scheme *s = malloc(sizeof *s);
    tz_work_part *const parts[] = {&out->inner, &out->side, &out->end};
    tz_work_part *const idle[] = {&out->inner_idle, &out->side_idle, &out->end_idle};
    if (!s || !planes_scheme_make(s, problem, limits, plan)) {
        free(s);
        return;
    }
    const double rings = ceil((double)(s->shared_bytes - s->rings) / (16.0 * 32.0 * s->warps));
    const double tables = ceil((double)s->rings / (4.0 * 32.0 * s->warps));
    for (int k = 0; k < 3; k++) {
        const tz_cuda_loop *loop = &mix->loops[at[k]];
        take_loop(idle[k], &mix->loops[loop->shortest], steps[k], 0.0,
                  lanes_of(&tz_cuda_family_planes, problem, plan));
        take_around(mix, at[k], parts[k], 1.0, true);
        if (k == 2 && steps[k] == 1.0 && s->group > 1) {
            take_around(mix, at[k], parts[k], 1.0 / s->group, false);
            take_around(mix, at[k], idle[k], 1.0 / s->group, false);
        }
        for (int l = 0; l < at[0]; l++) {
            const tz_cuda_loop *before = &mix->loops[l];
            const double packets = before->way.of[TZ_WORK_SHARED_WRITE];
            if (before->parent >= 0 || before->stores > 0.0 || packets == 0.0 ||
                before->way.of[TZ_WORK_COPY] > 0.0 || l >= at[1] || l >= at[2])
                continue;
            const bool wide = before->passes > packets; /* else a table's words */
            if (!wide && packets == 1.0 && tables > 4.0)
                continue; /* what is left of unrolled ones */
            const double times = (wide ? rings : tables) / packets;
            tz_work_mix_add(&parts[k]->once, &before->way, times);
            parts[k]->once_clocks += times * before->clocks;
        }
    }
    free(s);
}

enum { CANDIDATES_MAX = 8 };

tz_status tz_cuda_steps_find(tz_cuda_steps *out, const tz_cuda_family *family,
                             const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan, const tz_cuda_mix *mix, tz_error *error)
{
    int at[CANDIDATES_MAX], count = 0;
    double steps[CANDIDATES_MAX], cost[CANDIDATES_MAX];
    memset(out, 0, sizeof *out);
    out->registers = mix->registers;
    out->local_bytes = mix->local_bytes;
    out->shared_bytes = mix->shared_bytes;
    /* By what a step costs. */
    for (int l = 0; l < mix->loops_count && count < CANDIDATES_MAX; l++) {
        const double here = steps_of(family, problem, limits, plan, &mix->loops[l]);
        if (here <= 0.0)
            continue;
        const double own = tz_work_mix_sum(&mix->loops[l].way) / here;
        int k = count++;
        for (; k > 0 && cost[k - 1] > own; k--) {
            at[k] = at[k - 1];
            steps[k] = steps[k - 1];
            cost[k] = cost[k - 1];
        }
        at[k] = l;
        steps[k] = here;
        cost[k] = own;
    }
    if (count == 0)
        return tz_error_set(error, TZ_UNSUPPORTED, plan->family,
                            "the main loop of the kernel for '%s' at height %d is not found among "
                            "its %d loops",
                            problem->stencil->id, plan->height, mix->loops_count);
    /* The dearest is that of the grid's ends; with a third one, that is the sides'. */
    const int end = count - 1, side = count > 2 ? 1 : end;
    if (family == &tz_cuda_family_tile) {
        find_tiles(problem, mix, at, steps, count, out);
        return TZ_OK;
    }
    /* In rows a warp's lanes choose values where the grid's ends are simple, not ways. */
    rows_design d;
    const bool together =
        family == &tz_cuda_family_rows && rows_design_make(&d, problem, plan) && d.edges;
    const double apart = together || family == &tz_cuda_family_planes ? 0.0 : DIVERGED;
    const lanes of = lanes_of(family, problem, plan);
    take_loop(&out->inner, &mix->loops[at[0]], steps[0], 0.0, of);
    take_loop(&out->side, &mix->loops[at[side]], steps[side], side == 0 ? 0.0 : apart, of);
    take_loop(&out->end, &mix->loops[at[end]], steps[end], end == 0 ? 0.0 : 1.5 * apart, of);
    if (side == 0 && family == &tz_cuda_family_rows)
        add_elements(mix, at[0], plan->vector, &out->side);
    if (side > 0 && family == &tz_cuda_family_rows)
        add_elements(mix, at[side], plan->vector, &out->side);
    if (family == &tz_cuda_family_rows) {
        add_start(mix, at[0], plan->ahead, 0.0, &out->inner);
        add_start(mix, at[0], plan->ahead, plan->vector, &out->side);
        add_start(mix, at[0], plan->ahead, 0.0, &out->end);
    }
    out->side.own_bytes = side > 0 ? mix->loops[at[side]].text_bytes / steps[side] : 0.0;
    out->end.own_bytes = end > 0 ? mix->loops[at[end]].text_bytes / steps[end] : 0.0;
    if (family == &tz_cuda_family_resident)
        find_exchange(mix, at[0], out);
    if (family == &tz_cuda_family_planes) {
        const int which[] = {at[0], at[side], at[end]};
        const double each_steps[] = {steps[0], steps[side], steps[end]};
        find_planes(problem, limits, plan, mix, which, each_steps, out);
    }
    return TZ_OK;
}

tz_status tz_cuda_steps_get(tz_cuda_steps *out, bool *found, const tz_cuda_family *family,
                            const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                            bool compile, tz_error *error)
{
    char architecture[16];
    char *source = NULL;
    const tz_limits limits = tz_place_limits(place);
    /* A record without a scheduler's numbers is one that a model of time refuses. */
    tz_cuda_machine machine;
    memset(&machine, 0, sizeof machine);
    const bool scheduled = tz_scheduler_of(place->device, &machine.scheduler, NULL) == TZ_OK;
    machine.block_warps = ceil(family->threads(problem, plan) / 32.0);
    machine.conflict = lanes_of(family, problem, plan).conflict;
    tz_cuda_mix *mix = malloc(sizeof *mix);
    if (!mix)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to count a kernel's code");
    snprintf(architecture, sizeof architecture, "sm_%d",
             (int)place->device->compute_capability.value);
    tz_status status = tz_cuda_source(problem, &limits, plan, &source, error);
    if (!status)
        status = tz_cuda_mix_get(mix, found, scheduled ? &machine : NULL, architecture, source,
                                 tz_cuda_headers, tz_cuda_headers_count, compile, error);
    if (!status && *found)
        status = tz_cuda_steps_find(out, family, problem, &limits, plan, mix, error);
    free(source);
    free(mix);
    return status;
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
    if (!status)
        status = tz_cuda_steps_get(&steps, &found, family, problem, place, plan,
                                   effort == TZ_EFFORT_COMPILE, error);
    if (!status && !found) {
        out->estimated = true;
        out->kind = TZ_WORK_GPU;
        if (effort == TZ_EFFORT_KNOWN)
            return TZ_OK;
        status = tz_cuda_steps_estimate(&steps, family, problem, place, plan, error);
    }
    if (status)
        return status;
    common_numbers(problem, plan, out);
    out->registers = steps.registers;
    out->local_bytes = steps.local_bytes;
    out->threads = family->threads(problem, plan);
    const tz_limits limits = tz_place_limits(place);
    out->shared_bytes = family->shared_bytes(problem, &limits, plan) + steps.shared_bytes;
    /* Since Hopper compilers count what the system keeps of shared memory as static. */
    if (place->device->shared_reserved_bytes.known && steps.shared_bytes >= 1024)
        out->shared_bytes -= (int)place->device->shared_reserved_bytes.value;
    if (out->estimated)
        tz_cuda_estimate_registers(place->device, plan, out);
    const int blocks = tz_roofs_blocks_per_sm(place->device, out, NULL, 0);
    tz_cuda_shape shape;
    status = family->shape(problem, &limits, plan, blocks, &shape, error);
    if (status)
        return status;
    out->threads = shape.threads;
    out->blocks = (double)shape.grid[0] * shape.grid[1] * shape.grid[2];
    out->cooperative = shape.cooperative;
    const tz_cuda_job job = {problem, plan, &shape, &steps, &limits, blocks};
    if (family == &tz_cuda_family_line)
        tz_cuda_work_line(&job, out);
    else if (family == &tz_cuda_family_rows)
        tz_cuda_work_rows(&job, out);
    else if (family == &tz_cuda_family_planes)
        tz_cuda_work_planes(&job, out);
    else if (family == &tz_cuda_family_tile)
        tz_cuda_work_tile(&job, out);
    else
        tz_cuda_work_resident(&job, out);
    return TZ_OK;
}
