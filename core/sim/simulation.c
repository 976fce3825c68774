#include "sim/simulation.h"

#include "backend/slabs/slabs.h"
#include "sim/correction.h"
#include "sim/simulated_time.h"
#include "sim/simulation_impl.h"
#include <math.h>
#include <stdio.h>

tz_place tz__simulation_place(const tz_simulation *simulation, const tz_model_device *record)
{
    return (tz_place){.device = record,
                      .threads = simulation->threads,
                      .limits = simulation->limits,
                      .devices = simulation->devices.count > 0 ? &simulation->devices : NULL,
                      .link = simulation->joined.bytes_per_s > 0 ? &simulation->joined : NULL,
                      .stopped = simulation->stopped};
}

tz_status tz__simulation_need_fields(const tz_simulation *simulation, tz_error *error)
{
    return simulation->dry ? tz_error_set(error, TZ_UNSUPPORTED, NULL,
                                          "the scenario is only being checked: there are no fields")
                           : TZ_OK;
}

/* ---- Properties ------------------------------------------------------------------------------ */

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

const char *tz_simulation_device_name(const tz_simulation *simulation, char *text, size_t size)
{
    tz_device_identity device = {.name = ""};
    tz_error ignored;
    if (simulation->backend->identify(simulation->device, &device, &ignored) != TZ_OK)
        device.name[0] = '\0';
    snprintf(text, size, "%s", device.name);
    return text;
}

bool tz_simulation_backend_given(const tz_simulation *simulation)
{
    return simulation->backend_given;
}

int tz_simulation_threads(const tz_simulation *simulation)
{
    return simulation->threads;
}

const char *tz_simulation_precision(const tz_simulation *simulation)
{
    if (!tz_stencil_has_real(simulation->problem.stencil))
        return "none";
    if (simulation->correction)
        return "mixed";
    return simulation->problem.precision == TZ_DOUBLE ? "double" : "single";
}

const tz_boundary *tz_simulation_boundary(const tz_simulation *simulation, int axis)
{
    return simulation->problem.boundary[axis];
}

const double *tz_simulation_boundary_values(const tz_simulation *simulation, int field)
{
    return simulation->problem.boundary_value[field];
}

double tz_simulation_origin(const tz_simulation *simulation, int field)
{
    return simulation->problem.origin[field];
}

const tz_value *tz_simulation_params(const tz_simulation *simulation)
{
    return simulation->problem.params;
}

tz_status tz_simulation_scalar(const tz_simulation *simulation, const char *name, int64_t step,
                               double *value, tz_error *error)
{
    return tz_problem_scalar_at(&simulation->problem, name, step, value, error);
}

size_t tz_simulation_scalars(const tz_simulation *simulation, const tz_series **out)
{
    *out = simulation->problem.scalars;
    return simulation->problem.scalars_count;
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

double tz_simulation_set_up_seconds(const tz_simulation *simulation)
{
    const tz_backend *backend = simulation->backend;
    return backend->set_up_s && simulation->state
               ? backend->set_up_s(tz__iterated_state(simulation))
               : 0.0;
}

const char *tz_run_status_name(tz_run_status status)
{
    static const char *const names[] = {"none",      "done",      "converged",
                                        "stagnated", "max_steps", "inconsistent"};
    return names[status];
}

bool tz_simulation_is_mixed(const tz_simulation *simulation)
{
    return simulation->correction != NULL;
}

const tz_run_end *tz_simulation_last_run(const tz_simulation *simulation)
{
    return &simulation->last_run;
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

bool tz_simulation_slabs(const tz_simulation *simulation, tz_slabs_facts *out)
{
    if (simulation->backend != &simulation->slabs || !simulation->state)
        return false;
    tz_slabs_describe(simulation->state, out);
    if (simulation->correction) { /* stages iterate it */
        tz_slabs_facts correction;
        tz_slabs_describe(simulation->correction->state, &correction);
        out->exchanged.count += correction.exchanged.count;
        out->exchanged.bytes += correction.exchanged.bytes;
        out->exchanged.seconds += correction.exchanged.seconds;
    }
    return true;
}

tz_status tz_simulation_kernel_facts(tz_simulation *simulation, tz_kernel_facts *out,
                                     tz_error *error)
{
    const tz_status status = tz__simulation_need_fields(simulation, error);
    if (status)
        return status;
    if (!simulation->backend->facts)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend", "the %s backend has no kernels",
                            simulation->backend->name);
    return simulation->backend->facts(tz__iterated_state(simulation), &simulation->plan, out,
                                      error);
}

void tz__simulation_field_changes(tz_simulation *simulation, int field)
{
    simulation->update_known = false;
    if (simulation->problem.stencil->fields[field].role != TZ_STATIC)
        return;
    simulation->facts_known = false;
    tz__simulation_forget_jump(simulation);
}

/* ---- Parameters and plan --------------------------------------------------------------------- */

tz_status tz_simulation_set_params(tz_simulation *simulation, size_t count,
                                   const tz_assignment *params, tz_error *error)
{
    const tz_param *step = tz_simulation_time_step(simulation);
    const double before =
        step ? simulation->problem.params[step - simulation->problem.stencil->params].number : 0;
    /* The correction's problem is the stricter one: what it takes, the solution's takes, too. */
    tz_status status = tz__correction_set_params(simulation, count, params, error);
    if (!status)
        status = tz_problem_set_params(&simulation->problem, count, params, error);
    simulation->update_known = false;
    simulation->facts_known = false;
    tz__simulation_forget_jump(simulation);
    if (!status && step)
        tz__simulation_time_step_changed(simulation, before);
    return status;
}

void tz_simulation_skip(tz_simulation *simulation, int64_t iterations)
{
    if (simulation->dry)
        simulation->step += iterations;
}

void tz_simulation_rewind(tz_simulation *simulation)
{
    simulation->step = 0;
    simulation->time_base = (tz_time_base){.since = 0};
    simulation->fired_step = -1;
    simulation->update_known = false;
    simulation->facts_known = false;
    if (simulation->look_step > 0)
        simulation->look_step = 0;
}

static tz_policy_subject subject_of(const tz_simulation *simulation)
{
    return (tz_policy_subject){.problem = tz__iterated_problem(simulation),
                               .solution = &simulation->problem,
                               .plugin = simulation->plugin,
                               .precision = tz_simulation_precision(simulation),
                               .backend = simulation->backend,
                               .device = simulation->device,
                               .place = tz__simulation_place(simulation, simulation->record)};
}

tz_status tz_simulation_set_policy(tz_simulation *simulation, const tz_plan_wish *wish,
                                   tz_error *error)
{
    const tz_policy_subject subject = subject_of(simulation);
    tz_policy *policy;
    const tz_status status = tz_policy_create(&policy, wish, &subject, error);
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
    const tz_plan_wish fixed = {.policy = "fixed", .given = *plan};
    return tz_simulation_set_policy(simulation, &fixed, error);
}

tz_policy *tz_simulation_policy(const tz_simulation *simulation)
{
    return simulation->policy;
}
