/* A grid in slabs, as a backend: the table, states, numbers and stages. core/sim creates it where
 * several devices hold the grid. */
#include "backend/slabs/slabs.h"

#include "backend/slabs/commands.h"
#include "backend/slabs/exchange.h"
#include "backend/slabs/plans.h"
#include "kernels/cpu/update.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lifetime -------------------------------------------------------------------------------- */

void tz__slabs_do_destroy(tz__slabs *slabs)
{
    if (!slabs)
        return;
    tz__slabs_close_links(slabs);
    for (int i = slabs->low; i < slabs->high; i++)
        tz__slabs_part_destroy(slabs, slabs->parts[i]);
    tz_threads_destroy(slabs->threads);
    free(slabs->told);
    free(slabs);
}

/* The simulation looks at the memory of rank 0. */
static tz_status check_memory(const tz__slabs *slabs, tz_error *error)
{
    const tz_backend_context *context = &slabs->context;
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    const tz_place place = {.devices = &slabs->devices};
    if (!ranks || ranks->rank == 0 || !context->plan)
        return TZ_OK;
    return tz_problem_check_memory(context->problem,
                                   tz__slabs_bytes(context->problem, &place, context->plan),
                                   ranks->local_count, error);
}

tz_status tz__slabs_do_create(tz__slabs *slabs, const tz_backend_context *context, tz_error *error)
{
    slabs->context = *context;
    if (tz__slabs_ranks(slabs)) { /* they end together */
        slabs->context.overdue = NULL;
        slabs->context.cancelled = NULL;
    }
    slabs->devices = *context->devices;
    slabs->inner = slabs->devices.inner;
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
        status = check_memory(slabs, error);
    if (!status)
        status = tz_threads_create(&slabs->threads, slabs->high - slabs->low, error);
    if (!status)
        status = tz_threads_start(slabs->threads, error);
    for (int i = slabs->low; i < slabs->high && !status; i++)
        status = tz__slabs_part_create(slabs, i, slabs->depth, &slabs->parts[i], error);
    return tz__slabs_agree(slabs, status, error);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef struct reduce_work {
    int field;
    tz_reduce_sums of[TZ_DEVICES_MAX];
} reduce_work;

static tz_status reduce_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    reduce_work *w = argument;
    return slabs->inner->reduce(slabs->parts[i]->state, w->field, &w->of[i], error);
}

/* The first of `count` sums that belongs to cells from `at` on, along the last axis. */
static int64_t sums_before(const tz_problem *problem, int64_t at, int64_t count, int64_t segment)
{
    const int axis = problem->dims - 1;
    return axis == 0 ? (at + segment - 1) / segment : at * (count / problem->elements[axis]);
}

/* Each rank has the sums of its slabs; all get the whole. */
static void share_sums(const tz__slabs *slabs, double *sums, int64_t count, int64_t segment)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    const tz_problem *problem = slabs->context.problem;
    for (int i = 0; ranks && i < slabs->cut.count; i++) {
        const int64_t begin = sums_before(problem, slabs->cut.at[i], count, segment);
        const int64_t end = sums_before(problem, slabs->cut.at[i + 1], count, segment);
        ranks->broadcast(ranks, slabs->devices.of[i].rank, sums + begin,
                         (end - begin) * (int64_t)sizeof *sums);
    }
}

/* The `bytes` of each rank; the caller frees them. */
static void *gather(const tz_ranks *ranks, const void *mine, size_t bytes)
{
    void *all = malloc((size_t)ranks->count * bytes);
    if (!all)
        ranks->abort(ranks, "not enough memory for numbers of all ranks");
    ranks->gather_all(ranks, mine, (int64_t)bytes, all);
    return all;
}

/* Combine what is no part of the array of sums. */
static void add_reduction(tz_reduce_sums *sums, const tz_reduce_sums *one)
{
    sums->low = one->low < sums->low ? one->low : sums->low;
    sums->high = one->high > sums->high ? one->high : sums->high;
    sums->first = one->first < sums->first ? one->first : sums->first;
    sums->population += one->population;
    sums->not_finite += one->not_finite;
    sums->hash += one->hash;
}

static void share_reduction(const tz__slabs *slabs, tz_reduce_sums *sums)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    if (!ranks)
        return;
    share_sums(slabs, sums->sums, sums->count, TZ_REDUCE_SEGMENT);
    tz_reduce_sums *all = gather(ranks, sums, sizeof *sums);
    for (int r = 0; r < ranks->count; r++)
        if (r != ranks->rank)
            add_reduction(sums, &all[r]);
    free(all);
}

tz_status tz__slabs_do_reduce(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    tz_reduce_sums own = {.sums = NULL}, *sums = call->to ? call->to : &own;
    reduce_work w = {.field = call->field};
    tz_status status = TZ_OK;
    if (!call->to) /* of another rank than 0 */
        status = tz_reduce_begin(&own, slabs->context.problem, call->field, error);
    status = tz__slabs_agree(slabs, status, error);
    for (int i = slabs->low; i < slabs->high; i++)
        w.of[i] = *sums; /* each writes other elements of the same array */
    if (!status)
        status = tz__slabs_all(slabs, reduce_part, &w, error);
    for (int i = slabs->low; i < slabs->high && !status; i++)
        add_reduction(sums, &w.of[i]);
    if (!status)
        share_reduction(slabs, sums);
    free(own.sums);
    return status;
}

static tz_status finite_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    return slabs->inner->all_finite(slabs->parts[i]->state, (bool *)argument + i, error);
}

tz_status tz__slabs_do_all_finite(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    bool each[TZ_DEVICES_MAX], finite = true;
    const tz_status status = tz__slabs_all(slabs, finite_part, each, error);
    for (int i = slabs->low; i < slabs->high; i++)
        finite = finite && each[i];
    finite = tz_ranks_largest(slabs->context.ranks, !finite) == 0;
    if (call->to)
        *(bool *)call->to = finite;
    return status;
}

static tz_status norm_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    return slabs->inner->update_norm(slabs->parts[i]->state, (double *)argument + i, error);
}

tz_status tz__slabs_do_update_norm(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    double each[TZ_DEVICES_MAX], norm = 0.0;
    const tz_status status = tz__slabs_all(slabs, norm_part, each, error);
    for (int i = slabs->low; i < slabs->high; i++)
        norm = isnan(each[i]) || each[i] > norm ? each[i] : norm;
    norm = tz_ranks_largest(slabs->context.ranks, norm);
    if (call->to)
        *(double *)call->to = norm;
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
    const tz_backend *inner = slabs->inner;
    void *state = slabs->parts[i]->state;
    return w->correction
               ? inner->refine(state, w->correction->parts[i]->state, w->step, &w->of[i], error)
               : inner->update(state, w->step, &w->of[i], error);
}

static void add_update(tz_update_sums *sums, const tz_update_sums *one)
{
    sums->largest = one->largest > sums->largest ? one->largest : sums->largest;
    sums->magnitude = one->magnitude > sums->magnitude ? one->magnitude : sums->magnitude;
}

static void share_update(const tz__slabs *slabs, tz_update_sums *sums)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    if (!ranks)
        return;
    share_sums(slabs, sums->sums, sums->count, TZ_UPDATE_SEGMENT);
    tz_update_sums *all = gather(ranks, sums, sizeof *sums);
    for (int r = 0; r < ranks->count; r++)
        add_update(sums, &all[r]);
    free(all);
}

tz_status tz__slabs_do_update(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    tz_update_sums own = {.sums = NULL}, *sums = call->to ? call->to : &own;
    update_work w = {.correction = call->correction, .step = call->at};
    tz_status status = TZ_OK;
    tz__slabs_refresh_all(slabs);
    if (!call->to) /* of another rank than 0 */
        status = tz_update_begin(&own, slabs->context.problem, error);
    status = tz__slabs_agree(slabs, status, error);
    for (int i = slabs->low; i < slabs->high; i++)
        w.of[i] = *sums;
    if (!status) /* an iteration reads one ghost zone */
        status = tz__slabs_need(slabs, 1, slabs->depth, error);
    if (!status)
        status = tz__slabs_all(slabs, update_part, &w, error);
    for (int i = slabs->low; i < slabs->high && !status; i++)
        add_update(sums, &w.of[i]);
    if (!status)
        share_update(slabs, sums);
    free(own.sums);
    return status;
}

tz_status tz__slabs_do_refine(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    tz__slabs *correction = call->correction;
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
        status = tz__slabs_do_update(slabs, call, error);
    if (!status)
        status = tz__slabs_exchange(correction, UINT32_C(1) << source, correction->depth, error);
    return status;
}

tz_status tz__slabs_do_shrink(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    const int nx = (int)call->counts[0], ny = (int)call->counts[1];
    const int64_t bytes = call->counts[0] * call->counts[1] * (int64_t)sizeof(double);
    int i = 0;
    while (call->at >= slabs->cut.at[i + 1])
        i++;
    const tz__slabs_part *part = slabs->parts[i]; /* NULL: of another rank */
    const int owner = slabs->devices.of[i].rank;
    double *own = part && !call->to ? malloc((size_t)bytes) : NULL;
    double *values = call->to ? call->to : own;
    tz_status status =
        part && !values ? tz_error_set(error, TZ_MEMORY, NULL, "not enough memory") : TZ_OK;
    if (part && !status)
        status = slabs->inner->shrink(part->state, call->field, call->at - part->problem.slab.first,
                                      nx, ny, values, error);
    status = tz__slabs_agree(slabs, status, error);
    const bool gets = owner > 0 && call->to, gives = owner > 0 && part;
    const tz_part message = {.peer = gets ? owner : 0,
                             .is_receive = gets,
                             .buffer = values,
                             .bytes = bytes,
                             .tag = TZ_RANKS_TAG_MAX};
    if (!status && (gets || gives))
        tz_ranks_exchange(slabs->context.ranks, &message, 1);
    free(own);
    return status;
}

/* ---- Facts of the devices -------------------------------------------------------------------- */

static tz_status facts(void *any, const tz_plan *plan, tz_kernel_facts *out, tz_error *error)
{
    tz__slabs *slabs = any;
    tz_plan own;
    const tz_status status = tz__slabs_plan_of(slabs, slabs->low, plan, &own, error);
    return status ? status : slabs->inner->facts(slabs->parts[slabs->low]->state, &own, out, error);
}

/* Of all devices; one that holds several slabs counts once. */
tz_status tz__slabs_do_energy(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    tz_status status = TZ_OK;
    double joules = 0.0;
    for (int i = slabs->low; i < slabs->high && !status; i++) {
        bool seen = false;
        for (int k = slabs->low; k < i; k++)
            seen |= slabs->devices.of[k].device == slabs->devices.of[i].device;
        double one = 0.0;
        if (!seen)
            status = slabs->inner->energy(slabs->parts[i]->state, &one, error);
        joules = status ? NAN : joules + one;
    }
    status = tz__slabs_agree(slabs, status, error);
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    double *all = ranks ? gather(ranks, &joules, sizeof joules) : NULL;
    if (all)
        joules = 0.0;
    for (int r = 0; all && r < ranks->count; r++)
        joules += all[r];
    free(all);
    if (call->to)
        *(double *)call->to = joules;
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
    *out = (tz_slabs_facts){slabs->devices, {0}, slabs->exchanged, slabs->paths, {0}};
    memcpy(out->at, slabs->cut.at, sizeof out->at);
    memcpy(out->apart, slabs->apart, sizeof out->apart);
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* Stages that follow each other without an exchange. */
typedef struct advance {
    const tz_plan *plan;
    int iterations;
    int64_t step;
    int rest, next; /* iterations until the exchange after them, and of that exchange */
    bool offers;    /* they offer their ends for the next one */
} advance;

static tz_status plan_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const advance *a = argument;
    tz__slabs_part *part = slabs->parts[i];
    if (tz_plan_equal(&part->planned, a->plan))
        return TZ_OK;
    const tz_status status = tz__slabs_plan_of(slabs, i, a->plan, &part->plan, error);
    if (!status)
        part->planned = *a->plan;
    return status;
}

/* After the first stage no other plan can be tried. */
static tz_status fail_after(int done, tz_status status, tz_error *error)
{
    if (!status || done == 0)
        return status;
    if (error)
        error->code = TZ_BACKEND;
    return TZ_BACKEND;
}

/* Points of the whole grid that are new, or of a part that is. */
static tz_status take_points(const tz__slabs *slabs, tz__slabs_part *part, tz_error *error)
{
    const tz_points *whole = slabs->context.problem->points;
    if (!whole || (part->points_of == whole && part->points_generation == whole->generation))
        return TZ_OK;
    tz_points *old = NULL;
    if (part->points_of != whole) {
        old = part->points;
        part->points = tz_points_create(whole->fields, whole->values);
    }
    tz_status status = part->points
                           ? tz_points_fill_slab(part->points, &part->problem, error)
                           : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
    tz_points_destroy(old);
    part->points_of = status ? NULL : whole;
    part->points_generation = whole->generation;
    part->problem.points = part->points;
    return status;
}

static tz_status stages_of_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const advance *a = argument;
    tz__slabs_part *part = slabs->parts[i];
    tz_status status = take_points(slabs, part, error);
    for (int done = 0, more; done < a->iterations && !status; done += more) {
        const int left = a->iterations - done;
        more = left < a->plan->height ? left : a->plan->height;
        const tz_slab_span span = tz__slabs_span(slabs, i, a->rest + left - more, a->next);
        status =
            slabs->inner->slab->stage(part->state, &part->plan, more, a->step + done, &span, error);
        status = fail_after(done, status, error);
    }
    if (!status && a->offers)
        status = fail_after(1, tz__slabs_offer_ends(slabs, i, a->next, error), error);
    return status;
}

/* Whether ghost zones made for `exchange` iterations would save one update in fifty. Stages that
 * leave nothing out update the ghost zones as they are made, and another plan may need less. */
static bool is_too_deep(const tz__slabs *slabs, const tz_plan *plan, int exchange)
{
    const tz_cut *cut = &slabs->cut;
    if (slabs->inner->slab->leaves_out(slabs->context.problem, plan))
        return false;
    return 50 * (int64_t)(slabs->depth - exchange) * (cut->each[0] + cut->each[1]) > cut->thinnest;
}

/* The iterations of stages for which `valid` ones of the ghost zone are enough, of `left`. */
static int until_exchange(int valid, int left, int height)
{
    const int rest = left % height;
    const int whole = (valid < left ? valid : left) / height * height;
    return whole == left - rest && valid >= left ? left : whole;
}

/* Stages up to an exchange, of `left` iterations at most; *done: those that they were. */
static tz_status some_stages(tz__slabs *slabs, const tz_plan *plan, int left, int64_t step,
                             int *done, tz_error *error)
{
    const int height = left < plan->height ? left : plan->height;
    const int exchange = plan->exchange > height ? plan->exchange : height;
    tz_status status = TZ_OK;
    if (exchange > slabs->depth || (slabs->valid < height && is_too_deep(slabs, plan, exchange))) {
        status = tz_cut_check(&slabs->cut, slabs->context.problem, exchange, error);
        if (!status)
            status = tz__slabs_deepen(slabs, exchange, error);
    }
    const int before = slabs->valid >= height ? slabs->valid : exchange;
    advance a = {.plan = plan, .step = step, .next = exchange};
    a.iterations = *done = until_exchange(before, left, height);
    a.rest = before - a.iterations;
    /* The first stage of a plan may refuse it. */
    const bool fresh = !tz_plan_equal(&slabs->parts[slabs->low]->planned, plan);
    if (!status && fresh)
        status = tz__slabs_all(slabs, plan_part, &a, error);
    a.offers = tz__slabs_is_direct(slabs);
    if (!status)
        status = tz__slabs_need(slabs, height, exchange, error);
    if (status)
        return status;
    slabs->offered = 0;
    tz_error why = {0};
    status = fresh ? tz__slabs_all(slabs, stages_of_part, &a, &why)
                   : tz__slabs_abort_unless_ok(
                         slabs, tz__slabs_own(slabs, stages_of_part, &a, &why), &why);
    slabs->valid -= a.iterations;
    slabs->offered = !status && a.offers ? exchange : 0;
    if (!status)
        return TZ_OK;
    bool any = false;
    for (int i = slabs->low; i < slabs->high; i++)
        any |= slabs->parts[i]->status == TZ_OK;
    if (tz_ranks_largest(slabs->context.ranks, any) > 0)
        status = why.code = TZ_BACKEND; /* some have advanced, so that no other plan can be tried */
    if (error)
        *error = why;
    return status;
}

tz_status tz__slabs_do_stage(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    tz_status status = TZ_OK;
    tz__slabs_refresh_all(slabs);
    for (int done = 0, more = 0; done < call->iterations && !status; done += more) {
        status =
            some_stages(slabs, &call->plan, call->iterations - done, call->at + done, &more, error);
        status = fail_after(done, status, error);
    }
    return status;
}

/* ---- Recorded values ------------------------------------------------------------------------- */

static tz_status recorded_of_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    (void)argument;
    return slabs->inner->recorded(slabs->parts[i]->state, error);
}

/* The recorded points of a list that lie before a cell of the last axis. */
static int32_t points_before(const tz_problem *whole, const tz_point_list *list, int64_t at)
{
    int32_t i = 0;
    if (list->count == 0)
        return 0;
    if (whole->dims > 1)
        return list->first[at * (whole->dims == 3 ? whole->elements[1] : 1)];
    while (i < list->first[1] && list->of[i].x < at)
        i++;
    return i;
}

/* Copy what slab i records in some iterations to `packed` or from there. NULL: no copy. Returns the
 * bytes. Values are numbered as their elements lie in the grid. */
static int64_t pack_recorded(const tz__slabs *slabs, int i, int64_t rows, char *packed, bool takes)
{
    const tz_problem *whole = slabs->context.problem;
    const tz_point_values *values = whole->points->values;
    int64_t bytes = 0;
    for (int f = 0; f < whole->stencil->fields_count; f++) {
        const tz_point_list *list = &whole->points->recorded[f];
        const int32_t first = points_before(whole, list, slabs->cut.at[i]);
        const int32_t end = points_before(whole, list, slabs->cut.at[i + 1]);
        const size_t row = (size_t)(end - first) * values->slot;
        for (int64_t k = 0; k < rows && row > 0; k++, bytes += (int64_t)row) {
            char *own = values->recorded +
                        (size_t)(k * values->records + list->of[first].index) * values->slot;
            if (packed)
                memcpy(takes ? own : packed + bytes, takes ? packed + bytes : own, row);
        }
    }
    return bytes;
}

/* Those of other ranks go to rank 0. [all ranks] */
static tz_status gather_recorded(tz__slabs *slabs, int64_t rows, tz_error *error)
{
    enum { TAG = 8 * TZ_DEVICES_MAX };
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    tz_part parts[TZ_DEVICES_MAX];
    int of[TZ_DEVICES_MAX], count = 0;
    tz_status status = TZ_OK;
    for (int i = 0; i < slabs->cut.count; i++) {
        const int rank = slabs->devices.of[i].rank;
        const bool ours = rank > 0 && (ranks->rank == 0 || ranks->rank == rank);
        const int64_t bytes = ours ? pack_recorded(slabs, i, rows, NULL, false) : 0;
        if (bytes == 0)
            continue;
        char *room = malloc((size_t)bytes);
        if (!room)
            status = tz_error_set(error, TZ_MEMORY, "devices", "not enough memory for points");
        else if (ranks->rank > 0)
            pack_recorded(slabs, i, rows, room, false);
        of[count] = i;
        parts[count++] = (tz_part){.peer = ranks->rank == 0 ? rank : 0,
                                   .tag = TAG + i,
                                   .is_receive = ranks->rank == 0,
                                   .buffer = room,
                                   .bytes = bytes};
    }
    status = tz__slabs_agree(slabs, status, error);
    if (!status)
        tz_ranks_exchange(ranks, parts, count);
    for (int p = 0; p < count; p++) {
        if (!status && ranks->rank == 0)
            pack_recorded(slabs, of[p], rows, parts[p].buffer, true);
        free(parts[p].buffer);
    }
    return status;
}

tz_status tz__slabs_do_recorded(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    tz_status status = TZ_OK;
    if (slabs->inner->recorded)
        status = tz__slabs_all(slabs, recorded_of_part, NULL, error);
    return status || !tz__slabs_ranks(slabs) ? status
                                             : gather_recorded(slabs, call->counts[0], error);
}

static tz_status recorded(void *any, tz_error *error)
{
    const tz__slabs *slabs = any;
    const tz_points *points = slabs->context.problem->points;
    const tz__slabs_call call = {.command = TZ__SLABS_recorded,
                                 .counts = {slabs->computed - points->values->begin}};
    return tz__slabs_call_all(any, call, error);
}

tz_status tz__slabs_do_wait(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    (void)call;
    tz_error why = {0};
    tz_status status = tz__slabs_abort_unless_ok(
        slabs, tz__slabs_own(slabs, tz__slabs_wait_part, NULL, &why), &why);
    if (status && error)
        *error = why;
    return tz__slabs_agree(slabs, status, error);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static tz_status store(void *any, int field, const tz_box *box, const void *elements,
                       tz_error *error)
{
    const tz__slabs_call call = {
        .command = TZ__SLABS_store, .field = field, .box = *box, .from = elements};
    return tz__slabs_call_all(any, call, error);
}

static tz_status load(const void *any, int field, const tz_box *box, void *elements,
                      tz_error *error)
{
    const tz__slabs_call call = {
        .command = TZ__SLABS_load, .field = field, .box = *box, .to = elements};
    return tz__slabs_call_all((tz__slabs *)any, call, error);
}

static tz_status fill(void *any, int field, const void *element, tz_error *error)
{
    tz__slabs_call call = {.command = TZ__SLABS_fill, .field = field};
    memcpy(&call.element, element,
           tz_problem_element_size(((tz__slabs *)any)->context.problem, field));
    return tz__slabs_call_all(any, call, error);
}

static tz_status stage(void *any, const tz_plan *plan, int height, int64_t step, tz_error *error)
{
    const tz__slabs_call call = {
        .command = TZ__SLABS_stage, .plan = *plan, .iterations = height, .at = step};
    ((tz__slabs *)any)->computed = step + height;
    return tz__slabs_compute_all(any, call, error);
}

static tz_status wait_for_all(void *any, tz_error *error)
{
    return tz__slabs_call_all(any, (tz__slabs_call){.command = TZ__SLABS_wait}, error);
}

static tz_status reduce(const void *any, int field, tz_reduce_sums *sums, tz_error *error)
{
    const tz__slabs_call call = {.command = TZ__SLABS_reduce, .field = field, .to = sums};
    return tz__slabs_call_all((tz__slabs *)any, call, error);
}

static tz_status all_finite(const void *any, bool *finite, tz_error *error)
{
    const tz__slabs_call call = {.command = TZ__SLABS_all_finite, .to = finite};
    return tz__slabs_call_all((tz__slabs *)any, call, error);
}

static tz_status update_norm(const void *any, double *norm, tz_error *error)
{
    const tz__slabs_call call = {.command = TZ__SLABS_update_norm, .to = norm};
    return tz__slabs_call_all((tz__slabs *)any, call, error);
}

static tz_status update(void *any, int64_t step, tz_update_sums *sums, tz_error *error)
{
    const tz__slabs_call call = {
        .command = TZ__SLABS_update, .iterations = 1, .at = step, .to = sums};
    return tz__slabs_compute_all(any, call, error);
}

static tz_status refine(void *any, void *correction, int64_t step, tz_update_sums *sums,
                        tz_error *error)
{
    const tz__slabs_call call = {.command = TZ__SLABS_refine,
                                 .iterations = 1,
                                 .at = step,
                                 .correction = correction,
                                 .to = sums};
    return tz__slabs_compute_all(any, call, error);
}

static tz_status shrink(const void *any, int field, int64_t z, int nx, int ny, double *values,
                        tz_error *error)
{
    const tz__slabs_call call = {
        .command = TZ__SLABS_shrink, .field = field, .at = z, .counts = {nx, ny}, .to = values};
    const tz__slabs *slabs = any;
    if (!slabs->inner->shrink || slabs->context.problem->dims < 3)
        return TZ_UNSUPPORTED; /* the caller averages the cells */
    return tz__slabs_call_all((tz__slabs *)any, call, error);
}

static tz_status energy(void *any, double *joules, tz_error *error)
{
    const tz__slabs *slabs = any;
    *joules = 0.0;
    if (slabs->devices.shared)
        return TZ_UNSUPPORTED; /* which rank counts it? */
    const tz__slabs_call call = {.command = TZ__SLABS_energy, .to = joules};
    return tz__slabs_call_all(any, call, error);
}

/* ---- The table ------------------------------------------------------------------------------- */

tz_status tz_slabs_backend(const tz_backend *inner, tz_devices *devices, tz_backend *out,
                           tz_error *error)
{
    if (!inner->slab)
        return tz_error_set(error, TZ_UNSUPPORTED, "devices",
                            "the %s backend cannot hold slabs of a grid", inner->name);
    devices->inner = inner;
    *out = *inner;
    out->doc = "a grid in slabs on several devices";
    out->plan = tz__slabs_plan;
    out->bytes = tz__slabs_bytes;
    out->candidates = inner->candidates ? tz__slabs_candidates : NULL;
    out->work = inner->work ? tz__slabs_model_work : NULL;
    out->create = tz__slabs_create;
    out->destroy = tz__slabs_destroy;
    out->store = store;
    out->load = load;
    out->memory = NULL;
    out->fill = fill;
    out->stage = stage;
    out->recorded = recorded;
    out->set_up_s = inner->set_up_s ? set_up_s : NULL;
    out->wait = inner->wait ? wait_for_all : NULL;
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
