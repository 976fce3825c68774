/* Internal to kernels/cpu: makes the levels and jobs of a stage. */
#ifndef TZ_KERNELS_CPU_PIPELINE_H
#define TZ_KERNELS_CPU_PIPELINE_H

#include "kernels/cpu/job.h"

/* The levels of a stage, and where their rings lie in the arena. */
void tz__pipeline_make(tz_pipeline *pipeline, const tz_stage *stage);

/* All jobs of a stage. */
int64_t tz__jobs_count(const tz_stage *stage);

/* Job `index` of tz__jobs_count(), whose rings are in `arena`. */
void tz__job_make(const tz_stage *stage, const tz_pipeline *pipeline, int64_t index, char *arena,
                  tz__job *job);

/* Columns and rows that level l computes: the tile and its halo. Except in the last level, rows
 * start and end at multiples of TZ__PAD. The surplus elements have any value and are never used. */
tz__area tz__level_area(const tz_pipeline *pipeline, const tz__job *job, int l);

/* Reduce the range [*from, *to) to the slabs of level l that the job needs. */
void tz__level_slabs(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job, int l,
                     int64_t *from, int64_t *to);

#endif
