/* A pool of threads, which a simulation owns: they share the work of one call at a time, and wait
 * for the next one.
 *
 * A pool has `count` threads. The calling thread is number 0; the others start when they are first
 * needed. An idle thread spins for about 10 us, then sleeps. NULL is a pool of the calling thread
 * alone. */
#ifndef TZ_CORE_BASE_THREADS_H
#define TZ_CORE_BASE_THREADS_H

#include "base/error.h"
#include <pthread.h>
#include <stdint.h>

typedef struct tz_threads tz_threads;

/* Thread number `thread` of the `count` threads that work together. */
typedef void tz_threads_work(void *context, int thread, int count);
/* Elements begin to end - 1 of a loop. */
typedef void tz_threads_loop(void *context, int64_t begin, int64_t end, int thread);

/* Fewer than one thread are one. Starts nothing. Errors: TZ_MEMORY. */
tz_status tz_threads_create(tz_threads **out, int count, tz_error *error);
/* Ends the threads. NULL is fine. */
void tz_threads_destroy(tz_threads *threads);

int tz_threads_count(const tz_threads *threads);

/* A thread of its own. It receives no signals: the main thread handles them. Returns 0, or the
 * error number of pthread_create(). */
int tz_thread_start(pthread_t *out, void *(*run)(void *), void *data);

/* Start all threads. TZ_RANGE if that is not possible, with the number that is. Without this call,
 * as many work as can be started. */
tz_status tz_threads_start(tz_threads *threads, tz_error *error);

/* Call `work` in at most `most` threads at the same time, and return when all have returned: in
 * fewer if not all could be started, and in the calling one alone if the pool works already, for
 * another thread or for the caller. */
void tz_threads_run(tz_threads *threads, int most, tz_threads_work *work, void *context);

/* In a call of tz_threads_run(), with its `count`: wait until all of its threads have called
 * this. */
void tz_threads_barrier(tz_threads *threads, int count);

/* Cut a loop of `count` elements into one part for each thread, in the order of threads. The parts
 * are the same each time, unless threads could not be started or the pool works already. */
void tz_threads_for(tz_threads *threads, int64_t count, tz_threads_loop *loop, void *context);

/* Where the part of a thread begins; it ends where the next one begins. */
static inline int64_t tz_threads_begin(int64_t elements, int count, int thread)
{
    return elements / count * thread + elements % count * thread / count;
}

/* Between two looks at what another thread writes. */
static inline void tz_threads_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* OMP_NUM_THREADS, else the processors that this process may use. */
int tz_threads_default(void);

#endif
