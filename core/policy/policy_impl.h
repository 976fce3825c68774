/* The inside of tz_policy, for the files of this folder. */
#ifndef TZ_CORE_POLICY_POLICY_IMPL_H
#define TZ_CORE_POLICY_POLICY_IMPL_H

#include "policy/policy.h"

/* Stages timed together last about this long, so that the wait for them is 5 % of it, and about the
 * same part for every plan. */
#define TZ_POLICY_GROUP_S 1e-3

enum {
    TZ_POLICY_DECISIONS_MAX = 256,
    TZ_POLICY_STRETCHES = 3, /* between outputs that are too short for a plan: it is given up */
    TZ_POLICY_REASON_SIZE = sizeof((tz_plan *)0)->why
};

/* ---- A plan that is being measured. Its first stage sets things up and does not count. ------- */
typedef struct tz_policy_trial {
    bool warm;
    double stage_s;         /* about what a stage takes; NAN: not known */
    int64_t stages_to_time; /* of the next group */
    int64_t stages, iterations;
    double seconds;
} tz_policy_trial;

void tz_policy_trial_begin(tz_policy_trial *trial, bool warm, double stage_s);
/* True once two stages and TZ_POLICY_GROUP_S are timed: seconds / iterations is the result. */
bool tz_policy_trial_record(tz_policy_trial *trial, int64_t stages, int64_t iterations,
                            double seconds);

/* ---- A way to choose ------------------------------------------------------------------------- */
typedef struct tz_policy_class {
    tz_status (*create)(tz_policy *policy, tz_error *error);
    void (*destroy)(tz_policy *policy);
    /* NULL: policy->plan never changes. `new_stretch`: `iterations_left` counts up to another step
     * than in the call before, that is, a stretch between two outputs begins here. */
    tz_status (*next)(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                      tz_error *error);
    int64_t (*stages_to_time)(const tz_policy *policy); /* NULL: 0 */
    void (*record)(tz_policy *policy, int64_t stages, int64_t iterations, double seconds);
    bool (*plan_failed)(tz_policy *policy, const tz_error *why);
    bool (*measured)(const tz_policy *policy, size_t index, tz_policy_measurement *out);
    bool (*settled)(const tz_policy *policy); /* NULL: always */
    void (*describe)(const tz_policy *policy, char *text, size_t size);
} tz_policy_class;

struct tz_policy {
    const tz_policy_class *is;
    tz_policy_config config;
    tz_policy_host host;
    void *state;  /* of the class */
    tz_plan plan; /* the present one */
    int64_t step; /* of the last next() */
    int64_t stop; /* the step at which something is due, as the last next() said */
    tz_policy_options *predictions; /* NULL: none; made when first asked for */
    bool predictions_tried;
    char no_predictions[160]; /* why there is none */
    tz_policy_decision *decisions;
    size_t decisions_count;
    int64_t decisions_left_out;
    char warning[512];
};

extern const tz_policy_class tz_policy_class_adaptive, tz_policy_class_exhaustive;

/* Plans to try: the predictions, else the backend's candidates, else its choice for each of some
 * heights. malloc'd. NULL with `error` when memory runs out or the given plan is refused. */
tz_policy_options *tz_policy_list(tz_policy *policy, tz_error *error);
/* Go from policy->plan to `to`, for that reason, which becomes the plan's `why` too. */
void tz_policy_decide(tz_policy *policy, const tz_plan *to, double time_s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
