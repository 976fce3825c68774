/* The simulated time: iterations times the time of one, for stencils that have a parameter with
 * the role TZ_PARAM_ROLE_TIME_STEP; tz_stencil.steps says how many such steps an iteration
 * advances. Times are in the unit of that parameter and count from step 0. Functions that take or
 * return a time need such a stencil, unless they say otherwise.
 *
 * A step reaches a time if the simulated time is at least that, to 12 digits. So rounding does not
 * matter: with a time step of 1 us, step 2000 reaches 2 ms. Iterations are counted, not times
 * summed, so a long run does not drift. */
#ifndef TZ_CORE_SIM_SIMULATED_TIME_H
#define TZ_CORE_SIM_SIMULATED_TIME_H

#include "sim/simulation.h"

/* The parameter; NULL: the stencil has no time step. */
const tz_param *tz_simulation_time_step(const tz_simulation *simulation);
/* Its present value, times the steps of an iteration. */
double tz_simulation_dt(const tz_simulation *simulation);
/* The time at the present step, also if the time step changed on the way. NAN: no time step. */
double tz_simulation_time(const tz_simulation *simulation);
/* The same at another step, if the time step stays as it is. */
double tz_simulation_time_at(const tz_simulation *simulation, int64_t step);

/* The first step from the present one on that reaches a time, if the time step stays as it is.
 * TZ_RANGE: it is more than INT64_MAX / 4 steps away. */
tz_status tz_simulation_step_at(const tz_simulation *simulation, double time, int64_t *step,
                                tz_error *error);

/* When something regular happens: at the first step that reaches a multiple of `time`; or, if that
 * is 0, at multiples of `steps`, for every stencil. Both: also at step 0. A step that reaches
 * several multiples counts once. */
typedef struct tz_interval {
    int64_t steps;
    double time;
} tz_interval;

/* The first step after `step` at which it happens; INT64_MAX: never. */
int64_t tz_interval_next(const tz_interval *interval, const tz_simulation *simulation,
                         int64_t step);
/* Does it happen at `step`? */
bool tz_interval_is_due(const tz_interval *interval, const tz_simulation *simulation, int64_t step);
/* How often it happens from after step `first` to step `last`. */
int64_t tz_interval_count(const tz_interval *interval, const tz_simulation *simulation,
                          int64_t first, int64_t last);

/* ---- The clock ------------------------------------------------------------------------------- */

/* The value of the time step, and since when it has it. */
typedef struct tz_clock {
    double dt;
    int64_t since; /* that step was at `time` + `rest` */
    double time, rest;
} tz_clock;

/* Zeros without a time step. */
tz_clock tz_simulation_clock(const tz_simulation *simulation);
/* Errors: those of tz_simulation_set_params(). Without a time step it does nothing. */
tz_status tz_simulation_set_clock(tz_simulation *simulation, const tz_clock *clock,
                                  tz_error *error);

/* What times may differ by because of rounding, as a share. */
#define TZ_TIMES_ALIKE 1e-12

/* The time at the present step, as a sum of two numbers. */
double tz__simulation_exact_time(const tz_simulation *simulation, double *rest);

/* Does a parameter say what the clock is? */
bool tz__is_clock(const tz_simulation *simulation, int param);

/* After a change of the parameters: the time step was `before` until the present step. Formulas
 * learn of it. */
tz_status tz__simulation_time_step_changed(tz_simulation *simulation, double before,
                                           tz_error *error);

#endif
