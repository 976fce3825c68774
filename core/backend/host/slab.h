/* What a backend does for a state that holds one slab of a larger grid (tz_problem.slab), beside
 * what it does for every state: numbers of its own cells become part of numbers of the whole grid.
 *
 * The backend on which a grid is cut into slabs (backend/slabs) calls these functions. Each slab
 * writes other elements of the sums. */
#ifndef TZ_CORE_BACKEND_HOST_SLAB_H
#define TZ_CORE_BACKEND_HOST_SLAB_H

#include "backend/host/reduce.h"

/* Copies between states of two processes of one machine, in which no host waits for a device. Each
 * slab's thread calls them for its own state. */
typedef struct tz_slab_links {
    size_t handles_bytes;
    /* Write what another process needs to open the state. TZ_BACKEND: the system refuses. */
    tz_status (*share)(void *state, void *handles, tz_error *error);
    /* Open the state of another process with its handles, for copies to `state`. TZ_BACKEND: the
     * system refuses. */
    tz_status (*open)(void *state, const void *handles, void **remote, tz_error *error);
    /* After all copies from it. Both states exist until then. NULL is fine. */
    void (*close)(void *remote);
    /* An exchange: each calls offer() and sends the other *marks, calls copy() with what the other
     * has sent, tells the other so, and after it has been told calls settle(). offer() and copy()
     * are as those of tz_slab_functions. settle(): later work of `state` waits for the copies from
     * it. */
    tz_status (*offer)(void *state, uint32_t *marks, tz_error *error);
    tz_status (*copy)(void *state, int64_t to, void *remote, uint32_t marks, int64_t at,
                      int64_t count, uint32_t fields, tz_error *error);
    tz_status (*settle)(void *state, void *remote, tz_error *error);
} tz_slab_links;

/* Copies between a state and host memory that its device reads and writes by itself: for slabs that
 * neither can copy from each other's. Each slab's thread calls them for its own state. */
typedef struct tz_slab_host {
    tz_status (*allocate)(void *state, size_t bytes, void **out, tz_error *error);
    void (*free)(void *state, void *memory); /* NULL is fine */
    /* As tz_backend.load, of elements that the state has offered: done after await(). */
    tz_status (*take)(void *state, int field, const tz_box *box, void *to, tz_error *error);
    tz_status (*await)(void *state, tz_error *error);
    /* As tz_backend.store, into the ghost zone: done after the await() of the next exchange. */
    tz_status (*put)(void *state, int field, const tz_box *box, const void *from, tz_error *error);
} tz_slab_host;

/* A part of a stage: elements along the last axis of a slab. */
typedef struct tz_slab_span {
    int64_t low, high; /* these are computed, from current elements around them */
    /* So many of the own ones at each end are needed first, by other states. */
    int64_t ends[2];
} tz_slab_span;

typedef struct tz_slab_functions {
    /* Does stage() with this plan leave out what is not in the span? */
    bool (*leaves_out)(const tz_problem *problem, const tz_plan *plan);
    /* As tz_backend.stage, of a span: elements of the ghost zone outside it have any value then. */
    tz_status (*stage)(void *state, const tz_plan *plan, int height, int64_t step,
                       const tz_slab_span *span, tz_error *error);
    /* OPTIONAL, both or none: copies between states of this process. offer(): another state may
     * copy what the work of this one so far leaves: own elements, ends[0] of the low end and
     * ends[1] of the high end, which may be there before the others; NULL: all. copy(): fill
     * `count` elements along the last axis, of the fields in the mask, from number `to` on, with
     * those from number `at` on of a state that has offered them; later work of both waits for it.
     * Each slab's thread calls it for its own state, also at the same time from one other state. */
    tz_status (*offer)(void *state, const int64_t ends[2], tz_error *error);
    tz_status (*copy)(void *state, int64_t to, void *other, int64_t at, int64_t count,
                      uint32_t fields, tz_error *error);
    const tz_slab_links *links; /* OPTIONAL */
    const tz_slab_host *host;   /* OPTIONAL, not without `copy`; NULL: load and store do */
} tz_slab_functions;

#endif
