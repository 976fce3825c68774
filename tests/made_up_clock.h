/* A clock for one program of tests: while it is in use, time passes only when it is read (step_s)
 * and when somebody sleeps, so that what is measured does not depend on how busy this machine is.
 * For one thread. Include it in one file of a program. */
#ifndef TZ_TEST_MADE_UP_CLOCK_H
#define TZ_TEST_MADE_UP_CLOCK_H

#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
    bool is_in_use;
    double now_s, step_s;
} made_up_clock = {.step_s = 1e-6};

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!made_up_clock.is_in_use)
        return (int)syscall(SYS_clock_gettime, clock, time);
    made_up_clock.now_s += made_up_clock.step_s;
    time->tv_sec = (time_t)made_up_clock.now_s;
    time->tv_nsec = (long)((made_up_clock.now_s - (double)time->tv_sec) * 1e9);
    return 0;
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *pause,
                                                     struct timespec *rest)
{
    if (!made_up_clock.is_in_use)
        return (int)syscall(SYS_nanosleep, pause, rest);
    made_up_clock.now_s += (double)pause->tv_sec + 1e-9 * (double)pause->tv_nsec;
    return 0;
}

#endif
