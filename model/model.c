/* Functions that all models use: checks of devices, notes, components, and the resource that limits
 * a plan. Called by the models here and in model/papers, by core/predict and by
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
