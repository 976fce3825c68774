/* The current bandwidth of a device's memory, for comparison with a measured kernel. */
#ifndef TZ_CORE_BACKEND_CUDA_COPY_RATE_H
#define TZ_CORE_BACKEND_CUDA_COPY_RATE_H

#include "backend/cuda/driver/driver.h"

/* Bytes read and written a second: the median of seven copies of 1 GiB within the device's memory.
 * Allocates 2 GiB meanwhile. Errors: TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_copy_rate(tz_cuda *cuda, double *bytes_per_s, tz_error *error);

#endif
