/* A grid in slabs on several devices, as a backend: its states hold a state of another backend for
 * each slab, with a ghost zone around the slab's own cells. Between two exchanges of ghost zones
 * the slabs advance by plan->exchange iterations, each alone. All functions work on the whole grid,
 * and give the same bits as one device. */
#ifndef TZ_CORE_BACKEND_SLABS_SLABS_H
#define TZ_CORE_BACKEND_SLABS_SLABS_H

#include "backend/slabs/cut.h"
#include "base/ranks.h"

/* Write the table of the backend whose states hold slabs of `inner` on these devices. It has the
 * name of `inner`. Its functions need them as tz_place.devices and tz_backend_context.devices.
 * Errors: TZ_UNSUPPORTED. */
tz_status tz_slabs_backend(const tz_backend *inner, tz_devices *devices, tz_backend *out,
                           tz_error *error);

/* `state` is one of a table that tz_slabs_backend() wrote. */
void tz_slabs_describe(const void *state, tz_slabs_facts *out);

/* ---- Files that every rank reads and writes at its offset ------------------------------------ */

/* Are there several processes, which have seen all files so far? */
bool tz_slabs_have_parts(const void *state);
/* Write a field into an existing file, from `offset` on: its elements, x fastest, or with `cells`
 * the values of its cells as tz_problem_value_dtype() has them. *sum is tz_file_sum() of elements.
 * TZ_UNSUPPORTED: this is one process, or not all ranks see the file; nothing is written then. */
tz_status tz_slabs_save(void *state, int field, bool cells, const char *path, int64_t offset,
                        uint64_t *sum, tz_error *error);
/* Read the elements of a field. Errors as above; and those of files, with which the field is
 * undefined. */
tz_status tz_slabs_restore(void *state, int field, const char *path, int64_t offset,
                           tz_error *error);

/* ---- Ranks ----------------------------------------------------------------------------------- */

/* What a user says of the devices of each rank. */
typedef struct tz_devices_wish {
    /* The text of tz_devices_parse(); NULL: one device, or of several ranks their part of the
     * GPUs. */
    const char *names;
    /* NULL: that of the names. */
    const tz_backend *backend;
    /* 0: one for each core of the rank. */
    int threads;
    int device;
} tz_devices_wish;

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

/* The devices that it means here; of several ranks, which all call it, this rank's part of the
 * machine's, and then those of all ranks, in the order of ranks. Each GPU goes to one of the
 * machine's ranks, or several ranks share one. */
tz_status tz_devices_find(const tz_ranks *ranks, const tz_devices_wish *wish,
                          const tz_backend **backend, tz_devices *out, tz_error *error);

/* The devices of all ranks, of which this one is rank 0 or alone. Errors of tz_devices_parse(), and
 * TZ_RANGE if there are too many. */
tz_status tz_slabs_devices(const tz_ranks *ranks, const tz_devices_wish *wish,
                           const tz_backend **backend, tz_devices *out, tz_error *error);

/* Finds the shares of devices (predict/workload.h), in all ranks at the same time. */
typedef void tz_slabs_find_shares(tz_devices *devices, const tz_backend *inner,
                                  const tz_problem *problem, const tz_ranks *ranks);
/* Call it in all ranks. `plugin`: the file of the stencil's; NULL: it is in memory alone. */
tz_status tz_slabs_shares(const tz_ranks *ranks, tz_slabs_find_shares *find, tz_devices *devices,
                          const tz_backend *inner, const tz_problem *problem, const char *plugin,
                          tz_error *error);

/* A rank other than 0: do what rank 0 says until it calls tz_slabs_end(), and return its exit
 * code. */
int tz_slabs_serve(const tz_ranks *ranks, tz_slabs_find_shares *find);
/* Rank 0, after all states are destroyed. */
void tz_slabs_end(const tz_ranks *ranks, int code);

#endif
