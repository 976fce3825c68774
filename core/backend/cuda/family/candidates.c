/* Plans that a model is asked about. */
#include "backend/cuda/family/resident/design.h"
#include "backend/cuda/family/work.h"

#include <string.h>

typedef struct list {
    const tz_problem *problem;
    const tz_plan *given;
    tz_limits limits;
    tz_plan *plans;
    int max, count;
} list;

/* What `given` names stays. False: the family does not take it. */
static bool add(list *l, const char *family, int height, int vector, int warps)
{
    tz_plan plan = *l->given;
    if (plan.family[0] && strcmp(plan.family, family) != 0)
        return false;
    if ((plan.height && plan.height != height) ||
        (vector && plan.vector && plan.vector != vector) ||
        (warps && plan.warps && plan.warps != warps))
        return true;
    strcpy(plan.family, family);
    plan.height = height;
    plan.vector = plan.vector ? plan.vector : vector;
    plan.warps = plan.warps ? plan.warps : warps;
    tz_resident design;
    if (tz_cuda_plan(l->problem, &l->limits, &plan, NULL) != TZ_OK)
        return false;
    if (strcmp(family, "resident") == 0 && !l->given->family[0] &&
        tz_resident_design(l->problem, &l->limits, &plan, &design) &&
        tz_resident_is_lengthy(l->problem, &design))
        return true;
    for (int k = 0; k < l->count; k++)
        if (tz_plan_equal(&l->plans[k], &plan))
            return true;
    if (l->count < l->max)
        l->plans[l->count++] = plan;
    return true;
}

/* Heights that are tried where a family takes very many. */
static int next_height(int height)
{
    return height < 12 ? height + 1 : height < 32 ? height + 4 : height + height / 4;
}

tz_status tz_cuda_candidates(const tz_problem *problem, const tz_place *place, const tz_plan *given,
                             tz_plan *plans, int max, int *count, tz_error *error)
{
    list l = {problem, given, tz_place_limits(place), plans, max, 0};
    const int reach =
        tz_stencil_reach(problem->stencil) > 0 ? tz_stencil_reach(problem->stencil) : 1;
    static const int most[] = {0, 64, 16, 6};
    const bool wide = problem->precision == TZ_DOUBLE && tz_stencil_has_real(problem->stencil);
    *count = 0;
    const int first = given->height > 0 ? given->height : 1;
    const int highest = given->height > 0 ? given->height : most[problem->dims];
    for (int h = first; h <= highest; h = given->height ? h + 1 : next_height(h)) {
        const bool fits = add(&l, "stream", h, 0, 0);
        /* Twice the columns a lane where the ghost zone takes many. */
        if (problem->dims == 2)
            add(&l, "stream", h, wide ? 4 : 8, 0);
        if (problem->dims == 3 && !problem->bits)
            add(&l, "stream", h, 0, 8);
        if (problem->dims == 1)
            add(&l, "stream", h, 16, 0);
        if (!fits && h * reach > most[problem->dims])
            break;
    }
    /* The paper's tiles are slower where streams go, and go where streams do not. */
    const int tiles[] = {1, 2, 4};
    for (int k = 0; k < 3; k++)
        add(&l, "tile", given->height ? given->height : tiles[k], 0, 0);
    const int resident[] = {1, 2, 4, 6, 8, 12, 16, 24};
    for (int k = 0; k < 8; k++)
        if (!add(&l, "resident", given->height ? given->height : resident[k], 0, 0) && k > 0)
            break;
    *count = l.count;
    if (l.count > 0)
        return TZ_OK;
    tz_plan plan = *given;
    const tz_status status = tz_cuda_plan(problem, &l.limits, &plan, error);
    if (!status) {
        plans[0] = plan;
        *count = 1;
    }
    return status;
}
