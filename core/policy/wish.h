/* What a user wants of plans: keys of a scenario and options of a command line (policy.h,
 * tz_plan_wish_settle).
 *
 * Height and policy are one choice, made from two keys:
 *
 *   height = N                 N iterations between two halo exchanges: policy "fixed". A backend
 *                              with a base plan looks for the best plan of that height meanwhile,
 *                              if tile and knobs are not given, as "auto" does
 *   height = "auto", or none   the policy "auto"
 *   height = NAME              the same as policy = NAME, for all names but "fixed"
 *   policy = NAME              that policy; "auto" with a height is "fixed"
 *   policy = NAME, height = N  "fixed": N. A policy that searches the heights and a function:
 *                              N is the first height. "predicted" and "exhaustive": only plans of
 *                              that height count
 *
 * Policies that search start at `start` or at `height`, else at the best prediction. Family, tile
 * and knobs hold for every plan that a policy considers.
 *
 * The command line comes before the scenario. --height N and --height auto replace the scenario's
 * height, start and policy; --policy replaces its policy, and its height unless the new policy is
 * "fixed"; --family replaces its family. */
#ifndef TZ_CORE_POLICY_WISH_H
#define TZ_CORE_POLICY_WISH_H

#include "stencil/plan.h"

enum { TZ_WISH_START_PREDICTED = -1 };

/* Zeros: nothing is wanted. Texts are borrowed. */
typedef struct tz_plan_wish {
    tz_plan given;      /* members that are not 0 are kept; with the height, if it is a number */
    const char *height; /* a height that is not a number: "auto" or the name of a policy */
    const char *policy; /* the name of a policy, or "auto" */
    char function[128]; /* the policy is a function: "function at a.lua:12"; "": it is none */
    bool bare;          /* set by tz_plan_wish_settle(): a height alone, without a policy */
    int start;          /* a height, or TZ_WISH_START_PREDICTED */
    bool forget;        /* auto, exhaustive: forget what earlier runs have measured */
} tz_plan_wish;

#endif
