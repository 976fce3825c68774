/* A GPU's energy, its clock and what slows the clock down: from NVML (libnvidia-ml.so.1), which is
 * opened at run time.
 *
 * Runs do not need these numbers. Where they are not available the functions return TZ_UNSUPPORTED
 * with the reason. One thread at a time may use a tz_cuda_energy. */
#ifndef TZ_CORE_BACKEND_CUDA_DRIVER_ENERGY_H
#define TZ_CORE_BACKEND_CUDA_DRIVER_ENERGY_H

#include "backend/cuda/driver/driver.h"

typedef struct tz_cuda_energy tz_cuda_energy;

/* Find the device by its bus_id. TZ_UNSUPPORTED: there is no NVML, it does not know the device, or
 * the device counts no energy (older than Volta; some virtual devices). */
tz_status tz_cuda_energy_open(tz_cuda_energy **out, const tz_cuda_device *device, tz_error *error);
void tz_cuda_energy_close(tz_cuda_energy *energy); /* NULL is fine */

/* Joules that the whole board has used since the driver was loaded, by all programs. The counter is
 * updated every few ten milliseconds: take differences over a second or more. */
tz_status tz_cuda_energy_read(tz_cuda_energy *energy, double *joules, tz_error *error);

/* The multiprocessors' clock, and whether it is lowered to keep the power or the temperature within
 * its limit. */
typedef struct tz_cuda_clock {
    double hz;
    bool for_power, for_heat;
} tz_cuda_clock;

/* The clock now. NVML reads its sensors every few ten milliseconds and may miss what is shorter. */
tz_status tz_cuda_energy_clock(tz_cuda_energy *energy, tz_cuda_clock *clock, tz_error *error);

/* The enforced power limit of the board, in watts. */
tz_status tz_cuda_energy_limit(tz_cuda_energy *energy, double *watts, tz_error *error);

#endif
