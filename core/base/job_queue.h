/* A queue of jobs for other threads, which write files while the computation goes on. Jobs begin in
 * the order of the queue. */
#ifndef TZ_CORE_BASE_JOB_QUEUE_H
#define TZ_CORE_BASE_JOB_QUEUE_H

#include "base/error.h"

/* A job owns its data. `run` is called once in a worker thread, or not at all after a failure;
 * `release` (may be NULL) is called once in any case. Neither may call the queue. */
typedef struct tz_job {
    tz_status (*run)(void *data, tz_error *error);
    void (*release)(void *data);
    void *data;
} tz_job;

typedef struct tz_job_queue tz_job_queue;

/* `capacity`: jobs that may wait, 1 or more, not counting those that run. `workers`: threads, from
 * 1 to 8 (other numbers are adjusted); one runs the jobs one after the other. They receive no
 * signals. TZ_MEMORY, TZ_IO (no thread). */
tz_status tz_job_queue_create(tz_job_queue **out, size_t capacity, int workers, tz_error *error);

/* Add a job; blocks while the queue is full. Takes the job in any case. After a job has failed:
 * returns that job's error, and releases the new job without running it. [any thread] */
tz_status tz_job_queue_push(tz_job_queue *queue, const tz_job *job, tz_error *error);

/* Wait until every job is done. Returns the error of the first that failed and clears it: new jobs
 * run again. [any thread] */
tz_status tz_job_queue_settle(tz_job_queue *queue, tz_error *error);

/* Settle, end the threads, free. NULL is fine. */
tz_status tz_job_queue_destroy(tz_job_queue *queue, tz_error *error);

#endif
