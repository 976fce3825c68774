/* Checks facts, and finds the best height of a model of a paper. Called by meng_predict.c and
 * luo2011_predict.c. */
#include "model/papers/equations.h"

#include <math.h>
#include <string.h>

/* Facts that make sense for every model. */
static tz_status facts_check(const tz_model_facts *facts, tz_error *error)
{
    static const char axes[] = "xyz";
    if (facts->dims < 1 || facts->dims > TZ_MODEL_AXES)
        return tz_error_set(error, TZ_RANGE, facts->name, "%d dimensions; models know 1 to 3",
                            facts->dims);
    for (int i = 0; i < facts->dims; i++) {
        if (!(facts->extent[i] >= 1 && facts->extent[i] <= 1e15))
            return tz_error_set(error, TZ_RANGE, facts->name, "the grid has %g elements in %c",
                                facts->extent[i], axes[i]);
        if (!(facts->halo_width[i] >= 0 && facts->halo_width[i] <= 1e6))
            return tz_error_set(error, TZ_RANGE, facts->name, "halo width %g in %c",
                                facts->halo_width[i], axes[i]);
    }
    if (!(facts->element_bytes > 0 && facts->element_bytes <= 4096))
        return tz_error_set(error, TZ_RANGE, facts->name, "elements of %g bytes",
                            facts->element_bytes);
    if (facts->state_fields < 1 || facts->static_fields < 0 || !(facts->streamed_fields >= 0))
        return tz_error_set(error, TZ_RANGE, facts->name,
                            "%d state, %d static and %g streamed fields", facts->state_fields,
                            facts->static_fields, facts->streamed_fields);
    if (!(facts->ops_per_update >= 0 && facts->reads_per_update >= 0 &&
          facts->insts_per_update >= 0 && facts->insts_per_setup >= 0 &&
          facts->bank_conflict_rate >= 0 && facts->cells_per_element >= 0))
        return tz_error_set(error, TZ_RANGE, facts->name, "a negative count");
    return TZ_OK;
}

tz_status tz_model_height_max(const tz_equations *model, const tz_model_facts *facts,
                              const tz_model_device *device, const tz_model_plan *plan, int *height,
                              tz_error *error)
{
    const tz_status status = facts_check(facts, error);
    return status == TZ_OK ? model->height_max(facts, device, plan, height, error) : status;
}

static tz_status predict_one(const tz_equations *model, const tz_model_facts *facts,
                             const tz_model_device *device, const tz_model_plan *plan,
                             int height_max, tz_model_prediction *out, tz_error *error)
{
    memset(out, 0, sizeof *out);
    const tz_status status = model->predict(facts, device, plan, out, error);
    if (status != TZ_OK) {
        memset(out, 0, sizeof *out);
        return status;
    }
    out->model = model->model.name;
    out->height_max = height_max;
    if (!out->limit_text[0])
        tz_model_limit_find(out);
    return TZ_OK;
}

tz_status tz_model_predict(const tz_equations *model, const tz_model_facts *facts,
                           const tz_model_device *device, const tz_model_plan *plan,
                           tz_model_prediction *out, tz_error *error)
{
    int height_max = 0, best = 1;
    double best_s = INFINITY;
    tz_model_plan trial = *plan;
    memset(out, 0, sizeof *out);
    tz_status status = tz_model_height_max(model, facts, device, plan, &height_max, error);
    if (status != TZ_OK)
        return status;
    if (plan->height < 0 || plan->height > height_max)
        return tz_error_set(error, TZ_RANGE, facts->name,
                            "height %d leaves nothing of the block; the greatest that does "
                            "is %d",
                            plan->height, height_max);
    for (int h = 1; plan->height == 0 && h <= height_max; h++) {
        trial.height = h;
        status = predict_one(model, facts, device, &trial, height_max, out, error);
        if (status != TZ_OK)
            return status;
        if (out->time_s < best_s) {
            best_s = out->time_s;
            best = h;
        }
    }
    trial.height = plan->height ? plan->height : best;
    return predict_one(model, facts, device, &trial, height_max, out, error);
}
