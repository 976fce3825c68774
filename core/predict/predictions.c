/* Predicts all candidates of a backend, and decides which kernels to compile and which plans to
 * estimate. Called by core/policy, prediction_table.c and tune.c. */
#include "predict/predictions.h"

#include "base/machine.h"
#include "base/threads.h"
#include "model/constants.h"
#include "model/power.h"
#include "model/roofs.h"
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All plans are estimated, and the best are compiled, up to BATCH at a time, until none that is
 * left is expected to be better. What a compiled plan takes longer than estimated holds for those
 * near it, too. The choice depends on the number of threads, and on their speed only where there is
 * a budget. */
enum { BATCH = 4, MOST = 24, COMPILE_THREADS_MAX = 16 };

typedef struct maker {
    tz__predict_fn *predict;
    const tz_problem *problem;
    const tz_backend *backend;
    const tz_place *place;
    const tz_plan *listed; /* in place of the backend's candidates; NULL: these */
    int listed_count;
    tz_predictions *predictions;
    double compiling_s;
    tz_error first;                    /* why a plan was left out, the first time */
    const tz_predictions_watch *watch; /* NULL: none */
    pthread_mutex_t watch_lock;
} maker;

/* TZ_INTERRUPTED if place->cancel says so. */
static tz_status check_stopped(const tz_place *place, tz_error *error)
{
    if (!tz_cancelled(&place->cancel))
        return TZ_OK;
    return tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted while plans were predicted");
}

/* ---- Plans and their times ------------------------------------------------------------------- */

static tz_status take_time(const maker *m, tz_predicted_plan *plan, tz_error *error)
{
    const tz_status status = m->predict(&plan->work, m->place->device, &plan->prediction, error);
    /* Without counts yet, the model can only check that the record has its numbers. */
    if (plan->work.estimated && plan->work.cells == 0.0 && status != TZ_UNSUPPORTED)
        return TZ_OK;
    return status;
}

/* ---- Several kernels at once: counting a plan's work compiles its kernel --------------------- */

/* A plan to compile, and the outcome. */
typedef struct compile_job {
    const tz_plan *plan;
    tz_model_work work;
    tz_status status;
    tz_error error;
} compile_job;

typedef struct compilation {
    maker *m;
    compile_job *jobs;
    int count;
    atomic_int next;
} compilation;

static void tell(maker *m, const tz_predicted_plan *plan)
{
    const bool watched = m->watch && m->watch->compiled;
    if (plan->work.estimated || (!watched && !m->place->compiled))
        return;
    pthread_mutex_lock(&m->watch_lock);
    if (watched)
        m->watch->compiled(m->watch->context, plan);
    if (m->place->compiled)
        m->place->compiled(m->place->told);
    pthread_mutex_unlock(&m->watch_lock);
}

/* Takes jobs until none is left. Each job has its own outcome, so the order of threads does not
 * matter. */
static void *compile_next(void *data)
{
    compilation *c = data;
    const maker *m = c->m;
    for (int k; (k = atomic_fetch_add(&c->next, 1)) < c->count;) {
        compile_job *job = &c->jobs[k];
        if (check_stopped(m->place, &job->error)) {
            job->status = TZ_INTERRUPTED;
            continue;
        }
        job->error = (tz_error){0};
        job->status = m->backend->work(m->problem, m->place, job->plan, TZ_EFFORT_COMPILE,
                                       &job->work, &job->error);
        tz_predicted_plan plan = {.plan = *job->plan, .work = job->work};
        plan.work.estimated = false;
        if (!job->status && !take_time(m, &plan, NULL))
            tell(c->m, &plan);
    }
    return NULL;
}

static void compile_all(maker *m, compile_job *jobs, int count, int threads)
{
    compilation c = {m, jobs, count, 0};
    pthread_t others[COMPILE_THREADS_MAX];
    int started = 0;
    /* If a thread cannot be started, the others do its jobs. */
    while (started + 1 < threads && started + 1 < count && started < COMPILE_THREADS_MAX &&
           tz_thread_start(&others[started], compile_next, &c) == 0)
        started++;
    compile_next(&c);
    for (int k = 0; k < started; k++)
        pthread_join(others[k], NULL);
}

/* Work and time of one plan, as far as this effort gives them. */
static tz_status look_at(const maker *m, tz_predicted_plan *plan, tz_effort effort, tz_error *error)
{
    const tz_status status =
        m->backend->work(m->problem, m->place, &plan->plan, effort, &plan->work, error);
    return status ? status : take_time(m, plan, error);
}

/* The heights that divide the run into stages as equal as possible, up to the highest candidate: of
 * families that list only some heights, too. */
static void add_even_heights(const maker *m, const tz_plan *given, tz_plan *plans, int *count)
{
    enum { STAGES_MAX = 16 };
    const int64_t n = m->watch->iterations;
    int64_t highest = 0, last = 0;
    for (int i = 0; i < *count; i++)
        highest = plans[i].height > highest ? plans[i].height : highest;
    for (int64_t stages = 1; stages <= STAGES_MAX; stages++) {
        tz_plan even = *given;
        const int64_t height = (n + stages - 1) / stages;
        if (height > highest || height < 2 || height == last || *count == TZ_PREDICTIONS_MAX)
            continue;
        even.height = (int)(last = height);
        const int known = *count;
        tz_plan *more = plans + known;
        int found = 0;
        /* A backend that refuses this height has others. */
        if (m->backend->candidates(m->problem, m->place, &even, more, TZ_PREDICTIONS_MAX - known,
                                   &found, NULL))
            found = 0;
        for (int k = 0; k < found; k++) {
            const tz_plan plan = more[k];
            int i = 0;
            while (i < known && !tz_plan_equal(&plans[i], &plan))
                i++;
            if (i == known)
                plans[(*count)++] = plan;
        }
    }
}

static tz_status find_candidates(const maker *m, const tz_plan *given, tz_plan *plans, int *count,
                                 tz_error *error)
{
    *count = 0;
    if (m->listed) {
        *count = m->listed_count < TZ_PREDICTIONS_MAX ? m->listed_count : TZ_PREDICTIONS_MAX;
        memcpy(plans, m->listed, (size_t)*count * sizeof *plans);
        return TZ_OK;
    }
    if (m->backend->candidates) {
        const tz_status status = m->backend->candidates(m->problem, m->place, given, plans,
                                                        TZ_PREDICTIONS_MAX, count, error);
        if (!status && given->height == 0 && m->watch && m->watch->iterations > 0)
            add_even_heights(m, given, plans, count);
        return status;
    }
    plans[0] = *given;
    *count = 1;
    return m->backend->plan(m->problem, m->place, &plans[0], error);
}

/* Removes refused plans. */
static void leave_out(maker *m, const bool *refused)
{
    tz_predictions *f = m->predictions;
    int kept = 0;
    for (int i = 0; i < f->count; i++)
        if (!refused[i])
            f->plans[kept++] = f->plans[i];
    f->count = kept;
}

static void note(maker *m, const tz_error *why)
{
    if (!m->first.code)
        m->first = *why;
}

/* Plans that differ only in height and its consequences (tile, `ahead`). Those that load nothing
 * ahead have other code, and so have other tiles of the same height. */
static bool of_one_kind(const tz_plan *a, const tz_plan *b)
{
    return strcmp(a->family, b->family) == 0 && a->vector == b->vector && a->warps == b->warps &&
           a->blocks == b->blocks && a->swap == b->swap && a->lanes == b->lanes &&
           (a->ahead == 0) == (b->ahead == 0) &&
           (a->height != b->height || memcmp(a->tile, b->tile, sizeof a->tile) == 0);
}

/* The nearest known heights around `rest`, and their stages. */
typedef struct neighbours {
    int below, above;
    double below_s, above_s;
} neighbours;

static void look_beside(const tz_predictions *f, const tz_plan *plan, int rest, bool of_its_kind,
                        neighbours *n)
{
    for (int k = 0; k < f->count; k++) {
        const tz_predicted_plan *other = &f->plans[k];
        const int height = other->plan.height;
        const double stage_s = height * tz_power_time(&other->prediction);
        if (height == plan->height || strcmp(other->plan.family, plan->family) != 0 ||
            (of_its_kind && !of_one_kind(&other->plan, plan)))
            continue;
        if (height <= rest && (height > n->below || (height == n->below && stage_s < n->below_s))) {
            n->below = height;
            n->below_s = stage_s;
        } else if (height > rest && of_its_kind &&
                   (height < n->above || (height == n->above && stage_s < n->above_s))) {
            n->above = height;
            n->above_s = stage_s;
        }
    }
}

/* Seconds of a stage that plan i cuts short after `rest` iterations: between those of its kind;
 * where none of them is lower, from one of its family. A pass through memory is in each. */
static double rest_time(const tz_predictions *f, int i, int rest)
{
    const tz_predicted_plan *plan = &f->plans[i];
    neighbours n = {.above = plan->plan.height,
                    .above_s = plan->plan.height * tz_power_time(&plan->prediction)};
    look_beside(f, &plan->plan, rest, true, &n);
    if (n.below == 0)
        look_beside(f, &plan->plan, rest, false, &n);
    const double below_s = fmin(n.below_s, n.above_s);
    return below_s + (n.above_s - below_s) * (rest - n.below) / (n.above - n.below);
}

double tz_predictions_time(const tz_predictions *f, int i)
{
    const double time_s = tz_power_time(&f->plans[i].prediction);
    const int height = f->plans[i].plan.height;
    if (f->iterations == 0)
        return time_s;
    if (height > f->iterations)
        return INFINITY;
    const int rest = (int)(f->iterations % height);
    const double whole_s = (double)(f->iterations - rest) * time_s;
    return (whole_s + (rest > 0 ? rest_time(f, i, rest) : 0.0)) / (double)f->iterations;
}

/* The fastest among the compiled plans, or among the estimated ones; of equals the first; -1: none.
 * `but`: plans to leave out; may be NULL. */
static int find_best(const tz_predictions *predictions, bool estimated, const bool *but)
{
    int best = -1;
    double best_s = INFINITY;
    for (int i = 0; i < predictions->count; i++) {
        if (predictions->plans[i].work.estimated != estimated || (but && but[i]))
            continue;
        const double time_s = tz_predictions_time(predictions, i);
        if (best >= 0 && !(time_s < best_s))
            continue;
        best = i;
        best_s = time_s;
    }
    return best;
}

bool tz_predictions_is_preferred(const tz_plan *a, double a_s, const tz_plan *best, double best_s,
                                 bool on_cpu)
{
    if (!on_cpu || a_s > TZ_FIT_ALIKE * best_s)
        return false;
    if (strcmp(a->family, best->family) == 0) {
        const bool planes = a->tile[2] > 1 && best->tile[2] > 1; /* a grid of three dimensions */
        if (planes && a->tile[0] == best->tile[0] && a->tile[1] != best->tile[1])
            return a->tile[1] > best->tile[1];
    }
    return a->height > best->height;
}

static int prefer(const tz_predictions *f, int best)
{
    int taken = best;
    for (int i = 0; best >= 0 && i < f->count; i++)
        if (!f->plans[i].work.estimated &&
            tz_predictions_is_preferred(&f->plans[i].plan, tz_predictions_time(f, i),
                                        &f->plans[taken].plan, tz_predictions_time(f, best),
                                        f->plans[i].work.kind == TZ_WORK_CPU))
            taken = i;
    return taken;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static int count_missing(const tz_predictions *f)
{
    int missing = 0;
    for (int i = 0; i < f->count; i++)
        missing += f->plans[i].work.estimated;
    return missing;
}

/* Compiles wanted plans that are not compiled yet, high ones first, because they take longest.
 * Marks plans that cannot be compiled as refused. */
static tz_status compile_wanted(maker *m, const bool *wanted, int threads, bool *refused,
                                tz_error *error)
{
    tz_predictions *f = m->predictions;
    const double begin = tz_machine_clock_s();
    int highest = 0, count = 0;
    compile_job *jobs = calloc((size_t)f->count + 1, sizeof *jobs);
    int *at = calloc((size_t)f->count + 1, sizeof *at);
    tz_status status = TZ_OK;
    if (!jobs || !at)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    for (int i = 0; i < f->count; i++)
        highest = f->plans[i].plan.height > highest ? f->plans[i].plan.height : highest;
    for (int h = highest; !status && h >= 0; h--)
        for (int i = 0; i < f->count; i++)
            if (wanted[i] && f->plans[i].work.estimated && f->plans[i].plan.height == h) {
                jobs[count].plan = &f->plans[i].plan;
                at[count++] = i;
            }
    if (!status)
        compile_all(m, jobs, count, threads);
    m->compiling_s += tz_machine_clock_s() - begin;
    for (int k = 0; !status && k < count; k++) {
        tz_predicted_plan *plan = &f->plans[at[k]];
        plan->work = jobs[k].work;
        plan->work.estimated = false;
        if (!jobs[k].status)
            jobs[k].status = take_time(m, plan, &jobs[k].error);
        if (jobs[k].status == TZ_MEMORY || jobs[k].status == TZ_INTERRUPTED)
            status = tz_error_set(error, jobs[k].status, jobs[k].error.place, "%s",
                                  jobs[k].error.message);
        refused[at[k]] = jobs[k].status != TZ_OK;
        if (jobs[k].status)
            note(m, &jobs[k].error);
    }
    free(at);
    free(jobs);
    return status;
}

/* Gives a compiled plan whose loop is too long for an instruction cache a kernel with shorter code,
 * which is not compiled yet. False: it keeps its own. */
static bool shorten(const maker *m, tz_predicted_plan *plan)
{
    double bytes = plan->work.parts_count > 0 ? plan->work.parts[0].loop_bytes : 0.0;
    if (!m->backend->shorten || plan->work.estimated || plan->work.kind != TZ_WORK_GPU ||
        !m->backend->shorten(m->problem, m->place, &bytes, &plan->plan))
        return false;
    plan->work.estimated = true;
    return true;
}

/* Compiles wanted plans. Those whose code is too long are compiled again with shorter code, and
 * keep it if it is predicted to be faster. Removes plans that cannot be compiled. */
static tz_status compile(maker *m, const bool *wanted, int threads, tz_error *error)
{
    tz_predictions *f = m->predictions;
    bool *refused = calloc((size_t)f->count + 1, sizeof *refused);
    bool *again = calloc((size_t)f->count + 1, sizeof *again);
    tz_predicted_plan *longer = calloc((size_t)f->count + 1, sizeof *longer);
    tz_status status = TZ_OK;
    if (!refused || !again || !longer)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    if (!status)
        status = compile_wanted(m, wanted, threads, refused, error);
    for (int i = 0; !status && i < f->count; i++) {
        longer[i] = f->plans[i];
        again[i] = wanted[i] && !refused[i] && shorten(m, &f->plans[i]);
    }
    if (!status)
        status = compile_wanted(m, again, threads, refused, error);
    for (int i = 0; !status && i < f->count; i++)
        if (again[i] && (refused[i] || tz_power_time(&f->plans[i].prediction) >
                                           tz_power_time(&longer[i].prediction))) {
            f->plans[i] = longer[i];
            refused[i] = false;
        }
    if (!status)
        leave_out(m, refused);
    free(longer);
    free(again);
    free(refused);
    return status;
}

/* Bytes of code that take minutes to compile and do not fit the instruction cache. */
enum { TEXT_LONGEST = 160 << 10 };

/* Does estimated work say that the code would be that long? */
static bool is_long(const tz_model_work *work)
{
    return work->kind == TZ_WORK_GPU && work->parts_count > 0 &&
           work->parts[0].text_bytes > TEXT_LONGEST;
}

static void leave_long_out(maker *m, bool *refused)
{
    tz_predictions *f = m->predictions;
    for (int i = 0; i < f->count; i++) {
        const tz_model_work *work = &f->plans[i].work;
        tz_error why = {0};
        refused[i] = work->estimated && is_long(work);
        f->long_count += refused[i];
        if (!refused[i])
            continue;
        tz_error_set(&why, TZ_RANGE, f->plans[i].plan.family,
                     "the code of height %d would have %.0f KiB", f->plans[i].plan.height,
                     work->parts[0].text_bytes / 1024);
        note(m, &why);
    }
    leave_out(m, refused);
}

/* Estimates all plans, also those that are compiled: what these take longer holds for others. */
static tz_status estimate(maker *m, bool *refused, tz_error *error)
{
    tz_predictions *f = m->predictions;
    for (int i = 0; i < f->count; i++) {
        tz_error why;
        tz_predicted_plan *plan = &f->plans[i], made = *plan;
        tz_status one = check_stopped(m->place, &why);
        if (!one)
            one = look_at(m, &made, TZ_EFFORT_ESTIMATE, &why);
        if (one == TZ_MEMORY || one == TZ_INTERRUPTED)
            return tz_error_set(error, one, why.place, "%s", why.message);
        if (one)
            note(m, &why);
        refused[i] = one != TZ_OK && plan->work.estimated;
        made.estimate_s = one ? 0.0 : tz_power_time(&made.prediction);
        plan->estimate_s = made.estimate_s;
        if (plan->work.estimated)
            *plan = made;
    }
    leave_out(m, refused);
    leave_long_out(m, refused);
    return TZ_OK;
}

/* How much longer plan i is expected to take than estimated: as long as the nearest compiled plan
 * of its family. A plan far away, or a higher one that spills registers, says only that it may be
 * within TZ_FIT_ESTIMATE_WITHIN; of another family nothing is known but that. */
static double expected_error(const tz_predictions *f, int i)
{
    enum { FAR = 7, OTHER_KIND = 2 }; /* heights; another kind is as far as so many */
    const tz_plan *plan = &f->plans[i].plan;
    double error = 1.0 / TZ_FIT_ESTIMATE_WITHIN;
    int least = INT_MAX;
    for (int k = 0; k < f->count; k++) {
        const tz_predicted_plan *other = &f->plans[k];
        if (other->work.estimated || !(other->estimate_s > 0.0) ||
            strcmp(plan->family, other->plan.family) != 0)
            continue;
        const int above = other->plan.height - plan->height;
        int apart = abs(above) + (of_one_kind(plan, &other->plan) ? 0 : OTHER_KIND);
        double known = tz_power_time(&other->prediction) / other->estimate_s;
        if (apart >= FAR || (above > 0 && other->work.parts[0].spills > TZ_FIT_SPILT_FEW)) {
            apart += INT_MAX / 2;
            known = fmin(fmax(known, 1.0 / TZ_FIT_ESTIMATE_WITHIN), TZ_FIT_ESTIMATE_WITHIN);
        }
        if (apart >= least)
            continue;
        least = apart;
        error = known;
    }
    return error;
}

/* Chooses the plans that are expected to be the best, at most `most` of those expected to take less
 * than `margin` times the best compiled one, and returns their number. */
static int choose_best(const tz_predictions *f, double margin, int most, bool *wanted)
{
    const int best = find_best(f, false, NULL);
    const double limit_s = best < 0 ? INFINITY : margin * tz_predictions_time(f, best);
    int count = 0;
    memset(wanted, 0, (size_t)f->count * sizeof *wanted);
    for (; count < most; count++) {
        double least_s = limit_s;
        int next = -1;
        for (int i = 0; i < f->count; i++) {
            const tz_predicted_plan *plan = &f->plans[i];
            const double share = tz_predictions_time(f, i) / tz_power_time(&plan->prediction);
            const double expected_s = plan->estimate_s * expected_error(f, i) * share;
            if (!plan->work.estimated || wanted[i] || !(expected_s < least_s))
                continue;
            least_s = expected_s;
            next = i;
        }
        if (next < 0)
            break;
        wanted[next] = true;
    }
    return count;
}

/* Compiles the plans that may be best. `wanted`: room. */
static tz_status confirm(maker *m, bool *wanted, int threads, tz_error *error)
{
    tz_predictions *f = m->predictions;
    const double begin = tz_machine_clock_s();
    const double budget_s = m->watch && m->watch->budget_s > 0 ? m->watch->budget_s : INFINITY;
    const double margin = m->watch && m->watch->margin > 0.0 ? m->watch->margin : 1.0;
    const bool all = isinf(margin);
    const int batch = all ? f->count : threads < BATCH ? threads : BATCH;
    tz_status status = TZ_OK;
    for (int done = 0, count = 1; !status && count > 0 && (all || done < MOST); done += count) {
        const bool over = tz_machine_clock_s() - begin > budget_s;
        count = over && find_best(f, false, NULL) >= 0 ? 0 : choose_best(f, margin, batch, wanted);
        if (count > 0)
            status = compile(m, wanted, threads, error);
    }
    return status;
}

/* The times of plans that are not compiled, as expected from those that are. */
static void correct(tz_predictions *f)
{
    for (int i = 0; i < f->count; i++) {
        tz_model_prediction *p = &f->plans[i].prediction;
        const double error = expected_error(f, i);
        if (!f->plans[i].work.estimated)
            continue;
        p->time_s *= error;
        p->stage_s *= error;
        p->sustained_s *= error;
    }
}

/* The base family's kernel is compiled: estimates need it. */
static tz_status find_base(maker *m, tz_error *error)
{
    tz_predictions *f = m->predictions;
    tz_status status = TZ_OK;
    for (int i = 0; m->backend->base_family && !status && i < f->count; i++) {
        tz_predicted_plan known = f->plans[i];
        if (!known.work.estimated || strcmp(known.plan.family, m->backend->base_family) != 0)
            continue;
        status = look_at(m, &known, TZ_EFFORT_KNOWN, error);
        if (status || known.work.estimated)
            continue;
        f->plans[i] = known;
        tell(m, &known);
    }
    return status;
}

/* Compiles and estimates what this effort asks for. */
static tz_status find_missing(maker *m, tz_effort effort, tz_error *error)
{
    tz_predictions *f = m->predictions;
    const int given = m->place->threads;
    const int threads = given < 1 ? 1 : given > COMPILE_THREADS_MAX ? COMPILE_THREADS_MAX : given;
    bool *wanted = calloc((size_t)f->count + 1, sizeof *wanted);
    if (!wanted)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    tz_status status = TZ_OK;
    if (effort == TZ_EFFORT_COMPILE) {
        for (int i = 0; i < f->count; i++)
            wanted[i] = true;
        status = compile(m, wanted, threads, error);
    } else {
        status = estimate(m, wanted, error);
        if (!status)
            status = find_base(m, error);
        if (!status && effort == TZ_EFFORT_CACHED)
            status = confirm(m, wanted, threads, error);
        correct(f);
    }
    free(wanted);
    return status;
}

/* The same of a plan that was compiled before. If its shorter code is not compiled yet, it is a
 * plan that is not compiled. */
static tz_status look_for_shorter(const maker *m, tz_predicted_plan *plan, tz_error *error)
{
    const tz_predicted_plan longer = *plan;
    if (!shorten(m, plan))
        return TZ_OK;
    const tz_status status = look_at(m, plan, TZ_EFFORT_KNOWN, error);
    if (status == TZ_OK && !plan->work.estimated &&
        tz_power_time(&plan->prediction) > tz_power_time(&longer.prediction))
        *plan = longer;
    return status;
}

static tz_status make(maker *m, const tz_plan *given, tz_effort effort, tz_error *error)
{
    tz_predictions *f = m->predictions;
    tz_plan *plans = calloc(TZ_PREDICTIONS_MAX, sizeof *plans);
    int count = 0;
    if (!plans)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    tz_status status = find_candidates(m, given, plans, &count, error);
    if (!status && count > 0 && !(f->plans = calloc((size_t)count, sizeof *f->plans)))
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    for (int i = 0; !status && i < count && m->watch; i++)
        if (plans[i].height <= m->watch->iterations) /* else all are given a greater height */
            f->iterations = m->watch->iterations;
    for (int i = 0; !status && i < count; i++) {
        tz_error why;
        tz_predicted_plan *next = &f->plans[f->count];
        next->plan = plans[i];
        tz_status one = check_stopped(m->place, &why);
        if (!one)
            one = look_at(m, next, TZ_EFFORT_KNOWN, &why);
        if (one == TZ_OK)
            one = look_for_shorter(m, next, &why);
        if (one == TZ_OK) {
            tell(m, next);
            f->count++;
        } else if (one == TZ_MEMORY || one == TZ_INTERRUPTED)
            status = tz_error_set(error, one, why.place, "%s", why.message);
        else
            note(m, &why);
    }
    free(plans);
    if (!status && count_missing(f) > 0)
        status = find_missing(m, effort, error);
    if (status)
        return status;
    f->best = prefer(f, find_best(f, false, NULL));
    const int estimated = effort == TZ_EFFORT_KNOWN ? find_best(f, true, NULL) : -1;
    if (estimated >= 0 &&
        (f->best < 0 || tz_predictions_time(f, estimated) < tz_predictions_time(f, f->best)))
        f->best = estimated;
    if (f->best >= 0)
        return TZ_OK;
    if (!m->first.code)
        return tz_error_set(error, TZ_RANGE, "plan",
                            "no plan of the %s backend takes '%s' on this grid as given",
                            m->backend->name, m->problem->stencil->id);
    if (error)
        *error = m->first;
    return m->first.code;
}

static tz_status create(tz_predictions **out, maker *m, const tz_plan *given, tz_effort effort,
                        tz_error *error)
{
    *out = NULL;
    if (!m->backend->work)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "the %s backend cannot count the work of its plans, which "
                            "predictions need",
                            m->backend->name);
    if (!m->place->device)
        return tz_error_set(error, TZ_UNSUPPORTED, "device",
                            "there is no record of the device: run `trapeze calibrate`");
    const double begin = tz_machine_clock_s();
    m->predictions = calloc(1, sizeof *m->predictions);
    if (!m->predictions)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    const tz_status status = make(m, given, effort, error);
    if (status) {
        tz_predictions_destroy(m->predictions);
        return status;
    }
    const tz_predicted_plan *best = &m->predictions->plans[m->predictions->best];
    const tz_model_prediction *p = &best->prediction;
    const size_t used = (size_t)snprintf(m->predictions->reason, sizeof m->predictions->reason,
                                         "h %d: %.110s", best->plan.height, p->limit_text);
    if (p->sustained_s > p->time_s)
        snprintf(m->predictions->reason + used, sizeof m->predictions->reason - used,
                 "; %.0f W: held to %.3g GHz", p->power_w, p->sustained_hz * 1e-9);
    m->predictions->seconds = tz_machine_clock_s() - begin - m->compiling_s;
    *out = m->predictions;
    return TZ_OK;
}

tz_status tz__predictions_create_by(tz_predictions **out, tz__predict_fn *predict,
                                    const tz_problem *problem, const tz_backend *backend,
                                    const tz_place *place, const tz_plan *given, tz_effort effort,
                                    const tz_predictions_watch *watch, tz_error *error)
{
    maker m = {.predict = predict,
               .problem = problem,
               .backend = backend,
               .place = place,
               .watch = watch,
               .watch_lock = PTHREAD_MUTEX_INITIALIZER};
    return create(out, &m, given, effort, error);
}

tz_status tz_predictions_create_listed(tz_predictions **out, const tz_problem *problem,
                                       const tz_backend *backend, const tz_place *place,
                                       const tz_plan *plans, int count, tz_error *error)
{
    maker m = {.predict = tz_roofs_predict,
               .problem = problem,
               .backend = backend,
               .place = place,
               .listed = plans,
               .listed_count = count};
    return create(out, &m, NULL, TZ_EFFORT_COMPILE, error);
}

tz_status tz_predictions_create(tz_predictions **out, const tz_problem *problem,
                                const tz_backend *backend, const tz_place *place,
                                const tz_plan *given, tz_effort effort,
                                const tz_predictions_watch *watch, tz_error *error)
{
    return tz__predictions_create_by(out, tz_roofs_predict, problem, backend, place, given, effort,
                                     watch, error);
}

void tz_predictions_destroy(tz_predictions *predictions)
{
    if (!predictions)
        return;
    free(predictions->plans);
    free(predictions);
}
