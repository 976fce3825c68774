/* Counts the updates, rows and bytes of a stage of the family "stream" without running it. Called
 * by core/backend/cpu for predictions and by core/calibrate. */
#include "kernels/cpu/pipeline.h"

#include <math.h>
#include <string.h>

enum {
    COUNTED_THREADS = 1024,   /* more threads are counted as this many */
    COUNTED_JOBS = 32 * 1024, /* of more jobs, so many are counted, spread evenly */
};

/* Chunks whose tiles lean, each of which has a team: a thread of a team begins some steps after the
 * one before, and the last round of tiles may not have one for each thread. */
static void count_teams(const tz_stage *stage, const tz_pipeline *pipeline, int64_t chunks,
                        tz_stage_counts *out)
{
    const tz_reach *halo = &pipeline->level[0].halo;
    const double tiles = pipeline->leaning, team = fmin(tiles, (double)(stage->threads / chunks));
    const double slabs = (double)(stage->tile[2] + halo->low[2] + halo->high[2]);
    const double tile = out->updates / ((double)chunks * tiles);
    out->slowest = tile * (ceil(tiles / team) + (team - 1) * pipeline->batch / slabs);
    out->jobs = (double)chunks * team;
    out->team = team;
}

void tz_stage_count(const tz_stage *stage, tz_pipeline *pipeline, tz_stage_counts *out)
{
    double thread[COUNTED_THREADS] = {0};
    const int threads = stage->threads < COUNTED_THREADS ? stage->threads : COUNTED_THREADS;
    tz__pipeline_make(pipeline, stage);
    memset(out, 0, sizeof *out);
    const int64_t jobs = tz__jobs_count(stage, pipeline), in_order = tz__jobs_in_order(pipeline);
    const int64_t counted = tz_min(jobs, COUNTED_JOBS);
    const double times = (double)jobs / (double)counted;
    out->jobs = (double)(jobs / in_order);
    out->ring_bytes = (double)pipeline->scratch;
    int next = 0; /* the thread that takes the next job */
    for (int64_t k = 0; k < counted; k++) {
        tz__job job;
        tz__job_make(stage, pipeline, tz__counted_job(k, jobs, counted), NULL, &job);
        if (k % in_order == 0 || counted < jobs) {
            next = 0;
            for (int t = 1; t < threads; t++)
                next = thread[t] < thread[next] ? t : next;
        }
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
            for (int64_t group = job.first_group; group <= job.last_group; group++)
                if (tz__group_low(pipeline, &job, l, group) < area.y_high &&
                    tz__group_low(pipeline, &job, l, group + 1) > area.y_low)
                    out->spans += slabs;
            out->group = (double)job.group_rows;
            out->rows += slabs * rows;
            if (area.x_low <= stage->ghost || area.x_high >= stage->elements[0] - stage->ghost)
                out->ends += slabs * rows;
            thread[next] += slabs * rows * row;
            for (int f = 0; job.y.leans_low && f < stage->stencil->fields_count; f++)
                out->seams += slabs * pipeline->level[l].seam[f].rows * row;
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
    out->seams *= times;
    if (pipeline->leaning && jobs / in_order < threads)
        count_teams(stage, pipeline, jobs / in_order, out);
}
