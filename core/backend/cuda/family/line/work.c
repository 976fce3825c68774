/* The work of a stage of the 1-D stream family, and the family's candidates. */
#include "backend/cuda/family/work.h"
#include "backend/cuda/family/line/line.h"
#include "model/constants.h"

#include <math.h>

/* A loop of fewer instructions is not a loop over iterations. */
#define INSTRUCTIONS_LEAST 8.0

static double line_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         const tz_cuda_loop *loop)
{
    (void)limits;
    if (loop->parent >= 0 || tz_work_mix_sum(&loop->way) < INSTRUCTIONS_LEAST ||
        (tz_stencil_reach(problem->stencil) > 0 && loop->way.of[TZ_WORK_SHUFFLE] == 0.0))
        return 0.0;
    return plan->ahead > 0 ? plan->ahead : LINE_UNROLLED;
}

/* Of one iteration: the loop is as long at all heights. */
static double line_updates(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan)
{
    (void)problem;
    (void)limits;
    return plan->vector;
}

static void line_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    tz_cuda_take_ends(code, TZ_FIT_DIVERGED, out);
}

static void line_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    const double warps = plan->warps, strip = 32.0 * plan->vector;
    const double blocks = out->blocks, border = fmin(blocks, 2.0);
    tz_cuda_add_part(out, "inner", &job->steps->inner, (blocks - border) * warps, plan->height);
    tz_cuda_add_part(out, "border", &job->steps->side, border * warps, plan->height);
    out->redundancy =
        tz_cuda_count_redundancy(out, strip, tz_cuda_elements_of(problem) * plan->height);
    const double loaded =
        blocks * warps * strip * (bytes.state + bytes.fixed + bytes.streamed * plan->height);
    out->ghost_bytes = fmax(0.0, loaded - out->read_bytes);
    out->ahead_bytes = plan->ahead * strip * bytes.streamed;
    out->streamed_bytes = tz_cuda_elements_of(problem) * plan->height * bytes.streamed;
    for (int p = 0; p < out->parts_count; p++) {
        out->parts[p].bytes = strip * bytes.streamed;
        out->parts[p].late = 0.0;
    }
}

static void line_candidates(tz_cuda_plans *plans)
{
    static const tz_cuda_variant wide[] = {{.vector = 16}};
    tz_cuda_plans_add_heights(plans, 64, wide, 1);
}

const tz_cuda_planner line_planner = {
    .steps = line_steps,
    .updates = line_updates,
    .parts = line_parts,
    .work = line_work,
    .candidates = line_candidates,
};
