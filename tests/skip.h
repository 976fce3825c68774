/* A test that cannot run here says why. .ci/run fails on reasons that .ci/skips does not list. */
#ifndef TZ_TEST_SKIP_H
#define TZ_TEST_SKIP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define skip_test(...) (print_message("skipped: " __VA_ARGS__), print_message("\n"), skip())

/* Exit status of a program that ctest shows as skipped. */
enum { SKIPPED_PROGRAM = 77 };

#endif
