/* The pool of threads: who waits looks for some 10 us whether there is work, and then sleeps. */
#include "base/threads.h"

#include "base/minmax.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LOOKS = 1000,        /* before a thread sleeps */
    LOOKS_CROWDED = 100, /* if there are more threads than processors */
    COUNT_BITS = 16      /* of `start`; the number of the call is in the others */
};

/* A value that one thread changes and others wait for. */
typedef struct gate {
    _Alignas(64) _Atomic uint64_t value;
    atomic_int sleepers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} gate;

typedef struct worker {
    tz_threads *pool;
    int number;
    pthread_t id;
} worker;

struct tz_threads {
    int count, started; /* with the calling thread */
    int looks;
    /* that workers are bound to, one after the other; none: they are not bound */
    cpu_set_t processors;
    worker *workers; /* from number 1 on */
    atomic_flag busy;
    tz_threads_work *work;
    void *context;
    gate start; /* number of the call, and how many threads take part */
    gate end;   /* number of the call that all others have done */
    gate barrier;
    _Alignas(64) atomic_int left;    /* threads that have not done the call */
    _Alignas(64) atomic_int arrived; /* at the barrier */
};

/* ---- Waiting --------------------------------------------------------------------------------- */

static void gate_init(gate *g)
{
    atomic_init(&g->value, 0);
    atomic_init(&g->sleepers, 0);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
}

static void gate_clear(gate *g)
{
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
}

/* A thread that goes to sleep counts itself and then looks once more; so either it sees the new
 * value, or it is seen here. */
static void gate_set(gate *g, uint64_t value)
{
    atomic_store(&g->value, value);
    if (atomic_load(&g->sleepers) == 0)
        return;
    pthread_mutex_lock(&g->lock);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

/* The value as soon as it is another one than `old`. */
static uint64_t gate_wait(gate *g, uint64_t old, int looks)
{
    uint64_t value;
    for (int i = 0; i < looks; i++) {
        value = atomic_load_explicit(&g->value, memory_order_acquire);
        if (value != old)
            return value;
        tz_threads_pause();
    }
    atomic_fetch_add(&g->sleepers, 1);
    pthread_mutex_lock(&g->lock);
    while ((value = atomic_load(&g->value)) == old)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
    atomic_fetch_sub(&g->sleepers, 1);
    return value;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static const uint64_t COUNT_MASK = (UINT64_C(1) << COUNT_BITS) - 1;

/* The processor of a worker: the one of its number, or of its share if there are more threads than
 * processors. */
static void bind(const worker *w)
{
    const tz_threads *pool = w->pool;
    const int processors = CPU_COUNT(&pool->processors);
    if (processors == 0)
        return;
    int left = pool->count <= processors
                   ? w->number
                   : (int)tz_threads_begin(processors, pool->count, w->number);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &pool->processors) || left-- > 0)
        cpu++;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void *work_on(void *any)
{
    const worker *w = any;
    tz_threads *pool = w->pool;
    bind(w);
    for (uint64_t seen = 0;;) {
        seen = gate_wait(&pool->start, seen, pool->looks);
        const int count = (int)(seen & COUNT_MASK);
        if (count == 0)
            return NULL;
        if (w->number >= count)
            continue;
        pool->work(pool->context, w->number, count);
        if (atomic_fetch_sub(&pool->left, 1) == 1)
            gate_set(&pool->end, seen >> COUNT_BITS);
    }
}

int tz_thread_start(pthread_t *out, void *(*run)(void *), void *data)
{
    sigset_t all, before; /* a new thread inherits the mask */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int reason = pthread_create(out, NULL, run, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return reason;
}

/* As many as can be started. */
static void start(tz_threads *pool)
{
    while (pool->started < pool->count) {
        worker *w = &pool->workers[pool->started - 1];
        *w = (worker){.pool = pool, .number = pool->started};
        if (tz_thread_start(&w->id, work_on, w) != 0)
            break;
        pool->started++;
    }
}

/* ---- Pools ----------------------------------------------------------------------------------- */

static bool binds(void)
{
    const char *wanted = getenv("OMP_PROC_BIND");
    return wanted && wanted[0] && strcasecmp(wanted, "false") != 0;
}

tz_status tz_threads_create(tz_threads **out, int count, tz_error *error)
{
    const size_t bytes = (sizeof(tz_threads) + 63) / 64 * 64;
    tz_threads *pool = aligned_alloc(64, bytes);
    cpu_set_t processors;
    *out = NULL;
    count = tz_max_int(count, 1);
    if (pool)
        memset(pool, 0, bytes);
    if (pool)
        pool->workers = calloc((size_t)count, sizeof *pool->workers);
    if (!pool || !pool->workers) {
        free(pool);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for %d threads", count);
    }
    CPU_ZERO(&processors);
    sched_getaffinity(0, sizeof processors, &processors);
    pool->count = count;
    pool->started = 1;
    pool->looks = count > CPU_COUNT(&processors) ? LOOKS_CROWDED : LOOKS;
    if (binds())
        pool->processors = processors;
    atomic_flag_clear(&pool->busy);
    gate_init(&pool->start);
    gate_init(&pool->end);
    gate_init(&pool->barrier);
    *out = pool;
    return TZ_OK;
}

void tz_threads_destroy(tz_threads *pool)
{
    if (!pool)
        return;
    gate_set(&pool->start, (atomic_load(&pool->start.value) | COUNT_MASK) + 1); /* of none */
    for (int i = 1; i < pool->started; i++)
        pthread_join(pool->workers[i - 1].id, NULL);
    gate_clear(&pool->start);
    gate_clear(&pool->end);
    gate_clear(&pool->barrier);
    free(pool->workers);
    free(pool);
}

int tz_threads_count(const tz_threads *pool)
{
    return pool ? pool->count : 1;
}

tz_status tz_threads_start(tz_threads *pool, tz_error *error)
{
    if (!pool)
        return TZ_OK;
    start(pool);
    if (pool->started == pool->count)
        return TZ_OK;
    return tz_error_set(error, TZ_RANGE, "threads",
                        "%d threads cannot be started here: %d can, then the limit on processes "
                        "(ulimit -u) or on memory is reached; use fewer with --threads",
                        pool->count, pool->started);
}

/* ---- Work ------------------------------------------------------------------------------------ */

void tz_threads_run(tz_threads *pool, int most, tz_threads_work *work, void *context)
{
    if (!pool || most < 2 || pool->count < 2 || atomic_flag_test_and_set(&pool->busy)) {
        work(context, 0, 1);
        return;
    }
    if (pool->started < pool->count)
        start(pool);
    const int count = tz_min_int(most, pool->started);
    if (count > 1) {
        const uint64_t number = (atomic_load(&pool->start.value) >> COUNT_BITS) + 1;
        pool->work = work;
        pool->context = context;
        atomic_store_explicit(&pool->left, count - 1, memory_order_relaxed);
        gate_set(&pool->start, number << COUNT_BITS | (uint64_t)count);
        work(context, 0, count);
        gate_wait(&pool->end, number - 1, pool->looks);
    } else {
        work(context, 0, 1);
    }
    atomic_flag_clear(&pool->busy);
}

void tz_threads_barrier(tz_threads *pool, int count)
{
    if (count < 2)
        return;
    const uint64_t number = atomic_load(&pool->barrier.value);
    if (atomic_fetch_add(&pool->arrived, 1) == count - 1) {
        atomic_store(&pool->arrived, 0);
        gate_set(&pool->barrier, number + 1);
    } else {
        gate_wait(&pool->barrier, number, pool->looks);
    }
}

typedef struct loop {
    int64_t count;
    tz_threads_loop *loop;
    void *context;
} loop;

static void run_part(void *any, int thread, int count)
{
    const loop *l = any;
    const int64_t begin = tz_threads_begin(l->count, count, thread);
    const int64_t end = tz_threads_begin(l->count, count, thread + 1);
    if (begin < end)
        l->loop(l->context, begin, end, thread);
}

void tz_threads_for(tz_threads *pool, int64_t count, tz_threads_loop *each, void *context)
{
    loop l = {count, each, context};
    tz_threads_run(pool, (int)tz_min(count, tz_threads_count(pool)), run_part, &l);
}

int tz_threads_default(void)
{
    const char *wanted = getenv("OMP_NUM_THREADS");
    cpu_set_t processors;
    const long given = wanted ? strtol(wanted, NULL, 10) : 0;
    if (given > 0)
        return (int)tz_min(given, 1024);
    return sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
}
