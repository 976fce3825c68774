/* Compiles the kernels of several plans at once: counting a plan's work compiles its kernel. */
#include "predict/predictions_impl.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

typedef struct compilation {
    const tz_backend *backend;
    const tz_problem *problem;
    const tz_place *place;
    tz__compile_job *jobs;
    int count;
    atomic_int next;
} compilation;

/* Takes jobs until none is left. Each job has its own outcome, so the order of threads does not
 * matter. */
static void *compile_next(void *data)
{
    compilation *c = data;
    for (int k; (k = atomic_fetch_add(&c->next, 1)) < c->count;) {
        tz__compile_job *job = &c->jobs[k];
        if (tz__check_stopped(c->place, &job->error)) {
            job->status = TZ_INTERRUPTED;
            continue;
        }
        job->error = (tz_error){0};
        job->status = c->backend->work(c->problem, c->place, job->plan, TZ_EFFORT_COMPILE,
                                       &job->work, &job->error);
    }
    return NULL;
}

void tz__compile_plans(const tz_backend *backend, const tz_problem *problem, const tz_place *place,
                       tz__compile_job *jobs, int count, int threads)
{
    compilation c = {backend, problem, place, jobs, count, 0};
    pthread_t others[TZ__COMPILE_THREADS_MAX];
    int started = 0;
    /* New threads block all signals: the main thread handles them. If a thread cannot be started,
     * the others do its jobs. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started + 1 < threads && started + 1 < count && started < TZ__COMPILE_THREADS_MAX &&
           pthread_create(&others[started], NULL, compile_next, &c) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    compile_next(&c);
    for (int k = 0; k < started; k++)
        pthread_join(others[k], NULL);
}
