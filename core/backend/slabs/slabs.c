#include "backend/slabs/slabs.h"
#include "backend/slabs/slabs_impl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- All slabs at the same time -------------------------------------------------------------- */

typedef struct round_of_work {
    tz__slabs *slabs;
    tz__slabs_work *work;
    void *argument;
} round_of_work;

static void do_work(void *context, int i)
{
    const round_of_work *r = context;
    tz_error error = {0};
    i += r->slabs->low;
    const tz_status status = r->work(r->slabs, i, r->argument, &error);
    tz__slabs_part *part = r->slabs->parts[i]; /* the work may replace it */
    part->status = status;
    part->error = error;
}

tz_status tz__slabs_own(tz__slabs *slabs, tz__slabs_work *work, void *argument, tz_error *error)
{
    round_of_work r = {slabs, work, argument};
    tz_crew_run(slabs->crew, do_work, &r);
    for (int i = slabs->low; i < slabs->high; i++)
        if (slabs->parts[i]->status) {
            if (error)
                *error = slabs->parts[i]->error;
            return slabs->parts[i]->status;
        }
    return TZ_OK;
}

tz_status tz__slabs_all(tz__slabs *slabs, tz__slabs_work *work, void *argument, tz_error *error)
{
    tz_error own = {0};
    const tz_status status =
        tz__slabs_agree(slabs, tz__slabs_own(slabs, work, argument, &own), &own);
    if (status && error)
        *error = own;
    return status;
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

static void destroy(void *any)
{
    tz__slabs *slabs = any;
    if (!slabs)
        return;
    tz__slabs_close_links(slabs);
    for (int i = slabs->low; i < slabs->high; i++)
        tz__slabs_part_destroy(slabs, slabs->parts[i]);
    tz_crew_destroy(slabs->crew);
    free(slabs);
}

static tz_status create(const tz_backend *inner, void **out, const tz_backend_context *context,
                        tz_error *error)
{
    *out = NULL;
    if (!inner->slab)
        return tz_error_set(error, TZ_UNSUPPORTED, "devices",
                            "the %s backend cannot hold slabs of a grid", inner->name);
    tz__slabs *slabs = calloc(1, sizeof *slabs);
    if (!slabs)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    slabs->context = *context;
    slabs->devices = *context->devices;
    slabs->inner = inner;
    slabs->depth = context->exchange > 0 ? context->exchange : 1;
    tz_status status = tz_cut_make(&slabs->cut, context->problem, context->devices, error);
    if (!status)
        status = tz_cut_check(&slabs->cut, context->problem, slabs->depth, error);
    while (slabs->low < slabs->cut.count && !tz_devices_are_own(&slabs->devices, slabs->low))
        slabs->low++;
    slabs->high = slabs->low;
    while (slabs->high < slabs->cut.count && tz_devices_are_own(&slabs->devices, slabs->high))
        slabs->high++;
    if (!status)
        status = tz_crew_create(&slabs->crew, slabs->high - slabs->low, error);
    for (int i = slabs->low; i < slabs->high && !status; i++)
        status = tz__slabs_part_create(slabs, i, slabs->depth, &slabs->parts[i], error);
    if (status) {
        destroy(slabs);
        return status;
    }
    *out = slabs;
    return TZ_OK;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

typedef struct access {
    int field;
    const tz_box *box; /* of the whole grid */
    const char *from;
    char *to;
} access;

/* Bytes of a slice of a box: a row or plane of it, or in 1-D a cell. */
static size_t slice_bytes(const tz_problem *problem, int field, const tz_box *box)
{
    size_t bytes = tz_problem_element_size(problem, field);
    for (int axis = 0; axis < problem->dims - 1; axis++)
        bytes *= (size_t)(box->high[axis] - box->low[axis]);
    return bytes;
}

/* The part of a box between two cells of the whole grid along the last axis, moved by `move` cells.
 * False: there is none. *at: the first slice of it in the box. */
static bool part_of_box(int axis, const tz_box *box, int64_t low, int64_t high, int64_t move,
                        tz_box *out, int64_t *at)
{
    *out = *box;
    out->low[axis] = box->low[axis] > low ? box->low[axis] : low;
    out->high[axis] = box->high[axis] < high ? box->high[axis] : high;
    *at = out->low[axis] - box->low[axis];
    const bool some = out->low[axis] < out->high[axis];
    out->low[axis] += move;
    out->high[axis] += move;
    return some;
}

static tz_status store_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const access *a = argument;
    const tz_problem *problem = &slabs->parts[i]->problem, *whole = slabs->context.problem;
    const int axis = whole->dims - 1;
    const int64_t n = whole->elements[axis], first = problem->slab.first;
    const size_t slice = slice_bytes(whole, a->field, a->box);
    tz_status status = TZ_OK;
    /* In a ring, a ghost zone lies at the other end of the grid. */
    for (int turn = -1; turn <= 1 && !status; turn++) {
        tz_box box;
        int64_t at;
        if (part_of_box(axis, a->box, first + turn * n, first + turn * n + problem->elements[axis],
                        -first - turn * n, &box, &at))
            status = slabs->inner->store(slabs->parts[i]->state, a->field, &box,
                                         a->from + (size_t)at * slice, error);
    }
    return status;
}

static tz_status store(void *any, int field, const tz_box *box, const void *elements,
                       tz_error *error)
{
    tz__slabs *slabs = any;
    access a = {.field = field, .box = box, .from = elements};
    slabs->offered = 0;
    return tz__slabs_all(slabs, store_part, &a, error);
}

static tz_status load_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const access *a = argument;
    const tz_problem *whole = slabs->context.problem;
    const int axis = whole->dims - 1;
    tz_box box;
    int64_t at;
    if (!part_of_box(axis, a->box, slabs->cut.at[i], slabs->cut.at[i + 1],
                     -slabs->parts[i]->problem.slab.first, &box, &at))
        return TZ_OK;
    return slabs->inner->load(slabs->parts[i]->state, a->field, &box,
                              a->to + (size_t)at * slice_bytes(whole, a->field, a->box), error);
}

static tz_status load(const void *any, int field, const tz_box *box, void *elements,
                      tz_error *error)
{
    tz__slabs *slabs = (tz__slabs *)any;
    access a = {.field = field, .box = box, .to = elements};
    const tz_status status = tz__slabs_all(slabs, load_part, &a, error);
    if (!status)
        tz__slabs_share_cells(slabs, box, slice_bytes(slabs->context.problem, field, box),
                              elements);
    return status;
}

static tz_status fill_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const access *a = argument;
    return slabs->inner->fill(slabs->parts[i]->state, a->field, a->from, error);
}

static tz_status fill(void *any, int field, const void *element, tz_error *error)
{
    access a = {.field = field, .from = element};
    ((tz__slabs *)any)->offered = 0;
    return tz__slabs_all(any, fill_part, &a, error);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef struct reduce_work {
    int field;
    tz_reduce_sums of[TZ_DEVICES_MAX];
} reduce_work;

static tz_status reduce_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    reduce_work *w = argument;
    return slabs->inner->slab->reduce(slabs->parts[i]->state, w->field, &w->of[i], error);
}

static tz_status reduce(const void *any, int field, tz_reduction *out, tz_error *error)
{
    tz__slabs *slabs = (tz__slabs *)any;
    tz_reduce_sums sums;
    reduce_work w = {.field = field};
    tz_status status = tz_reduce_begin(&sums, slabs->context.problem, field, error);
    status = tz__slabs_agree(slabs, status, error);
    for (int i = slabs->low; i < slabs->high; i++)
        w.of[i] = sums; /* each writes other elements of the same array */
    if (!status)
        status = tz__slabs_all(slabs, reduce_part, &w, error);
    for (int i = slabs->low; i < slabs->high && !status; i++)
        tz__slabs_add_reduction(&sums, &w.of[i]);
    if (!status)
        tz__slabs_share_reduction(slabs, &sums);
    tz_reduce_end(&sums, out);
    return status;
}

static tz_status finite_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    return slabs->inner->all_finite(slabs->parts[i]->state, (bool *)argument + i, error);
}

static tz_status all_finite(const void *any, bool *finite, tz_error *error)
{
    bool each[TZ_DEVICES_MAX];
    tz__slabs *slabs = (tz__slabs *)any;
    const tz_status status = tz__slabs_all(slabs, finite_part, each, error);
    *finite = true;
    for (int i = slabs->low; i < slabs->high; i++)
        *finite = *finite && each[i];
    *finite = tz_ranks_largest(slabs->context.ranks, !*finite) == 0;
    return status;
}

static tz_status norm_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    return slabs->inner->update_norm(slabs->parts[i]->state, (double *)argument + i, error);
}

static tz_status update_norm(const void *any, double *norm, tz_error *error)
{
    double each[TZ_DEVICES_MAX];
    tz__slabs *slabs = (tz__slabs *)any;
    const tz_status status = tz__slabs_all(slabs, norm_part, each, error);
    *norm = 0.0;
    for (int i = slabs->low; i < slabs->high; i++)
        *norm = isnan(each[i]) || each[i] > *norm ? each[i] : *norm;
    *norm = tz_ranks_largest(slabs->context.ranks, *norm);
    return status;
}

typedef struct update_work {
    tz__slabs *correction; /* NULL: no refinement */
    int64_t step;
    tz_update_sums of[TZ_DEVICES_MAX];
} update_work;

static tz_status update_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    update_work *w = argument;
    const tz_slab_functions *functions = slabs->inner->slab;
    void *state = slabs->parts[i]->state;
    return w->correction
               ? functions->refine(state, w->correction->parts[i]->state, w->step, &w->of[i], error)
               : functions->update(state, w->step, &w->of[i], error);
}

static tz_status add_updates(tz__slabs *slabs, tz__slabs *correction, int64_t step, tz_update *out,
                             tz_error *error)
{
    tz_update_sums sums;
    update_work w = {.correction = correction, .step = step};
    tz__slabs_refresh_all(slabs);
    /* An iteration reads one ghost zone. */
    tz_status status = tz_update_begin(&sums, slabs->context.problem, error);
    status = tz__slabs_agree(slabs, status, error);
    for (int i = slabs->low; i < slabs->high; i++)
        w.of[i] = sums;
    if (!status)
        status = tz__slabs_need(slabs, 1, slabs->depth, error);
    if (!status)
        status = tz__slabs_all(slabs, update_part, &w, error);
    for (int i = slabs->low; i < slabs->high && !status; i++) {
        const tz_update_sums *one = &w.of[i];
        sums.largest = one->largest > sums.largest ? one->largest : sums.largest;
        sums.magnitude = one->magnitude > sums.magnitude ? one->magnitude : sums.magnitude;
    }
    if (!status)
        tz__slabs_share_update(slabs, &sums);
    tz_update_end(&sums, out);
    return status;
}

static tz_status update(void *any, int64_t step, tz_update *out, tz_error *error)
{
    return add_updates(any, NULL, step, out, error);
}

static tz_status refine(void *any, void *any_correction, int64_t step, tz_update *out,
                        tz_error *error)
{
    tz__slabs *slabs = any, *correction = any_correction;
    const int source = slabs->context.problem->stencil->refinement->source;
    tz_status status = TZ_OK;
    tz__slabs_refresh_all(correction);
    slabs->offered = correction->offered = 0;
    /* Both have the same ghost zones, in which the sum is current if they are. */
    if (correction->depth < slabs->depth)
        status = tz__slabs_deepen(correction, slabs->depth, error);
    if (slabs->depth < correction->depth)
        status = tz__slabs_deepen(slabs, correction->depth, error);
    if (!status)
        status = tz__slabs_need(correction, correction->depth, correction->depth, error);
    if (!status)
        status = tz__slabs_need(slabs, slabs->depth, slabs->depth, error);
    if (!status)
        status = add_updates(slabs, correction, step, out, error);
    if (!status)
        status = tz__slabs_exchange(correction, UINT32_C(1) << source, correction->depth, error);
    return status;
}

static tz_status shrink(const void *any, int field, int64_t z, int nx, int ny, double *values,
                        tz_error *error)
{
    const tz__slabs *slabs = any;
    if (!slabs->inner->shrink || slabs->context.problem->dims < 3)
        return TZ_UNSUPPORTED; /* the caller averages the cells */
    int i = 0;
    while (z >= slabs->cut.at[i + 1])
        i++;
    const tz__slabs_part *part = slabs->parts[i]; /* NULL: of another rank */
    tz_status status = TZ_OK;
    if (part)
        status = slabs->inner->shrink(part->state, field, z - part->problem.slab.first, nx, ny,
                                      values, error);
    status = tz__slabs_agree(slabs, status, error);
    if (!status && slabs->context.ranks)
        slabs->context.ranks->broadcast(slabs->context.ranks, slabs->devices.of[i].rank, values,
                                        (int64_t)nx * ny * (int64_t)sizeof *values);
    return status;
}

/* ---- Facts of the devices -------------------------------------------------------------------- */

static tz_status facts(void *any, const tz_plan *plan, tz_kernel_facts *out, tz_error *error)
{
    tz__slabs *slabs = any;
    tz_plan own;
    tz_status status = tz__slabs_plan_of(slabs, slabs->low, plan, &own, error);
    return status ? status : slabs->inner->facts(slabs->parts[slabs->low]->state, &own, out, error);
}

/* Of all devices; one that holds several slabs counts once. */
static tz_status energy(void *any, double *joules, tz_error *error)
{
    const tz__slabs *slabs = any;
    tz_status status = TZ_OK;
    *joules = 0.0;
    if (slabs->devices.shared)
        return TZ_UNSUPPORTED; /* which rank counts it? */
    for (int i = slabs->low; i < slabs->high && !status; i++) {
        bool seen = false;
        for (int k = slabs->low; k < i; k++)
            seen |= slabs->devices.of[k].device == slabs->devices.of[i].device;
        double one = 0.0;
        if (!seen)
            status = slabs->inner->energy(slabs->parts[i]->state, &one, error);
        *joules = status ? NAN : *joules + one;
    }
    status = tz__slabs_agree(slabs, status, error);
    if (!status)
        *joules = tz__slabs_sum(slabs, *joules);
    return status;
}

static tz_status clock_of_first(void *any, tz_clock_facts *out, tz_error *error)
{
    const tz__slabs *slabs = any;
    return slabs->inner->clock(slabs->parts[slabs->low]->state, out, error);
}

/* Slabs make their kernels at the same time. */
static double set_up_s(const void *any)
{
    const tz__slabs *slabs = any;
    double most = 0.0;
    for (int i = slabs->low; i < slabs->high; i++) {
        const double seconds = slabs->inner->set_up_s(slabs->parts[i]->state);
        most = seconds > most ? seconds : most;
    }
    return most;
}

void tz_slabs_describe(const void *state, tz_slabs_facts *out)
{
    const tz__slabs *slabs = state;
    *out = (tz_slabs_facts){slabs->devices, {0}, slabs->exchanged, slabs->paths};
    memcpy(out->at, slabs->cut.at, sizeof out->at);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* The functions that have no state must know the backend of the slabs: each backend has its own. */
#define FUNCTIONS(name)                                                                            \
    static tz_status plan_##name(const tz_problem *problem, const tz_place *place, tz_plan *plan,  \
                                 tz_error *error)                                                  \
    {                                                                                              \
        return tz__slabs_plan(&tz_backend_##name, problem, place, plan, error);                    \
    }                                                                                              \
    static int64_t bytes_##name(const tz_problem *problem, const tz_place *place,                  \
                                const tz_plan *plan)                                               \
    {                                                                                              \
        return tz__slabs_bytes(&tz_backend_##name, problem, place, plan);                          \
    }                                                                                              \
    static tz_status candidates_##name(const tz_problem *problem, const tz_place *place,           \
                                       const tz_plan *given, tz_plan *plans, int max, int *count,  \
                                       tz_error *error)                                            \
    {                                                                                              \
        return tz__slabs_candidates(&tz_backend_##name, problem, place, given, plans, max, count,  \
                                    error);                                                        \
    }                                                                                              \
    static tz_status work_##name(const tz_problem *problem, const tz_place *place,                 \
                                 const tz_plan *plan, tz_effort effort, tz_model_work *out,        \
                                 tz_error *error)                                                  \
    {                                                                                              \
        return tz__slabs_model_work(&tz_backend_##name, problem, place, plan, effort, out, error); \
    }                                                                                              \
    static tz_status create_##name(void **out, const tz_backend_context *context, tz_error *error) \
    {                                                                                              \
        return create(&tz_backend_##name, out, context, error);                                    \
    }

FUNCTIONS(cuda)
FUNCTIONS(cpu)
FUNCTIONS(reference)

static const struct {
    const tz_backend *inner;
    tz_status (*plan)(const tz_problem *, const tz_place *, tz_plan *, tz_error *);
    int64_t (*bytes)(const tz_problem *, const tz_place *, const tz_plan *);
    tz_status (*candidates)(const tz_problem *, const tz_place *, const tz_plan *, tz_plan *, int,
                            int *, tz_error *);
    tz_status (*work)(const tz_problem *, const tz_place *, const tz_plan *, tz_effort,
                      tz_model_work *, tz_error *);
    tz_status (*create)(void **, const tz_backend_context *, tz_error *);
} own_functions[] = {
    {&tz_backend_cuda, plan_cuda, bytes_cuda, candidates_cuda, work_cuda, create_cuda},
    {&tz_backend_cpu, plan_cpu, bytes_cpu, candidates_cpu, work_cpu, create_cpu},
    {&tz_backend_reference, plan_reference, bytes_reference, candidates_reference, work_reference,
     create_reference},
};

tz_status tz_slabs_backend(const tz_backend *inner, tz_backend *out, tz_error *error)
{
    size_t k = 0;
    while (k < sizeof own_functions / sizeof *own_functions && own_functions[k].inner != inner)
        k++;
    if (k == sizeof own_functions / sizeof *own_functions)
        return tz_error_set(error, TZ_UNSUPPORTED, "devices",
                            "the %s backend cannot hold slabs of a grid", inner->name);
    *out = *inner;
    out->doc = "a grid in slabs on several devices";
    out->plan = own_functions[k].plan;
    out->bytes = own_functions[k].bytes;
    out->candidates = inner->candidates ? own_functions[k].candidates : NULL;
    out->work = inner->work ? own_functions[k].work : NULL;
    out->create = own_functions[k].create;
    out->destroy = destroy;
    out->store = store;
    out->load = load;
    out->fill = fill;
    out->stage = tz__slabs_stage;
    out->set_up_s = inner->set_up_s ? set_up_s : NULL;
    out->wait = inner->wait ? tz__slabs_wait : NULL;
    out->reduce = reduce;
    out->all_finite = all_finite;
    out->update_norm = update_norm;
    out->update = update;
    out->refine = refine;
    out->slab = NULL;
    out->jump = NULL;
    out->jump_library = NULL;
    out->shrink = inner->shrink ? shrink : NULL;
    out->freeze = NULL;
    out->frozen = NULL;
    out->facts = inner->facts ? facts : NULL;
    out->energy = inner->energy ? energy : NULL;
    out->clock = inner->clock ? clock_of_first : NULL;
    return TZ_OK;
}
