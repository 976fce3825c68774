/* SASS: the machine code of a kernel, decoded as far as counting its instructions needs.
 *
 * The planner predicts the cost of a plan from its compiled kernel: sass.h decodes the code, mix.h
 * counts the instructions that its loops execute. A run with a fixed plan needs neither.
 *
 * The layout holds for Volta to Blackwell (sm_70 to sm_121). An instruction has 16 bytes: the low
 * nine bits are the operation, the next three say where the operands are. Sources: NVIDIA's
 * disassembler (CUDA 11.8) on many cubins; Jia et al., "Dissecting the NVIDIA Volta GPU
 * architecture via microbenchmarking", 2018, section 2, on control bits. */
#ifndef TZ_CORE_BACKEND_CUDA_SASS_SASS_H
#define TZ_CORE_BACKEND_CUDA_SASS_SASS_H

#include "base/error.h"
#include "model/scheduler/scheduler.h"

#include <stdint.h>

enum { TZ_SASS_BYTES = 16 }; /* of an instruction */

typedef enum tz_sass_flow {
    TZ_SASS_NEXT,   /* the next instruction follows */
    TZ_SASS_BRANCH, /* `target` follows; with a predicate, possibly the next instruction */
    TZ_SASS_END     /* exit, or a return */
} tz_sass_flow;

typedef struct tz_sass_instruction {
    uint8_t class;    /* tz_work_class */
    uint8_t flow;     /* tz_sass_flow */
    bool conditional; /* it has a predicate of its own */
    bool local;       /* reads or writes local memory: spilt registers */
    uint8_t kind;     /* tz_trace_kind */
    uint8_t stall;    /* clocks before the next one of the same warp, at least */
    uint8_t sets;     /* scoreboard barrier that its result opens, 0 to 5; 7: none */
    uint8_t frees;    /* barrier that opens when its operands are read; 7: none */
    uint8_t waits;    /* the barriers that it waits for, as bits */
    uint8_t words;    /* 32-bit words a lane that a memory access moves; else 0 */
    int target;       /* index of the instruction that it branches to; -1: none */
} tz_sass_instruction;

typedef struct tz_sass {
    int count;
    tz_sass_instruction *code;
    int registers;    /* a thread; 0: unknown */
    int local_bytes;  /* a thread: its stack frame */
    int shared_bytes; /* a block, static */
} tz_sass;

/* The kernel `entry` of a cubin; free it with tz_sass_free. Errors: TZ_FORMAT (no ELF file of a
 * GPU, no such kernel, a truncated file), TZ_UNSUPPORTED (an architecture before Volta),
 * TZ_MEMORY. */
tz_status tz_sass_read(tz_sass *out, const void *cubin, size_t bytes, const char *entry,
                       tz_error *error);
/* The same from bare code, a multiple of 16 bytes. `architecture`: 90 for sm_90. */
tz_status tz_sass_decode(tz_sass *out, const void *code, size_t bytes, int architecture,
                         tz_error *error);
void tz_sass_free(tz_sass *sass); /* the numbers stay */

/* ---- What its loops are counted for (mix.h) ------------------------------------------------- */

enum { TZ_CUDA_LOOPS_MAX = 512 };

/* The machine that schedules are computed for. */
typedef struct tz_cuda_machine {
    tz_scheduler scheduler;
    double block_warps; /* warps of a block */
    /* passes through shared memory of an access of 16 bytes a lane, for each of its words */
    double conflict;
} tz_cuda_machine;

#endif
