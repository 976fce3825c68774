#include "sim/simulation.h"

#include "base/machine.h"
#include "base/names.h"
#include "sim/simulation_impl.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static tz_status check_memory(const tz_simulation *simulation, tz_error *error)
{
    const int64_t available = tz_machine_memory_available();
    if (simulation->bytes <= available)
        return TZ_OK;
    const double gib = 1.0 / (double)(INT64_C(1) << 30);
    return tz_error_set(error, TZ_MEMORY, "grid",
                        "%" PRId64 " x %" PRId64 " x %" PRId64
                        " cells need %.2f GiB and %.2f GiB are available: use a smaller grid%s",
                        simulation->problem.extent[0], simulation->problem.extent[1],
                        simulation->problem.extent[2], (double)simulation->bytes * gib,
                        (double)available * gib,
                        simulation->problem.precision == TZ_DOUBLE ? " or single precision" : "");
}

tz_status tz_simulation_create(tz_simulation **out, const tz_simulation_config *config,
                               tz_error *error)
{
    *out = NULL;
    tz_simulation *simulation = calloc(1, sizeof *simulation);
    if (!simulation)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a simulation");
    simulation->fired_step = -1;
    simulation->residual = NAN;
    simulation->dry = config->dry;
    const tz_stencil *stencil = NULL;
    tz_machine machine;
    tz_device_identity device = {0};
    tz_status status =
        tz_registry_find(config->registry, config->stencil, &stencil, &simulation->plugin, error);
    if (!status)
        status = tz_problem_resolve(&simulation->problem, stencil, config, error);
    if (!status)
        status = tz_backend_find(config->backend, &simulation->backend, error);
    if (!status && (config->threads < 0 || config->threads > 1024))
        status = tz_error_set(error, TZ_RANGE, "threads", "%d threads; 1 to 1024 are possible",
                              config->threads);
    if (!status) {
        tz_machine_read(&machine);
        simulation->threads = config->threads > 0 ? config->threads : machine.cores;
        if (simulation->backend->serial)
            simulation->threads = 1;
        simulation->device = config->device;
        status = simulation->backend->identify(config->device, &device, error);
        if (status == TZ_BACKEND && config->dry) /* a scenario may be checked without the device */
            status = TZ_OK;
        simulation->limits = device.limits;
    }
    if (!status) {
        const tz_plan *plan = config->policy ? &config->policy->given : &config->plan;
        status = tz_simulation_set_plan(simulation, plan, error);
    }
    if (!status)
        status = check_memory(simulation, error);
    if (!status && !config->dry) {
        const tz_backend_context context = {.problem = &simulation->problem,
                                            .streams = simulation->stream_pointers,
                                            .threads = simulation->threads,
                                            .device = config->device,
                                            .sync = config->sync};
        status = simulation->backend->create(&simulation->state, &context, error);
    }
    for (int f = 0; !status && !config->dry && f < stencil->fields_count; f++)
        if (stencil->fields[f].role != TZ_STREAMED && stencil->fields[f].initial != 0.0)
            status = tz_simulation_fill(simulation, f, NULL, stencil->fields[f].initial, error);
    if (!status && config->policy)
        status = tz_simulation_set_policy(simulation, config->policy, error);
    if (status) {
        tz_simulation_destroy(simulation);
        return status;
    }
    *out = simulation;
    return TZ_OK;
}

void tz_simulation_destroy(tz_simulation *simulation)
{
    if (!simulation)
        return;
    if (simulation->state)
        simulation->backend->destroy(simulation->state);
    tz_policy_destroy(simulation->policy);
    tz_problem_clear(&simulation->problem);
    free(simulation->uses);
    free(simulation);
}

tz_status tz__simulation_need_fields(const tz_simulation *simulation, tz_error *error)
{
    return simulation->dry ? tz_error_set(error, TZ_UNSUPPORTED, NULL,
                                          "the scenario is only being checked: there are no fields")
                           : TZ_OK;
}

/* ---- What it is ------------------------------------------------------------------------------ */

const tz_stencil *tz_simulation_stencil(const tz_simulation *simulation)
{
    return simulation->problem.stencil;
}

const tz_plugin *tz_simulation_plugin(const tz_simulation *simulation)
{
    return simulation->plugin;
}

const int64_t *tz_simulation_extent(const tz_simulation *simulation)
{
    return simulation->problem.extent;
}

const char *tz_simulation_backend(const tz_simulation *simulation)
{
    return simulation->backend->name;
}

int tz_simulation_threads(const tz_simulation *simulation)
{
    return simulation->threads;
}

const char *tz_simulation_precision(const tz_simulation *simulation)
{
    if (!tz_stencil_has_real(simulation->problem.stencil))
        return "none";
    return simulation->problem.precision == TZ_DOUBLE ? "double" : "single";
}

tz_boundary tz_simulation_boundary(const tz_simulation *simulation, int axis)
{
    return simulation->problem.boundary[axis];
}

double tz_simulation_boundary_value(const tz_simulation *simulation, int field)
{
    return simulation->problem.boundary_value[field];
}

const tz_value *tz_simulation_params(const tz_simulation *simulation)
{
    return simulation->problem.params;
}

const tz_plan *tz_simulation_plan(const tz_simulation *simulation)
{
    return &simulation->plan;
}

int64_t tz_simulation_step(const tz_simulation *simulation)
{
    return simulation->step;
}

int64_t tz_simulation_cells(const tz_simulation *simulation)
{
    return tz_shape_count(TZ_AXES, simulation->problem.extent);
}

int64_t tz_simulation_bytes(const tz_simulation *simulation)
{
    return simulation->bytes;
}

double tz_simulation_seconds(const tz_simulation *simulation)
{
    return simulation->seconds;
}

double tz_simulation_residual(const tz_simulation *simulation)
{
    return simulation->residual;
}

size_t tz_simulation_plan_uses(const tz_simulation *simulation, const tz_plan_use **uses)
{
    *uses = simulation->uses;
    return simulation->uses_count;
}

double tz_simulation_energy(const tz_simulation *simulation)
{
    double joules;
    return simulation->state && simulation->backend->energy &&
                   simulation->backend->energy(simulation->state, &joules, NULL) == TZ_OK
               ? joules
               : NAN;
}

double tz_simulation_energy_used(const tz_simulation *simulation)
{
    return simulation->energy_j;
}

tz_status tz_simulation_kernel_facts(tz_simulation *simulation, tz_kernel_facts *out,
                                     tz_error *error)
{
    const tz_status status = tz__simulation_need_fields(simulation, error);
    if (status)
        return status;
    if (!simulation->backend->facts)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "the %s backend has no kernels to tell of", simulation->backend->name);
    return simulation->backend->facts(simulation->state, &simulation->plan, out, error);
}

/* ---- Parameters and plan --------------------------------------------------------------------- */

tz_status tz_simulation_set_params(tz_simulation *simulation, size_t count,
                                   const tz_assignment *params, tz_error *error)
{
    return tz_problem_set_params(&simulation->problem, count, params, error);
}

void tz_simulation_rewind(tz_simulation *simulation)
{
    simulation->step = 0;
    simulation->fired_step = -1;
    simulation->residual = NAN;
}

/* ---- Analysis methods ------------------------------------------------------------------------ */

typedef struct analysis {
    const tz_simulation *simulation;
    const tz_method_sink *sink;
} analysis;

static int analysis_read(void *context, int field, int64_t step, int64_t x, int64_t y, int64_t z,
                         int64_t count, double *values)
{
    const tz_simulation *simulation = ((analysis *)context)->simulation;
    const tz_stencil *stencil = simulation->problem.stencil;
    if (field < 0 || field >= stencil->fields_count || count < 1)
        return -1;
    if (stencil->fields[field].role == TZ_STREAMED)
        return tz_simulation_streamed_read(simulation, field, step, x, count, values, NULL) ? -1
                                                                                            : 0;
    const tz_box box = {{x, y, z}, {x + count, y + 1, z + 1}};
    return tz_simulation_read(simulation, field, &box, values, NULL) ? -1 : 0;
}

static void analysis_number(void *context, const char *name, double value)
{
    const tz_method_sink *sink = ((analysis *)context)->sink;
    sink->number(sink->context, name, value);
}

static void analysis_list(void *context, const char *name, int64_t count, const int64_t *values)
{
    const tz_method_sink *sink = ((analysis *)context)->sink;
    sink->list(sink->context, name, count, values);
}

tz_status tz_simulation_analyse(const tz_simulation *simulation, const char *method,
                                const tz_method_sink *sink, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    const char *names[32];
    size_t count = 0;
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (status)
        return status;
    for (int m = 0; m < stencil->methods_count; m++) {
        if (strcmp(stencil->methods[m].name, method) != 0) {
            if (count < 32)
                names[count++] = stencil->methods[m].name;
            continue;
        }
        analysis context = {simulation, sink};
        char message[512] = "";
        tz_access access = {
            .struct_size = sizeof access,
            .context = &context,
            .step = simulation->step,
            .read = analysis_read,
            .give_number = analysis_number,
            .give_list = analysis_list,
            .message = message,
            .message_size = sizeof message,
        };
        memcpy(access.extent, simulation->problem.extent, sizeof access.extent);
        memcpy(access.boundary, simulation->problem.boundary, sizeof access.boundary);
        if (stencil->methods[m].call(&access) == 0)
            return TZ_OK;
        return tz_error_set(error, TZ_RANGE, method, "%s", message[0] ? message : "it failed");
    }
    char hint[256];
    tz_names_hint(hint, sizeof hint, method, names, count);
    return tz_error_set(error, TZ_UNKNOWN, NULL, "'%s' has no analysis '%s'%s", stencil->id, method,
                        hint);
}
