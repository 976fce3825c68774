/* Counts the updates, rows and bytes of a stage of the family "stream" without running it. Called
 * by core/backend/cpu for predictions and by core/calibrate. */
#include "kernels/cpu/pipeline.h"

#include <math.h>
#include <string.h>

enum {
    COUNTED_THREADS = 1024,   /* more threads are counted as this many */
    COUNTED_JOBS = 32 * 1024, /* of more jobs, so many are counted, spread evenly */
};

void tz_stage_count(const tz_stage *stage, tz_pipeline *pipeline, tz_stage_counts *out)
{
    double thread[COUNTED_THREADS] = {0};
    const int threads = stage->threads < COUNTED_THREADS ? stage->threads : COUNTED_THREADS;
    tz__pipeline_make(pipeline, stage);
    memset(out, 0, sizeof *out);
    const int64_t jobs = tz__jobs_count(stage);
    const int64_t counted = tz_min(jobs, COUNTED_JOBS);
    const double times = (double)jobs / (double)counted;
    out->jobs = (double)jobs;
    out->ring_bytes = (double)pipeline->scratch;
    for (int64_t k = 0; k < counted; k++) {
        tz__job job;
        tz__job_make(stage, pipeline, tz__counted_job(k, jobs, counted), NULL, &job);
        int next = 0; /* the thread that takes the next job */
        for (int t = 1; t < threads; t++)
            next = thread[t] < thread[next] ? t : next;
        for (int l = 0; l <= pipeline->levels; l++) {
            const tz__area area = tz__level_area(pipeline, &job, l);
            int64_t from = INT64_MIN, to = INT64_MAX;
            tz__level_slabs(stage, pipeline, &job, l, &from, &to);
            const double slabs = (double)(to - from), rows = (double)(area.y_high - area.y_low);
            const double row = (double)(area.x_high - area.x_low);
            if (l == 0) {
                out->read += slabs * rows * row;
                out->row = out->row > row ? out->row : row;
                out->slab = out->slab > rows * row ? out->slab : rows * row;
                continue;
            }
            out->spans += slabs;
            out->rows += slabs * rows;
            if (area.x_low <= stage->ghost || area.x_high >= stage->elements[0] - stage->ghost)
                out->ends += slabs * rows;
            thread[next] += slabs * rows * row;
        }
        out->written += (double)(job.x.high - job.x.low) * (double)(job.y.high - job.y.low) *
                        (double)(job.slab_high - job.slab_low);
        out->slowest = out->slowest > thread[next] ? out->slowest : thread[next];
    }
    for (int t = 0; t < threads; t++)
        out->updates += times * thread[t];
    out->slowest *= times;
    out->rows *= times;
    out->spans *= times;
    out->ends *= times;
    out->read *= times;
    out->written *= times;
}
