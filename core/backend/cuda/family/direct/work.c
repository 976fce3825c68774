/* The work of a stage of the direct family, and the family's candidates. */
#include "backend/cuda/family/work.h"
#include "backend/cuda/family/direct/direct.h"
#include "backend/host/store.h"

#include <math.h>
#include <stdlib.h>

/* ---- The loops of a kernel ------------------------------------------------------------------- */

/* Two loops store to memory: that of inner blocks and that of blocks at the border. */
static double direct_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                           const tz_cuda_loop *loop)
{
    (void)limits;
    return tz_cuda_stored_steps(problem, direct_stored(problem), plan->vector, loop);
}

static void direct_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    tz_cuda_take_ends(code, 0.0, out);
    out->inner.waits = out->side.waits = 1.0; /* all loads of a step are under way together */
}

/* ---- A stage --------------------------------------------------------------------------------- */

/* Bytes that a step of a warp loads from the second-level cache: of its own row, and its share of the
 * rows above and below the block and of the packets at its sides. Other loads hit the first level. */
static double loaded_bytes(const direct_design *d, const tz_plan *plan)
{
    double bytes = 0.0;
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        double sides = 0.0, rows = 0.0;
        bool read = false;
        for (int dz = -d->reach; dz <= d->reach; dz++)
            for (int dy = -d->reach; dy <= d->reach; dy++) {
                const uint32_t columns = direct_columns(d, f, dz, dy);
                const uint32_t own = ((1u << d->vector) - 1u) << d->reach;
                read = read || columns;
                rows = fmax(rows, columns ? abs(dy) : 0);
                sides = columns & ~own ? 1.0 : sides;
            }
        bytes +=
            (double)tz_problem_element_size(d->problem, f) * read *
            (32.0 * d->vector * (1.0 + 2.0 * rows / direct_warps(plan)) + 2.0 * sides * d->vector);
    }
    return bytes;
}

static void direct_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const int *geometry = job->shape->geometry;
    const double chunk = geometry[0], wide = geometry[1], high = geometry[2];
    const double planes = (double)problem->elements[2], chunks = ceil(planes / chunk);
    direct_design d;
    direct_design_make(&d, problem, job->plan);
    const double inner_x = fmax(0.0, wide - (d.below[0] > 0) - (d.above[0] > 0));
    const double inner_y = fmax(0.0, high - (d.below[1] > 0) - (d.above[1] > 0));
    const double inner_z = fmax(0.0, chunks - (d.below[2] > 0) - (d.above[2] > 0));
    const double inner = inner_x * inner_y * inner_z, all = wide * high * chunks;
    const double warps = direct_warps(job->plan), steps = planes / chunks;
    tz_cuda_add_part(out, "inner", &job->steps->inner, inner * warps, steps);
    tz_cuda_add_part(out, inner > 0.0 ? "border" : "all", &job->steps->side, (all - inner) * warps,
                     steps);
    const double loaded = loaded_bytes(&d, job->plan), ghosts = d.below[2] + d.above[2];
    /* If all blocks of a layer run at once, the next layer finds the planes between them in cache. */
    const double at_once = (double)job->limits->multiprocessors * fmax(1.0, job->blocks);
    const double later = fmax(0.0, 1.0 - at_once / (wide * high));
    out->streams = out->marches = true;
    out->redundancy = 1.0;
    tz_cuda_count_ghosts(out, loaded, ghosts, later * ghosts / fmin(chunk, planes));
    for (int p = 0; p < out->parts_count; p++)
        out->parts[p].bytes = loaded;
    out->ahead_bytes = job->plan->ahead * loaded;
    const double written = out->write_bytes / tz_cuda_bytes_of(problem).written;
    const uint32_t handed = tz_problem_written(problem) & ~direct_stored(problem);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (handed >> f & 1)
            out->write_bytes -= written * (double)tz_problem_element_size(problem, f);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static void direct_candidates(tz_cuda_plans *plans)
{
    tz_cuda_plans_add(plans, 1, 0, 0);
    tz_cuda_plans_add(plans, 1, 0, 8);
}

const tz_cuda_planner direct_planner = {
    .steps = direct_steps,
    .parts = direct_parts,
    .work = direct_work,
    .candidates = direct_candidates,
};
