#include "sim/run.h"

#include "base/machine.h"
#include "sim/correction.h"
#include "sim/fields.h"
#include "sim/run_impl.h"
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
    REFINE_EVERY = 256 /* iterations of a correction between two refinements, at most */
};

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

/* The next step at which something is due, and whether that is a check. */
static int64_t next_stop(const tz_runner *r, bool *is_check)
{
    const int64_t step = r->simulation->step;
    const int64_t end = r->at->end < 0 ? INT64_MAX : r->at->end;
    const int64_t check = r->until ? tz_checks_next(&r->at->checks, step) : INT64_MAX;
    int64_t stop = check < end ? check : end;
    for (size_t i = 0; i < r->run->events_count; i++) {
        const int64_t next = tz_interval_next(&r->run->events[i].every, r->simulation, step);
        stop = next < stop ? next : stop;
    }
    *is_check = r->until && (stop == check || stop == end);
    return stop;
}

/* Seconds on a clock that stands while the backend makes kernels: a machine makes each kernel once, and
 * that is no time of the run. */
static double run_clock_s(const tz_simulation *simulation)
{
    return tz_machine_clock_s() - tz_simulation_set_up_seconds(simulation);
}

static void stop_watch(tz_simulation *simulation)
{
    tz_stopwatch *watch = &simulation->watch;
    if (watch->running)
        watch->seconds += run_clock_s(simulation) - watch->started_s;
    watch->running = false;
}

tz_status tz__run_wait(tz_runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    if (!simulation->backend->wait) {
        stop_watch(simulation);
        return TZ_OK;
    }
    const double begin = tz_machine_clock_s();
    const tz_status status = simulation->backend->wait(tz__iterated_state(simulation), error);
    const double seconds = tz_machine_clock_s() - begin;
    simulation->seconds += seconds;
    r->result->seconds += seconds;
    tz__simulation_share_out(simulation, seconds);
    stop_watch(simulation);
    return status;
}

/* ---- Plans from the policy, times for it ----------------------------------------------- */

/* The plan of the next stage. */
static tz_status choose_plan(tz_runner *r, int64_t iterations_left, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const tz_plan *plan = &simulation->plan;
    tz_status status =
        tz_policy_next(simulation->policy, simulation->step, iterations_left, &plan, error);
    if (status)
        return status;
    if (!tz_plan_equal(plan, &simulation->plan)) {
        status = tz__run_wait(r, error); /* stages of the other plan */
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

static tz_status record_group(tz_runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const tz_stopwatch *watch = &simulation->watch;
    if (watch->stages < tz_policy_stages_to_time(simulation->policy))
        return TZ_OK;
    const tz_status status = tz__run_wait(r, error);
    if (status)
        return status;
    tz_policy_record(simulation->policy, watch->stages, watch->iterations, watch->seconds);
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

tz_status tz__run_measure(tz_runner *r, tz_update *update, tz_error *error)
{
    tz_status status = tz__run_wait(r, error);
    const double begin = tz_machine_clock_s();
    if (!status)
        status = tz_simulation_measure(r->simulation, update, error);
    const double seconds = tz_machine_clock_s() - begin;
    r->simulation->seconds += seconds;
    r->result->seconds += seconds;
    return status;
}

tz_status tz__run_measure_change(tz_runner *r, double *change, tz_error *error)
{
    const tz_status status = tz__run_wait(r, error);
    return status ? status
                  : r->simulation->backend->update_norm(tz__iterated_state(r->simulation), change,
                                                        error);
}

/* From time to time, whether the fields of a plain run move at all. */
static tz_status look(tz_runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_update update;
    double change;
    const int64_t step = simulation->step;
    simulation->look_step = step + (step < SCAN_LAST ? step : SCAN_LAST);
    tz_status status = tz__run_measure_change(r, &change, error);
    if (status || change != 0.0)
        return status;
    status = tz__run_measure(r, &update, error);
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
    if (r->run->warns)
        r->run->warns(r->run->warns_context, text);
    return TZ_OK;
}

/* ---- Stages ----------------------------------------------------------------------------------- */

tz_status tz__run_refine(tz_runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_update update;
    if (!simulation->correction || simulation->update_known)
        return TZ_OK;
    return tz__run_measure(r, &update, error);
}

static tz_status tell_progress(const tz_runner *r, tz_error *error)
{
    const tz_run_position *at = r->at;
    if (!r->run->progress ||
        r->run->progress(r->run->progress_context, r->simulation, r->result->steps,
                         at->end < 0 ? -1 : at->end - at->start))
        return TZ_OK;
    return tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted at step %" PRId64,
                        r->simulation->step);
}

tz_status tz__run_advance(tz_runner *r, int iterations, bool timed, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_stopwatch *watch = &simulation->watch;
    const int64_t scan = scan_step(simulation), refinement = refine_step(simulation);
    tz_status status = TZ_OK;
    if (simulation->correction && !simulation->correction->ahead)
        status = tz__run_refine(r, error);
    /* The device is idle at the beginning and at the end of a timed group. */
    if (!status && watch->running != timed)
        status = tz__run_wait(r, error);
    if (status)
        return status;
    const double begin = run_clock_s(simulation);
    status = simulation->backend->stage(tz__iterated_state(simulation), &simulation->plan,
                                        iterations, simulation->step, error);
    if (status)
        return status;
    if (simulation->correction)
        simulation->correction->ahead = true;
    const double seconds = run_clock_s(simulation) - begin;
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
        status = tz__run_refine(r, error);
    if (!status && simulation->step >= scan) {
        status = tz__run_wait(r, error);
        if (!status)
            status = tz__simulation_check_finite(simulation, error);
    }
    if (!status && r->looks && simulation->look_step >= 0 &&
        simulation->step >= look_step(simulation))
        status = look(r, error);
    return status ? status : tell_progress(r, error);
}

/* A checkpoint may be written here, and somebody may look: between two calls of the backend, and not
 * between an iteration and a check of what it changed. *most: iterations of the next call. */
static tz_status pause_here(tz_runner *r, int64_t *most, tz_error *error)
{
    *most = INT64_MAX;
    if (r->run->wants && r->run->wants(r->run->attend_context)) {
        tz_status status = tz__run_wait(r, error);
        if (!status)
            status = r->run->attend(r->run->attend_context, r->simulation, most, error);
        if (status)
            return status;
    }
    if (!r->run->pause)
        return TZ_OK;
    r->unsettled = r->run->settle; /* another thread may write it */
    return r->run->pause(r->run->pause_context, r->simulation, error);
}

/* `alone`: the last iteration is a stage of its own. */
static tz_status advance_to(tz_runner *r, int64_t stop, bool alone, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const int64_t fused = alone ? stop - 1 : stop;
    tz_status status = TZ_OK;
    while (!status && simulation->step < fused) {
        const int64_t iterations_left = fused - simulation->step;
        bool timed = false;
        int64_t most;
        status = pause_here(r, &most, error);
        if (!status)
            status = choose_plan(r, iterations_left, error);
        if (!status) {
            const int length =
                choose_length(simulation, most < iterations_left ? most : iterations_left, &timed);
            status = tz__run_advance(r, length, timed, error);
        }
        if (status && error && is_refusal(simulation, status, error))
            status = TZ_OK;
    }
    if (!status && alone)
        status = tz__run_advance(r, 1, false, error);
    return status;
}

static tz_status jump_to(tz_runner *r, int64_t stop, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const int64_t most = r->run->jumps_most;
    tz_status status = TZ_OK;
    while (!status && simulation->step < stop) {
        const int64_t left = stop - simulation->step;
        int64_t unlimited; /* a shorter jump would have other bits */
        status = pause_here(r, &unlimited, error);
        if (!status)
            status = tz__run_jump(r, most > 0 && most < left ? most : left, error);
        if (!status)
            status = tell_progress(r, error);
    }
    return status;
}

/* Waits for all work of later(), also after a failure. The first error counts. */
static tz_status finish(tz_runner *r, tz_status status, tz_error *error)
{
    tz_error first = {0};
    const tz_status settled = tz__run_settle(r, &first);
    if (settled && (!status || status == TZ_DIVERGED)) {
        status = settled;
        if (error)
            *error = first;
    }
    return status;
}

/* Up to the end, from the phase in which the run is. */
static tz_status go_on(tz_runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_run_position *at = r->at;
    const bool until_residual = r->until && !r->run->until_is_update;
    tz_status status = TZ_OK;
    if (r->run->resumes && r->run->failed) {
        if (error)
            *error = *r->run->failed;
        return r->run->failed->code;
    }
    if (at->phase == TZ_RUN_AT_START) {
        status = at->firing >= 0         ? tz__run_fire_rest(r, error)
                 : simulation->step == 0 ? tz__run_fire(r, error)
                                         : TZ_OK;
        /* What a script writes into cells that the residual leaves out reaches others an iteration later. */
        const bool hidden =
            simulation->step == 0 && tz_stencil_excluding(simulation->problem.stencil) >= 0;
        if (!status && until_residual && !hidden)
            status = tz__run_check_residual(r, error);
        at->phase = TZ_RUN_AT_CHECK;
    } else if (at->phase == TZ_RUN_AT_TRIAL) {
        status = tz__run_fire_rest(r, error);
        if (!status)
            status = tz__run_end_trial(r, error);
        if (!status)
            status = tz__run_fire(r, error);
    } else if (at->firing >= 0) {
        status = tz__run_fire_rest(r, error);
    }
    while (!status && !r->result->status && simulation->step != at->end) {
        if (at->phase != TZ_RUN_AT_STAGES)
            at->stop = next_stop(r, &at->is_check);
        at->phase = TZ_RUN_AT_STAGES;
        status = r->run->jumps
                     ? jump_to(r, at->stop, error)
                     : advance_to(r, at->stop, at->is_check && r->run->until_is_update, error);
        at->phase = TZ_RUN_AT_CHECK;
        if (!status && at->is_check)
            status =
                until_residual ? tz__run_check_residual(r, error) : tz__run_check_change(r, error);
        if (!status)
            status = tz__run_fire(r, error);
    }
    return status;
}

static tz_status begin(tz_runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const tz_run *run = r->run;
    *r->at = (tz_run_position){.phase = TZ_RUN_AT_START,
                               .start = simulation->step,
                               .end = run->steps < 0 ? -1 : simulation->step + run->steps,
                               .firing = -1,
                               .checks = tz_checks_begin(simulation->step, run->check_every),
                               .result = r->result};
    simulation->last_run = (tz_run_end){.residual = NAN};
    if (run->steps < 0 && isnan(run->until_residual))
        return tz_error_set(error, TZ_RANGE, "run", "give a number of steps or until_residual");
    const tz_status status = check_streamed(simulation, run->steps, error);
    return status || run->unchecked ? status : tz__run_check_facts(r, error);
}

tz_status tz_simulation_run(tz_simulation *simulation, const tz_run *run, tz_run_result *result,
                            tz_error *error)
{
    tz_run_position own;
    if (!run->resumes)
        *result = (tz_run_result){.residual = NAN, .update = NAN, .energy_j = NAN};
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (status)
        return status;
    const tz_stencil *stencil = simulation->problem.stencil;
    tz_runner r = {.simulation = simulation,
                   .run = run,
                   .result = result,
                   .at = run->position ? run->position : &own,
                   .until = !isnan(run->until_residual)};
    const bool until_residual = r.until && !run->until_is_update;
    r.looks = !until_residual && !simulation->correction && tz_stencil_has_real(stencil) &&
              !tz_stencil_has_residual(stencil, NULL);
    if (!run->resumes)
        status = begin(&r, error);
    if (status)
        return status;
    const double joules = tz_simulation_energy(simulation);
    status = go_on(&r, error);
    free(r.at->sample);
    r.at->sample = NULL;
    if (!status)
        status = tz__run_wait(&r, error);
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
