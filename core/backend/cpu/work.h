/* The work of a stage of the cpu backend, for the models. Instructions come from the machine code
 * of row functions (x86/walk.h), bytes and redundancy from geometry (kernels/cpu/stage.h). */
#ifndef TZ_CORE_BACKEND_CPU_WORK_H
#define TZ_CORE_BACKEND_CPU_WORK_H

#include "backend/cpu/x86/walks.h"
#include "base/machine.h"
#include "kernels/cpu/stage.h"
#include "model/work.h"
#include "stencil/problem.h"

/* `skewed`: a stage of the family "skew". The arrays of `stage` are not used. `walks` keeps the walks of this
 * problem's row functions for further calls; NULL: they are not kept. Errors: TZ_MEMORY; TZ_UNSUPPORTED as of
 * tz_walker_create() and tz_walker_walk(). */
tz_status tz_cpu_work(const tz_problem *problem, const tz_stage *stage, bool skewed,
                      const tz_machine *machine, tz_walks *walks, tz_model_work *out,
                      tz_error *error);

#endif
