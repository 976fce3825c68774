/* Policies: a policy chooses the plan of every stage of a run.
 *
 *   fixed       the plan as given; the backend chooses what it leaves open
 *   predicted   the best prediction (predict/predictions.h). Without predictions the backend's
 *               choice; the plan's `why` then says what was missing
 *   adaptive    Meng and Skadron 2009, section 5.4.2: the average time of an iteration, taken over
 *               two stages, decides whether the height goes up or down (adaptive.c)
 *   meng        the same as the paper prints it, without our additions (meng.c)
 *   exhaustive  measures every plan, then uses the best and remembers it (exhaustive.c, memory.h)
 *   function    the caller's function
 *
 * The caller gets a plan before each stage (tz_policy_next), times as many stages as the policy
 * requests (tz_policy_stages_to_time) and passes their time back (tz_policy_record). A settled
 * policy requests hardly any times.
 *
 * A policy uses the engine only through tz_policy_host, so tests can run it with made-up times. The
 * bits of a result never depend on the policy. choice.h says how a scenario and the command line
 * name a policy. */
#ifndef TZ_CORE_POLICY_POLICY_H
#define TZ_CORE_POLICY_POLICY_H

#include "stencil/types.h"

typedef struct tz_policy tz_policy;

typedef enum tz_policy_kind {
    TZ_POLICY_FIXED,
    TZ_POLICY_PREDICTED,
    TZ_POLICY_ADAPTIVE,
    TZ_POLICY_MENG,
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
    double set_up_s; /* rough extra time of its first stage, which compiles the kernel or reads it
                      * from the cache */
    bool estimated;  /* time_s is an estimate: the plan is not compiled yet */
} tz_policy_option;

typedef struct tz_policy_options {
    int count, best; /* best: index of the fastest; -1 without predictions */
    char reason[160];
    tz_policy_option at[TZ_POLICY_OPTIONS_MAX];
} tz_policy_options;

typedef struct tz_policy_host {
    void *context;
    /* Stages may still run when their call returns. Timing them needs a wait for the device, which
     * costs TZ_FIT_HOST_WAIT_S. */
    bool asynchronous;
    /* Seconds since any moment. Of stages that still run it shows when they were begun. REQUIRED if
     * asynchronous. */
    double (*clock)(void *context);
    /* Complete and check a plan, as tz_backend.plan does. */
    tz_status (*complete_plan)(void *context, tz_plan *plan, tz_error *error);
    /* All candidates that keep the members set in `given`: with predicted times (TZ_UNSUPPORTED
     * says what is missing), and without. */
    tz_status (*predictions)(void *context, const tz_plan *given, tz_policy_options *out,
                             tz_error *error);
    tz_status (*candidates)(void *context, const tz_plan *given, tz_policy_options *out,
                            tz_error *error);
    /* One line with everything that a measurement depends on: engine, stencil, grid, device, ...
     * False: a part is not known, so measurements cannot be remembered. */
    bool (*memory_key)(void *context, char *text, size_t size);
} tz_policy_host;

/* The arguments of a function policy. */
typedef struct tz_policy_view {
    const char *name; /* config.function_name */
    int64_t step;
    const tz_plan *plan; /* the present one */
    /* The last stages that were timed together (0 stages: none yet). The first stages of a plan
     * include its set-up time. */
    int64_t stages, iterations;
    double seconds;
} tz_policy_view;

typedef struct tz_policy_config {
    tz_policy_kind kind;
    tz_plan given; /* members that are not 0 are kept; the policy chooses the rest. The height is
                    * only the first one for "adaptive", "meng" and a function */
    int start;     /* adaptive, meng: the first height; 0: the given one, else the predicted one */
    bool forget;   /* exhaustive: measure remembered plans again */
    /* For TZ_POLICY_FUNCTION. *next is the present plan. It is kept if the function does not change
     * it or sets its height to 0. Otherwise members that are 0 are chosen. */
    tz_status (*function)(void *context, const tz_policy_view *view, tz_plan *next,
                          tz_error *error);
    void *function_context;
    char function_name[128]; /* "function at a.lua:12" */
} tz_policy_config;

/* ---- Lifetime -------------------------------------------------------------------------------- */

/* Errors: TZ_RANGE and TZ_UNSUPPORTED for the given plan, TZ_MEMORY. `host` is copied. */
tz_status tz_policy_create(tz_policy **out, const tz_policy_config *config,
                           const tz_policy_host *host, tz_error *error);
void tz_policy_destroy(tz_policy *policy); /* NULL is fine */

/* ---- Running --------------------------------------------------------------------------------- */

/* The plan of the stage that begins at `step`. `iterations_left` are left up to the next output,
 * test or end; the caller cuts a longer stage short. *plan is borrowed until the next call. Errors:
 * those of a function policy. */
tz_status tz_policy_next(tz_policy *policy, int64_t step, int64_t iterations_left,
                         const tz_plan **plan, tz_error *error);

/* How many stages of that plan the caller times together; 0: none. Stages that are cut short do not
 * count. */
int64_t tz_policy_stages_to_time(const tz_policy *policy);
/* Pass the time of such a group of stages. */
void tz_policy_record(tz_policy *policy, int64_t stages, int64_t iterations, double seconds);

/* The predictions of the policy, made at the first call; NULL: none. For "adaptive", "meng" and a
 * function they cover every height. Borrowed for the lifetime of the policy. */
const tz_policy_options *tz_policy_predictions(tz_policy *policy);

/* Report that the stage failed without changing a field. True: its plan was only on trial, and
 * tz_policy_next() gives another one. False: the run fails with this error. */
bool tz_policy_plan_failed(tz_policy *policy, const tz_error *why);

/* ---- What it did ----------------------------------------------------------------------------- */

typedef struct tz_policy_decision {
    int64_t step, last_step; /* at which it was made first and last */
    int64_t times;
    tz_plan from, to; /* from.height 0: the first decision */
    double time_s;    /* measured for an iteration with `from`; NAN: not measured */
    char reason[160];
} tz_policy_decision;

/* Returns the number of decisions. *out is borrowed. Equal decisions are one entry. *left_out
 * counts the decisions that did not fit: a few hundred different ones are kept. */
size_t tz_policy_decisions(const tz_policy *policy, const tz_policy_decision **out,
                           int64_t *left_out);

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

/* Entry `index`, from 0, of the plans that an adaptive or exhaustive policy has measured or
 * remembers. False past the end and for other policies. */
bool tz_policy_measured(const tz_policy *policy, size_t index, tz_policy_measurement *out);

tz_policy_kind tz_policy_kind_of(const tz_policy *policy);
bool tz_policy_settled(const tz_policy *policy); /* true: nothing left to try */
const tz_plan *tz_policy_plan(const tz_policy *policy);
/* "adaptive: settled on height 8 at step 96 (4 heights measured)". Returns `text`. */
const char *tz_policy_describe(const tz_policy *policy, char *text, size_t size);
/* A fault that does not stop the run (measured plans cannot be stored). False: none, or taken
 * before. */
bool tz_policy_take_warning(tz_policy *policy, char *text, size_t size);

/* ---- In a checkpoint ------------------------------------------------------------------------- */

/* Its plan, its decisions and what it has learnt; NULL: not enough memory. Release it with
 * json_decref(). */
struct json_t *tz_policy_save(const tz_policy *policy);
/* Take that up again. Does nothing if another device, grid or policy has learnt it, or if it is
 * damaged: the bits of a result do not depend on it. */
void tz_policy_load(tz_policy *policy, const struct json_t *object);

#endif
