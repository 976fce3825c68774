/* Compiling the kernels of several plans at once: counting a plan's work compiles its kernel. */
#include "predict/predictions_impl.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

typedef struct asking {
    const tz_backend *backend;
    const tz_problem *problem;
    const tz_place *place;
    tz__compile_job *jobs;
    int count;
    atomic_int next;
} asking;

/* A free thread takes the next job. Each job has its own place for its outcome, so that the order of
 * the threads does not matter. */
static void *ask(void *data)
{
    asking *a = data;
    for (int k; (k = atomic_fetch_add(&a->next, 1)) < a->count;) {
        tz__compile_job *job = &a->jobs[k];
        job->error = (tz_error){0};
        job->status = a->backend->work(a->problem, a->place, job->plan, TZ_EFFORT_COMPILE,
                                       &job->work, &job->error);
    }
    return NULL;
}

void tz__compile_plans(const tz_backend *backend, const tz_problem *problem, const tz_place *place,
                       tz__compile_job *jobs, int count, int threads)
{
    asking a = {backend, problem, place, jobs, count, 0};
    pthread_t others[TZ__COMPILE_THREADS_MAX];
    int started = 0;
    /* New threads inherit a mask of all signals: the main thread handles those. When a thread cannot
     * be started, the others do its jobs. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started + 1 < threads && started + 1 < count && started < TZ__COMPILE_THREADS_MAX &&
           pthread_create(&others[started], NULL, ask, &a) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ask(&a);
    for (int k = 0; k < started; k++)
        pthread_join(others[k], NULL);
}
