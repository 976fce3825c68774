/* Commands of rank 0. All ranks execute them on their slabs; a process alone does so without
 * messages.
 *
 * Rank 0 sends a tz__slabs_call and does not wait for an answer. All ranks then call the function
 * of the command. It sends the bytes that the table lists, and agrees on a status if one rank alone
 * can fail. */
#ifndef TZ_CORE_BACKEND_SLABS_COMMANDS_H
#define TZ_CORE_BACKEND_SLABS_COMMANDS_H

#include "backend/slabs/state.h"

/* Those that work on a state: its number is sent with each. */
#define TZ__SLABS_COMMANDS(X)                                                                      \
    /* name, what is sent: what comes back */                                                      \
    X(store)       /* field, box, then to each rank the elements that it holds: a status */        \
    X(load)        /* field, box: a status, the elements */                                        \
    X(fill)        /* field, element: a status */                                                  \
    X(save)        /* field, path, place in the file: a status, a checksum */                      \
    X(restore)     /* field, path, place in the file: a status */                                  \
    X(stage)       /* plan, iterations, step: nothing; a status if the plan is new */              \
    X(wait)        /* nothing: a status, when all devices are done */                              \
    X(recorded)    /* iterations: a status, the values that they recorded at points */             \
    X(reduce)      /* field: a status, the sums of rows, numbers */                                \
    X(all_finite)  /* nothing: a status, a flag */                                                 \
    X(update_norm) /* nothing: a status, a number */                                               \
    X(update)      /* step: as reduce */                                                           \
    X(refine)      /* step, the correction's number: as reduce */                                  \
    X(shrink)      /* field, plane, extents: a status, the values */                               \
    X(energy)      /* nothing: a status, a number */

typedef enum tz__slabs_command {
    TZ__SLABS_END,     /* exit code: nothing */
    TZ__SLABS_DEVICES, /* names, backend, threads: a status, the devices of all ranks */
    TZ__SLABS_SHARES,  /* devices, plugin, problem: how all of them are shared */
    TZ__SLABS_CREATE,  /* devices, plugin, problem, plan: a status */
    TZ__SLABS_RENEW,   /* problem, streamed sources: nothing */
    TZ__SLABS_ROWS,    /* the stencil's library, which is compiled now: nothing */
    TZ__SLABS_POINTS,  /* points, their lists: nothing */
    TZ__SLABS_VALUES,  /* rows, values that sources add: nothing */
    TZ__SLABS_DESTROY, /* nothing: nothing */
#define TZ__SLABS_NAME(name) TZ__SLABS_##name,
    TZ__SLABS_COMMANDS(TZ__SLABS_NAME)
#undef TZ__SLABS_NAME
} tz__slabs_command;

/* A command with its arguments. It is sent as it lies in memory: all ranks have the same
 * version. */
typedef struct tz__slabs_call {
    tz__slabs_command command;
    /* States, by their addresses in rank 0. */
    uint64_t state, other;
    int field;
    /* Of values, or of bytes that follow; of rows, the first and the end. */
    int64_t counts[2];
    int iterations;
    /* Number of the first iteration, or of a plane; or a place in a file. */
    int64_t at;
    /* save: values as outputs have them, else elements. */
    bool cells;
    bool sync;
    /* The stencil comes as its definition, not as a library. */
    bool defined;
    /* In tz_backends; -1: none is given. */
    int backend;
    int device, threads, exchange;
    /* The fields whose streamed sources follow. */
    uint32_t fields;
    tz_box box;
    uint64_t element;
    tz_plan plan;
    /* In rank 0 alone: where results go and elements come from. */
    tz__slabs *correction;
    const void *from;
    void *to;
} tz__slabs_call;

/* What all ranks do at a command (slabs.c, cells.c). `correction` is set for all. */
typedef tz_status tz__slabs_body(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error);
#define TZ__SLABS_BODY(name) tz__slabs_body tz__slabs_do_##name;
TZ__SLABS_COMMANDS(TZ__SLABS_BODY)
#undef TZ__SLABS_BODY
/* Fill a zeroed struct; free it with what it holds, which may be NULL. */
tz_status tz__slabs_do_create(tz__slabs *slabs, const tz_backend_context *context, tz_error *error);
void tz__slabs_do_destroy(tz__slabs *slabs);

/* ---- In rank 0, or alone (serve.c) ---- */

/* Tell the others, and do it. */
tz_status tz__slabs_call_all(tz__slabs *slabs, tz__slabs_call call, tz_error *error);
/* The same of a call that computes call.iterations from call.at on: first the others get what is
 * new in the problem and its streamed sources, and the constants that vary. */
tz_status tz__slabs_compute_all(tz__slabs *slabs, tz__slabs_call call, tz_error *error);
tz_status tz__slabs_create(void **out, const tz_backend_context *context, tz_error *error);
void tz__slabs_destroy(void *any); /* NULL is fine */

/* ---- In all ranks ---- */

/* The bytes of rank 0 go to all. */
void tz__slabs_pass(const tz_ranks *ranks, void *bytes, int64_t count);

#endif
