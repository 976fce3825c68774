/* Microbenchmarks of a GPU (kernels/cuda/calibrate.cuh), which make a device record together with
 * the driver's facts. */
#ifndef TZ_CORE_CALIBRATE_CUDA_H
#define TZ_CORE_CALIBRATE_CUDA_H

#include "backend/cuda/driver/driver.h"
#include "calibrate/calibrate.h"

/* Measure the device of an open context. Rates and latencies are in clocks of the multiprocessors,
 * times are between events; medians count. TZ_BACKEND also if a kernel took no time: the device is
 * not a real GPU. */
tz_status tz_cuda_calibrate(tz_model_device *out, tz_cuda *cuda, const tz_calibration *calibration,
                            tz_error *error);

/* Measure only the costs of instructions of PTX and the constants of luo2011, and set them in the record
 * of the same device, which has its clock. After an error the record is as before. */
tz_status tz_cuda_calibrate_costs(tz_model_device *record, tz_cuda *cuda,
                                  const tz_calibration *calibration, tz_error *error);

#endif
