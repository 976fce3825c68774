/* The inside of the adaptive policy: its heights, and the choice of the next one to try. */
#ifndef TZ_CORE_POLICY_ADAPTIVE_IMPL_H
#define TZ_CORE_POLICY_ADAPTIVE_IMPL_H

#include "policy/policy_impl.h"

#define TZ_ADAPTIVE_HYSTERESIS 0.03

/* One height of the search, with its plan. */
typedef struct rung {
    tz_plan plan;
    double predicted; /* time of an iteration; NAN: not predicted */
    bool estimated;   /* that is an estimate */
    double set_up_s;  /* expected extra time of its first stage */
    double time;      /* of an iteration, measured or presumed; NAN: neither; INFINITY: refused */
    bool measured;
    bool known; /* its kernel has run */
    int looks;  /* trials */
    char note[64];
} rung;

typedef struct adaptive {
    rung *rungs; /* by height */
    int count, start, base;
    int probe; /* the rung on trial; -1: none */
    int stride, direction;
    tz_policy_trial trial;
    int base_groups, tried;
    bool budgeted, settled;
    bool timing;          /* base is being timed */
    int confirm;          /* a rung that seems better and is tried again; -1: none */
    bool due;             /* the next trial may begin once base is timed */
    int patience;         /* factor on the next trial's cost: trials without a gain double it */
    double elapsed, lost; /* seconds run; the part of them that the start would not have taken */
    double wait_s;        /* cost of a wait for the device */
    int64_t calls;        /* while the time of base is not known: stages so far */
    double began_s;       /* by the host's clock: the end of the first of them, */
    int64_t began_step;   /* and its step */
    double check_s;       /* settled: base is timed again after so many elapsed seconds */
    double settled_time;
    int short_stretches;
    int64_t longest_stretch;
    int64_t settled_step;
    int64_t seen_step; /* `elapsed` counts up to this step */
} adaptive;

/* Make one rung for each height: its fastest predicted plan, or the backend's choice. */
tz_status tz__adaptive_make_rungs(tz_policy *policy, adaptive *a, tz_error *error);
/* The index of the rung of this plan's height. Adds one if there is none. */
int tz__adaptive_add_rung(adaptive *a, const tz_plan *plan);
/* The index of the rung of a height; -1: none. */
int tz__adaptive_find(const adaptive *a, int height);
/* The time of an iteration, measured, else predicted; NAN: neither. */
double tz__adaptive_time(const adaptive *a, int rung);
/* The next rung to try, near a base whose time is known; -1: none. A height that is predicted to be
 * much slower than base is not tried; its time is taken from the prediction. */
int tz__adaptive_pick(adaptive *a);

/* tz_policy_class has them. */
struct json_t *tz__adaptive_save(const tz_policy *policy);
bool tz__adaptive_load(tz_policy *policy, const struct json_t *object);

#endif
