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
} tz__skew;

/* Jobs of a phase may run at once. First the parts, then what they leave open at the edges across one
 * axis, then the corners. */
enum { TZ__SKEW_PHASES = 3 };

/* In 2-D a tile fetches the slabs of so many steps ahead. */
enum { TZ__SKEW_STEPS_FETCHED = 2 };

typedef struct tz__skew_job {
    tz__band slabs, part; /* of the last and of the inner axis */
} tz__skew_job;

/* A tile of a job: [low, high) along the inner axis at the last level. The first and the last tile are
 * open to the job's sides. Tiles at the sides may be empty at some levels. */
typedef struct tz__skew_tile {
    int64_t low, high;
} tz__skew_tile;

/* Elements of a tile along the inner axis at level t. */
static inline int64_t tz__skew_from(const tz__skew *s, const tz__skew_job *j,
                                    const tz__skew_tile *tile, int t)
{
    return tz__larger(tile->low + (int64_t)s->slope * (s->levels - t), tz__band_low(&j->part, t));
}

static inline int64_t tz__skew_to(const tz__skew *s, const tz__skew_job *j,
                                  const tz__skew_tile *tile, int t)
{
    return tz__smaller(tile->high + (int64_t)s->slope * (s->levels - t),
                       tz__band_high(&j->part, t));
}

/* Steps by which a tile stays behind the one before, beyond the one that it reads. */
int tz__skew_ahead(const tz__skew *s);

/* The most levels of a run through the grid. */
int tz__skew_levels_max(const tz_stage *stage);

void tz__skew_make(tz__skew *s, const tz_stage *stage, int levels);

int tz__skew_jobs(const tz__skew *s, int phase);
tz__skew_job tz__skew_job_of(const tz__skew *s, int phase, int i);

/* Step k of a job computes, for each level t, s->batch slabs from k - reach (t - 1) on. */
int64_t tz__skew_first_step(const tz__skew *s, const tz__skew_job *j);
int64_t tz__skew_end_step(const tz__skew *s, const tz__skew_job *j);

int tz__skew_tiles(const tz__skew *s, const tz__skew_job *j);
tz__skew_tile tz__skew_tile_of(const tz__skew *s, const tz__skew_job *j, int i);

#endif
