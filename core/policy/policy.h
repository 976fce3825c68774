/* Policies: what chooses the plan of every stage of a run.
 *
 *   fixed       the plan as given; the backend chooses what it leaves open
 *   predicted   the best prediction (predict/predictions.h); without predictions the backend's
 *               choice, and the plan's `why` says what was missing
 *   adaptive    Meng and Skadron 2009, section 5.4.2: the average time of an iteration, taken over
 *               two stages, decides whether the height goes up or down (adaptive.c)
 *   exhaustive  measures every plan, then uses the best and remembers it (exhaustive.c, memory.h)
 *   function    the caller's function
 *
 * The caller asks for a plan before each stage (tz_policy_next), times the stages that the policy
 * wants to know about (tz_policy_stages_to_time) and hands their time back (tz_policy_record). A
 * policy that has settled has hardly any stage timed.
 *
 * A policy knows the engine only through tz_policy_host, so that tests can run it with times of
 * their own. The bits of a result never depend on it. choice.h says how a scenario and the command
 * line name a policy. */
#ifndef TZ_CORE_POLICY_POLICY_H
#define TZ_CORE_POLICY_POLICY_H

#include "stencil/types.h"

typedef struct tz_policy tz_policy;

typedef enum tz_policy_kind {
    TZ_POLICY_FIXED,
    TZ_POLICY_PREDICTED,
    TZ_POLICY_ADAPTIVE,
    TZ_POLICY_EXHAUSTIVE,
    TZ_POLICY_FUNCTION
} tz_policy_kind;

/* "fixed", "predicted", … Static. */
const char *tz_policy_name(tz_policy_kind kind);

/* ---- What a policy chooses from -------------------------------------------------------------- */

enum { TZ_POLICY_OPTIONS_MAX = 512 };

typedef struct tz_policy_option {
    tz_plan plan;    /* complete */
    double time_s;   /* predicted for an iteration; NAN: not predicted */
    double set_up_s; /* how much longer its first stage takes, roughly: its kernel is compiled or
                      * read from the cache */
} tz_policy_option;

typedef struct tz_policy_options {
    int count, best; /* best: index of the fastest; -1 without predictions */
    char reason[160];
    tz_policy_option at[TZ_POLICY_OPTIONS_MAX];
} tz_policy_options;

typedef struct tz_policy_host {
    void *context;
    /* Stages may still be under way when their call returns. Timing them then needs a wait for the
     * device, which costs TZ_FIT_HOST_WAIT_S. */
    bool asynchronous;
    /* Choose what a plan leaves open and check it, as tz_backend.plan does. */
    tz_status (*complete_plan)(void *context, tz_plan *plan, tz_error *error);
    /* Every plan worth considering that keeps what `given` names: with predicted times
     * (TZ_UNSUPPORTED says what is missing), and without. */
    tz_status (*predictions)(void *context, const tz_plan *given, tz_policy_options *out,
                             tz_error *error);
    tz_status (*candidates)(void *context, const tz_plan *given, tz_policy_options *out,
                            tz_error *error);
    /* One line that names everything a measurement depends on: engine, stencil, grid, device, …
     * False: something is not known, so nothing can be remembered. */
    bool (*memory_key)(void *context, char *text, size_t size);
} tz_policy_host;

/* What a function policy is told. */
typedef struct tz_policy_view {
    const char *name; /* config.function_name */
    int64_t step;
    const tz_plan *plan; /* the present one */
    /* The last stages, timed together (0 stages: none yet). Those that a plan begins with include
     * the time to set it up. */
    int64_t stages, iterations;
    double seconds;
} tz_policy_view;

typedef struct tz_policy_config {
    tz_policy_kind kind;
    tz_plan given; /* what is not 0 is kept; the policy chooses the rest. The height is the first
                    * one of an adaptive policy and of a function */
    int start;     /* adaptive: the first height; 0: the given one, else the predicted one */
    bool forget;   /* exhaustive: measure again what is remembered */
    /* For TZ_POLICY_FUNCTION. *next is the present plan when it is called; the function changes it,
     * and what it sets to 0 is chosen. A height of 0 keeps the present plan. */
    tz_status (*function)(void *context, const tz_policy_view *view, tz_plan *next,
                          tz_error *error);
    void *function_context;
    char function_name[128]; /* "function at a.lua:12" */
} tz_policy_config;

/* ---- Lifetime ------------------------------------------------------------------------------------ */

/* Errors: TZ_RANGE and TZ_UNSUPPORTED of a given plan, TZ_MEMORY. `host` is copied. */
tz_status tz_policy_create(tz_policy **out, const tz_policy_config *config,
                           const tz_policy_host *host, tz_error *error);
void tz_policy_destroy(tz_policy *policy); /* NULL is fine */

/* ---- Running --------------------------------------------------------------------------------- */

/* The plan of the stage that begins at `step`. Stages that would run beyond `iterations_left` (up
 * to the next output, test or end) are cut short. *plan is borrowed until the next call. Errors: a
 * function's own. */
tz_status tz_policy_next(tz_policy *policy, int64_t step, int64_t iterations_left,
                         const tz_plan **plan, tz_error *error);

/* How many stages of that plan are to be timed together; 0: none. Stages that are cut short do not
 * count. */
int64_t tz_policy_stages_to_time(const tz_policy *policy);
/* The time of such a group of stages. */
void tz_policy_record(tz_policy *policy, int64_t stages, int64_t iterations, double seconds);

/* The predictions that the policy uses, made when they are first needed; NULL: there are none. Those
 * for a function policy cover every height. Borrowed, as long as the policy exists. */
const tz_policy_options *tz_policy_predictions(tz_policy *policy);

/* The stage could not be run, and no field has changed. True: its plan was only being tried, and
 * tz_policy_next() gives another. False: the error is the run's. */
bool tz_policy_plan_failed(tz_policy *policy, const tz_error *why);

/* ---- What it did ----------------------------------------------------------------------------- */

typedef struct tz_policy_decision {
    int64_t step, last_step; /* when it was made first, and last */
    int64_t times;
    tz_plan from, to; /* from.height 0: the first decision */
    double time_s;    /* of an iteration, measured, with `from`; NAN: not measured */
    char reason[160];
} tz_policy_decision;

/* Borrowed; returns how many. A decision that is made again is merged with the first; past a few
 * hundred different ones the rest is only counted, in *left_out. */
size_t tz_policy_decisions(const tz_policy *policy, const tz_policy_decision **out,
                           int64_t *left_out);

typedef struct tz_policy_measurement {
    tz_plan plan;
    double time_s;      /* of an iteration, measured; NAN: not measured, and `note` says why */
    double predicted_s; /* NAN: not predicted */
    bool tie;           /* within noise of the best */
    int rounds;         /* exhaustive: how often it was measured */
    bool remembered;    /* measured by an earlier run, and not again */
    char note[64];
} tz_policy_measurement;

/* What an adaptive or exhaustive policy measured or remembers: entry `index` from 0; false past the
 * end, and for other policies. */
bool tz_policy_measured(const tz_policy *policy, size_t index, tz_policy_measurement *out);

tz_policy_kind tz_policy_kind_of(const tz_policy *policy);
bool tz_policy_settled(const tz_policy *policy); /* true: it has nothing left to try */
const tz_plan *tz_policy_plan(const tz_policy *policy);
/* "adaptive: settled on height 8 at step 96 (4 heights measured)". Returns `text`. */
const char *tz_policy_describe(const tz_policy *policy, char *text, size_t size);
/* A fault that does not stop the run (measured plans cannot be stored), once: false from then on. */
bool tz_policy_take_warning(tz_policy *policy, char *text, size_t size);

#endif
