/* Runs: stages with the plans of a policy, checks of residuals, and where to stop. */
#include "sim/run.h"

#include "base/machine.h"
#include "base/minmax.h"
#include "sim/ahead.h"
#include "sim/fields.h"
#include "sim/numbers.h"
#include "sim/points.h"
#include "sim/simulation.h"
#include "sim/solve.h"
#include "sim/state.h"
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

static bool has_checks(const tz_course *course)
{
    return !isnan(course->wanted.until_residual);
}

static bool checks_residual(const tz_course *course)
{
    return has_checks(course) && !course->wanted.until_is_update;
}

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
        tz_min(plan->launch_iterations > plan->height ? plan->launch_iterations : plan->height,
               tz__points_longest(simulation));
    return most < left ? most : left > 1 ? left : 1;
}

static int64_t stages_of(const tz_simulation *simulation, int iterations)
{
    const int height = simulation->plan.height;
    return (iterations + height - 1) / height;
}

/* ---- Which plans were used ------------------------------------------------------------------- */

static tz_status record_height(tz_simulation *simulation, int height, int iterations,
                               double seconds, tz_error *error)
{
    tz_plan plan = simulation->plan;
    plan.height = height;
    tz_plan_use *use = NULL;
    for (size_t i = 0; i < simulation->uses_count && !use; i++) {
        if (tz_plan_equal(&simulation->uses[i].plan, &plan) &&
            strcmp(simulation->uses[i].backend, simulation->backend->name) == 0)
            use = &simulation->uses[i];
    }
    if (!use) {
        tz_plan_use *uses = realloc(simulation->uses, (simulation->uses_count + 1) * sizeof *uses);
        if (!uses)
            return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the plan record");
        simulation->uses = uses;
        use = &uses[simulation->uses_count++];
        *use = (tz_plan_use){.plan = plan};
        snprintf(use->backend, sizeof use->backend, "%s", simulation->backend->name);
        if (height != simulation->plan.height)
            strcpy(use->plan.why, TZ_WHY_REST);
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

/* Record a call of the backend: its full stages, and the last one if it is shorter. */
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

/* Divide the time of a wait among the plans of the stages waited for, by their iterations. */
static void share_out(tz_simulation *simulation, double seconds)
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

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Seconds on a clock that stands while the backend makes kernels: a machine makes each kernel
 * once, and that is no time of the run. */
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

tz_status tz_run_wait(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    if (!simulation->backend->wait) {
        stop_watch(simulation);
        return TZ_OK;
    }
    const double begin = tz_machine_clock_s();
    const tz_status status = simulation->backend->wait(tz__iterated_state(simulation), error);
    const double seconds = tz_machine_clock_s() - begin;
    simulation->seconds += seconds;
    course->result.seconds += seconds;
    share_out(simulation, seconds);
    stop_watch(simulation);
    return status;
}

/* ---- Plans from the policy, times for it ----------------------------------------------------- */

/* The plan of the next stage. */
static tz_status choose_plan(tz_simulation *simulation, tz_course *course, int64_t iterations_left,
                             tz_error *error)
{
    const tz_plan *plan = &simulation->plan;
    tz_status status =
        tz_policy_next(simulation->policy, simulation->step, iterations_left, &plan, error);
    if (status)
        return status;
    if (!tz_plan_equal(plan, &simulation->plan)) {
        status = tz_run_wait(simulation, course, error); /* stages of the other plan */
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
    int64_t length = tz_min(longest_call(simulation), tz__ahead_longest(simulation));
    length = tz_min(length, iterations_left);
    *timed = wanted > 0 && length >= height;
    if (*timed) {
        const int64_t stages = length / height < wanted ? length / height : wanted;
        length = stages * height;
    }
    return (int)length;
}

static tz_status record_group(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    const tz_stopwatch *watch = &simulation->watch;
    if (watch->stages < tz_policy_stages_to_time(simulation->policy))
        return TZ_OK;
    const tz_status status = tz_run_wait(simulation, course, error);
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

/* ---- What the fields do ---------------------------------------------------------------------- */

tz_status tz_run_measure(tz_simulation *simulation, tz_course *course, tz_update *update,
                         tz_error *error)
{
    tz_status status = tz_run_wait(simulation, course, error);
    const double begin = tz_machine_clock_s();
    if (!status)
        status = tz_simulation_measure(simulation, update, error);
    const double seconds = tz_machine_clock_s() - begin;
    simulation->seconds += seconds;
    course->result.seconds += seconds;
    return status;
}

static tz_status measure_change(tz_simulation *simulation, tz_course *course, double *change,
                                tz_error *error)
{
    const tz_status status = tz_run_wait(simulation, course, error);
    return status ? status
                  : simulation->backend->update_norm(tz__iterated_state(simulation), change, error);
}

static bool looks(const tz_simulation *simulation, const tz_course *course)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    return !checks_residual(course) && !simulation->correction && tz_stencil_has_real(stencil) &&
           !tz_stencil_has_residual(stencil, NULL);
}

/* From time to time, whether the fields of a plain run move at all. */
static tz_status look(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    tz_update update;
    double change;
    const int64_t step = simulation->step;
    simulation->look_step = step + (step < SCAN_LAST ? step : SCAN_LAST);
    tz_status status = measure_change(simulation, course, &change, error);
    if (status || change != 0.0)
        return status;
    status = tz_run_measure(simulation, course, &update, error);
    if (status || !tz_simulation_is_rounding(simulation, &update))
        return status;
    simulation->look_step = -1;
    const bool single = simulation->problem.precision != TZ_PRECISION_RESIDUAL;
    const bool timed = tz_simulation_time_step(simulation);
    snprintf(course->warning, sizeof course->warning,
             "stagnates: the last iterations before step %" PRId64 " changed no cell, though in "
             "double precision one changes cells by up to %.3g: %s precision ends here%s%s%s%s",
             step, update.largest, tz_simulation_precision(simulation),
             single || timed ? "; use " : "", single ? "precision = \"double\"" : "",
             single && timed ? " or " : "", timed ? "a larger time step" : "");
    return TZ_OK;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static tz_status refine(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    tz_update update;
    if (!simulation->correction || simulation->update_known)
        return TZ_OK;
    return tz_run_measure(simulation, course, &update, error);
}

static tz_status compute(tz_simulation *simulation, tz_course *course, int iterations, bool timed,
                         tz_error *error)
{
    tz_stopwatch *watch = &simulation->watch;
    const int64_t scan = scan_step(simulation), refinement = refine_step(simulation);
    tz_status status = TZ_OK;
    if (simulation->correction && !simulation->correction->ahead)
        status = refine(simulation, course, error);
    if (!status)
        status = tz__ahead_wait(simulation, error);
    /* The device is idle at the beginning and at the end of a timed group. */
    if (!status && watch->running != timed)
        status = tz_run_wait(simulation, course, error);
    const double begin = run_clock_s(simulation);
    if (!status)
        status = tz__points_begin(simulation, iterations, error);
    if (status)
        return status;
    status = simulation->backend->stage(tz__iterated_state(simulation), &simulation->plan,
                                        iterations, simulation->step, error);
    if (status)
        return status;
    if (simulation->correction)
        simulation->correction->ahead = true;
    const double seconds = run_clock_s(simulation) - begin;
    tz__ahead_timed(simulation, iterations, seconds);
    tz__points_end(simulation, iterations);
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
    course->result.seconds += seconds;
    course->result.steps += iterations;
    course->result.stages += stages_of(simulation, iterations);
    status = record_use(simulation, iterations, seconds, error);
    if (!status && timed)
        status = record_group(simulation, course, error);
    if (!status && (simulation->step >= scan || simulation->step >= refinement))
        status = refine(simulation, course, error);
    if (!status && simulation->step >= scan) {
        status = tz_run_wait(simulation, course, error);
        if (!status)
            status = tz_simulation_check_finite(simulation, error);
    }
    if (!status && looks(simulation, course) && simulation->look_step >= 0 &&
        simulation->step >= look_step(simulation))
        status = look(simulation, course, error);
    return status;
}

/* A call of the backend on the way to a step. A plan that is refused is replaced by another one. */
static tz_status compute_towards(tz_simulation *simulation, tz_course *course, int64_t step,
                                 int64_t most, tz_stop *stop, tz_error *error)
{
    const int64_t left = step - simulation->step;
    bool timed = false;
    tz_status status = choose_plan(simulation, course, left, error);
    if (!status && tz_policy_question(simulation->policy)) {
        *stop = TZ_STOP_ASKS;
        return TZ_OK;
    }
    course->had_turn = false;
    if (!status) {
        const int length = choose_length(simulation, most > 0 && most < left ? most : left, &timed);
        status = compute(simulation, course, length, timed, error);
    }
    return status && error && is_refusal(simulation, status, error) ? TZ_OK : status;
}

static tz_status jump_towards(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    const int64_t most = course->wanted.jumps_most, left = course->stop - simulation->step;
    const int order = course->wanted.implicit_order;
    int64_t steps = most > 0 && most < left ? most : left;
    double seconds;
    if (order > 0) { /* as long as each other up to there, rather a percent longer than one more */
        const int64_t longest = most + most / 100, count = (left + longest - 1) / longest;
        steps = (left + count - 1) / count;
    }
    course->had_turn = false;
    tz_status status = tz_run_wait(simulation, course, error);
    if (!status)
        status = order > 0
                     ? tz__simulation_implicit(simulation, steps, order,
                                               course->wanted.implicit_direct, &seconds, error)
                     : tz__simulation_jump(simulation, steps, &seconds, error);
    if (status)
        return status;
    simulation->step += steps;
    course->result.steps += steps;
    course->result.seconds += seconds;
    return tz_simulation_check_finite(simulation, error);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* A residual or update that has stood or grown for long may fall yet, so a run without an end goes
 * on. */
static void tell_stall(tz_simulation *simulation, tz_course *course, const char *what, double value)
{
    if (simulation->stall_told || course->end >= 0 || course->warning[0])
        return;
    simulation->stall_told = true;
    snprintf(course->warning, sizeof course->warning,
             "the %s has not fallen since step %" PRId64 " and is %.3g at step %" PRId64
             ": this run may never end; give max_steps, or a larger until_%s; "
             "sim:steady says whether there is a steady state",
             what, course->checks.least_step, value, simulation->step, what);
}

static tz_status check_change(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    tz_update update;
    tz_status status = measure_change(simulation, course, &course->result.update, error);
    if (status)
        return status;
    if (!(course->result.update <= course->wanted.until_residual)) {
        const tz_update change = {.sum = course->result.update, .largest = course->result.update};
        if (tz_checks_add(&course->checks, simulation->step, &change).stuck)
            tell_stall(simulation, course, "update", course->result.update);
        return TZ_OK;
    }
    course->result.status = TZ_RUN_CONVERGED;
    if (course->result.update > 0.0 || tz_stencil_has_residual(simulation->problem.stencil, NULL))
        return TZ_OK;
    status = tz_run_measure(simulation, course, &update, error);
    if (status || update.largest <= course->wanted.until_residual)
        return status;
    course->result.status = TZ_RUN_STAGNATED;
    course->result.residual = tz_simulation_residual_of(simulation, &update);
    return TZ_OK;
}

/* Whether no cell of the sample has moved further than a few updates: the run has stagnated. */
static tz_status compare_sample(tz_simulation *simulation, tz_course *course,
                                const tz_update *update, tz_error *error)
{
    double *now = NULL, moved = 0.0;
    size_t count = 0;
    const tz_status status = tz_simulation_sample(simulation, &now, &count, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        moved = fmax(moved, fabs(now[i] - course->sample[i]));
    if (moved <= SAMPLE_UPDATES * update->largest)
        course->result.status = TZ_RUN_STAGNATED;
    else
        tz_checks_wait(&course->checks, simulation->step);
    free(now);
    return TZ_OK;
}

/* A run that seems to be stuck in the last places has stagnated if some checks later it still is,
 * and no cell has moved. */
static tz_status check_stuck(tz_simulation *simulation, tz_course *course, bool stuck,
                             const tz_update *update, tz_error *error)
{
    tz_status status = TZ_OK;
    if (stuck && !course->sample) {
        course->sampled_at = course->checks.count;
        return tz_simulation_sample(simulation, &course->sample, &course->sample_count, error);
    }
    if (stuck && course->checks.count - course->sampled_at < SAMPLE_CHECKS)
        return TZ_OK;
    if (stuck)
        status = compare_sample(simulation, course, update, error);
    free(course->sample);
    course->sample = NULL;
    return status;
}

/* Whether a stage of one iteration leaves all cells as they are: then the run has stagnated. */
static tz_status end_trial(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    double change = NAN;
    course->phase = TZ_RUN_AT_CHECK;
    tz_status status = compute(simulation, course, 1, false, error);
    if (!status)
        status = measure_change(simulation, course, &change, error);
    if (change == 0.0)
        course->result.status = TZ_RUN_STAGNATED;
    return status;
}

static tz_status check_residual(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    tz_update update;
    tz_status status = tz_run_measure(simulation, course, &update, error);
    if (status)
        return status;
    course->result.update = update.largest;
    course->result.residual = tz_simulation_residual_of(simulation, &update);
    if (course->result.residual <= course->wanted.until_residual) {
        course->result.status = TZ_RUN_CONVERGED;
        return TZ_OK;
    }
    if (course->hopeless) {
        course->result.status = TZ_RUN_INCONSISTENT;
        return TZ_OK;
    }
    const tz_check_result result = tz_checks_add(&course->checks, simulation->step, &update);
    if (result.stuck && !tz_simulation_is_rounding(simulation, &update))
        tell_stall(simulation, course, "residual", course->result.residual);
    status =
        check_stuck(simulation, course,
                    result.stuck && tz_simulation_is_rounding(simulation, &update), &update, error);
    if (!status && !course->result.status && result.repeats && simulation->step != course->end &&
        tz_stencil_has_real(simulation->problem.stencil))
        course->phase = TZ_RUN_AT_TRIAL;
    return status;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

typedef struct inquiry {
    const tz_simulation *simulation;
    tz_status status; /* of the first question that failed */
    tz_error *error;
} inquiry;

static bool is_answerable(const inquiry *q, int field)
{
    const tz_stencil *stencil = q->simulation->problem.stencil;
    return !q->status && field >= 0 && field < tz_stencil_fields_all(stencil) &&
           stencil->fields[field].role != TZ_STREAMED;
}

static int find_range(void *context, int field, double *low, double *high)
{
    inquiry *q = context;
    tz_reduction all;
    if (!is_answerable(q, field))
        return -1;
    q->status = tz_simulation_reduce(q->simulation, field, &all, q->error);
    if (q->status)
        return -1;
    *low = all.min;
    *high = all.max;
    return 0;
}

/* The sum with each cell's weight as a sum over boxes: the grid, and for each choice of mirror
 * sides of different axes the cells beside all of them, times (-1/2)^sides. */
static int find_mean(void *context, int field, double *mean)
{
    inquiry *q = context;
    double sum = 0.0, weights = 0.0;
    if (!is_answerable(q, field))
        return -1;
    for (int choice = 0; choice < 27 && !q->status; choice++) {
        const int64_t *extent = q->simulation->problem.extent;
        tz_region region = {.mask_field = -1};
        tz_region_facts facts;
        double weight = 1.0, cells = 1.0;
        for (int axis = 0, rest = choice; axis < TZ_AXES; axis++, rest /= 3) {
            const int side = rest % 3 - 1; /* -1: the whole axis */
            const int64_t edge = side == 1 ? extent[axis] - 1 : 0;
            if (side >= 0 && (extent[axis] == 1 ||
                              !tz_boundary_reflects(q->simulation->problem.boundary[axis][side])))
                weight = 0.0;
            region.box.low[axis] = edge;
            region.box.high[axis] = side < 0 ? extent[axis] : edge + 1;
            cells *= (double)(region.box.high[axis] - edge);
            weight *= side < 0 ? 1.0 : -0.5;
        }
        if (weight == 0.0)
            continue;
        q->status = tz_simulation_reduce_region(q->simulation, field, &region, &facts, q->error);
        if (q->status)
            return -1;
        sum += weight * facts.sum;
        weights += weight * cells;
    }
    *mean = sum / weights;
    return 0;
}

static tz_status check_domain(tz_simulation *simulation, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    const int domain = tz_stencil_domain(stencil);
    tz_reduction mask;
    if (domain < 0 || simulation->facts_known)
        return TZ_OK;
    const tz_status status = tz_simulation_reduce(simulation, domain, &mask, error);
    if (!status && mask.population == 0)
        return tz_error_set(error, TZ_RANGE, stencil->id,
                            "the domain has no cell: all of field '%s' is 0",
                            stencil->fields[domain].name);
    simulation->facts_known = !status && !stencil->check_run;
    return status;
}

static tz_status check_facts(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const bool until_residual = checks_residual(course);
    inquiry questions = {.simulation = simulation, .error = error};
    char message[400] = "";
    if (!problem->stencil->check_run || (simulation->facts_known && !until_residual))
        return TZ_OK;
    tz_run_facts facts = {.struct_size = sizeof facts,
                          .dims = problem->dims,
                          .precision = problem->precision,
                          .params = problem->params,
                          .boundary_values = problem->boundary_value[0],
                          .until_residual = until_residual ? course->wanted.until_residual : NAN,
                          .context = &questions,
                          .range = find_range,
                          .mean = find_mean,
                          .message = message,
                          .message_size = sizeof message};
    memcpy(facts.extent, problem->extent, sizeof facts.extent);
    memcpy(facts.boundary, problem->boundary, sizeof facts.boundary);
    const int found = problem->stencil->check_run(&facts);
    if (!questions.status && found < 0)
        questions.status =
            tz_error_set(error, found == TZ_DIVERGES ? TZ_UNSTABLE : TZ_RANGE, problem->stencil->id,
                         "%s", message[0] ? message : "the plugin refused the fields");
    simulation->facts_known = !questions.status;
    course->hopeless = found == TZ_NO_SOLUTION && until_residual;
    if (!questions.status && (course->hopeless || (found == TZ_WARNS && !simulation->facts_told))) {
        simulation->facts_told = true;
        snprintf(course->warning, sizeof course->warning, "%s", message);
    }
    return questions.status;
}

/* ---- A run ----------------------------------------------------------------------------------- */

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
static void set_stop(const tz_simulation *simulation, tz_course *course, int64_t until)
{
    const int64_t end = course->end < 0 ? INT64_MAX : course->end;
    const int64_t check =
        has_checks(course) ? tz_checks_next(&course->checks, simulation->step) : INT64_MAX;
    course->stop = check < end ? check : end;
    if (course->wanted.adaptive.on) {
        const int64_t every = course->wanted.adaptive.every,
                      adapts = (simulation->step / every + 1) * every;
        course->stop = adapts < course->stop ? adapts : course->stop;
    }
    if (until < course->stop)
        course->stop = until;
    course->is_check = has_checks(course) && (course->stop == check || course->stop == end);
    course->phase = TZ_RUN_AT_STAGES;
}

tz_status tz_simulation_begin(tz_simulation *simulation, const tz_run *wanted, tz_course *course,
                              tz_error *error)
{
    *course = (tz_course){.wanted = *wanted,
                          .phase = TZ_RUN_AT_START,
                          .start = simulation->step,
                          .end = wanted->steps < 0 ? -1 : simulation->step + wanted->steps,
                          .firing = -1,
                          .adapted_at = -1,
                          .checks = tz_checks_begin(simulation->step, wanted->check_every),
                          .result = {.residual = NAN, .update = NAN, .energy_j = NAN}};
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (status)
        return status;
    simulation->last_run = (tz_run_end){.residual = NAN};
    if (wanted->steps < 0 && !has_checks(course) && !wanted->until_called)
        return tz_error_set(error, TZ_RANGE, "run", "give a number of steps or until_residual");
    status = check_streamed(simulation, wanted->steps, error);
    if (!status && wanted->steps > 0)
        status = tz__points_check(simulation, wanted->steps, error);
    if (!status)
        status = check_domain(simulation, error);
    return status || wanted->unchecked ? status : check_facts(simulation, course, error);
}

static tz_status check_start(tz_simulation *simulation, tz_course *course, tz_error *error)
{
    /* What a script writes into cells that the residual leaves out reaches others an iteration
     * later. */
    const bool hidden =
        simulation->step == 0 && tz_stencil_excluding(simulation->problem.stencil) >= 0;
    course->phase = TZ_RUN_AT_CHECK;
    return checks_residual(course) && !hidden && !course->result.status
               ? check_residual(simulation, course, error)
               : TZ_OK;
}

/* The caller has its turn before the next stages. */
static tz_status pause_here(tz_course *course, tz_stop *stop)
{
    course->had_turn = true;
    *stop = TZ_STOP_PAUSE;
    return TZ_OK;
}

/* One call of the backend towards the next stop, and the check that is there. */
static tz_status go_to_stop(tz_simulation *simulation, tz_course *course, int64_t most,
                            tz_stop *stop, tz_error *error)
{
    const bool alone = course->is_check && course->wanted.until_is_update && !course->wanted.jumps;
    const int64_t fused = alone ? course->stop - 1 : course->stop;
    const int64_t known =
        course->end < 0 || has_checks(course) ? 0 : course->end - simulation->step;
    tz_status status = TZ_OK;
    if (!course->wanted.jumps)
        status = tz__ahead_move(simulation, known, error);
    if (status)
        return status;
    if (simulation->step < fused) {
        if (!course->had_turn)
            return pause_here(course, stop);
        status = course->wanted.jumps
                     ? jump_towards(simulation, course, error)
                     : compute_towards(simulation, course, fused, most, stop, error);
        if (status || *stop == TZ_STOP_ASKS)
            return status;
        if (simulation->step < fused)
            return pause_here(course, stop);
    }
    /* The last iteration is a stage of its own: its change is checked. */
    if (alone)
        status = compute(simulation, course, 1, false, error);
    course->phase = TZ_RUN_AT_CHECK;
    if (status || !course->is_check)
        return status;
    return course->wanted.until_is_update ? check_change(simulation, course, error)
                                          : check_residual(simulation, course, error);
}

/* The fields are those of a stop. *due: for the first time. */
static tz_status stand(tz_simulation *simulation, tz_course *course, bool *due, tz_error *error)
{
    tz_status status = simulation->step > course->start ? refine(simulation, course, error) : TZ_OK;
    if (!status && simulation->watch.running) /* outputs are no part of the time for a policy */
        status = tz_run_wait(simulation, course, error);
    *due = simulation->fired_step != simulation->step;
    simulation->fired_step = simulation->step;
    return status;
}

static void meter(const tz_simulation *simulation, tz_course *course)
{
    if (course->metered)
        course->result.energy_j = tz_simulation_energy(simulation) - course->joules;
}

static bool adapts_here(const tz_simulation *simulation, const tz_course *course)
{
    const tz_adaptive *adaptive = &course->wanted.adaptive;
    return adaptive->on && course->adapted_at != simulation->step &&
           (simulation->step == course->start || simulation->step % adaptive->every == 0);
}

static tz_status adapt(tz_simulation *simulation, tz_course *course, tz_stop *stop, tz_error *error)
{
    tz_run_result *result = &course->result;
    int64_t left = course->end - simulation->step;
    tz_status status = tz_run_wait(simulation, course, error);
    const double begin = tz_machine_clock_s();
    if (!status)
        status = tz__adapt(simulation, &course->wanted.adaptive, &course->dt_whole, &left, error);
    const double seconds = tz_machine_clock_s() - begin;
    simulation->seconds += seconds;
    result->seconds += seconds;
    if (status)
        return status;
    const double dt = tz_simulation_clock(simulation).dt;
    result->dt_least = result->dt_least > 0 && result->dt_least < dt ? result->dt_least : dt;
    result->dt_most = result->dt_most > dt ? result->dt_most : dt;
    course->end = course->end < 0 ? -1 : simulation->step + left;
    course->adapted_at = simulation->step;
    *stop = TZ_STOP_ADAPTED;
    return TZ_OK;
}

/* The time step is again what it was before its last steps were shortened to end in time. */
static tz_status restore_dt(tz_simulation *simulation, const tz_course *course, tz_error *error)
{
    const tz_adaptive *adaptive = &course->wanted.adaptive;
    if (!adaptive->on || course->dt_whole == 0)
        return TZ_OK;
    const bool in_time = simulation->step == course->end && !isnan(adaptive->until);
    const tz_clock clock = {course->dt_whole, simulation->step,
                            in_time ? adaptive->until : tz_simulation_time(simulation), 0};
    return tz_simulation_set_clock(simulation, &clock, error);
}

static tz_status reach_end(tz_simulation *simulation, tz_course *course, tz_stop *stop,
                           tz_error *error)
{
    tz_status status = tz_run_wait(simulation, course, error);
    if (!status)
        status = restore_dt(simulation, course, error);
    meter(simulation, course);
    *stop = TZ_STOP_END;
    return status;
}

tz_status tz_simulation_advance(tz_simulation *simulation, tz_course *course, const tz_until *until,
                                tz_stop *stop, tz_error *error)
{
    tz_status status = TZ_OK;
    bool due = false;
    *stop = TZ_STOP_DUE;
    if (!course->metered)
        course->joules = tz_simulation_energy(simulation);
    course->metered = true;
    if (course->phase == TZ_RUN_AT_START) {
        if (simulation->step == 0)
            status = stand(simulation, course, &due, error);
        if (!status && !due)
            status = check_start(simulation, course, error);
    }
    while (!status && !due) {
        if (course->phase == TZ_RUN_AT_CHECK) {
            if (course->result.status || simulation->step == course->end)
                return reach_end(simulation, course, stop, error);
            if (adapts_here(simulation, course))
                return adapt(simulation, course, stop, error);
            set_stop(simulation, course, until->step);
        }
        status = course->phase == TZ_RUN_AT_TRIAL
                     ? end_trial(simulation, course, error)
                     : go_to_stop(simulation, course, until->most, stop, error);
        if (!status && *stop != TZ_STOP_DUE)
            return TZ_OK;
        if (!status)
            status = stand(simulation, course, &due, error);
    }
    return status;
}

void tz_simulation_stop(tz_course *course, tz_run_status status, const char *why)
{
    tz_run_result *result = &course->result;
    result->status = status;
    snprintf(result->why, sizeof result->why, "%s", why);
    if (course->phase == TZ_RUN_AT_TRIAL)
        course->phase = TZ_RUN_AT_CHECK;
}

tz_status tz_simulation_extend(tz_simulation *simulation, tz_course *course, int64_t end,
                               tz_error *error)
{
    const int64_t more = end - simulation->step;
    if (course->wanted.adaptive.on)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "its time steps are adaptive, and are those of the script's end: begin "
                            "another run with its fields, trapeze run SCRIPT --from RUNDIR");
    if (course->result.status > TZ_RUN_DONE && course->result.status != TZ_RUN_MAX_STEPS)
        return tz_error_set(error, TZ_RANGE, NULL, "the run has ended by itself: %s",
                            tz_run_status_name(course->result.status));
    if (more <= 0)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "the run is at step %" PRId64
                            " already (a number is a step, t=10 a time)",
                            simulation->step);
    tz_status status = check_streamed(simulation, more, error);
    if (!status)
        status = tz__points_check(simulation, more, error);
    course->result.status = TZ_RUN_NONE;
    course->end = end;
    course->wanted.steps = end - course->start;
    return status;
}

tz_status tz_simulation_end(tz_simulation *simulation, tz_course *course, tz_status status,
                            tz_error *error)
{
    tz_run_result *result = &course->result;
    free(course->sample);
    course->sample = NULL;
    if (status)
        meter(simulation, course);
    if (!isnan(result->energy_j))
        simulation->energy_j += result->energy_j;
    if (!status)
        status = tz_simulation_check_finite(simulation, error);
    if (status)
        result->status = TZ_RUN_NONE;
    else if (!result->status)
        result->status =
            has_checks(course) || course->wanted.until_called ? TZ_RUN_MAX_STEPS : TZ_RUN_DONE;
    simulation->last_run = (tz_run_end){result->status,   result->steps,  result->residual, "",
                                        result->dt_least, result->dt_most};
    memcpy(simulation->last_run.why, result->why, sizeof result->why);
    return status;
}
