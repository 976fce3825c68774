/* Ranks: the processes of one run that mpirun started, on one machine or on many.
 *
 * Every rank runs the same scenario and makes the same decisions. Rank 0 alone prints and writes
 * files. Functions are collective unless the text says otherwise: all ranks call them, in the same
 * order. A process that runs alone has no ranks: the pointer is NULL, and the functions of this
 * header, not those of the table, take that.
 *
 * MPI is in a module, trapeze-mpi.so, which is loaded only under mpirun. One thread, that which
 * called tz_ranks_open(), calls all functions of the table.
 *
 * If MPI itself fails, or a function is called in another thread, nothing can be agreed on any more:
 * the job ends with a message. So functions of the table return no status. */
#ifndef TZ_CORE_BASE_RANKS_H
#define TZ_CORE_BASE_RANKS_H

#include "base/error.h"
#include <stdint.h>

typedef struct tz_ranks tz_ranks;

enum { TZ_RANKS_TAG_MAX = 32767 };

/* One message of an exchange. */
typedef struct tz_part {
    int peer; /* the rank that it goes to or comes from; may be this one */
    int tag;  /* 0 to TZ_RANKS_TAG_MAX: the tag of the other side's part */
    bool is_receive;
    void *buffer;  /* is only read unless is_receive */
    int64_t bytes; /* as many as those of the other side's part; 0 is fine */
} tz_part;

/* An exchange that has begun. */
typedef struct tz_exchange tz_exchange;

struct tz_ranks {
    int rank, count;             /* this process, from 0; all of them */
    int local_rank, local_count; /* the same among those of this machine */
    int machine;                 /* another number on each machine: its first rank's */
    double cores_share; /* of the cores that this process may use, which others may use, too: over
                         * 0, at most 1 */
    bool takes_device_pointers; /* a part's buffer may lie in the memory of a GPU */
    char host[64];              /* this machine's name */
    char library[96];           /* of MPI, with its version */

    /* Exchange messages, all at the same time. The buffers are in use until finish(), which frees
     * the exchange; several may be under way. Not collective: the peers of the parts take part.
     * Parts of the same peer and tag pair up in their order. */
    tz_exchange *(*begin)(const tz_ranks *ranks, const tz_part *parts, int count);
    void (*finish)(const tz_ranks *ranks, tz_exchange *exchange);
    /* The bytes of rank `root` go to all. */
    void (*broadcast)(const tz_ranks *ranks, int root, void *buffer, int64_t bytes);
    /* all[rank * bytes] becomes the `bytes` of each rank. */
    void (*gather_all)(const tz_ranks *ranks, const void *mine, int64_t bytes, void *all);
    void (*barrier)(const tz_ranks *ranks);
    /* Wait until all ranks have called it, or for that time; INFINITY is fine. False: not all have.
     * Then it may not be called again. */
    bool (*meet)(const tz_ranks *ranks, double limit_s);
    /* End all ranks, with one line on stderr that names this rank, and exit code 1. Not
     * collective; never returns. */
    void (*abort)(const tz_ranks *ranks, const char *message);
};

/* ---- Opening --------------------------------------------------------------------------------- */

/* *out is NULL if this process was not started by mpirun, or alone by an mpirun whose module is
 * not there. TZ_UNSUPPORTED: there is no module, or it is for another MPI or version. TZ_BACKEND:
 * MPI. In a process without an open table; not collective if it fails. */
tz_status tz_ranks_open(const tz_ranks **out, tz_error *error);
/* Collective. NULL is fine. */
void tz_ranks_close(const tz_ranks *ranks);

/* What the environment says, before tz_ranks_open(): false if mpirun did not start this process.
 * *rank and *count: -1 if it does not tell. */
bool tz_ranks_environment(int *rank, int *count);

/* A line for `trapeze doctor`: MPI's version, or why there is no module. Returns whether there is
 * one. Loads it. */
bool tz_ranks_describe(char *text, size_t size);

/* ---- Agreeing -------------------------------------------------------------------------------- */

/* Does this process print and write files? Without ranks, and for rank 0. Not collective. */
bool tz_ranks_leads(const tz_ranks *ranks);

/* Rank 0's value for all. For whatever may differ between ranks and decides what comes next: times,
 * caches, memory, files, signals. Without ranks it does nothing. */
void tz_ranks_agree(const tz_ranks *ranks, void *value, size_t bytes);
/* The largest value of all ranks. */
double tz_ranks_largest(const tz_ranks *ranks, double value);

/* The same status, and error, for all: TZ_OK if all ranks are. Otherwise the first failed rank's,
 * whose message then names the rank and its machine unless all ranks failed with the same error. */
#define tz_ranks_agree_status(ranks, status, error)                                                \
    tz_ranks_agree_at(ranks, status, error, __FILE__, __LINE__)
/* If the ranks are at different lines, one has left the way of the others: the job ends. */
tz_status tz_ranks_agree_at(const tz_ranks *ranks, tz_status status, tz_error *error,
                            const char *file, int line);

/* begin() and finish(). */
void tz_ranks_exchange(const tz_ranks *ranks, const tz_part *parts, int count);

#endif
