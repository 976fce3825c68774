/* kernels/cpu: temporal blocking on CPUs.
 *
 * A stage advances the whole grid by `height` iterations. The grid is cut into tiles along the
 * inner axes (x; x and y) and into chunks along the stream axis (y; z). Each job takes one tile and
 * chunk and streams slabs (rows; planes) through a pipeline of levels, one level a pass of an
 * iteration: when slab k of level 0 arrives, level l computes slab k - lag(l) from the slabs in the
 * ring of level l-1. Rings of a few slabs stay in cache. Level 0 is read from one array, the last
 * level is written to the other. Tiles overlap by the ghost zone, so jobs never wait for each
 * other.
 *
 * A level computes a batch of slabs before the next level does.
 *
 * A 1-D stencil has no stream axis: its only slab is the row itself. */
#ifndef TZ_KERNELS_CPU_STAGE_H
#define TZ_KERNELS_CPU_STAGE_H

#include "base/threads.h"
#include "stencil/points.h"
#include "stencil/stored.h"
#include <stdbool.h>
#include <trapeze/plugin.h>

enum {
    TZ_LEVELS_MAX = 512,
    TZ_ALIGN_ELEMENTS = 16 /* tiles start at multiples of this: 64 bytes of 4-byte elements */
};

/* A field in memory. `origin` is element (0, 0, 0). Ghost elements lie around the grid: `ghost`
 * elements before and after each row and, in 3-D, `ghost` rows before and after each plane. Reads
 * of up to 64 elements past either end of a row must be harmless. A uniform field, which has one
 * value, is stored as a single row. */
typedef struct tz_host_field {
    char *origin;
    ptrdiff_t row_stride;   /* elements; 0 when uniform */
    ptrdiff_t plane_stride; /* elements; 0 when uniform */
    bool uniform;
} tz_host_field;

/* Returns `count` elements of slab `step` of a streamed field, from column x on. May write them to
 * `scratch`, which has room for them, and return it. Columns outside the grid wrap if the boundary
 * is periodic; otherwise they have any value. */
typedef const void *tz_streamed_row_fn(const void *source, int64_t step, int64_t x, int64_t count,
                                       int32_t *scratch);

/* The parts of rows that lie in the domain: kernels/cpu/domain.h. */
typedef struct tz_domain tz_domain;

/* The input of a stage. All pointers are borrowed. */
typedef struct tz_stage {
    const tz_stencil *stencil;
    int dims;
    int64_t elements[TZ_AXES]; /* extents in elements */
    int64_t columns;           /* cells along x (differs from elements[0] for bits) */
    /* Of a slab of a larger grid: the coordinate there of cell 0 along the last axis, and the
     * grid's extent along it. Else 0 and the extent. */
    int64_t first, whole;
    bool bits;
    tz_boundary boundary[TZ_AXES][2]; /* low and high side */
    size_t element_size[TZ_FIELDS_MAX];
    const tz_storage *storage; /* of each field (kernels/cpu/stored.h); NULL: all as computed */
    /* What is past each fixed side: on x an element, on y in 3-D a row of the boundary value. On
     * the last axis of 2-D and 3-D a slab from element (0, 0) on, with its ghosts past fixed sides
     * of the other axes; the stride is 0 if its rows are equal. Rows are longer than any of a
     * tile. */
    tz_view outside[TZ_FIELDS_MAX][TZ_SIDES];
    int ghost; /* ghost elements that the arrays have */
    tz_isa isa;
    tz_precision precision;
    const tz_slot *constants; /* of the first iteration */
    int constants_stride;     /* slots to those of the next iteration; 0: they do not vary */
    tz_host_field in[TZ_FIELDS_MAX];
    tz_host_field out[TZ_FIELDS_MAX]; /* of the fields that a pass writes: other arrays than in */
    const void *streamed[TZ_FIELDS_MAX]; /* sources for streamed_row */
    tz_streamed_row_fn *streamed_row;
    int height;
    int64_t step; /* iterations done before this stage */
    int64_t tile[TZ_AXES];
    /* Of a slab of a larger grid: elements along the last axis that are computed, at least. Others
     * get any value. Both 0: all. */
    int64_t low, high;
    int batch;        /* slabs that a level computes before the next level does; 1 or more */
    int threads;      /* the plan is for so many */
    tz_threads *pool; /* which run it; NULL: the caller alone */
    uint32_t alone;   /* for tz_diamond_run(): passes whose slabs are computed one at a time */
    bool any_column;  /* for tz_diamond_run(): rows need not begin at cache lines */
    char *spare;      /* for tz_diamond_run(): tz_diamond_spare_bytes() for each thread */
    const tz_points *points; /* NULL: none */
    /* What is outside of it is not computed: cells have the same values in `in` and `out`. NULL:
     * all cells are computed. */
    const tz_domain *domain;
} tz_stage;

static inline int64_t tz_round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* The coordinate in the whole grid of a cell along the last axis. */
static inline int64_t tz_stage_coordinate(const tz_stage *stage, int64_t here)
{
    const int64_t at = here + stage->first;
    return at >= stage->whole ? at - stage->whole : at < 0 ? at + stage->whole : at;
}

typedef struct tz_pipeline tz_pipeline;

/* Bytes of a pipeline object for stages up to a height, and of the arena that each thread needs for
 * a stage (rings and scratch). `pipeline` is overwritten. */
size_t tz_pipeline_size(const tz_stencil *stencil, int height);
size_t tz_stage_arena_bytes(const tz_stage *stage, tz_pipeline *pipeline);

/* The row function that a stage calls for a pass: that of the best instruction set which the pass
 * has, up to stage->isa. */
tz_row_fn *tz_stage_rows(const tz_stage *stage, const tz_pass *pass);

/* The same of several slabs at once, and how many. NULL: there is none, or slabs of this pass are
 * computed one at a time (stage->alone). */
tz_row_fn *tz_stage_several(const tz_stage *stage, const tz_pass *pass, int *slabs);

/* The size of the work of a stage, from geometry alone. Elements, rows and calls are sums over all
 * levels of all jobs. */
typedef struct tz_stage_counts {
    double jobs;
    /* elements that the slowest thread computes, if each thread takes the next job when it has done
     * one */
    double slowest;
    double updates;       /* elements computed, including redundant ones */
    double rows, spans;   /* rows of elements, and calls of row functions */
    double ends;          /* rows at an edge of the grid in x */
    double read, written; /* elements that the jobs read and write in an array */
    double row, slab;     /* elements of the longest row and of the largest slab of a job */
    double ring_bytes;    /* of a thread's rings */
} tz_stage_counts;
void tz_stage_count(const tz_stage *stage, tz_pipeline *pipeline, tz_stage_counts *out);

/* Largest height that TZ_LEVELS_MAX allows. */
int tz_stage_height_max(const tz_stencil *stencil);

/* After tz_stage_run(): the field whose input array has the values of `field`, maybe that field.
 * -1: they are in its output array. */
int tz_pipeline_hands_over(const tz_pipeline *pipeline, int field);

/* Run one stage. `pipeline` has tz_pipeline_size() bytes and is overwritten; `arena` has
 * `stage->threads` pieces of `arena_bytes`, at least tz_stage_arena_bytes(), each 64-byte aligned.
 * Allocates nothing. */
void tz_stage_run(const tz_stage *stage, tz_pipeline *pipeline, char *arena, size_t arena_bytes);

/* Set all ghosts of an array from its cells: needed before a stage after cells were stored. */
void tz_host_field_finish(const tz_stage *stage, int field, const tz_host_field *host);

#endif
