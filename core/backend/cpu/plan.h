/* How the cpu backend chooses height and tile from the machine's caches. */
#ifndef TZ_CORE_BACKEND_CPU_PLAN_H
#define TZ_CORE_BACKEND_CPU_PLAN_H

#include "base/machine.h"
#include "kernels/cpu/stage.h"
#include "stencil/problem.h"

/* Is "stream" in place chosen without predictions? In 2-D, if one field is computed, and rows are long and many: on a Zen 5,
 * 8192^2, all of 6 such problems were 1.4 to 1.7 times as fast as with "skew", one of two fields as fast, and one 0.7 times.
 * On 512^2 they were 1.0 to 1.3 times as fast, on 300^2 0.8 to 1.1 times. In 3-D, with at most eight threads, if tiles lean, or if they
 * overlap and a cell is computed from few: there stars were 1.1 to 1.8 times as fast, boxes 0.85 to 0.95 times. */
bool tz_cpu_prefers_in_place(const tz_problem *problem, const tz_stage *stage,
                             const tz_machine *machine);

/* Complete a plan: choose what is 0, keep what is given, clip the tile to the grid. Tiles that lean get the rows that they have
 * (kernels/cpu/lean.h), near those given. `stage` describes the problem. Errors:
 * TZ_RANGE if the ghost zone of the height is wider than a given tile; the message names the
 * largest height that is possible. */
tz_status tz_cpu_plan(const tz_problem *problem, const tz_stage *stage, const tz_machine *machine,
                      tz_plan *plan, tz_error *error);

/* Errors: TZ_RANGE if the height of a plan is negative or too large, or an extent of its tile is negative. */
tz_status tz_cpu_check_numbers(const tz_problem *problem, const tz_plan *plan, tz_error *error);

/* The limit of the rings of a plan, of all threads. Rings and the padding of arrays (24 MiB, backend/host/store.c) together stay
 * below 64 MiB. */
#define TZ_CPU_RINGS_MAX (INT64_C(36) << 20)

/* A second-level cache of so many bytes or more is used alone: processors that have one are slow to reach their third level. */
#define TZ_CPU_L2_LARGE (INT64_C(2) << 20)

/* Bytes of the rings of a thread, in the family "stream". */
int64_t tz_cpu_rings_bytes(const tz_stage *stage);

/* Sets stage->batch and stage->group for the stage's tile. The next level then finds a batch in cache. In 2-D a batch of up to
 * six rows fits L1; in place it has eight rows, twice as many as a call computes. In 3-D a batch of up to eight planes of a group
 * fits L2, with as many rows as make few lines come from L3: each plane of a ring comes once a batch, and each group
 * reads rows of the group before. Batches are shorter if the rings would take more than TZ_CPU_RINGS_MAX. */
void tz_cpu_batch(const tz_problem *problem, const tz_machine *machine, tz_stage *stage);

/* Parts of an axis of equal extent, a multiple of `unit`, that are not longer than `largest`; the axis
 * itself if that is as long. */
int64_t tz_cpu_split_evenly(int64_t extent, int64_t largest, int64_t unit);

/* ---- Plans worth considering ----------------------------------------------------------------- */

enum { TZ_CPU_SHAPES_MAX = 9 };

/* The next candidate height after `height`, the first one if `height` is 0; 0 after the last one.
 * All small heights are candidates, and some larger ones. A given height is the only candidate. */
int tz_cpu_height_next(const tz_problem *problem, const tz_plan *given, int height);

/* Plans of a height, which tz_cpu_plan() must complete: the default tile, and tiles with rows (in
 * 3-D also planes) of half and twice the length. Members that `given` sets are kept. Returns the
 * number of plans. */
int tz_cpu_shapes(const tz_problem *problem, const tz_stage *stage, const tz_machine *machine,
                  const tz_plan *given, int height, tz_plan shapes[TZ_CPU_SHAPES_MAX]);

#endif
