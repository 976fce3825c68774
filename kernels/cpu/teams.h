/* Teams of threads. If there are fewer jobs than threads, each job has a team. Its threads take the
 * job's tiles one after the other, and each stays behind the thread that has the tile before, step
 * by step (a wavefront). Else a job has one thread. */
#ifndef TZ_KERNELS_CPU_TEAMS_H
#define TZ_KERNELS_CPU_TEAMS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum { TZ__THREADS_MAX = 512 }; /* more threads have no work */

static inline int tz__team_threads(int threads)
{
    return threads < TZ__THREADS_MAX ? threads : TZ__THREADS_MAX;
}

/* The job of a thread, and the threads of a job; jobs < threads. */
static inline int tz__team_job(int threads, int jobs, int thread)
{
    return (int)((int64_t)thread * jobs / threads);
}
static inline int tz__team_size(int threads, int jobs, int job)
{
    const int64_t n = threads,
                  j = job; /* from the first thread of this job to that of the next one */
    return (int)(((j + 1) * n + jobs - 1) / jobs - (j * n + jobs - 1) / jobs);
}

/* How far a team is: a mark that grows. The marks of a job are a ring: a team has no more tiles at
 * once than threads, and one more is kept for the tile that comes after them. */
typedef struct tz__progress {
    _Alignas(64) _Atomic int64_t mark;
} tz__progress;

enum { TZ__MARKS_MAX = 3 * TZ__THREADS_MAX };

static inline int tz__team_ring(int threads, int jobs)
{
    return (threads + jobs - 1) / jobs + 1;
}

/* Phase, number of the tile, and steps that are done of it. */
static inline int64_t tz__mark_of(int phase, int tile, int64_t steps)
{
    return (int64_t)phase << 60 | (int64_t)tile << 32 | steps;
}

/* The steps of a tile that is finished. The next tile ends after this one, and only then does
 * another tile use its place of the ring. */
#define TZ__STEPS_ALL ((int64_t)UINT32_MAX)

static inline void tz__progress_set(tz__progress *p, int64_t mark)
{
    atomic_store_explicit(&p->mark, mark, memory_order_release);
}

/* Waits until the mark is reached. Another thread may need this one's processor, so it is offered
 * from time to time. */
static inline void tz__progress_wait(tz__progress *p, int64_t mark)
{
    enum { TRIES = 256 };
    for (int i = 1; atomic_load_explicit(&p->mark, memory_order_acquire) < mark; i++)
        if (i % TRIES == 0)
            sched_yield();
        else {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
}

#endif
