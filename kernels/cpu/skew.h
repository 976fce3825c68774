/* kernels/cpu: time skewing, the family that computes no cell twice.
 *
 * A stage keeps each state field in two arrays, and each level (a pass of an iteration) reads one
 * and writes the other. Tiles lean: at each level a tile lies further to the low side of an inner
 * axis (x; in 3-D y), by at least as far as a pass reads. So a tile has all it reads when the tile
 * before it is done. In a tile, slabs (rows; planes) go through the levels one after the other,
 * each level behind the one before, so that they stay in cache.
 *
 * The grid is cut along the last axis into parts, which shrink from level to level at the edges
 * that they share. What they leave open between them is closed when they are done: first at the
 * edges across one axis, then at their corners. On a periodic axis the grid's two sides are such an
 * edge. If such an axis is too short for all levels of a stage, the stage is computed in several
 * runs through the grid. There is no such edge across a periodic inner axis if a tile is as wide as
 * that axis: its ghosts are copied from its other end, level by level. That takes less time, since
 * what is open at an edge has short rows that do not begin at cache lines.
 *
 * If there are fewer parts than threads, a team of threads computes a part: each thread has a tile,
 * and stays behind the thread that has the tile before, slab by slab (a wavefront). Threads of a
 * team pass levels to each other through a cache that they share.
 *
 * Meaning of tz_stage.tile here: the elements of a tile along the inner axis, and of a part along
 * the last axis. In 3-D rows are never cut: tile[0] is not read.
 *
 * The family "diamond" is the same but for its tiles (tz_stage.diamonds; 3-D, y and z not
 * periodic). Along y a tile grows to both sides from level to level, as far as a pass reads, until
 * it has tile[1] rows, and then shrinks: in y and time it is a diamond. Diamonds of a row of them
 * leave room for those of the next row, which begin where two of them meet. All diamonds of a row
 * may be computed at once, and a thread that is slow computes fewer. A stage may be several rows of
 * diamonds high. Of a diamond, planes go through the levels as in tiles that lean, eight at a time.
 * The last axis is not cut. (Malas and others, SIAM Journal on Scientific Computing 37, 2015,
 * doi:10.1137/140991133, combine diamonds along y with a wavefront along z.) */
#ifndef TZ_KERNELS_CPU_SKEW_H
#define TZ_KERNELS_CPU_SKEW_H

#include "kernels/cpu/job.h"
#include "kernels/cpu/teams.h"

/* How far passes read state fields along the last axis, at most: levels are so many slabs apart. */
int tz_skew_reach(const tz_stage *stage);

enum {
    TZ_DIAMOND_PLANES = 8 /* that a level of a diamond computes before the next level does */
};

/* Levels by which a diamond grows before it shrinks: 1 or more. */
int tz_diamond_grows(const tz_stage *stage);

/* Slabs that a level computes before the next one does, in one or several calls of a row
 * function. */
int tz_skew_batch(const tz_stage *stage);

/* The elements by which a tile is shifted from a level to the next. */
int tz_skew_slope(const tz_stage *stage);

/* The size of the work of a stage, from geometry alone. Calls near the last axis' ends, of single
 * slabs, are not counted apart. `ring_bytes`: what a tile's slabs of all levels take, in both
 * arrays. `jobs`: of the first parts. */
void tz_skew_count(const tz_stage *stage, tz_stage_counts *out);

/* The fields that a pass writes and that take over what another field was (tz_stencil_takes), if it
 * writes that one, too: in all iterations of a stage but the last they get that field's array, and
 * nothing is copied. A mask. */
uint32_t tz_skew_lost(const tz_stencil *stencil, const tz_pass *pass);

/* How many arrays of a field are in use, but in the last iteration of a stage: 2 of a state field,
 * 1 if it takes over another one's values; 1 of a static field. */
int tz_skew_arrays_used(const tz_stencil *stencil, int field);

/* Bytes for each thread that tz_stage.lost must have; 0: it is not used. */
size_t tz_skew_lost_bytes(const tz_stage *stage);

/* Numbers of arrays: 2 f is stage->in[f], 2 f + 1 is stage->out[f]. */
typedef struct tz_skew_arrays {
    uint8_t values[TZ_FIELDS_MAX]; /* of the field */
    uint8_t before[TZ_FIELDS_MAX]; /* of a field that is written, before the last iteration */
} tz_skew_arrays;

/* Run one stage. Returns where the fields are then: maybe in an array that another field had.
 * Allocates nothing. */
tz_skew_arrays tz_skew_run(const tz_stage *stage);

/* ---- Internal to kernels/cpu: the parts and tiles of a stage --------------------------------- */

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

/* How an axis is cut: into `parts`, and the edges between them, of which the first is the grid's
 * side if the axis is periodic. */
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

/* Jobs of a phase may run at once. First the parts, then what they leave open at the edges across
 * one axis, then the corners. Of diamonds each row is a phase. */
enum { TZ__SKEW_PHASES = 3 };

/* In 2-D a tile fetches the slabs of so many steps ahead. */
enum { TZ__SKEW_STEPS_FETCHED = 2 };

typedef struct tz__skew_job {
    tz__band slabs, part; /* of the last and of the inner axis */
    int first, last;      /* levels */
    /* Of a diamond: the level at which it begins, with no elements, which may be before the first;
     * its middle. */
    int start;
    int64_t centre;
} tz__skew_job;

/* The job's range of the inner axis at level t. A diamond grows to both sides by what a pass reads,
 * and then shrinks. */
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

/* A tile of a job: [low, high) along the inner axis at the last level. The first and the last tile
 * are open to the job's sides. Tiles at the sides may be empty at some levels. */
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

/* Step k of a job computes, for each of its levels t, s->batch slabs from k - reach (t - first)
 * on. */
int64_t tz__skew_first_step(const tz__skew *s, const tz__skew_job *j);
int64_t tz__skew_end_step(const tz__skew *s, const tz__skew_job *j);

int tz__skew_tiles(const tz__skew *s, const tz__skew_job *j);
tz__skew_tile tz__skew_tile_of(const tz__skew *s, const tz__skew_job *j, int i);

#endif
