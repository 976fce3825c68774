/* A grid in slabs on several devices, as a backend: its states hold a state of another backend for each
 * slab, with a ghost zone around the slab's own cells. Between two exchanges of ghost zones the slabs
 * advance by plan->exchange iterations, each alone. All functions work on the whole grid, and give
 * the same bits as one device. */
#ifndef TZ_CORE_BACKEND_SLABS_SLABS_H
#define TZ_CORE_BACKEND_SLABS_SLABS_H

#include "backend/backend.h"

/* Write the table of the backend whose states hold slabs of `inner`. It has the name of `inner`. Its
 * functions need tz_place.devices and tz_backend_context.devices. Errors: TZ_UNSUPPORTED. */
tz_status tz_slabs_backend(const tz_backend *inner, tz_backend *out, tz_error *error);

#endif
