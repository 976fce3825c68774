/* Derived fields: nothing stores them. They are computed with the stencil's outputs from the other
 * fields as they are now, when they are read. TZ_STEP is then the number of iterations done, and
 * constants that vary have the values of the next iteration. The memory that this takes does not
 * grow with the grid. */
#ifndef TZ_CORE_SIM_DERIVED_H
#define TZ_CORE_SIM_DERIVED_H

#include "sim/simulation.h"

bool tz__is_derived(const tz_simulation *simulation, int field);

/* As load of tz_backend, for any field that is not streamed. */
tz_status tz__field_load(const tz_simulation *simulation, int field, const tz_box *box,
                         void *elements, tz_error *error);
/* As reduce of tz_backend. */
tz_status tz__field_reduce(const tz_simulation *simulation, int field, tz_reduction *out,
                           tz_error *error);

#endif
