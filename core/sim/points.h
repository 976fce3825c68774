/* Receivers and sources: points of a simulation at which every iteration records a field, or adds
 * to it. They end no stage early, and their values do not depend on plans.
 *
 * A point may lie between cells. Its value is then a sum of weighted cells, in one order: z, y, x;
 * and a source gives each of these cells its part. Past a side of the grid the weights go to the
 * cells that a read there gets; past a fixed side, to its value. */
#ifndef TZ_CORE_SIM_POINTS_H
#define TZ_CORE_SIM_POINTS_H

#include "sim/types.h"
#include "stencil/points.h"

/* Points are cells; or a value is of the two cells beside it along each axis; or of eight, by a
 * sinc with a Kaiser window (Hicks, Geophysics 67, 2002). */
typedef enum tz_interpolation { TZ_ON_GRID, TZ_LINEAR, TZ_SINC } tz_interpolation;

typedef struct tz_points_config {
    int field;
    size_t count;
    const double *at; /* coordinates of each, x first; cell 0 is at 0 */
    tz_interpolation interpolation;
    bool jumps; /* of receivers: they record nothing in jumps, which are refused otherwise */
} tz_points_config;

/* What sources add. Row 0 of `values` is for the next iteration. */
typedef struct tz_source_config {
    double scale;
    int64_t steps;  /* rows; 0: the function gives the values of all points */
    double *values; /* [steps][points]; taken over, also after an error: free() */
    double (*value)(const void *context, const tz_value *params, int64_t step, double time);
    const void *context; /* which outlives the simulation */
} tz_source_config;

/* Errors, all with one line: TZ_RANGE (a point outside the grid or twice,
 * values that are not finite), TZ_UNSUPPORTED (the field or the backend cannot), TZ_MEMORY. */
tz_status tz_simulation_add_sources(tz_simulation *simulation, const tz_points_config *points,
                                    const tz_source_config *source, tz_error *error);

typedef struct tz_receivers tz_receivers;

/* Receivers that record after each iteration whose number is a multiple of `every`. They are the
 * simulation's. */
tz_status tz_simulation_add_receivers(tz_simulation *simulation, const tz_points_config *points,
                                      int64_t every, tz_receivers **out, tz_error *error);

/* Number i in the order in which they were added; NULL past the last. */
tz_receivers *tz_simulation_receivers(const tz_simulation *simulation, size_t i);

/* Bring in what stages have recorded so far; waits for them. */
tz_status tz_simulation_receive(tz_simulation *simulation, tz_error *error);

/* What has been brought in and not been dropped: rows of `count` values, and the step after which
 * each was recorded. */
typedef struct tz_received {
    size_t count;
    int64_t rows;
    const int64_t *steps;
    const double *values;
} tz_received;
tz_received tz_receivers_get(const tz_receivers *receivers);
void tz_receivers_drop(tz_receivers *receivers, int64_t rows);
/* Can the present plan record a field at points? */
bool tz_simulation_can_record(const tz_simulation *simulation, int field);
/* May a jump pass over its sources and receivers? */
bool tz_simulation_points_jump(const tz_simulation *simulation);

/* ---- For run.c ------------------------------------------------------------------------------- */

/* Makes what is new ready. TZ_SHAPE: not all sources have values for so many iterations. */
tz_status tz__points_check(tz_simulation *simulation, int64_t steps, tz_error *error);
/* The most iterations of a call of the backend. */
int64_t tz__points_longest(const tz_simulation *simulation);
/* Before a call: the values that sources add. After it. */
tz_status tz__points_begin(tz_simulation *simulation, int64_t iterations, tz_error *error);
void tz__points_end(tz_simulation *simulation, int64_t iterations);
/* Before a field is written: derived values until now depend on static fields. */
tz_status tz__points_before_write(tz_simulation *simulation, int field, tz_error *error);
/* Parameters have changed, on which formulas of sources depend. */
void tz__points_renew(tz_simulation *simulation);
void tz__points_destroy(tz_simulation *simulation);

#endif
