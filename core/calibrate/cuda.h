/* Microbenchmarks of a GPU: a device record that is measured (kernels/cuda/calibrate.cuh), with
 * what the driver tells. */
#ifndef TZ_CORE_CALIBRATE_CUDA_H
#define TZ_CORE_CALIBRATE_CUDA_H

#include "backend/cuda/driver/driver.h"
#include "calibrate/calibrate.h"

/* The device of an open context. Rates and latencies count the multiprocessors' own clock, times
 * are of events; medians. TZ_BACKEND also where a kernel took no time: what executes it is no GPU.
 */
tz_status tz_cuda_calibrate(tz_model_device *out, tz_cuda *cuda, const tz_calibration *calibration,
                            tz_error *error);

#endif
