/* The inside of a policy: what every way to choose is made of. One is a row of
 * tz_policy_classes. */
#ifndef TZ_CORE_POLICY_CLASS_H
#define TZ_CORE_POLICY_CLASS_H

#include "policy/options.h"
#include "policy/wish.h"

struct json_t; /* jansson.h */

/* ---- A way to choose ------------------------------------------------------------------------- */

typedef struct tz_policy_class {
    const char *name;
    bool searches; /* the heights: a given height is only the first one */
    tz_status (*create)(tz_policy *policy, tz_error *error);
    void (*destroy)(tz_policy *policy); /* NULL: frees its state */
    /* NULL: policy->plan never changes. `new_stretch`: a stretch between two outputs begins here:
     * the step that `iterations_left` ends at is another one than in the last call. */
    tz_status (*next)(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                      tz_error *error);
    int64_t (*stages_to_time)(const tz_policy *policy); /* NULL: 0 */
    void (*record)(tz_policy *policy, int64_t stages, int64_t iterations, double seconds);
    bool (*plan_failed)(tz_policy *policy, const tz_error *why);
    bool (*measured)(const tz_policy *policy, size_t index, tz_policy_measurement *out);
    bool (*settled)(const tz_policy *policy); /* NULL: always */
    void (*describe)(const tz_policy *policy, char *text, size_t size);
    /* What it has learnt, for tz_policy_save() and tz_policy_load(). load() returns false, and
     * leaves the policy as it is, if that is damaged. NULL: nothing, or kept elsewhere. */
    struct json_t *(*save)(const tz_policy *policy);
    bool (*load)(tz_policy *policy, const struct json_t *state);
} tz_policy_class;

extern const tz_policy_class tz_policy_class_auto, tz_policy_class_height, tz_policy_class_fixed,
    tz_policy_class_predicted, tz_policy_class_adaptive, tz_policy_class_exhaustive;

/* Those that have a name, in the order in which they are listed: the first is "auto", the default,
 * and the last is "fixed".
 * NULL-terminated (core/papers.c). */
extern const tz_policy_class *const tz_policy_classes[];

/* A group of stages timed together lasts about this long: the wait for the device is then 5 % of
 * it, and about the same share for every plan. */
#define TZ_POLICY_GROUP_S 1e-3

enum {
    TZ_POLICY_DECISIONS_MAX = 256,
    /* A plan is given up after so many stretches between outputs in a row that are too short. */
    TZ_POLICY_STRETCHES = 3,
    TZ_POLICY_REASON_SIZE = sizeof((tz_plan *)0)->why
};

struct tz_policy {
    const tz_policy_class *is;
    tz_plan_wish wish;
    tz_policy_subject subject;
    void *state;                    /* of the class */
    tz_plan plan;                   /* the present one */
    int64_t step;                   /* of the last next() */
    int64_t stop;                   /* the step at which the stretch of the last next() ends */
    tz_policy_options *predictions; /* made when first needed; NULL: none */
    bool predictions_tried;
    char no_predictions[160]; /* why there are none */
    int64_t predicted_for;    /* "predicted": iterations of the present plan's run; 0: a long one */
    int predicted_times;      /* how often a short run was predicted */
    tz_policy_decision *decisions;
    size_t decisions_count, decisions_room;
    int64_t decisions_left_out;
    char warning[1024];
};

/* Row functions could not be compiled: policy->warning says so, once for a stencil. */
void tz__policy_warn_of_rows(tz_policy *policy);

/* Are its stages asynchronous? Timing them needs a wait, which costs TZ_FIT_HOST_WAIT_S. */
static inline bool tz__policy_waits(const tz_policy *policy)
{
    return policy->subject.backend->wait != NULL;
}

/* Plans to try: the predictions, else the backend's candidates, else its choice for each of some
 * heights. malloc'd. NULL with `error`: out of memory, or the given plan is refused. */
tz_policy_options *tz__policy_list(tz_policy *policy, tz_error *error);
/* The plan of a height: the fastest that is predicted, else the backend's choice. Height 0: the
 * best prediction, else the backend's choice. Errors: those of tz__policy_complete. */
tz_status tz__policy_plan_at(tz_policy *policy, int height, tz_plan *out, tz_error *error);
/* Of a policy that searches the heights: the height at which it starts, if it is given; else 0. */
int tz__policy_start(const tz_policy *policy);
/* Its first decision, for the plan of that height, with the reason. */
void tz__policy_begin(tz_policy *policy, const tz_plan *plan);
/* At its first stage: if the first stretch is short beside the heights, and no height is given,
 * policy->plan becomes the best prediction for so many iterations. True: of another height. */
bool tz__policy_begin_short(tz_policy *policy, int64_t iterations);
/* Go from policy->plan to `to`. The reason also becomes the plan's `why`. */
void tz__policy_decide(tz_policy *policy, const tz_plan *to, double time_s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- Measuring a plan: its first stage sets it up and does not count ------------------------- */

typedef struct tz_policy_trial {
    bool warm;
    double stage_s;         /* rough time of a stage; NAN: not known */
    int64_t stages_to_time; /* of the next group */
    int64_t stages, iterations;
    double seconds;
} tz_policy_trial;

void tz__policy_trial_begin(tz_policy_trial *trial, bool warm, double stage_s);
/* True once at least two stages and TZ_POLICY_GROUP_S are timed: the result is then
 * seconds / iterations. */
bool tz__policy_trial_record(tz_policy_trial *trial, int64_t stages, int64_t iterations,
                             double seconds);

/* ---- In a checkpoint ------------------------------------------------------------------------- */

/* A plan with everything, and back: a plan that the backend does not take as it is fails. */
struct json_t *tz__policy_plan_to_json(const tz_plan *plan, bool *failed);
void tz__policy_plan_from_json(const tz_policy *policy, const struct json_t *object, tz_plan *out,
                               bool *failed);

/* ---- Memory (memory.c) ----------------------------------------------------------------------- */

/* The results of an exhaustive search, complete or partial, on disk for the next run. */
typedef struct tz_policy_memory {
    int count, best;
    bool finished;                /* false: the search was cut short; plans may lack a time */
    double noise;                 /* relative: plans this close to the best are ties */
    tz_policy_measurement *plans; /* malloc'd */
} tz_policy_memory;

/* False: no valid file. */
bool tz_policy_memory_read(const char *key, tz_policy_memory *out);
/* TZ_IO, TZ_MEMORY. Without a cache folder it writes nothing and returns TZ_OK. */
tz_status tz_policy_memory_write(const char *key, const tz_policy_memory *memory, tz_error *error);
void tz_policy_memory_forget(const char *key);
void tz_policy_memory_clear(tz_policy_memory *memory);

/* The key of a search: its name, the host's key and the given members of the plan. Empty if that is
 * too long: then nothing is remembered. */
enum { TZ_POLICY_KEY_SIZE = 2048 };
void tz__policy_memory_key(const tz_policy *policy, const char *search,
                           char key[TZ_POLICY_KEY_SIZE]);
/* Keep what policy->is->measured() says of the first `count` plans; of a finished search with
 * `noise`. Does nothing if the cell update was changed since `key` was made, as the times then
 * belong to two kernels. A failure becomes the policy's warning. */
void tz__policy_remember(tz_policy *policy, const char *search, const char *key,
                         const tz_policy_memory *found);

/* The path of a key's file; false without a cache folder. */
bool tz_policy_memory_path(const char *key, char *path, size_t size);

#endif
