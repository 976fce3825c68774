/* PTX: the instructions of a kernel, and what a warp executes of them.
 *
 * Reading knows the syntax of all instructions. Running follows integers, addresses and predicates
 * of the 32 lanes of one warp through the text: with them come the turns of loops, the branches
 * that are taken and the addresses of memory accesses. What floating-point instructions and memory
 * give is not known; branches that depend on it are counted in the result. */
#ifndef TZ_MODEL_PAPERS_PTX_H
#define TZ_MODEL_PAPERS_PTX_H

#include "model/papers/luo2011.h"

typedef struct tz_ptx tz_ptx;

/* Read the kernel `entry` of a PTX text. Errors: TZ_UNKNOWN (no such kernel), TZ_FORMAT (with the
 * statement that is not understood), TZ_MEMORY. */
tz_status tz_ptx_read(tz_ptx **out, const char *text, const char *entry, tz_error *error);
void tz_ptx_destroy(tz_ptx *ptx); /* NULL is fine */

/* Instructions of the text, and of one operation. */
int tz_ptx_count(const tz_ptx *ptx);
int tz_ptx_count_of(const tz_ptx *ptx, tz_luo2011_operation operation);
/* Basic blocks: runs of instructions that only begin at a label or after a branch. */
int tz_ptx_blocks(const tz_ptx *ptx);

typedef struct tz_ptx_launch {
    unsigned block[3], grid[3]; /* threads of a block, blocks */
    unsigned at[3];             /* which block */
    unsigned warp;              /* which warp of it: threads 32 * warp to 32 * warp + 31, x first */
    const void *arguments;      /* as the kernel's parameters lie in memory; may be NULL */
    size_t arguments_bytes;
    int trips; /* turns of loops whose end is not known; at least 1 */
} tz_ptx_launch;

typedef struct tz_ptx_trace {
    tz_luo2011_task *tasks; /* owned: computation and memory in turn */
    int count;
    double text_computation, text_memory; /* clocks of the text, each instruction once */
    int64_t executed;                     /* instructions of the warp */
    int64_t turns;                        /* backward branches that were taken */
    int64_t accesses, transactions;
    int unknown_branches, unknown_addresses; /* instructions of the text whose was not known */
    int calls;                               /* the same of calls, which are not followed */
} tz_ptx_trace;

/* What the warp executes. If lanes part, those that are first in the text go on until they meet.
 * Branches that depend on unknown values: forward ones are not taken, backward ones as often as
 * `trips` says. An unknown address counts as one transaction a lane. Errors: TZ_UNSUPPORTED (a jump
 * through a table; more than TZ_PTX_STEPS_MAX instructions), TZ_MEMORY. */
enum { TZ_PTX_STEPS_MAX = 2000000 };
tz_status tz_ptx_run(const tz_ptx *ptx, const tz_ptx_launch *launch, const tz_luo2011_costs *costs,
                     bool half_warps, tz_ptx_trace *out, tz_error *error);
void tz_ptx_trace_clear(tz_ptx_trace *trace); /* zeros are fine */

#endif
