/* Microbenchmarks of what joins devices that hold slabs of a grid: stages of a small and of a wide
 * grid in two slabs, and the account that the slabs keep of their exchanges. */
#ifndef TZ_CORE_CALIBRATE_LINKS_H
#define TZ_CORE_CALIBRATE_LINKS_H

#include "backend/backend.h"
#include "calibrate/calibrate.h"

/* Measure `slab_start`, and the numbers of the link `name`: "peer" or "host". `devices`: two of the
 * backend, with a thread each on a CPU. `stencil`: any of 2-D, with a radius of at least 1, without
 * streamed fields. TZ_RANGE (another stencil or number of devices), TZ_INTERRUPTED, errors of the
 * backend; the record is then unchanged. */
tz_status tz_calibrate_link(tz_model_device *out, const char *name, const tz_backend *backend,
                            const tz_devices *devices, const tz_stencil *stencil,
                            const tz_calibration *calibration, tz_error *error);

#endif
