/* Policies: a policy chooses the plan of every stage of a run.
 *
 *   auto        begins with a plan that is there at once, and changes to better ones as they are
 *               compiled (auto.c)
 *   fixed       the plan as given; the backend chooses what it leaves open. On a GPU a plan of a
 *               height and a family alone becomes the best one that is predicted
 *   predicted   the best prediction (predict/predictions.h). Without predictions the backend's
 *               choice; the plan's `why` then says what was missing
 *   adaptive    Meng and Skadron 2009, section 5.4.2: the average time of an iteration, taken over
 *               two stages, decides whether the height goes up or down (adaptive.c)
 *   exhaustive  measures every plan, then uses the best and remembers it (exhaustive.c)
 *   function    a function of the caller's (tz_policy_question)
 *   and those that core/papers.c adds
 *
 * The caller gets a plan before each stage (tz_policy_next), times as many stages as the policy
 * requests (tz_policy_stages_to_time) and passes their time back (tz_policy_record). A settled
 * policy requests hardly any times. The bits of a result never depend on the policy. */
#ifndef TZ_CORE_POLICY_POLICY_H
#define TZ_CORE_POLICY_POLICY_H

#include "policy/options.h"
#include "policy/wish.h"

struct json_t; /* jansson.h */

/* ---- Choosing one ---------------------------------------------------------------------------- */

/* The i-th name of a policy, of which the first is the default; NULL after the last. Static. */
const char *tz_policy_name(int i);
/* The same of those that search the heights: they start at a given height. */
const char *tz_policy_searcher_name(int i);

/* What this program was built without, for messages about unknown names: " (this program was …)",
 * or "". */
extern const char tz_policies_left_out[];

/* A wish with the name of its policy, without a text as height. `command_line` may be NULL.
 * TZ_UNKNOWN: no such policy; the message names the nearest. TZ_RANGE: two keys that exclude each
 * other. */
tz_status tz_plan_wish_settle(const tz_plan_wish *scenario, const tz_plan_wish *command_line,
                              tz_plan_wish *out, tz_error *error);

/* For a settled wish. Errors: TZ_RANGE and TZ_UNSUPPORTED for the given plan, TZ_MEMORY. The
 * subject is copied. */
tz_status tz_policy_create(tz_policy **out, const tz_plan_wish *wish,
                           const tz_policy_subject *subject, tz_error *error);
void tz_policy_destroy(tz_policy *policy); /* NULL is fine */

/* ---- Running --------------------------------------------------------------------------------- */

/* The plan of the stage that begins at `step`. `iterations_left` are left up to the next output,
 * test or end; the caller cuts a longer stage short. *plan is borrowed until the next call. */
tz_status tz_policy_next(tz_policy *policy, int64_t step, int64_t iterations_left,
                         const tz_plan **plan, tz_error *error);

/* What a function policy asks, which tz_policy_next() has found. */
typedef struct tz_policy_view {
    const char *name; /* of the function */
    int64_t step;
    const tz_plan *plan; /* the present one */
    /* The last stages that were timed together (0 stages: none yet). The first stages of a plan
     * include its set-up time. */
    int64_t stages, iterations;
    double seconds;
} tz_policy_view;

/* NULL: no function is asked now. Until it is answered, or a stage has run, the present plan is
 * kept. Borrowed until the next call. */
const tz_policy_view *tz_policy_question(const tz_policy *policy);
/* Height 0: keep the present plan. Otherwise members that are 0 are chosen. Errors: those of a plan
 * that the backend refuses. */
tz_status tz_policy_answer(tz_policy *policy, const tz_plan *plan, tz_error *error);

/* How many stages of that plan the caller times together; 0: none. Stages that are cut short do not
 * count. */
int64_t tz_policy_stages_to_time(const tz_policy *policy);
/* Pass the time of such a group of stages. */
void tz_policy_record(tz_policy *policy, int64_t stages, int64_t iterations, double seconds);

/* The predictions of the policy, made at the first call; NULL: none. For a policy that searches the
 * heights they cover every height. Borrowed for the lifetime of the policy. */
const tz_policy_options *tz_policy_predictions(tz_policy *policy);

/* Report that the stage failed without changing a field. True: its plan was only on trial, and
 * tz_policy_next() gives another one. False: the run fails with this error. */
bool tz_policy_plan_failed(tz_policy *policy, const tz_error *why);

/* ---- What it did ----------------------------------------------------------------------------- */

/* Returns the number of decisions. *out is borrowed. Equal decisions are one entry. *left_out
 * counts the decisions that did not fit: a few hundred different ones are kept. */
size_t tz_policy_decisions(const tz_policy *policy, const tz_policy_decision **out,
                           int64_t *left_out);
/* They as a table; `dims`, the stencil's, stays. */
tz_sheet tz_policy_decision_sheet(const tz_policy *policy, const int *dims, int64_t *left_out);
/* The columns of a tz_policy_measurement; their context is `dims`. */
extern const tz_sheet_column tz_policy_measurement_columns[];
/* Entry `index`, from 0, of the plans that an adaptive or exhaustive policy has measured or
 * remembers. False past the end and for other policies. */
bool tz_policy_measured(const tz_policy *policy, size_t index, tz_policy_measurement *out);

const char *tz_policy_name_of(const tz_policy *policy); /* static; "function" for a function */
bool tz_policy_settled(const tz_policy *policy);        /* true: nothing left to try */
const tz_plan *tz_policy_plan(const tz_policy *policy);
/* "adaptive: settled on height 8 at step 96 (4 heights measured)". Returns `text`. */
const char *tz_policy_describe(const tz_policy *policy, char *text, size_t size);
/* A fault that does not stop the run (measured plans cannot be stored). False: none, or taken
 * before. */
bool tz_policy_take_warning(tz_policy *policy, char *text, size_t size);

/* ---- What is remembered ---------------------------------------------------------------------- */

/* Counts the files in which policies remember plans, and their bytes; first removes the oldest
 * until the others have at most `most` bytes together. */
void tz_policy_memory_tidy(int64_t most, int *count, int64_t *bytes);

/* ---- In a checkpoint ------------------------------------------------------------------------- */

/* Its plan, its decisions and what it has learnt; NULL: not enough memory. Release it with
 * json_decref(). */
struct json_t *tz_policy_save(const tz_policy *policy);
/* Take that up again. Does nothing if another device, grid or policy has learnt it, or if it is
 * damaged: the bits of a result do not depend on it. */
void tz_policy_load(tz_policy *policy, const struct json_t *object);

#endif
