/* exhaustive: measures every plan while the run goes on, then uses the best and remembers it.
 *
 * There are three rounds. In the first, every plan gets its setting-up stage and two timed ones (or
 * as many as last TZ_POLICY_GROUP_S). A plan that is DROPPED slower than the best after a timed
 * stage ends there. Plans within SECOND of the best are measured again, plans within THIRD a third
 * time. The shortest time of its rounds counts, since disturbance only makes a stage longer. Noise
 * is the largest difference between the rounds of a finalist, at least NOISE_LEAST. Plans that
 * close to the best are ties.
 *
 * A search that is cut short stores its measurements, and the next run measures the missing
 * plans. */
#include "policy/class.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DROPPED = 0.5, SECOND = 0.20, THIRD = 0.05, NOISE_LEAST = 0.01,
                    NOISE_MOST = 0.05;

enum { ROUNDS = 3 };

static const char SEARCH[] = ""; /* in its key */

typedef struct entrant {
    tz_plan plan;
    double predicted;
    bool estimated;     /* `predicted` is an estimate */
    double least, most; /* of an iteration, over the rounds; NAN: not measured */
    int round;          /* its next one; ROUNDS: none */
    int rounds;         /* done */
    bool remembered;    /* measured by an earlier run only */
    bool measured;      /* in this run */
    tz_policy_trial trial;
    char note[64];
} entrant;

typedef struct exhaustive {
    entrant *entrants;
    int count, round, now; /* now: the entrant being measured; -1: none */
    int best;              /* so far; -1: none */
    bool settled;
    int remembered; /* plans with a time from an earlier run */
    int ties;
    double noise;
    int short_stretches;
    char key[TZ_POLICY_KEY_SIZE];
} exhaustive;

/* ---- Beginning ------------------------------------------------------------------------------- */

/* Take over a finished search, if its best plan is still admissible. */
static bool recall_all(tz_policy *policy, exhaustive *e, const tz_policy_memory *memory)
{
    tz_plan plan = memory->plans[memory->best].plan;
    const tz_plan kept = plan;
    bool good =
        tz__policy_complete(&policy->subject, &plan, NULL) == TZ_OK && tz_plan_equal(&plan, &kept);
    e->entrants = good ? calloc((size_t)memory->count, sizeof *e->entrants) : NULL;
    good = e->entrants != NULL;
    for (int i = 0; good && i < memory->count; i++) {
        const tz_policy_measurement *m = &memory->plans[i];
        e->entrants[i] = (entrant){.plan = m->plan,
                                   .predicted = NAN,
                                   .least = m->time_s,
                                   .most = m->time_s,
                                   .round = ROUNDS,
                                   .rounds = m->rounds,
                                   .remembered = !isnan(m->time_s)};
        e->remembered += e->entrants[i].remembered;
        e->ties += m->tie && i != memory->best;
    }
    e->count = memory->count;
    e->best = memory->best;
    e->noise = memory->noise;
    if (!good)
        return false;
    e->settled = true;
    tz__policy_decide(policy, &plan, e->entrants[e->best].least,
                      "exhaustive: remembered as the best of %d plans measured before, %d tie%s",
                      e->count, e->ties, e->ties == 1 ? "s" : "");
    return true;
}

/* Take over the measurements of a search that was cut short. */
static void recall_part(exhaustive *e, const tz_policy_memory *memory)
{
    for (int i = 0; i < e->count; i++) {
        entrant *x = &e->entrants[i];
        for (int k = 0; k < memory->count && !x->remembered; k++) {
            const tz_policy_measurement *m = &memory->plans[k];
            if (isnan(m->time_s) || !tz_plan_equal(&m->plan, &x->plan))
                continue;
            x->least = x->most = m->time_s;
            x->round = ROUNDS;
            x->rounds = m->rounds > 1 ? m->rounds : 1;
            x->remembered = true;
            e->remembered++;
        }
        if (x->remembered && (e->best < 0 || x->least < e->entrants[e->best].least))
            e->best = i;
    }
}

static int compare_entrants(const void *a, const void *b)
{
    const entrant *x = a, *y = b;
    if (x->predicted < y->predicted || (!isnan(x->predicted) && isnan(y->predicted)))
        return -1;
    if (y->predicted < x->predicted || (!isnan(y->predicted) && isnan(x->predicted)))
        return 1;
    return x->plan.height - y->plan.height;
}

/* Enter all plans, not measured. */
static tz_status enter(tz_policy *policy, exhaustive *e, tz_error *error)
{
    tz_policy_options *list = tz__policy_list(policy, error);
    if (!list)
        return error ? error->code : TZ_MEMORY;
    e->entrants = calloc((size_t)list->count, sizeof *e->entrants);
    if (!e->entrants) {
        free(list);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    }
    e->count = list->count;
    for (int i = 0; i < list->count; i++) {
        e->entrants[i] = (entrant){.plan = list->at[i].plan,
                                   .predicted = list->at[i].time_s,
                                   .estimated = list->at[i].estimated,
                                   .least = NAN,
                                   .most = NAN};
        tz__policy_trial_begin(&e->entrants[i].trial, false,
                               list->at[i].time_s * list->at[i].plan.height);
    }
    free(list);
    /* The fastest predictions first, for runs that are too short to measure all. */
    qsort(e->entrants, (size_t)e->count, sizeof *e->entrants, compare_entrants);
    return TZ_OK;
}

/* ---- Ending ---------------------------------------------------------------------------------- */

static void find_ties(exhaustive *e)
{
    double noise = NOISE_LEAST;
    const double best = e->entrants[e->best].least;
    for (int i = 0; i < e->count; i++) {
        const entrant *x = &e->entrants[i];
        if (x->least <= best * (1 + THIRD) && x->most / x->least - 1 > noise)
            noise = x->most / x->least - 1;
    }
    e->noise = noise < NOISE_MOST ? noise : NOISE_MOST;
    e->ties = 0;
    for (int i = 0; i < e->count; i++)
        e->ties += i != e->best && e->entrants[i].least <= best * (1 + e->noise);
}

static int measured_now(const exhaustive *e)
{
    int count = 0;
    for (int i = 0; i < e->count; i++)
        count += e->entrants[i].measured;
    return count;
}

static void remember(tz_policy *policy, const exhaustive *e)
{
    const tz_policy_memory found = {
        .count = e->count, .best = e->best, .finished = e->settled, .noise = e->noise};
    tz__policy_remember(policy, SEARCH, e->key, &found);
}

static void conclude(tz_policy *policy, exhaustive *e)
{
    e->settled = true;
    e->now = -1;
    if (e->best < 0) {
        tz__policy_decide(policy, &e->entrants[0].plan, NAN,
                          "exhaustive: no plan could be measured: %.60s", e->entrants[0].note);
        return;
    }
    find_ties(e);
    tz__policy_decide(policy, &e->entrants[e->best].plan, e->entrants[e->best].least,
                      "exhaustive: best of %d plans, %d tie%s within %.1f %%", e->count, e->ties,
                      e->ties == 1 ? "s" : "", 100 * e->noise);
    remember(policy, e);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* The next plan of this round whose stage fits; -1: none. */
static int find_waiting(const exhaustive *e, int64_t iterations_left)
{
    for (int i = 0; i < e->count; i++)
        if (e->entrants[i].round == e->round && e->entrants[i].plan.height <= iterations_left)
            return i;
    return -1;
}

/* Go to the next entrant; after the last one to the next round; after the last round to the end. */
static void go_on(tz_policy *policy, exhaustive *e)
{
    static const double margins[ROUNDS] = {0, SECOND, THIRD};
    while (find_waiting(e, INT64_MAX) < 0) {
        if (++e->round == ROUNDS || e->best < 0) {
            conclude(policy, e);
            return;
        }
        int in = 0;
        for (int i = 0; i < e->count; i++) {
            entrant *x = &e->entrants[i];
            if (!(x->least <= e->entrants[e->best].least * (1 + margins[e->round])))
                continue;
            in++;
            if (x->rounds > e->round) /* by an earlier run */
                continue;
            x->round = e->round;
            tz__policy_trial_begin(&x->trial, false, x->least * x->plan.height);
        }
        if (in == 1 && e->round > 1) { /* a single finalist, measured twice */
            conclude(policy, e);
            return;
        }
    }
    e->now = find_waiting(e, policy->stop - policy->step);
    if (e->now < 0) /* too high for this stretch: next() chooses again */
        e->now = find_waiting(e, INT64_MAX);
    policy->plan = e->entrants[e->now].plan;
}

static void exhaustive_record(tz_policy *policy, int64_t stages, int64_t iterations, double seconds)
{
    exhaustive *e = policy->state;
    if (e->settled || e->now < 0)
        return;
    entrant *x = &e->entrants[e->now];
    const bool done = tz__policy_trial_record(&x->trial, stages, iterations, seconds);
    if (x->trial.iterations == 0)
        return;
    const double time = x->trial.seconds / (double)x->trial.iterations;
    if (!done && !(e->best >= 0 && time > (1 + DROPPED) * e->entrants[e->best].least))
        return;
    x->least = x->least <= time ? x->least : time;
    x->most = x->most >= time ? x->most : time;
    x->round = ROUNDS;
    x->rounds = e->round + 1;
    x->remembered = false;
    x->measured = true;
    if (e->best < 0 || x->least < e->entrants[e->best].least)
        e->best = e->now;
    go_on(policy, e);
}

static int64_t exhaustive_stages_to_time(const tz_policy *policy)
{
    const exhaustive *e = policy->state;
    if (e->settled || e->now < 0 || !tz_plan_equal(&policy->plan, &e->entrants[e->now].plan))
        return 0;
    return e->entrants[e->now].trial.stages_to_time;
}

static bool exhaustive_plan_failed(tz_policy *policy, const tz_error *why)
{
    exhaustive *e = policy->state;
    if (e->settled || e->now < 0)
        return false;
    entrant *x = &e->entrants[e->now];
    snprintf(x->note, sizeof x->note, "refused: %.50s", why->message);
    x->round = ROUNDS;
    go_on(policy, e);
    return e->best >= 0 || !e->settled;
}

static tz_status exhaustive_next(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                                 tz_error *error)
{
    exhaustive *e = policy->state;
    (void)error;
    if (e->settled)
        return TZ_OK;
    if (policy->wish.forget && e->key[0]) /* only once a stage really runs */
        tz_policy_memory_forget(e->key);
    policy->wish.forget = false;
    int now = find_waiting(e, iterations_left);
    if (new_stretch) {
        e->short_stretches = now >= 0 ? 0 : e->short_stretches + 1;
        if (e->short_stretches == TZ_POLICY_STRETCHES) {
            for (int i = 0; i < e->count; i++)
                if (e->entrants[i].round == e->round) {
                    e->entrants[i].round = ROUNDS;
                    snprintf(e->entrants[i].note, sizeof e->entrants[i].note,
                             "too few iterations between outputs");
                }
            go_on(policy, e);
            e->short_stretches = 0;
            if (e->settled)
                return TZ_OK;
            now = find_waiting(e, iterations_left);
        }
    }
    if (now >= 0)
        e->now = now;
    /* If the stretch is too short for all waiting entrants, the best so far runs it. */
    policy->plan = e->entrants[now >= 0 ? now : e->best >= 0 ? e->best : e->now].plan;
    snprintf(policy->plan.why, sizeof policy->plan.why, "exhaustive: measures %d plan%s", e->count,
             e->count == 1 ? "" : "s");
    return TZ_OK;
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

static tz_status exhaustive_create(tz_policy *policy, tz_error *error)
{
    exhaustive *e = calloc(1, sizeof *e);
    if (!e)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    policy->state = e;
    e->now = e->best = -1;
    tz__policy_memory_key(policy, SEARCH, e->key);
    tz_policy_memory memory = {.plans = NULL};
    const bool known = !policy->wish.forget && e->key[0] && tz_policy_memory_read(e->key, &memory);
    if (known && memory.finished && recall_all(policy, e, &memory)) {
        tz_policy_memory_clear(&memory);
        return TZ_OK;
    }
    free(e->entrants);
    e->entrants = NULL;
    e->count = e->ties = e->remembered = 0;
    e->best = -1;
    const tz_status status = enter(policy, e, error);
    if (!status && known && !memory.finished)
        recall_part(e, &memory);
    tz_policy_memory_clear(&memory);
    if (status)
        return status;
    e->now = find_waiting(e, INT64_MAX);
    const tz_plan *first = &e->entrants[e->now >= 0 ? e->now : e->best].plan;
    if (e->remembered > 0)
        tz__policy_decide(policy, first, NAN, "exhaustive: measures %d plan%s, %d %s remembered",
                          e->count, e->count == 1 ? "" : "s", e->remembered,
                          e->remembered == 1 ? "is" : "are");
    else
        tz__policy_decide(policy, first, NAN, "exhaustive: measures %d plan%s", e->count,
                          e->count == 1 ? "" : "s");
    if (e->now < 0) /* all are remembered: only later rounds are left */
        go_on(policy, e);
    return TZ_OK;
}

/* The next run continues an unfinished search. */
static void remember_part(const tz_policy *policy, exhaustive *e)
{
    if (!e->settled && e->best >= 0 && measured_now(e) > 0)
        remember((tz_policy *)policy, e);
}

/* What a checkpoint would keep, the memory of plans keeps. */
static json_t *exhaustive_save(const tz_policy *policy)
{
    remember_part(policy, policy->state);
    return json_object();
}

static void exhaustive_destroy(tz_policy *policy)
{
    exhaustive *e = policy->state;
    remember_part(policy, e);
    free(e->entrants);
    free(e);
}

/* ---- Reporting ------------------------------------------------------------------------------- */

static bool exhaustive_measured(const tz_policy *policy, size_t index, tz_policy_measurement *out)
{
    const exhaustive *e = policy->state;
    if (index >= (size_t)e->count)
        return false;
    const entrant *x = &e->entrants[index];
    *out = (tz_policy_measurement){
        .plan = x->plan,
        .time_s = x->least,
        .predicted_s = x->predicted,
        .estimated = x->estimated,
        .rounds = x->rounds,
        .remembered = x->remembered,
        .tie =
            e->settled && e->best >= 0 && x->least <= e->entrants[e->best].least * (1 + e->noise),
    };
    snprintf(out->note, sizeof out->note, "%s", x->note);
    return true;
}

static bool exhaustive_settled(const tz_policy *policy)
{
    return ((const exhaustive *)policy->state)->settled;
}

static void exhaustive_describe(const tz_policy *policy, char *text, size_t size)
{
    const exhaustive *e = policy->state;
    const int now = measured_now(e);
    int measured = 0;
    char before[40] = "";
    for (int i = 0; i < e->count; i++)
        measured += !isnan(e->entrants[i].least);
    if (e->remembered > 0 && !(e->settled && now == 0))
        snprintf(before, sizeof before, ", %d of them before", e->remembered);
    if (e->settled)
        snprintf(text, size,
                 "exhaustive: height %d, %s best of %d plans%s, %d tie%s within %.1f %%",
                 policy->plan.height, now > 0 ? "measured as" : "remembered as", measured, before,
                 e->ties, e->ties == 1 ? "s" : "", 100 * e->noise);
    else if (policy->stop < 0) /* nothing has run yet */
        snprintf(text, size, "exhaustive: measures %d plan%s%s", e->count, e->count == 1 ? "" : "s",
                 before);
    else
        snprintf(text, size, "exhaustive: %d of %d plans measured%s, height %d now", measured,
                 e->count, before, policy->plan.height);
}

const tz_policy_class tz_policy_class_exhaustive = {.name = "exhaustive",
                                                    .create = exhaustive_create,
                                                    .destroy = exhaustive_destroy,
                                                    .next = exhaustive_next,
                                                    .stages_to_time = exhaustive_stages_to_time,
                                                    .record = exhaustive_record,
                                                    .plan_failed = exhaustive_plan_failed,
                                                    .measured = exhaustive_measured,
                                                    .settled = exhaustive_settled,
                                                    .describe = exhaustive_describe,
                                                    .save = exhaustive_save};
