/* Internal to kernels/cpu: the levels and jobs of a stage, and the part of the grid that each level
 * of a job computes. Accesses no fields. */
#ifndef TZ_KERNELS_CPU_JOB_H
#define TZ_KERNELS_CPU_JOB_H

#include "base/minmax.h"
#include "kernels/cpu/stage.h"

enum {
    TZ__PAD = TZ_ALIGN_ELEMENTS
}; /* elements before a row of a ring, for ghosts and alignment */

/* A few consecutive slabs of one field at one level. */
typedef struct tz__ring {
    size_t offset; /* of the ring in the arena */
    size_t slab_bytes;
    uint32_t depth;   /* slabs; 0: there is no ring */
    uint64_t inverse; /* ceil(2^64 / depth): slot = j mod depth without a division */
} tz__ring;

/* Where the values of a field are: what level `level` made of field `field`; 0: the array. It is
 * another field if the one takes over what the other was. */
typedef struct tz__origin {
    int16_t level, field;
} tz__origin;

/* One pass of one iteration. */
typedef struct tz__level {
    const tz_pass *pass;
    tz_row_fn *rows;
    const tz_pass *inner; /* where all that is read is in the domain; NULL: as everywhere */
    tz_row_fn *inner_rows;
    int radius; /* of the pass: row functions get 2*radius + 1 slabs */
    /* slabs from this level's output to the newest slab of level 0: what the levels up to this one
     * read of later slabs, together */
    int lag;
    /* cells that this level computes beyond the tile: what the levels after this one read to that
     * side, together */
    tz_reach halo;
    int iteration;
    tz__origin source[TZ_FIELDS_MAX]; /* of what this level reads */
    uint32_t makes;                   /* mask of the fields of which it computes new values */
    tz__ring ring[TZ_FIELDS_MAX];     /* for the output; depth 0: no later level reads it */
} tz__level;

struct tz_pipeline {
    int levels; /* without level 0, which is the array */
    int batch;  /* slabs that a level computes before the next level */
    /* Slabs from slab j that each pass reads of each field, low <= 0 <= high. */
    struct {
        int8_t low, high;
    } slabs[TZ_PASSES_MAX][TZ_FIELDS_MAX];
    tz__origin final[TZ_FIELDS_MAX]; /* of the values after the stage */
    ptrdiff_t row_stride;            /* of every ring, in elements */
    int64_t rows;                    /* of a ring slab */
    size_t scratch; /* offset in the arena of a row of a streamed field, and of one that is lost */
    size_t stored;  /* offset in the arena of tz_stored_scratch_bytes() */
    size_t bytes;   /* of the arena */
    tz__level level[];
};

/* A tile on an inner axis. */
typedef struct tz__axis {
    int64_t low, high;         /* elements that the tile advances */
    int64_t ext_low, ext_high; /* the same with the ghost zone: elements of its slabs */
    bool virtual; /* the tile may extend past the grid, where its cells wrap: no ghosts */
} tz__axis;

/* One tile and one chunk of the stream axis, for one thread. */
typedef struct tz__job {
    tz__axis x, y;
    int64_t slab_low, slab_high; /* the chunk */
    bool wrap;                   /* the stream axis is periodic */
    bool gather;                 /* level 0 of all fields is copied into rings */
    int64_t slab_base;           /* less than any slab: rings count from it */
    char *arena;
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

/* Job number k of the `counted` that stand for all jobs: all, or multiples of the golden ratio,
 * which spread evenly over any pattern. */
static inline int64_t tz__counted_job(int64_t k, int64_t jobs, int64_t counted)
{
    if (jobs <= counted)
        return k;
    const uint64_t place = (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15);
    return (int64_t)((unsigned __int128)place * (uint64_t)jobs >> 64);
}

#endif
