/* Jobs for other threads, in order: outputs are written by them while a run goes on. */
#include "base/job_queue.h"

#include "base/threads.h"
#include <pthread.h>
#include <stdlib.h>

enum { WORKERS_MAX = 8 };

struct tz_job_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t workers[WORKERS_MAX];
    int workers_count, busy;
    size_t capacity, first, waiting; /* jobs[first], and the next ones around the ring */
    bool ending;
    tz_status status; /* of the first job that failed */
    tz_error error;
    tz_job jobs[];
};

static void job_release(const tz_job *job)
{
    if (job->release)
        job->release(job->data);
}

static void *work(void *argument)
{
    tz_job_queue *q = argument;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->waiting && !q->ending)
            pthread_cond_wait(&q->changed, &q->lock);
        if (!q->waiting)
            break;
        const tz_job job = q->jobs[q->first];
        const bool skip = q->status != TZ_OK;
        q->first = (q->first + 1) % q->capacity;
        q->waiting--;
        q->busy++;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->lock);
        tz_error error = {0};
        const tz_status status = skip ? TZ_OK : job.run(job.data, &error);
        job_release(&job);
        pthread_mutex_lock(&q->lock);
        if (status != TZ_OK && q->status == TZ_OK) {
            q->status = status;
            q->error = error;
        }
        q->busy--;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static void free_queue(tz_job_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->ending = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    for (int i = 0; i < q->workers_count; i++)
        pthread_join(q->workers[i], NULL);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

tz_status tz_job_queue_create(tz_job_queue **out, size_t capacity, int workers, tz_error *error)
{
    *out = NULL;
    workers = workers < 1 ? 1 : workers > WORKERS_MAX ? WORKERS_MAX : workers;
    capacity = capacity ? capacity : 1;
    tz_job_queue *q = calloc(1, sizeof *q + capacity * sizeof q->jobs[0]);
    if (!q)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a queue of files");
    q->capacity = capacity;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    int reason = 0;
    while (!reason && q->workers_count < workers) {
        reason = tz_thread_start(&q->workers[q->workers_count], work, q);
        q->workers_count += !reason;
    }
    if (reason) {
        free_queue(q);
        return tz_error_set_errno(error, reason, NULL, "cannot start the threads that write files");
    }
    *out = q;
    return TZ_OK;
}

/* With the lock held. */
static tz_status first_error(const tz_job_queue *q, tz_error *error)
{
    if (q->status != TZ_OK && error)
        *error = q->error;
    return q->status;
}

tz_status tz_job_queue_push(tz_job_queue *q, const tz_job *job, tz_error *error)
{
    pthread_mutex_lock(&q->lock);
    while (q->waiting == q->capacity && q->status == TZ_OK)
        pthread_cond_wait(&q->changed, &q->lock);
    const tz_status status = first_error(q, error);
    if (status == TZ_OK) {
        q->jobs[(q->first + q->waiting) % q->capacity] = *job;
        q->waiting++;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    if (status != TZ_OK)
        job_release(job);
    return status;
}

tz_status tz_job_queue_settle(tz_job_queue *q, tz_error *error)
{
    pthread_mutex_lock(&q->lock);
    while (q->waiting || q->busy)
        pthread_cond_wait(&q->changed, &q->lock);
    const tz_status status = first_error(q, error);
    q->status = TZ_OK;
    pthread_mutex_unlock(&q->lock);
    return status;
}

tz_status tz_job_queue_destroy(tz_job_queue *q, tz_error *error)
{
    if (!q)
        return TZ_OK;
    const tz_status status = tz_job_queue_settle(q, error);
    free_queue(q);
    return status;
}
