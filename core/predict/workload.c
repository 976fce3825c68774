#include "predict/workload.h"

#include "base/machine.h"
#include "calibrate/records.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How fast a plan is does not depend on the values of constants that vary: 1 stands for each that the
 * plugin leaves to scenarios. */
static tz_status stand_in(tz_workload *workload, const tz_stencil *stencil,
                          tz_simulation_config *config, tz_error *error)
{
    static const double one = 1.0;
    const bool any = stencil->constants_count > 0 && !stencil->at_step;
    workload->scalars = any ? calloc((size_t)stencil->constants_count, sizeof(tz_series)) : NULL;
    if (any && !workload->scalars)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    for (int k = 0; any && k < stencil->constants_count; k++)
        if (stencil->constants[k].varies)
            workload->scalars[workload->scalars_count++] =
                (tz_series){.name = stencil->constants[k].name, .count = 1, .values = &one};
    if (config->scalars_count == 0) {
        config->scalars = workload->scalars;
        config->scalars_count = workload->scalars_count;
    }
    return TZ_OK;
}

static tz_status resolve(tz_workload *workload, const tz_workload_config *config,
                         const tz_stencil *stencil, tz_error *error)
{
    tz_simulation_config again = *config->simulation;
    const int flag = tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_ALLOW_UNSTABLE);
    tz_status status = stand_in(workload, stencil, &again, error);
    if (!status)
        status = tz_problem_resolve(&workload->problem, stencil, &again, error);
    if (status != TZ_UNSTABLE || !config->let_unstable || flag < 0)
        return status;
    tz_assignment *params = calloc(again.params_count + 1, sizeof *params);
    if (!params)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    if (again.params_count > 0)
        memcpy(params, again.params, again.params_count * sizeof *params);
    params[again.params_count++] = (tz_assignment){.name = stencil->params[flag].name, .number = 1};
    again.params = params;
    workload->let_unstable = true;
    const tz_status second = tz_problem_resolve(&workload->problem, stencil, &again, error);
    free(params);
    return second;
}

/* Whether a named record describes a device of this machine: its title is the device's name. */
static bool describes_this_machine(const tz_workload *workload, int ordinal)
{
    tz_device_identity device;
    return workload->backend->identify(ordinal, &device, NULL) == TZ_OK &&
           strncmp(device.name, workload->device.title, sizeof workload->device.title - 1) == 0;
}

/* The record, and the backend that runs on such a device. */
static tz_status find_device(tz_workload *workload, const tz_workload_config *config,
                             tz_error *error)
{
    const tz_simulation_config *simulation = config->simulation;
    const bool any = !simulation->backend || strcmp(simulation->backend, "auto") == 0;
    tz_status status = tz_backend_find(simulation->backend, &workload->backend, error);
    if (status)
        return status;
    if (!workload->backend->work)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "the %s backend has a single plan and no predictions: use cpu or cuda",
                            workload->backend->name);
    if (!config->device) {
        workload->is_here = true;
        workload->is_gpu = workload->backend->is_gpu;
        return tz_device_of(workload->backend, simulation->device, &workload->device, error);
    }
    status = tz_device_find(config->device, &workload->device, error);
    if (status)
        return status;
    workload->is_gpu = workload->device.sm_count.known;
    const tz_backend *runs = tz_backend_of_kind(workload->is_gpu);
    if (!any && workload->backend != runs)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "%s is a %s: the %s backend does not run there, %s does",
                            workload->device.name, workload->is_gpu ? "GPU" : "CPU",
                            workload->backend->name, runs->name);
    workload->backend = runs;
    workload->is_here = describes_this_machine(workload, simulation->device);
    return TZ_OK;
}

static void describe(tz_workload *workload)
{
    const tz_problem *p = &workload->problem;
    char side[TZ_BOUNDARY_TEXT_SIZE];
    size_t a = 0, b = 0;
    bool same = true;
    for (int axis = 0; axis < p->dims; axis++) {
        same = same && memcmp(p->boundary[axis], p->boundary[0], sizeof p->boundary[0]) == 0;
        a += (size_t)snprintf(workload->grid + a, sizeof workload->grid - a, "%s%" PRId64,
                              axis ? " x " : "", p->extent[axis]);
    }
    for (int axis = 0; axis < (same ? 1 : p->dims); axis++)
        b += (size_t)snprintf(workload->boundary + b, sizeof workload->boundary - b, "%s%s",
                              axis ? ", " : "", tz_boundary_text(p->boundary[axis], side));
    snprintf(workload->precision, sizeof workload->precision, "%s",
             p->bits                            ? "bits"
             : !tz_stencil_has_real(p->stencil) ? "integers"
             : p->precision == TZ_DOUBLE        ? "double"
                                                : "single");
}

tz_status tz_workload_create(tz_workload **out, const tz_workload_config *config, tz_error *error)
{
    const tz_simulation_config *simulation = config->simulation;
    const tz_stencil *stencil = NULL;
    tz_machine machine;
    *out = NULL;
    tz_workload *workload = calloc(1, sizeof *workload);
    if (!workload)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    tz_status status = tz_registry_find(simulation->registry, simulation->stencil, &stencil,
                                        &workload->plugin, error);
    if (!status)
        status = resolve(workload, config, stencil, error);
    if (!status) { /* the scenario's may not live as long */
        workload->problem.scalars = workload->scalars;
        workload->problem.scalars_count = workload->scalars_count;
        status = find_device(workload, config, error);
    }
    if (status) {
        tz_workload_destroy(workload);
        return status;
    }
    tz_machine_read(&machine);
    workload->place.device = &workload->device;
    workload->place.stopped = simulation->stopped;
    workload->place.threads = simulation->threads > 0                 ? simulation->threads
                              : workload->is_here || workload->is_gpu ? machine.cores
                              : workload->device.cores.known ? (int)workload->device.cores.value
                                                             : machine.cores;
    describe(workload);
    *out = workload;
    return TZ_OK;
}

void tz_workload_destroy(tz_workload *workload)
{
    if (!workload)
        return;
    tz_problem_clear(&workload->problem);
    free(workload->scalars);
    free(workload);
}
