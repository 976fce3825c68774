/* The instruction mix of a compiled kernel: what its loops execute, by class.
 *
 * It comes from the machine code alone: blocks between branches, natural loops by dominators (Aho,
 * Lam, Sethi, Ullman, "Compilers", 2nd edition, 9.6), and in each loop one way, the path that a
 * warp with work to do takes. Of all paths round the loop that is the one with the most loads,
 * stores and barriers, and among those the shortest. So it leaves out, say, the slow path of a
 * division. A warp whose lanes go different ways executes more: between the way and all
 * instructions of the loop.
 *
 * A loop that does the same in several ways (bodies, see mix_graph.h) counts as several loops. */
#ifndef TZ_CORE_BACKEND_CUDA_SASS_MIX_H
#define TZ_CORE_BACKEND_CUDA_SASS_MIX_H

#include "backend/cuda/compile/compile.h"
#include "backend/cuda/sass/sass.h"

enum { TZ_CUDA_LOOPS_MAX = 96 };

/* Passes through shared memory that an asynchronous copy into it takes: one for the request, one to
 * put the words there. */
#define TZ_CUDA_COPY_PASSES 2.0

/* What the schedule of a loop is computed for. */
typedef struct tz_cuda_machine {
    tz_scheduler scheduler;
    double block_warps; /* warps of a block */
    double conflict;    /* passes through shared memory of an access of 16 bytes a lane, for each of
                         * its words */
} tz_cuda_machine;

typedef struct tz_cuda_loop {
    int parent;               /* the loop around it; -1: none */
    int shortest;             /* index of the shortest way round it; its own: there is no other */
    tz_work_mix all;          /* all instructions of the loop, without loops inside */
    tz_work_mix once;         /* outside of all loops, on the path into this one and out of it */
    double once_clocks;       /* of a lone warp there, without waits for global memory */
    double once_memory_waits; /* waits for global memory there */
    /* Of the way round, without loops inside: */
    tz_work_mix way;
    tz_work_mix waits;   /* results that are waited for, by class; a fraction where other
                          * instructions fill a part of the latency */
    double clocks;       /* of a lone warp, without those waits */
    double memory_waits; /* waits for global memory */
    double passes;       /* 128-byte passes through shared memory */
    double stores;       /* to global memory */
    double stores_words, copies_words, reads_words; /* words a lane */
    double text_bytes;
    double local;        /* words a lane of spilt registers */
    double local_stores; /* of them stored, which go to the second-level cache at once */
    double apart;        /* share of the pairs of stores that memory does not put together */
    double late;         /* share of the way before the copies that its end waits for are issued */
    tz_rounds rounds;    /* its schedule; none without a machine, or for a few instructions */
} tz_cuda_loop;

typedef struct tz_cuda_mix {
    tz_cuda_machine machine; /* zeros: none */
    int registers;           /* a thread */
    int local_bytes;         /* a thread */
    int shared_bytes;        /* a block, static */
    int text_bytes;
    tz_work_mix straight; /* all instructions outside of loops */
    int loops_count;      /* those inside others come later */
    int shortest_count;   /* shortest ways, stored behind the loops */
    tz_cuda_loop loops[TZ_CUDA_LOOPS_MAX];
} tz_cuda_mix;

/* `machine` NULL: loops are counted, but not scheduled. Errors: those of tz_sass_read;
 * TZ_UNSUPPORTED when there are more than TZ_CUDA_LOOPS_MAX loops. */
tz_status tz_cuda_mix_count(tz_cuda_mix *out, const void *cubin, size_t bytes, const char *entry,
                            const tz_cuda_machine *machine, tz_error *error);
/* The same from decoded code. */
tz_status tz_cuda_mix_of(tz_cuda_mix *out, const tz_sass *sass, const tz_cuda_machine *machine,
                         tz_error *error);

/* The mix of the kernel `entry` of a source. Counts are kept beside the cubin in the cache, for one
 * machine. Where neither is there the source is compiled if `compile`; else *found is false, which
 * is no error. */
tz_status tz_cuda_mix_get(tz_cuda_mix *out, bool *found, const tz_cuda_machine *machine,
                          const char *architecture, const char *source, const char *entry,
                          const tz_cuda_header *headers, size_t headers_count, bool compile,
                          tz_error *error);

void tz_work_mix_add(tz_work_mix *to, const tz_work_mix *mix, double times);

#endif
