/* The functions of the cuda backend that only read fields or refine them, and those of slabs. */
#include "backend/cuda/state.h"

#include "backend/host/store.h"
#include <math.h>

static tz_cuda_array array_of(const tz_cuda_state *state, int field, int copy)
{
    const int64_t pitch = tz_cuda_pitch(state->context.problem);
    return (tz_cuda_array){state->copy[field][copy], pitch,
                           pitch * state->context.problem->elements[1]};
}

tz_status tz_cuda_state_reduce(const void *any, int field, tz_reduce_sums *sums, tz_error *error)
{
    const tz_cuda_state *state = any;
    const tz_cuda_array array = array_of(state, field, state->current[field]);
    return tz_cuda_reduce(state->reducer, field, &array, sums, error);
}

tz_status tz_cuda_state_all_finite(const void *any, bool *finite, tz_error *error)
{
    const tz_cuda_state *state = any;
    const tz_problem *problem = state->context.problem;
    tz_status status = TZ_OK;
    *finite = true;
    for (int f = 0; !status && *finite && f < problem->stencil->fields_count; f++) {
        if (problem->stencil->fields[f].role != TZ_STATE)
            continue;
        const tz_cuda_array array = array_of(state, f, state->current[f]);
        status = tz_cuda_all_finite(state->reducer, f, &array, finite, error);
    }
    return status;
}

tz_status tz_cuda_state_update_norm(const void *any, double *norm, tz_error *error)
{
    const tz_cuda_state *state = any;
    const tz_problem *problem = state->context.problem;
    tz_status status = TZ_OK;
    *norm = state->norm_known ? 0.0 : NAN;
    for (int f = 0; !status && state->norm_known && f < problem->stencil->fields_count; f++) {
        if (!(tz_problem_written(problem) >> f & 1))
            continue;
        tz_cuda_array a = array_of(state, f, state->current[f]);
        tz_cuda_array b = array_of(state, f, 1 - state->current[f]);
        for (int taker = 0; taker < problem->stencil->fields_count; taker++)
            if (state->handed[taker] == f)
                b = array_of(state, taker, state->current[taker]);
        double d;
        status = tz_cuda_difference(state->reducer, f, &a, &b, &d, error);
        *norm = d <= *norm ? *norm : d;
    }
    return status;
}

static void current_fields(const tz_cuda_state *state, tz_cu_pointer fields[TZ_FIELDS_MAX])
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        fields[f] = state->copy[f][state->current[f]];
}

tz_status tz_cuda_state_update(void *any, int64_t step, tz_update_sums *sums, tz_error *error)
{
    const tz_cuda_state *state = any;
    tz_cu_pointer fields[TZ_FIELDS_MAX];
    current_fields(state, fields);
    return tz_cuda_update(state->updater, fields, NULL, step, sums, error);
}

tz_status tz_cuda_state_refine(void *any, void *any_correction, int64_t step, tz_update_sums *sums,
                               tz_error *error)
{
    tz_cuda_state *state = any, *correction = any_correction;
    const tz_problem *problem = state->context.problem;
    const tz_refinement *fields = problem->stencil->refinement;
    const int solution = fields->solution;
    tz_cu_pointer changes[TZ_FIELDS_MAX] = {0}, in[TZ_FIELDS_MAX];
    tz_cuda_refine_arguments a;
    tz_cuda_refine_arguments_fill(&a, problem, correction->context.problem);
    current_fields(state, in);
    /* The other copy of the solution is free between stages. */
    changes[solution] = state->copy[solution][1 - state->current[solution]];
    a.solution = in[solution];
    a.changes = changes[solution];
    a.correction = correction->copy[solution][correction->current[solution]];
    a.source = correction->copy[fields->source][correction->current[fields->source]];
    state->norm_known = correction->norm_known = false;
    tz_cuda_state_touch(state);
    tz_cuda_state_touch(correction);
    tz_status status = tz_cuda_queue_wait(correction->cuda, NULL, error);
    if (!status)
        status = tz_cuda_refine_add(&state->refiner, state->cuda, &a, error);
    if (!status)
        status = tz_cuda_update(state->updater, in, changes, step, sums, error);
    if (!status)
        status = tz_cuda_refine_set(&state->refiner, state->cuda, &a, error);
    return status ? status : tz_cuda_queue_wait(state->cuda, NULL, error);
}

static tz_cuda_transform_field transform_field(const tz_cuda_state *state, int field)
{
    const tz_problem *problem = state->context.problem;
    const tz_cuda_array array = array_of(state, field, state->current[field]);
    return (tz_cuda_transform_field){.at = array.cells,
                                     .apart = {1, array.pitch, array.plane},
                                     .is_double = tz_problem_real(problem)->size == sizeof(double)};
}

tz_status tz_cuda_state_jump(void *any, const tz_linear *linear, int64_t steps, void *any_source,
                             tz_jump_facts *facts, tz_error *error)
{
    tz_cuda_state *state = any, *source = any_source;
    tz_cuda_transform_field fields[TZ_LINEAR_FIELDS_MAX], sources[TZ_LINEAR_FIELDS_MAX];
    for (int f = 0; f < linear->fields_count; f++) {
        fields[f] = transform_field(state, linear->field[f]);
        if (source)
            sources[f] = transform_field(source, linear->field[f]);
    }
    tz_status status = TZ_OK;
    if (!state->jumper)
        status = tz_cuda_jumper_create(&state->jumper, state->cuda, error);
    tz_cuda_state_touch(state);
    /* Both states are on one device, in one context: the default queue is the same. */
    if (!status)
        status = tz_cuda_jump(state->jumper, linear, steps, fields, source ? sources : NULL, facts,
                              error);
    state->norm_known &= status != TZ_OK;
    return status ? status : tz_cuda_queue_wait(state->cuda, NULL, error);
}

tz_status tz_cuda_state_shrink(const void *any, int field, int64_t z, int nx, int ny,
                               double *values, tz_error *error)
{
    const tz_cuda_state *state = any;
    const tz_cuda_array array = array_of(state, field, state->current[field]);
    return tz_cuda_shrink(state->reducer, field, &array, z, nx, ny, values, error);
}

/* ---- Copies after a stage ------------------------------------------------------------------- */

void tz_cuda_state_swap(tz_cuda_state *state, const tz_cuda_family *family)
{
    const tz_problem *problem = state->context.problem;
    const uint32_t written = tz_problem_written(problem);
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const int other = tz_cuda_handed(family, problem, f);
        if (other < 0)
            continue;
        tz_cu_pointer *const to = &state->copy[f][1 - state->current[f]], unused = *to;
        tz_cu_pointer *const from = &state->copy[other][state->current[other]];
        *to = *from;
        *from = unused;
    }
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (written >> f & 1)
            state->current[f] = 1 - state->current[f];
}

bool tz_cuda_state_note_handed(tz_cuda_state *state, const tz_cuda_family *family)
{
    const tz_problem *problem = state->context.problem;
    bool any = false;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        state->handed[f] = tz_cuda_handed(family, problem, f);
        any = any || state->handed[f] >= 0;
    }
    return any;
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

static bool leaves_out(const tz_problem *problem, const tz_plan *plan)
{
    const tz_cuda_family *family;
    return tz_cuda_family_find(plan->family, problem, &family, NULL) == TZ_OK &&
           tz_cuda_in_spans(family, problem, plan->height);
}

void tz_cuda_state_touch(tz_cuda_state *state)
{
    state->early[0] = state->early[1] = 0;
}

static bool is_early(const tz_cuda_state *state)
{
    return state->early[0] > 0 || state->early[1] > 0;
}

tz_cuda_queue *tz_cuda_state_queue(const tz_cuda_state *state)
{
    return is_early(state) ? state->first : NULL;
}

static tz_status need_event(const tz_cuda_state *state, tz_cuda_event **event, tz_error *error)
{
    return *event ? TZ_OK : tz_cuda_event_create(state->cuda, event, false, error);
}

static tz_status offer(void *any, const int64_t ends[2], tz_error *error)
{
    tz_cuda_state *state = any;
    if (ends && is_early(state) && ends[0] <= state->early[0] && ends[1] <= state->early[1])
        return TZ_OK;
    tz_cuda_state_touch(state);
    const tz_status status = need_event(state, &state->offered, error);
    return status ? status : tz_cuda_event_record(state->cuda, state->offered, NULL, error);
}

/* Rows and planes are copied with the padding that both states have after each row. After a stage
 * that has computed its ends first, the queue of the ends copies while the default queue computes
 * the rest: that touches no ghost zone of the fields that it writes, and what came before it is
 * done. */
static tz_status copy(void *any, int64_t to, void *any_other, int64_t at, int64_t count,
                      uint32_t fields, tz_error *error)
{
    tz_cuda_state *state = any, *other = any_other;
    const tz_problem *problem = state->context.problem;
    tz_cuda_queue *queue = tz_cuda_state_queue(state);
    const int64_t pitch = tz_cuda_pitch(problem);
    const int64_t strides[TZ_AXES] = {1, pitch, pitch * problem->elements[1]};
    const int64_t stride = strides[problem->dims - 1];
    tz_status status = need_event(state, &state->copied, error);
    if (!status)
        status = tz_cuda_queue_wait_event(state->cuda, queue, other->offered, error);
    for (int f = 0; f < problem->stencil->fields_count && !status; f++) {
        if (!(fields >> f & 1))
            continue;
        const tz_cu_pointer slice = (tz_cu_pointer)stride * tz_problem_element_size(problem, f);
        status = tz_cuda_queue_copy_from(
            state->cuda, queue, state->copy[f][state->current[f]] + (tz_cu_pointer)to * slice,
            other->cuda, other->copy[f][other->current[f]] + (tz_cu_pointer)at * slice,
            (size_t)count * slice, error);
    }
    if (!status)
        status = tz_cuda_event_record(state->cuda, state->copied, queue, error);
    if (!status && queue)
        status = tz_cuda_queue_wait_event(state->cuda, NULL, state->copied, error);
    return status ? status : tz_cuda_queue_wait_event(other->cuda, NULL, state->copied, error);
}

const tz_slab_functions tz_cuda_slab_functions = {leaves_out,     tz_cuda_state_stage,  offer, copy,
                                                  &tz_cuda_links, &tz_cuda_through_host};
