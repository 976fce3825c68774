/* Code that faults is left, and the process goes on as before. */
#include "base/trap.h"
#include "tests/unit.h"
#include <signal.h>

static void touch_nothing(void *argument)
{
    *(volatile int *)argument = 1;
}

static void touch_page_zero(void *argument)
{
    *(int *)argument = 1;
    *(volatile int *)(uintptr_t)(((uintptr_t)argument & 16) | 64) = 2;
}

static void raise_it(void *argument)
{
    raise(*(int *)argument);
}

static void own_handler(int signal_number) {}

TEST(faults_are_caught)
{
    tz_trap trap;
    int value = 0, number = SIGFPE;
    struct sigaction before = {.sa_handler = own_handler}, after;
    assert_int_equal(sigaction(SIGFPE, &before, NULL), 0);
    tz_trap_open(&trap);
    assert_int_equal(tz_trap_call(touch_nothing, &value), 0);
    for (int i = 0; i < 3; i++) { /* again and again */
        value = 0;
        assert_int_equal(tz_trap_call(touch_page_zero, &value), SIGSEGV);
        assert_int_equal(value, 1);
        assert_int_equal(tz_trap_call(raise_it, &number), SIGFPE);
    }
    tz_trap_close(&trap);
    assert_int_equal(sigaction(SIGFPE, NULL, &after), 0);
    assert_ptr_equal(after.sa_handler, own_handler);
}
