/* What the other files do with a simulation: where it computes, what is wrong when fields change,
 * and the correction of mixed precision. */
#include "sim/state.h"

#include "backend/host/reduce.h"
#include "jump/solver.h"
#include "stencil/registry.h"

tz_place tz__simulation_place(const tz_simulation *simulation, const tz_model_device *record)
{
    return (tz_place){
        .device = record,
        .threads = simulation->threads,
        .limits = simulation->limits,
        .devices = simulation->devices.count > 0 ? &simulation->devices : NULL,
        .link = simulation->joined.bytes_per_s > 0 ? &simulation->joined : NULL,
        .cancel = {.stopped = simulation->stopped, .cancelled = simulation->cancelled},
        .compiled = simulation->compiled,
        .told = simulation->told};
}

const char *tz__simulation_plugin_file(const tz_simulation *simulation)
{
    return tz_registry_of(simulation->registry, simulation->plugin)->file;
}

tz_backend_context tz__simulation_context(const tz_simulation *simulation,
                                          const tz_problem *problem)
{
    return (tz_backend_context){.problem = problem,
                                .streamed = simulation->streamed_pointers,
                                .threads = simulation->pool,
                                .device = simulation->device,
                                .sync = simulation->sync,
                                .overdue = simulation->overdue,
                                .cancelled = simulation->cancelled,
                                .devices = &simulation->devices,
                                .exchange = simulation->plan.exchange,
                                .ranks = simulation->ranks,
                                .plugin = tz__simulation_plugin_file(simulation),
                                .plan = &simulation->plan};
}

tz_status tz__simulation_need_fields(const tz_simulation *simulation, tz_error *error)
{
    return simulation->dry ? tz_error_set(error, TZ_UNSUPPORTED, NULL,
                                          "the scenario is only being checked: there are no fields")
                           : TZ_OK;
}

void tz__simulation_field_changes(tz_simulation *simulation, int field)
{
    simulation->update_known = false;
    if (simulation->problem.stencil->fields[field].role != TZ_STATIC)
        return;
    simulation->facts_known = false;
    tz__simulation_forget_jump(simulation);
    tz_solver_doubt(simulation->solver);
}

void tz__simulation_forget_jump(tz_simulation *simulation)
{
    tz_jump_destroy(simulation->jump);
    simulation->jump = NULL;
}

void tz__simulation_forget_update(tz_simulation *simulation)
{
    tz__simulation_forget_jump(simulation);
    tz_solver_destroy(simulation->solver);
    simulation->solver = NULL;
}

/* ---- Mixed precision ------------------------------------------------------------------------- */

const tz_problem *tz__iterated_problem(const tz_simulation *simulation)
{
    return simulation->correction ? &simulation->correction->problem : &simulation->problem;
}

void *tz__iterated_state(const tz_simulation *simulation)
{
    return simulation->correction ? simulation->correction->state : simulation->state;
}

int64_t tz__simulation_bytes_with(const tz_simulation *simulation, const tz_plan *plan)
{
    const tz_place place = tz__simulation_place(simulation, NULL);
    const tz_backend *backend = simulation->backend;
    const int64_t bytes = backend->bytes(tz__iterated_problem(simulation), &place, plan);
    if (!simulation->correction)
        return bytes;
    /* No stage advances the solution, so a plan of height 1 is enough for it. */
    tz_plan low = *plan;
    low.height = 1;
    const int64_t solution = backend->bytes(&simulation->problem, &place, &low);
    return bytes > INT64_MAX - solution ? INT64_MAX : bytes + solution;
}

tz_status tz__correction_refine(tz_simulation *simulation, tz_error *error)
{
    tz_correction *correction = simulation->correction;
    const tz_status status =
        tz_backend_refine(simulation->backend, simulation->state, correction->state,
                          &simulation->problem, simulation->step, &simulation->update, error);
    if (!status)
        correction->ahead = false;
    return status;
}

tz_status tz__correction_settle(tz_simulation *simulation, tz_error *error)
{
    const tz_correction *correction = simulation->correction;
    return correction && correction->ahead ? tz__correction_refine(simulation, error) : TZ_OK;
}

tz_status tz__correction_clear(tz_simulation *simulation, tz_error *error)
{
    tz_correction *correction = simulation->correction;
    const float zero = 0.0f;
    if (!correction)
        return TZ_OK;
    correction->ahead = false;
    return simulation->backend->fill(
        correction->state, simulation->problem.stencil->refinement->solution, &zero, error);
}
