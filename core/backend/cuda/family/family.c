#include "backend/cuda/family/family.h"

#include "backend/host/store.h"
#include "base/names.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Files of kernels/cuda and of the public headers, found by the assembler through the build's
 * -Wa,-I. */
#define TEXT(symbol, file)                                                                         \
    __asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"" file "\"\n.byte 0\n.popsection\n");   \
    extern const char symbol[] __attribute__((visibility("hidden")));
#define TZ_CUDA_TEXTS(D)                                                                           \
    D(device)                                                                                      \
    D(common)                                                                                      \
    D(numbers)                                                                                     \
    D(values)                                                                                      \
    D(update)                                                                                      \
    D(update_kernel)                                                                               \
    D(plain)                                                                                       \
    D(plain_kernel)                                                                                \
    D(tile)                                                                                        \
    D(tile_kernel)                                                                                 \
    D(line)                                                                                        \
    D(line_kernel)                                                                                 \
    D(rows)                                                                                        \
    D(rows_cell)                                                                                   \
    D(rows_ring)                                                                                   \
    D(rows_kernel)                                                                                 \
    D(planes)                                                                                      \
    D(planes_border)                                                                               \
    D(planes_read)                                                                                 \
    D(planes_cell)                                                                                 \
    D(planes_kernel)                                                                               \
    D(direct)                                                                                      \
    D(direct_kernel)                                                                               \
    D(resident)                                                                                    \
    D(resident_exchange)                                                                           \
    D(resident_kernel)                                                                             \
    D(resident_tile)                                                                               \
    D(block)                                                                                       \
    D(block_kernel)
#define TZ_CUDA_PUBLIC(D) D(math_double) D(math_single) D(math_angle) D(math_power) D(rows_names)
#define TZ_CUDA_TEXT(name) TEXT(tz_cuda_text_##name, "cuda/" #name ".cuh")
#define TZ_CUDA_PUBLIC_TEXT(name) TEXT(tz_cuda_text_##name, "trapeze/" #name ".h")
TZ_CUDA_TEXTS(TZ_CUDA_TEXT)
TZ_CUDA_PUBLIC(TZ_CUDA_PUBLIC_TEXT)
#define TZ_CUDA_SPECTRAL(D) D(spectral) D(spectral_complex) D(spectral_symbol) D(spectral_power)
#define TZ_CUDA_SPECTRAL_TEXT(name) TEXT(tz_cuda_text_##name, #name ".h")
TZ_CUDA_SPECTRAL(TZ_CUDA_SPECTRAL_TEXT)

#define TZ_CUDA_HEADER(name) {#name ".cuh", tz_cuda_text_##name},
#define TZ_CUDA_PUBLIC_HEADER(name) {"trapeze/" #name ".h", tz_cuda_text_##name},
#define TZ_CUDA_SPECTRAL_HEADER(name) {"kernels/" #name ".h", tz_cuda_text_##name},
const tz_cuda_header tz_cuda_headers[] = {TZ_CUDA_TEXTS(TZ_CUDA_HEADER) TZ_CUDA_PUBLIC(
    TZ_CUDA_PUBLIC_HEADER) TZ_CUDA_SPECTRAL(TZ_CUDA_SPECTRAL_HEADER)};
const size_t tz_cuda_headers_count = sizeof tz_cuda_headers / sizeof *tz_cuda_headers;

/* ---- Families -------------------------------------------------------------------------------- */

static const tz_cuda_family *const families[][TZ_AXES + 1] = {
    /* by preference, then by dimension */
    {NULL, &tz_cuda_family_line, &tz_cuda_family_rows, &tz_cuda_family_planes},
    {NULL, &tz_cuda_family_tile, &tz_cuda_family_tile, &tz_cuda_family_tile},
    {NULL, &tz_cuda_family_resident, &tz_cuda_family_resident, &tz_cuda_family_resident},
    {NULL, NULL, NULL, &tz_cuda_family_direct},
    {NULL, &tz_cuda_family_block, &tz_cuda_family_block, &tz_cuda_family_block},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* What every driver takes as arguments of a kernel. */
enum { ARGUMENTS_BYTES = 4096 };
/* Steps in whose time a block starts. */
enum { CHUNK_STARTS = 4 };

tz_status tz_cuda_family_find(const char *name, const tz_problem *problem,
                              const tz_cuda_family **out, tz_error *error)
{
    char known[128] = "";
    *out = NULL;
    for (int i = 0; i < FAMILIES; i++) {
        const tz_cuda_family *family = families[i][problem->dims];
        if (!family)
            continue;
        if (strcmp(family->name, name) == 0)
            *out = family;
        strcat(strcat(known, known[0] ? ", " : ""), family->name);
    }
    if (*out)
        return TZ_OK;
    return tz_error_set(error, TZ_UNKNOWN, "family",
                        "'%s' is no family of the cuda backend in %d-D; it has %s", name,
                        problem->dims, known);
}

bool tz_cuda_family_at(int index, int dims, const tz_cuda_family **out)
{
    *out = index < FAMILIES ? families[index][dims] : NULL;
    return index < FAMILIES;
}

int tz_cuda_handed(const tz_cuda_family *family, const tz_problem *problem, int field)
{
    const tz_stencil *stencil = problem->stencil;
    if (!family->hands || problem->slab.of || stencil->passes_count > 1)
        return -1;
    const int from = tz_stencil_takes(stencil, &stencil->passes[0], field);
    return from >= 0 && stencil->fields[from].type == stencil->fields[field].type ? from : -1;
}

int tz_cuda_threads(const tz_cuda_family *family, const tz_plan *plan)
{
    return 32 * (plan->warps > 0 ? plan->warps : family->warps);
}

const char *tz_cuda_refusal(const tz_cuda_family *family, const tz_problem *problem)
{
    return family->refuses ? family->refuses(problem) : NULL;
}

const char *tz_cuda_family_name(int index)
{
    return index < FAMILIES ? families[index][TZ_AXES]->name : NULL;
}

int64_t tz_cuda_pitch(const tz_problem *problem)
{
    return (problem->elements[0] + 31) / 32 * 32;
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

static tz_status complete_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                               tz_error *error)
{
    const tz_cuda_family *family;
    const tz_plan given = *plan;
    if (plan->family[0]) {
        tz_status status = tz_cuda_family_find(plan->family, problem, &family, error);
        if (status)
            return status;
        const char *why = tz_cuda_refusal(family, problem);
        if (why)
            return tz_error_set(error, TZ_UNSUPPORTED, "family",
                                "'%s' %s: leave the family out or name another",
                                problem->stencil->id, why);
        return family->plan(problem, limits, plan, error);
    }
    /* The first family that accepts the stencil and the given part of the plan. */
    tz_error first = {0};
    tz_status status = TZ_UNSUPPORTED;
    for (int i = 0; i < FAMILIES; i++) {
        family = families[i][problem->dims];
        *plan = given;
        if (family && family->claims && !tz_cuda_refusal(family, problem) &&
            family->claims(problem, limits, plan))
            return TZ_OK;
    }
    for (int i = 0; status && i < FAMILIES; i++) {
        family = families[i][problem->dims];
        if (!family || tz_cuda_refusal(family, problem))
            continue;
        *plan = given;
        tz_error reason = {0};
        status = family->plan(problem, limits, plan, &reason);
        if (status && !first.code)
            first = reason;
    }
    if (!status)
        return TZ_OK;
    if (!first.code)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "no family of the cuda backend supports '%s': use --backend cpu",
                            problem->stencil->id);
    if (error)
        *error = first;
    return first.code;
}

/* ---- Text and arguments ---------------------------------------------------------------------- */

int64_t tz_cuda_choose_chunk(int64_t length, int64_t tiles, int64_t at_once, int64_t before,
                             int64_t group)
{
    int64_t best = length, best_cost = INT64_MAX;
    for (int64_t chunks = 1; chunks <= length; chunks++) {
        const int64_t chunk = (length + chunks - 1) / chunks;
        const int64_t blocks = tiles * ((length + chunk - 1) / chunk);
        const int64_t steps = (chunk + before + group - 1) / group * group;
        const int64_t cost = (blocks + at_once - 1) / at_once * (steps + CHUNK_STARTS);
        if (cost < best_cost) {
            best = chunk;
            best_cost = cost;
        }
    }
    return best;
}

tz_status tz_cuda_shape_all(const tz_cuda_family *family, const tz_problem *problem,
                            const tz_limits *limits, const tz_plan *plan, int blocks,
                            tz_cuda_shape *shape, tz_error *error)
{
    return family->shape(problem, limits, plan, blocks, problem->elements[problem->dims - 1], shape,
                         error);
}

tz_status tz_cuda_shape_span(const tz_cuda_family *family, const tz_problem *problem,
                             const tz_limits *limits, const tz_plan *plan, int blocks, int64_t low,
                             int64_t high, tz_cuda_shape *shape, tz_error *error)
{
    /* In 1-D strips begin at multiples of 32 columns. */
    const int64_t length = high - (problem->dims == 1 ? low / 32 * 32 : low);
    const tz_status status = family->shape(problem, limits, plan, blocks, length, shape, error);
    shape->low = low;
    shape->high = high;
    return status;
}

tz_status tz_cuda_source(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         char **source, tz_error *error)
{
    const tz_cuda_family *family;
    tz_cuda_text text = {0};
    tz_status status = tz_cuda_family_find(plan->family, problem, &family, error);
    if (status)
        return status;
    family->emit(&text, problem, limits, plan);
    if (text.failed) {
        free(text.at);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a kernel's text");
    }
    *source = text.at;
    return TZ_OK;
}

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
           (problem->slab.of ? 4 * 4 : 0);
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

/* The most iterations of a launch. */
static int iterations_max(const tz_problem *problem)
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
    if (height > iterations_max(problem))
        return tz_error_set(error, TZ_BACKEND, "height",
                            "a launch of %d iterations has no room for the constants that vary: "
                            "use a height up to %d",
                            height, iterations_max(problem));
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
            tz_problem_element(problem, f, problem->boundary_value[f][edges == 1 ? first : side],
                               at);
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

/* ---- Plans of stencils with constants that vary ------------------------------------------------ */

tz_status tz_cuda_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                       tz_error *error)
{
    const int most = iterations_max(problem);
    const tz_plan given = *plan;
    tz_status status = complete_plan(problem, limits, plan, error);
    const char *knob = plan->unroll > 0  ? "unroll"
                       : plan->swap > 0  ? "swap"
                       : plan->lanes > 0 ? "lanes"
                                         : NULL;
    const int dims = plan->unroll > 0 || plan->swap > 0 ? 2 : 3;
    if (!status && knob && (problem->dims != dims || strcmp(plan->family, "stream") != 0))
        return tz_error_set(
            error, TZ_UNSUPPORTED, knob,
            "only the family \"stream\" takes '%s', in %d-D; this is \"%s\" in %d-D", knob, dims,
            plan->family, problem->dims);
    if (!status && plan->height > most && given.height == 0) {
        *plan = given;
        plan->height = most;
        status = complete_plan(problem, limits, plan, error);
    }
    if (!status && plan->height > most)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d has no room for the constants of '%s' that vary: use a "
                            "height up to %d",
                            plan->height, problem->stencil->id, most);
    if (!status && plan->launch_iterations > most)
        plan->launch_iterations = most / plan->height * plan->height;
    return status;
}
