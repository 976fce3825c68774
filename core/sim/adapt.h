/* Time steps that a run chooses as it goes. */
#ifndef TZ_CORE_SIM_ADAPT_H
#define TZ_CORE_SIM_ADAPT_H

#include "sim/simulation.h"

/* How a run chooses its time step, at its first step and at the multiples of `every` steps, so
 * that no plan has a say in it: the least value in the grid of the derived field `largest_dt`; and
 * with a tolerance at most so that one step and two half ones differ by no more than that in any
 * cell of a state field of real numbers. Where they differ by less than half of it, the time step
 * grows by a tenth. The last steps up to `until` are shortened, all alike. */
typedef struct tz_adaptive {
    bool on;
    double tolerance; /* 0: by largest_dt alone */
    double until;     /* a time; NAN: none */
    int64_t every;
} tz_adaptive;

/* TZ_UNSUPPORTED, TZ_UNKNOWN: what the simulation lacks for that. */
tz_status tz_simulation_check_adaptive(const tz_simulation *simulation, const tz_adaptive *adaptive,
                                       tz_error *error);
/* Choose the time step now; no stage may run. *left: the steps up to `until` with it, if it stays;
 * else as it was. *whole: what the time step would be without `until`. Errors: TZ_UNSTABLE, no
 * time step will do; TZ_MEMORY; those of the backend. */
tz_status tz__adapt(tz_simulation *simulation, const tz_adaptive *adaptive, double *whole,
                    int64_t *left, tz_error *error);

#endif
