/* Fields in device memory, and the arguments that a launch passes: for families, and for the
 * kernels of reductions and updates. */
#include "backend/cuda/family/arguments.h"

#include "backend/host/store.h"
#include <limits.h>
#include <string.h>

/* What every driver takes as arguments of a kernel. */
enum { ARGUMENTS_BYTES = 4096 };

/* ---- Fields ---------------------------------------------------------------------------------- */

int64_t tz_cuda_pitch(const tz_problem *problem)
{
    return (problem->elements[0] + 31) / 32 * 32;
}

uint32_t tz_cuda_fields_of_role(const tz_problem *problem, tz_role role)
{
    uint32_t fields = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == role)
            fields |= 1u << f;
    return fields;
}

int tz_cuda_vector_least(const tz_problem *problem)
{
    enum { COPIED_LEAST = 4 }; /* bytes of an asynchronous copy */
    int least = 1;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        while (least * tz_problem_element_size(problem, f) < COPIED_LEAST)
            least *= 2;
    return least;
}

int tz_cuda_value_words(const tz_problem *problem, int field)
{
    return (int)tz_problem_computed_type(problem, field)->size / 4;
}

uint32_t tz_cuda_fields_of_packets(const tz_problem *problem, int vector)
{
    uint32_t fields = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (vector * tz_problem_element_size(problem, f) > TZ_CUDA_PACKET_BYTES)
            fields |= 1u << f;
    return fields;
}

size_t tz_cuda_field_bytes(const tz_problem *problem, int field)
{
    return (size_t)(tz_cuda_pitch(problem) * problem->elements[1] * problem->elements[2]) *
           tz_problem_element_size(problem, field);
}

tz_cuda_box tz_cuda_box_of(const tz_problem *problem, int f, const tz_box *box)
{
    const size_t size = tz_problem_element_size(problem, f);
    const size_t row = (size_t)tz_cuda_pitch(problem) * size;
    const size_t plane = row * (size_t)problem->elements[1];
    return (tz_cuda_box){
        .row_bytes = (size_t)(box->high[0] - box->low[0]) * size,
        .rows = (size_t)(box->high[1] - box->low[1]),
        .planes = (size_t)(box->high[2] - box->low[2]),
        .device_offset =
            (size_t)box->low[0] * size + (size_t)box->low[1] * row + (size_t)box->low[2] * plane,
        .device_row_pitch = row,
        .device_plane_pitch = plane,
    };
}

/* ---- The launches of a stage ----------------------------------------------------------------- */

/* How many of the passes `from` to before `to` write a field. */
static int count_writes(const tz_problem *problem, int field, int from, int to)
{
    int count = 0;
    for (int p = from; p < to; p++)
        count += problem->stencil->passes[p].writes >> field & 1;
    return count;
}

/* The last pass that writes a field leaves it in its next copy, so the one before must not. */
tz_cuda_copy tz_cuda_writes(const tz_problem *problem, int pass, int field)
{
    const int later = count_writes(problem, field, pass + 1, problem->stencil->passes_count);
    return pass >= 0 && later % 2 == 1 ? TZ_CUDA_BETWEEN : TZ_CUDA_NEXT;
}

tz_cuda_copy tz_cuda_reads(const tz_problem *problem, int pass, int field)
{
    for (int p = pass - 1; p >= 0; p--)
        if (problem->stencil->passes[p].writes >> field & 1)
            return tz_cuda_writes(problem, p, field);
    return TZ_CUDA_NOW;
}

size_t tz_cuda_between(const tz_problem *problem, int field)
{
    size_t at = 0;
    for (int f = 0; f < field; f++)
        if (count_writes(problem, f, 0, problem->stencil->passes_count) > 1)
            at += tz_cuda_field_bytes(problem, f);
    return at;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

int tz_cuda_arguments_constants(const tz_stencil *stencil)
{
    return stencil->constants_count <= 64 ? 64 : (stencil->constants_count + 63) / 64 * 64;
}

/* The value past the first fixed side stands for all if they are the same. */
static int first_fixed(const tz_problem *problem)
{
    for (int side = 0; side < 2 * problem->dims; side++)
        if (tz_boundary_has_value(problem->boundary[side / 2][side % 2]))
            return side;
    return 0;
}

int tz_cuda_edges(const tz_problem *problem)
{
    const int first = first_fixed(problem);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int side = first; side < 2 * problem->dims; side++)
            if (tz_boundary_has_value(problem->boundary[side / 2][side % 2]) &&
                problem->boundary_value[f][side] != problem->boundary_value[f][first])
                return TZ_SIDES;
    return 1;
}

static size_t fixed_size(const tz_problem *problem)
{
    const tz_stencil *stencil = problem->stencil;
    return (size_t)stencil->fields_count * (size_t)(16 + 8 * tz_cuda_edges(problem)) +
           (size_t)tz_cuda_arguments_constants(stencil) * 8 + 3 * 8 + 12 * 4 +
           (problem->slab.of ? 4 * 4 : 0) + (problem->points ? sizeof(tz_cuda_point_arguments) : 0);
}

static int count_varying(const tz_stencil *stencil)
{
    int count = 0;
    for (int k = 0; k < stencil->constants_count; k++)
        count += stencil->constants[k].varies != 0;
    return count;
}

int tz_cuda_varying_slots(const tz_problem *problem)
{
    const int varying = count_varying(problem->stencil);
    const int64_t fit = (ARGUMENTS_BYTES - (int64_t)fixed_size(problem)) / 8;
    return varying == 0 ? 0 : fit > varying ? (int)fit : varying;
}

int tz_cuda_iterations_max(const tz_problem *problem)
{
    const int varying = count_varying(problem->stencil);
    return varying == 0 ? INT_MAX : tz_cuda_varying_slots(problem) / varying;
}

size_t tz_cuda_arguments_size(const tz_problem *problem)
{
    return fixed_size(problem) + (size_t)tz_cuda_varying_slots(problem) * 8;
}

/* The values of constants that vary, of `height` iterations. */
static tz_status fill_varying(const tz_problem *problem, int height, int64_t step, char *at,
                              tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    tz_slot constants[TZ_CONSTANTS_MAX];
    tz_status status = TZ_OK;
    if (height > tz_cuda_iterations_max(problem))
        return tz_error_set(error, TZ_BACKEND, "height",
                            "a launch of %d iterations has no room for the constants that vary: "
                            "use a height up to %d",
                            height, tz_cuda_iterations_max(problem));
    for (int t = 0; t < height && !status; t++) {
        status = tz_problem_constants_at(problem, step + t, constants, error);
        for (int k = 0; k < stencil->constants_count; k++)
            if (stencil->constants[k].varies) {
                memcpy(at, &constants[k], sizeof *constants);
                at += sizeof *constants;
            }
    }
    return status;
}

/* A boundary value as cells are computed with it. */
static void put_edge(const tz_problem *problem, int field, double value, char *at)
{
    tz_problem_element(problem, field, value, at);
    if (tz_problem_as_computed(problem, field))
        return;
    tz_problem_to_computed(problem, field, at, 1, &value);
    tz_problem_computed_type(problem, field)->put(&value, 0, 1, at);
}

/* The offsets are those of the device compiler. */
tz_status tz_cuda_arguments_fill(const tz_problem *problem, const tz_cuda_shape *shape, int height,
                                 int64_t step, const tz_cu_pointer *in, const tz_cu_pointer *out,
                                 tz_cu_pointer scratch, void *arguments, tz_error *error)
{
    const int fields = problem->stencil->fields_count;
    const int64_t pitch = tz_cuda_pitch(problem), plane = pitch * problem->elements[1];
    char *at = arguments;
    const int edges = tz_cuda_edges(problem), first = first_fixed(problem);
    memset(at, 0, tz_cuda_arguments_size(problem));
    memcpy(at, in, (size_t)fields * 8);
    at += fields * 8;
    memcpy(at, out, (size_t)fields * 8);
    at += fields * 8;
    for (int f = 0; f < fields; f++)
        for (int side = 0; side < edges; side++, at += 8)
            put_edge(problem, f, problem->boundary_value[f][edges == 1 ? first : side], at);
    const size_t constants = (size_t)tz_cuda_arguments_constants(problem->stencil);
    memcpy(at, problem->constants, sizeof(tz_slot) * constants);
    at += sizeof(tz_slot) * constants;
    const int varying = tz_cuda_varying_slots(problem);
    const tz_status status = varying ? fill_varying(problem, height, step, at, error) : TZ_OK;
    at += sizeof(tz_slot) * (size_t)varying;
    memcpy(at, &scratch, 8);
    memcpy(at + 8, &step, 8);
    memcpy(at + 16, &plane, 8);
    const int32_t numbers[] = {
        (int32_t)problem->elements[0], (int32_t)problem->elements[1],
        (int32_t)problem->elements[2], (int32_t)pitch,
        (int32_t)problem->extent[0],   height,
    };
    memcpy(at + 24, numbers, sizeof numbers);
    at += 24 + sizeof numbers;
    memcpy(at, shape->geometry, sizeof shape->geometry);
    at += sizeof shape->geometry;
    if (problem->slab.of) {
        const int64_t n = problem->elements[problem->dims - 1];
        const int32_t slab[] = {(int32_t)problem->slab.first,
                                (int32_t)problem->slab.of->extent[problem->dims - 1],
                                (int32_t)shape->low, (int32_t)(shape->high > 0 ? shape->high : n)};
        memcpy(at, slab, sizeof slab);
    }
    return status;
}
