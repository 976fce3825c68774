/* Ranks by MPI. Each test starts this program again under mpirun, with the name of what the ranks
 * do. */
#include "tests/mpirun.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* ---- What ranks do: 0, or the line that failed ----------------------------------------------- */

#define NEED(condition)                                                                            \
    do                                                                                             \
        if (!(condition))                                                                          \
            return fprintf(stderr, "rank %d: line %d: %s\n", ranks->rank, __LINE__, #condition);   \
    while (0)

static int do_facts(const tz_ranks *ranks)
{
    int rank, count;
    NEED(tz_ranks_environment(&rank, &count));
    NEED(rank == ranks->rank && count == ranks->count);
    NEED(ranks->local_rank == ranks->rank && ranks->local_count == ranks->count);
    NEED(ranks->machine == 0); /* the only one */
    NEED(ranks->cores_share > 0 && ranks->cores_share <= 1);
    NEED(ranks->host[0] && ranks->library[0] && !strchr(ranks->library, '\n'));
    NEED(tz_ranks_cores(ranks) >= 1);
    return 0;
}

/* A ring: each rank sends to both neighbours, which may be the same rank or itself. */
static int do_exchange(const tz_ranks *ranks)
{
    const int up = (ranks->rank + 1) % ranks->count;
    const int down = (ranks->rank + ranks->count - 1) % ranks->count;
    for (int64_t size = 1; size <= 1 << 20; size *= 32) {
        int32_t *cells = calloc((size_t)size * 4, sizeof *cells);
        NEED(cells);
        for (int64_t i = 0; i < 2 * size; i++)
            cells[i] = (int32_t)(1000 * ranks->rank + i % 997);
        const int64_t bytes = size * (int64_t)sizeof *cells;
        const tz_part parts[] = {
            {.peer = up, .tag = 1, .buffer = cells, .bytes = bytes},
            {.peer = down, .tag = 2, .buffer = cells + size, .bytes = bytes},
            {.peer = down,
             .tag = 1,
             .is_receive = true,
             .buffer = cells + 2 * size,
             .bytes = bytes},
            {.peer = up, .tag = 2, .is_receive = true, .buffer = cells + 3 * size, .bytes = bytes},
            {.peer = up, .tag = 3, .buffer = NULL, .bytes = 0}};
        if (size == 32) {
            tz_exchange *exchange = ranks->begin(ranks, parts, 5);
            ranks->finish(ranks, exchange);
        } else {
            tz_ranks_exchange(ranks, parts, 5);
        }
        for (int64_t i = 0; i < size; i++) {
            NEED(cells[2 * size + i] == 1000 * down + i % 997);
            NEED(cells[3 * size + i] == 1000 * up + (size + i) % 997);
        }
        free(cells);
    }
    return 0;
}

/* Two exchanges with the same peer and tags: they pair up in their order. */
static int do_order(const tz_ranks *ranks)
{
    int sent[2] = {10 + ranks->rank, 20 + ranks->rank}, got[2] = {0, 0};
    const int up = (ranks->rank + 1) % ranks->count;
    const int down = (ranks->rank + ranks->count - 1) % ranks->count;
    tz_exchange *exchanges[2];
    for (int i = 0; i < 2; i++) {
        const tz_part parts[] = {
            {.peer = up, .buffer = &sent[i], .bytes = sizeof sent[i]},
            {.peer = down, .is_receive = true, .buffer = &got[i], .bytes = sizeof got[i]}};
        exchanges[i] = ranks->begin(ranks, parts, 2);
    }
    for (int i = 0; i < 2; i++)
        ranks->finish(ranks, exchanges[i]);
    NEED(got[0] == 10 + down && got[1] == 20 + down);
    return 0;
}

static int do_agree(const tz_ranks *ranks)
{
    int64_t all[8] = {0}, mine = 100 + ranks->rank, value = 7 * ranks->rank + 3;
    ranks->gather_all(ranks, &mine, sizeof mine, all);
    for (int r = 0; r < ranks->count; r++)
        NEED(all[r] == 100 + r);
    ranks->broadcast(ranks, ranks->count - 1, &value, sizeof value);
    NEED(value == 7 * (ranks->count - 1) + 3);
    NEED(tz_ranks_largest(ranks, -5.0 + ranks->rank) == -6.0 + ranks->count);
    NEED(isnan(tz_ranks_largest(ranks, ranks->rank == 0 ? NAN : 1.0)));
    return 0;
}

static int do_status(const tz_ranks *ranks)
{
    const int last = ranks->count - 1;
    tz_error error = {0};
    NEED(tz_ranks_agree(ranks, TZ_OK, &error) == TZ_OK && !error.message[0]);
    /* The same error on all is one of the scenario. */
    tz_error_set(&error, TZ_RANGE, "here", "too many");
    NEED(tz_ranks_agree(ranks, TZ_RANGE, &error) == TZ_RANGE);
    NEED(strcmp(error.message, "too many") == 0 && strcmp(error.place, "here") == 0);
    /* That of one rank names it, on all. */
    error = (tz_error){0};
    const tz_status status =
        ranks->rank == last ? tz_error_set(&error, TZ_MEMORY, "grid", "no room") : TZ_OK;
    NEED(tz_ranks_agree(ranks, status, &error) == (last > 0 ? TZ_MEMORY : status));
    char wanted[128];
    snprintf(wanted, sizeof wanted, "rank %d on %s: no room", last, ranks->host);
    NEED(error.code == TZ_MEMORY && strcmp(error.place, "grid") == 0);
    NEED(strcmp(error.message, last > 0 ? wanted : "no room") == 0);
    return 0;
}

/* Commands come in their order; a signal to a rank that serves gets to rank 0 with the next one. */
static int passed_on;

static void note(int number)
{
    passed_on = number;
}

static int do_serve(const tz_ranks *ranks)
{
    int64_t command[40] = {0};
    if (ranks->rank > 0) {
        for (int64_t k = 0; k < 100; k++) {
            ranks->hear(ranks, command, sizeof command);
            NEED(command[0] == k && command[39] == -k);
        }
        kill(getpid(), SIGTERM);
    }
    for (int64_t k = 0; ranks->rank == 0 && k < 100; k++) {
        command[0] = k;
        command[39] = -k;
        ranks->tell(ranks, command, sizeof command);
        if (k == 50) /* they fall asleep */
            usleep(20000);
    }
    ranks->listen(ranks, note);
    for (int k = 0; ranks->rank == 0 && ranks->count > 1 && !passed_on && k < 2000; k++) {
        usleep(1000);
        ranks->tell(ranks, command, sizeof command);
    }
    while (ranks->rank > 0 && command[0] != -1)
        ranks->hear(ranks, command, sizeof command);
    command[0] = -1;
    if (ranks->rank == 0)
        ranks->tell(ranks, command, sizeof command);
    NEED(ranks->rank > 0 || ranks->count == 1 || passed_on == SIGTERM);
    return 0;
}

static int do_abort(const tz_ranks *ranks)
{
    int value = 0;
    if (ranks->rank == 1)
        ranks->abort(ranks, "no memory left");
    ranks->broadcast(ranks, 1, &value, sizeof value); /* never comes */
    return 0;
}

/* Another program would be wrong: a message is longer than its room. */
static int do_differ(const tz_ranks *ranks)
{
    char buffer[4096] = {0};
    const tz_part part = {.peer = 1 - ranks->rank,
                          .is_receive = ranks->rank == 1,
                          .buffer = buffer,
                          .bytes = ranks->rank == 0 ? sizeof buffer : 8};
    tz_ranks_exchange(ranks, &part, 1);
    return 0;
}

static void *call_largest(void *ranks)
{
    tz_ranks_largest(ranks, 1.0);
    return NULL;
}

static int do_thread(const tz_ranks *ranks)
{
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, call_largest, (void *)ranks) == 0);
    pthread_join(thread, NULL);
    return 0;
}

static int do_twice(const tz_ranks *ranks)
{
    const tz_ranks *second = NULL;
    NEED(tz_ranks_open(&second, NULL) == TZ_BACKEND && !second);
    return 0;
}

static const struct {
    const char *name;
    int (*call)(const tz_ranks *ranks);
} jobs[] = {{"facts", do_facts}, {"exchange", do_exchange}, {"order", do_order},
            {"agree", do_agree}, {"status", do_status},     {"serve", do_serve},
            {"abort", do_abort}, {"differ", do_differ},     {"thread", do_thread},
            {"twice", do_twice}};

static int run_jobs(const char *names)
{
    const tz_ranks *ranks = NULL;
    int failed = 0;
    if (tz_ranks_open(&ranks, &failure) != TZ_OK || !ranks) {
        fprintf(stderr, "%s\n", failure.message);
        return 1;
    }
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (strstr(names, jobs[i].name))
            failed |= jobs[i].call(ranks);
    tz_ranks_close(ranks);
    return failed != 0;
}

/* ---- The tests ------------------------------------------------------------------------------- */

TEST(test_ranks)
{
    check_ranks("1", "test_ranks", "facts exchange order agree status serve twice", NULL, NULL);
    check_ranks("2", "test_ranks", "facts exchange order agree status serve twice", NULL, NULL);
    check_ranks("3", "test_ranks", "facts exchange order agree status serve", NULL, NULL);
}

TEST(test_failures)
{
    check_ranks("2", "test_ranks", "abort", NULL, "trapeze: rank 1 on ");
    check_ranks("2", "test_ranks", "differ", NULL, ": MPI failed: ");
    check_ranks("2", "test_ranks", "thread", NULL, ": MPI is called by a second thread");
}

/* Without mpirun there are no ranks, and functions take that. */
TEST(test_alone)
{
    const tz_ranks *ranks = (const tz_ranks *)&failure;
    int rank, count;
    assert_false(tz_ranks_environment(&rank, &count));
    assert_int_equal(rank, -1);
    assert_ok(tz_ranks_open(&ranks, &failure));
    assert_null(ranks);
    assert_true(tz_ranks_cores(ranks) >= 1);
    assert_true(tz_ranks_largest(ranks, 2.5) == 2.5);
    assert_int_equal(tz_ranks_agree(ranks, TZ_IO, &failure), TZ_IO);
    tz_ranks_close(ranks);
}

/* What each MPI and Slurm set. */
TEST(test_environment)
{
    static const struct {
        const char *rank, *count;
        int expected;
    } cases[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 4},
                 {"PMI_RANK", "PMI_SIZE", 4},
                 {"PMIX_RANK", NULL, -1},
                 {"MPI_LOCALRANKID", NULL, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rank, count;
        setenv(cases[i].rank, "2", 1);
        if (cases[i].count)
            setenv(cases[i].count, "4", 1);
        assert_true(tz_ranks_environment(&rank, &count));
        assert_int_equal(rank, 2);
        assert_int_equal(count, cases[i].expected);
        unsetenv(cases[i].rank);
        if (cases[i].count)
            unsetenv(cases[i].count);
    }
}

static int run_named(int argc, char **argv)
{
    return run_jobs(argv[1]);
}

static int set_up(void **state)
{
    allow_mpirun();
    return 0;
}

TEST_GROUP_WITH(set_up, NULL, run_named)
