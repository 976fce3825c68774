/* Points: cells of state fields at which each iteration adds a value, or whose value it records,
 * also within a stage. Backends find them by the row of the grid that a pass has just computed.
 *
 * An iteration changes a field last in one of its passes. After that pass, and before anything
 * reads the cells, the values for that iteration are added, in the order of the list, and then the
 * cells are recorded. core/sim/points.c makes the lists. */
#ifndef TZ_CORE_STENCIL_POINTS_H
#define TZ_CORE_STENCIL_POINTS_H

#include "stencil/problem.h"

/* A value is number `index` of those of an iteration. */
typedef struct tz_point {
    int64_t x; /* the element in its row */
    int64_t index;
} tz_point;

typedef struct tz_point_list {
    size_t count;
    tz_point *of;   /* by row, then by x; those of one element in the order in which they came */
    int32_t *first; /* for row y + ny * z: number of its first point; then `count` */
} tz_point_list;

/* The values of some iterations: row k is that of iteration begin + k. Changes between stages. */
typedef struct tz_point_values {
    int64_t begin, rows;
    int64_t adds, records; /* values of an iteration */
    size_t slot;           /* bytes of a recorded value, an element of its field or less */
    char *added;           /* reals in the problem's precision, for stages to come */
    int64_t ready;         /* so many rows of these are there: all of the next stage, and more */
    uint64_t generation;   /* another number: all of them are new */
    char *recorded;        /* of stages that are done: tz_backend.recorded */
} tz_point_values;

typedef struct tz_points {
    uint32_t fields; /* mask of those that may have points: never changes */
    /* Change between stages. */
    tz_point_list added[TZ_FIELDS_MAX], recorded[TZ_FIELDS_MAX];
    uint64_t generation;           /* of the lists, from 1; 0: none are made */
    const tz_point_values *values; /* borrowed */
} tz_points;

/* A point as lists are made of. `at` is an element of the grid. */
typedef struct tz_point_at {
    int field;
    int64_t at[TZ_AXES];
    int64_t index;
} tz_point_at;

/* Without lists. *out is NULL if there is not enough memory. */
tz_points *tz_points_create(uint32_t fields, const tz_point_values *values);
/* Lists in place of those that it has. Errors: TZ_MEMORY, and it has none. */
tz_status tz_points_fill(tz_points *points, const tz_problem *problem, size_t adds,
                         const tz_point_at *added, size_t records, const tz_point_at *recorded,
                         tz_error *error);
/* The points of problem->slab.of that lie in a slab: added also in its ghost zone, recorded only in
 * its own cells. */
tz_status tz_points_fill_slab(tz_points *points, const tz_problem *slab, tz_error *error);
void tz_points_clear(tz_points *points);   /* frees its lists */
void tz_points_destroy(tz_points *points); /* NULL is fine */

/* Does pass number `pass` change a field as the last one of an iteration, and has the field
 * points? */
static inline bool tz_points_due(const tz_points *points, const tz_stencil *stencil, int pass,
                                 int field)
{
    if (!points || !(points->fields >> field & 1) || !(stencil->passes[pass].writes >> field & 1))
        return false;
    while (++pass < stencil->passes_count)
        if (stencil->passes[pass].writes >> field & 1)
            return false;
    return true;
}

/* tz_stencil_takes(), but a field with points has an array of its own. */
static inline int tz_points_takes(const tz_points *points, const tz_stencil *stencil,
                                  const tz_pass *pass, int field)
{
    return points && points->fields >> field & 1 ? -1 : tz_stencil_takes(stencil, pass, field);
}

#endif
