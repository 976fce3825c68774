/* Plans of a grid in slabs. */
#include "backend/slabs/plans.h"

#include "backend/host/slab.h"
#include "model/link.h"
#include "model/roofs.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static tz_place place_of(const tz_place *place, int i)
{
    return (tz_place){.device = place->device,
                      .threads = place->devices->of[i].threads,
                      .limits = place->limits,
                      .absent = place->absent};
}

static tz_plan without_exchange(const tz_plan *plan)
{
    tz_plan own = *plan;
    own.exchange = 0;
    own.launch_iterations = 0;
    return own;
}

/* ---- Exchange depth -------------------------------------------------------------------------- */

/* Bytes of a row or plane of all state fields. */
static double slice_bytes(const tz_problem *problem)
{
    double bytes = 0.0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STATE)
            bytes += (double)tz_problem_element_size(problem, f);
    for (int axis = 0; axis < problem->dims - 1; axis++)
        bytes *= (double)problem->elements[axis];
    return bytes;
}

/* What joins the devices; false: not known. */
static bool find_link(const tz_place *place, tz_link *out)
{
    tz_model_link link;
    bool assumed;
    if (place->link)
        *out = *place->link;
    else if (!place->device || tz_model_link_of(place->device, NULL, &link, &assumed, NULL))
        return false;
    else
        *out = (tz_link){link.latency_s.value, link.bandwidth_bytes_per_s.value};
    return true;
}

/* Slab i as the stages between two exchanges compute it on average. */
static tz_problem mean_slab(const tz_backend *inner, const tz_problem *problem, const tz_cut *cut,
                            int i, const tz_plan *plan)
{
    const int axis = problem->dims - 1;
    tz_problem slab = tz_cut_slab(cut, problem, i, plan->exchange);
    if (inner->slab->leaves_out(problem, plan))
        slab.elements[axis] = slab.extent[axis] =
            tz_cut_slab(cut, problem, i, (plan->exchange - plan->height) / 2).elements[axis];
    return slab;
}

/* How the slowest slab's time depends on the depth of exchanges, but for times. */
static tz_exchange_costs costs_of(const tz_problem *problem, const tz_place *place,
                                  const tz_cut *cut, const tz_plan *plan)
{
    const tz_backend *inner = place->devices->inner;
    const int axis = problem->dims - 1, slowest = tz_cut_slowest(cut, problem, place->devices, 1);
    const double own = (double)(cut->at[slowest + 1] - cut->at[slowest]);
    bool own_devices = true;
    for (int i = 0; i < cut->count; i++)
        own_devices = own_devices && tz_devices_are_own(place->devices, i);
    /* Ranks of one machine have no link of their own: they copy as the devices of one process
     * do. */
    const bool copies = inner->slab->copy && (own_devices || !place->link);
    return (tz_exchange_costs){
        .slices = own,
        .reach = (double)tz_cut_slab(cut, problem, slowest, 1).elements[axis] - own,
        .height = plan->height,
        .shrinks = inner->slab->leaves_out(problem, plan),
        .hides = copies && inner->slab->leaves_out(problem, plan),
    };
}

static tz_status work_of_slowest(const tz_problem *problem, const tz_place *place,
                                 const tz_cut *cut, const tz_plan *plan, tz_effort effort,
                                 tz_model_work *out, tz_error *error)
{
    const tz_backend *inner = place->devices->inner;
    const tz_plan own = without_exchange(plan);
    const int slowest = tz_cut_slowest(cut, problem, place->devices, plan->exchange);
    const tz_problem slab = mean_slab(inner, problem, cut, slowest, plan);
    const tz_place here = place_of(place, slowest);
    const tz_status status = inner->work(&slab, &here, &own, effort, out, error);
    for (int i = 0; !inner->is_gpu && !place->devices->apart && i < cut->count; i++)
        out->sharers += place->devices->of[i].threads;
    return status;
}

/* Seconds that an iteration of a slice takes: on a CPU by the model. A GPU's kernel may not be
 * compiled yet: there, the time to read and write the slice once a stage. A slip by a factor f
 * makes the depth wrong by its root, which costs little: near its least, the time is flat. */
static double slice_seconds(const tz_problem *problem, const tz_place *place, const tz_cut *cut,
                            const tz_plan *plan)
{
    const tz_backend *inner = place->devices->inner;
    const tz_model_device *device = place->device;
    tz_model_work work;
    tz_model_prediction prediction;
    const int slowest = tz_cut_slowest(cut, problem, place->devices, plan->exchange);
    const tz_problem slab = mean_slab(inner, problem, cut, slowest, plan);
    if (!inner->is_gpu && inner->work &&
        work_of_slowest(problem, place, cut, plan, TZ_EFFORT_KNOWN, &work, NULL) == TZ_OK &&
        tz_roofs_predict(&work, device, &prediction, NULL) == TZ_OK)
        return prediction.time_s / (double)slab.elements[problem->dims - 1];
    return device->copy_bandwidth_bytes_per_s.known
               ? 2 * slice_bytes(problem) / device->copy_bandwidth_bytes_per_s.value / plan->height
               : 0.0;
}

/* Iterations between two exchanges by the model; without a device's record one stage. `plan` is
 * complete, with exchanges after each stage. */
static int best_exchange(const tz_problem *problem, const tz_place *place, const tz_cut *cut,
                         const tz_plan *plan)
{
    tz_link link;
    if (!place->device || !find_link(place, &link))
        return plan->height;
    tz_exchange_costs costs = costs_of(problem, place, cut, plan);
    costs.slice_s = slice_seconds(problem, place, cut, plan);
    costs.fixed_s = link.latency_s;
    costs.moving_s = slice_bytes(problem) / link.bytes_per_s;
    return costs.slice_s > 0.0 ? tz_exchange_best(&costs, tz_cut_exchange_max(cut)) : plan->height;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Complete a plan of a known height and exchange for the slowest slab with its ghost zone. */
static tz_status fit(const tz_problem *problem, const tz_place *place, const tz_cut *cut,
                     tz_plan *plan, tz_error *error)
{
    const tz_backend *inner = place->devices->inner;
    const int exchange = plan->exchange;
    const int slowest = tz_cut_slowest(cut, problem, place->devices, exchange);
    const tz_problem slab = tz_cut_slab(cut, problem, slowest, exchange);
    const tz_place here = place_of(place, slowest);
    tz_plan own = without_exchange(plan);
    const tz_status status = inner->plan(&slab, &here, &own, error);
    *plan = own;
    plan->exchange = exchange;
    /* A call of several stages costs hosts of GPUs less. */
    plan->launch_iterations = inner->is_gpu && cut->count > 1 ? exchange : 0;
    return status;
}

/* The height is that of the slowest slab without its ghost zone, which depends on the height. */
static tz_status choose(const tz_problem *problem, const tz_place *place, const tz_cut *cut,
                        tz_plan *plan, tz_error *error)
{
    const tz_backend *inner = place->devices->inner;
    const tz_plan given = without_exchange(plan);
    const int most = tz_cut_exchange_max(cut);
    const int slowest = tz_cut_slowest(cut, problem, place->devices, 0);
    const tz_place here = place_of(place, slowest);
    const tz_problem slab = tz_cut_slab(cut, problem, slowest, 0);
    tz_plan own = given;
    tz_status status = tz_cut_check(cut, problem, given.height > 0 ? given.height : 1, error);
    if (!status)
        status = inner->plan(&slab, &here, &own, error);
    if (!status && own.height > most) {
        own = given;
        own.height = most;
        status = inner->plan(&slab, &here, &own, error);
    }
    if (status)
        return status;
    const int height = own.height;
    own = given;
    own.height = own.exchange = height;
    if (plan->exchange == 0) {
        tz_plan first = own;
        status = fit(problem, place, cut, &first, error);
        if (!status)
            own.exchange = best_exchange(problem, place, cut, &first);
    } else {
        own.exchange = plan->exchange;
    }
    if (!status && own.exchange % height != 0)
        return tz_error_set(error, TZ_RANGE, "exchange",
                            "an exchange after %d iterations is not after whole stages of height "
                            "%d: use a multiple of the height",
                            own.exchange, height);
    if (!status)
        status = tz_cut_check(cut, problem, own.exchange, error);
    if (!status)
        status = fit(problem, place, cut, &own, error);
    *plan = own;
    return status;
}

tz_status tz__slabs_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                         tz_error *error)
{
    tz_cut cut;
    const tz_status status = tz_cut_make(&cut, problem, place->devices, error);
    return status ? status : choose(problem, place, &cut, plan, error);
}

int64_t tz__slabs_bytes(const tz_problem *problem, const tz_place *place, const tz_plan *plan)
{
    const tz_backend *inner = place->devices->inner;
    const tz_plan own = without_exchange(plan);
    tz_cut cut;
    int64_t bytes = 0;
    if (tz_cut_make(&cut, problem, place->devices, NULL))
        return INT64_MAX;
    for (int i = 0; i < cut.count; i++) {
        if (!tz_devices_are_own(place->devices, i))
            continue;
        const tz_problem slab = tz_cut_slab(&cut, problem, i, plan->exchange);
        const tz_place here = place_of(place, i);
        const int64_t more = inner->bytes(&slab, &here, &own);
        bytes = more > INT64_MAX - bytes ? INT64_MAX : bytes + more;
    }
    return bytes;
}

/* A list of plans. */
typedef struct plan_list {
    tz_plan *plans;
    int count;
} plan_list;

/* Adds the plan with that depth (0: best_exchange()), if it can be. Returns its depth in stages, or
 * 0. */
static int add_depth(const tz_problem *problem, const tz_place *place, const tz_cut *cut,
                     const tz_plan *plan, int exchange, plan_list *list)
{
    tz_plan next = *plan;
    next.exchange = exchange;
    if (choose(problem, place, cut, &next, NULL) != TZ_OK)
        return 0;
    for (int i = 0; i < list->count; i++)
        if (tz_plan_equal(&list->plans[i], &next))
            return next.exchange / next.height;
    list->plans[list->count++] = next;
    return next.exchange / next.height;
}

/* Adds the plan with the depth that best_exchange() chooses, and with depths about it. */
static void add_depths(const tz_problem *problem, const tz_place *place, const tz_cut *cut,
                       const tz_plan *plan, int exchange, int room, plan_list *list)
{
    enum { DEPTHS = 5 };
    const int end = list->count + room;
    const int k = room > 0 ? add_depth(problem, place, cut, plan, exchange, list) : 0;
    const int stages[DEPTHS] = {1, k / 2, k - 1, k + 1, 2 * k};
    for (int i = 0; k > 0 && exchange == 0 && place->device && i < DEPTHS; i++)
        if (stages[i] >= 1 && list->count < end)
            add_depth(problem, place, cut, plan, stages[i] * plan->height, list);
}

tz_status tz__slabs_candidates(const tz_problem *problem, const tz_place *place,
                               const tz_plan *given, tz_plan *plans, int max, int *count,
                               tz_error *error)
{
    const tz_backend *inner = place->devices->inner;
    const tz_plan own = without_exchange(given);
    tz_cut cut;
    plan_list list = {.plans = plans};
    int found = 0;
    *count = 0;
    tz_status status = tz_cut_make(&cut, problem, place->devices, error);
    if (!status)
        status = tz_cut_check(&cut, problem,
                              given->exchange > 0 ? given->exchange
                              : given->height > 0 ? given->height
                                                  : 1,
                              error);
    if (status)
        return status;
    const int slowest = tz_cut_slowest(&cut, problem, place->devices, 0);
    const tz_problem slab = tz_cut_slab(&cut, problem, slowest, 0);
    const tz_place here = place_of(place, slowest);
    tz_plan *alone = calloc((size_t)max, sizeof *alone);
    if (!alone)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a list of plans");
    status = inner->candidates(&slab, &here, &own, alone, max, &found, error);
    for (int i = 0; !status && i < found; i++) {
        const int room = (max - list.count) / (found - i); /* for each of those that are left */
        if (strcmp(alone[i].family, "stream") == 0 && given->tile[problem->dims - 1] == 0)
            alone[i].tile[problem->dims - 1] = 0; /* the length of chunks depends on the slab's */
        add_depths(problem, place, &cut, &alone[i], given->exchange, room, &list);
    }
    *count = list.count;
    free(alone);
    return status;
}

tz_status tz__slabs_model_work(const tz_problem *problem, const tz_place *place,
                               const tz_plan *plan, tz_effort effort, tz_model_work *out,
                               tz_error *error)
{
    tz_cut cut;
    tz_link link;
    tz_status status = tz_cut_make(&cut, problem, place->devices, error);
    if (!status && !find_link(place, &link))
        status = tz_error_set(error, TZ_UNSUPPORTED, "device",
                              "there is no record of the device: run `trapeze calibrate`");
    if (!status)
        status = work_of_slowest(problem, place, &cut, plan, effort, out, error);
    if (status || cut.count < 2)
        return status;
    const int axis = problem->dims - 1;
    double most = 0.0; /* slices that a slab receives */
    for (int i = 0; i < cut.count; i++) {
        const double ghosts = (double)tz_cut_slab(&cut, problem, i, plan->exchange).elements[axis] -
                              (double)(cut.at[i + 1] - cut.at[i]);
        most = ghosts > most ? ghosts : most;
    }
    out->exchange = (tz_exchanges){
        .devices = cut.count,
        .iterations = plan->exchange,
        .bytes = most * slice_bytes(problem),
        .cells = (double)problem->extent[0] * (double)problem->extent[1] *
                 (double)problem->extent[2] * plan->height,
        .start_s = place->device->slab_start_s.known ? place->device->slab_start_s.value : 0.0,
        .link = link};
    const tz_exchange_costs costs = costs_of(problem, place, &cut, plan);
    const double slices = costs.slices + tz_exchange_redundant(&costs, plan->exchange);
    double beside, ends;
    if (tz_exchange_beside(&costs, plan->exchange, &beside, &ends)) {
        out->exchange.beside = beside / slices;
        out->exchange.ends = ends / slices;
    }
    return TZ_OK;
}

tz_status tz__slabs_plan_of(const tz__slabs *slabs, int i, const tz_plan *plan, tz_plan *out,
                            tz_error *error)
{
    const tz_problem *problem = &slabs->parts[i]->problem;
    const int axis = problem->dims - 1;
    const tz_place here = {.threads = slabs->devices.of[i].threads,
                           .limits = slabs->parts[i]->limits};
    *out = without_exchange(plan);
    if (out->tile[axis] > problem->elements[axis])
        out->tile[axis] = problem->elements[axis];
    if (slabs->inner->plan(problem, &here, out, NULL) == TZ_OK)
        return TZ_OK;
    /* Its tile and knobs suit the slab for which they were chosen, not this one. */
    *out = (tz_plan){.height = plan->height};
    memcpy(out->family, plan->family, sizeof out->family);
    return slabs->inner->plan(problem, &here, out, error);
}
