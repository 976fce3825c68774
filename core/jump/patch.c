#include "jump/patch.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_CELLS = 64 }; /* along x: many samples at a time */

double tz_patch_random(uint64_t *counter)
{
    /* splitmix64 */
    uint64_t x = *counter += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-52 - 1.0;
}

tz_status tz_patch_create(tz_patch *patch, const tz_problem *in_double, tz_error *error)
{
    const tz_stencil *stencil = in_double->stencil;
    const tz_reach reach = tz_stencil_reach_sides(stencil);
    const tz_backend *backend = &tz_backend_cpu;
    *patch = (tz_patch){.problem = *in_double, .cells = 1};
    tz_problem *problem = &patch->problem;
    problem->narrow = NULL;
    problem->slab = (tz_slab){.of = NULL};
    for (int axis = 0; axis < problem->dims; axis++) {
        /* Even, and so large that offsets differ around the edges. */
        const int span = reach.low[axis] > reach.high[axis] ? reach.low[axis] : reach.high[axis];
        const int64_t least = 2 * span + 2;
        problem->extent[axis] = axis == 0 && least < ROW_CELLS ? ROW_CELLS : least;
        problem->elements[axis] = problem->extent[axis];
        problem->boundary[axis][0] = problem->boundary[axis][1] = TZ_PERIODIC;
        patch->cells *= problem->extent[axis];
    }
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STATE)
            patch->field[patch->fields_count++] = f;
    const tz_place place = {.threads = 1};
    static const tz_streamed_source *const none[TZ_FIELDS_MAX];
    const tz_backend_context context = {.problem = problem, .streamed = none, .threads = 1};
    tz_status status = backend->plan(problem, &place, &patch->plan, error);
    return status ? status : backend->create(&patch->state, &context, error);
}

void tz_patch_destroy(tz_patch *patch)
{
    if (patch->state)
        tz_backend_cpu.destroy(patch->state);
    patch->state = NULL;
}

static tz_box whole(const tz_patch *patch)
{
    tz_box box = {{0}, {1, 1, 1}};
    memcpy(box.high, patch->problem.elements, sizeof box.high);
    return box;
}

tz_status tz_patch_set(tz_patch *patch, int field, double low, double high, uint64_t seed,
                       tz_error *error)
{
    const tz_problem *problem = &patch->problem;
    const size_t size = tz_problem_element_size(problem, field);
    const bool real = problem->stencil->fields[field].type == TZ_REAL;
    const tz_box box = whole(patch);
    uint64_t counter = seed;
    char *elements = malloc((size_t)patch->cells * size);
    if (!elements)
        return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
    for (int64_t i = 0; i < patch->cells; i++) {
        const double random = tz_patch_random(&counter);
        double value = random < -0.6   ? low
                       : random < -0.2 ? high
                                       : low + (high - low) * (random + 0.2) / 1.2;
        if (low == high)
            value = low;
        if (real) {
            memcpy(elements + (size_t)i * size, &value, size);
        } else {
            const int32_t integer = (int32_t)value;
            memcpy(elements + (size_t)i * size, &integer, size);
        }
    }
    const tz_status status = tz_backend_cpu.store(patch->state, field, &box, elements, error);
    free(elements);
    return status;
}

tz_status tz_patch_apply(tz_patch *patch, const double *const *in, double *const *out, int64_t step,
                         tz_error *error)
{
    const tz_box box = whole(patch);
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < patch->fields_count; i++)
        status = tz_backend_cpu.store(patch->state, patch->field[i], &box, in[i], error);
    if (!status)
        status = tz_backend_cpu.stage(patch->state, &patch->plan, 1, step, error);
    for (int i = 0; !status && i < patch->fields_count; i++)
        status = tz_backend_cpu.load(patch->state, patch->field[i], &box, out[i], error);
    return status;
}

int64_t tz_patch_cell(const tz_patch *patch, int64_t cell, const int offset[TZ_AXES])
{
    const int64_t *n = patch->problem.extent;
    const int64_t at[TZ_AXES] = {cell % n[0], cell / n[0] % n[1], cell / (n[0] * n[1])};
    int64_t to[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++)
        to[axis] = (at[axis] + offset[axis] + n[axis]) % n[axis];
    return to[0] + n[0] * (to[1] + n[1] * to[2]);
}
