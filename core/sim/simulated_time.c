/* Converts steps to times and times to steps, with compensated sums. Called by lua/running.c for
 * until_time and outputs in intervals, by core/output for the time of a frame, and others. */
#include "sim/simulated_time.h"

#include "sim/state.h"
#include "stencil/stencil.h"
#include <math.h>

/* What times may differ by because of rounding, as a share. */
static const double alike = 1e-12;

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

void tz__simulation_time_step_changed(tz_simulation *simulation, double before)
{
    tz_time_base *base = &simulation->time_base;
    const tz_param *param = tz_simulation_time_step(simulation);
    double *now = &simulation->problem.params[param - simulation->problem.stencil->params].number;
    const double dt = *now;
    if (dt == before)
        return;
    *now = before;
    base->time = time_at(simulation, simulation->step, &base->rest);
    base->since = simulation->step;
    *now = dt;
}

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
