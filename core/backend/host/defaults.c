/* What a backend need not do itself. Called through the members that TZ_HOST_DEFAULTS makes. */
#include "backend/host/defaults.h"

#include <stdlib.h>
#include <string.h>

static tz_status no_memory(tz_error *error)
{
    return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a plane of cells");
}

/* A plane of a field: in 1-D and 2-D the whole field. */
static tz_box plane_of(const tz_problem *problem, int64_t z)
{
    return (tz_box){{0, 0, z}, {problem->elements[0], problem->elements[1], z + 1}};
}

static size_t plane_bytes(const tz_problem *problem, int field)
{
    return (size_t)(problem->elements[0] * problem->elements[1]) *
           tz_problem_element_size(problem, field);
}

static bool has_memory(const tz_problem *problem, int field)
{
    const tz_role role = problem->stencil->fields[field].role;
    return role == TZ_STATE || role == TZ_STATIC;
}

tz_status tz_host_default_fill(const tz_backend *backend, void *state,
                               const tz_backend_context *context, int field, const void *element,
                               tz_error *error)
{
    const tz_problem *problem = context->problem;
    const size_t size = tz_problem_element_size(problem, field),
                 bytes = plane_bytes(problem, field);
    char *plane = malloc(bytes);
    tz_status status = plane ? TZ_OK : no_memory(error);
    for (size_t at = 0; plane && at < bytes; at += size)
        memcpy(plane + at, element, size);
    for (int64_t z = 0; !status && z < problem->elements[2]; z++) {
        const tz_box box = plane_of(problem, z);
        status = backend->store(state, field, &box, plane, error);
    }
    free(plane);
    return status;
}

tz_status tz_host_default_reduce(const tz_backend *backend, const void *state,
                                 const tz_backend_context *context, int field, tz_reduce_sums *sums,
                                 tz_error *error)
{
    const tz_problem *problem = context->problem;
    const int64_t nx = problem->elements[0], ny = problem->elements[1];
    char *plane = malloc(plane_bytes(problem, field));
    tz_status status = plane ? TZ_OK : no_memory(error);
    for (int64_t z = 0; !status && z < problem->elements[2]; z++) {
        const tz_box box = plane_of(problem, z);
        const tz_host_field piece = {.origin = plane - (int64_t)plane_bytes(problem, field) * z,
                                     .row_stride = (ptrdiff_t)nx,
                                     .plane_stride = (ptrdiff_t)(nx * ny)};
        status = backend->load(state, field, &box, plane, error);
        if (!status)
            status =
                tz_reduce_add(sums, &piece, ny * z, ny * (z + 1), 0, nx, context->threads, error);
    }
    free(plane);
    return status;
}

tz_status tz_host_default_all_finite(const tz_backend *backend, const void *state,
                                     const tz_backend_context *context, bool *finite,
                                     tz_error *error)
{
    const tz_stencil *stencil = context->problem->stencil;
    tz_status status = TZ_OK;
    *finite = true;
    for (int f = 0; !status && f < stencil->fields_count; f++) {
        tz_reduction r;
        if (stencil->fields[f].role != TZ_STATE)
            continue;
        status = tz_backend_reduce(backend, state, context->problem, f, &r, error);
        *finite = *finite && !status && r.not_finite == 0;
    }
    return status;
}

/* ---- Copies on the host ---------------------------------------------------------------------- */

static tz_status copy_field(const tz_backend *from, const void *from_state, const tz_backend *to,
                            void *to_state, const tz_problem *problem, int field, tz_error *error)
{
    char *plane = malloc(plane_bytes(problem, field));
    tz_status status = plane ? TZ_OK : no_memory(error);
    for (int64_t z = 0; !status && z < problem->elements[2]; z++) {
        const tz_box box = plane_of(problem, z);
        status = from->load(from_state, field, &box, plane, error);
        if (!status)
            status = to->store(to_state, field, &box, plane, error);
    }
    free(plane);
    return status;
}

/* A state of the host's backend with the same fields. */
static tz_status copy_state(const tz_backend *backend, const void *state,
                            const tz_backend_context *context, void **out, tz_error *error)
{
    const tz_problem *problem = context->problem;
    tz_status status = tz_backend_cpu.create(out, context, error);
    for (int f = 0; !status && f < problem->stencil->fields_count; f++)
        if (has_memory(problem, f))
            status = copy_field(backend, state, &tz_backend_cpu, *out, problem, f, error);
    return status;
}

tz_status tz_host_default_update(const tz_backend *backend, void *state,
                                 const tz_backend_context *context, int64_t step,
                                 tz_update_sums *sums, tz_error *error)
{
    void *copy = NULL;
    tz_status status = copy_state(backend, state, context, &copy, error);
    if (!status)
        status = tz_backend_cpu.update(copy, step, sums, error);
    tz_backend_cpu.destroy(copy);
    return status;
}

tz_status tz_host_default_refine(const tz_backend *backend, void *state,
                                 const tz_backend_context *context, void *correction,
                                 const tz_backend_context *correction_context, int64_t step,
                                 tz_update_sums *sums, tz_error *error)
{
    const tz_refinement *fields = context->problem->stencil->refinement;
    const float zero = 0.0f;
    void *copy = NULL, *corrected = NULL;
    tz_status status = copy_state(backend, state, context, &copy, error);
    if (!status)
        status = copy_state(backend, correction, correction_context, &corrected, error);
    if (!status)
        status = tz_backend_cpu.refine(copy, corrected, step, sums, error);
    if (!status)
        status = copy_field(&tz_backend_cpu, copy, backend, state, context->problem,
                            fields->solution, error);
    if (!status)
        status = copy_field(&tz_backend_cpu, corrected, backend, correction,
                            correction_context->problem, fields->source, error);
    if (!status)
        status = backend->fill(correction, fields->solution, &zero, error);
    tz_backend_cpu.destroy(corrected);
    tz_backend_cpu.destroy(copy);
    return status;
}
