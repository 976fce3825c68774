/* kernels/cpu: what the next iteration would change, computed in double from the fields as they are
 * (tz_update). Every pass reads the fields as they are: passes do not see each other's results.
 *
 * Fields of single precision are widened: slab by slab, their elements are copied as doubles to a
 * ring of a few slabs in cache, on which the row function for double precision works. So every
 * stencil can be computed this way.
 *
 * A cell that the stencil excludes (tz_field.excludes) changes by 0.
 *
 * Definition of the sum. Each row is cut into segments of TZ_UPDATE_SEGMENT elements. For each
 * pass, and each field that it writes, 32 lanes add the changes of the elements i, i + 32, i + 64,
 * ... of a segment in order. The lanes are combined pairwise: 16 apart, then 8, 4, 2, 1. The
 * results of all passes and fields are added to the sum of the segment in order, pass by pass. The
 * sums of the segments are combined pairwise in grid order, as in backend/host/reduce.h. */
#ifndef TZ_KERNELS_CPU_UPDATE_H
#define TZ_KERNELS_CPU_UPDATE_H

#include "kernels/cpu/stage.h"

enum { TZ_UPDATE_SEGMENT = 256, TZ_UPDATE_LANES = 32 };

typedef struct tz_update_job {
    /* As for tz_stage_run, with current ghosts in `in`. These members are not read: out, height,
     * tile, batch. Constants are those of double precision. */
    const tz_stage *stage;
    int64_t low, high; /* the part along the last axis that is measured; segments begin at `low` */
    double *sums;      /* of the segments of this part, zeros at first */
    char *work;        /* tz_update_work_bytes() for each thread, 64-byte aligned */
    /* For each field an array for new - old of all elements of the grid, x fastest, or NULL. Not
     * for bits. */
    double *const *changes;
} tz_update_job;

size_t tz_update_work_bytes(const tz_stage *stage);

/* Fills job->sums and writes the changes. NaN is not among *largest and *magnitude: a sum is NaN
 * then. */
void tz_update_run(const tz_update_job *job, double *largest, double *magnitude);

#endif
