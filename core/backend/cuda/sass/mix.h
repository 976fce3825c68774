/* The instruction mix of a compiled kernel: the instructions that its loops execute, by class.
 *
 * It is read from the machine code: basic blocks, natural loops by dominators (Aho, Lam, Sethi,
 * Ullman, "Compilers", 2nd edition, 9.6), and in each loop one way. The way is the path of a warp
 * that has work to do: the path round the loop with the most loads, stores and barriers, and the
 * shortest one of these. It omits, for instance, the slow path of a division. A warp whose lanes
 * diverge executes more than the way and at most all instructions of the loop.
 *
 * A loop with several alternative bodies (mix_graph.h) counts as several loops. */
#ifndef TZ_CORE_BACKEND_CUDA_SASS_MIX_H
#define TZ_CORE_BACKEND_CUDA_SASS_MIX_H

#include "backend/cuda/compile/compile.h"
#include "backend/cuda/sass/sass.h"

/* Passes through shared memory of an asynchronous copy into it: of 16 bytes a lane; and of fewer,
 * beside one for each word. Those go through the first-level cache, and rows mostly begin in the
 * middle of a line, whose parts arrive one by one. From: hardware counters of 83 kernels, H100. */
#define TZ_CUDA_COPY_PASSES 2.0
#define TZ_CUDA_COPY_PASSES_NARROW 2.0

typedef struct tz_cuda_loop {
    int parent;         /* the loop around it; -1: none */
    int shortest;       /* index of the shortest way round it, or its own index */
    tz_work_mix all;    /* all instructions of the loop, without loops inside */
    tz_work_mix once;   /* outside of all loops, on the path into this one and out of it */
    double once_clocks; /* of a lone warp there, without waits for global memory */
    /* Of the way round, without loops inside: */
    tz_work_mix way;
    /* waits for results, by class; a fraction if other instructions fill a part of the latency */
    tz_work_mix waits;
    double clocks;        /* of a lone warp, without those waits */
    double memory_waits;  /* waits for global memory */
    double passes;        /* 128-byte passes through shared memory, without copies */
    double copies_passes; /* the same of asynchronous copies */
    double stores;        /* to global memory */
    double stores_words, copies_words, reads_words; /* words a lane */
    double text_bytes;
    double local;        /* words a lane of spilt registers, loaded and stored */
    double local_stores; /* the stored ones, which go to the second-level cache at once */
    double apart;        /* share of the pairs of stores that memory does not combine */
    double late;         /* share of the way that comes before the copies its end waits for */
    tz_rounds rounds;    /* the schedule; empty without a machine and for short ways */
} tz_cuda_loop;

typedef struct tz_cuda_mix {
    tz_cuda_machine machine; /* zeros: none */
    int registers;           /* a thread */
    int local_bytes;         /* a thread */
    int shared_bytes;        /* a block, static */
    int loops_count;         /* outer loops come before inner ones */
    int shortest_count;      /* shortest ways, stored after the loops */
    tz_cuda_loop loops[TZ_CUDA_LOOPS_MAX];
} tz_cuda_mix;

/* `machine` NULL: loops are counted, but not scheduled. Errors: those of tz_sass_read;
 * TZ_UNSUPPORTED when there are more than TZ_CUDA_LOOPS_MAX loops. */
tz_status tz_cuda_mix_count(tz_cuda_mix *out, const void *cubin, size_t bytes, const char *entry,
                            const tz_cuda_machine *machine, tz_error *error);
/* The same from decoded code. */
tz_status tz_cuda_mix_of(tz_cuda_mix *out, const tz_sass *sass, const tz_cuda_machine *machine,
                         tz_error *error);

/* The mix of the kernel `entry` of a source. The cache keeps the counts for one machine beside the
 * cubin. If it has neither, the source is compiled if `compile`, until `cancel` (may be NULL) says
 * otherwise; else *found is false, which is no error. */
tz_status tz_cuda_mix_get(tz_cuda_mix *out, bool *found, const tz_cuda_machine *machine,
                          const char *architecture, const char *source, const char *entry,
                          const tz_cuda_header *headers, size_t headers_count, bool compile,
                          const tz_cancel *cancel, tz_error *error);

void tz_work_mix_add(tz_work_mix *to, const tz_work_mix *mix, double times);

#endif
