/* The text that names the devices of a run. */
#ifndef TZ_CORE_BACKEND_SLABS_DEVICES_H
#define TZ_CORE_BACKEND_SLABS_DEVICES_H

#include "backend/slabs/slabs.h"

/* Read the names of devices, one slab each, separated by commas:
 *
 *   2            GPU number 2; a GPU may be named several times
 *   all          all GPUs of this machine
 *   cpu          the cpu backend, and
 *   cpu:3        three slabs of it; also "reference", which is serial
 *   ...*1.5      any of these: its slabs have one and a half times the usual share of the grid
 *                (from 1e-6 to 1e6)
 *
 * `backend`: the one that the scenario names, or NULL; *found is the backend of the devices. The
 * `threads` of a CPU are divided among its slabs. Errors: TZ_UNKNOWN, TZ_RANGE; TZ_BACKEND if a GPU
 * does not exist. */
tz_status tz_devices_parse(const char *text, const tz_backend *backend, int threads,
                           const tz_backend **found, tz_devices *out, tz_error *error);

/* The devices that tz_devices_wish (slabs.h) means here; of several ranks, which all call it, this rank's part of
 * the machine's, and then those of all ranks, in the order of ranks. Each GPU goes to one of the machine's
 * ranks, or several ranks share one. */
tz_status tz_devices_find(const tz_ranks *ranks, const tz_devices_wish *wish,
                          const tz_backend **backend, tz_devices *out, tz_error *error);

#endif
