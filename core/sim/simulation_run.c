/* Advancing a simulation: stages between the steps at which something is due. */
#include "sim/simulation.h"

#include "base/machine.h"
#include "sim/simulation_impl.h"
#include "sim/snapshot.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK_EVERY = 50,        /* iterations between residual tests when the run does not say */
    FINITE_CHECK_STEPS = 256 /* a scan costs about as much as two of them: it is not felt */
};

/* What a backend call may advance at most. */
static int longest_call(const tz_simulation *simulation)
{
    const tz_plan *plan = &simulation->plan;
    return plan->span > plan->height ? plan->span : plan->height;
}

static int64_t stages_of(const tz_simulation *simulation, int iterations)
{
    const int height = simulation->plan.height;
    return (iterations + height - 1) / height;
}

static tz_status record_height(tz_simulation *simulation, int height, int iterations,
                               double seconds, tz_error *error)
{
    tz_plan plan = simulation->plan;
    plan.height = height;
    tz_plan_use *use = NULL;
    for (size_t i = 0; i < simulation->uses_count && !use; i++) {
        const tz_plan *known = &simulation->uses[i].plan;
        if (known->height == height && memcmp(known->tile, plan.tile, sizeof plan.tile) == 0 &&
            strcmp(known->family, plan.family) == 0)
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
    }
    simulation->uses_last = (size_t)(use - simulation->uses);
    use->stages += iterations / height;
    use->steps += iterations;
    use->seconds += seconds;
    return TZ_OK;
}

/* Whole stages, and a last one of fewer iterations. */
static tz_status record_use(tz_simulation *simulation, int iterations, double seconds,
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

static tz_status report_divergence(const tz_simulation *simulation, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    for (int f = 0; f < stencil->fields_count; f++) {
        tz_reduction reduction;
        if (stencil->fields[f].role != TZ_STATE ||
            simulation->backend->reduce(simulation->state, f, &reduction, NULL) ||
            reduction.not_finite == 0)
            continue;
        return tz_error_set(error, TZ_DIVERGED, stencil->id,
                            "field '%s' is not finite at cell (%" PRId64 ", %" PRId64 ", %" PRId64
                            ") at step %" PRId64 " (%" PRId64 " such cells; all were finite at "
                            "step %" PRId64 "): use a smaller time step or check the input",
                            stencil->fields[f].name, reduction.first_not_finite[0],
                            reduction.first_not_finite[1], reduction.first_not_finite[2],
                            simulation->step, reduction.not_finite, simulation->finite_step);
    }
    return TZ_OK;
}

tz_status tz__simulation_check_finite(tz_simulation *simulation, tz_error *error)
{
    if (simulation->steps_unchecked == 0)
        return TZ_OK;
    simulation->steps_unchecked = 0;
    if (!simulation->backend->all_finite(simulation->state))
        return report_divergence(simulation, error);
    simulation->finite_step = simulation->step;
    return TZ_OK;
}

static tz_status check_streams(const tz_simulation *simulation, int64_t steps, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    for (int f = 0; f < stencil->fields_count; f++) {
        if (stencil->fields[f].role != TZ_STREAMED)
            continue;
        const int64_t slabs = tz_simulation_stream_slabs(simulation, f);
        if (slabs == 0)
            return tz_error_set(error, TZ_RANGE, stencil->fields[f].name,
                                "the field streams in and has no source: give it an array of "
                                "slabs or a generator");
        if (slabs > 0 && (steps < 0 || simulation->step + steps > slabs))
            return tz_error_set(error, TZ_RANGE, stencil->fields[f].name,
                                "there are %" PRId64 " slabs, one a step, and the run would end "
                                "at step %" PRId64,
                                slabs, steps < 0 ? -1 : simulation->step + steps);
    }
    return TZ_OK;
}

/* ---- The run --------------------------------------------------------------------------------- */

typedef struct runner {
    tz_simulation *simulation;
    const tz_run *run;
    tz_run_result *result;
    int64_t start, end;  /* end < 0: unlimited */
    int64_t check_every; /* 0: no residual test */
    bool unsettled;      /* events have taken over what is not done yet */
    bool refused;        /* there are no snapshots in this run */
} runner;

static int64_t next_multiple(int64_t step, int64_t every)
{
    return (step / every + 1) * every;
}

/* The next step at which something is due, and whether it needs the residual. */
static int64_t next_stop(const runner *r, bool *wants_residual)
{
    const int64_t step = r->simulation->step;
    const int64_t end = r->end < 0 ? INT64_MAX : r->end;
    const int64_t test =
        r->check_every > 0 ? r->start + next_multiple(step - r->start, r->check_every) : INT64_MAX;
    int64_t stop = test < end ? test : end;
    for (size_t i = 0; i < r->run->events_count; i++) {
        const int64_t next = next_multiple(step, r->run->events[i].every);
        stop = next < stop ? next : stop;
    }
    *wants_residual = r->check_every > 0 && (stop == test || stop == end);
    for (size_t i = 0; i < r->run->events_count; i++)
        if (r->run->events[i].wants_residual && stop % r->run->events[i].every == 0)
            *wants_residual = true;
    return stop;
}

/* Stages that are still under way are part of the last plan's time. */
static tz_status wait_for_stages(runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    if (!simulation->backend->wait)
        return TZ_OK;
    const double begin = tz_machine_clock_s();
    const tz_status status = simulation->backend->wait(simulation->state, error);
    const double seconds = tz_machine_clock_s() - begin;
    simulation->seconds += seconds;
    r->result->seconds += seconds;
    if (simulation->uses_count > 0)
        simulation->uses[simulation->uses_last].seconds += seconds;
    return status;
}

static tz_status advance(runner *r, int iterations, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const double begin = tz_machine_clock_s();
    tz_status status = simulation->backend->stage(simulation->state, &simulation->plan, iterations,
                                                  simulation->step, error);
    if (status)
        return status;
    const double seconds = tz_machine_clock_s() - begin;
    simulation->step += iterations;
    simulation->seconds += seconds;
    simulation->residual = NAN;
    simulation->steps_unchecked += iterations;
    r->result->seconds += seconds;
    r->result->steps += iterations;
    r->result->stages += stages_of(simulation, iterations);
    status = record_use(simulation, iterations, seconds, error);
    if (!status && simulation->steps_unchecked >= FINITE_CHECK_STEPS) {
        status = wait_for_stages(r, error);
        if (!status)
            status = tz__simulation_check_finite(simulation, error);
    }
    if (status)
        return status;
    if (r->run->progress &&
        !r->run->progress(r->run->progress_context, simulation, r->result->steps,
                          r->end < 0 ? -1 : r->end - r->start))
        return tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted at step %" PRId64,
                            simulation->step);
    return TZ_OK;
}

static tz_status advance_to(runner *r, int64_t stop, bool wants_residual, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const int64_t fused = wants_residual ? stop - 1 : stop;
    tz_status status = TZ_OK;
    while (!status && simulation->step < fused) {
        const int64_t left = fused - simulation->step;
        const int most = longest_call(simulation);
        status = advance(r, left < most ? (int)left : most, error);
    }
    if (!status && wants_residual)
        status = advance(r, 1, error);
    if (!status && wants_residual)
        status = wait_for_stages(r, error);
    if (!status && wants_residual) {
        r->result->update = simulation->backend->update_norm(simulation->state);
        r->result->residual = simulation->residual =
            r->result->update * simulation->problem.residual_per_update;
    }
    return status;
}

static tz_status settle(runner *r, tz_error *error)
{
    if (!r->unsettled)
        return TZ_OK;
    r->unsettled = false;
    return r->run->settle(r->run->later_context, error);
}

/* The fields of this step for those events that take them over; NULL: they are fired at once. */
static tz_status freeze(runner *r, tz_snapshot **out, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    uint32_t fields = 0;
    *out = NULL;
    if (r->refused)
        return TZ_OK;
    for (size_t i = 0; i < r->run->events_count; i++)
        if (r->run->events[i].later && simulation->step % r->run->events[i].every == 0)
            fields |= r->run->events[i].fields;
    tz_error why = {0};
    tz_status status = tz_snapshot_take(simulation, fields, false, out, &why);
    if (!status && !*out) {
        /* Outputs take longer than stages. These end meanwhile: their time ends here. */
        status = wait_for_stages(r, &why);
        if (!status)
            status = tz_snapshot_take(simulation, fields, true, out, &why);
    }
    if (!status)
        return TZ_OK;
    if (status != TZ_UNSUPPORTED && status != TZ_MEMORY) {
        if (error)
            *error = why;
        return status;
    }
    r->refused = true;
    if (status == TZ_MEMORY && r->run->refused)
        r->run->refused(r->run->later_context, &why);
    return TZ_OK;
}

static tz_status fire_at_once(runner *r, const tz_event *event, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_status status = wait_for_stages(r, error);
    if (!status)
        status = settle(r, error);
    if (!status)
        status = tz__simulation_check_finite(simulation, error);
    return status ? status : event->fire(event->context, simulation, error);
}

static tz_status fire_events(runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_snapshot *snapshot = NULL;
    tz_status status = TZ_OK;
    if (simulation->fired_step == simulation->step)
        return TZ_OK;
    simulation->fired_step = simulation->step;
    for (size_t i = 0; !status && i < r->run->events_count; i++) {
        const tz_event *event = &r->run->events[i];
        if (simulation->step % event->every != 0)
            continue;
        if (event->later && !snapshot)
            status = freeze(r, &snapshot, error);
        if (!status && event->later && snapshot) {
            r->unsettled = true;
            status = event->later(event->context, snapshot, error);
        } else if (!status) {
            status = fire_at_once(r, event, error);
        }
    }
    tz_snapshot_release(snapshot);
    return status;
}

/* All that was begun is done, also after a failure: what failed first counts. */
static tz_status finish(runner *r, tz_status status, tz_error *error)
{
    tz_error first = {0};
    const tz_status settled = settle(r, &first);
    if (settled && (!status || status == TZ_DIVERGED)) {
        status = settled;
        if (error)
            *error = first;
    }
    return status;
}

tz_status tz_simulation_run(tz_simulation *simulation, const tz_run *run, tz_run_result *result,
                            tz_error *error)
{
    *result = (tz_run_result){.residual = NAN, .update = NAN, .energy_j = NAN};
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (status)
        return status;
    if (run->steps < 0 && isnan(run->until_residual))
        return tz_error_set(error, TZ_RANGE, "run", "give a number of steps or until_residual");
    status = check_streams(simulation, run->steps, error);
    if (status)
        return status;
    const int height = simulation->plan.height;
    runner r = {.simulation = simulation,
                .run = run,
                .result = result,
                .start = simulation->step,
                .end = run->steps < 0 ? -1 : simulation->step + run->steps};
    if (!isnan(run->until_residual))
        r.check_every =
            run->check_every > 0 ? run->check_every : (CHECK_EVERY + height - 1) / height * height;
    const double joules = tz_simulation_energy(simulation);
    if (simulation->step == 0)
        status = fire_events(&r, error);
    while (!status && !result->converged && simulation->step != r.end) {
        bool wants_residual;
        const int64_t stop = next_stop(&r, &wants_residual);
        status = advance_to(&r, stop, wants_residual, error);
        if (status)
            break;
        if (wants_residual) {
            const double value = run->until_is_update ? result->update : result->residual;
            result->converged = value <= run->until_residual;
        }
        status = fire_events(&r, error);
    }
    if (!status)
        status = wait_for_stages(&r, error);
    result->energy_j = tz_simulation_energy(simulation) - joules;
    status = finish(&r, status, error);
    if (!isnan(result->energy_j))
        simulation->energy_j += result->energy_j;
    return status ? status : tz__simulation_check_finite(simulation, error);
}
