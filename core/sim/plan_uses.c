/* The record of the plans that a simulation has used. */
#include "sim/simulation_impl.h"
#include <stdlib.h>
#include <string.h>

static tz_status record_height(tz_simulation *simulation, int height, int iterations,
                               double seconds, tz_error *error)
{
    tz_plan plan = simulation->plan;
    plan.height = height;
    tz_plan_use *use = NULL;
    for (size_t i = 0; i < simulation->uses_count && !use; i++) {
        if (tz_plan_equal(&simulation->uses[i].plan, &plan))
            use = &simulation->uses[i];
    }
    if (!use) {
        tz_plan_use *uses = realloc(simulation->uses, (simulation->uses_count + 1) * sizeof *uses);
        if (!uses)
            return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the plan record");
        simulation->uses = uses;
        use = &uses[simulation->uses_count++];
        *use = (tz_plan_use){.plan = plan};
        if (height != simulation->plan.height)
            strcpy(use->plan.why, "remainder before an output, a test or the end");
    } else if (height == simulation->plan.height) {
        memcpy(use->plan.why, plan.why, sizeof plan.why);
    }
    simulation->uses_last = (size_t)(use - simulation->uses);
    use->stages += iterations / height;
    use->steps += iterations;
    use->under_way += iterations;
    use->seconds += seconds;
    return TZ_OK;
}

tz_status tz__simulation_record_use(tz_simulation *simulation, int iterations, double seconds,
                                    tz_error *error)
{
    const int height = simulation->plan.height, rest = iterations % height;
    const int whole = iterations - rest;
    const double of_rest = seconds * rest / iterations;
    tz_status status = TZ_OK;
    if (whole > 0)
        status = record_height(simulation, height, whole, seconds - of_rest, error);
    if (!status && rest > 0)
        status = record_height(simulation, rest, rest, of_rest, error);
    return status;
}

void tz__simulation_share_out(tz_simulation *simulation, double seconds)
{
    int64_t under_way = 0;
    for (size_t i = 0; i < simulation->uses_count; i++)
        under_way += simulation->uses[i].under_way;
    for (size_t i = 0; i < simulation->uses_count && under_way > 0; i++) {
        tz_plan_use *use = &simulation->uses[i];
        use->seconds += seconds * (double)use->under_way / (double)under_way;
        use->under_way = 0;
    }
    if (under_way == 0 && simulation->uses_count > 0)
        simulation->uses[simulation->uses_last].seconds += seconds;
}
