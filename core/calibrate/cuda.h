/* Microbenchmarks of a GPU (kernels/cuda/calibrate.cuh), which make a device record together with
 * the driver's facts. */
#ifndef TZ_CORE_CALIBRATE_CUDA_H
#define TZ_CORE_CALIBRATE_CUDA_H

#include "backend/cuda/driver/driver.h"
#include "calibrate/calibrate.h"

struct tz__bench;

/* Measure the device of an open context. Rates and latencies are in clocks of the multiprocessors,
 * times are between events; medians count. TZ_BACKEND also if a kernel took no time: the device is
 * not a real GPU. */
tz_status tz_cuda_calibrate(tz_model_device *out, tz_cuda *cuda, const tz_calibration *calibration,
                            tz_error *error);

/* A part of a calibration that can also be measured alone, into the record of the same device. */
typedef struct tz_cuda_part {
    const char *name; /* `trapeze calibrate --NAME` measures it alone */
    const char *help; /* its line of --help */
    /* sets its numbers in the bench's record (cuda_bench.h) */
    tz_status (*measure)(struct tz__bench *b);
} tz_cuda_part;

/* Those that a calibration ends with; NULL-terminated (core/papers.c). */
extern const tz_cuda_part *const tz_cuda_parts_added[];

/* Measure only that part. The record has the clock. After an error it is as before. */
tz_status tz_cuda_calibrate_part(tz_model_device *record, tz_cuda *cuda, const tz_cuda_part *part,
                                 const tz_calibration *calibration, tz_error *error);

/* Sets name, title, counts and sizes, memory_bandwidth from the nominal clock and width of the
 * memory, and what is the same for all GPUs. Not the clock: the nominal one is gpu->clock_khz. */
void tz_cuda_facts(tz_model_device *device, const tz_cuda_device *gpu);

#endif
