/* What a grid in slabs says of itself. */
#ifndef TZ_CORE_BACKEND_SLABS_FACTS_H
#define TZ_CORE_BACKEND_SLABS_FACTS_H

#include "backend/backend.h"

/* Exchanges of the ghost zones of state fields, since create(). */
typedef struct tz_slabs_exchanged {
    int64_t count;
    double bytes; /* that all slabs received together */
    /* That the calling thread spent on them, with its waits for the slabs. NAN: not known, since
     * the devices copy while this thread goes on; with tz_backend_context.sync they are waited
     * for. */
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
    char apart[300]; /* why rank 0 alone reads and writes files; "": every rank does its part */
} tz_slabs_facts;

#endif
