/* The design of a stage of the 3-D stream family: which version of which field is kept where, and
 * how long.
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
    int planes;      /* kept in registers, with the newest; 0: no pass reads it */
    int radius;      /* of the passes that read it */
    int radius_z;    /* of those that read its planes, and not sums of them */
    int rows_oldest; /* age of the oldest plane whose rows other warps read; -1: none */
    bool rows_below; /* planes below the centre are among those */
    int slots;       /* planes of the ring in shared memory */
    int64_t shared;  /* where it begins */
    int turn;        /* first of its slots in the scheme's turns; -1: known when compiled */
    bool last;       /* made by a pass, and the field's value when the stage ends */
} planes_version;

typedef struct planes_pass {
    int pass, iteration, lag;
    int rest; /* ghost zone that is left after it */
    int radius;
    int words;  /* of the sums of a plane that it keeps; 0: it reads fields as they are */
    bool waits; /* it reads rows that are made in the same step, after a barrier of its own */
    bool early; /* it reads rows of other warps before the previous pass stores its own */
    int reads[TZ_FIELDS_MAX], writes[TZ_FIELDS_MAX]; /* versions; -1: none */
} planes_pass;

typedef struct planes_scheme {
    int vector, rows, warps, ahead;
    int reach;            /* ghost zone in y and z */
    int ghost_x, ghost_y; /* cells that a tile loses on each side */
    int whole;       /* lanes that hold an entire row of bits, which has no ghost zone then; or 0 */
    int lag;         /* of the last pass */
    int group;       /* steps that are unrolled */
    int turns_count; /* lengths of rings that are no divisors of the group */
    int turns[PLANES_TURNS_MAX];
    int radius_rows; /* largest radius of a pass */
    bool beside;     /* rows come from the two adjacent warps alone, and a warp waits for these */
    int static_radius;
    int passes_count, versions_count;
    planes_pass passes[PLANES_STEPS_MAX];
    planes_version versions[PLANES_VERSIONS_MAX];
    tz_footprint footprints[TZ_PASSES_MAX];
    int64_t rings, shared_bytes; /* shared memory: where the rings begin, and all of it */
    int registers;               /* of a thread, estimated */
} planes_scheme;

/* The scheme of a complete plan. False: it has more than PLANES_STEPS_MAX passes, or no useful
 * cells in a tile. */
bool planes_scheme_make(planes_scheme *scheme, const tz_problem *problem, const tz_limits *limits,
                        const tz_plan *plan);

/* Steps since the plane was made that a pass reads as its centre, or of which it makes sums. */
int planes_age(const planes_pass *pass, const planes_version *version);
/* Columns that a pass reads of a row, as tz_footprint_row(); of sums: at their own plane. */
uint32_t planes_row(const planes_scheme *scheme, const planes_pass *pass, int field, int dz,
                    int dy);

/* Does a pass read other rows in other planes? */
bool planes_corners(const tz_problem *problem, const tz_pass *pass);

/* Planes that could be fetched ahead besides, in the shared memory that the scheme takes. */
int planes_spare(const planes_scheme *scheme);

/* Columns that a tile loses on each side. It is 0 where a row of bits fits a warp, whose lanes then
 * exchange words round the ends of the row. */
int64_t planes_ghost_x(const tz_problem *problem, int vector, int height);

/* Registers that a thread of so many warps a block may have. */
int planes_registers_max(int warps);

/* The device text of a plan: one kernel. */
void planes_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                      const tz_plan *plan);

extern const tz_cuda_planner planes_planner; /* work.c */

#endif
