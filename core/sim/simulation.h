/* A simulation: a stencil on a grid, with fields, parameters and a backend that advances it.
 *
 * sim/fields.h reads and writes fields, sim/run.h advances them, sim/numbers.h calls the stencil's
 * own analysis methods. One thread at a time uses a simulation. */
#ifndef TZ_CORE_SIM_SIMULATION_H
#define TZ_CORE_SIM_SIMULATION_H

#include "sim/types.h"

/* Errors: TZ_UNKNOWN (stencil, parameter, boundary, backend; with the nearest name), TZ_SHAPE,
 * TZ_RANGE, TZ_UNSTABLE (derive), TZ_MEMORY (with bytes needed and available), TZ_UNSUPPORTED. */
tz_status tz_simulation_create(tz_simulation **out, const tz_simulation_config *config,
                               tz_error *error);
void tz_simulation_destroy(tz_simulation *simulation); /* NULL is fine */

/* ---- Properties ------------------------------------------------------------------------------ */

const tz_stencil *tz_simulation_stencil(const tz_simulation *simulation);
const tz_plugin *tz_simulation_plugin(const tz_simulation *simulation);
const int64_t *tz_simulation_extent(const tz_simulation *simulation); /* [3], unused axes 1 */
int64_t tz_simulation_cells(const tz_simulation *simulation);
const char *tz_simulation_backend(const tz_simulation *simulation); /* its name; never "auto" */
/* The number of the GPU that holds its fields; -1: they are in memory of the host. */
int tz_simulation_gpu(const tz_simulation *simulation);
/* Was it, or its devices, named? Else "auto" has taken it. */
bool tz_simulation_backend_given(const tz_simulation *simulation);
/* With "auto": why it is that backend now, in a few words; "" if there is nothing to say. */
const char *tz_simulation_choice(const tz_simulation *simulation);
int tz_simulation_threads(const tz_simulation *simulation);
/* "single" or "double"; "none" for a stencil without real fields. */
const char *tz_simulation_precision(const tz_simulation *simulation);
/* The rules of the low and the high side of an axis. */
const tz_boundary *tz_simulation_boundary(const tz_simulation *simulation, int axis);
/* The boundary values of a field, one for each side: TZ_SIDES. */
/* How a field is stored; false: as updates compute with it. */
bool tz_simulation_storage(const tz_simulation *simulation, int field, tz_storage_wish *out);
/* Arrays of each state field that a backend keeps at most, as the script wants: 1, or 2. */
int tz_simulation_copies(const tz_simulation *simulation);
/* "single", or "single, stored as half". */
const char *tz_simulation_precision_text(const tz_simulation *simulation,
                                         char text[TZ_STORAGE_TEXT_SIZE + 32]);
const double *tz_simulation_boundary_values(const tz_simulation *simulation, int field);
/* What memory leaves out of a field's values (tz_setup.origins); mostly 0. */
double tz_simulation_origin(const tz_simulation *simulation, int field);
const tz_value *tz_simulation_params(const tz_simulation *simulation); /* in the stencil's order */
/* The value of a constant that varies in iteration `step`. TZ_UNKNOWN, with the nearest name;
 * errors of tz_problem_constants_at(). */
tz_status tz_simulation_scalar(const tz_simulation *simulation, const char *name, int64_t step,
                               double *value, tz_error *error);
/* Those that the scenario gives. */
size_t tz_simulation_scalars(const tz_simulation *simulation, const tz_series **out);
/* Is it in mixed precision? Then its fields are those of the last refinement. */
bool tz_simulation_is_mixed(const tz_simulation *simulation);
/* Bytes of its fields and work space (a dry one would need them). */
int64_t tz_simulation_bytes(const tz_simulation *simulation);

/* Iterations advanced since step 0. */
int64_t tz_simulation_step(const tz_simulation *simulation);
/* Seconds in all stages so far. */
double tz_simulation_seconds(const tz_simulation *simulation);
/* Seconds, not among these, in which stages waited for their kernels to be compiled or loaded. */
double tz_simulation_set_up_seconds(const tz_simulation *simulation);
/* The residual of the fields as they are: the largest change of a cell in the next iteration,
 * computed in double, times the stencil's factor. NAN unless it was measured (sim/residual.h). */
double tz_simulation_residual(const tz_simulation *simulation);

/* Check all cells if they have changed since the last check. TZ_DIVERGED: one is not finite. */
tz_status tz_simulation_check_finite(tz_simulation *simulation, tz_error *error);

const char *tz_run_status_name(tz_run_status status); /* "done", "converged", … */

const tz_run_end *tz_simulation_last_run(const tz_simulation *simulation);

/* ---- Parameters, plan and policy ------------------------------------------------------------- */

/* Set parameters between stages and derive the constants again. On error nothing changes. */
tz_status tz_simulation_set_params(tz_simulation *simulation, size_t count,
                                   const tz_assignment *params, tz_error *error);
/* Use this plan from now on (zeros: the backend chooses): policy "fixed". The bits of results do
 * not depend on it. On error nothing changes. */
tz_status tz_simulation_set_plan(tz_simulation *simulation, const tz_plan *plan, tz_error *error);
/* Choose plans by a settled wish from now on (policy/policy.h). On error nothing changes. */
struct tz_plan_wish;
tz_status tz_simulation_set_policy(tz_simulation *simulation, const struct tz_plan_wish *wish,
                                   tz_error *error);
const tz_plan *tz_simulation_plan(const tz_simulation *simulation);
struct tz_policy *tz_simulation_policy(const tz_simulation *simulation);
/* In a dry simulation: count iterations, which are not computed. */
void tz_simulation_skip(tz_simulation *simulation, int64_t iterations);
/* Go back to step 0; fields keep their values. */
void tz_simulation_rewind(tz_simulation *simulation);

/* Every distinct plan used so far, in order. */
size_t tz_simulation_plan_uses(const tz_simulation *simulation, const tz_plan_use **uses);

/* ---- Its device ------------------------------------------------------------------------------ */

/* The maker's name of its device, of several the first; "" if that is not known. Returns `text`. */
const char *tz_simulation_device_name(const tz_simulation *simulation, char *text, size_t size);

/* The device's energy counter in joules; NAN: none. Only differences have a meaning. */
double tz_simulation_energy(const tz_simulation *simulation);
/* Joules of all runs so far; 0 without an energy counter. */
double tz_simulation_energy_used(const tz_simulation *simulation);

/* How several devices hold the grid, and their exchanges so far. False: one device holds it, or the
 * simulation is dry. */
struct tz_slabs_facts;
bool tz_simulation_slabs(const tz_simulation *simulation, struct tz_slabs_facts *out);

/* The kernel of the present plan, and the device's copy bandwidth, measured now. TZ_UNSUPPORTED:
 * the backend has no kernels. */
struct tz_kernel_facts;
tz_status tz_simulation_kernel_facts(tz_simulation *simulation, struct tz_kernel_facts *out,
                                     tz_error *error);

/* ---- How large cells are --------------------------------------------------------------------- */

/* The widths of a cell along the axes: the grid's extent over its cells, or a parameter, in that
 * parameter's unit. False: not known for each of the grid's axes; all are then 1. */
bool tz_simulation_spacing(const tz_simulation *simulation, double spacing[TZ_AXES]);
/* Row 0 of the grid is the upper edge of a chip, whose y points up: a floorplan has filled a
 * field. */
void tz_simulation_set_y_up(tz_simulation *simulation);
bool tz_simulation_y_up(const tz_simulation *simulation);
/* Row 0 of the grid is the lower edge, also of floorplans: the script says so. */
void tz_simulation_set_rows_up(tz_simulation *simulation);
bool tz_simulation_rows_up(const tz_simulation *simulation);
/* The unit of the widths, "" if the parameter has none; NULL: the widths are not known. Static or
 * borrowed. */
const char *tz_simulation_spacing_unit(const tz_simulation *simulation);

#endif
