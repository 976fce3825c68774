/* The plans that the planner compares. */
#include "backend/cuda/family/work.h"

#include <string.h>

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
        if (made.family && (!given->family[0] || made.family == named))
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
