/* The model of Tabik and others, 2015: which thread blocks are worth trying.
 *
 * The kernel it describes gives a block of Bx x By threads a tile of the xy plane, in shared memory
 * with its halo, and marches along z. A thread computes one cell of a plane. For each block shape
 * there are four numbers: transactions of global memory, transactions of shared memory, occupancy,
 * and active blocks. A shape is chosen if it is good in all four. There is no time in this model.
 *
 * What is not as printed, because the print contradicts its own tables or cannot be evaluated:
 *   - Transactions come from simulating the requests of each warp, not from eq. 2 and 4 to 9. The
 *     results are those of eq. 3 and of figures 5 and 7.
 *   - Eq. 10 divides by floors. Fermi has 1536 threads (table I; the text says 1024), a warp 32.
 *   - A shape may be as wide as the grid (the text: narrower; its tables have such shapes).
 * And ours, where the paper says nothing:
 *   - The tile has a pitch of Bx + max(2, halo along x) elements, also where the halo is along y
 *     only.
 *   - Eq. 12 has no times to put in: "efficient" means more active blocks than the fewest of all
 *     shapes.
 *   - "The best 50 %" takes whole groups of equal shapes, as many as are at most half of all.
 *   - Registers limit nothing. Rows of the grid begin at a transaction's boundary. */
#ifndef TZ_MODEL_PAPERS_TABIK2015_H
#define TZ_MODEL_PAPERS_TABIK2015_H

#include "model/device.h"

#include <stdbool.h>

enum {
    TZ_TABIK_SHAPES_MAX = 128,
    TZ_TABIK_HALO_MAX = 64,      /* elements to one side */
    TZ_TABIK_THREADS_MAX = 4096, /* of a block */
    TZ_TABIK_WARP_MAX = 64,
};

/* A kernel: one sweep that reads some fields and writes others. Lengths count elements. Axis 0 is
 * x. Unused axes have extent 1 and no halo. */
typedef struct tz_tabik_kernel {
    double extent[3];    /* of the grid, at least 1 */
    int low[2], high[2]; /* halo along x and y on each side, 0 to TZ_TABIK_HALO_MAX */
    int element_bytes;   /* 1 to 64 */
    int tiles;           /* fields with a halo in the plane: each has a tile */
    int loads;           /* fields that are read, those with tiles included */
    int stores;          /* fields that are written */
    bool diagonals;      /* the tile's corners are read, too: a box, not a star */
} tz_tabik_kernel;

/* The numbers of a GPU that the model needs. */
typedef struct tz_tabik_gpu {
    int warp_size;
    int request_threads; /* of a warp that a memory request serves: 16 before Fermi, then 32 */
    int transaction_bytes;
    int banks, bank_bytes; /* of shared memory */
    int blocks_per_sm, threads_per_sm, threads_per_block;
    double shared_bytes; /* of a multiprocessor */
} tz_tabik_gpu;

/* Bits of tz_tabik_shape.good. */
typedef enum tz_tabik_criterion {
    TZ_TABIK_GLOBAL,    /* in the best half by transactions of global memory */
    TZ_TABIK_SHARED,    /* in the best half by transactions of shared memory */
    TZ_TABIK_OCCUPANCY, /* the highest that is reached */
    TZ_TABIK_EFFICIENT, /* more active blocks than the fewest; always where there is no tile */
    TZ_TABIK_CRITERIA
} tz_tabik_criterion;

/* A block of x times y threads. Transactions are of one sweep over the grid. */
typedef struct tz_tabik_shape {
    int x, y;
    double global_transactions, shared_transactions;
    int active_blocks; /* eq. 10; at least 1 */
    double occupancy;  /* eq. 11, 0 to 1 */
    unsigned good;     /* bit c: good by criterion c */
    bool chosen;       /* good by all */
} tz_tabik_shape;

typedef struct tz_tabik_space {
    int count, chosen;
    tz_tabik_shape shapes[TZ_TABIK_SHAPES_MAX]; /* by y, then x */
} tz_tabik_space;

/* The numbers of a record. What is assumed is not noted here. TZ_UNSUPPORTED: the record lacks one,
 * or describes a warp that this model cannot simulate; the message names it. */
tz_status tz_tabik_gpu_of(const tz_model_device *device, tz_tabik_gpu *out, tz_error *error);

/* Transactions of one block and plane. */
double tz_tabik_global_transactions(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu, int x,
                                    int y);
double tz_tabik_shared_transactions(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu, int x,
                                    int y);
/* Bytes of shared memory of a block, as in table II. */
double tz_tabik_shared_bytes(const tz_tabik_kernel *kernel, int x, int y);
/* Eq. 10 without registers: blocks of a multiprocessor at once; 0: a block does not fit. */
int tz_tabik_active_blocks(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu, int x, int y);

/* All shapes of section 4.1 with their numbers, and which are chosen: powers of two, from a warp to
 * the GPU's largest block, within the grid, no smaller than the halo of one side, with a tile that
 * fits. Errors: TZ_RANGE (the kernel is out of range; no shape is left: the message says why). */
tz_status tz_tabik_choose(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu,
                          tz_tabik_space *out, tz_error *error);

/* "global", "shared", "occupancy", "efficient". Static. */
const char *tz_tabik_criterion_text(tz_tabik_criterion criterion);

#endif
