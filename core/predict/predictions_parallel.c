/* Several plans asked about at once: that compiles their kernels. */
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

/* Who is free takes the next: each job has its own place for what comes out, so that nothing of it
 * depends on who was first. */
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
    /* Threads inherit the mask: signals go to the one that knows what to do with them. A thread
     * that cannot be started is no loss but of time. */
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
