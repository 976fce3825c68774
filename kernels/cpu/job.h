/* Internal to kernels/cpu: the levels and jobs of a stage, and the part of the grid that each level
 * of a job computes. Accesses no fields. */
#ifndef TZ_KERNELS_CPU_JOB_H
#define TZ_KERNELS_CPU_JOB_H

#include "base/minmax.h"
#include "kernels/cpu/stage.h"

enum {
    TZ__PAD = TZ_ALIGN_ELEMENTS
}; /* elements before a row of a ring, for ghosts and alignment */

/* A few consecutive slabs of one field at one level. If a stage computes in place, all levels of a
 * field share the memory of one ring: slab j of a level lies where the level before had slab j - n,
 * and some elements lower. There the values are no longer needed. `slabs_lower` and
 * `elements_lower` are the sums of this over the levels. */
typedef struct tz__ring {
    size_t offset; /* of the ring in the arena */
    size_t slab_bytes;
    uint32_t depth;   /* slabs; 0: there is no ring */
    uint64_t inverse; /* ceil(2^64 / depth): slot = j mod depth without a division */
    int32_t slabs_lower;
    ptrdiff_t elements_lower;
} tz__ring;

/* The last rows of each slab of a level, which a leaning tile keeps for the next one. They lie
 * where that tile will have its final rows, in the output array: `first` rows after its first one
 * of the last level. Slabs of other chunks: in an arena. */
typedef struct tz__seam {
    int rows; /* 0: none */
    int first;
    size_t outside; /* in tz__job.seams: the slabs before the chunk, and then those after it */
} tz__seam;

/* Where the values of a field are: what level `level` made of field `field`; 0: the array. It is
 * another field if the one takes over what the other was. */
typedef struct tz__origin {
    int16_t level, field;
} tz__origin;

/* One pass of one iteration. */
typedef struct tz__level {
    const tz_pass *pass;
    tz_row_fn *rows; /* of tz_pipeline.at_once slabs */
    int radius;      /* of the pass: row functions get 2*radius + 1 slabs */
    /* slabs from this level's output to the newest slab of level 0: what the levels up to this one
     * read of later slabs, together */
    int lag;
    /* cells that this level computes beyond the tile: what the levels after this one read to that
     * side, together */
    tz_reach halo;
    int iteration;
    tz__origin source[TZ_FIELDS_MAX];   /* of what this level reads */
    uint32_t makes;                     /* mask of the fields of which it computes new values */
    tz__ring ring[TZ_FIELDS_MAX];       /* for the output; depth 0: no later level reads it */
    int16_t last_reader[TZ_FIELDS_MAX]; /* level that reads the ring */
    tz__seam seam[TZ_FIELDS_MAX];       /* if tiles lean */
} tz__level;

struct tz_pipeline {
    int levels; /* without level 0, which is the array */
    bool in_place;
    bool copies;   /* level 0 of state fields is in rings, too: planes of an array are read once */
    int leaning;   /* tiles along y that lean (kernels/cpu/lean.h); 0: tiles overlap */
    int slope;     /* rows by which they lean from a level to the next */
    int at_once;   /* slabs that a call of a row function computes */
    int batch;     /* slabs that a level computes before the next level */
    int64_t group; /* tz_stage.group; 0: rows are not in groups */
    int group_slope; /* rows by which groups move from a level to the next */
    /* Slabs from slab j that each pass reads of each field, low <= 0 <= high. */
    struct {
        int8_t low, high;
    } slabs[TZ_PASSES_MAX][TZ_FIELDS_MAX];
    tz__origin final[TZ_FIELDS_MAX]; /* of the values after the stage */
    ptrdiff_t row_stride;            /* of every ring, in elements */
    int64_t rows;                    /* of a ring slab */
    int32_t slabs_lower;             /* the largest of a ring */
    bool past;                       /* results go past the caches (kernels/cpu/results.h) */
    size_t results;                  /* offset in the arena of their rows */
    size_t scratch; /* offset in the arena of a row of a streamed field, and of one that is lost */
    size_t bytes;   /* of the arena */
    tz__level level[TZ_LEVELS_MAX + 1];
};

/* A tile on an inner axis. */
typedef struct tz__axis {
    int64_t low, high;         /* elements that the tile advances */
    int64_t ext_low, ext_high; /* the same with the ghost zone: elements of its slabs */
    bool virtual; /* the tile may extend past the grid, where its cells wrap: no ghosts */
    int leans_low,
        /* by how much each side is higher at the level before; `low` and `high`: at the last
         * level */
        leans_high;
} tz__axis;

/* One tile and one chunk of the stream axis, for one thread. */
typedef struct tz__job {
    tz__axis x, y;
    int64_t slab_low, slab_high; /* the chunk */
    bool wrap;                   /* the stream axis is periodic */
    bool alone;         /* a thread that computes a tile of a chunk computes the next one, too */
    bool gather;        /* level 0 of all fields is copied into rings */
    int64_t group_rows; /* of a group; 0: there is one, of all rows */
    int64_t first_group, last_group;
    int64_t slab_base; /* less than any slab: rings count from it */
    char *arena;
    /* the arena that has seams of other chunks' slabs: all threads of a team use the same */
    char *seams;
    ptrdiff_t zero; /* elements from the start of a ring slab to element (0, 0) */
} tz__job;

/* Elements of a slab, half open. */
typedef struct tz__area {
    int64_t x_low, x_high, y_low, y_high;
} tz__area;

/* Slabs of the grid. */
static inline int64_t tz__stream_extent(const tz_stage *stage)
{
    return stage->dims == 1 ? 1 : stage->elements[stage->dims - 1];
}

/* The elements along an axis that a stage computes. In 1-D the first is one at which a row of a
 * tile may start. */
static inline int64_t tz__span_low(const tz_stage *stage, int axis)
{
    return axis < stage->dims - 1 || stage->high == 0 ? 0
           : axis == 0                                ? stage->low / TZ__PAD * TZ__PAD
                                                      : stage->low;
}

static inline int64_t tz__span_high(const tz_stage *stage, int axis)
{
    return axis < stage->dims - 1 || stage->high == 0 ? stage->elements[axis] : stage->high;
}

/* Tiles or chunks along an axis. */
static inline int64_t tz__tiles(const tz_stage *stage, int axis)
{
    const int64_t count = tz__span_high(stage, axis) - tz__span_low(stage, axis);
    return (count + stage->tile[axis] - 1) / stage->tile[axis];
}

/* A coordinate on a periodic axis, mapped into the grid. */
static inline int64_t tz__wrap(int64_t coordinate, int64_t extent)
{
    const int64_t rest = coordinate % extent;
    return rest < 0 ? rest + extent : rest;
}

/* Jobs, one after the other, that belong to the same thread. */
static inline int64_t tz__jobs_in_order(const tz_pipeline *pipeline)
{
    return pipeline->leaning > 0 ? pipeline->leaning : 1;
}

/* Job number k of the `counted` that stand for all jobs: all, or multiples of the golden ratio,
 * which spread evenly over any pattern. */
static inline int64_t tz__counted_job(int64_t k, int64_t jobs, int64_t counted)
{
    if (jobs <= counted)
        return k;
    const uint64_t place = (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15);
    return (int64_t)((unsigned __int128)place * (uint64_t)jobs >> 64);
}

/* The first row that level l computes of a group; 0 is the level of the array. A group ends where
 * the next one begins. The first one has all rows before, the last one all after. */
static inline int64_t tz__group_low(const tz_pipeline *pipeline, const tz__job *job, int l,
                                    int64_t group)
{
    return group <= job->first_group ? INT64_MIN
           : group > job->last_group ? INT64_MAX
                                     : job->y.low + group * job->group_rows +
                                           pipeline->group_slope * (int64_t)(pipeline->levels - l);
}

#endif
