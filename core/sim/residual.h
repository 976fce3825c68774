/* The residual of the fields as they are, and how a run finds out that it converges or
 * stagnates. */
#ifndef TZ_CORE_SIM_RESIDUAL_H
#define TZ_CORE_SIM_RESIDUAL_H

#include "sim/simulation.h"

/* What the next iteration would change, computed in double from the fields as they are. It is
 * measured once for the fields of a step. Errors: TZ_UNSUPPORTED for a stencil with a streamed
 * field, which has no residual; errors of the backend. */
tz_status tz_simulation_measure(tz_simulation *simulation, tz_update *out, tz_error *error);

/* The residual of an update: its largest change times the stencil's factor. */
double tz_simulation_residual_of(const tz_simulation *simulation, const tz_update *update);

/* TZ_UNSUPPORTED: the stencil has no residual. */
tz_status tz_stencil_has_residual(const tz_stencil *stencil, tz_error *error);

/* Whether rounding explains why fields do not move: the update is not 0, and at most a few units in
 * the last place of the largest value in the precision of the fields. Never for integers. */
bool tz_simulation_is_rounding(const tz_simulation *simulation, const tz_update *update);

/* ---- Checks of a run ------------------------------------------------------------------------- */

/* The steps at which a run checks its residual, and what the checks have shown. Nothing here
 * depends on time, backend or plan, and neither does the step at which a run stops. */
typedef struct tz_checks {
    int64_t start, every; /* every 0: see tz_checks_next */
    int64_t count;        /* checks so far */
    double largest, sum;  /* the least of all checks */
    int64_t least_count;  /* checks until one of them was less than before */
    int64_t least_step;   /* the step of that check */
    tz_update last;
} tz_checks;

tz_checks tz_checks_begin(int64_t step, int64_t every);

#define TZ_CHECK_FIRST 8
#define TZ_CHECK_LAST 1024
#define TZ_CHECK_SHARE 32
/* The step of the next check after the one at `step`: `every` steps later or, if that is 0, first
 * TZ_CHECK_FIRST steps, then twice as far each time, up to TZ_CHECK_LAST or 1/TZ_CHECK_SHARE of
 * the steps of the run so far. So checks cost little, and few steps are too many. */
int64_t tz_checks_next(const tz_checks *checks, int64_t step);

typedef struct tz_check_result {
    bool repeats; /* all numbers are those of the check before: the fields may be the same */
    bool stuck;   /* for long neither the largest change nor the sum has become less */
} tz_check_result;

tz_check_result tz_checks_add(tz_checks *checks, int64_t step, const tz_update *update);
/* Although it was stuck, something moves: wait as long again. */
void tz_checks_wait(tz_checks *checks, int64_t step);

/* Values of some cells of all state fields, malloc'd: to see later whether they have moved. Errors:
 * TZ_MEMORY, errors of the backend. */
tz_status tz_simulation_sample(const tz_simulation *simulation, double **out, size_t *count,
                               tz_error *error);

#endif
