/* The instruction mix of a compiled kernel: what its loops execute, by class.
 *
 * From the machine code alone: blocks between branches, natural loops by dominators (Aho, Lam,
 * Sethi, Ullman, "Compilers", 2nd edition, 9.6), and in each loop the way that a warp takes which
 * has work to do: of all ways round the one with the most loads, stores and barriers, and among
 * those the shortest. A loop that does the same in several ways (cuda/mix_graph.h: bodies) is as
 * many loops here. That leaves out slow ways of divisions and loads that are done
 * otherwise; what a warp takes whose lanes go different ways is between that and all of it. */
#ifndef TZ_CORE_BACKEND_CUDA_SASS_MIX_H
#define TZ_CORE_BACKEND_CUDA_SASS_MIX_H

#include "backend/cuda/compile/compile.h"
#include "backend/cuda/sass/sass.h"

enum { TZ_CUDA_LOOPS_MAX = 96 };

/* Passes through shared memory that an asynchronous copy into it takes: one for the request, one to
 * put the words there. */
#define TZ_CUDA_COPY_PASSES 2.0

/* Whose schedulers go round loops, with blocks of so many warps. */
typedef struct tz_cuda_machine {
    tz_scheduler scheduler;
    double block_warps;
    double conflict; /* passes through shared memory of an access of 16 bytes a lane, against its
                      * words */
} tz_cuda_machine;

typedef struct tz_cuda_loop {
    int parent;       /* the loop around it; -1: none */
    int shortest;     /* loop that is the shortest way round this one; itself: there is no other */
    tz_work_mix way;  /* the way round, without loops inside */
    tz_work_mix all;  /* all instructions of the loop, without loops inside */
    tz_work_mix once; /* outside of all loops, on the way into this one and out of it */
    double once_clocks; /* of a warp alone there; loads from memory are not waited for */
    double memory_waits, once_memory_waits; /* times that it waits for global memory, on the way
                                             * round and outside */
    tz_work_mix waits; /* of the way round: instructions whose result is waited for at full
                        * latency, by class; parts of one where others are in between */
    double clocks;     /* of a warp alone on the way round, without those waits */
    double passes;     /* of the way round: 128-byte passes through shared memory */
    double stores;     /* to global memory, on the way round */
    double stores_words, copies_words, reads_words; /* a lane, on the way round */
    double text_bytes;                              /* of the way round */
    double local;        /* words (128 bytes a warp) of spilt registers on it */
    double local_stores; /* of them stored, which go to the second level at once */
    double apart;     /* of pairs of stores on it, those whose second one does not follow at once */
    double late;      /* of a step, what is over when the way asks for copies, of which it waits
                       * for some at its end */
    tz_rounds rounds; /* of the way round; none without a machine, or of a few instructions */
} tz_cuda_loop;

typedef struct tz_cuda_mix {
    tz_cuda_machine machine; /* zeros: none */
    int registers;           /* a thread */
    int local_bytes;         /* a thread */
    int shared_bytes;        /* a block, static */
    int text_bytes;
    tz_work_mix straight; /* all instructions outside of loops */
    int loops_count;      /* those inside others come later */
    int shortest_count;   /* shortest ways, which follow the loops */
    tz_cuda_loop loops[TZ_CUDA_LOOPS_MAX];
} tz_cuda_mix;

/* `machine` NULL: loops are counted, not run. Errors: those of tz_sass_read; TZ_UNSUPPORTED when
 * there are more loops than that. */
tz_status tz_cuda_mix_count(tz_cuda_mix *out, const void *cubin, size_t bytes, const char *entry,
                            const tz_cuda_machine *machine, tz_error *error);
/* The same of code that is decoded already. */
tz_status tz_cuda_mix_of(tz_cuda_mix *out, const tz_sass *sass, const tz_cuda_machine *machine,
                         tz_error *error);

/* The mix of the kernel `entry` of a source. Counts are kept beside the cubin in the cache, for one
 * machine. Where neither is there the source is compiled if `compile`; else *found is false, which
 * is no error. */
tz_status tz_cuda_mix_get(tz_cuda_mix *out, bool *found, const tz_cuda_machine *machine,
                          const char *architecture, const char *source, const char *entry,
                          const tz_cuda_header *headers, size_t headers_count, bool compile,
                          tz_error *error);

double tz_work_mix_sum(const tz_work_mix *mix);
void tz_work_mix_add(tz_work_mix *to, const tz_work_mix *mix, double times);

#endif
