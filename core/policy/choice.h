/* From the height and policy that a scenario and a command line give to the policy of the run.
 *
 * Height and policy are one choice, made from two keys:
 *
 *   height = N                 N iterations between two halo exchanges: policy "fixed"
 *   height = "auto", or none   the height of the best prediction: policy "predicted"
 *   height = NAME              the same as policy = NAME, for all names but "fixed"
 *   policy = NAME              that policy; "auto" is "fixed" with a height, else "predicted"
 *   policy = NAME, height = N  "fixed": N. A policy that searches and a function: N is the first
 *                              height. "predicted" and "exhaustive": only plans of that height count
 *
 * Policies that search the heights start at `start` or at `height`, else at the best prediction. Family, tile
 * and knobs hold for every plan that a policy considers.
 *
 * The command line comes before the scenario. --height N and --height auto replace the scenario's
 * height, start and policy; --policy replaces its policy, and its height unless the new policy is
 * "fixed"; --family replaces its family. */
#ifndef TZ_CORE_POLICY_CHOICE_H
#define TZ_CORE_POLICY_CHOICE_H

#include "policy/policy.h"

enum { TZ_POLICY_START_PREDICTED = -1 };

/* The given values; zeros: nothing given. Strings are borrowed. */
typedef struct tz_policy_choice {
    tz_plan given;      /* with the height, if it is a number */
    const char *height; /* a height that is not a number: "auto" or the name of a policy */
    const char *policy; /* the name of a policy, or "auto" */
    bool function;      /* the policy is a function; the caller sets the function members of *out */
    int start;          /* a height, or TZ_POLICY_START_PREDICTED */
    bool forget;
} tz_policy_choice;

/* The i-th name of a policy, of which the first is the default; NULL after the last. Static. */
const char *tz_policy_choice_name(int i);
/* The same of those that search the heights. */
const char *tz_policy_searcher_name(int i);

/* The end of a message about an unknown policy: what this program was built without, or "". */
extern const char tz_policies_left_out[];

/* `command_line` may be NULL. TZ_UNKNOWN: no such policy; the message names the nearest. TZ_RANGE:
 * two keys that exclude each other. */
tz_status tz_policy_choose(const tz_policy_choice *scenario, const tz_policy_choice *command_line,
                           tz_policy_config *out, tz_error *error);

#endif
