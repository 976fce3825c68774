/* Queues of jobs for other threads. */
#include "base/job_queue.h"
#include "tests/unit.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* A job that notes its number, after a pause; number 13 fails. */
typedef struct note {
    int number, *order, *count, *released;
} note;

static tz_status note_run(void *data, tz_error *error)
{
    note *n = data;
    sigset_t mask;
    const struct timespec pause = {0, 2000000};
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    n->order[(*n->count)++] =
        sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) ? n->number : -1;
    nanosleep(&pause, NULL);
    return n->number == 13 ? tz_error_set(error, TZ_IO, "frame 13", "cannot write") : TZ_OK;
}

static void note_release(void *data)
{
    note *n = data;
    ++*n->released;
    free(n);
}

static tz_status push_note(tz_job_queue *queue, int number, int *order, int *count, int *released,
                           tz_error *error)
{
    note *n = calloc(1, sizeof *n);
    *n = (note){number, order, count, released};
    return tz_job_queue_push(queue, &(tz_job){note_run, note_release, n}, error);
}

TEST(the_queue_keeps_order_and_errors)
{
    tz_job_queue *queue;
    int order[64] = {0}, count = 0, released = 0;
    assert_ok(tz_job_queue_create(&queue, 3, 1, &failure));
    assert_ok(tz_job_queue_settle(queue, &failure));
    for (int i = 0; i < 10; i++)
        assert_ok(push_note(queue, i, order, &count, &released, &failure));
    assert_ok(tz_job_queue_settle(queue, &failure));
    assert_int_equal(count, 10);
    assert_int_equal(released, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(order[i], i);
    push_note(queue, 13, order, &count, &released, &failure);
    int pushed = 11;
    tz_status status;
    do {
        status = push_note(queue, 14, order, &count, &released, &failure);
        pushed++;
    } while (status == TZ_OK);
    check_error_of(status, TZ_IO, &failure, "frame 13", "cannot write");
    check_error(tz_job_queue_destroy(queue, &failure), TZ_IO, "frame 13", "cannot write");
    assert_int_equal(count, 11);
    assert_int_equal(released, pushed);
    assert_ok(tz_job_queue_create(&queue, 1, 1, &failure));
    push_note(queue, 1, order, &count, &released, &failure);
    push_note(queue, 2, order, &count, &released, &failure);
    assert_ok(tz_job_queue_destroy(queue, &failure));
    assert_int_equal(released, pushed + 2);
    assert_ok(tz_job_queue_destroy(NULL, &failure));
}

/* An error that was settled is over. */
TEST(a_settled_queue_goes_on)
{
    tz_job_queue *queue;
    int order[8] = {0}, count = 0, released = 0;
    assert_ok(tz_job_queue_create(&queue, 3, 1, &failure));
    push_note(queue, 13, order, &count, &released, &failure);
    push_note(queue, 14, order, &count, &released, &failure);
    check_error(tz_job_queue_settle(queue, &failure), TZ_IO, "frame 13", "cannot write");
    assert_int_equal(count, 1);
    assert_ok(push_note(queue, 15, order, &count, &released, &failure));
    assert_ok(tz_job_queue_settle(queue, &failure));
    assert_int_equal(count, 2);
    assert_int_equal(order[1], 15);
    assert_int_equal(released, 3);
    assert_ok(tz_job_queue_destroy(queue, &failure));
}

enum { PAINTERS = 3 };

/* Ends only when every worker runs one. */
static tz_status wait_for_all(void *data, tz_error *error)
{
    pthread_barrier_wait(data);
    return TZ_OK;
}

TEST(workers_share_a_queue)
{
    tz_job_queue *queue;
    pthread_barrier_t all;
    pthread_barrier_init(&all, NULL, PAINTERS);
    assert_ok(tz_job_queue_create(&queue, 2, PAINTERS, &failure));
    for (int i = 0; i < 4 * PAINTERS; i++)
        assert_ok(tz_job_queue_push(queue, &(tz_job){wait_for_all, NULL, &all}, &failure));
    assert_ok(tz_job_queue_settle(queue, &failure));
    assert_ok(tz_job_queue_destroy(queue, &failure));
    pthread_barrier_destroy(&all);
}
