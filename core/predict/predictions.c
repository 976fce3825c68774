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

/* Some plans of each kind are compiled, and the others are estimated from them. Estimates err. So
 * then, as many at a time as there are threads, the plans are compiled whose estimate is within
 * TZ_FIT_MARGIN of the best (TZ_FIT_MARGIN_MANY with many threads). When MOST are compiled for each
 * thread, those counted that were compiled before, or after the watch's budget, only plans are
 * compiled whose estimate is better than the best: a better estimate should not be left
 * unconfirmed. That ends at OVERTIME times MOST and the budget. The choice depends on the number of
 * threads, and on their speed only where there is a budget. */
enum { MOST = 8, MOST_LEAST = 24, MANY_THREADS = 8, OVERTIME = 3, COMPILE_THREADS_MAX = 16 };

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

tz_status tz__check_stopped(const tz_place *place, tz_error *error)
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
    if (!m->watch || !m->watch->compiled || plan->work.estimated)
        return;
    pthread_mutex_lock(&m->watch_lock);
    m->watch->compiled(m->watch->context, plan);
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
        if (tz__check_stopped(m->place, &job->error)) {
            job->status = TZ_INTERRUPTED;
            continue;
        }
        job->error = (tz_error){0};
        job->status = m->backend->work(m->problem, m->place, job->plan, TZ_EFFORT_COMPILE,
                                       &job->work, &job->error);
        tz_predicted_plan plan = {.plan = *job->plan, .work = job->work};
        plan.work.estimated = false;
        if (!job->status && m->watch && !take_time(m, &plan, NULL))
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

static tz_status find_candidates(const maker *m, const tz_plan *given, tz_plan *plans, int *count,
                                 tz_error *error)
{
    *count = 0;
    if (m->listed) {
        *count = m->listed_count < TZ_PREDICTIONS_MAX ? m->listed_count : TZ_PREDICTIONS_MAX;
        memcpy(plans, m->listed, (size_t)*count * sizeof *plans);
        return TZ_OK;
    }
    if (m->backend->candidates)
        return m->backend->candidates(m->problem, m->place, given, plans, TZ_PREDICTIONS_MAX, count,
                                      error);
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

/* The fastest in a long run among the compiled plans, or among the estimated ones; of equals the
 * first; -1: none. `but`: plans to leave out; may be NULL. */
static int find_best(const tz_predictions *predictions, bool estimated, const bool *but)
{
    int best = -1;
    for (int i = 0; i < predictions->count; i++)
        if (predictions->plans[i].work.estimated == estimated && !(but && but[i]) &&
            (best < 0 || tz_power_time(&predictions->plans[i].prediction) <
                             tz_power_time(&predictions->plans[best].prediction)))
            best = i;
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
            tz_predictions_is_preferred(
                &f->plans[i].plan, tz_power_time(&f->plans[i].prediction), &f->plans[taken].plan,
                tz_power_time(&f->plans[best].prediction), f->plans[i].work.kind == TZ_WORK_CPU))
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

/* Estimates the plans that are not compiled from those that are. */
static tz_status estimate(maker *m, bool *refused, tz_error *error)
{
    tz_predictions *f = m->predictions;
    for (int i = 0; i < f->count; i++) {
        tz_error why;
        refused[i] = false;
        if (!f->plans[i].work.estimated)
            continue;
        tz_status one = tz__check_stopped(m->place, &why);
        if (!one)
            one = look_at(m, &f->plans[i], TZ_EFFORT_CACHED, &why);
        if (one == TZ_MEMORY || one == TZ_INTERRUPTED)
            return tz_error_set(error, one, why.place, "%s", why.message);
        if (one)
            note(m, &why);
        refused[i] = one != TZ_OK;
    }
    leave_out(m, refused);
    return TZ_OK;
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

/* Plans of the kind of plan i, and how many of these come before it. Plans are in order of
 * height. */
static int count_kind(const tz_predictions *f, int i, int *before)
{
    int count = 0;
    *before = 0;
    for (int k = 0; k < f->count; k++) {
        const bool same = of_one_kind(&f->plans[i].plan, &f->plans[k].plan);
        count += same;
        *before += same && k < i;
    }
    return count;
}

/* Bytes of code that take minutes to compile and do not fit the instruction cache, and bytes that
 * take several seconds. */
enum { TEXT_LONGEST = 160 << 10, TEXT_LONG = 48 << 10, INSTRUCTION_BYTES = 16, LANES = 32 };
/* Share of a plan's time in which its arithmetic alone could be issued, from which on no other plan
 * will be much faster: plans seldom issue in more than 85 % of the clocks, and a part of that are
 * moves, branches and comparisons. */
#define ARITHMETIC 0.6

/* Instructions of some classes in an update of a compiled plan; INFINITY: not known. */
static double count_instructions(const tz_model_work *work, const int *classes, int count)
{
    double sum = 0.0;
    if (work->estimated || !(work->updates > 0.0))
        return INFINITY;
    for (int k = 0; k < count; k++)
        sum += work->parts[0].step.of[classes[k]];
    return sum / work->updates;
}

/* The expected bytes of the code of plan i's step: as long, for each update, as the shortest in a
 * compiled plan of the same family. Without such a plan, those of the arithmetic alone, since other
 * families have other code around it. 0: nothing is known. */
static double expect_text(const tz_predictions *f, int i)
{
    static const int arithmetic[] = {TZ_WORK_FP32, TZ_WORK_FP64, TZ_WORK_SPECIAL, TZ_WORK_MULTIPLY};
    double same = INFINITY, other = INFINITY;
    for (int k = 0; k < f->count; k++) {
        const tz_model_work *work = &f->plans[k].work;
        const double count = count_instructions(work, arithmetic, 4);
        if (isfinite(count) && strcmp(f->plans[k].plan.family, f->plans[i].plan.family) == 0)
            same = fmin(same, work->parts[0].text_bytes / work->updates);
        other = fmin(other, INSTRUCTION_BYTES * count);
    }
    const double each = isfinite(same) ? same : other;
    return isfinite(each) ? each * f->plans[i].work.updates : 0.0;
}

/* The least time of an iteration: that of the arithmetic alone, in the shortest update of a
 * compiled plan, when all issue slots are busy. 0: nothing is known. */
static double least_time(const maker *m)
{
    static const int arithmetic[] = {TZ_WORK_FP32,    TZ_WORK_FP64,  TZ_WORK_SPECIAL,
                                     TZ_WORK_INTEGER, TZ_WORK_LOGIC, TZ_WORK_MULTIPLY};
    const tz_predictions *f = m->predictions;
    const tz_model_device *d = m->place->device;
    double least_s = INFINITY;
    for (int i = 0; i < f->count; i++) {
        const tz_model_work *work = &f->plans[i].work;
        const double count = count_instructions(work, arithmetic, 6);
        if (isfinite(count))
            least_s =
                fmin(least_s, count * work->cells / work->height / LANES /
                                  (d->issue_rate.value * d->sm_count.value * d->clock_hz.value));
    }
    return isfinite(least_s) ? least_s : 0.0;
}

/* Leaves out the plans that are not compiled and whose code would be too long: longer than
 * TEXT_LONGEST, or longer than TEXT_LONG where arithmetic takes nearly all the time of the best
 * plan. */
static void leave_long_out(maker *m, bool *refused)
{
    tz_predictions *f = m->predictions;
    const int best = find_best(f, false, NULL);
    if (best < 0 || f->plans[best].work.kind != TZ_WORK_GPU)
        return;
    const bool arithmetic = least_time(m) > ARITHMETIC * tz_power_time(&f->plans[best].prediction);
    for (int i = 0; i < f->count; i++) {
        const double text = f->plans[i].work.estimated ? expect_text(f, i) : 0.0;
        refused[i] = text > (arithmetic ? TEXT_LONG : TEXT_LONGEST);
        f->long_count += refused[i];
        tz_error why = {0};
        if (refused[i]) {
            tz_error_set(&why, TZ_RANGE, f->plans[i].plan.family,
                         "the code of height %d would have %.0f KiB", f->plans[i].plan.height,
                         text / 1024);
            note(m, &why);
        }
    }
    leave_out(m, refused);
}

/* Chooses the lowest plan of each kind: it compiles fastest. With `few`, only plans of the lowest
 * height of all whose code has few updates. */
static void choose_lowest(const tz_predictions *f, bool few, bool *wanted)
{
    enum { FEW_UPDATES = 16 };
    int lowest = INT_MAX;
    for (int i = 0; i < f->count; i++)
        lowest = f->plans[i].plan.height < lowest ? f->plans[i].plan.height : lowest;
    for (int i = 0; i < f->count; i++) {
        int before;
        count_kind(f, i, &before);
        wanted[i] = before == 0 && (!few || (f->plans[i].plan.height == lowest &&
                                             f->plans[i].work.updates <= FEW_UPDATES));
    }
}

/* Chooses what estimates need: the lowest two plans of those that differ in height and blocks. */
static void choose_two(const tz_predictions *f, bool *wanted)
{
    for (int i = 0; i < f->count; i++) {
        const tz_plan *plan = &f->plans[i].plan;
        int before = 0;
        for (int k = 0; k < f->count; k++) {
            const tz_plan *other = &f->plans[k].plan;
            const bool lower =
                other->height < plan->height || (other->height == plan->height && k < i);
            before += lower && strcmp(other->family, plan->family) == 0 &&
                      other->vector == plan->vector && other->warps == plan->warps &&
                      other->swap == plan->swap && other->lanes == plan->lanes;
        }
        wanted[i] = before < 2;
    }
}

/* Chooses a second plan of each kind, in the middle; then the others can be estimated. Large
 * kernels take long to compile and spill registers: a kind whose loop would be longer than
 * TEXT_LONG gets a lower one. Of a kind of two plans the second is chosen only if its height is at
 * most 2. */
static void choose_second(const tz_predictions *f, bool *wanted)
{
    enum { FEW = 6 };
    for (int i = 0; i < f->count; i++) {
        int before, first = 0;
        const int count = count_kind(f, i, &before);
        while (!of_one_kind(&f->plans[first].plan, &f->plans[i].plan))
            first++;
        const tz_predicted_plan *lowest = &f->plans[first];
        const double text = lowest->work.estimated ? 0.0 : lowest->work.parts[0].text_bytes;
        int middle = 1, at = 0;
        for (int k = first + 1; k < f->count && count >= FEW; k++)
            if (of_one_kind(&f->plans[k].plan, &lowest->plan) && ++at <= count / 2 &&
                text * f->plans[k].plan.height / lowest->plan.height <= TEXT_LONG)
                middle = at > middle ? at : middle;
        wanted[i] = before == middle && (count > 2 || f->plans[i].plan.height <= 2);
    }
}

/* Chooses the best estimates, at most `most`, and returns their number. */
static int choose_best(const tz_predictions *f, double margin, int most, bool *wanted)
{
    const int best = find_best(f, false, NULL);
    const double limit = best < 0 ? INFINITY : margin * tz_power_time(&f->plans[best].prediction);
    int count = 0;
    memset(wanted, 0, (size_t)f->count * sizeof *wanted);
    for (int next; count < most && (next = find_best(f, true, wanted)) >= 0; count++) {
        if (tz_power_time(&f->plans[next].prediction) > limit)
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
    const int all = f->count;
    const int most = MOST * threads > MOST_LEAST ? MOST * threads : MOST_LEAST;
    const double margin = threads < MANY_THREADS ? TZ_FIT_MARGIN : TZ_FIT_MARGIN_MANY;
    tz_status status = TZ_OK;
    for (int few = 1; few >= 0 && !status; few--) {
        choose_lowest(f, few, wanted);
        status = compile(m, wanted, threads, error);
        leave_long_out(m, wanted);
    }
    if (!status) {
        choose_second(f, wanted);
        status = compile(m, wanted, threads, error);
    }
    for (bool more = true; more && !status;) {
        status = estimate(m, wanted, error);
        const double spent_s = tz_machine_clock_s() - begin;
        const bool any = find_best(f, false, NULL) >= 0;
        const int done = all - count_missing(f);
        const bool over = any && (done >= most || spent_s > budget_s);
        const bool end = any && (done >= OVERTIME * most || spent_s > OVERTIME * budget_s);
        const int left = over ? OVERTIME * most - done : most - done;
        more = !status && !end &&
               choose_best(f, over ? 1.0 : margin, left < threads ? left : threads, wanted) > 0;
        if (more)
            status = compile(m, wanted, threads, error);
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
    } else if (effort == TZ_EFFORT_CACHED) {
        status = confirm(m, wanted, threads, error);
    } else {
        choose_two(f, wanted);
        status = compile(m, wanted, threads, error);
        leave_long_out(m, wanted);
        if (!status)
            status = estimate(m, wanted, error);
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
    for (int i = 0; !status && i < count; i++) {
        tz_error why;
        tz_predicted_plan *next = &f->plans[f->count];
        next->plan = plans[i];
        tz_status one = tz__check_stopped(m->place, &why);
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
    if (estimated >= 0 && (f->best < 0 || tz_power_time(&f->plans[estimated].prediction) <
                                              tz_power_time(&f->plans[f->best].prediction)))
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
