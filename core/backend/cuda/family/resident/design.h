/* How the resident family cuts a grid into blocks and threads, and where it keeps fields. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_RESIDENT_DESIGN_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_RESIDENT_DESIGN_H

#include "backend/cuda/family/family.h"

enum {
    TZ_RESIDENT_HEIGHT_MAX = 256,
    TZ_RESIDENT_CELLS_MAX = 32,    /* along an axis, of a thread */
    TZ_RESIDENT_TAGS_BYTES = 1024, /* at the start of scratch, before the slots; TZ_TAGS words */
    /* A slot has 8 bytes: a word and its tag. Exchanges use two sets of slots by turns. */
    TZ_RESIDENT_SECTOR_SLOTS = TZ_CUDA_SECTOR_BYTES / 8,
    TZ_RESIDENT_LINE_SLOTS = TZ_CUDA_LINE_BYTES / 8,
    TZ_RESIDENT_SETS = 2
};

typedef struct tz_resident {
    int blocks[TZ_AXES];
    int threads[TZ_AXES]; /* of a block */
    int cells[TZ_AXES];   /* of a thread */
    int ghost;            /* cells; 0: one block */
    int radius, rim;      /* cells read beyond a brick; cells of a brick that other threads read */
    int warps;
    bool held;        /* bricks stay in registers, else in shared memory */
    int buffers;      /* of a written field in shared memory */
    int shared_bytes; /* of a block */
    int registers;    /* of a thread, about */
    bool masked;      /* two words of a thread mark the cells that are received and sent */
    int spare;  /* registers of a thread that are free while it waits for ghost cells, about */
    int batch;  /* ghost cells of its brick that a thread loads at once, */
    int groups; /* of so many groups of fields, one group after the other */
    /* Of the tile's ghost cells those that a thread loads at once, for all bricks; 0: each thread
     * loads those of its own brick. */
    int gather;
    int sent_words; /* 32-bit words that a cell's exchange takes */
    double cost;    /* clocks an iteration, about */
} tz_resident;

/* The cheapest design for a plan with a height. It keeps the plan's tile, vector and warps unless
 * they are 0. False if no design fits. */
bool tz_resident_design(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                        tz_resident *design);

/* The height whose best design is cheapest; 1 if no design fits. */
int tz_resident_height(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan);

/* Does the text take more than a few seconds to compile, and spill registers? True for large bricks
 * of words in 3-D (8 words a thread: 3 s, 25: 17 s). Such plans are made only on request. */
bool tz_resident_is_lengthy(const tz_problem *problem, const tz_resident *design);

/* Elements of shared memory from an element of a thread's brick to the next one: at least as many
 * as there are threads with bricks. */
int tz_resident_pitch(const tz_resident *design);

/* Slots from that of a column of a brick to that of the next column: as many as a row of the grid
 * has bricks. */
int64_t tz_resident_slots_apart(const tz_problem *problem, const tz_resident *design);

/* Is a field in shared memory, and how many bytes does it take? */
bool tz_resident_is_shared(const tz_problem *problem, const tz_resident *design, int field);
int tz_resident_shared_bytes(const tz_problem *problem, const tz_resident *design, int field);

/* How far a cell reads, of any field: tz_resident.radius. */
int tz_resident_radius(const tz_problem *problem);

/* The bits of a periodic row past its last column; 0: none. Such rows are not cut along x. */
int tz_resident_spare_bits(const tz_problem *problem);

/* Fields of a group, but for the last group, which may have fewer. */
int tz_resident_together(const tz_problem *problem, const tz_resident *design);

/* What an exchange takes, of a block with neighbours on all sides. */
typedef struct tz_resident_exchange {
    double batches_mean, batches_most; /* of a warp's cells, with ghost cells among them */
    double requests; /* of warps that gather the ghost cells of the tile; not in 3-D */
    double sectors;  /* of L2 that warps write and read, for one word of each cell */
} tz_resident_exchange;

/* tz_resident_ways() counts all but the sectors, which take longer. */
void tz_resident_ways(const tz_problem *problem, const tz_resident *design,
                      tz_resident_exchange *out);
void tz_resident_count(const tz_problem *problem, const tz_resident *design,
                       tz_resident_exchange *out);
/* Bytes of all lines of L2 that hold slots of cells that some block sends, in both sets. 0 if there
 * is one block. */
double tz_resident_slots_bytes(const tz_problem *problem, const tz_resident *design);
/* The time of the requests of a warp if all threads gather, in batches of few ghost cells
 * (TZ_FIT_RESIDENT_REQUEST). */
double tz_resident_request_time(const tz_resident *design, const tz_resident_exchange *exchange);
/* How many times a thread loads `gather` ghost cells in an exchange. `gather` is not 0. */
int tz_resident_rounds(const tz_resident *design, const tz_resident_exchange *exchange);

#endif
