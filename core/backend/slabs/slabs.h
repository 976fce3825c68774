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

/* Exchanges of the ghost zones of state fields, since create(). */
typedef struct tz_slabs_exchanged {
    int64_t count;
    double bytes; /* that all slabs received together */
    /* That the calling thread spent on them, with its waits for the slabs. NAN: not known, since the
     * devices copy while this thread goes on; with tz_backend_context.sync they are waited for. */
    double seconds;
} tz_slabs_exchanged;

/* How ghost zones get from rank to rank: the cuts between slabs of two ranks. */
typedef struct tz_slabs_paths {
    int direct;    /* the devices copy from each other's memory */
    int by_host;   /* cells go through the host, as messages */
    char why[200]; /* of GPUs: why the first of these is not direct; else "" */
} tz_slabs_paths;

/* How a state holds the grid: slab i from at[i] to at[i + 1] along the last axis. */
typedef struct tz_slabs_facts {
    tz_devices devices;
    int64_t at[TZ_DEVICES_MAX + 1];
    tz_slabs_exchanged exchanged;
    tz_slabs_paths paths; /* of the latest exchange; zeros before the first */
} tz_slabs_facts;

/* `state` is one of a table that tz_slabs_backend() wrote. */
void tz_slabs_describe(const void *state, tz_slabs_facts *out);

/* The cells along the last axis that the slabs of this process hold. */
void tz_slabs_own_range(const void *state, int64_t *low, int64_t *high);
/* tz_backend.load of a box of these cells. Not collective. */
tz_status tz_slabs_load_own(const void *state, int field, const tz_box *box, void *elements,
                            tz_error *error);

#endif
