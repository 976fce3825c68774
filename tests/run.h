/* Runs of tests: to their end, with one output at most. */
#ifndef TZ_TEST_RUN_H
#define TZ_TEST_RUN_H

#include "sim/run.h"
#include <math.h>
#include <stdio.h>

/* The warnings of a run. */
typedef struct said {
    int count;
    char text[512];
    bool ends; /* the first one ends the run, with TZ_INTERRUPTED */
} said;

typedef struct test_output {
    tz_interval every;
    tz_status (*write)(void *context, tz_simulation *simulation, tz_error *error);
    void *context;
} test_output;

static inline tz_status take_warning(tz_course *course, said *heard)
{
    if (!course->warning[0])
        return TZ_OK;
    heard->count++;
    snprintf(heard->text, sizeof heard->text, "%s", course->warning);
    course->warning[0] = '\0';
    return heard->ends ? TZ_INTERRUPTED : TZ_OK;
}

/* `output` and `heard` may be NULL. */
static inline tz_status run_with(tz_simulation *simulation, const tz_run *wanted,
                                 const test_output *output, said *heard, tz_run_result *result,
                                 tz_error *error)
{
    tz_course course;
    tz_until until = {.step = INT64_MAX};
    tz_stop stop = TZ_STOP_DUE;
    said nobody = {.ends = false};
    heard = heard ? heard : &nobody;
    tz_status status = tz_simulation_begin(simulation, wanted, &course, error);
    take_warning(&course, heard);
    while (!status && stop != TZ_STOP_END) {
        const int64_t step = tz_simulation_step(simulation);
        if (output)
            until.step = tz_interval_next(&output->every, simulation, step);
        status = tz_simulation_advance(simulation, &course, &until, &stop, error);
        if (!status)
            status = take_warning(&course, heard);
        if (status || stop != TZ_STOP_DUE || !output ||
            !tz_interval_is_due(&output->every, simulation, tz_simulation_step(simulation)))
            continue;
        status = tz_run_wait(simulation, &course, error);
        if (!status)
            status = tz_simulation_check_finite(simulation, error);
        if (!status)
            status = output->write(output->context, simulation, error);
    }
    status = tz_simulation_end(simulation, &course, status, error);
    *result = course.result;
    return status;
}

static inline tz_status run_simulation(tz_simulation *simulation, const tz_run *wanted,
                                       tz_run_result *result, tz_error *error)
{
    return run_with(simulation, wanted, NULL, NULL, result, error);
}

/* A plain run of so many steps. */
static inline tz_status run_steps(tz_simulation *simulation, int64_t steps, tz_error *error)
{
    const tz_run wanted = {.steps = steps, .until_residual = NAN};
    tz_run_result result;
    return run_simulation(simulation, &wanted, &result, error);
}

#endif
