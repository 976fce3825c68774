/* A simulation: one stencil on one grid with fields, parameters and a backend that advances it.
 *
 * Boxes are half open, in cells, x first. Cells are handed over as doubles, x fastest. */
#ifndef TZ_CORE_SIM_SIMULATION_H
#define TZ_CORE_SIM_SIMULATION_H

#include "base/array.h"
#include "stencil/types.h"
#include <stdbool.h>

typedef struct tz_simulation tz_simulation;

/* Errors: TZ_UNKNOWN (stencil, parameter, boundary, backend; with the nearest name), TZ_SHAPE,
 * TZ_RANGE, TZ_UNSTABLE (derive), TZ_MEMORY (with bytes needed and available), TZ_UNSUPPORTED. */
tz_status tz_simulation_create(tz_simulation **out, const tz_simulation_config *config,
                               tz_error *error);
void tz_simulation_destroy(tz_simulation *simulation); /* NULL is fine */

/* ---- What it is ------------------------------------------------------------------------------ */
const tz_stencil *tz_simulation_stencil(const tz_simulation *simulation);
const tz_plugin *tz_simulation_plugin(const tz_simulation *simulation);
const int64_t *tz_simulation_extent(const tz_simulation *simulation); /* [3], unused axes 1 */
const char *tz_simulation_backend(const tz_simulation *simulation);   /* which one runs */
int tz_simulation_threads(const tz_simulation *simulation);
const char *
tz_simulation_precision(const tz_simulation *simulation); /* "single", "double", "none" */
tz_boundary tz_simulation_boundary(const tz_simulation *simulation, int axis);
double tz_simulation_boundary_value(const tz_simulation *simulation, int field);
const tz_value *tz_simulation_params(const tz_simulation *simulation); /* per stencil param */
const tz_plan *tz_simulation_plan(const tz_simulation *simulation);
int64_t tz_simulation_step(const tz_simulation *simulation);
int64_t tz_simulation_cells(const tz_simulation *simulation);
/* Bytes that its fields and work space take (or would take, when dry). */
int64_t tz_simulation_bytes(const tz_simulation *simulation);
/* Seconds spent in stages so far, and iterations advanced. */
double tz_simulation_seconds(const tz_simulation *simulation);

/* ---- Parameters and plan --------------------------------------------------------------------- */
/* Set parameters between stages; the constants are derived anew. On error nothing changes. */
tz_status tz_simulation_set_params(tz_simulation *simulation, size_t count,
                                   const tz_assignment *params, tz_error *error);
/* Change height or tile between stages (zeros: chosen). The result's bits do not depend on it. */
tz_status tz_simulation_set_plan(tz_simulation *simulation, const tz_plan *plan, tz_error *error);
/* Another policy from here on. On error nothing changes. */
tz_status tz_simulation_set_policy(tz_simulation *simulation, const struct tz_policy_config *config,
                                   tz_error *error);
struct tz_policy *tz_simulation_policy(const tz_simulation *simulation);
/* Back to step 0; fields keep their values. */
void tz_simulation_rewind(tz_simulation *simulation);

/* ---- Fields ---------------------------------------------------------------------------------- */
/* Every cell of a box to one value (box NULL: everywhere). Refuses NaN, infinity, values that the
 * field's type cannot hold, and boxes outside the grid. */
tz_status tz_simulation_fill(tz_simulation *simulation, int field, const tz_box *box, double value,
                             tz_error *error);
/* Cells of a box from doubles. `place` names the source in messages (may be NULL). */
tz_status tz_simulation_write(tz_simulation *simulation, int field, const tz_box *box,
                              const double *values, const char *place, tz_error *error);
/* From an array of the grid's shape, or (bits, `at` given) a smaller one laid at that cell. A 1-D
 * array of nx*ny*nz numbers is accepted for any shape. */
tz_status tz_simulation_write_array(tz_simulation *simulation, int field, const tz_array *array,
                                    const int64_t *at, const char *place, tz_error *error);
tz_status tz_simulation_read(const tz_simulation *simulation, int field, const tz_box *box,
                             double *values, tz_error *error);
/* Cells of a box (NULL: all) in the field's own type, which tz_simulation_dtype names: float32 or
 * float64, int32, bits as uint8 0/1. */
tz_status tz_simulation_read_cells(const tz_simulation *simulation, int field, const tz_box *box,
                                   void *cells, tz_error *error);
/* Plane z of a field averaged down to nx x ny values, at most the plane's extents (base/average.h).
 * TZ_UNSUPPORTED, without a message, where the backend leaves that to who reads the cells. */
tz_status tz_simulation_shrink(const tz_simulation *simulation, int field, int64_t z, int nx,
                               int ny, double *values, tz_error *error);
tz_dtype tz_simulation_dtype(const tz_simulation *simulation, int field);
/* The same of the whole field, as an array that the caller destroys. */
tz_status tz_simulation_read_array(const tz_simulation *simulation, int field, tz_array **out,
                                   tz_error *error);

tz_status tz_simulation_fill_random(tz_simulation *simulation, int field, const tz_box *box,
                                    const tz_random *random, tz_error *error);

/* ---- Streamed fields: one slab (of the grid's shape) an iteration ---------------------------- */
/* Rows from memory: slab k of `data` (int32, C order, `slabs` of them) serves step k; the run stops
 * with TZ_RANGE when rows run out. `data` is borrowed until the simulation is destroyed or the
 * source replaced. */
tz_status tz_simulation_streamed_array(tz_simulation *simulation, int field, const int32_t *data,
                                       int64_t slabs, tz_error *error);
/* Rows made on the fly, endless, never stored. */
tz_status tz_simulation_streamed_random(tz_simulation *simulation, int field,
                                        const tz_random *random, tz_error *error);
/* Slabs there are from step 0; -1: endless; 0: none given. */
int64_t tz_simulation_streamed_slabs(const tz_simulation *simulation, int field);
/* Read `count` cells of slab `step` of a streamed field, from cell x on. */
tz_status tz_simulation_streamed_read(const tz_simulation *simulation, int field, int64_t step,
                                      int64_t x, int64_t count, double *values, tz_error *error);

/* ---- Numbers about a field: the same on every backend ---------------------------------------- */
tz_status tz_simulation_reduce(const tz_simulation *simulation, int field, tz_reduction *out,
                               tz_error *error);
/* Max norm of the last iteration's update times the stencil's factor; NAN before any iteration and
 * when the last stage had a height above 1 (ask the run for it: see tz_run). */
double tz_simulation_residual(const tz_simulation *simulation);

/* ---- Analysis methods of the stencil --------------------------------------------------------- */
typedef struct tz_method_sink {
    void *context;
    void (*number)(void *context, const char *name, double value);
    void (*list)(void *context, const char *name, int64_t count, const int64_t *values);
} tz_method_sink;
/* TZ_UNKNOWN with the nearest name; TZ_RANGE with the method's own message. */
tz_status tz_simulation_analyse(const tz_simulation *simulation, const char *method,
                                const tz_method_sink *sink, tz_error *error);

/* ---- Running --------------------------------------------------------------------------------- */
struct tz_snapshot; /* snapshot.h */

typedef struct tz_event {
    int64_t every;       /* fires at step 0 (start of the first run) and at multiples of this */
    bool wants_residual; /* the iteration before it is a stage of height 1 */
    tz_status (*fire)(void *context, tz_simulation *simulation, tz_error *error);
    void *context;
    /* Instead of fire() where fields can be kept while the run goes on: takes over what it needs of
     * the snapshot (holding it) and returns soon. NULL: fire() alone, for which the run waits. */
    tz_status (*later)(void *context, struct tz_snapshot *snapshot, tz_error *error);
    uint32_t fields; /* state fields that later() reads */
} tz_event;

typedef struct tz_run {
    int64_t steps;         /* iterations to do; < 0: unlimited (needs until_residual) */
    double until_residual; /* stop when the residual is <= this; NAN: no such test */
    bool until_is_update;  /* the test is of the update's max norm, not of the residual */
    int64_t check_every;   /* iterations between residual tests; 0: a default (about every 50) */
    size_t events_count;
    const tz_event *events;
    /* Called after each stage, with the steps done and the steps asked for (-1: unknown); returns
     * false to stop (the run then ends with TZ_INTERRUPTED, fields whole). May be NULL. */
    bool (*progress)(void *context, const tz_simulation *simulation, int64_t done, int64_t total);
    void *progress_context;
    /* Where events have later(). settle() waits for all that they have taken over and returns its
     * first error: before a fire() that comes after them, and at the end of the run. refused(): why
     * they are fired at once (once a run). */
    tz_status (*settle)(void *context, tz_error *error);
    void (*refused)(void *context, const tz_error *why);
    void *later_context;
} tz_run;

typedef struct tz_run_result {
    int64_t steps;   /* iterations done by this call */
    double residual; /* last one measured, NAN if none */
    double update;   /* max norm of the last update measured, NAN if none */
    bool converged;  /* until_residual was reached */
    double seconds;  /* wall time in stages alone */
    int64_t stages;
    double energy_j; /* of the whole device meanwhile; NAN where nobody counts */
} tz_run_result;

/* Errors: TZ_DIVERGED names step, field and cell of the first NaN or infinity; TZ_INTERRUPTED;
 * whatever an event's fire() returns. `result` is filled in every case. */
tz_status tz_simulation_run(tz_simulation *simulation, const tz_run *run, tz_run_result *result,
                            tz_error *error);

/* What the device's counter of energy says, in joule; NAN without one. Differences count. */
double tz_simulation_energy(const tz_simulation *simulation);
/* Joules of all runs so far; 0 without a counter. */
double tz_simulation_energy_used(const tz_simulation *simulation);

/* The kernel that the present plan leads to, and the device's copy bandwidth, measured now.
 * TZ_UNSUPPORTED on backends that have nothing to tell. */
struct tz_kernel_facts;
tz_status tz_simulation_kernel_facts(tz_simulation *simulation, struct tz_kernel_facts *out,
                                     tz_error *error);

/* Every distinct plan used so far, in order, with its stages, iterations and seconds. */
typedef struct tz_plan_use {
    tz_plan plan;
    int64_t stages, steps;
    double seconds;
    int64_t under_way; /* steps that nobody has waited for yet */
} tz_plan_use;
size_t tz_simulation_plan_uses(const tz_simulation *simulation, const tz_plan_use **uses);

#endif
