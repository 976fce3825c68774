/* Policies: what chooses plans as a run goes.
 *
 *   fixed       the plan as given; what it leaves open is the backend's choice
 *   predicted   the forecast's best plan (forecast.h); without one the backend's choice, and `why`
 *               says what was missing
 *   adaptive    Meng and Skadron 2009, section 5.4.2: the average time of an iteration, taken over
 *               two stages, decides whether the height goes up or down (adaptive.c)
 *   exhaustive  every plan is measured, the best one is used and remembered (exhaustive.c,
 * memory.h) function    the caller's
 *
 * A policy is asked before each stage and told, of the stages that it wants timed, what they took.
 * Hardly anything is timed once it has settled. It knows the engine only through tz_policy_host, so
 * that tests can run it against times of their own making. The bits of a result never depend on it.
 */
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
    double time_s;   /* predicted for an iteration; NAN: nobody knows */
    double set_up_s; /* that its first stage takes more, roughly: its kernel is compiled or read */
} tz_policy_option;

typedef struct tz_policy_options {
    int count, best; /* best: index of the fastest; -1 without predictions */
    char reason[160];
    tz_policy_option at[TZ_POLICY_OPTIONS_MAX];
} tz_policy_options;

typedef struct tz_policy_host {
    void *context;
    /* Stages may still be under way when they return: whoever times them waits for the device,
     * which costs it TZ_FIT_HOST_WAIT_S. */
    bool asynchronous;
    /* Complete a plan and check it, as tz_backend.plan does. */
    tz_status (*complete)(void *context, tz_plan *plan, tz_error *error);
    /* Every plan worth considering that keeps what `given` names, with predicted times
     * (TZ_UNSUPPORTED says what is missing), or without. */
    tz_status (*predictions)(void *context, const tz_plan *given, tz_policy_options *out,
                             tz_error *error);
    tz_status (*candidates)(void *context, const tz_plan *given, tz_policy_options *out,
                            tz_error *error);
    /* One line that says what a measurement holds for: everything that its outcome depends on.
     * False: not known here. */
    bool (*memory_key)(void *context, char *text, size_t size);
} tz_policy_host;

/* What a function policy sees. */
typedef struct tz_policy_view {
    const char *name; /* config.function_name */
    int64_t step;
    const tz_plan *plan; /* the present one */
    /* The last stages, timed together (0 stages: none yet). A plan's first ones include what it
     * takes to set it up. */
    int64_t stages, iterations;
    double seconds;
} tz_policy_view;

typedef struct tz_policy_config {
    tz_policy_kind kind;
    tz_plan given; /* zeros: the policy's to choose. Adaptive takes its height as the start */
    int start;     /* adaptive: the first height; 0: the given one, else the predicted one */
    bool forget;   /* exhaustive: measure anew whatever is remembered */
    /* *next comes as `given` with a height of 0: left so, the present plan is kept, else the rest
     * of it is completed. */
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

/* The plan of the stage that begins at `step`. `room`: iterations until an output, a test or the
 * end cuts the last stage short. Borrowed until the next call. Errors: a function's own. */
tz_status tz_policy_next(tz_policy *policy, int64_t step, int64_t room, const tz_plan **plan,
                         tz_error *error);

/* Whole stages of that plan to time together; 0: none. Stages cut short are not to be counted. */
int64_t tz_policy_stages_wanted(const tz_policy *policy);
void tz_policy_tell(tz_policy *policy, int64_t stages, int64_t iterations, double seconds);

/* The forecast that the policy goes by, made when it is first asked for; NULL: there is none. For a
 * function policy it is of every height. Valid as long as the policy. */
const tz_policy_options *tz_policy_predictions(tz_policy *policy);

/* The stage could not be run, and nothing has changed. True: it was a trial; ask for another. */
bool tz_policy_refuse(tz_policy *policy, const tz_error *why);

/* ---- What it did ----------------------------------------------------------------------------- */

typedef struct tz_policy_decision {
    int64_t step, last_step; /* the first time, and the last that it was taken again */
    int64_t times;
    tz_plan from, to; /* from.height 0: the first */
    double time_s;    /* of an iteration, measured, with `from`; NAN: not measured */
    char reason[160];
} tz_policy_decision;

/* Repeats are merged; past a few hundred different ones the rest is counted in *left_out. */
size_t tz_policy_decisions(const tz_policy *policy, const tz_policy_decision **out,
                           int64_t *left_out);

typedef struct tz_policy_measurement {
    tz_plan plan;
    double time_s;      /* of an iteration, measured; NAN: dropped unmeasured, `note` says why */
    double predicted_s; /* NAN: not predicted */
    bool tie;           /* within noise of the best */
    int rounds;         /* exhaustive: how often it was measured */
    bool remembered;    /* of an earlier run, and not measured again */
    char note[64];
} tz_policy_measurement;

/* What adaptive and exhaustive measured (or remember): entry `index` from 0; false past the end. */
bool tz_policy_measured(const tz_policy *policy, size_t index, tz_policy_measurement *out);

tz_policy_kind tz_policy_kind_of(const tz_policy *policy);
bool tz_policy_settled(const tz_policy *policy); /* what there is to try has been tried */
const tz_plan *tz_policy_plan(const tz_policy *policy);
/* "adaptive: settled on height 8 at step 96 (4 heights measured)". Returns `text`. */
const char *tz_policy_describe(const tz_policy *policy, char *text, size_t size);
/* What went wrong beside the run (a memory that cannot be written), once. */
bool tz_policy_take_warning(tz_policy *policy, char *text, size_t size);

#endif
