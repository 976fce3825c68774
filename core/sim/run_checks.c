/* Checks of a run: whether it has converged or stagnated. */
#include "sim/fields.h"
#include "sim/run_impl.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLE_CHECKS = 8 /* after so many checks a sample of cells is compared */
};

/* Cells that go round in the last places move by no more than so many updates. */
static const double SAMPLE_UPDATES = 8.0;

/* A residual or update that has stood or grown for long may fall yet, so a run without an end goes on. */
static void tell_stall(const tz_runner *r, const char *what, double value)
{
    tz_simulation *simulation = r->simulation;
    char text[240];
    if (simulation->stall_told || r->at->end >= 0 || !r->run->warns)
        return;
    simulation->stall_told = true;
    snprintf(text, sizeof text,
             "the %s has not fallen since step %" PRId64 " and is %.3g at step %" PRId64
             ": this run may never end; give max_steps, or a larger until_%s",
             what, r->at->checks.least_step, value, simulation->step, what);
    r->run->warns(r->run->warns_context, text);
}

tz_status tz__run_check_change(tz_runner *r, tz_error *error)
{
    tz_update update;
    tz_status status = tz__run_measure_change(r, &r->result->update, error);
    if (status)
        return status;
    if (!(r->result->update <= r->run->until_residual)) {
        const tz_update change = {.sum = r->result->update, .largest = r->result->update};
        if (tz_checks_add(&r->at->checks, r->simulation->step, &change).stuck)
            tell_stall(r, "update", r->result->update);
        return TZ_OK;
    }
    r->result->status = TZ_RUN_CONVERGED;
    if (r->result->update > 0.0 || tz_stencil_has_residual(r->simulation->problem.stencil, NULL))
        return TZ_OK;
    status = tz__run_measure(r, &update, error);
    if (status || update.largest <= r->run->until_residual)
        return status;
    r->result->status = TZ_RUN_STAGNATED;
    r->result->residual = tz_simulation_residual_of(r->simulation, &update);
    return TZ_OK;
}

/* Whether no cell of the sample has moved further than a few updates: the run has stagnated. */
static tz_status compare_sample(tz_runner *r, const tz_update *update, tz_error *error)
{
    double *now = NULL, moved = 0.0;
    size_t count = 0;
    const tz_status status = tz_simulation_sample(r->simulation, &now, &count, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        moved = fmax(moved, fabs(now[i] - r->at->sample[i]));
    if (moved <= SAMPLE_UPDATES * update->largest)
        r->result->status = TZ_RUN_STAGNATED;
    else
        tz_checks_wait(&r->at->checks, r->simulation->step);
    free(now);
    return TZ_OK;
}

/* A run that seems to be stuck in the last places has stagnated if some checks later it still is, and
 * no cell has moved. */
static tz_status check_stuck(tz_runner *r, bool stuck, const tz_update *update, tz_error *error)
{
    tz_status status = TZ_OK;
    if (stuck && !r->at->sample) {
        r->at->sampled_at = r->at->checks.count;
        return tz_simulation_sample(r->simulation, &r->at->sample, &r->at->sample_count, error);
    }
    if (stuck && r->at->checks.count - r->at->sampled_at < SAMPLE_CHECKS)
        return TZ_OK;
    if (stuck)
        status = compare_sample(r, update, error);
    free(r->at->sample);
    r->at->sample = NULL;
    return status;
}

tz_status tz__run_end_trial(tz_runner *r, tz_error *error)
{
    double change = NAN;
    r->at->phase = TZ_RUN_AT_CHECK;
    tz_status status = tz__run_advance(r, 1, false, error);
    if (!status)
        status = tz__run_measure_change(r, &change, error);
    if (change == 0.0)
        r->result->status = TZ_RUN_STAGNATED;
    return status;
}

/* Whether a stage of one iteration leaves all cells as they are: then the run has stagnated. */
static tz_status try_iteration(tz_runner *r, tz_error *error)
{
    r->at->phase = TZ_RUN_AT_TRIAL;
    const tz_status status = tz__run_fire(r, error);
    return status ? status : tz__run_end_trial(r, error);
}

tz_status tz__run_check_residual(tz_runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_update update;
    tz_status status = tz__run_measure(r, &update, error);
    if (status)
        return status;
    r->result->update = update.largest;
    r->result->residual = tz_simulation_residual_of(simulation, &update);
    if (r->result->residual <= r->run->until_residual) {
        r->result->status = TZ_RUN_CONVERGED;
        return TZ_OK;
    }
    if (r->hopeless) {
        r->result->status = TZ_RUN_INCONSISTENT;
        return TZ_OK;
    }
    const tz_check_result result = tz_checks_add(&r->at->checks, simulation->step, &update);
    if (result.stuck && !tz_simulation_is_rounding(simulation, &update))
        tell_stall(r, "residual", r->result->residual);
    status = check_stuck(r, result.stuck && tz_simulation_is_rounding(simulation, &update), &update,
                         error);
    if (!status && !r->result->status && result.repeats && simulation->step != r->at->end &&
        tz_stencil_has_real(simulation->problem.stencil))
        status = try_iteration(r, error);
    return status;
}
