/* Runs a problem's cell functions on a small periodic grid. Called by probe.c to find the operator,
 * and by core/predict/jump.c. */
#include "jump/patch.h"

#include "backend/host/store.h"
#include "base/random.h"
#include <stdlib.h>
#include <string.h>

enum { ROW_CELLS = 64 }; /* along x, of 1-D and 2-D: many samples at a time */

tz_status tz_patch_create(tz_patch *patch, const tz_problem *in_double, tz_error *error)
{
    const tz_stencil *stencil = in_double->stencil;
    const tz_reach reach = tz_stencil_reach_sides(stencil);
    const uint32_t written = tz_problem_written(in_double);
    *patch = (tz_patch){.problem = in_double, .extent = {1, 1, 1}, .cells = 1};
    for (int axis = 0; axis < in_double->dims; axis++) {
        /* Even, and so large that offsets differ around the edges. */
        const int span = reach.low[axis] > reach.high[axis] ? reach.low[axis] : reach.high[axis];
        const int64_t least = 2 * span + 2;
        patch->extent[axis] =
            axis == 0 && in_double->dims < 3 && least < ROW_CELLS ? ROW_CELLS : least;
        patch->cells *= patch->extent[axis];
    }
    for (int f = 0; f < stencil->fields_count; f++) {
        if (stencil->fields[f].role == TZ_STATE)
            patch->field[patch->fields_count++] = f;
        patch->values[f] = calloc((size_t)patch->cells, sizeof(double));
        if (written >> f & 1)
            patch->next[f] = calloc((size_t)patch->cells, sizeof(double));
        if (!patch->values[f] || (written >> f & 1 && !patch->next[f]))
            return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
    }
    return TZ_OK;
}

void tz_patch_destroy(tz_patch *patch)
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        free(patch->values[f]);
        free(patch->next[f]);
    }
}

void tz_patch_set(tz_patch *patch, int field, double low, double high, uint64_t seed)
{
    const bool real = tz_type_is_real(patch->problem->stencil->fields[field].type);
    uint64_t counter = seed;
    for (int64_t i = 0; i < patch->cells; i++) {
        const double random = tz_random_real(&counter);
        double value = random < -0.6   ? low
                       : random < -0.2 ? high
                                       : low + (high - low) * (random + 0.2) / 1.2;
        if (low == high)
            value = low;
        const int32_t integer = real ? 0 : (int32_t)value;
        if (real)
            patch->values[field][i] = value;
        else
            memcpy(&patch->values[field][i], &integer, sizeof integer);
    }
}

/* What a cell update reads and writes. */
typedef struct reader {
    tz_cell_access access; /* first: callbacks cast a pointer to it */
    tz_patch *patch;
    int64_t cell;
} reader;

static const void *read_cell(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    const reader *r = (const reader *)access;
    const int offset[TZ_AXES] = {dx, dy, dz};
    return &r->patch->values[field][tz_patch_cell(r->patch, r->cell, offset)];
}

static void *write_cell(const tz_cell_access *access, int field)
{
    const reader *r = (const reader *)access;
    return &r->patch->next[field][r->cell];
}

static void run_pass(tz_patch *patch, const tz_pass *pass, int64_t step)
{
    const tz_problem *problem = patch->problem;
    const int64_t *n = problem->extent;
    reader r = {.access = {.read = read_cell,
                           .write = write_cell,
                           .constants = problem->constants,
                           .x = n[0] / 2,
                           .y = n[1] / 2,
                           .z = n[2] / 2,
                           .step = step,
                           .engine = pass->engine},
                .patch = patch};
    for (; r.cell < patch->cells; r.cell++)
        pass->kernels->cell[TZ_PRECISION_RESIDUAL](&r.access);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (pass->writes >> f & 1) {
            double *before = patch->values[f];
            patch->values[f] = patch->next[f];
            patch->next[f] = before;
        }
}

void tz_patch_apply(tz_patch *patch, const double *const *in, double *const *out, int64_t step)
{
    const tz_stencil *stencil = patch->problem->stencil;
    const size_t bytes = (size_t)patch->cells * sizeof **in;
    for (int i = 0; i < patch->fields_count; i++)
        memcpy(patch->values[patch->field[i]], in[i], bytes);
    for (int p = 0; p < stencil->passes_count; p++)
        run_pass(patch, &stencil->passes[p], step);
    for (int i = 0; i < patch->fields_count; i++)
        memcpy(out[i], patch->values[patch->field[i]], bytes);
}

int64_t tz_patch_cell(const tz_patch *patch, int64_t cell, const int offset[TZ_AXES])
{
    const int64_t *n = patch->extent;
    const int64_t at[TZ_AXES] = {cell % n[0], cell / n[0] % n[1], cell / (n[0] * n[1])};
    int64_t to[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++)
        to[axis] = (at[axis] + offset[axis] + n[axis]) % n[axis];
    return to[0] + n[0] * (to[1] + n[1] * to[2]);
}
