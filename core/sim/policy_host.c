/* The tz_policy_host of a simulation: plans, predictions, candidates, a key for memory. */
#include "sim/simulation.h"

#include "base/machine.h"
#include "calibrate/records.h"
#include "model/power.h"
#include "policy/policy.h"
#include "predict/predictions.h"
#include "sim/correction.h"
#include "sim/simulation_impl.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

tz_place tz__simulation_place(const tz_simulation *simulation, const tz_model_device *record)
{
    return (tz_place){.device = record,
                      .threads = simulation->threads,
                      .limits = simulation->limits,
                      .devices = simulation->devices.count > 0 ? &simulation->devices : NULL,
                      .link = simulation->joined.bytes_per_s > 0 ? &simulation->joined : NULL,
                      .stopped = simulation->stopped};
}

static double host_clock(void *context)
{
    (void)context;
    return tz_machine_clock_s();
}

static tz_status complete_plan(void *context, tz_plan *plan, tz_error *error)
{
    const tz_simulation *simulation = context;
    const tz_place place = tz__simulation_place(simulation, simulation->record);
    plan->launch_iterations = 0; /* the family sets it */
    if (plan->exchange > 0 && simulation->devices.count == 0)
        return tz_error_set(error, TZ_UNSUPPORTED, "exchange",
                            "one device holds the whole grid: only slabs on several devices are "
                            "exchanged; give devices, or leave out 'exchange'");
    return simulation->backend->plan(tz__iterated_problem(simulation), &place, plan, error);
}

/* Rough time to get a kernel: to compile it, or to read it from the cache. */
static double set_up_s(const tz_simulation *simulation, bool compiled)
{
    static const double COMPILE_S = 1.0, LOAD_S = 2e-3;
    return !simulation->backend->wait ? 0.0 : compiled ? LOAD_S : COMPILE_S;
}

static tz_status predictions(void *context, const tz_plan *given, tz_policy_options *out,
                             tz_error *error)
{
    const tz_simulation *simulation = context;
    tz_model_device device;
    tz_predictions *made = NULL;
    if (!simulation->backend->work)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "the %s backend cannot count the work of its plans",
                            simulation->backend->name);
    tz_status status = tz_device_of(simulation->backend, simulation->device, &device, error);
    if (status)
        return status;
    const tz_place place = tz__simulation_place(simulation, &device);
    status = tz_predictions_create(&made, tz__iterated_problem(simulation), simulation->backend,
                                   &place, given, TZ_EFFORT_CACHED, error);
    if (status)
        return status;
    *out = (tz_policy_options){.best = -1};
    for (int i = 0; i < made->count && out->count < TZ_POLICY_OPTIONS_MAX; i++) {
        if (i == made->best)
            out->best = out->count;
        out->at[out->count++] = (tz_policy_option){
            made->plans[i].plan, tz_power_time(&made->plans[i].prediction),
            set_up_s(simulation, !made->plans[i].work.estimated), made->plans[i].work.estimated};
    }
    int used = 0;
    if (device.scaled_from[0])
        used = snprintf(out->reason, sizeof out->reason,
                        "by the record %.60s, scaled: ", device.scaled_from);
    snprintf(out->reason + used, sizeof out->reason - (size_t)used, "%s", made->reason);
    tz_predictions_destroy(made);
    return TZ_OK;
}

static tz_status candidates(void *context, const tz_plan *given, tz_policy_options *out,
                            tz_error *error)
{
    const tz_simulation *simulation = context;
    tz_model_device device;
    if (!simulation->backend->candidates)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "the %s backend lists no plans",
                            simulation->backend->name);
    /* The candidates may depend on the device's record; the backend also lists them without one. */
    const bool known =
        tz_device_of(simulation->backend, simulation->device, &device, NULL) == TZ_OK;
    const tz_place place = tz__simulation_place(simulation, known ? &device : NULL);
    tz_plan *plans = calloc(TZ_POLICY_OPTIONS_MAX, sizeof *plans);
    if (!plans)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a list of plans");
    *out = (tz_policy_options){.best = -1};
    tz_status status =
        simulation->backend->candidates(tz__iterated_problem(simulation), &place, given, plans,
                                        TZ_POLICY_OPTIONS_MAX, &out->count, error);
    for (int i = 0; !status && i < out->count; i++)
        out->at[i] = (tz_policy_option){plans[i], NAN, set_up_s(simulation, false), false};
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

/* FNV-1a: detects a cell update that was edited without a new version. */
static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; text && *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h;
}

static bool memory_key(void *context, char *text, size_t size)
{
    const tz_simulation *simulation = context;
    const tz_problem *problem = &simulation->problem;
    const tz_stencil *stencil = problem->stencil;
    line l = {.text = text, .size = size};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int p = 0; p < stencil->passes_count; p++)
        hash = hash_text(hash_text(hash, stencil->passes[p].text), stencil->passes[p].text_defines);
    append(&l, "trapeze %s; plugin %s %s, %s %016" PRIx64, TZ_VERSION, simulation->plugin->id,
           simulation->plugin->version, stencil->id, hash);
    /* Integer constants are compiled into GPU kernels. Real ones are arguments and do not change
     * the speed. */
    for (int k = 0; k < stencil->constants_count; k++)
        if (stencil->constants[k].type != TZ_REAL && !stencil->constants[k].varies)
            append(&l, ", %s %" PRId64, stencil->constants[k].name,
                   (int64_t)problem->constants[k].i);
    append(&l, "; grid %" PRId64 " %" PRId64 " %" PRId64 " %s;", problem->extent[0],
           problem->extent[1], problem->extent[2], tz_simulation_precision(simulation));
    char boundary[TZ_BOUNDARY_TEXT_SIZE];
    for (int axis = 0; axis < problem->dims; axis++)
        append(&l, " %s", tz_boundary_text(problem->boundary[axis], boundary));
    tz_device_identity device;
    if (simulation->backend->identify(simulation->device, &device, NULL) != TZ_OK)
        return false;
    append(&l, "; %s on %s", simulation->backend->name, device.key);
    if (!simulation->backend->is_gpu)
        append(&l, ", %d threads", simulation->threads);
    for (int i = 0; i < simulation->devices.count; i++)
        append(&l, "%s%d*%g", i ? "," : ", slabs ", simulation->devices.of[i].device,
               simulation->devices.of[i].share);
    return !l.full;
}

/* ---- Setting it ------------------------------------------------------------------------------ */

tz_status tz_simulation_set_policy(tz_simulation *simulation, const tz_policy_config *config,
                                   tz_error *error)
{
    const tz_policy_host host = {.context = simulation,
                                 .asynchronous = simulation->backend->wait != NULL,
                                 .clock = host_clock,
                                 .complete_plan = complete_plan,
                                 .predictions = predictions,
                                 .candidates = candidates,
                                 .memory_key = memory_key};
    tz_policy *policy;
    const tz_status status = tz_policy_create(&policy, config, &host, error);
    if (status)
        return status;
    tz_policy_destroy(simulation->policy);
    simulation->policy = policy;
    simulation->watch = (tz_stopwatch){.stages = 0};
    simulation->plan = *tz_policy_plan(policy);
    simulation->bytes = tz__simulation_bytes_with(simulation, &simulation->plan);
    return TZ_OK;
}

tz_status tz_simulation_set_plan(tz_simulation *simulation, const tz_plan *plan, tz_error *error)
{
    const tz_policy_config fixed = {.kind = TZ_POLICY_FIXED, .given = *plan};
    return tz_simulation_set_policy(simulation, &fixed, error);
}

tz_policy *tz_simulation_policy(const tz_simulation *simulation)
{
    return simulation->policy;
}
