/* Files written beside the computation: a bounded queue, jobs begun in order. */
#ifndef TZ_CORE_OUTPUT_JOB_QUEUE_H
#define TZ_CORE_OUTPUT_JOB_QUEUE_H

#include "base/error.h"

/* A job owns its data. `run` is called once in a worker thread, or not at all after a failure;
 * `release` (may be NULL) is called once in any case. Neither may call the queue. */
typedef struct tz_job {
    tz_status (*run)(void *data, tz_error *error);
    void (*release)(void *data);
    void *data;
} tz_job;

typedef struct tz_job_queue tz_job_queue;

/* capacity: jobs that may wait besides those at work, 1 or more. With one worker jobs are done one
 * after the other, with more of them (8 at most) side by side. Workers take no signals. Errors:
 * TZ_MEMORY, TZ_IO (no thread). */
tz_status tz_job_queue_create(tz_job_queue **out, size_t capacity, int workers, tz_error *error);

/* Hand a job over, also when this fails; blocks while the queue is full. After a failed job: that
 * job's error, and the new job is released without being run. [any thread] */
tz_status tz_job_queue_push(tz_job_queue *queue, const tz_job *job, tz_error *error);

/* Wait until every job pushed so far is done; the error of the first that failed. [any thread] */
tz_status tz_job_queue_flush(tz_job_queue *queue, tz_error *error);

/* Flush, and forget the error that is returned: jobs pushed from now on are run again. */
tz_status tz_job_queue_settle(tz_job_queue *queue, tz_error *error);

/* Flush, end the workers, free. The first error again. NULL is fine. */
tz_status tz_job_queue_destroy(tz_job_queue *queue, tz_error *error);

#endif
