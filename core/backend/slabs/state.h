/* A state that holds the slabs of a grid: the inner type of backend/slabs, and what all its files
 * need.
 *
 * Of several ranks, rank 0 alone calls the functions of the table (slabs.c). Those that need other
 * ranks tell them so by a command (commands.h), and then do their part of it as the others do:
 * functions here marked [all ranks] are called by all of them at the same time. */
#ifndef TZ_CORE_BACKEND_SLABS_STATE_H
#define TZ_CORE_BACKEND_SLABS_STATE_H

#include "backend/slabs/cut.h"
#include "base/ranks.h"
#include "stencil/points.h"
#include "stencil/streamed_source.h"

/* A slab of another process that a slab copies ghost zones from (exchange.c). */
typedef struct tz__slabs_link {
    void *remote;      /* of tz_slab_links; NULL: cells come as messages */
    int64_t low, high; /* its own cells, counted as in its state */
    uint32_t marks;    /* that it has sent for the exchange under way */
} tz__slabs_link;

/* Host memory for cells that cross an end of a slab. */
typedef struct tz__slabs_room {
    char *bytes;
    size_t size;
} tz__slabs_room;

typedef struct tz__slabs_part {
    tz_problem problem;
    tz_streamed_source streamed[TZ_FIELDS_MAX];
    const tz_streamed_source *streamed_pointers[TZ_FIELDS_MAX];
    /* Own and ghost cells of these of the whole grid; problem.points. */
    const tz_points *points_of;
    uint64_t points_generation;
    tz_points *points;
    /* Of its device. */
    tz_limits limits;
    /* Of the inner backend. */
    tz_threads *threads;
    /* Of the inner backend; and the plan of that, for the plan of the whole that follows. */
    void *state;
    tz_plan plan;
    tz_plan planned;
    /* Own cells for the slabs beside it, of the low and the high end. */
    tz__slabs_room ends[2];
    /* Ghost zones from other ranks, of the low and the high side. */
    tz__slabs_room inbox[2];
    /* To the slabs beside it at the low and the high side, with the marks for both. */
    tz__slabs_link links[2];
    uint32_t marks;
    /* Of the latest work. */
    tz_status status;
    tz_error error;
} tz__slabs_part;

typedef struct tz__slabs {
    tz_backend_context context;
    /* A copy. */
    tz_devices devices;
    const tz_backend *inner;
    tz_cut cut;
    /* This process holds these slabs. */
    int low, high;
    tz_threads *threads; /* one for each own slab */
    /* With other ranks; NULL: none is under way. */
    tz_exchange *exchange;
    /* Iterations that the ghost zones of the states are made for, and those until the next
     * exchange. */
    int depth;
    int valid;
    /* All slabs have offered their ends for an exchange of this depth; 0: none. */
    int offered;
    tz_slabs_exchanged exchanged;
    /* `paths` and the parts' links are made. */
    bool linked;
    tz_slabs_paths paths;
    /* Why a file was not written by all ranks; "" if each was. */
    char apart[300];
    /* In rank 0, what the others know (serve.c): the problem, and the generations of streamed
     * sources. */
    char *told;
    uint64_t generations[TZ_FIELDS_MAX];
    bool defined; /* they have the stencil's definition, and no library */
    /* The points that they have, with the generations of lists and values, and their rows. */
    const tz_points *told_points;
    uint64_t told_lists, told_values;
    int64_t told_rows;
    /* In rank 0: the iteration after the last stage. */
    int64_t computed;
    /* NULL for those of other ranks. */
    tz__slabs_part *parts[TZ_DEVICES_MAX];
} tz__slabs;

/* The ranks of the context; NULL: alone. */
static inline const tz_ranks *tz__slabs_ranks(const tz__slabs *slabs)
{
    const tz_ranks *ranks = slabs->context.ranks;
    return ranks && ranks->count > 1 ? ranks : NULL;
}
/* The same status for all. [all ranks] */
tz_status tz__slabs_agree(const tz__slabs *slabs, tz_status status, tz_error *error);
/* Several ranks: an error ends the job, since others may already wait for this rank. One process:
 * returns the status. */
tz_status tz__slabs_abort_unless_ok(const tz__slabs *slabs, tz_status status,
                                    const tz_error *error);
/* The mask of the fields with that role. */
uint32_t tz__slabs_fields(const tz__slabs *slabs, tz_role role);

/* Call work(slabs, i, argument, &error) for each own slab at the same time. Returns the first
 * error. */
typedef tz_status tz__slabs_work(tz__slabs *slabs, int i, void *argument, tz_error *error);
tz_status tz__slabs_own(tz__slabs *slabs, tz__slabs_work *work, void *argument, tz_error *error);
/* The same, with the same result for all ranks. [all ranks] */
tz_status tz__slabs_all(tz__slabs *slabs, tz__slabs_work *work, void *argument, tz_error *error);

tz__slabs_work tz__slabs_wait_part; /* wait for the work of the slab's device */

/* Make slab i, with zeros. */
tz_status tz__slabs_part_create(tz__slabs *slabs, int i, int depth, tz__slabs_part **out,
                                tz_error *error);
void tz__slabs_part_destroy(const tz__slabs *slabs, tz__slabs_part *part); /* NULL is fine */
/* Make room for so many bytes; what it held is lost if it grows. */
tz_status tz__slabs_room_need(const tz__slabs *slabs, const tz__slabs_part *part,
                              tz__slabs_room *room, size_t bytes, tz_error *error);

/* Take over the parameters and sources of the whole, which may have changed. */
void tz__slabs_refresh(const tz__slabs *slabs, tz__slabs_part *part);
void tz__slabs_refresh_all(tz__slabs *slabs);

#endif
