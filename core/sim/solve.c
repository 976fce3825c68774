/* Steady states, implicit steps and jumps of a simulation, with counts of their steps and seconds.
 * Called by run.c and lua/running.c. */
#include "sim/solve.h"

#include "base/machine.h"
#include "jump/jump.h"
#include "jump/operator.h"
#include "jump/probe.h"
#include "jump/solver.h"
#include "sim/points.h"
#include "sim/residual.h"
#include "sim/simulated_time.h"
#include "sim/state.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const tz_solve_use *tz_simulation_solved(const tz_simulation *simulation)
{
    return &simulation->solved;
}

tz_status tz_simulation_check_solve(const tz_simulation *simulation, tz_error *error)
{
    return tz_operator_describe(&simulation->problem, error);
}

tz_status tz_simulation_check_implicit(const tz_simulation *simulation, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    if (!tz_simulation_time_step(simulation))
        return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                            "implicit steps need a time step, and it has no parameter with that "
                            "role");
    return tz_simulation_check_solve(simulation, error);
}

/* The update of a simulation, for those that find its operator: they keep none of this. */
typedef struct linear_update {
    tz_backend_context context;
    tz_place place;
    tz_jump_context all;
} linear_update;

static const tz_jump_context *gather(tz_simulation *simulation, linear_update *out)
{
    out->context = tz__simulation_context(simulation, &simulation->problem);
    out->place = tz__simulation_place(simulation, NULL);
    out->all = (tz_jump_context){.problem = &simulation->problem,
                                 .backend = simulation->backend,
                                 .state = simulation->state,
                                 .context = &out->context,
                                 .place = &out->place};
    return &out->all;
}

static tz_status need_solver(tz_simulation *simulation, bool direct, tz_error *error)
{
    if (simulation->solver) {
        tz_solver_use_factors(simulation->solver, direct);
        return TZ_OK;
    }
    linear_update update;
    const tz_status status =
        tz_solver_create(&simulation->solver, gather(simulation, &update), error);
    if (!status)
        tz_solver_use_factors(simulation->solver, direct);
    return status;
}

static void note(tz_simulation *simulation, const tz_solver_facts *facts, double seconds)
{
    tz_solve_use *use = &simulation->solved;
    use->systems += facts->systems;
    use->iterations += facts->iterations;
    use->seconds += seconds;
    use->bytes = facts->bytes > use->bytes ? facts->bytes : use->bytes;
    snprintf(use->method, sizeof use->method, "%s", facts->method);
}

static tz_status solve_steady(tz_simulation *simulation, const tz_steady *wanted,
                              tz_steady_result *result, tz_error *error)
{
    const double begin = tz_machine_clock_s();
    const tz_cancel cancel = {.stopped = simulation->stopped, .cancelled = simulation->cancelled};
    tz_solver_facts facts;
    tz_status status = tz__correction_settle(simulation, error);
    if (!status)
        status = need_solver(simulation, wanted->by == TZ_STEADY_DIRECT, error);
    if (!status)
        status = tz_solver_steady(simulation->solver,
                                  wanted->tolerance / simulation->problem.residual_per_update,
                                  &cancel, &facts, error);
    if (!status)
        status = tz__correction_clear(simulation, error);
    simulation->update_known = false;
    if (status)
        return status;
    result->seconds = tz_machine_clock_s() - begin;
    result->iterations = facts.iterations;
    snprintf(result->method, sizeof result->method, "%s", facts.method);
    note(simulation, &facts, result->seconds);
    simulation->solved.steady++;
    simulation->watch = (tz_stopwatch){.stages = 0};
    simulation->steps_unchecked++;
    return TZ_OK;
}

tz_status tz__simulation_implicit(tz_simulation *simulation, int64_t iterations, int order,
                                  bool direct, double *seconds, tz_error *error)
{
    const double begin = tz_machine_clock_s();
    const tz_cancel cancel = {.stopped = simulation->stopped, .cancelled = simulation->cancelled};
    const tz_param *time_step = tz_simulation_time_step(simulation);
    tz_solver_facts facts;
    *seconds = 0.0;
    tz_status status = tz__correction_settle(simulation, error);
    if (!status)
        status = need_solver(simulation, direct, error);
    if (!status)
        status = tz_solver_check_euler(simulation->solver, time_step->name, error);
    if (!status)
        status =
            tz_solver_step(simulation->solver, (double)iterations, order, &cancel, &facts, error);
    if (!status)
        status = tz__correction_clear(simulation, error);
    simulation->update_known = false;
    if (status)
        return status;
    *seconds = tz_machine_clock_s() - begin;
    note(simulation, &facts, *seconds);
    simulation->solved.steps++;
    simulation->solved.covered += iterations;
    simulation->watch = (tz_stopwatch){.stages = 0};
    simulation->steps_unchecked += iterations;
    return TZ_OK;
}

static tz_status transform(tz_simulation *simulation, tz_steady_result *result, tz_error *error)
{
    tz_status status = tz_simulation_check_jump(simulation, error);
    if (!status)
        status = tz__simulation_jump(simulation, TZ_JUMP_LIMIT, &result->seconds, error);
    snprintf(result->method, sizeof result->method, "transform");
    return status;
}

static tz_status find_steady(tz_simulation *simulation, const tz_steady *wanted,
                             tz_steady_result *result, tz_error *error)
{
    if (wanted->by >= TZ_STEADY_SOLVER)
        return solve_steady(simulation, wanted, result, error);
    const tz_status status = transform(simulation, result, error);
    /* Where the operator is known, so is whether there is such a state. */
    if (status != TZ_UNSUPPORTED || wanted->by == TZ_STEADY_TRANSFORM || simulation->jump)
        return status;
    return solve_steady(simulation, wanted, result, error);
}

tz_status tz_simulation_steady(tz_simulation *simulation, const tz_steady *wanted,
                               tz_steady_result *result, tz_error *error)
{
    tz_update update;
    *result = (tz_steady_result){.residual = NAN};
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (!status && simulation->backend->wait)
        status = simulation->backend->wait(tz__iterated_state(simulation), error);
    if (!status)
        status = find_steady(simulation, wanted, result, error);
    if (!status)
        status = tz_simulation_check_finite(simulation, error);
    if (!status)
        status = tz_simulation_measure(simulation, &update, error);
    if (status)
        return status;
    result->residual = tz_simulation_residual_of(simulation, &update);
    result->converged = !(wanted->tolerance > 0.0) || result->residual <= wanted->tolerance;
    simulation->solved.residual = result->residual;
    return TZ_OK;
}

/* ---- Jumps ----------------------------------------------------------------------------------- */

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
    linear_update update;
    return tz_jump_create(&simulation->jump, gather(simulation, &update), error);
}

static void note_jump(tz_simulation *simulation, int64_t steps, double seconds,
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
    note_jump(simulation, steps, *seconds, &facts);
    simulation->watch = (tz_stopwatch){.stages = 0};
    simulation->steps_unchecked += steps == TZ_JUMP_LIMIT ? 1 : steps;
    return TZ_OK;
}
