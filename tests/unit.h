/* Every test program includes this: cmocka and the headers it needs, skipping with a reason, checks
 * of errors, and TEST(). */
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

/* A test of the file that defines it. All files of a folder are one program (tests/main.c). */
typedef struct test_entry {
    struct CMUnitTest test;
    const char *path;
    struct test_entry *next;
} test_entry;

/* What surrounds the tests of a file. `arguments` (may be NULL) is given further arguments of the
 * program; unless it returns -1, its result is the exit status and no test runs. */
typedef struct test_group {
    CMFixtureFunction set_up, tear_down;
    int (*arguments)(int argc, char **argv);
    const char *path;
    struct test_group *next;
} test_group;

/* When the test that runs ends, release(object) is called, the latest object first. */
void test_release_later(void (*release)(void *object), void *object);
#define at_end(release, object) test_release_later((void (*)(void *))(release), object)
void test_release_all(void);
/* Zeros, until the test ends. */
void *test_room(size_t bytes);

/* [before main()] */
void test_add(test_entry *entry);
void test_group_add(test_group *group);

/* TEST(name) { ... } defines a test; TEST_WITH one between a set-up and a tear-down of its own. */
#define TEST_WITH(set_up, tear_down, function)                                                     \
    static void function(void **state);                                                            \
    static void function##_run(void **state)                                                       \
    {                                                                                              \
        function(state);                                                                           \
        test_release_all();                                                                        \
    }                                                                                              \
    static void __attribute__((constructor)) function##_add(void)                                  \
    {                                                                                              \
        static test_entry entry = {                                                                \
            {#function, function##_run, set_up, tear_down, NULL}, __BASE_FILE__, NULL};            \
        test_add(&entry);                                                                          \
    }                                                                                              \
    static void function(void **state)
#define TEST(function) TEST_WITH(NULL, NULL, function)

/* Before the first test of the file and after its last one. */
#define TEST_GROUP(set_up, tear_down) TEST_GROUP_WITH(set_up, tear_down, NULL)
#define TEST_GROUP_WITH(set_up, tear_down, arguments)                                              \
    static void __attribute__((constructor)) test_group_add_this(void)                             \
    {                                                                                              \
        static test_group group = {set_up, tear_down, arguments, __BASE_FILE__, NULL};             \
        test_group_add(&group);                                                                    \
    }

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
