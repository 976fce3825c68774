/* A multiprocessor's four schedulers at work on the way round a loop, instruction by instruction:
 * how many clocks all of its warps take for one round, and what they wait for.
 *
 * Each clock a scheduler issues one instruction of one of its warps: of the one that it issued last
 * if that is ready, else of the oldest. An instruction is ready when the clocks have passed that
 * the compiler asks for after the one before it, when the barriers that it names are open, and when
 * its unit is free. Shuffles, shared memory, local and global accesses go through a queue for each
 * scheduler to a unit that all four share, one pass of 128 bytes a clock; since a queue takes half
 * a warp a clock, such an instruction holds its scheduler for two. (Jia et al., "Dissecting the
 * NVIDIA Volta GPU architecture via microbenchmarking", 2018; the latter from hardware counters of
 * an H200.) Code that is longer than what the schedulers keep comes in at less than their pace.
 *
 * Loads from global memory are not waited for: what they take is of all warps, and a step's are
 * asked for some steps before (roofs_gpu.c). */
#ifndef TZ_MODEL_SCHEDULER_H
#define TZ_MODEL_SCHEDULER_H

#include "base/error.h"
#include "model/scheduler/rounds.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum tz_trace_kind {
    TZ_TRACE_PLAIN,
    TZ_TRACE_LOCAL,  /* an access to spilt registers */
    TZ_TRACE_ARRIVE, /* tells the warps beside it in the block */
    TZ_TRACE_AWAIT,  /* waits until those have arrived as often as it has */
    TZ_TRACE_COPIED  /* waits for copies to shared memory; not here */
} tz_trace_kind;

enum { TZ_TRACE_BARRIERS = 6 };

typedef struct tz_trace_instruction {
    uint8_t class;       /* tz_work_class */
    uint8_t kind;        /* tz_trace_kind */
    uint8_t stall;       /* clocks before the next one of the same warp, at least */
    uint8_t sets, frees; /* barriers that open with its result, and once its operands are read; 7:
                          * none */
    uint8_t waits;       /* barriers that it waits for, as bits */
    uint8_t words;       /* 32-bit words a lane of an access to memory; else 0 */
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
    double queue_slots;             /* that an instruction to the queue takes of its scheduler */
    double dispatch;                /* that each instruction takes of its scheduler beyond one */
    /* Instructions come late where a loop is longer than what a cache holds: by up to `late` clocks
     * an instruction, growing in proportion from `bytes` to (1 + soft) * bytes. The near cache
     * matters only where warps are at different places of the code. */
    struct {
        double bytes, soft, late;
    } near_text, far_text;
    double slots; /* warps of a multiprocessor */
    double registers, register_unit;
} tz_scheduler;

enum { TZ_SCHEDULER_QUEUE_MAX = 64 }; /* of queue_depth */

/* Clocks of a scheduler that an instruction takes more where warps go round so many bytes of code,
 * over and over: `together`, so that one finds what another has fetched, or each on its own. */
double tz_scheduler_fetch_clocks(const tz_scheduler *scheduler, double text_bytes, bool together);

typedef struct tz_schedule {
    double clocks;                 /* until each of the warps has gone round once */
    double issued;                 /* of the slots of all four schedulers, 0 to 1 */
    double waits[TZ_ROUNDS_WAITS]; /* of the warps' time, 0 to 1 */
} tz_schedule;

/* `blocks` of `block_warps` warps each go round the trace. Errors: TZ_RANGE (an empty trace,
 * a class or barrier that there is none of, no warps or more than a multiprocessor has),
 * TZ_MEMORY. */
tz_status tz_schedule_run(const tz_scheduler *scheduler, const tz_trace_instruction *trace,
                          int count, int block_warps, int blocks, tz_schedule *out,
                          tz_error *error);

/* The same for numbers of blocks from one to as many as registers a thread and slots allow, as
 * tz_rounds. */
tz_status tz_schedule_rounds(const tz_scheduler *scheduler, const tz_trace_instruction *trace,
                             int count, int block_warps, int registers, tz_rounds *out,
                             tz_error *error);

#endif
