/* Plans of a grid in slabs. */
#include "backend/slabs/slabs_impl.h"
#include <inttypes.h>
#include <string.h>

static tz_place place_of(const tz_place *place, int i)
{
    return (tz_place){
        .device = place->device, .threads = place->devices->of[i].threads, .limits = place->limits};
}

static tz_plan without_exchange(const tz_plan *plan)
{
    tz_plan own = *plan;
    own.exchange = 0;
    own.launch_iterations = 0;
    return own;
}

/* The plan of the widest slab. Its ghost zone has no part in the choice of the height, since it depends
 * on it. */
static tz_status choose(const tz_backend *inner, const tz_problem *problem, const tz_place *place,
                        const tz_cut *cut, tz_plan *plan, tz_error *error)
{
    const tz_plan given = without_exchange(plan);
    const int most = tz_cut_exchange_max(cut);
    const tz_place here = place_of(place, cut->widest);
    const tz_problem slab = tz_cut_slab(cut, problem, cut->widest, 0);
    tz_plan own = given;
    tz_status status = tz_cut_check(cut, problem, given.height > 0 ? given.height : 1, error);
    if (!status)
        status = inner->plan(&slab, &here, &own, error);
    if (!status && own.height > most) {
        own = given;
        own.height = most;
        status = inner->plan(&slab, &here, &own, error);
    }
    const int height = own.height;
    if (status)
        return status;
    if (plan->exchange == 0)
        plan->exchange = height;
    if (plan->exchange % height != 0)
        return tz_error_set(error, TZ_RANGE, "exchange",
                            "an exchange after %d iterations is not after whole stages of height "
                            "%d: use a multiple of the height",
                            plan->exchange, height);
    status = tz_cut_check(cut, problem, plan->exchange, error);
    const tz_problem with_ghosts = tz_cut_slab(cut, problem, cut->widest, plan->exchange);
    const int exchange = plan->exchange;
    own = given;
    own.height = height;
    if (!status)
        status = inner->plan(&with_ghosts, &here, &own, error);
    *plan = own;
    plan->exchange = exchange;
    plan->launch_iterations = 0;
    return status;
}

tz_status tz__slabs_plan(const tz_backend *inner, const tz_problem *problem, const tz_place *place,
                         tz_plan *plan, tz_error *error)
{
    tz_cut cut;
    const tz_status status = tz_cut_make(&cut, problem, place->devices, error);
    return status ? status : choose(inner, problem, place, &cut, plan, error);
}

int64_t tz__slabs_bytes(const tz_backend *inner, const tz_problem *problem, const tz_place *place,
                        const tz_plan *plan)
{
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

tz_status tz__slabs_candidates(const tz_backend *inner, const tz_problem *problem,
                               const tz_place *place, const tz_plan *given, tz_plan *plans, int max,
                               int *count, tz_error *error)
{
    const tz_plan own = without_exchange(given);
    tz_cut cut;
    int found = 0;
    *count = 0;
    tz_status status = tz_cut_make(&cut, problem, place->devices, error);
    if (status)
        return status;
    const tz_problem slab = tz_cut_slab(&cut, problem, cut.widest, 0);
    const tz_place here = place_of(place, cut.widest);
    status = inner->candidates(&slab, &here, &own, plans, max, &found, error);
    for (int i = 0; !status && i < found; i++) {
        tz_plan plan = plans[i];
        plan.exchange = given->exchange;
        if (choose(inner, problem, place, &cut, &plan, NULL) == TZ_OK)
            plans[(*count)++] = plan;
    }
    return status;
}

tz_status tz__slabs_model_work(const tz_backend *inner, const tz_problem *problem,
                               const tz_place *place, const tz_plan *plan, tz_effort effort,
                               tz_model_work *out, tz_error *error)
{
    const tz_plan own = without_exchange(plan);
    tz_cut cut;
    tz_status status = tz_cut_make(&cut, problem, place->devices, error);
    if (status)
        return status;
    const tz_problem slab = tz_cut_slab(&cut, problem, cut.widest, plan->exchange);
    const tz_place here = place_of(place, cut.widest);
    return inner->work(&slab, &here, &own, effort, out, error);
}

tz_status tz__slabs_plan_of(const tz__slabs *slabs, int i, const tz_plan *plan, tz_plan *out,
                            tz_error *error)
{
    const tz_problem *problem = &slabs->parts[i]->problem;
    const int axis = problem->dims - 1;
    const tz_place here = {.threads = slabs->devices.of[i].threads};
    *out = without_exchange(plan);
    if (out->tile[axis] > problem->elements[axis])
        out->tile[axis] = problem->elements[axis];
    return slabs->inner->plan(problem, &here, out, error);
}
