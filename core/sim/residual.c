/* Measures the update of an iteration and schedules the checks of a run that has a limit. Called by
 * run.c; core/lua and output/writer.c read the residual. */
#include "sim/residual.h"

#include "backend/host/reduce.h"
#include "sim/fields.h"
#include "sim/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* A run is stuck after so many checks and steps without a new least number, and half as many
     * steps as it took to get there: a field that changes slowly has one in that time, and so has a
     * front that moves. */
    STUCK_CHECKS = 16,
    STUCK_STEPS = 8192,
    SAMPLE_ROWS = 32,
    SAMPLE_CELLS = 2048 /* of a row */
};

/* In units in the last place of the largest value. A few operations are rounded in an update. */
static const double ROUNDING_UNITS = 16.0;

tz_status tz_stencil_has_residual(const tz_stencil *stencil, tz_error *error)
{
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                                "it has no residual, because field '%s' is streamed: use "
                                "until_update, which is the change of an iteration",
                                stencil->fields[f].name);
    return TZ_OK;
}

tz_status tz_simulation_measure(tz_simulation *simulation, tz_update *out, tz_error *error)
{
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (!status)
        status = tz_stencil_has_residual(simulation->problem.stencil, error);
    if (!status && !simulation->update_known)
        status = simulation->correction ? tz__correction_refine(simulation, error)
                                        : tz_backend_update(simulation->backend, simulation->state,
                                                            &simulation->problem, simulation->step,
                                                            &simulation->update, error);
    if (status)
        return status;
    simulation->update_known = true;
    *out = simulation->update;
    return TZ_OK;
}

double tz_simulation_residual_of(const tz_simulation *simulation, const tz_update *update)
{
    return update->largest * simulation->problem.residual_per_update;
}

double tz_simulation_residual(const tz_simulation *simulation)
{
    return simulation->update_known ? tz_simulation_residual_of(simulation, &simulation->update)
                                    : NAN;
}

bool tz_simulation_is_rounding(const tz_simulation *simulation, const tz_update *update)
{
    const tz_problem *problem = &simulation->problem;
    const double unit = tz_problem_real(problem)->epsilon;
    return tz_stencil_has_real(problem->stencil) && update->largest > 0.0 &&
           update->largest <= ROUNDING_UNITS * unit * update->magnitude;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

tz_checks tz_checks_begin(int64_t step, int64_t every)
{
    return (tz_checks){.start = step,
                       .every = every,
                       .largest = INFINITY,
                       .sum = INFINITY,
                       .least_step = step,
                       .last = {NAN, NAN, NAN}};
}

/* The largest power of two up to n, between `least` and `most`. */
static int64_t power_of_two(int64_t n, int64_t least, int64_t most)
{
    int64_t power = least;
    while (power < most && 2 * power <= n)
        power *= 2;
    return power;
}

int64_t tz_checks_next(const tz_checks *checks, int64_t step)
{
    const int64_t done = step - checks->start;
    if (checks->every > 0)
        return checks->start + (done / checks->every + 1) * checks->every;
    const int64_t first = power_of_two(done, TZ_CHECK_FIRST, TZ_CHECK_LAST);
    const int64_t distance = power_of_two(done / TZ_CHECK_SHARE, first, INT64_MAX / 4);
    return checks->start + (done / distance + 1) * distance;
}

tz_check_result tz_checks_add(tz_checks *checks, int64_t step, const tz_update *update)
{
    const bool repeats = memcmp(update, &checks->last, sizeof *update) == 0;
    checks->last = *update;
    checks->count++;
    if (update->largest < checks->largest || update->sum < checks->sum) {
        checks->largest = fmin(checks->largest, update->largest);
        checks->sum = fmin(checks->sum, update->sum);
        checks->least_count = checks->count;
        checks->least_step = step;
    }
    const int64_t steps = step - checks->least_step, before = checks->least_step - checks->start;
    return (tz_check_result){.repeats = repeats,
                             .stuck = checks->count - checks->least_count >= STUCK_CHECKS &&
                                      steps >= STUCK_STEPS && steps >= before / 2};
}

void tz_checks_wait(tz_checks *checks, int64_t step)
{
    checks->least_count = checks->count;
    checks->least_step = step;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Pieces of rows that are evenly spread over the grid, in x, too. */
tz_status tz_simulation_sample(const tz_simulation *simulation, double **out, size_t *count,
                               tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const int64_t *extent = problem->extent;
    const int64_t rows = extent[1] * extent[2], pieces = rows < SAMPLE_ROWS ? rows : SAMPLE_ROWS;
    const int64_t cells = extent[0] < SAMPLE_CELLS ? extent[0] : SAMPLE_CELLS;
    tz_status status = TZ_OK;
    *count = 0;
    *out = malloc((size_t)(problem->stencil->fields_count * pieces * cells) * sizeof **out);
    if (!*out)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a sample of the fields");
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int64_t i = 0; i < pieces && problem->stencil->fields[f].role == TZ_STATE; i++) {
            const int64_t row = i * rows / pieces, x = (extent[0] - cells) * (i + 1) / pieces;
            const int64_t y = row % extent[1], z = row / extent[1];
            const tz_box box = {{x, y, z}, {x + cells, y + 1, z + 1}};
            if (!status)
                status = tz_simulation_read(simulation, f, &box, *out + *count, error);
            *count += (size_t)cells;
        }
    if (status) {
        free(*out);
        *out = NULL;
    }
    return status;
}
