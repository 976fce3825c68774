/* The pool of threads: all elements once, whoever is there; threads that cannot be started; calls
 * from several threads. */
#include "tests/unit.h"

#include "base/machine.h"
#include "base/threads.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* How many more threads of this program can be started; -1: any number. */
static atomic_int can_start = -1;

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*begin)(void *),
                   void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (atomic_load(&can_start) == 0)
        return EAGAIN;
    if (atomic_load(&can_start) > 0)
        atomic_fetch_sub(&can_start, 1);
    return real(id, attributes, begin, argument);
}

static tz_threads *pool_of(int count)
{
    tz_threads *pool = NULL;
    assert_ok(tz_threads_create(&pool, count, &failure));
    return pool;
}

/* ---- Loops and calls ------------------------------------------------------------------------- */

enum { ELEMENTS = 1000, THREADS_MAX = 40 };

typedef struct marks {
    int thread[ELEMENTS];
    int times[ELEMENTS];
} marks;

static void mark(void *any, int64_t begin, int64_t end, int thread)
{
    marks *m = any;
    for (int64_t i = begin; i < end; i++) {
        m->thread[i] = thread;
        m->times[i]++;
    }
}

TEST(every_element_is_visited_once_by_its_thread)
{
    static const int64_t counts[] = {0, 1, 2, 7, 40, 999, ELEMENTS};
    for (int threads = 0; threads <= THREADS_MAX; threads += threads < 5 ? 1 : 7) {
        tz_threads *pool = threads ? pool_of(threads) : NULL;
        assert_int_equal(tz_threads_count(pool), threads ? threads : 1);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            marks first = {{0}, {0}}, again = {{0}, {0}};
            const int64_t n = counts[i];
            tz_threads_for(pool, n, mark, &first);
            tz_threads_for(pool, n, mark, &again);
            assert_memory_equal(&first, &again, sizeof first);
            for (int64_t k = 0; k < ELEMENTS; k++)
                assert_int_equal(first.times[k], k < n);
            for (int64_t k = 1; k < n; k++) /* in the order of threads, none without an element */
                assert_in_range(first.thread[k] - first.thread[k - 1], 0, 1);
            if (n >= threads && n > 0 && threads > 0)
                assert_int_equal(first.thread[n - 1], threads - 1);
        }
        tz_threads_destroy(pool);
    }
}

typedef struct meeting {
    tz_threads *pool;
    int rounds;
    atomic_int here, members[THREADS_MAX];
    int count; /* of the call */
    _Atomic long wrong;
} meeting;

/* Between two barriers the counter is the same for all. */
static void meet(void *any, int thread, int count)
{
    meeting *m = any;
    atomic_fetch_add(&m->members[thread], 1);
    if (thread == 0)
        m->count = count;
    for (int k = 1; k <= m->rounds; k++) {
        atomic_fetch_add(&m->here, 1);
        tz_threads_barrier(m->pool, count);
        if (atomic_load(&m->here) != k * count)
            atomic_fetch_add(&m->wrong, 1);
        tz_threads_barrier(m->pool, count);
    }
}

TEST(calls_have_the_threads_that_they_ask_for)
{
    for (int threads = 1; threads <= 9; threads += 4) {
        tz_threads *pool = pool_of(threads);
        for (int most = 1; most <= 12; most++) {
            meeting m = {.pool = pool, .rounds = 50};
            const int want = most < threads ? most : threads;
            tz_threads_run(pool, most, meet, &m);
            assert_int_equal(m.count, want);
            assert_int_equal(m.wrong, 0);
            for (int i = 0; i < THREADS_MAX; i++)
                assert_int_equal(m.members[i], i < want);
        }
        tz_threads_destroy(pool);
    }
}

static void add(void *any, int thread, int count)
{
    (void)thread;
    atomic_fetch_add((atomic_int *)any, count == 2 ? 1 : 1000000);
}

/* Threads that sleep between calls, and threads that have just worked. */
TEST(many_calls_follow_each_other)
{
    tz_threads *pool = pool_of(2);
    atomic_int sum = 0;
    for (int i = 0; i < 3000; i++) {
        tz_threads_run(pool, 2, add, &sum);
        if (i % 100 == 0)
            usleep(300);
    }
    assert_int_equal(sum, 6000);
    tz_threads_destroy(pool);
    tz_threads_destroy(NULL);
}

/* ---- Two callers ----------------------------------------------------------------------------- */

typedef struct inner {
    tz_threads *pool;
    atomic_int calls, alone;
} inner;

static void count_alone(void *any, int thread, int count)
{
    inner *in = any;
    atomic_fetch_add(&in->calls, 1);
    atomic_fetch_add(&in->alone, thread == 0 && count == 1);
}

static void call_again(void *any, int thread, int count)
{
    inner *in = any;
    tz_threads_run(in->pool, 3, count_alone, in);
}

TEST(a_pool_that_works_leaves_others_alone)
{
    inner in = {.pool = pool_of(3)};
    tz_threads_run(in.pool, 3, call_again, &in);
    assert_int_equal(in.calls, 3);
    assert_int_equal(in.alone, 3);
    tz_threads_destroy(in.pool);
}

static void *call_often(void *any)
{
    tz_threads *pool = any;
    static _Thread_local marks m;
    for (int i = 1; i <= 300; i++) {
        tz_threads_for(pool, ELEMENTS, mark, &m);
        for (int k = 0; k < ELEMENTS; k++)
            if (m.times[k] != i)
                return any;
    }
    return NULL;
}

TEST(several_threads_may_call)
{
    tz_threads *pool = pool_of(3);
    pthread_t other[2];
    void *wrong;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&other[i], NULL, call_often, pool), 0);
    assert_null(call_often(pool));
    for (int i = 0; i < 2; i++) {
        pthread_join(other[i], &wrong);
        assert_null(wrong);
    }
    tz_threads_destroy(pool);
}

/* ---- The machine ----------------------------------------------------------------------------- */

TEST(threads_that_cannot_start_are_an_error)
{
    tz_threads *pool = pool_of(7);
    meeting m = {.pool = pool, .rounds = 3};
    assert_ok(tz_threads_start(NULL, &failure));
    atomic_store(&can_start, 4);
    check_error(tz_threads_start(pool, &failure), TZ_RANGE, "threads",
                "7 threads cannot be started here: 5 can, then the limit on processes");
    tz_threads_run(pool, 7, meet, &m); /* those that are there */
    assert_int_equal(m.count, 5);
    assert_int_equal(m.wrong, 0);
    atomic_store(&can_start, -1);
    assert_ok(tz_threads_start(pool, &failure));
    assert_ok(tz_threads_start(pool, &failure));
    m = (meeting){.pool = pool, .rounds = 3};
    tz_threads_run(pool, 7, meet, &m);
    assert_int_equal(m.count, 7);
    tz_threads_destroy(pool);
}

typedef struct places {
    cpu_set_t set[4];
} places;

static void take_place(void *any, int thread, int count)
{
    sched_getaffinity(0, sizeof(cpu_set_t), &((places *)any)->set[thread]);
}

TEST(threads_stay_where_they_are_told_to)
{
    static const char *const wanted[] = {NULL, "false", "true", "close"};
    cpu_set_t all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (int i = 0; i < 4; i++) {
        places p;
        if (wanted[i])
            setenv("OMP_PROC_BIND", wanted[i], 1);
        tz_threads *pool = pool_of(4);
        tz_threads_run(pool, 4, take_place, &p);
        tz_threads_destroy(pool);
        unsetenv("OMP_PROC_BIND");
        assert_true(CPU_EQUAL(&p.set[0], &all)); /* the caller is never bound */
        for (int k = 1; k < 4; k++) {
            cpu_set_t both;
            CPU_AND(&both, &p.set[k], &all);
            assert_true(CPU_EQUAL(&both, &p.set[k]));
            assert_int_equal(CPU_COUNT(&p.set[k]), i < 2 ? CPU_COUNT(&all) : 1);
        }
        if (i >= 2 && CPU_COUNT(&all) > 1)
            assert_false(CPU_EQUAL(&p.set[1], &p.set[3]));
    }
}

TEST(the_environment_says_how_many)
{
    static const struct {
        const char *text;
        int count; /* 0: the processors */
    } cases[] = {{"3", 3}, {"7,2", 7}, {"0", 0}, {"-4", 0}, {"many", 0}, {"99999", 1024}};
    tz_machine machine;
    tz_machine_read(&machine);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("OMP_NUM_THREADS", cases[i].text, 1);
        assert_int_equal(tz_threads_default(), cases[i].count ? cases[i].count : machine.cores);
    }
    unsetenv("OMP_NUM_THREADS");
    assert_int_equal(tz_threads_default(), machine.cores);
}
