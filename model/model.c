/* Functions that all models use: checks of facts and devices, notes, components, and the resource
 * that limits a plan. Called by the models here and in model/papers, by core/predict and by
 * core/calibrate. */
#include "model/model.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tz_model_resource_text(tz_model_resource resource)
{
    static const char *const texts[] = {"computation", "memory", "synchronisation"};
    return resource >= 0 && resource < TZ_MODEL_RESOURCES ? texts[resource] : "unknown";
}

void tz_model_note(tz_model_notes *notes, const char *format, ...)
{
    va_list arguments;
    if (!notes || notes->count == TZ_MODEL_NOTES_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(notes->text[notes->count++], TZ_MODEL_NOTE_SIZE, format, arguments);
    va_end(arguments);
}

void tz_model_component_add(tz_model_prediction *out, tz_model_resource resource, const char *name,
                            double seconds, const char *doc)
{
    if (out->component_count < TZ_MODEL_COMPONENTS_MAX)
        out->components[out->component_count++] =
            (tz_model_component){name, doc, resource, seconds};
}

void tz_model_detail_add(tz_model_prediction *out, const char *name, double value, const char *unit,
                         const char *doc)
{
    if (out->detail_count < TZ_MODEL_DETAILS_MAX)
        out->details[out->detail_count++] = (tz_model_detail){name, unit, doc, value};
}

tz_status tz_model_device_check(const tz_model_device *device, const char *model,
                                const char *const *needs, tz_model_notes *notes, tz_error *error)
{
    size_t count;
    const tz_model_key *keys = tz_model_device_keys(&count);
    char assumed[TZ_MODEL_NOTE_SIZE] = "";
    size_t used = 0;
    for (size_t n = 0; needs[n]; n++) {
        size_t k = 0;
        while (k < count && strcmp(keys[k].name, needs[n]) != 0)
            k++;
        const tz_model_number *number =
            k < count ? (const tz_model_number *)((const char *)device + keys[k].offset) : NULL;
        if (!number || (!number->known && isnan(keys[k].assumed)))
            return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                                "the record of this device has no %s, which the model %s "
                                "needs (%s)",
                                needs[n], model, k < count ? keys[k].doc : "unknown key");
        if ((number->assumed || !number->known) && used < sizeof assumed)
            used += (size_t)snprintf(assumed + used, sizeof assumed - used, "%s%s",
                                     used ? ", " : "", needs[n]);
    }
    if (device->scaled_from[0])
        tz_model_note(notes,
                      "%s has no record: its numbers are those of %s, scaled by what the driver "
                      "tells; `trapeze calibrate` measures its own",
                      device->title, device->scaled_from);
    if (used)
        tz_model_note(notes, "%s: assumed, neither published nor measured: %s", device->name,
                      assumed);
    return TZ_OK;
}

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

tz_status tz_model_height_max(const tz_model *model, const tz_model_facts *facts,
                              const tz_model_device *device, const tz_model_plan *plan, int *height,
                              tz_error *error)
{
    const tz_status status = facts_check(facts, error);
    return status == TZ_OK ? model->height_max(facts, device, plan, height, error) : status;
}

void tz_model_limit_find(tz_model_prediction *out)
{
    double sums[TZ_MODEL_RESOURCES] = {0}, total = 0;
    const tz_model_component *greatest = NULL;
    for (int i = 0; i < out->component_count; i++) {
        sums[out->components[i].resource] += out->components[i].seconds;
        total += out->components[i].seconds;
    }
    out->limit = TZ_MODEL_COMPUTATION;
    for (int r = 0; r < TZ_MODEL_RESOURCES; r++)
        if (sums[r] > sums[out->limit])
            out->limit = (tz_model_resource)r;
    for (int i = 0; i < out->component_count; i++)
        if (out->components[i].resource == out->limit &&
            (!greatest || out->components[i].seconds > greatest->seconds))
            greatest = &out->components[i];
    if (out->limit_text[0]) /* the model's own words */
        return;
    snprintf(out->limit_text, sizeof out->limit_text, "%s: %.0f %% of the time, most of it %s",
             tz_model_resource_text(out->limit), total > 0 ? 100 * sums[out->limit] / total : 0.0,
             greatest ? greatest->name : "nothing");
}

static tz_status predict_one(const tz_model *model, const tz_model_facts *facts,
                             const tz_model_device *device, const tz_model_plan *plan,
                             int height_max, tz_model_prediction *out, tz_error *error)
{
    memset(out, 0, sizeof *out);
    const tz_status status = model->predict(facts, device, plan, out, error);
    if (status != TZ_OK) {
        memset(out, 0, sizeof *out);
        return status;
    }
    out->model = model->name;
    out->height_max = height_max;
    if (!out->limit_text[0])
        tz_model_limit_find(out);
    return TZ_OK;
}

tz_status tz_model_predict(const tz_model *model, const tz_model_facts *facts,
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
