/* Predicts and measures a jump, and compares it with the best plan of a prediction table. Called by
 * core/cli for trapeze predict. */
#include "predict/jump.h"

#include "jump/probe.h"
#include "predict/measure.h"
#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 5 };

static const tz_model_side sides[] = {[TZ_DFT] = TZ_MODEL_PERIODIC,
                                      [TZ_DCT_II] = TZ_MODEL_CLAMP,
                                      [TZ_DCT_I] = TZ_MODEL_MIRROR,
                                      [TZ_DST_I] = TZ_MODEL_FIXED};

/* Steps that take longer than `jump_s`. */
static int64_t steps_over(double jump_s, double iteration_s)
{
    const double steps = iteration_s > 0 ? floor(jump_s / iteration_s) + 1 : INFINITY;
    return steps < 1e18 ? (int64_t)steps : INT64_MAX;
}

/* Whether fields of 0 become others: on a patch with static fields that are not 0. */
static tz_status look_for_source(const tz_problem *in_double, const tz_linear *linear, bool *affine,
                                 tz_error *error)
{
    tz_patch patch = {.cells = 0};
    double *memory = NULL;
    tz_status status = tz_patch_create(&patch, in_double, error);
    if (!status && !(memory = calloc((size_t)(3 * patch.cells), sizeof *memory)))
        status = tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
    for (int f = 0; !status && f < in_double->stencil->fields_count; f++)
        if (in_double->stencil->fields[f].role == TZ_STATIC)
            tz_patch_set(&patch, f, 1.0, 1.0, 1);
    if (!status) {
        const double *in[TZ_LINEAR_FIELDS_MAX] = {memory, memory};
        double *out = memory + patch.cells, *both[TZ_LINEAR_FIELDS_MAX] = {out, out + patch.cells};
        tz_patch_apply(&patch, in, both, 0);
        for (int64_t i = 0; i < linear->fields_count * patch.cells; i++)
            *affine = *affine || out[i] != 0.0;
    }
    for (int i = 0; !status && i < linear->fields_count; i++)
        for (int axis = 0; axis < linear->dims; axis++)
            if (linear->transform[axis] == TZ_DST_I)
                for (int side = 0; side < 2; side++)
                    *affine = *affine ||
                              in_double->boundary_value[linear->field[i]][2 * axis + side] != 0.0;
    free(memory);
    tz_patch_destroy(&patch);
    return status;
}

/* On a grid this shows when it is tried there; passes of radius 1 one after the other are fine. */
static tz_status check_sides(const tz_problem *problem, const tz_linear *linear, tz_error *error)
{
    /* An iteration of several time steps has single ones near these sides. */
    const int steps = problem->stencil->steps > 1 ? problem->stencil->steps : 1;
    const bool wide = tz_stencil_radius(problem->stencil) > steps;
    for (int t = 0; wide && t < linear->terms_count; t++)
        for (int axis = 0; axis < linear->dims; axis++) {
            const tz_transform transform = linear->transform[axis];
            if ((transform == TZ_DCT_II || transform == TZ_DST_I) &&
                abs(linear->terms[t].offset[axis]) > 1)
                return tz_error_set(
                    error, TZ_UNSUPPORTED, problem->stencil->id,
                    "it cannot be jumped, because it reads more than 1 cell past the %s sides of "
                    "axis %c: only with radius 1 does a transform fit these; use mirror or "
                    "periodic sides",
                    tz_boundary_name(problem->boundary[axis][0]), "xyz"[axis]);
        }
    return TZ_OK;
}

tz_status tz_jump_predict(tz_jump_prediction *out, const tz_workload *workload,
                          const tz_prediction_table *table, int64_t steps, tz_error *error)
{
    const tz_problem *problem = &workload->problem;
    tz_problem in_double = tz_problem_in_double(problem);
    in_double.narrow = NULL; /* fields have double precision in memory, too */
    tz_jump_range ranges[TZ_FIELDS_MAX];
    tz_linear linear = {.dims = 0};
    *out = (tz_jump_prediction){.steps = steps};
    if (workload->place.devices)
        return tz_error_set(error, TZ_UNSUPPORTED, "jump",
                            "the time of a jump is predicted for one device: leave out --devices");
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        ranges[f] = (tz_jump_range){0.0, 1.0};
    tz_status status = tz_jump_describe(&linear, problem, error);
    if (!status)
        status = tz_jump_probe(&linear, &in_double, ranges, error);
    if (!status)
        status = check_sides(problem, &linear, error);
    if (!status)
        status = look_for_source(&in_double, &linear, &out->affine, error);
    tz_model_jump jump = {.axes = linear.dims,
                          .fields = linear.fields_count,
                          .affine = out->affine,
                          .element_bytes = (int)tz_problem_real(problem)->size,
                          .is_gpu = workload->is_gpu,
                          .threads = workload->place.threads};
    for (int axis = 0; axis < linear.dims; axis++) {
        jump.extent[axis] = (double)linear.extent[axis];
        jump.side[axis] = sides[linear.transform[axis]];
    }
    tz_linear_clear(&linear);
    if (!status)
        status = tz_model_jump_predict(&jump, &workload->device, &out->jump, error);
    out->iteration_s = table->rows[table->best].prediction.time_s;
    out->from = steps_over(out->jump.seconds, out->iteration_s);
    return status;
}

tz_status tz_jump_measure(tz_jump_prediction *out, const tz_workload *workload,
                          const tz_prediction_table *table, int ordinal, tz_error *error)
{
    const tz_plan *plan = &table->rows[table->best].plan;
    const tz_measuring how = {.round_s = workload->is_gpu ? 0.05 : 0.2,
                              .rest = workload->is_gpu ? TZ_MEASURE_REST : 0};
    tz_measured stepping = {.rounds = 0}, jumps = {.rounds = 0};
    tz_bench *bench;
    if (!workload->is_here)
        return tz_error_set(error, TZ_UNSUPPORTED, workload->device.name,
                            "this device is not in this machine, so nothing can be measured");
    tz_status status = tz_bench_create(&bench, workload, NULL, ordinal, plan->height, false, error);
    if (status)
        return status;
    status = tz_bench_measure(bench, plan, ROUNDS, &how, &stepping, error);
    if (!status)
        status =
            tz_bench_jump(bench, out->steps, ROUNDS, &jumps, &out->create_s, &out->facts, error);
    tz_bench_destroy(bench);
    if (status)
        return status;
    out->rounds = jumps.rounds;
    out->measured_s = jumps.taken_s;
    out->low_s = jumps.low_s;
    out->high_s = jumps.high_s;
    out->measured_iteration_s = stepping.taken_s;
    out->measured_from = steps_over(out->measured_s, out->measured_iteration_s);
    return TZ_OK;
}
