#include "predict/prediction_table.h"

#include "base/machine.h"
#include "model/luo2011.h"
#include "model/power.h"
#include "model/roofs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TZ_UNSUPPORTED: the model cannot predict for this device; the message says why. */
static tz_status check_model(const tz_workload *workload, const tz_model *model, tz_error *error)
{
    const tz_model_device *device = &workload->device;
    if (model != &tz_model_roofs && !workload->is_gpu)
        return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                            "%s describes GPUs; %s is a CPU: use --model %s", model->name,
                            device->name, tz_model_roofs.name);
    if (model == &tz_model_roofs && workload->is_gpu && !device->compute_capability.known)
        return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                            "%s needs compiled kernels, and the record %s has no "
                            "compute_capability to compile for: use --model meng2009 or meng2011",
                            model->name, device->name);
    return tz_model_device_check(device, model->name, model->needs, NULL, error);
}

/* The given model; else roofs; else the first model whose numbers the device's record has. */
static tz_status choose_model(const tz_workload *workload, const tz_model **model, tz_error *error)
{
    if (*model)
        return check_model(workload, *model, error);
    *model = &tz_model_roofs;
    const tz_status status = check_model(workload, *model, error);
    for (int i = 0; status && tz_models[i]; i++)
        if (check_model(workload, tz_models[i], NULL) == TZ_OK) {
            *model = tz_models[i];
            return TZ_OK;
        }
    return status;
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

static tz_status rows_of_predictions(tz_prediction_table *table, const tz_workload *workload,
                                     const tz_prediction_request *request, tz_error *error)
{
    tz_plan given = request->given;
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (request->block[axis] > 0)
            given.tile[axis] = (int64_t)request->block[axis];
    tz_status status =
        tz_predictions_create(&table->predictions, &workload->problem, workload->backend,
                              &workload->place, &given, request->effort, error);
    if (status)
        return status;
    const tz_predictions *f = table->predictions;
    table->rows = calloc((size_t)f->count, sizeof *table->rows);
    if (!table->rows)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    for (int i = 0; i < f->count; i++)
        table->rows[i] =
            (tz_prediction_row){f->plans[i].plan, &f->plans[i].work, f->plans[i].prediction};
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

static tz_status rows_of_paper(tz_prediction_table *table, const tz_workload *workload,
                               const tz_prediction_request *request, tz_error *error)
{
    tz_model_facts facts;
    tz_model_plan plan;
    int most = 0;
    if (request->given.family[0] && strcmp(request->given.family, "tile") != 0)
        return tz_error_set(error, TZ_UNSUPPORTED, "family",
                            "%s describes tiles in shared memory, no family '%s'",
                            table->model->name, request->given.family);
    tz_status status = tz_facts_of_workload(workload, request, &facts, &plan, table->counts,
                                            sizeof table->counts, error);
    if (status)
        return status;
    const double begin = tz_machine_clock_s();
    const int given = plan.height;
    plan.height = 0;
    status = tz_model_height_max(table->model, &facts, &workload->device, &plan, &most, error);
    if (status)
        return status;
    if (given > most || most < 1)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d leaves nothing of the block; the greatest that does is %d: "
                            "give a larger --block",
                            given > 0 ? given : 1, most);
    /* 256 heights are enough where no halo bounds the height. */
    const int low = given ? given : 1, high = given ? given : most < 256 ? most : 256;
    table->rows = calloc((size_t)(high - low + 1), sizeof *table->rows);
    if (!table->rows)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    for (int h = low; h <= high; h++) {
        tz_prediction_row *row = &table->rows[table->count++];
        plan.height = h;
        status = tz_model_predict(table->model, &facts, &workload->device, &plan, &row->prediction,
                                  error);
        if (status)
            return status;
        row->plan = (tz_plan){.height = h, .family = "tile"};
        for (int axis = 0; axis < TZ_AXES; axis++)
            row->plan.tile[axis] = (int64_t)row->prediction.block[axis];
        if (row->prediction.time_s < table->rows[table->best].prediction.time_s)
            table->best = table->count - 1;
    }
    table->considered = table->count;
    table->seconds = tz_machine_clock_s() - begin;
    return TZ_OK;
}

static tz_status rows_of_plain(tz_prediction_table *table, const tz_workload *workload,
                               const tz_prediction_request *request, tz_error *error)
{
    const double begin = tz_machine_clock_s();
    table->rows = calloc(1, sizeof *table->rows);
    if (!table->rows)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    const tz_status status = tz_plain_predict(workload, request, &table->plain, table->rows,
                                              table->counts, sizeof table->counts, error);
    table->considered = table->count = 1;
    table->seconds = tz_machine_clock_s() - begin;
    return status;
}

/* The rows of the model that was chosen. */
static tz_status make_rows(tz_prediction_table *table, const tz_workload *workload,
                           const tz_prediction_request *request, tz_error *error)
{
    const bool is_plain = table->model == &tz_model_luo2011;
    if (!is_plain && (request->as_printed || request->trips > 0))
        return tz_error_set(error, TZ_UNSUPPORTED, "model",
                            "%s has no equation to take as printed and follows no loops: that is "
                            "luo2011",
                            table->model->name);
    return is_plain                          ? rows_of_plain(table, workload, request, error)
           : table->model == &tz_model_roofs ? rows_of_predictions(table, workload, request, error)
                                             : rows_of_paper(table, workload, request, error);
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
                                             &given, request->effort, error);
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

/* "memory-bound up to h = 4, then computation-bound": of the best plan of each height. */
static void write_limits(tz_prediction_table *table)
{
    char *text = table->limits;
    size_t used = 0;
    const tz_prediction_row *last = NULL;
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
    if (in_long_runs > 0)
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

static void conclude(tz_prediction_table *table, const tz_workload *workload)
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
    if (estimated > 0)
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
    table->model = request->model;
    tz_status status = choose_model(workload, &table->model, error);
    if (!status && table->model != &tz_model_roofs && workload->place.devices)
        status = tz_error_set(error, TZ_UNSUPPORTED, "model",
                              "%s describes one device: use roofs for several", table->model->name);
    const bool changed = request->halo[0] > 0 || request->streamed >= 0 || request->fence;
    const bool own = table->model == &tz_model_roofs || table->model == &tz_model_luo2011;
    if (!status && own && changed)
        status = tz_error_set(
            error, TZ_UNSUPPORTED, "model",
            "%s counts the stencil's own kernels: use meng2009 or meng2011 for another "
            "halo, streamed fields or fences",
            table->model->name);
    if (!status)
        status = make_rows(table, workload, request, error);
    if (!status && workload->place.devices)
        status = compare_with_one(table, workload, request, error);
    if (status) {
        tz_prediction_table_destroy(table);
        return status;
    }
    conclude(table, workload);
    *out = table;
    return TZ_OK;
}

void tz_prediction_table_destroy(tz_prediction_table *table)
{
    if (!table)
        return;
    tz_predictions_destroy(table->predictions);
    tz_prediction_plain_destroy(table->plain);
    free(table->rows);
    free(table);
}
