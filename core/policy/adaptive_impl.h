/* The inside of the adaptive policy: its heights, and which one it tries next. */
#ifndef TZ_CORE_POLICY_ADAPTIVE_IMPL_H
#define TZ_CORE_POLICY_ADAPTIVE_IMPL_H

#include "policy/policy_impl.h"

#define TZ_ADAPTIVE_HYSTERESIS 0.03

typedef struct rung {
    tz_plan plan;
    double predicted; /* of an iteration; NAN */
    double set_up_s;  /* expected, of its first stage */
    double time;      /* measured or presumed; NAN: neither; INFINITY: cannot be had */
    bool measured;
    bool known; /* its kernel has run */
    int looks;  /* trials */
    char note[64];
} rung;

typedef struct adaptive {
    rung *rungs;                   /* by height */
    int count, start, base, probe; /* probe -1: none */
    int stride, direction;
    tz_policy_trial trial;
    int base_groups, tried;
    bool budgeted, settled;
    bool timing;          /* base is being timed */
    int confirm;          /* a rung that seems better, to be tried again; -1: none */
    bool due;             /* for a trial that may begin when it is */
    int patience;         /* what trials in a row that gained nothing make of the next one's cost */
    double elapsed, lost; /* seconds run, and those beyond what the start would have taken */
    double wait_s;        /* that a wait costs */
    double check_s;       /* settled: elapsed seconds at which base is timed again */
    double settled_time;
    int short_stretches;
    int64_t longest_stretch;
    int64_t settled_step;
    int64_t seen_step; /* up to which elapsed counts */
} adaptive;

/* One rung a height: the plan that is predicted to be the fastest, else the backend's choice. */
tz_status tz__adaptive_make_rungs(tz_policy *policy, adaptive *a, tz_error *error);
/* The index of a rung of this plan's height, made if it is not there. */
int tz__adaptive_add_rung(adaptive *a, const tz_plan *plan);
/* -1: there is none. */
int tz__adaptive_find(const adaptive *a, int height);
/* What an iteration at a rung takes, as far as is known; NAN. */
double tz__adaptive_time(const adaptive *a, int rung);
/* The next trial, beside a base whose time is known; -1: there is none. Heights that the forecast
 * says are much slower get their time from it. */
int tz__adaptive_pick(adaptive *a);

#endif
