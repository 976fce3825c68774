/* Plans for a grid in slabs. */
#ifndef TZ_CORE_BACKEND_SLABS_PLANS_H
#define TZ_CORE_BACKEND_SLABS_PLANS_H

#include "backend/slabs/state.h"

/* Functions of the table that have no state. */
tz_status tz__slabs_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                         tz_error *error);
int64_t tz__slabs_bytes(const tz_problem *problem, const tz_place *place, const tz_plan *plan);
tz_status tz__slabs_candidates(const tz_problem *problem, const tz_place *place,
                               const tz_plan *given, tz_plan *plans, int max, int *count,
                               tz_error *error);
tz_status tz__slabs_model_work(const tz_problem *problem, const tz_place *place,
                               const tz_plan *plan, tz_effort effort, tz_model_work *out,
                               tz_error *error);
/* The plan of slab i in a plan of the whole. */
tz_status tz__slabs_plan_of(const tz__slabs *slabs, int i, const tz_plan *plan, tz_plan *out,
                            tz_error *error);

#endif
