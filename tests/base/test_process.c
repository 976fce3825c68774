/* Programs that are run without a shell: their output, their end, and what ends them. */
#include "tests/support.h"

#include "base/machine.h"
#include "base/process.h"
#include <signal.h>
#include <sys/wait.h>

static int never(void)
{
    return 0;
}

static int at_once(void)
{
    return SIGINT;
}

static tz_status run(const char *script, double limit_s, int (*stopped)(void), char **output,
                     int *code)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};
    const tz_process process = {.program = "/bin/sh",
                                .arguments = arguments,
                                .limit_s = limit_s,
                                .cancel = {.stopped = stopped}};
    *code = -1;
    return tz_process_run(&process, output, code, &failure);
}

TEST(output_and_exit_code)
{
    char *output = NULL;
    int code;
    assert_ok(run("echo one; echo two >&2; exit 3", 60, never, &output, &code));
    assert_int_equal(code, 3);
    assert_string_equal(output, "one\ntwo\n");
    free(output);
    assert_ok(run("kill -9 $$", 60, NULL, &output, &code));
    assert_int_equal(code, 128 + SIGKILL);
    free(output);
    assert_ok(run("cat; echo $LC_ALL", 60, NULL, &output, &code));
    assert_string_equal(output, "C\n");
    free(output);
}

TEST(output_without_end_is_cut)
{
    char *output = NULL;
    int code;
    assert_ok(run("yes 0123456789 | head -c 300000", 60, NULL, &output, &code));
    assert_int_equal(code, 0);
    assert_int_equal(strlen(output), 64 << 10);
    free(output);
}

TEST(a_program_that_hangs_is_killed_with_its_children)
{
    char *output = NULL;
    int code;
    const double start = tz_machine_clock_s();
    check_error(run("sleep 100 & sleep 100", 0.2, never, &output, &code), TZ_IO, "/bin/sh",
                "did not end within 0.2 s and was killed");
    assert_null(output);
    check_error(run("sleep 100", 60, at_once, &output, &code), TZ_INTERRUPTED, "/bin/sh",
                "interrupted");
    assert_true(tz_machine_clock_s() - start < 30);
    assert_int_equal(waitpid(-1, &code, WNOHANG), -1); /* nothing is left to wait for */
}

TEST(a_child_that_keeps_the_output_open_does_not_hold_it_up)
{
    char *output = NULL;
    int code;
    const double start = tz_machine_clock_s();
    assert_ok(run("sleep 30 & echo done", 60, NULL, &output, &code));
    assert_string_equal(output, "done\n");
    assert_true(tz_machine_clock_s() - start < 15);
    free(output);
}

TEST(what_cannot_be_started)
{
    const char *const arguments[] = {"nothing", NULL};
    const tz_process process = {
        .program = "/nowhere/nothing", .arguments = arguments, .limit_s = 1};
    char *output = NULL;
    int code;
    check_error(tz_process_run(&process, &output, &code, &failure), TZ_IO, "/nowhere/nothing",
                "cannot be started");
    assert_null(output);
}

static tz_status feed(const char *script, const char *text, size_t times)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};
    const tz_process process = {.program = "/bin/sh", .arguments = arguments, .limit_s = 60};
    tz_feed *program = NULL;
    tz_status status = tz_feed_start(&program, &process, &failure);
    for (size_t i = 0; i < times && status == TZ_OK; i++)
        status = tz_feed_send(program, text, strlen(text), NULL, &failure);
    tz_error ended;
    const tz_status end = tz_feed_end(program, &ended);
    if (end != TZ_OK) /* says more than that it does not read */
        failure = ended;
    return end ? end : status;
}

TEST(programs_read_what_is_written)
{
    assert_ok(feed("test $(wc -c) = 1100000", "0123456789\n", 100000));
    assert_ok(feed("cat >/dev/null; yes | head -c 300000 >&2", "text", 1));
    check_error(feed("cat >/dev/null; echo one; echo two >&2; exit 3", "text", 1), TZ_IO, "/bin/sh",
                "failed with exit code 3: two");
    check_error(feed("exit 4", "0123456789", 100000), TZ_IO, "/bin/sh", "failed with exit code 4");
    assert_int_equal(feed("exit 0", "0123456789", 100000), TZ_IO);
    const char *const arguments[] = {"none", NULL};
    const tz_process process = {.program = "/none", .arguments = arguments, .limit_s = 60};
    tz_feed *program = NULL;
    check_error(tz_feed_start(&program, &process, &failure), TZ_IO, "/none", "cannot be started");
    assert_null(program);
}

/* A process that is killed takes what it has started along, and the folder with it. */
TEST(a_killed_process_leaves_no_program)
{
    static const char lasting[] = "/tmp/tz-process-XXXXXX";
    char folder[sizeof lasting], path[64], text[32] = "";
    memcpy(folder, lasting, sizeof lasting);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pid", folder);
    const pid_t child = fork();
    if (child == 0) {
        /* The program's own child outlives a signal to the program alone. */
        const char *const arguments[] = {"sh", "-c",
                                         "sleep 1000 & echo $! >made; mv made pid; wait", NULL};
        const tz_process process = {.program = "/bin/sh",
                                    .arguments = arguments,
                                    .folder = folder,
                                    .is_temporary = true,
                                    .limit_s = 1000};
        char *output;
        int code;
        _exit(tz_process_run(&process, &output, &code, NULL) != TZ_OK);
    }
    FILE *file = NULL;
    for (int i = 0; i < 6000 && !file; i++) {
        usleep(10000);
        file = fopen(path, "r");
    }
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    const pid_t grandchild = (pid_t)atol(text);
    assert_int_equal(kill(grandchild, 0), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    int i = 0;
    while (i++ < 6000 && (kill(grandchild, 0) == 0 || access(folder, F_OK) == 0))
        usleep(10000);
    assert_int_equal(kill(grandchild, 0), -1);
    assert_int_equal(access(folder, F_OK), -1);
}

/* A program answers on its input. */
TEST(programs_answer)
{
    const char *const arguments[] = {"sh", "-c", "read -r a; echo \"$a $a\" >&0; read -r a; exit 5",
                                     NULL};
    const tz_process process = {.program = "/bin/sh", .arguments = arguments, .limit_s = 60};
    const tz_feed_wait wait = {.end_s = tz_machine_clock_s() + 60,
                               .cancel = &(tz_cancel){.stopped = never}};
    const tz_feed_wait gone = {.end_s = tz_machine_clock_s() + 60,
                               .cancel = &(tz_cancel){.stopped = at_once}};
    tz_feed *program = NULL;
    char text[6];
    assert_ok(tz_feed_start(&program, &process, &failure));
    assert_ok(tz_feed_send(program, "ab\n", 3, &wait, &failure));
    assert_ok(tz_feed_receive(program, text, 6, &wait, &failure));
    assert_memory_equal(text, "ab ab\n", 6);
    assert_false(tz_feed_has_ended(program));
    assert_int_equal(tz_feed_receive(program, text, 1, &gone, &failure), TZ_INTERRUPTED);
    const tz_feed_wait late = {.end_s = tz_machine_clock_s() + 0.02};
    assert_int_equal(tz_feed_receive(program, text, 1, &late, &failure), TZ_RANGE);
    assert_ok(tz_feed_send(program, "\n", 1, &wait, &failure));
    assert_int_equal(tz_feed_receive(program, text, 1, &wait, &failure), TZ_IO);
    assert_true(tz_feed_has_ended(program));
    check_error(tz_feed_end(program, &failure), TZ_IO, "/bin/sh", "failed with exit code 5");
    assert_ok(tz_feed_start(&program, &process, &failure));
    tz_feed_kill(program);
    tz_feed_kill(NULL);
}
