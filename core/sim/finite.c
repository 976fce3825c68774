/* The check that every cell is finite. */
#include "sim/simulation_impl.h"
#include <inttypes.h>

/* An error with the first of the cells that the check has found. */
static tz_status report_divergence(const tz_simulation *simulation, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    for (int f = 0; f < stencil->fields_count; f++) {
        tz_reduction reduction;
        if (stencil->fields[f].role != TZ_STATE)
            continue;
        const tz_status status =
            simulation->backend->reduce(simulation->state, f, &reduction, error);
        if (status)
            return status;
        if (reduction.not_finite == 0)
            continue;
        return tz_error_set(error, TZ_DIVERGED, stencil->id,
                            "field '%s' is not finite at cell (%" PRId64 ", %" PRId64 ", %" PRId64
                            ") at step %" PRId64 " (%" PRId64 " such cells; all were finite at "
                            "step %" PRId64 "): use a smaller time step or check the input",
                            stencil->fields[f].name, reduction.first_not_finite[0],
                            reduction.first_not_finite[1], reduction.first_not_finite[2],
                            simulation->step, reduction.not_finite, simulation->finite_step);
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
