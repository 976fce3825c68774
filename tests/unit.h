/* Every test program includes this: cmocka and the headers it needs, skipping with a reason, checks
 * of errors, and TEST_MAIN(). */
#ifndef TZ_TEST_UNIT_H
#define TZ_TEST_UNIT_H

#include "base/error.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* .ci/run fails on reasons that .ci/skips does not list. */
#define skip_test(...) (print_message("skipped: " __VA_ARGS__), print_message("\n"), skip())

/* The tests of a file. All files of a folder are one program (tests/main.c): `PROGRAM test_NAME`
 * runs one of them. */
typedef struct program_file {
    const char *path;
    int (*run)(int argc, char **argv);
    struct program_file *next;
} program_file;
void program_file_add(program_file *file); /* [before main()] */

/* Makes the function of this file that tests/main.c calls; argv[0] is the name of the test. */
#define TEST_FILE(function)                                                                        \
    static void __attribute__((constructor)) test_file_register(void)                              \
    {                                                                                              \
        static program_file file = {__FILE__, function, NULL};                                     \
        program_file_add(&file);                                                                   \
    }

/* Runs these tests between a set-up and a tear-down of the group (NULL: without). */
#define TEST_MAIN(set_up, tear_down, ...)                                                          \
    static int test_file_run(int argc, char **argv)                                                \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests(tests, set_up, tear_down);                                   \
    }                                                                                              \
    TEST_FILE(test_file_run)
#define TEST(function) cmocka_unit_test(function)

/* Calls write their errors here. */
static tz_error failure;

static inline void assert_ok_(tz_status status, int line)
{
    if (status)
        fail_msg("line %d: status %d: %s: %s", line, (int)status, failure.place, failure.message);
}

/* The call succeeds; otherwise the test fails with the message in `failure`. */
#define assert_ok(call) assert_ok_(call, __LINE__)

/* The status is as wanted, the message one line, and place and message contain these texts. */
static inline void check_error_(tz_status status, tz_status wanted, const tz_error *error,
                                const char *in_place, const char *in_message, int line)
{
    if (status != wanted || !strstr(error->place, in_place) ||
        !strstr(error->message, in_message) || strchr(error->message, '\n'))
        fail_msg("line %d: status %d (wanted %d), '%s': '%s' (wanted '%s': '%s')", line,
                 (int)status, (int)wanted, error->place, error->message, in_place, in_message);
}

#define check_error_of(status, wanted, error, in_place, in_message)                                \
    check_error_(status, wanted, error, in_place, in_message, __LINE__)

/* The same for a call that writes into `failure`, which is empty before. */
#define check_error(call, wanted, in_place, in_message)                                            \
    (failure = (tz_error){0}, check_error_of(call, wanted, &failure, in_place, in_message))

#endif
