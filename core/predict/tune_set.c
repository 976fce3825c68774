#include "predict/tune_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char family[] = "block";

/* What the list of shapes leaves no room for; NULL: nothing. */
static const char *excess(const tz_plan *given)
{
    return given->height > 1                                        ? "height"
           : given->family[0] && strcmp(given->family, family) != 0 ? "family"
           : given->tile[0] > 0 || given->tile[1] > 0               ? "block"
           : given->vector > 0                                      ? "vector"
           : given->warps > 0                                       ? "warps"
           : given->exchange > 0                                    ? "exchange"
                                                                    : NULL;
}

tz_status tz_tune_set_plans(const tz_workload *workload, const tz_thread_blocks *blocks,
                            const tz_plan *given, tz_plan **plans, int *count, tz_error *error)
{
    const tz_tabik_space *space = &blocks->passes[0].space;
    const char *other = excess(given);
    tz_error first = {0};
    *count = 0;
    *plans = NULL;
    if (other)
        return tz_error_set(error, TZ_UNSUPPORTED, other,
                            "'%s' does not go with the model %s, which lists thread blocks of the "
                            "family %s",
                            other, TZ_THREAD_BLOCKS_MODEL, family);
    tz_plan *list = calloc((size_t)space->count, sizeof *list);
    if (!list)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    for (int i = 0; i < space->count; i++) {
        tz_plan plan = *given;
        tz_error why;
        strcpy(plan.family, family);
        plan.height = 1;
        plan.tile[0] = space->shapes[i].x;
        plan.tile[1] = space->shapes[i].y;
        const tz_status status =
            workload->backend->plan(&workload->problem, &workload->place, &plan, &why);
        if (!status)
            list[(*count)++] = plan;
        else if (!first.code)
            first = why;
    }
    if (*count == 0) {
        free(list);
        return tz_error_set(error, first.code, first.place, "%s", first.message);
    }
    *plans = list;
    return TZ_OK;
}

void tz_tune_set_conclude(tz_tune *tune, const tz_thread_blocks *blocks)
{
    const tz_tabik_space *space = &blocks->passes[0].space;
    const double best_s = tune->rows[tune->best].measured.taken_s;
    tz_tune_set *set = &tune->set;
    *set =
        (tz_tune_set){.shapes = space->count, .chosen = space->chosen, .best = NAN, .worst = NAN};
    for (int i = 0; i < tune->count; i++) {
        tz_tune_row *row = &tune->rows[i];
        const double share = best_s / row->measured.taken_s;
        for (int s = 0; s < space->count; s++)
            if (space->shapes[s].x == row->plan.tile[0] && space->shapes[s].y == row->plan.tile[1])
                row->shape = space->shapes[s];
        if (row->measured.rounds == 0)
            continue;
        set->measured++;
        if (!row->shape.chosen)
            continue;
        set->measured_chosen++;
        set->best = fmax(set->best, share);
        set->worst = fmin(set->worst, share);
    }
    set->has_best = tune->rows[tune->best].shape.chosen;
}
