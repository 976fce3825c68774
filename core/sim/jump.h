/* Jumps of a simulation: many iterations at once, for linear updates with constant coefficients
 * (jump/jump.h). tz_run.jumps makes a run of them. */
#ifndef TZ_CORE_SIM_JUMP_H
#define TZ_CORE_SIM_JUMP_H

#include "sim/simulation.h"

/* jumps + steady is 0: there were none. */
const tz_jump_use *tz_simulation_jumps(const tz_simulation *simulation);

/* Whether the description of the simulation allows jumps: quick, and also for a dry one. Whether
 * its update is linear shows when it is tried. Errors: TZ_UNSUPPORTED, with the reason. */
tz_status tz_simulation_check_jump(const tz_simulation *simulation, tz_error *error);

/* One jump, after all stages; the caller counts its steps. *seconds: that it took. */
tz_status tz__simulation_jump(tz_simulation *simulation, int64_t steps, double *seconds,
                              tz_error *error);

#endif
