/* The constants a, b and d of equations 3 to 5 (luo2011.h) from measured times. The paper says that
 * they were fitted to microbenchmarks, but not how: this way is ours. */
#ifndef TZ_MODEL_LUO2011_FIT_H
#define TZ_MODEL_LUO2011_FIT_H

#include "model/luo2011.h"

/* A measured parallel degree of computation. */
typedef struct tz_luo2011_point {
    double share;  /* P, 0 to 1 */
    double active; /* N_act, warps */
    double cpd;    /* at least 1 */
} tz_luo2011_point;

/* The degree by which equations 6 to 13 give `time`, for one of many equal periods: `period` has
 * computation, memory and mpd. NAN: waits for memory leave no time for computation. Only these
 * members of `period` are read. */
double tz_luo2011_measured_cpd(const tz_luo2011_period *period, double active, double time);

/* Sets a, b and d of `gpu`, whose c and warps_max are given: least squares of the relative errors of the
 * degree. *error_share: their root mean square. d is at least 0. Errors: TZ_RANGE (fewer than 6
 * points, or a degree below 1); `gpu` is then unchanged. */
tz_status tz_luo2011_fit(const tz_luo2011_point *points, int count, tz_luo2011_gpu *gpu,
                         double *error_share, tz_error *error);

#endif
