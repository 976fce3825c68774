/* What a plan of the cpu backend does in a stage: instructions from the plugin's machine code
 * (cpu/walk.h), bytes and redundancy from the geometry (cpu/stream.h). */
#ifndef TZ_CORE_BACKEND_CPU_WORK_H
#define TZ_CORE_BACKEND_CPU_WORK_H

#include "base/machine.h"
#include "kernels/cpu/stream.h"
#include "model/work.h"
#include "stencil/problem.h"

/* `stage` is the plan's; its arrays and rows are not looked at. TZ_UNSUPPORTED: see tz_walker. */
tz_status tz_cpu_work(const tz_problem *problem, const tz_stage *stage, const tz_machine *machine,
                      tz_model_work *out, tz_error *error);

#endif
