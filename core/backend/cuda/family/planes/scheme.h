/* How a stage of the 3-D stream family is laid out: which version of which field is where, and
 * when.
 *
 * A version of a field is what the stage starts with (level 0) or what a pass makes of it. In each
 * step one plane of level 0 arrives and each pass computes one plane, lag planes behind it. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_PLANES_SCHEME_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_PLANES_SCHEME_H

#include "backend/cuda/family/family.h"
#include "backend/cuda/family/footprint.h"

enum {
    PLANES_STEPS_MAX = 64, /* passes of a stage */
    PLANES_VERSIONS_MAX = TZ_FIELDS_MAX * (PLANES_STEPS_MAX + 1),
    PLANES_TURNS_MAX = 32
};

typedef struct planes_version {
    int field, number; /* number: 0 at the stage's start */
    int lag;
    int planes;      /* kept in registers, the newest among them; 0: nobody reads it */
    int radius;      /* of the passes that read it */
    int radius_z;    /* of those that read its planes, and not sums of them */
    int rows_oldest; /* age of the oldest plane whose rows other warps read; -1: none */
    bool rows_below; /* planes below the centre are among those */
    int slots;       /* planes of the ring in shared memory */
    int64_t shared;  /* where it begins */
    int turn;        /* where the scheme's turns have its slots; -1: the compiler knows them */
    bool last;       /* the field's value when the stage ends, and not only at its start */
} planes_version;

typedef struct planes_pass {
    int pass, iteration, lag;
    int rest; /* ghost zone that is left after it */
    int radius;
    int words;  /* of the sums of a plane that it keeps; 0: it reads fields as they are */
    bool waits; /* it reads rows that are made in the same step: a barrier of its own */
    bool early; /* rows of other warps are read before the pass before it leaves its own */
    int reads[TZ_FIELDS_MAX], writes[TZ_FIELDS_MAX]; /* versions; -1: none */
} planes_pass;

typedef struct planes_scheme {
    int vector, rows, warps, ahead;
    int reach;            /* ghost zone in y and z */
    int ghost_x, ghost_y; /* cells that a tile loses on each side */
    int whole;       /* lanes that hold a whole row of bits, which then has no ghost zone; or 0 */
    int lag;         /* of the last pass */
    int group;       /* steps that are unrolled */
    int turns_count; /* lengths of rings whose slots do not return after a group */
    int turns[PLANES_TURNS_MAX];
    int radius_rows; /* largest radius of a pass */
    bool beside;     /* rows come from the warps beside alone, which is whom a warp waits for */
    int static_radius;
    int passes_count, versions_count;
    planes_pass passes[PLANES_STEPS_MAX];
    planes_version versions[PLANES_VERSIONS_MAX];
    tz_footprint footprints[TZ_PASSES_MAX];
    int64_t rings, shared_bytes; /* of shared memory: rings are from there to the end */
    int registers;               /* of a thread, about */
} planes_scheme;

/* What a plan with everything but the height chosen amounts to. False: more passes than there is
 * room for, or no useful cells in a tile. */
bool planes_scheme_make(planes_scheme *scheme, const tz_problem *problem, const tz_limits *limits,
                        const tz_plan *plan);

/* Age of a version's plane that is at the centre of what a pass reads, or of which it makes sums.
 */
int planes_age(const planes_pass *pass, const planes_version *version);
/* Columns that a pass reads of a row, as tz_footprint_row(); of sums: at their own plane. */
uint32_t planes_row(const planes_scheme *scheme, const planes_pass *pass, int field, int dz,
                    int dy);

/* Does a pass read other rows in other planes? */
bool planes_corners(const tz_problem *problem, const tz_pass *pass);

/* How many planes more could be fetched ahead in the shared memory that the scheme takes. */
int planes_spare(const planes_scheme *scheme);

/* Columns that a tile loses on each side; 0 where a row of bits fits a warp: its lanes then find
 * each other's words round the ends of the row too. */
int64_t planes_ghost_x(const tz_problem *problem, int vector, int height);

/* Registers that a thread of so many warps a block may have. */
int planes_registers_max(int warps);

/* The device text of a plan: one kernel. */
void planes_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                      const tz_plan *plan);

extern const tz_cuda_planner planes_planner; /* work.c */

#endif
