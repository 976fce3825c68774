/* When a run begins: the stencil compares fields with parameters (tz_stencil.check_run). */
#include "sim/fields.h"
#include "sim/region.h"
#include "sim/run_impl.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct inquiry {
    const tz_simulation *simulation;
    tz_status status; /* of the first question that failed */
    tz_error *error;
} inquiry;

static bool is_answerable(const inquiry *q, int field)
{
    const tz_stencil *stencil = q->simulation->problem.stencil;
    return !q->status && field >= 0 && field < tz_stencil_fields_all(stencil) &&
           stencil->fields[field].role != TZ_STREAMED;
}

static int find_range(void *context, int field, double *low, double *high)
{
    inquiry *q = context;
    tz_reduction all;
    if (!is_answerable(q, field))
        return -1;
    q->status = tz_simulation_reduce(q->simulation, field, &all, q->error);
    if (q->status)
        return -1;
    *low = all.min;
    *high = all.max;
    return 0;
}

/* The sum with each cell's weight as a sum over boxes: the grid, and for each choice of mirror sides of
 * different axes the cells beside all of them, times (-1/2)^sides. */
static int find_mean(void *context, int field, double *mean)
{
    inquiry *q = context;
    double sum = 0.0, weights = 0.0;
    if (!is_answerable(q, field))
        return -1;
    for (int choice = 0; choice < 27 && !q->status; choice++) {
        const int64_t *extent = q->simulation->problem.extent;
        tz_region region = {.mask_field = -1};
        tz_region_facts facts;
        double weight = 1.0, cells = 1.0;
        for (int axis = 0, rest = choice; axis < TZ_AXES; axis++, rest /= 3) {
            const int side = rest % 3 - 1; /* -1: the whole axis */
            const int64_t edge = side == 1 ? extent[axis] - 1 : 0;
            if (side >= 0 && (extent[axis] == 1 ||
                              !tz_boundary_reflects(q->simulation->problem.boundary[axis][side])))
                weight = 0.0;
            region.box.low[axis] = edge;
            region.box.high[axis] = side < 0 ? extent[axis] : edge + 1;
            cells *= (double)(region.box.high[axis] - edge);
            weight *= side < 0 ? 1.0 : -0.5;
        }
        if (weight == 0.0)
            continue;
        q->status = tz_simulation_reduce_region(q->simulation, field, &region, &facts, q->error);
        if (q->status)
            return -1;
        sum += weight * facts.sum;
        weights += weight * cells;
    }
    *mean = sum / weights;
    return 0;
}

tz_status tz__run_check_facts(tz_runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    const tz_problem *problem = &simulation->problem;
    const bool until_residual = r->until && !r->run->until_is_update;
    inquiry questions = {.simulation = simulation, .error = error};
    char message[400] = "";
    if (!problem->stencil->check_run || (simulation->facts_known && !until_residual))
        return TZ_OK;
    tz_run_facts facts = {.struct_size = sizeof facts,
                          .dims = problem->dims,
                          .precision = problem->precision,
                          .params = problem->params,
                          .boundary_values = problem->boundary_value[0],
                          .until_residual = until_residual ? r->run->until_residual : NAN,
                          .context = &questions,
                          .range = find_range,
                          .mean = find_mean,
                          .message = message,
                          .message_size = sizeof message};
    memcpy(facts.extent, problem->extent, sizeof facts.extent);
    memcpy(facts.boundary, problem->boundary, sizeof facts.boundary);
    const int found = problem->stencil->check_run(&facts);
    if (!questions.status && found < 0)
        questions.status =
            tz_error_set(error, found == TZ_DIVERGES ? TZ_UNSTABLE : TZ_RANGE, problem->stencil->id,
                         "%s", message[0] ? message : "the plugin refused the fields");
    simulation->facts_known = !questions.status;
    r->hopeless = found == TZ_NO_SOLUTION && until_residual;
    if (!questions.status && r->run->warns &&
        (r->hopeless || (found == TZ_WARNS && !simulation->facts_told))) {
        simulation->facts_told = true;
        r->run->warns(r->run->warns_context, message);
    }
    return questions.status;
}
