/* What a policy asks the backend and core/predict: plans, predictions, candidates, and a key for
 * what it remembers. */
#include "policy/options.h"

#include "base/machine.h"
#include "base/text.h"
#include "calibrate/records.h"
#include "model/power.h"
#include "predict/predictions.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

double tz__policy_clock(const tz_policy_subject *subject)
{
    (void)subject;
    return tz_machine_clock_s();
}

tz_status tz__policy_complete(const tz_policy_subject *subject, tz_plan *plan, tz_error *error)
{
    plan->launch_iterations = 0; /* the family sets it */
    if (plan->exchange > 0 && !subject->place.devices)
        return tz_error_set(error, TZ_UNSUPPORTED, "exchange",
                            "one device holds the whole grid: only slabs on several devices are "
                            "exchanged; give devices, or leave out 'exchange'");
    return subject->backend->plan(subject->problem, &subject->place, plan, error);
}

bool tz__policy_base(const tz_policy_subject *subject, tz_plan *plan)
{
    const char *family = subject->backend->base_family;
    if (!family || (plan->family[0] && strcmp(plan->family, family) != 0) || plan->height > 1)
        return false;
    tz_plan base = *plan;
    base.height = 1;
    snprintf(base.family, sizeof base.family, "%s", family);
    tz_plan lean = base;
    lean.lean = base.lean > 0 ? base.lean : 1;
    if (tz__policy_complete(subject, &lean, NULL) == TZ_OK)
        base = lean;
    else if (tz__policy_complete(subject, &base, NULL))
        return false;
    *plan = base;
    return true;
}

/* Rough time to get a kernel: to compile it, or to read it from the cache. */
static double set_up_s(const tz_policy_subject *subject, bool compiled)
{
    static const double COMPILE_S = 1.0, LOAD_S = 2e-3;
    return !subject->backend->wait ? 0.0 : compiled ? LOAD_S : COMPILE_S;
}

tz_status tz__policy_predict(const tz_policy_subject *subject, const tz_plan *given,
                             int64_t iterations, tz_policy_options *out, tz_error *error)
{
    tz_model_device device;
    tz_predictions *made = NULL;
    if (!subject->backend->work)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "the %s backend cannot count the work of its plans",
                            subject->backend->name);
    tz_status status = tz_device_of(subject->backend, subject->device, &device, error);
    if (status)
        return status;
    tz_place place = subject->place;
    place.device = &device;
    const tz_predictions_watch watch = {.iterations = iterations};
    status = tz_predictions_create(&made, subject->problem, subject->backend, &place, given,
                                   TZ_EFFORT_CACHED, &watch, error);
    if (status)
        return status;
    *out = (tz_policy_options){.best = -1};
    for (int i = 0; i < made->count && out->count < TZ_POLICY_OPTIONS_MAX; i++) {
        if (i == made->best)
            out->best = out->count;
        out->at[out->count++] = (tz_policy_option){
            made->plans[i].plan, tz_power_time(&made->plans[i].prediction),
            set_up_s(subject, !made->plans[i].work.estimated), made->plans[i].work.estimated};
    }
    int used = 0;
    if (device.scaled_from[0])
        used = snprintf(out->reason, sizeof out->reason,
                        "by the record %.60s, scaled: ", device.scaled_from);
    snprintf(out->reason + used, sizeof out->reason - (size_t)used, "%s", made->reason);
    tz_predictions_destroy(made);
    return TZ_OK;
}

tz_status tz__policy_candidates(const tz_policy_subject *subject, const tz_plan *given,
                                tz_policy_options *out, tz_error *error)
{
    tz_model_device device;
    if (!subject->backend->candidates)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "the %s backend lists no plans",
                            subject->backend->name);
    /* The candidates may depend on the device's record; the backend also lists them without one. */
    const bool known = tz_device_of(subject->backend, subject->device, &device, NULL) == TZ_OK;
    tz_place place = subject->place;
    place.device = known ? &device : NULL;
    tz_plan *plans = calloc(TZ_POLICY_OPTIONS_MAX, sizeof *plans);
    if (!plans)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a list of plans");
    *out = (tz_policy_options){.best = -1};
    tz_status status = subject->backend->candidates(subject->problem, &place, given, plans,
                                                    TZ_POLICY_OPTIONS_MAX, &out->count, error);
    for (int i = 0; !status && i < out->count; i++)
        out->at[i] = (tz_policy_option){plans[i], NAN, set_up_s(subject, false), false};
    free(plans);
    return status;
}

/* ---- The key of a measurement ---------------------------------------------------------------- */

typedef struct line {
    char *text;
    size_t size, used;
    bool full;
} line;

static void append(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(line *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(l->text + l->used, l->size - l->used, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= l->size - l->used)
        l->full = true;
    else
        l->used += (size_t)length;
}

bool tz__policy_key(const tz_policy_subject *subject, char *text, size_t size)
{
    const tz_problem *problem = subject->solution;
    const tz_stencil *stencil = problem->stencil;
    line l = {.text = text, .size = size};
    uint64_t hash = TZ_HASH_NONE; /* a cell update that was edited without a new version */
    for (int p = 0; p < stencil->passes_count; p++)
        hash = tz_text_hash(tz_text_hash(hash, stencil->passes[p].text),
                            stencil->passes[p].text_defines);
    append(&l, "trapeze %s; plugin %s %s, %s %016" PRIx64, TZ_VERSION, subject->plugin->id,
           subject->plugin->version, stencil->id, hash);
    /* Integer constants are compiled into GPU kernels. Real ones are arguments and do not change
     * the speed. */
    for (int k = 0; k < stencil->constants_count; k++)
        if (!tz_type_is_real(stencil->constants[k].type) && !stencil->constants[k].varies)
            append(&l, ", %s %" PRId64, stencil->constants[k].name,
                   (int64_t)problem->constants[k].i);
    char storage[TZ_STORAGE_TEXT_SIZE];
    tz_problem_storage_text(problem, storage);
    append(&l, "; grid %" PRId64 " %" PRId64 " %" PRId64 " %s%s%s;", problem->extent[0],
           problem->extent[1], problem->extent[2], subject->precision,
           storage[0] ? " stored as " : "", storage);
    if (problem->one_copy)
        append(&l, " in one copy;");
    char boundary[TZ_BOUNDARY_TEXT_SIZE];
    for (int axis = 0; axis < problem->dims; axis++)
        append(&l, " %s", tz_boundary_text(problem->boundary[axis], boundary));
    tz_device_identity device;
    if (subject->backend->identify(subject->device, &device, NULL) != TZ_OK)
        return false;
    append(&l, "; %s on %s", subject->backend->name, device.key);
    if (!subject->backend->is_gpu)
        append(&l, ", %d threads", subject->place.threads);
    const tz_devices *devices = subject->place.devices;
    for (int i = 0; devices && i < devices->count; i++)
        append(&l, "%s%d*%g", i ? "," : ", slabs ", devices->of[i].device, devices->of[i].share);
    return !l.full;
}
