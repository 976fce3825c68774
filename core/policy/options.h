/* What policies choose from: plans of a subject, with the times that core/predict gives them, and
 * what they make of them. */
#ifndef TZ_CORE_POLICY_OPTIONS_H
#define TZ_CORE_POLICY_OPTIONS_H

#include "backend/backend.h"

/* What plans are for. All is borrowed. */
typedef struct tz_policy_subject {
    const tz_problem *problem;  /* whose stages are planned */
    const tz_problem *solution; /* in mixed precision what that corrects; else the same */
    const tz_plugin *plugin;
    const char *precision; /* for the key of measurements */
    const tz_backend *backend;
    int device;     /* ordinal of the GPU */
    tz_place place; /* with the record of several devices; NULL: one, or none is known */
    bool may_leave; /* the run may soon go on on a GPU: no C compiler is started for it here */
} tz_policy_subject;

enum { TZ_POLICY_OPTIONS_MAX = 512 };

typedef struct tz_policy_option {
    tz_plan plan;  /* complete */
    double time_s; /* predicted for an iteration; NAN: not predicted */
    /* Rough extra time of its first stage, which compiles the kernel or reads it from the cache. */
    double set_up_s;
    bool estimated; /* time_s is an estimate: the plan is not compiled yet */
} tz_policy_option;

typedef struct tz_policy_options {
    int count, best; /* best: index of the fastest; -1 without predictions */
    char reason[160];
    tz_policy_option at[TZ_POLICY_OPTIONS_MAX];
} tz_policy_options;

/* ---- What policies make of them -------------------------------------------------------------- */

typedef struct tz_policy tz_policy;

typedef struct tz_policy_decision {
    int64_t step, last_step; /* at which it was made first and last */
    int64_t times;
    tz_plan from, to; /* from.height 0: the first decision */
    double time_s;    /* measured for an iteration with `from`; NAN: not measured */
    char reason[160];
} tz_policy_decision;

typedef struct tz_policy_measurement {
    tz_plan plan;
    double time_s;      /* measured for an iteration; NAN: not measured; `note` says why */
    double predicted_s; /* NAN: not predicted */
    bool estimated;     /* predicted_s is an estimate, from before the plan was compiled */
    bool tie;           /* within noise of the best */
    int rounds;         /* exhaustive: how often it was measured */
    bool remembered;    /* measured by an earlier run only */
    char note[64];
} tz_policy_measurement;

/* ---- For the files of this folder ------------------------------------------------------------ */

/* Complete and check a plan, as tz_backend.plan does. */
tz_status tz__policy_complete(const tz_policy_subject *subject, tz_plan *plan, tz_error *error);
/* The backend's base plan, which compiles at once, if it keeps what *plan sets: the lean form,
 * where that compiles sooner. False: it does not, or there is none; *plan is as it was. */
bool tz__policy_base(const tz_policy_subject *subject, tz_plan *plan);
/* All candidates that keep the members set in `given`: with predicted times (TZ_UNSUPPORTED says
 * what is missing), and without. `iterations`: of the run; 0: a long one. */
tz_status tz__policy_predict(const tz_policy_subject *subject, const tz_plan *given,
                             int64_t iterations, tz_policy_options *out, tz_error *error);
tz_status tz__policy_candidates(const tz_policy_subject *subject, const tz_plan *given,
                                tz_policy_options *out, tz_error *error);
/* One line with everything that a measurement depends on: engine, stencil, grid, device, ... False:
 * a part is not known, so measurements cannot be remembered. */
bool tz__policy_key(const tz_policy_subject *subject, char *text, size_t size);
/* Seconds since any moment. Of stages that still run it shows when they were begun. */
double tz__policy_clock(const tz_policy_subject *subject);

#endif
