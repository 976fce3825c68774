#include "policy/study.h"

#include "base/machine.h"
#include "cuda/driver.h"
#include "policy/device.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tz_status resolve(tz_study *study, const tz_study_config *config, const tz_stencil *stencil,
                         tz_error *error)
{
    tz_simulation_config again = *config->simulation;
    const int flag = tz_stencil_param_index(stencil, "allow_unstable");
    const tz_status status =
        tz_problem_resolve(&study->problem, stencil, config->simulation, error);
    if (status != TZ_UNSTABLE || !config->let_unstable || flag < 0 ||
        stencil->params[flag].type != TZ_PARAM_FLAG)
        return status;
    tz_assignment *params = calloc(again.params_count + 1, sizeof *params);
    if (!params)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    if (again.params_count > 0)
        memcpy(params, again.params, again.params_count * sizeof *params);
    params[again.params_count++] = (tz_assignment){.name = "allow_unstable", .number = 1};
    again.params = params;
    study->let_unstable = true;
    const tz_status second = tz_problem_resolve(&study->problem, stencil, &again, error);
    free(params);
    return second;
}

/* A record that was named may be one of this machine's, by its maker's name. */
static bool describes_this_machine(const tz_study *study, int ordinal)
{
    tz_cuda_device gpu;
    tz_machine machine;
    if (study->is_gpu)
        return tz_cuda_look(ordinal, &gpu, NULL) == TZ_OK &&
               strcmp(gpu.name, study->device.title) == 0;
    tz_machine_read(&machine);
    return strncmp(machine.cpu, study->device.title, sizeof study->device.title - 1) == 0;
}

/* The record, and the backend that runs on such a device. */
static tz_status find_device(tz_study *study, const tz_study_config *config, tz_error *error)
{
    const tz_simulation_config *simulation = config->simulation;
    const bool any = !simulation->backend || strcmp(simulation->backend, "auto") == 0;
    tz_status status = tz_backend_find(simulation->backend, &study->backend, error);
    if (status)
        return status;
    if (study->backend == &tz_backend_reference)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "the reference backend has one plan, and no speed to speak of: name "
                            "cpu or cuda");
    if (!config->device) {
        study->is_here = true;
        study->is_gpu = study->backend == &tz_backend_cuda;
        return study->is_gpu ? tz_device_of_gpu(simulation->device, &study->device, error)
                             : tz_device_of_cpu(&study->device, error);
    }
    status = tz_device_find(config->device, &study->device, error);
    if (status)
        return status;
    study->is_gpu = study->device.sm_count.known;
    const tz_backend *runs = study->is_gpu ? &tz_backend_cuda : &tz_backend_cpu;
    if (!any && study->backend != runs)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "%s is a %s: the %s backend does not run there, %s does",
                            study->device.name, study->is_gpu ? "GPU" : "CPU", study->backend->name,
                            runs->name);
    study->backend = runs;
    study->is_here = describes_this_machine(study, simulation->device);
    return TZ_OK;
}

static void say_what(tz_study *study)
{
    const tz_problem *p = &study->problem;
    size_t a = 0, b = 0;
    bool same = true;
    for (int axis = 0; axis < p->dims; axis++) {
        same = same && p->boundary[axis] == p->boundary[0];
        a += (size_t)snprintf(study->grid + a, sizeof study->grid - a, "%s%" PRId64,
                              axis ? " x " : "", p->extent[axis]);
    }
    for (int axis = 0; axis < (same ? 1 : p->dims); axis++)
        b += (size_t)snprintf(study->boundary + b, sizeof study->boundary - b, "%s%s",
                              axis ? ", " : "", tz_boundary_name(p->boundary[axis]));
    snprintf(study->precision, sizeof study->precision, "%s",
             p->bits                            ? "bits"
             : !tz_stencil_has_real(p->stencil) ? "integers"
             : p->precision == TZ_DOUBLE        ? "double"
                                                : "single");
}

tz_status tz_study_create(tz_study **out, const tz_study_config *config, tz_error *error)
{
    const tz_simulation_config *simulation = config->simulation;
    const tz_stencil *stencil = NULL;
    tz_machine machine;
    *out = NULL;
    tz_study *study = calloc(1, sizeof *study);
    if (!study)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    tz_status status = tz_registry_find(simulation->registry, simulation->stencil, &stencil,
                                        &study->plugin, error);
    if (!status)
        status = resolve(study, config, stencil, error);
    if (!status)
        status = find_device(study, config, error);
    if (status) {
        tz_study_destroy(study);
        return status;
    }
    tz_machine_read(&machine);
    study->place.device = &study->device;
    study->place.threads = simulation->threads > 0           ? simulation->threads
                           : study->is_here || study->is_gpu ? machine.cores
                           : study->device.cores.known       ? (int)study->device.cores.value
                                                             : machine.cores;
    say_what(study);
    *out = study;
    return TZ_OK;
}

void tz_study_destroy(tz_study *study)
{
    if (!study)
        return;
    tz_problem_clear(&study->problem);
    free(study);
}
