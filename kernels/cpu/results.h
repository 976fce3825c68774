/* Internal to kernels/cpu: the last level of a stage in place, whose values go to arrays past the
 * caches. */
#ifndef TZ_KERNELS_CPU_RESULTS_H
#define TZ_KERNELS_CPU_RESULTS_H

#include "kernels/cpu/finish.h"
#include "kernels/cpu/job.h"

/* Bytes of a job's memory for results, beside its rings. */
size_t tz__results_bytes(const tz_stage *stage, const tz_pipeline *pipeline);

/* Compute a span of the last level, of `slabs` slabs: some rows at a time, into the job's memory,
 * from where they are copied to `out`. Both arrays of pointers are changed. Sets the ghosts at the
 * ends of rows that are not cut. */
void tz__results_compute(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                         const tz_span *span, tz_view *in, tz_target *out, int slabs);

/* Set the other ghosts of a slab of results. */
void tz__results_finish(const tz_stage *stage, int f, const tz_patch *patch);

#endif
