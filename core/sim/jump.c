/* Prepares core/jump for a simulation, jumps, and counts the steps and seconds. Called by run.c for
 * runs that jump and by solve.c for steady states. */
#include "sim/jump.h"

#include "base/machine.h"
#include "jump/jump.h"
#include "jump/probe.h"
#include "sim/points.h"
#include "sim/state.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What transforms round, as a part of the largest value; core/jump says by how much it grows. */
static const double TRANSFORM_ROUNDING = 4e-15;

const tz_jump_use *tz_simulation_jumps(const tz_simulation *simulation)
{
    return &simulation->jumps;
}

tz_status tz_simulation_check_jump(const tz_simulation *simulation, tz_error *error)
{
    tz_linear linear;
    if (!tz_simulation_points_jump(simulation))
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "a jump passes over the steps at which receivers record and sources "
                            "add");
    return tz_jump_describe(&linear, &simulation->problem, error);
}

static tz_status need_jump(tz_simulation *simulation, tz_error *error)
{
    bool covers = false;
    tz_status status = simulation->jump ? tz_jump_covers(simulation->jump, &covers, error) : TZ_OK;
    if (status || covers)
        return status;
    tz__simulation_forget_jump(simulation);
    const tz_backend_context context = tz__simulation_context(simulation, &simulation->problem);
    const tz_place place = tz__simulation_place(simulation, NULL);
    const tz_jump_context all = {.problem = &simulation->problem,
                                 .backend = simulation->backend,
                                 .state = simulation->state,
                                 .context = &context,
                                 .place = &place};
    return tz_jump_create(&simulation->jump, &all, error);
}

static void note(tz_simulation *simulation, int64_t steps, double seconds,
                 const tz_jump_facts *facts)
{
    tz_jump_use *use = &simulation->jumps;
    const double rounding = TRANSFORM_ROUNDING * tz_jump_condition(simulation->jump, steps);
    use->seconds += seconds;
    use->rounding = fmax(use->rounding, rounding);
    use->bytes = facts->bytes > use->bytes ? facts->bytes : use->bytes;
    snprintf(use->library, sizeof use->library, "%s", facts->library);
    if (steps == TZ_JUMP_LIMIT) {
        use->steady++;
        return;
    }
    use->jumps++;
    use->steps += steps;
}

tz_status tz__simulation_jump(tz_simulation *simulation, int64_t steps, double *seconds,
                              tz_error *error)
{
    tz_jump_facts facts;
    const double begin = tz_machine_clock_s();
    tz_status status = tz__correction_settle(simulation, error);
    *seconds = 0.0;
    if (!status)
        status = need_jump(simulation, error);
    if (!status)
        status = tz_jump_advance(simulation->jump, steps, &facts, error);
    if (!status)
        status = tz__correction_clear(simulation, error);
    simulation->update_known = false;
    if (status)
        return status;
    *seconds = tz_machine_clock_s() - begin;
    note(simulation, steps, *seconds, &facts);
    simulation->watch = (tz_stopwatch){.stages = 0};
    simulation->steps_unchecked += steps == TZ_JUMP_LIMIT ? 1 : steps;
    return TZ_OK;
}
