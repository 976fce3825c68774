/* Plans of the family "skew": kernels/cpu/skew.h. */
#ifndef TZ_CORE_BACKEND_CPU_SKEW_PLAN_H
#define TZ_CORE_BACKEND_CPU_SKEW_PLAN_H

#include "base/machine.h"
#include "kernels/cpu/stage.h"
#include "stencil/problem.h"

extern const char tz_cpu_skew[]; /* the family's name */
bool tz_cpu_is_skew(const tz_plan *plan);

/* What the family cannot compute; NULL: nothing. */
const char *tz_cpu_skew_unsupported(const tz_problem *problem);

/* Can a plan without a family be one of this family? A given tile is one of "stream". */
bool tz_cpu_skew_may(const tz_problem *problem, const tz_plan *plan);

/* Set the family of a plan that has none, if it can be this one and "stream" is not preferred. Of 17 problems with several
 * fields all were faster than with "stream" on a Zen 3, and 14 on a Xeon. */
void tz_cpu_skew_choose(const tz_problem *problem, const tz_stage *stage, const tz_machine *machine,
                        tz_plan *plan);

/* Complete a plan: choose what is 0, keep what is given, clip the tile to the grid. `stage` describes
 * the problem. Errors: TZ_UNSUPPORTED if the family cannot compute the problem, TZ_RANGE if the height
 * is too large; the message names the largest. */
tz_status tz_cpu_skew_plan(const tz_problem *problem, const tz_stage *stage,
                           const tz_machine *machine, tz_plan *plan, tz_error *error);

/* tz_stage.alone for the width of a stage's tile: passes that gain nothing by computing two slabs at once. Calls the cell
 * functions, which takes as long as a stage of some hundred cells. */
uint32_t tz_cpu_skew_alone(const tz_problem *problem, const tz_stage *stage,
                           const tz_machine *machine);

/* Plans of a height, which tz_cpu_skew_plan() must complete. With a part of the grid for each thread: the default
 * tile, and those of twice and of half its extent along the inner axis. With a part for a few threads, and with one
 * part: the default tile. Tiles other than the first are left out if a stage shifts them by more than their extent.
 * Members that `given` sets are kept. Returns how many. */
enum { TZ_CPU_SKEW_SHAPES_MAX = 5 };
int tz_cpu_skew_shapes(const tz_problem *problem, const tz_stage *stage, const tz_machine *machine,
                       const tz_plan *given, int height, tz_plan shapes[TZ_CPU_SKEW_SHAPES_MAX]);

#endif
