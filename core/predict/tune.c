/* Measures the candidates in several rounds, checks their bits against height 1, and picks the
 * fastest. Called by tz.tune and trapeze tune. */
#include "predict/tune.h"

#include "backend/backend.h"
#include "calibrate/calibrate.h"
#include "model/power.h"
#include "predict/predictions.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_STEPS = 12 };
/* Ratios to the fastest time: plans within CLOSE are measured again; beyond FAR one round is
 * enough. */
static const double CLOSE = 1.05, FAR = 1.5;
/* On a CPU another program on the same core may slow it down for seconds. One round is not enough
 * there: beyond FAR_SHARED half of the rounds are, and the first quartile is the undisturbed
 * time. */
static const double FAR_SHARED = 1.3, QUANTILE_SHARED = 0.25;

/* ---- Which plans ----------------------------------------------------------------------------- */

static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return !list;
}

static tz_status check_families(const char *list, tz_error *error)
{
    char word[64];
    tz_status status = TZ_OK;
    for (const char *at = list; !status && at && *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        status = tz_family_check(word, error);
    }
    return status;
}

static tz_status predict(tz_predictions **out, const tz_workload *workload,
                         const tz_tune_request *request, const tz_plan_list *list, tz_error *error)
{
    tz_predictions_watch watch = request->watch ? *request->watch : (tz_predictions_watch){0};
    if (!request->dry)
        watch.margin = INFINITY;
    return request->lister
               ? tz_predictions_create_listed(out, &workload->problem, workload->backend,
                                              &workload->place, list->plans, list->count, error)
               : tz_predictions_create(out, &workload->problem, workload->backend, &workload->place,
                                       &request->given, TZ_EFFORT_CACHED, &watch, error);
}

static tz_status take_rows(tz_tune *tune, const tz_workload *workload,
                           const tz_tune_request *request, const tz_plan_list *list,
                           tz_error *error)
{
    tz_predictions *predictions = NULL;
    tz_status status = check_families(request->families, error);
    if (!status)
        status = predict(&predictions, workload, request, list, error);
    if (status)
        return status;
    tune->predicting_s = predictions->seconds;
    tune->long_count = predictions->long_count;
    tune->rows = calloc((size_t)predictions->count, sizeof *tune->rows);
    if (!tune->rows)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    for (int i = 0; !status && i < predictions->count; i++)
        if (is_listed(request->families, predictions->plans[i].plan.family))
            tune->rows[tune->count++] =
                (tz_tune_row){.plan = predictions->plans[i].plan,
                              .work = predictions->plans[i].work,
                              .prediction = predictions->plans[i].prediction};
    tz_predictions_destroy(predictions);
    if (!status && tune->count == 0)
        status = tz_error_set(error, TZ_RANGE, "families",
                              "no family of '%s' has a plan for this stencil and grid",
                              request->families);
    return status;
}

/* Marks the rows whose plans are chosen. */
static void mark_chosen(tz_tune *tune, const tz_plan_list *list)
{
    tune->set = (tz_tune_set){
        .shapes = list->listed, .chosen = list->listed_chosen, .best = NAN, .worst = NAN};
    for (int i = 0; i < tune->count; i++)
        for (int k = 0; k < list->count; k++)
            if (memcmp(list->plans[k].tile, tune->rows[i].plan.tile, sizeof list->plans[k].tile) ==
                0)
                tune->rows[i].chosen = list->chosen[k];
}

/* Compares the times of the chosen rows with those of all. */
static void judge_set(tz_tune *tune)
{
    const double best_s = tune->rows[tune->best].measured.taken_s;
    tz_tune_set *set = &tune->set;
    for (int i = 0; i < tune->count; i++) {
        const tz_tune_row *row = &tune->rows[i];
        const double share = best_s / row->measured.taken_s;
        set->measured += row->measured.rounds > 0;
        if (row->measured.rounds == 0 || !row->chosen)
            continue;
        set->measured_chosen++;
        set->best = fmax(set->best, share);
        set->worst = fmin(set->worst, share);
    }
    set->has_best = tune->rows[tune->best].chosen;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct tuner {
    tz_tune *tune;
    const tz_workload *workload;
    const tz_tune_request *request;
    tz_bench *bench;
    int done, of;
    double fastest;          /* seconds an iteration so far */
    const tz_tune_row *warm; /* the row measured last: it needs no warm-up */
} tuner;

static tz_status progress(tuner *t, tz_error *error)
{
    if (t->request->progress && !t->request->progress(t->request->context, t->done, t->of))
        return tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted after %d of %d plans",
                            t->done, t->of);
    t->done += t->done < t->of;
    return TZ_OK;
}

/* If the backend refuses a plan, the row keeps the reason. If the backend itself fails, that is an
 * error. */
static tz_status measure(tuner *t, tz_tune_row *row, int rounds, tz_error *error)
{
    tz_error why;
    if (row->refusal[0])
        return TZ_OK;
    const bool sustained = t->request->sustained;
    const tz_measuring how = {.round_s = t->request->round_s,
                              .warm_s = sustained && t->warm != row ? TZ_TUNE_WARM_S : 0,
                              .rest = sustained || !t->workload->is_gpu ? 0 : TZ_MEASURE_REST,
                              .quantile = t->workload->is_gpu ? 0.5 : QUANTILE_SHARED};
    const tz_status status =
        tz_bench_measure(t->bench, &row->plan, rounds, &how, &row->measured, &why);
    t->warm = row;
    if (status == TZ_OK) {
        t->fastest = fmin(t->fastest, row->measured.taken_s);
        return TZ_OK;
    }
    if (status == TZ_BACKEND || status == TZ_MEMORY)
        return tz_error_set(error, status, why.place, "%s", why.message);
    snprintf(row->refusal, sizeof row->refusal, "%.150s", why.message);
    row->measured.rounds = 0;
    return TZ_OK;
}

/* One round of every plan, then more rounds of those that are not FAR behind. On a CPU, whose speed
 * drifts, plans take turns. */
static tz_status measure_all(tuner *t, tz_error *error)
{
    const bool turns = !t->workload->is_gpu;
    const int rounds = t->request->rounds;
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < t->tune->count; i++) {
        tz_tune_row *row = &t->tune->rows[i];
        status = progress(t, error);
        if (!status)
            status = measure(t, row, 1, error);
        if (!status && !turns && row->measured.rounds > 0 &&
            row->measured.taken_s < FAR * t->fastest)
            status = measure(t, row, rounds - 1, error);
    }
    for (int r = 1; turns && !status && r < rounds; r++)
        for (int i = 0; !status && i < t->tune->count; i++)
            if (t->tune->rows[i].measured.rounds > 0 &&
                (2 * r <= rounds || t->tune->rows[i].measured.taken_s < FAR_SHARED * t->fastest)) {
                status = progress(t, error);
                if (!status)
                    status = measure(t, &t->tune->rows[i], 1, error);
            }
    return status;
}

static int find_fastest(const tz_tune *tune)
{
    int best = -1;
    for (int i = 0; i < tune->count; i++)
        if (tune->rows[i].measured.rounds > 0 &&
            (best < 0 || tune->rows[i].measured.taken_s < tune->rows[best].measured.taken_s))
            best = i;
    return best;
}

double tz_tune_predicted_s(const tz_tune *tune, const tz_tune_row *row)
{
    return tune->sustained ? tz_power_time(&row->prediction) : row->prediction.time_s;
}

static int find_predicted(const tz_tune *tune)
{
    int best = -1;
    for (int i = 0; i < tune->count; i++)
        if (tune->rows[i].measured.rounds > 0 &&
            (best < 0 || tz_tune_predicted_s(tune, &tune->rows[i]) <
                             tz_tune_predicted_s(tune, &tune->rows[best])))
            best = i;
    int taken = best;
    for (int i = 0; best >= 0 && i < tune->count; i++)
        if (tune->rows[i].measured.rounds > 0 &&
            tz_predictions_is_preferred(
                &tune->rows[i].plan, tz_tune_predicted_s(tune, &tune->rows[i]),
                &tune->rows[taken].plan, tz_tune_predicted_s(tune, &tune->rows[best]),
                tune->rows[i].work.kind == TZ_WORK_CPU))
            taken = i;
    return taken;
}

/* The least of many noisy times is too small by chance. So the fastest plans and the predicted one
 * run again, in turns. */
static tz_status run_off(tuner *t, tz_error *error)
{
    const int predicted = find_predicted(t->tune), best = find_fastest(t->tune);
    tz_status status = TZ_OK;
    if (best < 0)
        return TZ_OK;
    const double limit = CLOSE * t->tune->rows[best].measured.taken_s;
    bool *again = calloc((size_t)t->tune->count, sizeof *again);
    if (!again)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    for (int i = 0; i < t->tune->count; i++)
        again[i] = i == predicted || (t->tune->rows[i].measured.rounds > 0 &&
                                      t->tune->rows[i].measured.taken_s <= limit);
    for (int r = 0; !status && r < t->request->rounds; r++)
        for (int i = 0; !status && i < t->tune->count; i++)
            if (again[i])
                status = measure(t, &t->tune->rows[i], 1, error);
    free(again);
    return status;
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* Compares each plan with height 1 after the same number of steps: a multiple of its height. Where
 * random fields have become infinite or NaN by then, nothing is compared. */
static tz_status compare_bits(tuner *t, tz_error *error)
{
    tz_tune *tune = t->tune;
    tz_plan one = {.height = 1};
    uint64_t known[4 * CHECK_STEPS + 1];
    bool has[4 * CHECK_STEPS + 1] = {false}, finite[4 * CHECK_STEPS + 1];
    tz_status status =
        t->workload->backend->plan(&t->workload->problem, &t->workload->place, &one, error);
    for (int i = 0; !status && i < tune->count; i++) {
        tz_tune_row *row = &tune->rows[i];
        const int h = row->plan.height;
        const int steps = (CHECK_STEPS + h - 1) / h * h;
        uint64_t hash;
        bool is_finite;
        if (row->measured.rounds == 0 || steps > 4 * CHECK_STEPS ||
            steps > tz_bench_slabs(t->bench))
            continue;
        if (!has[steps])
            status = tz_bench_hash(t->bench, &one, steps, &known[steps], &finite[steps], error);
        has[steps] = true;
        if (!status && !finite[steps]) {
            tune->not_finite++;
            continue;
        }
        if (!status)
            status = tz_bench_hash(t->bench, &row->plan, steps, &hash, &is_finite, error);
        row->checked = !status;
        row->equal = !status && hash == known[steps];
        tune->different += row->checked && !row->equal;
    }
    return status;
}

/* ---- Results --------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
    const tz_tune_row *x = a, *y = b;
    if (x->plan.height != y->plan.height)
        return x->plan.height < y->plan.height ? -1 : 1;
    const int family = strcmp(x->plan.family, y->plan.family);
    if (family)
        return family;
    return (x->measured.taken_s > y->measured.taken_s) -
           (x->measured.taken_s < y->measured.taken_s);
}

static tz_status conclude(tz_tune *tune, tz_error *error)
{
    double *errors = calloc((size_t)tune->count, sizeof *errors);
    if (!errors)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    qsort(tune->rows, (size_t)tune->count, sizeof *tune->rows, compare_rows);
    for (int i = 0; i < tune->count; i++) {
        const tz_tune_row *row = &tune->rows[i];
        if (row->measured.rounds == 0) {
            tune->refused++;
            continue;
        }
        tune->rounds_with_clock += row->measured.clocks;
        tune->rounds_throttled += row->measured.throttled;
        tune->rounds_for_heat += row->measured.for_heat;
        const double e = tz_tune_predicted_s(tune, row) / row->measured.taken_s - 1;
        tune->error_mean += e;
        errors[tune->measured++] = fabs(e);
    }
    tune->error_mean /= tune->measured > 0 ? tune->measured : 1;
    tune->error_median = tz_quantile(errors, tune->measured, 0.5);
    tune->error_p90 = tz_quantile(errors, tune->measured, 0.9);
    free(errors);
    tune->best = find_fastest(tune);
    tune->predicted = find_predicted(tune);
    if (tune->best < 0)
        return tz_error_set(error, TZ_RANGE, "plan", "every plan was refused; the first: %s",
                            tune->rows[0].refusal);
    tune->share =
        tune->rows[tune->best].measured.taken_s / tune->rows[tune->predicted].measured.taken_s;
    return TZ_OK;
}

static tz_status measure_and_check(tuner *t, tz_error *error)
{
    int highest = 1;
    for (int i = 0; i < t->tune->count; i++)
        if (t->tune->rows[i].plan.height > highest)
            highest = t->tune->rows[i].plan.height;
    bool finite = true;
    tz_status status = tz_bench_create(&t->bench, t->workload, t->request->fields,
                                       t->request->ordinal, highest, t->request->check, error);
    if (!status)
        status = measure_all(t, error);
    if (!status)
        status = run_off(t, error);
    if (!status && t->workload->backend->reduce)
        status = tz_bench_is_finite(t->bench, &finite, error);
    t->tune->infinite = !finite;
    if (!status)
        snprintf(t->tune->clock_refusal, sizeof t->tune->clock_refusal, "%s",
                 tz_bench_clock_refusal(t->bench));
    if (!status && t->request->check)
        status = compare_bits(t, error);
    tz_bench_destroy(t->bench);
    return status;
}

static void stand_in(tz_tune *tune)
{
    for (int i = 0; i < tune->count; i++) {
        const double s = tz_tune_predicted_s(tune, &tune->rows[i]);
        tune->rows[i].measured =
            (tz_measured){.rounds = 1, .round_s = {s}, .taken_s = s, .low_s = s, .high_s = s};
    }
}

tz_status tz_tune_create(tz_tune **out, const tz_workload *workload, const tz_tune_request *request,
                         tz_error *error)
{
    *out = NULL;
    if (!workload->is_here)
        return tz_error_set(error, TZ_UNSUPPORTED, "device",
                            "%s is not this machine's device: nothing can be measured there; "
                            "`trapeze predict` predicts its times",
                            workload->device.name);
    tz_tune *tune = calloc(1, sizeof *tune);
    if (!tune)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    tz_tune_request own = *request;
    tuner t = {.tune = tune, .workload = workload, .request = &own, .fastest = INFINITY};
    if (own.rounds == 0)
        own.rounds = TZ_TUNE_ROUNDS;
    if (own.round_s == 0)
        own.round_s = !workload->is_gpu ? TZ_TUNE_CPU_S
                      : own.sustained   ? TZ_TUNE_SUSTAINED_S
                                        : TZ_TUNE_GPU_S;
    tz_plan_list list = {NULL};
    tz_status status = own.lister ? own.lister->list(workload, &own.given, &list, error) : TZ_OK;
    if (!status)
        status = take_rows(tune, workload, request, &list, error);
    if (!status && own.lister)
        mark_chosen(tune, &list);
    tune->rested = workload->is_gpu && !request->sustained;
    tune->sustained = request->sustained;
    t.of = workload->is_gpu ? tune->count : tune->count * own.rounds;
    if (!status && request->dry)
        stand_in(tune);
    else if (!status)
        status = measure_and_check(&t, error);
    if (!status)
        status = conclude(tune, error);
    if (!status && own.lister)
        judge_set(tune);
    tz_plan_list_clear(&list);
    if (status) {
        tz_tune_destroy(tune);
        return status;
    }
    *out = tune;
    return TZ_OK;
}

void tz_tune_destroy(tz_tune *tune)
{
    if (!tune)
        return;
    free(tune->rows);
    free(tune);
}
