/* Converts steps to times and times to steps, with compensated sums. Called by lua/running.c for
 * until_time and outputs in intervals, by core/output for the time of a frame, and others. */
#include "sim/simulated_time.h"

#include "define/definition.h"
#include "sim/state.h"
#include "stencil/stencil.h"
#include <math.h>
#include <string.h>

/* What times may differ by because of rounding, as a share. */
static const double alike = TZ_TIMES_ALIKE;

/* a + b and what the sum loses by rounding. */
static double add(double a, double b, double *lost)
{
    const double sum = a + b, part = sum - a;
    *lost = (a - (sum - part)) + (b - part);
    return sum;
}

/* The time at a step, and what it loses by rounding. */
static double time_at(const tz_simulation *simulation, int64_t step, double *lost)
{
    const tz_time_base *base = &simulation->time_base;
    const double steps = (double)(step - base->since), dt = tz_simulation_dt(simulation);
    const double later = steps * dt;
    double rest;
    const double sum = add(base->time, later, &rest);
    return add(sum, rest + base->rest + fma(steps, dt, -later), lost);
}

double tz__simulation_exact_time(const tz_simulation *simulation, double *rest)
{
    return time_at(simulation, simulation->step, rest);
}

const tz_param *tz_simulation_time_step(const tz_simulation *simulation)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    const int p = tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_TIME_STEP);
    return p < 0 ? NULL : &stencil->params[p];
}

double tz_simulation_dt(const tz_simulation *simulation)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    const int param = tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_TIME_STEP);
    return simulation->problem.params[param].number * (stencil->steps > 1 ? stencil->steps : 1);
}

double tz_simulation_time_at(const tz_simulation *simulation, int64_t step)
{
    double lost;
    return tz_simulation_time_step(simulation) ? time_at(simulation, step, &lost) : NAN;
}

double tz_simulation_time(const tz_simulation *simulation)
{
    return tz_simulation_time_at(simulation, simulation->step);
}

/* ---- The clock ------------------------------------------------------------------------------- */

static int find_param(const tz_stencil *stencil, const char *name, const char *doc)
{
    const int p = tz_stencil_param_index(stencil, name);
    return p >= 0 && stencil->params[p].doc && strcmp(stencil->params[p].doc, doc) == 0 ? p : -1;
}

bool tz__is_clock(const tz_simulation *simulation, int param)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    return param == tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_TIME_STEP) ||
           param == find_param(stencil, tz_since_name, tz_since_doc) ||
           param == find_param(stencil, tz_start_name, tz_start_doc);
}

/* What formulas know as the time. */
static size_t known_time(const tz_simulation *simulation, const tz_time_base *base,
                         tz_assignment params[2])
{
    const tz_stencil *stencil = simulation->problem.stencil;
    if (find_param(stencil, tz_since_name, tz_since_doc) < 0 ||
        find_param(stencil, tz_start_name, tz_start_doc) < 0)
        return 0;
    params[0] = (tz_assignment){tz_since_name, (double)base->since, NULL};
    params[1] = (tz_assignment){tz_start_name, base->time, NULL};
    return 2;
}

tz_status tz__simulation_time_step_changed(tz_simulation *simulation, double before,
                                           tz_error *error)
{
    tz_time_base *base = &simulation->time_base;
    const tz_param *param = tz_simulation_time_step(simulation);
    double *now = &simulation->problem.params[param - simulation->problem.stencil->params].number;
    const double dt = *now;
    tz_assignment params[2];
    if (dt == before)
        return TZ_OK;
    *now = before;
    base->time = time_at(simulation, simulation->step, &base->rest);
    base->since = simulation->step;
    *now = dt;
    const size_t count = known_time(simulation, base, params);
    return count == 0 ? TZ_OK : tz_problem_set_params(&simulation->problem, count, params, error);
}

tz_clock tz_simulation_clock(const tz_simulation *simulation)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    const tz_time_base *base = &simulation->time_base;
    const int p = tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_TIME_STEP);
    if (p < 0)
        return (tz_clock){.dt = 0};
    return (tz_clock){simulation->problem.params[p].number, base->since, base->time, base->rest};
}

tz_status tz_simulation_set_clock(tz_simulation *simulation, const tz_clock *clock, tz_error *error)
{
    const tz_param *param = tz_simulation_time_step(simulation);
    const tz_time_base base = {clock->since, clock->time, clock->rest};
    tz_assignment params[3];
    if (!param)
        return TZ_OK;
    params[0] = (tz_assignment){param->name, clock->dt, NULL};
    const size_t count = 1 + known_time(simulation, &base, params + 1);
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        const int p = tz_stencil_param_index(simulation->problem.stencil, params[i].name);
        same = same && simulation->problem.params[p].number == params[i].number;
    }
    if (same) {
        simulation->time_base = base;
        return TZ_OK;
    }
    const tz_status status = tz_simulation_set_params(simulation, count, params, error);
    if (!status)
        simulation->time_base = base;
    if (!status && count > 1)
        return tz_problem_set_params(&simulation->problem, count - 1, params + 1, error);
    return status;
}

/* ---- Steps of times -------------------------------------------------------------------------- */

/* The first step that reaches a time, as a number that may be too large for an integer. */
static double reach(const tz_simulation *simulation, double time)
{
    const tz_time_base *base = &simulation->time_base;
    return (double)base->since +
           ceil((time - alike * time - base->time) / tz_simulation_dt(simulation));
}

tz_status tz_simulation_step_at(const tz_simulation *simulation, double time, int64_t *step,
                                tz_error *error)
{
    const double found = reach(simulation, time);
    *step = simulation->step;
    if (!(found < (double)(INT64_MAX / 4)))
        return tz_error_set(error, TZ_RANGE, NULL,
                            "a time of %g %s is too many steps of %g %s away", time,
                            tz_simulation_time_step(simulation)->unit, tz_simulation_dt(simulation),
                            tz_simulation_time_step(simulation)->unit);
    if (found > (double)simulation->step)
        *step = (int64_t)found;
    return TZ_OK;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

/* The greatest multiple of an interval, longer than the time step, that a step has reached. */
static double multiples(const tz_simulation *simulation, double time, int64_t step)
{
    double lost;
    double count = floor(fmax(time_at(simulation, step, &lost), 0) / time);
    while (reach(simulation, (count + 1) * time) <= (double)step)
        count++;
    return count;
}

int64_t tz_interval_next(const tz_interval *interval, const tz_simulation *simulation, int64_t step)
{
    if (interval->time == 0)
        return (step / interval->steps + 1) * interval->steps;
    if (interval->time <= tz_simulation_dt(simulation))
        return step + 1;
    const double count = multiples(simulation, interval->time, step);
    const double next = reach(simulation, (count + 1) * interval->time);
    return next < (double)INT64_MAX ? (int64_t)next : INT64_MAX;
}

bool tz_interval_is_due(const tz_interval *interval, const tz_simulation *simulation, int64_t step)
{
    return step == 0 || tz_interval_next(interval, simulation, step - 1) == step;
}

int64_t tz_interval_count(const tz_interval *interval, const tz_simulation *simulation,
                          int64_t first, int64_t last)
{
    if (interval->time == 0)
        return last / interval->steps - first / interval->steps;
    if (interval->time <= tz_simulation_dt(simulation))
        return last - first;
    return (int64_t)(multiples(simulation, interval->time, last) -
                     multiples(simulation, interval->time, first));
}
