/* A simulator of the four schedulers of a GPU's multiprocessor. It computes the clocks that all
 * warps take to go round a loop once, instruction by instruction, and why they wait. Predictions
 * use it; runs do not. It works on plain structs and does not depend on device records.
 *
 * Each clock a scheduler issues one instruction of one of its warps: of the warp that it issued
 * last if that warp is ready, else of the oldest ready warp. An instruction is ready when
 *   - the stall clocks of the warp's previous instruction have passed,
 *   - the barriers that it waits for are open,
 *   - its unit is free.
 * Shuffles, shared memory, and local and global accesses go through a queue for each scheduler to a
 * unit that all four share, which makes one pass of 128 bytes a clock. The queue takes half a warp
 * a clock, so such an instruction holds its scheduler for two clocks. Instructions of a loop that
 * does not fit the instruction caches are delayed. (Jia et al., "Dissecting the NVIDIA Volta GPU
 * architecture via microbenchmarking", 2018; the queue from hardware counters of an H200.)
 *
 * The simulation does not wait for loads from global memory: they are prefetched some steps ahead,
 * and roofs_gpu.c counts their time for all warps together. */
#ifndef TZ_MODEL_SCHEDULER_H
#define TZ_MODEL_SCHEDULER_H

#include "base/error.h"
#include "model/scheduler/rounds.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum tz_trace_kind {
    TZ_TRACE_PLAIN,
    TZ_TRACE_LOCAL,  /* an access to spilt registers */
    TZ_TRACE_ARRIVE, /* signals the adjacent warps of the block */
    TZ_TRACE_AWAIT,  /* waits until the adjacent warps have arrived as often */
    TZ_TRACE_COPIED  /* waits for copies to shared memory, which are not simulated */
} tz_trace_kind;

enum { TZ_TRACE_BARRIERS = 6 };

typedef struct tz_trace_instruction {
    uint8_t class; /* tz_work_class */
    uint8_t kind;  /* tz_trace_kind */
    uint8_t stall; /* clocks until the next instruction of the warp, at least */
    /* barriers that open with its result, and after its operands are read; 7: none */
    uint8_t sets, frees;
    uint8_t waits; /* barriers that it waits for, as bits */
    uint8_t words; /* of an access to memory: 32-bit words a lane; else 0 */
    uint8_t over;  /* instructions that are fetched and passed over before it */
} tz_trace_instruction;

/* A device's numbers as the schedulers see them. Units: clocks, of one scheduler unless said
 * otherwise. All members are doubles: two of these are compared byte by byte. */
typedef struct tz_scheduler {
    double half;     /* an instruction in one of the two halves of the single precision unit */
    double multiply; /* an integer multiplication, in the first of them */
    double logic;    /* integers, logic and moves, which are one unit */
    double fp64, special;
    double shuffle, pass;           /* in the unit that all four share */
    double shuffle_wait;            /* from issue to result */
    double shared_wait, local_wait; /* the same */
    double barrier_wait;            /* from the last warp's arrival at a barrier on */
    double result_wait;             /* from issue to a result that opens a barrier, other units */
    double operand_wait;            /* from issue until operands are read */
    double queue_depth;             /* instructions that the queue to the shared unit holds */
    double queue_wait;              /* from issue through that queue to the unit, at least */
    double queue_slots;             /* clocks of its scheduler for an instruction to the queue */
    double dispatch;                /* clocks of its scheduler for each instruction beyond one */
    /* In a loop that does not fit a cache each instruction is delayed. The delay grows in
     * proportion from 0 at `bytes` to `late` clocks at (1 + soft) * bytes. The near cache matters
     * only if warps are at different places of the code. */
    struct {
        double bytes, soft, late;
    } near_text, far_text;
    double slots; /* warps of a multiprocessor */
    double registers, register_unit;
} tz_scheduler;

enum { TZ_SCHEDULER_QUEUE_MAX = 64 }; /* of queue_depth */

/* Clocks by which fetching delays an instruction of a loop of `text_bytes`. `together`: warps are
 * at the same place of the code, so that one finds what another has fetched. */
double tz_scheduler_fetch_clocks(const tz_scheduler *scheduler, double text_bytes, bool together);

typedef struct tz_schedule {
    double clocks;                 /* until each warp has gone round once */
    double issued;                 /* share of the slots of all four schedulers, 0 to 1 */
    double waits[TZ_ROUNDS_WAITS]; /* shares of the warps' time, 0 to 1 */
} tz_schedule;

/* Run `blocks` blocks of `block_warps` warps round the trace. Errors: TZ_RANGE (an empty trace, an
 * unknown class or barrier, a number of warps or a queue size out of range). */
tz_status tz_schedule_run(const tz_scheduler *scheduler, const tz_trace_instruction *trace,
                          int count, int block_warps, int blocks, tz_schedule *out,
                          tz_error *error);

/* The same for numbers of blocks from 1 up to the limit of slots and of `registers` a thread. */
tz_status tz_schedule_rounds(const tz_scheduler *scheduler, const tz_trace_instruction *trace,
                             int count, int block_warps, int registers, tz_rounds *out,
                             tz_error *error);

#endif
