/* Internal to kernels/cpu: the parts and tiles of a stage that kernels/cpu/skew.h describes. Accesses no
 * fields. */
#ifndef TZ_KERNELS_CPU_SKEW_GEOMETRY_H
#define TZ_KERNELS_CPU_SKEW_GEOMETRY_H

#include "kernels/cpu/pipeline.h"
#include "kernels/cpu/skew.h"
#include "kernels/cpu/teams.h"

/* A range of an axis that changes from level to level: [low, high) at level 1, and at level t
 * [low + (t - 1) low_slope, high + (t - 1) high_slope). */
typedef struct tz__band {
    int64_t low, high;
    int low_slope, high_slope;
} tz__band;

static inline int64_t tz__band_low(const tz__band *b, int t)
{
    return b->low + (int64_t)(t - 1) * b->low_slope;
}

static inline int64_t tz__band_high(const tz__band *b, int t)
{
    return b->high + (int64_t)(t - 1) * b->high_slope;
}

/* How an axis is cut: into `parts`, and the edges between them, of which the first is the grid's side
 * if the axis is periodic. */
typedef struct tz__cuts {
    int64_t extent;
    int parts, edges;
    int reach; /* elements by which a part shrinks at an edge from level to level */
    bool periodic;
} tz__cuts;

typedef struct tz__skew {
    const tz_stage *stage;
    int levels; /* of this run through the grid */
    int slope, batch;
    int inner;              /* the axis along which tiles lean */
    tz__cuts along, across; /* the last axis, and the inner one, which is one part */
    int grows; /* of diamonds: levels from one row of them to the next; 0: tiles lean */
    int phases;
} tz__skew;

/* Jobs of a phase may run at once. First the parts, then what they leave open at the edges across one
 * axis, then the corners. Of diamonds each row is a phase. */
enum { TZ__SKEW_PHASES = 3 };

/* In 2-D a tile fetches the slabs of so many steps ahead. */
enum { TZ__SKEW_STEPS_FETCHED = 2 };

typedef struct tz__skew_job {
    tz__band slabs, part; /* of the last and of the inner axis */
    int first, last;      /* levels */
    /* Of a diamond: the level at which it begins, with no elements, which may be before the first; its middle. */
    int start;
    int64_t centre;
} tz__skew_job;

/* The job's range of the inner axis at level t. A diamond grows to both sides by what a pass reads, and then shrinks. */
static inline int64_t tz__skew_half(const tz__skew *s, const tz__skew_job *j, int t)
{
    const int64_t n = t - j->start, most = 2 * (int64_t)s->grows;
    return s->across.reach * tz_min(n, most - n);
}

static inline int64_t tz__skew_low(const tz__skew *s, const tz__skew_job *j, int t)
{
    return s->grows == 0 ? tz__band_low(&j->part, t)
                         : tz_max(0, j->centre - tz__skew_half(s, j, t));
}

static inline int64_t tz__skew_high(const tz__skew *s, const tz__skew_job *j, int t)
{
    return s->grows == 0 ? tz__band_high(&j->part, t)
                         : tz_min(s->across.extent, j->centre + tz__skew_half(s, j, t));
}

/* A tile of a job: [low, high) along the inner axis at the last level. The first and the last tile are
 * open to the job's sides. Tiles at the sides may be empty at some levels. */
typedef struct tz__skew_tile {
    int64_t low, high;
} tz__skew_tile;

/* Elements of a tile along the inner axis at level t. */
static inline int64_t tz__skew_from(const tz__skew *s, const tz__skew_job *j,
                                    const tz__skew_tile *tile, int t)
{
    return tz_max(tile->low + (int64_t)s->slope * (s->levels - t), tz__skew_low(s, j, t));
}

static inline int64_t tz__skew_to(const tz__skew *s, const tz__skew_job *j,
                                  const tz__skew_tile *tile, int t)
{
    return tz_min(tile->high + (int64_t)s->slope * (s->levels - t), tz__skew_high(s, j, t));
}

/* Steps by which a tile stays behind the one before, beyond the one that it reads. */
int tz__skew_ahead(const tz__skew *s);

/* The most levels of a run through the grid. */
int tz__skew_levels_max(const tz_stage *stage);

void tz__skew_make(tz__skew *s, const tz_stage *stage, int levels);

int tz__skew_jobs(const tz__skew *s, int phase);
tz__skew_job tz__skew_job_of(const tz__skew *s, int phase, int i);

/* Step k of a job computes, for each of its levels t, s->batch slabs from k - reach (t - first) on. */
int64_t tz__skew_first_step(const tz__skew *s, const tz__skew_job *j);
int64_t tz__skew_end_step(const tz__skew *s, const tz__skew_job *j);

int tz__skew_tiles(const tz__skew *s, const tz__skew_job *j);
tz__skew_tile tz__skew_tile_of(const tz__skew *s, const tz__skew_job *j, int i);

#endif
