/* What the driver tells of a GPU, as numbers of a device record. */
#ifndef TZ_CORE_CALIBRATE_CUDA_FACTS_H
#define TZ_CORE_CALIBRATE_CUDA_FACTS_H

#include "backend/cuda/driver/driver.h"
#include "model/device.h"

/* Sets name, title, counts and sizes, memory_bandwidth from the nominal clock and width of the memory, and
 * what is the same for all GPUs. Not the clock: the nominal one is gpu->clock_khz. */
void tz_cuda_facts(tz_model_device *device, const tz_cuda_device *gpu);

#endif
