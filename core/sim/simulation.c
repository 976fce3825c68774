/* What a simulation tells of itself, and the check that its cells are finite. */
#include "sim/simulation.h"

#include "backend/host/reduce.h"
#include "backend/slabs/slabs.h"
#include "sim/state.h"
#include "stencil/stencil.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

int tz_simulation_gpu(const tz_simulation *simulation)
{
    return simulation->backend->is_gpu ? simulation->device : -1;
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
    return tz_precision_name(simulation->problem.precision);
}

const tz_boundary *tz_simulation_boundary(const tz_simulation *simulation, int axis)
{
    return simulation->problem.boundary[axis];
}

bool tz_simulation_storage(const tz_simulation *simulation, int field, tz_storage_wish *out)
{
    const tz_problem *problem = &simulation->problem;
    const tz_storage *storage = &problem->storage[field];
    *out = (tz_storage_wish){.field = problem->stencil->fields[field].name,
                             .as = storage->as,
                             .origin = problem->origin[field] + (double)storage->add,
                             .scale = (double)storage->scale};
    return storage->as != TZ_STORED_AS_COMPUTED;
}

int tz_simulation_copies(const tz_simulation *simulation)
{
    return simulation->problem.one_copy ? 1 : 2;
}

const char *tz_simulation_precision_text(const tz_simulation *simulation,
                                         char text[TZ_STORAGE_TEXT_SIZE + 32])
{
    char storage[TZ_STORAGE_TEXT_SIZE];
    tz_problem_storage_text(&simulation->problem, storage);
    snprintf(text, TZ_STORAGE_TEXT_SIZE + 32, "%s%s%s", tz_simulation_precision(simulation),
             storage[0] ? ", stored as " : "", storage);
    return text;
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
    return simulation->waited_s + (backend->set_up_s && simulation->state
                                       ? backend->set_up_s(tz__iterated_state(simulation))
                                       : 0.0);
}

const char *tz_run_status_name(tz_run_status status)
{
    static const char *const names[] = {"none",      "done",         "converged", "stagnated",
                                        "max_steps", "inconsistent", "until",     "stopped"};
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

/* ---- Parameters and plan --------------------------------------------------------------------- */

void tz_simulation_skip(tz_simulation *simulation, int64_t iterations)
{
    if (simulation->dry)
        simulation->step += iterations;
}

tz_policy *tz_simulation_policy(const tz_simulation *simulation)
{
    return simulation->policy;
}

/* ---- How large cells are --------------------------------------------------------------------- */

/* The value of the parameter with a role; 0: there is none. */
static double value_of(const tz_simulation *simulation, tz_param_role role)
{
    const int param = tz_stencil_param_of_role(tz_simulation_stencil(simulation), role);
    return param < 0 ? 0 : tz_simulation_params(simulation)[param].number;
}

bool tz_simulation_spacing(const tz_simulation *simulation, double spacing[TZ_AXES])
{
    static const tz_param_role extents[] = {TZ_PARAM_ROLE_EXTENT_X_M, TZ_PARAM_ROLE_EXTENT_Y_M,
                                            TZ_PARAM_ROLE_EXTENT_Z_M};
    static const tz_param_role widths[] = {TZ_PARAM_ROLE_SPACING_X, TZ_PARAM_ROLE_SPACING_Y,
                                           TZ_PARAM_ROLE_SPACING_Z};
    const int64_t *cells = tz_simulation_extent(simulation);
    bool known = true;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        double *width = &spacing[axis];
        *width = value_of(simulation, extents[axis]) / (double)cells[axis];
        if (*width == 0)
            *width = value_of(simulation, widths[axis]);
        if (*width == 0)
            *width = value_of(simulation, TZ_PARAM_ROLE_SPACING);
        if (axis < tz_simulation_stencil(simulation)->dims)
            known = known && *width > 0 && isfinite(*width);
    }
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (!known || axis >= tz_simulation_stencil(simulation)->dims)
            spacing[axis] = 1;
    return known;
}

void tz_simulation_set_y_up(tz_simulation *simulation)
{
    simulation->y_up = true;
}

bool tz_simulation_y_up(const tz_simulation *simulation)
{
    return simulation->y_up;
}

void tz_simulation_set_rows_up(tz_simulation *simulation)
{
    simulation->rows_up = true;
}

bool tz_simulation_rows_up(const tz_simulation *simulation)
{
    return simulation->rows_up;
}

const char *tz_simulation_spacing_unit(const tz_simulation *simulation)
{
    static const tz_param_role roles[] = {TZ_PARAM_ROLE_EXTENT_X_M, TZ_PARAM_ROLE_SPACING_X,
                                          TZ_PARAM_ROLE_SPACING};
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    double spacing[TZ_AXES];
    if (!tz_simulation_spacing(simulation, spacing))
        return NULL;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (value_of(simulation, roles[i]) != 0) {
            const char *unit = stencil->params[tz_stencil_param_of_role(stencil, roles[i])].unit;
            return unit ? unit : "";
        }
    return "";
}

/* ---- Finite cells ---------------------------------------------------------------------------- */

/* An error with the first of the cells that the check has found. */
static tz_status report_divergence(const tz_simulation *simulation, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    for (int f = 0; f < stencil->fields_count; f++) {
        tz_reduction reduction;
        if (stencil->fields[f].role != TZ_STATE)
            continue;
        const tz_status status = tz_backend_reduce(simulation->backend, simulation->state,
                                                   &simulation->problem, f, &reduction, error);
        if (status)
            return status;
        if (reduction.not_finite == 0)
            continue;
        return tz_error_set(error, TZ_DIVERGED, stencil->id,
                            "field '%s' is not finite at cell (%" PRId64 ", %" PRId64 ", %" PRId64
                            ") at step %" PRId64 " (%" PRId64 " such cells; all were finite at "
                            "step %" PRId64 "): %suse a smaller time step or check the input",
                            stencil->fields[f].name, reduction.first_not_finite[0],
                            reduction.first_not_finite[1], reduction.first_not_finite[2],
                            simulation->step, reduction.not_finite, simulation->finite_step,
                            tz_problem_as_computed(&simulation->problem, f)
                                ? ""
                                : "it is stored as half, up to 65504: give a larger scale, ");
    }
    return tz_error_set(error, TZ_BACKEND, stencil->id,
                        "the check of step %" PRId64 " found a value that is not finite, and the "
                        "reduction of the fields found none: the %s backend's results disagree",
                        simulation->step, simulation->backend->name);
}

tz_status tz_simulation_check_finite(tz_simulation *simulation, tz_error *error)
{
    bool finite;
    if (simulation->steps_unchecked == 0)
        return TZ_OK;
    const tz_status status = simulation->backend->all_finite(simulation->state, &finite, error);
    if (status)
        return status;
    simulation->steps_unchecked = 0;
    if (!finite)
        return report_divergence(simulation, error);
    simulation->finite_step = simulation->step;
    return TZ_OK;
}
