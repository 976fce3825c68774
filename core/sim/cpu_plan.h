/* How the cpu backend chooses height and tile from the machine's caches. */
#ifndef TZ_CORE_SIM_CPU_PLAN_H
#define TZ_CORE_SIM_CPU_PLAN_H

#include "base/machine.h"
#include "sim/problem.h"

/* Complete a plan: zeros are chosen, what is given is kept, and the tile is clipped to the grid.
 * TZ_RANGE: a height whose ghost zone is wider than a tile that was given, or that needs more than
 * the rings' share of memory; the message names the largest that works. */
tz_status tz_cpu_plan(const tz_problem *problem, const tz_machine *machine, int threads,
                      tz_plan *plan, tz_error *error);

#endif
