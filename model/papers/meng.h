/* The equations that both ghost-zone models of Meng and Skadron share.
 *
 *   [2009] J. Meng, K. Skadron: Performance Modeling and Automatic Ghost Zone Optimization for
 *          Iterative Stencil Loops on GPUs. ICS 2009.
 *   [2011] J. Meng, K. Skadron: A Performance Study for Iterative Stencil Loops on GPUs with Ghost
 *          Zone Optimizations. Int. J. Parallel Programming 2011 (preprint).
 *
 * Equation numbers are [2009]'s unless they say otherwise; [2011]'s 1 to 5 and 8 to 10 are the
 * same. A trapezoid begins with a block of blk_len elements an axis, ghost zone included; every
 * iteration computes the whole block (minus one halo) again, and after h iterations only the valid
 * elements are stored. Times are cycles of the device's clock, of a whole stage unless a name ends
 * in `_per_loop`. Heights are real numbers here: 0 < h < tz_model_meng_height_bound().
 *
 * Where we read the printed equations differently, or where they leave something open:
 *   - Eq. 16's products run from 0 to D, and eq. 17 says i in [0, D]: D + 1 axes. The axes are 0
 *     to D - 1, as in eq. 3. (The text before eq. 10 counts 1 to D: the same axes.)
 *   - Eq. 16 is introduced as the tile at the end over the tile at the start, but divides by
 *     blk_len - HaloWidth, not blk_len. Kept as printed: an iteration computes exactly these
 *     elements, and the value 1 at h = 1 means that nothing is computed twice.
 *   - In eq. 7 `stages` cancels out of the second term, and so does CoalesceDegree with eq. 4:
 *     memory time = stages * latency + alpha * bytes / bandwidth. [2011] eq. 7 writes that out.
 *   - MiscComp(n) and IterComp(n), eq. 13 and 14: their right-hand sides have no n.
 *   - Eq. 12 divides by N / WarpSize warps, although tiles overlap by a halo at h = 1 too and more
 *     warps run; instruction counts are too high by (blk_len / (blk_len - HaloWidth))^D: 23 % for
 *     20 x 20. Kept: the counts of table 2 and the times of eq. 13 and 14 belong
 *     together.
 *   - M in eq. 12 belongs to the profiled device, M in eq. 23 to the predicted one. On one device
 *     they cancel, as the paper writes. Here eq. 12 is applied before the predicted device is
 *     known.
 *   - T and stages are real numbers, as section 5.3 says of ActiveWarpsPerBlock. Rounding any of
 *     them up changes no best height of the paper's benchmarks.
 *   - BlksPerSM is 8 whatever the block: 20 x 20 threads would fit only twice into GT200's 1024
 *     threads. Kept: eq. 15 was measured for 240 blocks.
 *   - x, an element's size, is not given. 4 bytes: the arrays are float in listing 1.
 *   - Eq. 10 counts no stores, eq. 9 one array. Several state fields: num_commit_arrays, 1 in the
 *     papers. Blocks need not be cubes here: blk_len has an entry an axis.
 *   - Section 6.1 says that IterComp' dominates and LoadSten' comes second. With tables 1 and 2, at
 *     h = 1, MiscComp' is the greatest for PathFinder, HotSpot and Poisson and second for Cell,
 *     five times LoadSten' and more. The printed numbers do not give the paper's order. */
#ifndef TZ_MODEL_PAPERS_MENG_H
#define TZ_MODEL_PAPERS_MENG_H

#include "model/papers/equations.h"

/* One benchmark on one device, with the papers' names. All entries are finite; only axes below
 * `dims` count. */
typedef struct tz_model_meng {
    int dims;                          /* D: 1 to 3 */
    double data_length[TZ_MODEL_AXES]; /* elements, > 0 */
    double halo_width[TZ_MODEL_AXES];  /* elements, >= 0; both sides together */
    double blk_len[TZ_MODEL_AXES];     /* elements, > halo_width */
    double num_stencil_arrays;         /* loaded into each block at the start; >= 1 */
    double num_elem_per_op;            /* elements loaded for each operation; >= 0 */
    double num_commit_arrays;          /* stored at the end; 1 in the papers */
    double element_bytes;              /* x */
    double num_warp_insts_mc;          /* instructions of a warp, once a stage (eq. 12) */
    double num_warp_insts_ic;          /* the same, once an iteration */
    double clock_rate_hz;              /* ClockRate */
    double mem_bandwidth_bytes_per_s;  /* MemBandwidth */
    double coalesce_degree;            /* words of a request */
    double uncontended_lat_cycles;     /* UncontendedLat */
    double multiprocessors;            /* M */
    double blks_per_sm;                /* BlksPerSM */
    double warp_size;                  /* WarpSize */
    double cpi;                        /* CPI: cycles */
    double alpha;                      /* [2009] D / PipelineDepth; [2011] sigma^(D - 1) */
    double tau;                        /* [2009] 1; [2011] (1 - beta)(1 + BankConflictRate) */
    double glb_sync_cycles;            /* GlbSync: the part that does not depend on the grid */
    double glb_sync_per_block_cycles;  /* 0, but for fences (meng2011.h) */
} tz_model_meng;

/* Eq. 17: heights are below min over i of blk_len_i / HaloWidth_i; INFINITY without halos. */
double tz_model_meng_height_bound(const tz_model_meng *m);

/* Eq. 17: the greatest integer height, at most TZ_MODEL_HEIGHT_MAX; 0 if not even 1 is allowed. */
int tz_model_meng_height_max(const tz_model_meng *m);

/* Eq. 3: T, trapezoids in a stage. */
double tz_model_meng_trapezoids(const tz_model_meng *m, double h);

/* Eq. 4: cycles of the memory for a request of `bytes`. */
double tz_model_meng_cycles_per_request(const tz_model_meng *m, double bytes);

/* Eq. 5: ConcurBlks, blocks that the device runs at once. */
double tz_model_meng_concurrent_blocks(const tz_model_meng *m);

/* Eq. 6 (`stages`; [2011] calls it passes): rounds of concurrent blocks in a stage. */
double tz_model_meng_passes(const tz_model_meng *m, double h);

/* Eq. 7 ([2011] eq. 6): MemCycles(n), cycles to access n elements, by all blocks of a stage. */
double tz_model_meng_mem_cycles(const tz_model_meng *m, double h, double n);

/* Eq. 8: LoadSten, the blocks' first tiles. */
double tz_model_meng_load_sten(const tz_model_meng *m, double h);

/* Eq. 9: Commit, the valid results. */
double tz_model_meng_commit(const tz_model_meng *m, double h);

/* Eq. 10: IterMem, elements loaded in every operation. */
double tz_model_meng_iter_mem(const tz_model_meng *m, double h);

/* Eq. 11 ([2011] eq. 11, with tau): CompCycles of a block. */
double tz_model_meng_comp_cycles(const tz_model_meng *m, double num_warp_insts,
                                 double active_warps_per_block);

/* Eq. 12: NumWarpInsts, from the instructions `insts_per_sm` that a profiler counted on one of
 * `multiprocessors` SMs in a run over `cells`. All > 0 but the count, which is >= 0. */
double tz_model_meng_num_warp_insts(double insts_per_sm, double cells, double warp_size,
                                    double multiprocessors);

/* Eq. 13: MiscComp, of one block: the instructions outside the iterations. */
double tz_model_meng_misc_comp(const tz_model_meng *m);

/* Eq. 14: IterComp, of one block: h iterations. */
double tz_model_meng_iter_comp(const tz_model_meng *m, double h);

/* Eq. 15: GlbSync. It is a measured 3350 cycles in [2009]; a fence's grows with the blocks. */
double tz_model_meng_glb_sync(const tz_model_meng *m, double h);

/* Eq. 16: CostEffect in (0, 1]: the useful part of the computed elements. */
double tz_model_meng_cost_effect(const tz_model_meng *m, double h);

/* Eq. 19 to 24: the components, cycles of one iteration on average. */
typedef struct tz_model_meng_loop {
    double glb_sync;  /* eq. 19 */
    double load_sten; /* eq. 20 */
    double commit;    /* eq. 21 */
    double misc_comp; /* eq. 22 */
    double iter_comp; /* eq. 23 */
    double iter_mem;  /* eq. 24 */
} tz_model_meng_loop;
tz_model_meng_loop tz_model_meng_components_per_loop(const tz_model_meng *m, double h);

/* Eq. 18: CPL, cycles of an iteration: the sum of eq. 19 to 24. It is strictly convex below the
 * bound (section 6.1). */
double tz_model_meng_cpl(const tz_model_meng *m, double h);

/* Section 5.4.1: the largest block of equal lengths within a limit of threads: 512, 22^2, 8^3. */
double tz_model_meng_blk_len(int dims, double threads_per_block_max);

/* ---- For meng2009.c and meng2011.c ----------------------------------------------------------- */

/* Fill everything but alpha, tau and glb_sync. NumStencilArrays is the number of state and static
 * fields, NumElemPerOp that of streamed fields. If the facts have no instruction counts, an update
 * takes one instruction for each operation and each element read or stored, and the set-up takes as
 * many as an update (0.3 to 1.1 times as many in table 2). These two rules are ours, not the
 * papers', and are noted. */
tz_status tz_model_meng_fill(const tz_model_facts *facts, const tz_model_device *device,
                             const tz_model_plan *plan, tz_model_meng *m, tz_model_notes *notes,
                             tz_error *error);

/* Components, details and times at plan->height. */
void tz_model_meng_report(const tz_model_meng *m, const tz_model_facts *facts, int height,
                          tz_model_prediction *out);

#endif
