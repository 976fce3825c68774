#include "sim/correction.h"

#include "sim/simulation_impl.h"
#include <stdlib.h>

tz_status tz__correction_resolve(tz_simulation *simulation, tz_error *error)
{
    tz_correction *correction = calloc(1, sizeof *correction);
    if (!correction)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a simulation");
    const tz_status status =
        tz_problem_correction(&correction->problem, &simulation->problem, error);
    if (status)
        free(correction);
    else
        simulation->correction = correction;
    return status;
}

tz_status tz__correction_create_fields(tz_simulation *simulation, tz_error *error)
{
    tz_correction *correction = simulation->correction;
    if (!correction)
        return TZ_OK;
    const tz_backend_context context = tz__simulation_context(simulation, &correction->problem);
    return simulation->backend->create(&correction->state, &context, error);
}

void tz__correction_destroy(tz_simulation *simulation)
{
    tz_correction *correction = simulation->correction;
    if (!correction)
        return;
    if (correction->state)
        simulation->backend->destroy(correction->state);
    tz_problem_clear(&correction->problem);
    free(correction);
    simulation->correction = NULL;
}

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
    const tz_status status = simulation->backend->refine(
        simulation->state, correction->state, simulation->step, &simulation->update, error);
    if (!status)
        correction->ahead = false;
    return status;
}

tz_status tz__correction_set_params(tz_simulation *simulation, size_t count,
                                    const tz_assignment *params, tz_error *error)
{
    tz_correction *correction = simulation->correction;
    return correction ? tz_problem_set_params(&correction->problem, count, params, error) : TZ_OK;
}
