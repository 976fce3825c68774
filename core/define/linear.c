/* The coefficients of a linear update, found by computing it. Called by the command line and
 * core/lua. */
#include "define/linear.h"

#include "stencil/problem.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdlib.h>

/* The cells that an update reads are one array of made-up values. */
typedef struct probe {
    tz_cell_access access; /* the first member: callbacks get its address */
    const int *side;
    double *cells, written;
} probe;

static const void *give(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    const probe *p = (const probe *)(const void *)access;
    const int *side = p->side;
    (void)field;
    return &p->cells[((dz + side[2] / 2) * side[1] + dy + side[1] / 2) * side[0] + dx +
                     side[0] / 2];
}

static void *take(const tz_cell_access *access, int field)
{
    (void)field;
    return &((probe *)(uintptr_t)access)->written;
}

static double update(probe *p, const tz_stencil *stencil, int at)
{
    p->access.x = p->access.y = p->access.z = p->access.step = at;
    stencil->passes[0].kernels->cell[TZ_PRECISION_RESIDUAL](&p->access);
    return p->written;
}

/* Do made-up values give the sum, in several cells and iterations? */
static bool is_sum(probe *p, const tz_stencil *stencil, const double *values, int count)
{
    for (int trial = 0; trial < 8; trial++) {
        double sum = 0, size = 0;
        for (int i = 0; i < count; i++) {
            p->cells[i] = trial ? sin(1.0 + i * (trial + 0.7)) * exp2(trial - 3) : 0;
            sum += values[i] * p->cells[i];
            size += fabs(values[i] * p->cells[i]);
        }
        if (!(fabs(update(p, stencil, 2 * trial) - sum) <= 1e-13 * size))
            return false;
    }
    return true;
}

static const char *refusal(const tz_stencil *s)
{
    if (s->fields_count != 1 || s->fields[0].role != TZ_STATE ||
        !tz_type_is_real(s->fields[0].type))
        return "it has other fields than one of real numbers";
    if (s->passes_count != 1)
        return "it has several passes";
    for (int k = 0; k < s->constants_count; k++)
        if (s->constants[k].varies)
            return "its constants change with the iteration";
    return NULL;
}

tz_status tz_define_linear(const tz_stencil *stencil, int *side, double *values, tz_error *error)
{
    const int radius = stencil->passes[0].radius;
    tz_simulation_config config = {.dims = stencil->dims, .precision = TZ_PRECISION_RESIDUAL};
    tz_problem problem;
    const char *why = refusal(stencil);
    int count = 1;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        config.extent[axis] = axis < stencil->dims ? 64 : 1;
        count *= side[axis] = axis < stencil->dims ? 2 * radius + 1 : 1;
    }
    if (why)
        return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                            "is no sum of cells with coefficients: %s; write an array", why);
    tz_status status = tz_problem_resolve(&problem, stencil, &config, error);
    if (status)
        return status;
    probe p = {.access = {.read = give,
                          .write = take,
                          .constants = problem.constants,
                          .engine = stencil->passes[0].engine},
               .side = side,
               .cells = calloc((size_t)count, sizeof *p.cells)};
    if (!p.cells)
        status = tz_error_set(error, TZ_MEMORY, stencil->id, "not enough memory");
    for (int i = 0; i < count && !status; i++) {
        p.cells[i] = 1;
        values[i] = update(&p, stencil, 0);
        p.cells[i] = 0;
    }
    if (!status && !is_sum(&p, stencil, values, count))
        status = tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                              "is no sum of cells with coefficients: what it computes from made-up "
                              "values is another number; write an array");
    free(p.cells);
    tz_problem_clear(&problem);
    return status;
}
