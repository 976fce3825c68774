/* For the tests of policies: a machine with made-up times. It takes the place of
 * core/policy/options.c, so nothing is predicted or measured. */
#ifndef TZ_TEST_POLICY_MACHINE_H
#define TZ_TEST_POLICY_MACHINE_H

#include "policy/policy.h"
#include "tests/unit.h"

/* Made-up times of an iteration by height, in seconds. The best height is known. */
typedef struct curve {
    const char *name;
    double (*time)(int height);
} curve;
enum { CURVES = 8 };
extern const curve curves[CURVES];
double best_at_1(int height);
double best_at_2(int height);
double best_at_4(int height);
double best_at_8(int height);
double best_at_24(int height);
double flat(int height);
double plateau(int height);
double cliff_at_8(int height); /* registers run out above 8: twice as slow */

enum { HEIGHT_MAX = 64, PREDICTED_MAX = 16 };

typedef struct machine {
    tz_problem problem; /* of its policies: the first member, where options find the machine */
    double (*time)(int height);        /* an iteration's, seconds */
    double (*predictions)(int height); /* NULL: none */
    bool estimates;                    /* its predictions are estimates, but the best */
    int height_max;
    int chosen;              /* by the backend */
    double noise;            /* +-, relative */
    double set_up;           /* additional seconds of a plan's first stage */
    double set_up_predicted; /* the predicted part of set_up */
    double wait;             /* seconds of a wait on an asynchronous device; 0: synchronous */
    double pace;             /* factor on all times, which drifts */
    uint64_t random;
    const char *key;                               /* of what is remembered; NULL: none */
    tz_plan (*answer)(const tz_policy_view *view); /* of a function policy */
    /* In place of plans with these predictions; NULL: none. */
    void (*plans)(struct machine *m, const tz_plan *given, tz_policy_options *out);
    /* Of a policy that explores: heights in the order in which they are compiled, ended by 0. One
     * is ready every `pause` stages. NULL: there is no base plan. */
    const int *compiled;
    int pause;
    const char *unknown; /* why nothing can be predicted; NULL: it can */
    int refused;         /* a height that no stage takes */
    bool direct;         /* plans of height 1 are of a family of their own */
    /* What happened. */
    int64_t predicted_for[PREDICTED_MAX]; /* iterations of the runs that were predicted */
    int predicted_times;
    int explorers; /* that were started and not ended */
    int explored;  /* started */
    bool ran[HEIGHT_MAX + 1];
    int64_t step, stages, changes, timed;
    double seconds;
    double truth, quiet; /* without noise: of the run, and of the best height */
    int last;
    bool timing;
    /* The group that is being timed. */
    int64_t group, group_iterations;
    double group_s;
} machine;

machine a_machine(double (*time)(int));
/* A policy on it, for this wish. */
tz_status try_make(machine *m, const tz_plan_wish *wish, tz_policy **out, tz_error *error);
tz_policy *make(machine *m, tz_plan_wish wish);
double best_time(const machine *m);
/* Stages, cut short at the next stop. Stops are `every` iterations apart; 0: no stops. */
void run(machine *m, tz_policy *policy, int64_t stages, int64_t every);
int height_now(const tz_policy *policy);

#endif
