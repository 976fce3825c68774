/* How the cpu backend chooses height and tile from the machine's caches. */
#ifndef TZ_CORE_BACKEND_CPU_PLAN_H
#define TZ_CORE_BACKEND_CPU_PLAN_H

#include "base/machine.h"
#include "stencil/problem.h"

/* Complete a plan: zeros are chosen, what is given is kept, and the tile is clipped to the grid.
 * TZ_RANGE: a height whose ghost zone is wider than a tile that was given, or that needs more than
 * the rings' share of memory; the message names the largest that works. */
tz_status tz_cpu_plan(const tz_problem *problem, const tz_machine *machine, int threads,
                      tz_plan *plan, tz_error *error);

/* ---- Plans worth considering ----------------------------------------------------------------- */

enum { TZ_CPU_SHAPES_MAX = 9 };

/* The next height after `height` (0: the first) that is worth a look: all small ones, then some. 0:
 * no more. A given height is the only one. */
int tz_cpu_height_next(const tz_problem *problem, const tz_plan *given, int height);

/* Plans of that height, not yet complete: the default tile, and others with rows (and in 3-D
 * planes) half and twice as long. What is given is kept. How many. */
int tz_cpu_shapes(const tz_problem *problem, const tz_machine *machine, int threads,
                  const tz_plan *given, int height, tz_plan shapes[TZ_CPU_SHAPES_MAX]);

#endif
