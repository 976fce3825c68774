/* How a grid is cut into slabs, and what is told of that. */
#ifndef TZ_CORE_BACKEND_SLABS_CUT_H
#define TZ_CORE_BACKEND_SLABS_CUT_H

#include "backend/backend.h"

typedef struct tz_cut {
    int count;
    int64_t at[TZ_DEVICES_MAX + 1]; /* slab i: from at[i] to at[i + 1] along the last axis */
    int64_t thinnest;               /* cells of the thinnest slab along the last axis */
    /* Cells of a ghost zone at the low and the high side: for each iteration, and for static fields
     * that the first of them reads farther away than that. */
    int each[2], more[2];
} tz_cut;

/* Cut the grid of a problem in proportion to the devices' shares. Grids of 1-D are cut at multiples
 * of 4096 cells, the segments of reductions. Errors: TZ_RANGE if there is no cell for each device;
 * TZ_UNSUPPORTED for bits in 1-D. */
tz_status tz_cut_make(tz_cut *out, const tz_problem *problem, const tz_devices *devices,
                      tz_error *error);

/* The problem of slab i with ghost zones of `exchange` iterations; the whole one if it is alone. */
tz_problem tz_cut_slab(const tz_cut *cut, const tz_problem *problem, int i, int exchange);

/* The slab with the most cells for its share, with its ghost zones. */
int tz_cut_slowest(const tz_cut *cut, const tz_problem *problem, const tz_devices *devices,
                   int exchange);

/* Cells of a ghost zone of `exchange` iterations between two slabs, at the low (0) or high side
 * (1). */
int64_t tz_cut_ghost(const tz_cut *cut, int side, int exchange);

/* The most iterations of which each slab's ghost zone fits into the slab beside it. */
int tz_cut_exchange_max(const tz_cut *cut);
/* That `exchange` iterations do. Errors: TZ_RANGE, with what would do. */
tz_status tz_cut_check(const tz_cut *cut, const tz_problem *problem, int exchange, tz_error *error);

/* ---- What a grid in slabs says of itself ----------------------------------------------------- */

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
