#include "policy/outlook.h"

#include "base/machine.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char roofs_name[] = "roofs";

tz_status tz_outlook_model(const char *name, const tz_model **out, tz_error *error)
{
    tz_model_error why;
    if (tz_model_find(name, out, &why) == TZ_MODEL_OK)
        return TZ_OK;
    return tz_error_set(error, TZ_UNKNOWN, "model", "%s", why.message);
}

static bool is_roofs(const tz_model *model)
{
    return strcmp(model->name, roofs_name) == 0;
}

/* NULL, or what the model lacks for this device; its text in `text`. */
static const char *lacks(const tz_study *study, const tz_model *model, char *text, size_t size)
{
    tz_model_error why;
    if (!is_roofs(model) && !study->is_gpu)
        snprintf(text, size, "%s describes GPUs; %s is a CPU: use --model %s", model->name,
                 study->device.name, roofs_name);
    else if (is_roofs(model) && study->is_gpu && !study->device.compute_capability.known)
        snprintf(text, size,
                 "%s looks at compiled kernels, and the record %s names no compute_capability to "
                 "compile for: use --model meng2009 or meng2011",
                 model->name, study->device.name);
    else if (tz_model_device_check(&study->device, model->name, model->needs, NULL, &why) !=
             TZ_MODEL_OK)
        snprintf(text, size, "%s", why.message);
    else
        return NULL;
    return text;
}

static tz_status choose_model(const tz_study *study, const tz_model **model, tz_error *error)
{
    char text[600], first[600] = "";
    const tz_model *roofs = NULL;
    if (*model) {
        const char *why = lacks(study, *model, text, sizeof text);
        return why ? tz_error_set(error, TZ_UNSUPPORTED, study->device.name, "%s", why) : TZ_OK;
    }
    if (tz_model_find(roofs_name, &roofs, NULL) == TZ_MODEL_OK &&
        !lacks(study, roofs, first, sizeof first)) {
        *model = roofs;
        return TZ_OK;
    }
    for (int i = 0; tz_models[i]; i++)
        if (tz_models[i] != roofs && !lacks(study, tz_models[i], text, sizeof text)) {
            *model = tz_models[i];
            return TZ_OK;
        }
    return tz_error_set(error, TZ_UNSUPPORTED, study->device.name, "%s", first[0] ? first : text);
}

/* ---- Rows ------------------------------------------------------------------------------------
 */

static int compare_rows(const void *a, const void *b)
{
    const tz_outlook_row *x = a, *y = b;
    if (x->plan.height != y->plan.height)
        return x->plan.height < y->plan.height ? -1 : 1;
    const int family = strcmp(x->plan.family, y->plan.family);
    if (family)
        return family;
    return (x->prediction.time_s > y->prediction.time_s) -
           (x->prediction.time_s < y->prediction.time_s);
}

static tz_status rows_of_forecast(tz_outlook *outlook, const tz_study *study,
                                  const tz_outlook_request *request, tz_error *error)
{
    tz_plan given = request->given;
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (request->block[axis] > 0)
            given.tile[axis] = (int64_t)request->block[axis];
    tz_status status = tz_forecast_create(&outlook->forecast, &study->problem, study->backend,
                                          &study->place, &given, request->effort, error);
    if (status)
        return status;
    const tz_forecast *f = outlook->forecast;
    outlook->rows = calloc((size_t)f->count, sizeof *outlook->rows);
    if (!outlook->rows)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a forecast");
    for (int i = 0; i < f->count; i++)
        outlook->rows[i] =
            (tz_outlook_row){f->plans[i].plan, &f->plans[i].work, f->plans[i].prediction};
    outlook->considered = outlook->count = f->count;
    outlook->seconds = f->seconds;
    qsort(outlook->rows, (size_t)outlook->count, sizeof *outlook->rows, compare_rows);
    /* The forecast's best stays the best: it is a plan that was compiled. */
    const tz_forecast_plan *best = &f->plans[f->best];
    int kept = 0;
    for (int i = 0; i < outlook->count; i++) {
        const tz_outlook_row *row = &outlook->rows[i];
        const bool is_best = row->work == &best->work;
        const bool same = kept > 0 && outlook->rows[kept - 1].plan.height == row->plan.height &&
                          strcmp(outlook->rows[kept - 1].plan.family, row->plan.family) == 0;
        if (same && !request->all) {
            if (is_best)
                outlook->rows[kept - 1] = *row;
        } else {
            outlook->rows[kept++] = *row;
        }
    }
    outlook->count = kept;
    for (int i = 0; i < kept; i++)
        if (outlook->rows[i].work == &best->work)
            outlook->best = i;
    return TZ_OK;
}

static tz_status from_model(tz_error *error, tz_model_status status, const tz_model_error *why)
{
    return tz_error_set(error, status == TZ_MODEL_MISSING ? TZ_UNSUPPORTED : TZ_RANGE,
                        why->place[0] ? why->place : NULL, "%s", why->message);
}

static tz_status rows_of_paper(tz_outlook *outlook, const tz_study *study,
                               const tz_outlook_request *request, tz_error *error)
{
    tz_model_facts facts;
    tz_model_plan plan;
    tz_model_error why;
    int most = 0;
    if (request->given.family[0] && strcmp(request->given.family, "tile") != 0)
        return tz_error_set(error, TZ_UNSUPPORTED, "family",
                            "%s describes tiles in shared memory, no family '%s'",
                            outlook->model->name, request->given.family);
    tz_status status = tz_facts_of_study(study, request, &facts, &plan, outlook->counts,
                                         sizeof outlook->counts, error);
    if (status)
        return status;
    const double begin = tz_machine_clock_s();
    const int given = plan.height;
    plan.height = 0;
    tz_model_status predicted =
        tz_model_height_max(outlook->model, &facts, &study->device, &plan, &most, &why);
    if (predicted)
        return from_model(error, predicted, &why);
    if (given > most || most < 1)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d leaves nothing of the block; the greatest that does is %d: "
                            "give a larger --block",
                            given > 0 ? given : 1, most);
    /* Where no halo bounds the height, more are of no interest. */
    const int low = given ? given : 1, high = given ? given : most < 256 ? most : 256;
    outlook->rows = calloc((size_t)(high - low + 1), sizeof *outlook->rows);
    if (!outlook->rows)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a forecast");
    for (int h = low; h <= high; h++) {
        tz_outlook_row *row = &outlook->rows[outlook->count++];
        plan.height = h;
        predicted =
            tz_model_predict(outlook->model, &facts, &study->device, &plan, &row->prediction, &why);
        if (predicted)
            return from_model(error, predicted, &why);
        row->plan = (tz_plan){.height = h, .family = "tile"};
        for (int axis = 0; axis < TZ_AXES; axis++)
            row->plan.tile[axis] = (int64_t)row->prediction.block[axis];
        if (row->prediction.time_s < outlook->rows[outlook->best].prediction.time_s)
            outlook->best = outlook->count - 1;
    }
    outlook->considered = outlook->count;
    outlook->seconds = tz_machine_clock_s() - begin;
    return TZ_OK;
}

/* ---- Words -----------------------------------------------------------------------------------
 */

const tz_outlook_row *tz_outlook_at(const tz_outlook *outlook, int height)
{
    const tz_outlook_row *best = NULL;
    for (int i = 0; i < outlook->count; i++) {
        const tz_outlook_row *row = &outlook->rows[i];
        if (row->plan.height == height &&
            (!best || row->prediction.time_s < best->prediction.time_s))
            best = row;
    }
    return best;
}

/* "memory-bound up to h = 4, then computation-bound": the best plan of each height. */
static void say_limits(tz_outlook *outlook)
{
    char *text = outlook->limits;
    size_t used = 0;
    const tz_outlook_row *last = NULL;
    for (int i = 0; i < outlook->count && used < sizeof outlook->limits; i++) {
        const int h = outlook->rows[i].plan.height;
        if (i > 0 && outlook->rows[i - 1].plan.height == h)
            continue;
        const tz_outlook_row *row = tz_outlook_at(outlook, h);
        if (last && last->prediction.limit == row->prediction.limit) {
            last = row;
            continue;
        }
        if (last)
            used += (size_t)snprintf(text + used, sizeof outlook->limits - used,
                                     " up to h = %d, then ", last->plan.height);
        if (used < sizeof outlook->limits)
            used += (size_t)snprintf(text + used, sizeof outlook->limits - used, "%s-bound",
                                     tz_model_resource_text(row->prediction.limit));
        last = row;
    }
    if (last && !strstr(text, " up to ") && outlook->count > 1 && used < sizeof outlook->limits)
        snprintf(text + used, sizeof outlook->limits - used, " at every height");
}

static void conclude(tz_outlook *outlook, const tz_study *study)
{
    const tz_outlook_row *best = &outlook->rows[outlook->best];
    int estimated = 0;
    for (int i = 0; i < outlook->count; i++)
        estimated += outlook->rows[i].work && outlook->rows[i].work->estimated;
    say_limits(outlook);
    snprintf(outlook->why, sizeof outlook->why, "%s", best->prediction.limit_text);
    outlook->notes = best->prediction.notes;
    if (study->let_unstable)
        tz_model_note(&outlook->notes,
                      "with these parameters %s would diverge on this grid; its "
                      "time does not depend on that",
                      study->problem.stencil->id);
    if (estimated > 0)
        tz_model_note(&outlook->notes,
                      "%d of %d rows are not compiled: their registers are estimated (--compile "
                      "compiles them)",
                      estimated, outlook->count);
}

tz_status tz_outlook_create(tz_outlook **out, const tz_study *study,
                            const tz_outlook_request *request, tz_error *error)
{
    *out = NULL;
    tz_outlook *outlook = calloc(1, sizeof *outlook);
    if (!outlook)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a forecast");
    outlook->model = request->model;
    tz_status status = choose_model(study, &outlook->model, error);
    const bool changed = request->halo[0] > 0 || request->streamed >= 0 || request->fence;
    if (!status && is_roofs(outlook->model) && changed)
        status =
            tz_error_set(error, TZ_UNSUPPORTED, "model",
                         "%s looks at the stencil's own kernels: another halo, streamed fields "
                         "or fences can be asked of meng2009 and meng2011",
                         outlook->model->name);
    if (!status)
        status = is_roofs(outlook->model) ? rows_of_forecast(outlook, study, request, error)
                                          : rows_of_paper(outlook, study, request, error);
    if (status) {
        tz_outlook_destroy(outlook);
        return status;
    }
    conclude(outlook, study);
    *out = outlook;
    return TZ_OK;
}

void tz_outlook_destroy(tz_outlook *outlook)
{
    if (!outlook)
        return;
    tz_forecast_destroy(outlook->forecast);
    free(outlook->rows);
    free(outlook);
}
