#include "sim/run.h"

#include "base/machine.h"
#include "sim/correction.h"
#include "sim/fields.h"
#include "sim/simulation_impl.h"
#include "sim/snapshot.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Iterations between two scans of the cells, at least and at most. A scan costs about as much
     * as two iterations and a wait for the device. */
    SCAN_FIRST = 256,
    SCAN_LAST = 16384,
    REFINE_EVERY = 256, /* iterations of a correction between two refinements, at most */
    SAMPLE_CHECKS = 8   /* after so many checks a sample of cells is compared */
};

/* Cells that go round in the last places move by no more than so many updates. */
static const double SAMPLE_UPDATES = 8.0;

/* The step of the next scan of all cells for values that are not finite. It depends on step numbers
 * only, and stages end there, so that a run reports the same with every plan. Each scan is
 * twice as far as the one before, up to SCAN_LAST: a diverging run computes at most twice the steps
 * that it needed to diverge. */
static int64_t scan_step(const tz_simulation *simulation)
{
    const int64_t seen = simulation->step - simulation->steps_unchecked;
    return seen + (seen < SCAN_FIRST ? SCAN_FIRST : seen > SCAN_LAST ? SCAN_LAST : seen);
}

/* The step of the next look whether the fields move: like a scan, but outputs do not put it off. */
static int64_t look_step(const tz_simulation *simulation)
{
    return simulation->look_step > 0 ? simulation->look_step : SCAN_FIRST;
}

/* The step of the next refinement in mixed precision. It depends on step numbers only. */
static int64_t refine_step(const tz_simulation *simulation)
{
    return (simulation->step / REFINE_EVERY + 1) * REFINE_EVERY;
}

/* The most iterations of the next backend call. */
static int64_t longest_call(const tz_simulation *simulation)
{
    const tz_plan *plan = &simulation->plan;
    const int64_t scan = scan_step(simulation), looks = look_step(simulation);
    int64_t left = (looks > simulation->step && looks < scan ? looks : scan) - simulation->step;
    if (simulation->correction && refine_step(simulation) - simulation->step < left)
        left = refine_step(simulation) - simulation->step;
    const int64_t most =
        plan->launch_iterations > plan->height ? plan->launch_iterations : plan->height;
    return most < left ? most : left > 1 ? left : 1;
}

static int64_t stages_of(const tz_simulation *simulation, int iterations)
{
    const int height = simulation->plan.height;
    return (iterations + height - 1) / height;
}

static tz_status check_streamed(const tz_simulation *simulation, int64_t steps, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    for (int f = 0; f < stencil->fields_count; f++) {
        if (stencil->fields[f].role != TZ_STREAMED)
            continue;
        const int64_t slabs = tz_simulation_streamed_slabs(simulation, f);
        if (slabs == 0)
            return tz_error_set(error, TZ_RANGE, stencil->fields[f].name,
                                "the streamed field has no source: give it an array of slabs or a "
                                "generator");
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
    int64_t start, end; /* end < 0: unlimited */
    bool until;         /* there are checks */
    bool looks;         /* whether the fields move */
    double *sample;     /* of a run that seems to be stuck; NULL: none */
    int64_t sampled_at; /* the number of that check */
    tz_checks checks;
    bool unsettled; /* work of later() may not be done yet */
    bool refused;   /* no snapshots in this run */
} runner;

/* The next step at which something is due, and whether that is a check. */
static int64_t next_stop(const runner *r, bool *is_check)
{
    const int64_t step = r->simulation->step;
    const int64_t end = r->end < 0 ? INT64_MAX : r->end;
    const int64_t check = r->until ? tz_checks_next(&r->checks, step) : INT64_MAX;
    int64_t stop = check < end ? check : end;
    for (size_t i = 0; i < r->run->events_count; i++) {
        const int64_t next = tz_interval_next(&r->run->events[i].every, r->simulation, step);
        stop = next < stop ? next : stop;
    }
    *is_check = r->until && (stop == check || stop == end);
    return stop;
}

static void stop_watch(tz_stopwatch *watch)
{
    if (watch->running)
        watch->seconds += tz_machine_clock_s() - watch->started_s;
    watch->running = false;
}

static tz_status wait_for_stages(runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    if (!simulation->backend->wait) {
        stop_watch(&simulation->watch);
        return TZ_OK;
    }
    const double begin = tz_machine_clock_s();
    const tz_status status = simulation->backend->wait(tz__iterated_state(simulation), error);
    const double seconds = tz_machine_clock_s() - begin;
    simulation->seconds += seconds;
    r->result->seconds += seconds;
    tz__simulation_share_out(simulation, seconds);
    stop_watch(&simulation->watch);
    return status;
}

/* ---- Plans from the policy, times for it ----------------------------------------------- */

/* The plan of the next stage. */
static tz_status choose_plan(runner *r, int64_t iterations_left, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const tz_plan *plan = &simulation->plan;
    tz_status status =
        tz_policy_next(simulation->policy, simulation->step, iterations_left, &plan, error);
    if (status)
        return status;
    if (!tz_plan_equal(plan, &simulation->plan)) {
        status = wait_for_stages(r, error); /* stages of the other plan */
        simulation->watch = (tz_stopwatch){.stages = 0};
        simulation->bytes = tz__simulation_bytes_with(simulation, plan);
    }
    simulation->plan = *plan;
    return status;
}

/* The iterations of the next call. *timed: they are full stages that the policy wants timed. */
static int choose_length(const tz_simulation *simulation, int64_t iterations_left, bool *timed)
{
    const int height = simulation->plan.height;
    const int64_t wanted = tz_policy_stages_to_time(simulation->policy) - simulation->watch.stages;
    int64_t length = longest_call(simulation);
    length = length < iterations_left ? length : iterations_left;
    *timed = wanted > 0 && length >= height;
    if (*timed) {
        const int64_t stages = length / height < wanted ? length / height : wanted;
        length = stages * height;
    }
    return (int)length;
}

static tz_status record_group(runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const tz_stopwatch *watch = &simulation->watch;
    if (watch->stages < tz_policy_stages_to_time(simulation->policy))
        return TZ_OK;
    const tz_status status = wait_for_stages(r, error);
    if (status)
        return status;
    tz_policy_record(simulation->policy, watch->stages, watch->iterations,
                     tz_ranks_largest(simulation->ranks, watch->seconds));
    simulation->watch = (tz_stopwatch){.stages = 0};
    return TZ_OK;
}

/* True: the plan was refused before any field changed, and the policy replaces it. */
static bool is_refusal(const tz_simulation *simulation, tz_status status, const tz_error *why)
{
    return (status == TZ_RANGE || status == TZ_UNSUPPORTED || status == TZ_MEMORY) &&
           tz_policy_plan_failed(simulation->policy, why);
}

/* ---- What the fields do ----------------------------------------------------------------------- */

static tz_status measure(runner *r, tz_update *update, tz_error *error)
{
    tz_status status = wait_for_stages(r, error);
    const double begin = tz_machine_clock_s();
    if (!status)
        status = tz_simulation_measure(r->simulation, update, error);
    const double seconds = tz_machine_clock_s() - begin;
    r->simulation->seconds += seconds;
    r->result->seconds += seconds;
    return status;
}

/* After a stage of one iteration: how much it changed. */
static tz_status measure_change(runner *r, double *change, tz_error *error)
{
    const tz_status status = wait_for_stages(r, error);
    return status ? status
                  : r->simulation->backend->update_norm(tz__iterated_state(r->simulation), change,
                                                        error);
}

/* From time to time, whether the fields of a plain run move at all. */
static tz_status look(runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_update update;
    double change;
    const int64_t step = simulation->step;
    simulation->look_step = step + (step < SCAN_LAST ? step : SCAN_LAST);
    tz_status status = measure_change(r, &change, error);
    if (status || change != 0.0)
        return status;
    status = measure(r, &update, error);
    if (status || !tz_simulation_is_rounding(simulation, &update))
        return status;
    simulation->look_step = -1;
    const bool single = simulation->problem.precision == TZ_SINGLE;
    const bool timed = tz_simulation_time_step(simulation);
    char text[320];
    snprintf(text, sizeof text,
             "stagnates: the last iterations before step %" PRId64 " changed no cell, though in "
             "double precision one changes cells by up to %.3g: %s precision ends here%s%s%s%s",
             step, update.largest, tz_simulation_precision(simulation),
             single || timed ? "; use " : "", single ? "precision = \"double\"" : "",
             single && timed ? " or " : "", timed ? "a larger time step" : "");
    if (r->run->stagnates)
        r->run->stagnates(r->run->stagnates_context, text);
    return TZ_OK;
}

/* ---- Stages ----------------------------------------------------------------------------------- */

/* In mixed precision: bring the solution up to date, or start its correction. */
static tz_status refine(runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_update update;
    if (!simulation->correction || simulation->update_known)
        return TZ_OK;
    return measure(r, &update, error);
}

static tz_status advance(runner *r, int iterations, bool timed, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_stopwatch *watch = &simulation->watch;
    const int64_t scan = scan_step(simulation), refinement = refine_step(simulation);
    tz_status status = TZ_OK;
    if (simulation->correction && !simulation->correction->ahead)
        status = refine(r, error);
    /* The device is idle at the beginning and at the end of a timed group. */
    if (!status && watch->running != timed)
        status = wait_for_stages(r, error);
    if (status)
        return status;
    const double begin = tz_machine_clock_s();
    status = simulation->backend->stage(tz__iterated_state(simulation), &simulation->plan,
                                        iterations, simulation->step, error);
    if (status)
        return status;
    if (simulation->correction)
        simulation->correction->ahead = true;
    const double seconds = tz_machine_clock_s() - begin;
    if (timed) {
        if (!watch->running) {
            watch->running = true;
            watch->started_s = begin;
        }
        watch->iterations += iterations;
        watch->stages += stages_of(simulation, iterations);
    }
    simulation->step += iterations;
    simulation->seconds += seconds;
    simulation->update_known = false;
    simulation->steps_unchecked += iterations;
    r->result->seconds += seconds;
    r->result->steps += iterations;
    r->result->stages += stages_of(simulation, iterations);
    status = tz__simulation_record_use(simulation, iterations, seconds, error);
    if (!status && timed)
        status = record_group(r, error);
    if (!status && (simulation->step >= scan || simulation->step >= refinement))
        status = refine(r, error);
    if (!status && simulation->step >= scan) {
        status = wait_for_stages(r, error);
        if (!status)
            status = tz__simulation_check_finite(simulation, error);
    }
    if (!status && r->looks && simulation->look_step >= 0 &&
        simulation->step >= look_step(simulation))
        status = look(r, error);
    if (status)
        return status;
    if (r->run->progress &&
        !r->run->progress(r->run->progress_context, simulation, r->result->steps,
                          r->end < 0 ? -1 : r->end - r->start))
        return tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted at step %" PRId64,
                            simulation->step);
    return TZ_OK;
}

/* `alone`: the last iteration is a stage of its own. */
static tz_status advance_to(runner *r, int64_t stop, bool alone, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const int64_t fused = alone ? stop - 1 : stop;
    tz_status status = TZ_OK;
    while (!status && simulation->step < fused) {
        const int64_t iterations_left = fused - simulation->step;
        bool timed = false;
        status = choose_plan(r, iterations_left, error);
        if (!status) {
            const int length = choose_length(simulation, iterations_left, &timed);
            status = advance(r, length, timed, error);
        }
        if (status && error && is_refusal(simulation, status, error))
            status = TZ_OK;
    }
    if (!status && alone)
        status = advance(r, 1, false, error);
    return status;
}

static tz_status settle(runner *r, tz_error *error)
{
    if (!r->unsettled)
        return TZ_OK;
    r->unsettled = false;
    return r->run->settle(r->run->later_context, error);
}

/* A snapshot of this step for events with later(); NULL: they fire at once. */
static tz_status freeze(runner *r, tz_snapshot **out, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    uint32_t fields = 0;
    *out = NULL;
    if (r->refused)
        return TZ_OK;
    for (size_t i = 0; i < r->run->events_count; i++)
        if (r->run->events[i].later &&
            tz_interval_is_due(&r->run->events[i].every, simulation, simulation->step))
            fields |= r->run->events[i].fields;
    tz_error why = {0};
    tz_status status = tz_snapshot_take(simulation, fields, false, out, &why);
    if (!status && !*out) {
        /* Outputs take longer than stages. The wait for a free snapshot is no part of the stages'
         * time, so that ends here. */
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
    tz_status status = simulation->step > r->start ? refine(r, error) : TZ_OK;
    if (status)
        return status;
    if (simulation->fired_step == simulation->step)
        return TZ_OK;
    simulation->fired_step = simulation->step;
    for (size_t i = 0; !status && i < r->run->events_count; i++)
        if (r->run->events[i].wants_residual &&
            tz_interval_is_due(&r->run->events[i].every, simulation, simulation->step))
            status = measure(r, &(tz_update){0}, error);
    for (size_t i = 0; !status && i < r->run->events_count; i++) {
        const tz_event *event = &r->run->events[i];
        if (!tz_interval_is_due(&event->every, simulation, simulation->step))
            continue;
        if (simulation->watch.running) /* outputs are no part of the time for a policy */
            status = wait_for_stages(r, error);
        if (!status && event->later && !snapshot)
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

/* ---- Residuals ------------------------------------------------------------------------------- */

/* A check of until_update. A change of 0 is no convergence if rounding hides a larger one. */
static tz_status check_change(runner *r, tz_error *error)
{
    tz_update update;
    tz_status status = measure_change(r, &r->result->update, error);
    if (status || !(r->result->update <= r->run->until_residual))
        return status;
    r->result->status = TZ_RUN_CONVERGED;
    if (r->result->update > 0.0 || tz_stencil_has_residual(r->simulation->problem.stencil, NULL))
        return TZ_OK;
    status = measure(r, &update, error);
    if (status || update.largest <= r->run->until_residual)
        return status;
    r->result->status = TZ_RUN_STAGNATED;
    r->result->residual = tz_simulation_residual_of(r->simulation, &update);
    return TZ_OK;
}

/* Whether no cell of the sample has moved further than a few updates: the run has stagnated. */
static tz_status compare_sample(runner *r, const tz_update *update, tz_error *error)
{
    double *now = NULL, moved = 0.0;
    size_t count = 0;
    const tz_status status = tz_simulation_sample(r->simulation, &now, &count, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        moved = fmax(moved, fabs(now[i] - r->sample[i]));
    if (moved <= SAMPLE_UPDATES * update->largest)
        r->result->status = TZ_RUN_STAGNATED;
    else
        tz_checks_wait(&r->checks, r->simulation->step);
    free(now);
    return TZ_OK;
}

/* A run that seems to be stuck in the last places has stagnated if some checks later it still is, and
 * no cell has moved. */
static tz_status check_stuck(runner *r, bool stuck, const tz_update *update, tz_error *error)
{
    size_t count = 0;
    tz_status status = TZ_OK;
    if (stuck && !r->sample) {
        r->sampled_at = r->checks.count;
        return tz_simulation_sample(r->simulation, &r->sample, &count, error);
    }
    if (stuck && r->checks.count - r->sampled_at < SAMPLE_CHECKS)
        return TZ_OK;
    if (stuck)
        status = compare_sample(r, update, error);
    free(r->sample);
    r->sample = NULL;
    return status;
}

/* Whether a stage of one iteration leaves all cells as they are: then the run has stagnated. */
static tz_status try_iteration(runner *r, tz_error *error)
{
    double change = NAN;
    tz_status status = fire_events(r, error);
    if (!status)
        status = advance(r, 1, false, error);
    if (!status)
        status = measure_change(r, &change, error);
    if (change == 0.0)
        r->result->status = TZ_RUN_STAGNATED;
    return status;
}

/* A check of until_residual. */
static tz_status check_residual(runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_update update;
    tz_status status = measure(r, &update, error);
    if (status)
        return status;
    r->result->update = update.largest;
    r->result->residual = tz_simulation_residual_of(simulation, &update);
    if (r->result->residual <= r->run->until_residual) {
        r->result->status = TZ_RUN_CONVERGED;
        return TZ_OK;
    }
    const tz_check_result result = tz_checks_add(&r->checks, simulation->step, &update);
    status = check_stuck(r, result.stuck && tz_simulation_is_rounding(simulation, &update), &update,
                         error);
    if (!status && !r->result->status && result.repeats && simulation->step != r->end &&
        tz_stencil_has_real(simulation->problem.stencil))
        status = try_iteration(r, error);
    return status;
}

/* Waits for all work of later(), also after a failure. The first error counts. */
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
    status = check_streamed(simulation, run->steps, error);
    if (status)
        return status;
    const tz_stencil *stencil = simulation->problem.stencil;
    runner r = {.simulation = simulation,
                .run = run,
                .result = result,
                .start = simulation->step,
                .end = run->steps < 0 ? -1 : simulation->step + run->steps,
                .refused = simulation->ranks, /* another thread's loads would come in any order */
                .until = !isnan(run->until_residual),
                .checks = tz_checks_begin(simulation->step, run->check_every)};
    const bool until_residual = r.until && !run->until_is_update;
    r.looks = !until_residual && !simulation->correction && tz_stencil_has_real(stencil) &&
              !tz_stencil_has_residual(stencil, NULL);
    simulation->last_run = (tz_run_end){.residual = NAN};
    const double joules = tz_simulation_energy(simulation);
    if (simulation->step == 0)
        status = fire_events(&r, error);
    if (!status && until_residual)
        status = check_residual(&r, error);
    while (!status && !result->status && simulation->step != r.end) {
        bool is_check;
        const int64_t stop = next_stop(&r, &is_check);
        status = advance_to(&r, stop, is_check && run->until_is_update, error);
        if (!status && is_check)
            status = until_residual ? check_residual(&r, error) : check_change(&r, error);
        if (!status)
            status = fire_events(&r, error);
    }
    free(r.sample);
    if (!status)
        status = wait_for_stages(&r, error);
    result->energy_j = tz_simulation_energy(simulation) - joules;
    status = finish(&r, status, error);
    if (!isnan(result->energy_j))
        simulation->energy_j += result->energy_j;
    if (!status)
        status = tz__simulation_check_finite(simulation, error);
    if (status)
        result->status = TZ_RUN_NONE;
    else if (!result->status)
        result->status = r.until ? TZ_RUN_MAX_STEPS : TZ_RUN_DONE;
    simulation->last_run = (tz_run_end){result->status, result->steps, result->residual};
    return status;
}
