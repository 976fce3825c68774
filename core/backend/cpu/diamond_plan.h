/* Plans of the family "diamond": kernels/cpu/skew.h. */
#ifndef TZ_CORE_BACKEND_CPU_DIAMOND_PLAN_H
#define TZ_CORE_BACKEND_CPU_DIAMOND_PLAN_H

#include "base/machine.h"
#include "stencil/problem.h"

extern const char tz_cpu_diamond[]; /* the family's name */
bool tz_cpu_is_diamond(const tz_plan *plan);

/* Does a stage keep its levels in the arrays, and not in rings? Those of "diamond" and "skew" do. */
bool tz_cpu_is_in_arrays(const tz_plan *plan);

/* Can a plan without a family be one of this family? Not with long rows. */
bool tz_cpu_diamond_may(const tz_problem *problem, const tz_plan *plan);

/* Set the family of a plan that has none, if this one is preferred: on processors with a large second level, which are slow to
 * reach their third level, for one computed field, where a row has at least as many diamonds as there are threads. */
void tz_cpu_diamond_choose(const tz_problem *problem, int threads, const tz_machine *machine,
                           tz_plan *plan);

/* Complete a plan: choose what is 0, keep what is given. Errors: TZ_UNSUPPORTED if the family cannot compute the problem;
 * TZ_RANGE if the height is too large, or if the tile would cut rows or the last axis. */
tz_status tz_cpu_diamond_plan(const tz_problem *problem, int threads, const tz_machine *machine,
                              tz_plan *plan, tz_error *error);

/* Plans to compare, which tz_cpu_diamond_plan() must complete: the default, and diamonds of several widths, one or two of them
 * above each other in a stage, or the height of `given`. None if the family is not `given`'s and may not be taken. Returns
 * how many. */
enum { TZ_CPU_DIAMOND_SHAPES_MAX = 9 };
int tz_cpu_diamond_shapes(const tz_problem *problem, int threads, const tz_plan *given,
                          tz_plan shapes[TZ_CPU_DIAMOND_SHAPES_MAX]);

#endif
