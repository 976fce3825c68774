/* A GPU's energy and clock, from NVML (libnvidia-ml.so.1), which is opened at run time.
 *
 * Runs do not need these numbers. If they are not available, functions return TZ_UNSUPPORTED with
 * the reason. One thread at a time may use a tz_cuda_energy. */
#ifndef TZ_CORE_BACKEND_CUDA_DRIVER_ENERGY_H
#define TZ_CORE_BACKEND_CUDA_DRIVER_ENERGY_H

#include "backend/backend.h"
#include "backend/cuda/driver/driver.h"

typedef struct tz_cuda_energy tz_cuda_energy;

/* Finds the device by its bus_id. TZ_UNSUPPORTED: NVML is missing or does not know the device, or
 * the device counts no energy (older than Volta; some virtual devices). */
tz_status tz_cuda_energy_open(tz_cuda_energy **out, const tz_cuda_device *device, tz_error *error);
void tz_cuda_energy_close(tz_cuda_energy *energy); /* NULL is fine */

/* Joules that the board has used since the driver was loaded, for all programs. The counter changes
 * every few ten milliseconds, so take differences over a second or more. */
tz_status tz_cuda_energy_read(tz_cuda_energy *energy, double *joules, tz_error *error);

/* The multiprocessors' clock now. NVML reads its sensors every few ten milliseconds and may miss
 * shorter changes. */
tz_status tz_cuda_energy_clock(tz_cuda_energy *energy, tz_clock_facts *clock, tz_error *error);

/* The enforced power limit of the board, in watts. */
tz_status tz_cuda_energy_limit(tz_cuda_energy *energy, double *watts, tz_error *error);

#endif
