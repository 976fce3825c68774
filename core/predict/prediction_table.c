/* Builds a prediction table: chooses the predictor, sorts the rows, compares with one device, and
 * writes the reasons. Called by tz.predict and by trapeze predict and explain. */
#include "predict/prediction_table.h"

#include "model/power.h"
#include "model/roofs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those that need no compiled kernel, and whose numbers the record has: "a or b". */
static void name_others(const tz_model_device *device, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; tz_predictors[i] && used < size; i++)
        if (tz_predictors[i]->gpu_alone && !tz_predictors[i]->measure &&
            tz_model_device_check(device, tz_predictors[i]->name, tz_predictors[i]->model->needs,
                                  NULL, NULL) == TZ_OK)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used ? " or " : ": use --model ", tz_predictors[i]->name);
}

static tz_status check_roofs(const tz_workload *workload, tz_error *error)
{
    const tz_model_device *device = &workload->device;
    char others[128];
    if (!workload->is_gpu || device->compute_capability.known)
        return TZ_OK;
    name_others(device, others, sizeof others);
    return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                        "%s needs compiled kernels, and the record %s has no compute_capability to "
                        "compile for%s%s",
                        tz_predictor_roofs.name, device->name, others,
                        others[0] ? "" : tz_predictors_left_out);
}

/* TZ_UNSUPPORTED: it cannot predict for this device; the message says why. */
static tz_status check_device(const tz_workload *workload, const tz_predictor *by, tz_error *error)
{
    const tz_model_device *device = &workload->device;
    if (by->gpu_alone && !workload->is_gpu)
        return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                            "%s describes GPUs; %s is a CPU: use --model %s", by->name,
                            device->name, tz_predictor_roofs.name);
    const tz_status status = by->check ? by->check(workload, error) : TZ_OK;
    return status || !by->model
               ? status
               : tz_model_device_check(device, by->name, by->model->needs, NULL, error);
}

/* The given predictor; else roofs; else the first with times whose numbers the device's record
 * has. */
static tz_status choose(const tz_workload *workload, const tz_predictor **by, tz_error *error)
{
    if (*by)
        return check_device(workload, *by, error);
    *by = &tz_predictor_roofs;
    const tz_status status = check_device(workload, *by, error);
    for (int i = 0; status && tz_predictors[i]; i++)
        if (tz_predictors[i]->model && check_device(workload, tz_predictors[i], NULL) == TZ_OK) {
            *by = tz_predictors[i];
            return TZ_OK;
        }
    return status;
}

static tz_status check_request(const tz_workload *workload, const tz_predictor *by,
                               const tz_prediction_request *request, tz_error *error)
{
    if (by->gpu_alone && workload->place.devices)
        return tz_error_set(error, TZ_UNSUPPORTED, "model",
                            "%s describes one device: use %s for several", by->name,
                            tz_predictor_roofs.name);
    if (request->steps > 0 && by != &tz_predictor_roofs)
        return tz_error_set(error, TZ_UNSUPPORTED, "model",
                            "%s predicts long runs: steps go with %s", by->name,
                            tz_predictor_roofs.name);
    for (int i = 0; tz_predictor_options[i].name; i++)
        if ((request->options & ~by->options) >> i & 1 && tz_predictor_options[i].refusal)
            return tz_error_set(error, TZ_UNSUPPORTED, "model", "%s %s", by->name,
                                tz_predictor_options[i].refusal);
    return TZ_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b)
{
    const tz_prediction_row *x = a, *y = b;
    if (x->plan.height != y->plan.height)
        return x->plan.height < y->plan.height ? -1 : 1;
    const int family = strcmp(x->plan.family, y->plan.family);
    if (family)
        return family;
    return (x->prediction.time_s > y->prediction.time_s) -
           (x->prediction.time_s < y->prediction.time_s);
}

static tz_effort effort_of(const tz_prediction_request *request)
{
    return request->compile ? TZ_EFFORT_COMPILE
           : request->quick ? TZ_EFFORT_KNOWN
                            : TZ_EFFORT_CACHED;
}

static tz_status rows_of_predictions(tz_prediction_table *table, const tz_workload *workload,
                                     const tz_prediction_request *request, tz_error *error)
{
    tz_plan given = request->given;
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (request->block[axis] > 0)
            given.tile[axis] = (int64_t)request->block[axis];
    tz_predictions_watch watch = {0};
    if (request->watch)
        watch = *request->watch;
    watch.iterations = request->steps;
    tz_status status =
        tz_predictions_create(&table->predictions, &workload->problem, workload->backend,
                              &workload->place, &given, effort_of(request), &watch, error);
    if (status)
        return status;
    const tz_predictions *f = table->predictions;
    table->rows = calloc((size_t)f->count, sizeof *table->rows);
    if (!table->rows)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    for (int i = 0; i < f->count; i++) {
        const double run_s = (double)f->iterations * tz_predictions_time(f, i);
        table->rows[i] = (tz_prediction_row){f->plans[i].plan, &f->plans[i].work,
                                             f->plans[i].prediction, isfinite(run_s) ? run_s : 0};
    }
    table->considered = table->count = f->count;
    table->seconds = f->seconds;
    qsort(table->rows, (size_t)table->count, sizeof *table->rows, compare_rows);
    /* Keep the best row of each family and height. The best prediction replaces an estimate that is
     * faster than it. */
    const tz_predicted_plan *best = &f->plans[f->best];
    int kept = 0;
    for (int i = 0; i < table->count; i++) {
        const tz_prediction_row *row = &table->rows[i];
        const bool is_best = row->work == &best->work;
        const bool same = kept > 0 && table->rows[kept - 1].plan.height == row->plan.height &&
                          strcmp(table->rows[kept - 1].plan.family, row->plan.family) == 0;
        if (same && !request->all) {
            if (is_best)
                table->rows[kept - 1] = *row;
        } else {
            table->rows[kept++] = *row;
        }
    }
    table->count = kept;
    for (int i = 0; i < kept; i++)
        if (table->rows[i].work == &best->work)
            table->best = i;
    return TZ_OK;
}

const tz_predictor tz_predictor_roofs = {
    .name = "roofs", .model = &tz_model_roofs, .check = check_roofs, .make = rows_of_predictions};

/* ---- From which grid on more devices gain ---------------------------------------------------- */

/* Grids from the workload's divided by 2 ^ LADDER to it times 2 ^ LADDER. */
enum { LADDER = 10 };
static const double GAIN = 0.95, CELLS_MOST = 1e12;

/* The workload's grid times 2 ^ power along each axis. False: too small or too large. */
static bool scale_grid(const tz_problem *problem, int power, tz_problem *out)
{
    double cells = 1.0;
    *out = *problem;
    for (int axis = 0; axis < problem->dims; axis++) {
        const double n = ldexp((double)problem->extent[axis], power);
        const double word = axis == 0 && problem->bits ? 32.0 : 1.0;
        cells *= n;
        if (n < word || n > INT32_MAX || cells > CELLS_MOST)
            return false;
        out->extent[axis] = (int64_t)n;
        out->elements[axis] = (int64_t)ceil((double)out->extent[axis] / word);
    }
    return true;
}

/* The shortest time of an iteration on so many devices; INFINITY: none of the plans can be
 * predicted. */
static double shortest(const tz_workload *workload, const tz_problem *problem, int devices,
                       const tz_plan *plan)
{
    tz_devices some = workload->devices;
    tz_place place = workload->place;
    const tz_backend *backend = devices > 1 ? workload->backend : workload->inner;
    double least = INFINITY;
    some.count = devices;
    place.devices = devices > 1 ? &some : NULL;
    for (int height = 1; height <= 2 * plan->height; height *= 2) {
        tz_plan own = {.height = height,
                       .vector = plan->vector,
                       .ahead = 0,
                       .warps = plan->warps,
                       .blocks = plan->blocks,
                       .lanes = plan->lanes,
                       .swap = plan->swap};
        tz_model_work work;
        tz_model_prediction prediction;
        memcpy(own.family, plan->family, sizeof own.family);
        if (backend->plan(problem, &place, &own, NULL) == TZ_OK &&
            backend->work(problem, &place, &own, TZ_EFFORT_CACHED, &work, NULL) == TZ_OK &&
            tz_roofs_predict(&work, &workload->device, &prediction, NULL) == TZ_OK)
            least = fmin(least, prediction.time_s);
    }
    return least;
}

void tz_scaling_find(const tz_workload *workload, const tz_plan *plan, tz_scaling *out)
{
    /* Slabs on one CPU share its threads: fewer of them are no smaller machine. */
    const bool alike = workload->is_gpu || workload->devices.apart;
    const int most = alike ? workload->devices.count : 0;
    *out = (tz_scaling){.count = 0};
    for (int half = 1; half < most && out->count < TZ_SCALING_MAX; half *= 2) {
        const int devices = 2 * half < most ? 2 * half : most;
        const int at = out->count++;
        out->at[at].devices = devices;
        for (int power = -LADDER; power <= LADDER; power++) {
            tz_problem problem;
            if (!scale_grid(&workload->problem, power, &problem))
                continue;
            double fewer_s = INFINITY;
            for (int fewer = half; fewer >= 1; fewer /= 2)
                fewer_s = fmin(fewer_s, shortest(workload, &problem, fewer, plan));
            if (shortest(workload, &problem, devices, plan) < GAIN * fewer_s) {
                memcpy(out->at[at].extent, problem.extent, sizeof out->at[at].extent);
                break;
            }
        }
    }
}

/* ---- Several devices ------------------------------------------------------------------------- */

double tz_prediction_exchange_share(const tz_model_prediction *prediction)
{
    for (int c = 0; c < prediction->component_count; c++)
        if (strcmp(prediction->components[c].name, "exchange") == 0)
            return prediction->components[c].seconds / prediction->time_s;
    return 0.0;
}

double tz_prediction_efficiency(const tz_prediction_table *table, const tz_prediction_row *row)
{
    return table->alone_s / (table->devices * row->prediction.time_s);
}

/* What one device would take, and where more gain. */
static tz_status compare_with_one(tz_prediction_table *table, const tz_workload *workload,
                                  const tz_prediction_request *request, tz_error *error)
{
    tz_predictions *alone = NULL;
    tz_workload *one = malloc(sizeof *one);
    tz_plan given = request->given;
    given.exchange = 0;
    if (!one)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    tz_workload_alone(workload, one);
    tz_status status = tz_predictions_create(&alone, &one->problem, one->backend, &one->place,
                                             &given, effort_of(request), request->watch, error);
    if (!status) {
        table->alone_s = alone->plans[alone->best].prediction.time_s;
        table->devices = tz_workload_devices(workload);
        tz_scaling_find(workload, &table->rows[table->best].plan, &table->scaling);
    }
    tz_predictions_destroy(alone);
    free(one);
    return status;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

const tz_prediction_row *tz_prediction_table_at(const tz_prediction_table *table, int height)
{
    const tz_prediction_row *best = NULL;
    for (int i = 0; i < table->count; i++) {
        const tz_prediction_row *row = &table->rows[i];
        if (row->plan.height == height &&
            (!best || row->prediction.time_s < best->prediction.time_s))
            best = row;
    }
    return best;
}

/* "memory-bound up to h = 4, then computation-bound": of the best plan of each height. After some
 * changes: "by turns". */
enum { CHANGES_MOST = 3 };
static void write_limits(tz_prediction_table *table)
{
    char *text = table->limits;
    size_t used = 0;
    const tz_prediction_row *last = NULL;
    int changes = 0;
    for (int i = 0; i < table->count && used < sizeof table->limits; i++) {
        const int h = table->rows[i].plan.height;
        if (i > 0 && table->rows[i - 1].plan.height == h)
            continue;
        const tz_prediction_row *row = tz_prediction_table_at(table, h);
        if (last && last->prediction.limit == row->prediction.limit) {
            last = row;
            continue;
        }
        if (last)
            used += (size_t)snprintf(text + used, sizeof table->limits - used,
                                     " up to h = %d, then ", last->plan.height);
        changes += last != NULL;
        if (changes == CHANGES_MOST) {
            snprintf(text + used, sizeof table->limits - used, "by turns");
            return;
        }
        if (used < sizeof table->limits)
            used += (size_t)snprintf(text + used, sizeof table->limits - used, "%s-bound",
                                     tz_model_resource_text(row->prediction.limit));
        last = row;
    }
    if (last && !strstr(text, " up to ") && table->count > 1 && used < sizeof table->limits)
        snprintf(text + used, sizeof table->limits - used, " at every height");
}

void tz_prediction_choice_text(const tz_prediction_row *best, const tz_prediction_row *fast,
                               char *text, size_t size)
{
    const double less = 1 - fast->prediction.time_s / best->prediction.time_s;
    const double in_long_runs =
        tz_power_time(&fast->prediction) / tz_power_time(&best->prediction) - 1;
    char which[64];
    snprintf(which, sizeof which, "%s %d takes %.1f %% less time", fast->plan.family,
             fast->plan.height, 100 * less);
    if (best->run_s > 0 && fast->run_s > best->run_s)
        snprintf(text, size,
                 "%s an iteration, but %.1f %% more for these steps, of which its last stage has "
                 "fewer",
                 which, 100 * (fast->run_s / best->run_s - 1));
    else if (in_long_runs > 0)
        snprintf(text, size,
                 "%s at the full clock, but %.1f %% more in a long run, in which the power limit "
                 "lowers the clock",
                 which, 100 * in_long_runs);
    else if (fast->work && fast->work->estimated)
        snprintf(text, size,
                 "%s, but that is an estimate: its kernel is not compiled (--compile compiles all)",
                 which);
    else
        snprintf(text, size,
                 "%s; of plans that are about as fast on a CPU, the highest is the best", which);
}

/* Why the row of the shortest time is not the best one, if it is not. */
static void write_choice(tz_prediction_table *table)
{
    const tz_prediction_row *best = &table->rows[table->best], *fast = best;
    for (int i = 0; i < table->count; i++)
        if (table->rows[i].prediction.time_s < fast->prediction.time_s)
            fast = &table->rows[i];
    if (fast != best)
        tz_prediction_choice_text(best, fast, table->choice, sizeof table->choice);
}

static void conclude(tz_prediction_table *table, const tz_workload *workload, bool quick)
{
    const tz_prediction_row *best = &table->rows[table->best];
    int estimated = 0;
    for (int i = 0; i < table->count; i++)
        estimated += table->rows[i].work && table->rows[i].work->estimated;
    write_limits(table);
    write_choice(table);
    snprintf(table->why, sizeof table->why, "%s", best->prediction.limit_text);
    table->notes = best->prediction.notes;
    if (workload->link_assumed)
        tz_model_note(
            &table->notes,
            "what exchanges cost (link %s) is partly assumed: `trapeze calibrate` measures "
            "it, or name another with --link",
            workload->link.name);
    if (workload->let_unstable)
        tz_model_note(&table->notes,
                      "with these parameters %s would diverge on this grid; its "
                      "time does not depend on that",
                      workload->problem.stencil->id);
    if (table->predictions && table->predictions->long_count > 0)
        tz_model_note(&table->notes,
                      "%d more plans have long code that takes minutes to compile and is seldom "
                      "faster: they are left out (--compile compiles them)",
                      table->predictions->long_count);
    if (estimated > 0 && quick)
        tz_model_note(&table->notes,
                      "these are estimates: %d of %d rows are not compiled (without --quick those "
                      "that may be best are)",
                      estimated, table->count);
    else if (estimated > 0)
        tz_model_note(&table->notes,
                      "%d of %d rows are not compiled: their registers are estimated (--compile "
                      "compiles them)",
                      estimated, table->count);
}

tz_status tz_prediction_table_create(tz_prediction_table **out, const tz_workload *workload,
                                     const tz_prediction_request *request, tz_error *error)
{
    *out = NULL;
    tz_prediction_table *table = calloc(1, sizeof *table);
    if (!table)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    table->by = request->by;
    tz_status status = choose(workload, &table->by, error);
    if (!status)
        status = check_request(workload, table->by, request, error);
    if (!status)
        status = table->by->make(table, workload, request, error);
    if (!status && table->count > 0 && workload->place.devices)
        status = compare_with_one(table, workload, request, error);
    if (status) {
        tz_prediction_table_destroy(table);
        return status;
    }
    if (table->count > 0)
        conclude(table, workload, request->quick);
    *out = table;
    return TZ_OK;
}

void tz_prediction_table_destroy(tz_prediction_table *table)
{
    if (!table)
        return;
    tz_predictions_destroy(table->predictions);
    if (table->own)
        table->by->clear(table->own);
    free(table->rows);
    free(table);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

tz_status tz_prediction_table_measure(tz_prediction_table *table, const tz_workload *workload,
                                      int ordinal, tz_error *error)
{
    char names[128];
    if (!table->by->measure) {
        tz_predictor_names(tz_predictor_measures, " and ", names, sizeof names);
        return tz_error_set(error, TZ_UNSUPPORTED, "measure", "%s%s%stune measures %s",
                            names[0] ? "only plans of " : "", names,
                            names[0] ? " are measured here; " : "", names[0] ? "others" : "plans");
    }
    if (!workload->is_here)
        return tz_error_set(error, TZ_UNSUPPORTED, workload->device.name,
                            "this device is not in this machine, so nothing can be measured");
    return table->by->measure(table, workload, ordinal, error);
}

double tz_prediction_accuracy(const tz_prediction_table *table)
{
    const double measured = table->measured.taken_s;
    const double predicted = table->rows[table->best].prediction.time_s;
    return fmin(measured, predicted) / fmax(measured, predicted);
}
