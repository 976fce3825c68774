/* The design of a stage of the 3-D stream family: where each version of a field is kept, and how
 * long.
 *
 * A version of a field is its value at the stage's start (level 0) or the result of a pass. In each
 * step one plane of each version is new: planes of level 0 arrive, passes compute the others. It is
 * `lag` planes behind the plane that a step is numbered by.
 *
 * A field that is read by cells at their own place alone is carried: its planes need no neighbours.
 * Those of level 0 arrive when the first pass needs them, and each lane reads its own cells of them
 * from shared memory. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_PLANES_SCHEME_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_PLANES_SCHEME_H

#include "backend/cuda/family/family.h"
#include "stencil/footprint.h"

enum {
    PLANES_STEPS_MAX = 64, /* passes of a stage */
    PLANES_VERSIONS_MAX = TZ_FIELDS_MAX * (PLANES_STEPS_MAX + 1),
    PLANES_SLOTS_MAX = 32,
    PLANES_WARPS = 16 /* of a block, unless few registers are left or the fields are bits */
};

typedef struct planes_version {
    int field, number; /* number: 0 at the stage's start */
    int lag;
    bool carried;
    bool held;               /* of level 0, carried: later passes read it from registers */
    bool needed;             /* of level 0, carried: a pass reads it, */
    int skip_low, skip_high; /* but not in so many first and last rows of the tile */
    int oldest;              /* age of the oldest plane that a pass reads; -1: none */
    int planes;              /* in registers, with the newest; 0: none */
    int radius;              /* of the passes that read it */
    int below;               /* planes below the centre that passes read; not of sums */
    int above;               /* the same, above */
    int first, last;         /* rows of a lane that other warps read: so many first, and last */
    int rows_oldest;         /* age of the oldest plane whose rows other warps read; -1: none */
    bool rows_below;         /* other warps also read rows of planes below the centre */
    int slots;               /* planes of its ring in shared memory */
    int64_t shared;          /* offset of the ring in shared memory */
    int first_slot; /* in the scheme's variable slots; -1: the ring's slots are constants */
    bool result;    /* made by a pass, and the field's value when the stage ends */
} planes_version;

typedef struct planes_pass {
    int pass, iteration, lag;
    int rest_low, rest_high; /* planes of the ghost zone that are left after it */
    int radius;
    int words;  /* of the sums of a plane that it keeps; 0: it reads fields directly */
    bool waits; /* it reads rows that are made in the same step, after a barrier of its own */
    bool early; /* it reads rows of other warps before the previous pass stores its own */
    int reads[TZ_FIELDS_MAX], writes[TZ_FIELDS_MAX]; /* versions; -1: none */
} planes_pass;

typedef struct planes_scheme {
    int vector, rows, warps, ahead;
    int lanes;                   /* of a row of the tile */
    int groups;                  /* of `rows` rows in a tile: 32 / lanes for each warp */
    tz_reach ghost;              /* cells that a tile loses on each side */
    int lag;                     /* the largest of a pass */
    int hold;                    /* age up to which carried planes of level 0 stay in registers */
    int edges;                   /* boundary values of a field, tz_cuda_edges() */
    int row_lanes;               /* lanes that hold an entire row of bits; 0: rows are longer */
    int group;                   /* steps of a loop body */
    bool rolled;                 /* the body is a loop of its steps */
    int slots_count;             /* of the entries of slots */
    int slots[PLANES_SLOTS_MAX]; /* lengths of the rings whose slots are variables */
    int radius_rows;             /* largest radius of a pass */
    bool adjacent;               /* a warp reads rows of, and waits for, adjacent warps only */
    int static_radius;           /* of fields that passes read from memory */
    uint32_t carried;            /* fields */
    uint32_t ringed;             /* fields whose versions are in the rings, not carried */
    int farthest;                /* distance of a row or plane that a pass reads, the largest */
    int passes_count, versions_count;
    planes_pass passes[PLANES_STEPS_MAX];
    planes_version versions[PLANES_VERSIONS_MAX];
    tz_footprint footprints[TZ_PASSES_MAX];
    int64_t rings, shared_bytes; /* shared memory: where the rings begin, and its total */
    int registers;               /* of a thread, estimated */
} planes_scheme;

/* The scheme of a complete plan (malloc'd; the caller frees it). NULL: the plan has more than
 * PLANES_STEPS_MAX passes, a tile has no useful cells, or memory does not suffice. */
planes_scheme *planes_scheme_make(const tz_problem *problem, const tz_limits *limits,
                                  const tz_plan *plan);

/* The fields that are in the rings or carried. */
uint32_t planes_streamed(const planes_scheme *scheme);

/* Age in steps of the plane that a pass reads as its centre, or that it makes sums of. */
int planes_age(const planes_pass *pass, const planes_version *version);
/* Columns of a row that a pass reads, as tz_footprint_row(). Sums read all planes at dz 0. */
uint32_t planes_row(const planes_scheme *scheme, const planes_pass *pass, int field, int dz,
                    int dy);

/* Does a pass read other rows in other planes? */
bool planes_corners(const tz_problem *problem, const tz_pass *pass);

/* Bytes of a cell that passes read from static fields in memory in a step, without prefetching. */
double planes_direct_bytes(const planes_scheme *s, const tz_problem *problem);
/* Do two plans keep the same fields in the same places? */
bool planes_keeps_fields(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         const tz_plan *other);
/* How many more planes the scheme's shared memory lets it fetch ahead. */
int planes_spare(const planes_scheme *scheme);

/* Cells that a tile loses on each side; for columns, multiples of the vector, and 0 if a warp holds
 * a row of bits: its lanes then exchange words round the ends of the row. */
tz_reach planes_ghost(const tz_problem *problem, int vector, int height);

/* Has a field elements of 8 bytes? */
bool planes_is_wide(const tz_problem *problem);

/* Does the grid's edge run between two rows of a lane? */
bool planes_straddles(const planes_scheme *scheme, const tz_problem *problem);

/* Lanes that hold a row of a plan's tile. */
int planes_lanes_of(const tz_plan *plan);

/* Registers that a thread may have in a block of so many warps. */
int planes_registers_max(int warps);

extern const tz_cuda_planner planes_planner; /* work.c */

#endif
