/* tz_backend.refine for the backends that run on the CPU. */
#ifndef TZ_CORE_BACKEND_HOST_REFINE_H
#define TZ_CORE_BACKEND_HOST_REFINE_H

#include "backend/host/store.h"

/* Add `field` of `correction` (single precision) to that of `solution` (double precision, the same
 * grid), and set it to zero. Ghosts stay as they are. */
void tz_host_refine_add(tz_host_store *solution, tz_host_store *correction, int field,
                        tz_threads *threads);

/* Set `field` of `correction` (single precision) to changes * source_per_update. `changes`: one for
 * each element of the grid, x fastest. Errors: TZ_MEMORY if the field was uniform. */
tz_status tz_host_refine_source(tz_host_store *correction, int field, const double *changes,
                                double source_per_update, tz_threads *threads, tz_error *error);

#endif
