/* Ranks: the processes of one run that mpirun started, on one machine or on many.
 *
 * Rank 0 runs the scenario. The others serve it: they wait for commands and execute them
 * (backend/slabs). Functions are collective unless the text says otherwise: all ranks call them, in
 * the same order. A process that runs alone has no ranks: the pointer is NULL, and the functions of
 * this header, not those of the table, take that.
 *
 * MPI is in a module, trapeze-mpi.so, which is loaded only under mpirun. One thread, that which
 * called tz_ranks_open(), calls all functions of the table.
 *
 * If MPI itself fails, or a function is called in another thread, nothing can be agreed on any
 * more: the job ends with a message. So functions of the table return no status. */
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
    /* This process, from 0, and all of them; the same among those of this machine. */
    int rank, count;
    int local_rank, local_count;
    /* Another number on each machine: its first rank's. */
    int machine;
    /* Of the cores that this process may use, which others may use, too: over 0, at most 1. */
    double cores_share;
    /* The names of this machine, and of MPI with its version. */
    char host[64];
    char library[96];

    /* Exchange messages, all at the same time. The buffers are in use until finish(), which frees
     * the exchange; several may be under way. Not collective: the peers of the parts take part.
     * Parts of the same peer and tag pair up in their order. */
    tz_exchange *(*begin)(const tz_ranks *ranks, const tz_part *parts, int count);
    void (*finish)(const tz_ranks *ranks, tz_exchange *exchange);
    /* The bytes of rank `root` go to all. */
    void (*broadcast)(const tz_ranks *ranks, int root, void *buffer, int64_t bytes);
    /* all[rank * bytes] becomes the `bytes` of each rank. */
    void (*gather_all)(const tz_ranks *ranks, const void *mine, int64_t bytes, void *all);
    /* Not collective: rank 0 sends a command to all others, and does not wait for them. */
    void (*tell)(const tz_ranks *ranks, const void *command, int bytes);
    /* Another rank waits for the next command, of as many bytes. It takes little processor time. */
    void (*hear)(const tz_ranks *ranks, void *command, int bytes);
    /* Not collective: what rank 0 calls in tell() after another rank got SIGINT, SIGTERM or
     * SIGHUP. */
    void (*listen)(const tz_ranks *ranks, void (*signalled)(int signal));
    /* End all ranks, with one line on stderr that names this rank, and exit code 1. Not
     * collective; never returns. */
    void (*abort)(const tz_ranks *ranks, const char *message);
};

/* What the module of MPI (core/mpi) exports: one constant of this name and type. */
#define TZ_RANKS_MODULE_NAME "tz_ranks_module_of_mpi"

typedef struct tz_ranks_module {
    uint32_t struct_size;
    uint32_t ranks_size; /* of tz_ranks */
    const char *version; /* of Trapeze */
    /* Start MPI. *out is valid until close(). */
    tz_status (*open)(const tz_ranks **out, tz_error *error);
    void (*close)(void);
    /* A line about MPI, which need not be started. */
    void (*describe)(char *text, size_t size);
} tz_ranks_module;

/* ---- Opening --------------------------------------------------------------------------------- */

/* *out is NULL if this process was not started by mpirun, or alone by an mpirun whose module is not
 * there. In ranks other than 0, signals wait from now on for rank 0 to be told. TZ_UNSUPPORTED:
 * there is no module, or it is for another MPI or version, or ranks have different versions.
 * TZ_BACKEND: MPI. In a process without an open table; not collective if it fails. */
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

/* The largest value of all ranks. */
double tz_ranks_largest(const tz_ranks *ranks, double value);

/* The same status, and error, for all: TZ_OK if all ranks are. Otherwise the first failed rank's,
 * whose message then names the rank and its machine unless all ranks failed with the same error. */
tz_status tz_ranks_agree(const tz_ranks *ranks, tz_status status, tz_error *error);

/* The cores that this process has for itself; at least 1. Not collective. */
int tz_ranks_cores(const tz_ranks *ranks);

/* begin() and finish(). */
void tz_ranks_exchange(const tz_ranks *ranks, const tz_part *parts, int count);

#endif
