/* Jobs of a stage in shares, one for each thread. A thread begins with its own share, whose cells
 * are in its caches since the last stage, and in the memory of its node. Then it takes jobs of
 * other shares that nobody has begun. */
#ifndef TZ_KERNELS_CPU_SHARES_H
#define TZ_KERNELS_CPU_SHARES_H

#include <stdatomic.h>
#include <stdint.h>

enum { TZ__SHARES_MAX = 512 };

typedef struct tz__shares {
    int64_t jobs;
    int count;
    _Atomic int64_t next[TZ__SHARES_MAX]; /* the next job of each share */
} tz__shares;

/* Where share i begins; it ends where the next one begins. */
static inline int64_t tz__share_begin(int64_t jobs, int shares, int i)
{
    return jobs * i / shares;
}

static inline void tz__shares_make(tz__shares *s, int64_t jobs, int threads)
{
    s->jobs = jobs;
    s->count = threads < 1 ? 1 : threads < TZ__SHARES_MAX ? threads : TZ__SHARES_MAX;
    for (int i = 0; i < s->count; i++)
        atomic_init(&s->next[i], tz__share_begin(jobs, s->count, i));
}

/* A job for a thread, which no other thread gets; -1: none is left. `tried` is 0 before a thread's
 * first call: the shares in which it found no job. All threads of a team may call this at once. */
static inline int64_t tz__shares_take(tz__shares *s, int thread, int *tried)
{
    for (; *tried < s->count; ++*tried) {
        const int share = (thread + *tried) % s->count;
        const int64_t i = atomic_fetch_add_explicit(&s->next[share], 1, memory_order_relaxed);
        if (i < tz__share_begin(s->jobs, s->count, share + 1))
            return i;
    }
    return -1;
}

#endif
