/* The energy that a GPU has used, its clock and what holds that back, from NVML
 * (libnvidia-ml.so.1), opened at run time.
 *
 * They are numbers beside the results: where they are not to be had the functions say why, in one
 * line, and a run goes on without. */
#ifndef TZ_CORE_BACKEND_CUDA_DRIVER_ENERGY_H
#define TZ_CORE_BACKEND_CUDA_DRIVER_ENERGY_H

#include "backend/cuda/driver/driver.h"

typedef struct tz_cuda_energy tz_cuda_energy;

/* The counter of a device (its bus_id tells which). TZ_UNSUPPORTED: no NVML, a device that it does
 * not know or one that counts no energy (older than Volta; some virtual ones). */
tz_status tz_cuda_energy_open(tz_cuda_energy **out, const tz_cuda_device *device, tz_error *error);
void tz_cuda_energy_close(tz_cuda_energy *energy); /* NULL is fine */

/* Joules since the driver was loaded, of the whole board and whoever uses it. The counter is in
 * millijoules and moves in steps of some tens of milliseconds: take differences over a second or
 * more. TZ_UNSUPPORTED. */
tz_status tz_cuda_energy_read(tz_cuda_energy *energy, double *joules, tz_error *error);

/* Of the multiprocessors, now. */
typedef struct tz_cuda_clock {
    double hz;
    bool for_power, for_heat; /* held back to keep within the card's power, or its temperature */
} tz_cuda_clock;

/* NVML looks at its sensors every few ten milliseconds: what held the clock back for less may not
 * be told. TZ_UNSUPPORTED: an NVML or a device that does not tell. */
tz_status tz_cuda_energy_clock(tz_cuda_energy *energy, tz_cuda_clock *clock, tz_error *error);

/* Watts that the board keeps to on average, whoever has set them. TZ_UNSUPPORTED. */
tz_status tz_cuda_energy_limit(tz_cuda_energy *energy, double *watts, tz_error *error);

#endif
