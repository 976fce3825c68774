/* The table of families: finds them, completes their plans, makes their texts. The backend, the
 * planner and the tests go over it; nothing else names a family. */
#include "backend/cuda/family/family.h"

#include "base/embed.h"
#include "model/constants.h"
#include "stencil/footprint.h"
#include "stencil/points.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------ */

/* All families, by preference: the name of the tz_cuda_family, and its own texts of
 * kernels/cuda. */
#define FAMILIES(F, D)                                                                             \
    F(line, D(line) D(line_kernel))                                                                \
    F(rows, D(rows) D(rows_cell) D(rows_ring) D(rows_kernel))                                      \
    F(planes, D(planes) D(planes_border) D(planes_read) D(planes_cell) D(planes_kernel))           \
    F(direct,                                                                                      \
      D(divide) D(direct) D(direct_fused) D(direct_kernel) D(direct_wide) D(direct_wide_kernel))   \
    F(resident, D(resident) D(resident_exchange) D(resident_kernel) D(resident_tile))

#define DECLARE(name, texts) extern const tz_cuda_family tz_cuda_family_##name;
#define ADDRESS(name, texts) &tz_cuda_family_##name,
#define TEXTS_OF(name, texts) texts
#define NONE(text)
FAMILIES(DECLARE, NONE)
static const tz_cuda_family *const families[] = {FAMILIES(ADDRESS, NONE)};
enum { FAMILIES_COUNT = sizeof families / sizeof *families };

/* Texts that sources include: of kernels/cuda, of the public headers, of kernels. */
#define COMMON(D)                                                                                  \
    D(device)                                                                                      \
    D(stored) D(common) D(point_lists) D(numbers) D(values) D(read) D(update) D(update_kernel)
#define TEXTS(D) COMMON(D) FAMILIES(TEXTS_OF, D)
#define PUBLIC(D)                                                                                  \
    D(math_double) D(math_single) D(math_angle) D(math_power) D(math_arc) D(math_more) D(rows_names)
#define SPECTRAL(D) D(spectral) D(spectral_complex) D(spectral_symbol) D(spectral_power)
#define INCLUDE_TEXT(name) TZ_EMBED(tz_cuda_text_##name, "cuda/" #name ".cuh");
#define INCLUDE_PUBLIC(name) TZ_EMBED(tz_cuda_text_##name, "trapeze/" #name ".h");
#define INCLUDE_SPECTRAL(name) TZ_EMBED(tz_cuda_text_##name, #name ".h");
TEXTS(INCLUDE_TEXT)
PUBLIC(INCLUDE_PUBLIC)
SPECTRAL(INCLUDE_SPECTRAL)

#define HEADER(name) {#name ".cuh", tz_cuda_text_##name},
#define HEADER_PUBLIC(name) {"trapeze/" #name ".h", tz_cuda_text_##name},
#define HEADER_SPECTRAL(name) {"kernels/" #name ".h", tz_cuda_text_##name},
const tz_cuda_header tz_cuda_headers[] = {TEXTS(HEADER) PUBLIC(HEADER_PUBLIC)
                                              SPECTRAL(HEADER_SPECTRAL)};
const size_t tz_cuda_headers_count = sizeof tz_cuda_headers / sizeof *tz_cuda_headers;

tz_status tz_cuda_need_kernel(tz_cuda *cuda, tz_cuda_kernel *kernel, const char *source,
                              const char *function, tz_error *error)
{
    return kernel->function ? TZ_OK
                            : tz_cuda_load(cuda, kernel, source, function, tz_cuda_headers,
                                           tz_cuda_headers_count, error);
}

static tz_status no_text(tz_error *error)
{
    return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a kernel's text");
}

tz_status tz_cuda_load_text(tz_cuda *cuda, tz_cuda_kernel *out, tz_cuda_text *text,
                            const char *function, tz_error *error)
{
    const tz_status status =
        text->failed ? no_text(error) : tz_cuda_need_kernel(cuda, out, text->text, function, error);
    free(text->text);
    return status;
}

/* The families of the product, then those added; NULL after the last. */
static const tz_cuda_family *family_of(int index)
{
    return index < FAMILIES_COUNT ? families[index]
                                  : tz_cuda_families_added[index - FAMILIES_COUNT];
}

bool tz_cuda_family_at(int index, int dims, const tz_cuda_family **out)
{
    const tz_cuda_family *family = family_of(index);
    *out = family && family->dims_low <= dims && dims <= family->dims_high ? family : NULL;
    return family != NULL;
}

/* Versions of a family for other dimensions have its name, too. */
const char *tz_cuda_family_name(int index)
{
    for (int i = 0; family_of(i); i++) {
        bool first = true;
        for (int k = 0; k < i; k++)
            first = first && strcmp(family_of(k)->name, family_of(i)->name) != 0;
        if (first && index-- == 0)
            return family_of(i)->name;
    }
    return NULL;
}

tz_status tz_cuda_family_find(const char *name, const tz_problem *problem,
                              const tz_cuda_family **out, tz_error *error)
{
    char known[128] = "";
    *out = NULL;
    const tz_cuda_family *family;
    for (int i = 0; tz_cuda_family_at(i, problem->dims, &family); i++) {
        if (!family)
            continue;
        if (strcmp(family->name, name) == 0)
            *out = family;
        strcat(strcat(known, known[0] ? ", " : ""), family->name);
    }
    if (*out)
        return TZ_OK;
    return tz_error_set(error, TZ_UNKNOWN, "family",
                        "'%s' is no family of the cuda backend in %d-D; it has %s%s", name,
                        problem->dims, known, tz_cuda_families_left_out);
}

int tz_cuda_taken(const tz_problem *problem, int field)
{
    const tz_stencil *stencil = problem->stencil;
    if (problem->slab.of || stencil->passes_count > 1)
        return -1;
    const int from = tz_points_takes(problem->points, stencil, &stencil->passes[0], field);
    return from >= 0 && stencil->fields[from].type == stencil->fields[field].type ? from : -1;
}

int tz_cuda_handed(const tz_cuda_family *family, const tz_problem *problem, int field)
{
    return family->hands ? tz_cuda_taken(problem, field) : -1;
}

/* ---- One copy ------------------------------------------------------------------------------- */

static bool read_at_own(const tz_problem *problem, const tz_pass *pass, int field)
{
    const tz_reads reads = tz_stencil_reads(problem->stencil, pass, field);
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (reads.low[axis] != 0 || reads.high[axis] != 0)
            return false;
    return true;
}

/* The field whose array a pass writes `field` to. */
static int array_written(const tz_problem *problem, int field)
{
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (tz_cuda_taken(problem, f) == field)
            return f;
    return field;
}

/* Is a field read at one place? Others that were not found stop the kernel. */
static bool read_at_one(const tz_footprint *reads, int field, int offset[TZ_AXES])
{
    int count = 0;
    for (int dz = -TZ_RADIUS_MAX; dz <= TZ_RADIUS_MAX; dz++)
        for (int dy = -TZ_RADIUS_MAX; dy <= TZ_RADIUS_MAX; dy++)
            for (int dx = -TZ_RADIUS_MAX; dx <= TZ_RADIUS_MAX; dx++)
                if (tz_footprint_row(reads, field, dz, dy) >> (TZ_RADIUS_MAX + dx) & 1) {
                    const int at[TZ_AXES] = {dx, dy, dz};
                    memcpy(offset, at, sizeof at);
                    count++;
                }
    return count == 1;
}

static bool are_opposite(const tz_cuda_pairs *pairs, int f, int g)
{
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (pairs->offset[f][axis] != -pairs->offset[g][axis])
            return false;
    return f != g;
}

/* Finds partners of the fields of a mask, which are read at one place each. */
static const char *match(const tz_problem *problem, uint32_t single, tz_cuda_pairs *out)
{
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        static const int own[TZ_AXES] = {0};
        if (!(single >> f & 1) || out->partner[f] >= 0)
            continue;
        if (memcmp(out->offset[f], own, sizeof own) == 0) {
            out->partner[f] = f;
            out->count++;
            continue;
        }
        for (int g = f + 1; g < problem->stencil->fields_count && out->partner[f] < 0; g++)
            if (single >> g & 1 && out->partner[g] < 0 && are_opposite(out, f, g) &&
                tz_problem_element_size(problem, f) == tz_problem_element_size(problem, g)) {
                out->partner[f] = g;
                out->partner[g] = f;
                out->count += 2;
            }
        if (out->partner[f] < 0)
            return "has a field that is read beside the cell, and none that is read on the other "
                   "side, so it takes two copies of its fields";
        for (int axis = 0; axis < TZ_AXES; axis++)
            for (int side = 0; side < 2; side++)
                if (out->offset[f][axis] != 0 &&
                    !tz_boundary_wraps(problem->boundary[axis][side]) &&
                    !tz_boundary_has_value(problem->boundary[axis][side]))
                    return "can have one copy of its fields with periodic and fixed sides alone";
    }
    return NULL;
}

const char *tz_cuda_pairs_find(const tz_problem *problem, tz_cuda_pairs *out)
{
    const tz_stencil *s = problem->stencil;
    uint32_t single = 0;
    *out = (tz_cuda_pairs){0};
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        out->partner[f] = -1;
    if (!problem->one_copy)
        return NULL;
    if (problem->bits || tz_cuda_fields_of_role(problem, TZ_STREAMED))
        return "has fields of bits or streamed ones, which take two copies";
    if (problem->slab.of)
        return "is cut into slabs, which take two copies of the fields";
    for (int p = 0; p < s->passes_count; p++) {
        tz_footprint reads;
        tz_footprint_probe(problem, &s->passes[p], &reads);
        for (int f = 0; f < s->fields_count; f++) {
            const int array = array_written(problem, f);
            if (!(s->passes[p].writes >> f & 1) || tz_cuda_taken(problem, f) >= 0 ||
                read_at_own(problem, &s->passes[p], array))
                continue;
            if (s->passes_count > 1 || array != f || !read_at_one(&reads, f, out->offset[f]))
                return "reads a field at several places beside the cell in the pass that changes "
                       "it, so it takes two copies of its fields";
            single |= UINT32_C(1) << f;
        }
    }
    if (single && problem->points)
        return "has receivers or sources, with which it takes two copies of its fields";
    return match(problem, single, out);
}

/* The launches of an iteration. */
static int launches_of(const tz_cuda_family *family, const tz_problem *problem)
{
    return family->fuses && family->fuses(problem) ? 1 : problem->stencil->passes_count;
}

int tz_cuda_turns(const tz_cuda_family *family, const tz_problem *problem, int height)
{
    return family->apart ? height * launches_of(family, problem) : 1;
}

tz_cuda_turn tz_cuda_turn_of(const tz_cuda_family *family, const tz_problem *problem, int height,
                             int number)
{
    const int passes = problem->stencil->passes_count;
    if (!family->apart)
        return (tz_cuda_turn){.height = height, .pass = -1, .ends = true};
    if (launches_of(family, problem) < passes)
        return (tz_cuda_turn){number, 1, -1, true};
    return (tz_cuda_turn){number / passes, 1, number % passes, number % passes == passes - 1};
}

bool tz_cuda_in_spans(const tz_cuda_family *family, const tz_problem *problem, int height)
{
    return !family->whole && tz_cuda_turns(family, problem, height) == 1;
}

int tz_cuda_threads(const tz_cuda_family *family, const tz_plan *plan)
{
    return 32 * (plan->warps > 0 ? plan->warps : family->warps);
}

const char *tz_cuda_refusal(const tz_cuda_family *family, const tz_problem *problem)
{
    if (problem->bits && family->no_bits)
        return family->no_bits;
    if (problem->stencil->passes_count > 1 && family->no_passes)
        return family->no_passes;
    if (tz_cuda_fields_of_role(problem, TZ_STREAMED) && family->no_streamed)
        return family->no_streamed;
    if (problem->points && !family->points)
        return "has receivers or sources, which this family does not serve";
    if (!tz_problem_all_as_computed(problem) && !family->stored)
        return "has fields that are stored as half, which this family does not serve";
    if (problem->one_copy) {
        tz_cuda_pairs pairs;
        const char *why = tz_cuda_pairs_find(problem, &pairs);
        if (why || !family->once || (pairs.count > 0 && !family->settle))
            return why ? why : "has one copy of its fields, which this family does not serve";
    }
    return family->refuses ? family->refuses(problem) : NULL;
}

tz_reach tz_cuda_pass_reach(const tz_problem *problem, const tz_pass *pass)
{
    tz_reach reach = tz_pass_reach(problem->stencil, pass);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const int low = reach.low[axis], high = reach.high[axis], larger = low > high ? low : high;
        if (tz_boundary_reflects(problem->boundary[axis][0]))
            reach.high[axis] = larger;
        if (tz_boundary_reflects(problem->boundary[axis][1]))
            reach.low[axis] = larger;
    }
    return reach;
}

tz_reach tz_cuda_reach(const tz_problem *problem)
{
    tz_reach sum = {{0}, {0}};
    for (int p = 0; p < problem->stencil->passes_count; p++) {
        const tz_reach reach = tz_cuda_pass_reach(problem, &problem->stencil->passes[p]);
        for (int axis = 0; axis < TZ_AXES; axis++) {
            sum.low[axis] += reach.low[axis];
            sum.high[axis] += reach.high[axis];
        }
    }
    return sum;
}

/* ---- Plans ---------------------------------------------------------------------------------- */

static bool owns(const tz_cuda_family *family, const char *knob)
{
    for (int k = 0; k < TZ_CUDA_OWN_KNOBS; k++)
        if (family->own[k] && strcmp(family->own[k], knob) == 0)
            return true;
    return false;
}

/* Knobs that some families alone have: to another, they are an error. */
static tz_status check_own_knobs(const tz_cuda_family *family, const tz_problem *problem,
                                 const tz_plan *plan, tz_error *error)
{
    for (int i = 0; i < FAMILIES_COUNT; i++)
        for (int knob = 0; knob < TZ_PLAN_KNOBS_COUNT; knob++) {
            const char *name = tz_plan_knobs[knob].name;
            if (tz_plan_get(plan, knob) > 0 && owns(families[i], name) && !owns(family, name))
                return tz_error_set(error, TZ_UNSUPPORTED, name,
                                    "only the family \"%s\" takes '%s', in %d-D; this is "
                                    "\"%s\" in %d-D",
                                    families[i]->name, name, families[i]->dims_low, family->name,
                                    problem->dims);
        }
    return TZ_OK;
}

static tz_status check_common(const tz_cuda_family *family, const tz_plan *plan, tz_error *error)
{
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (plan->tile[axis] < 0 || (family->tile_max > 0 && plan->tile[axis] > family->tile_max))
            return tz_error_set(error, TZ_RANGE, "tile", "extent %d is %" PRId64 "; use 1 or more",
                                axis + 1, plan->tile[axis]);
    if (family->height_max > 0 && (plan->height < 0 || plan->height > family->height_max))
        return tz_error_set(error, TZ_RANGE, "height", "height %d is out of range; 1 to %d",
                            plan->height, family->height_max);
    return TZ_OK;
}

/* Completes a plan of a family; with `claim` only if the family is the best one. */
static tz_status family_plan(const tz_cuda_family *family, bool claim, const tz_problem *problem,
                             const tz_limits *limits, tz_plan *plan, tz_error *error)
{
    const bool given = plan->height > 0;
    tz_status status = check_common(family, plan, error);
    plan->why[0] = '\0';
    if (!status && claim)
        status = family->claims(problem, limits, plan) ? TZ_OK : TZ_UNSUPPORTED;
    else if (!status)
        status = family->plan(problem, limits, plan, error);
    if (!status)
        status = check_own_knobs(family, problem, plan, error);
    strcpy(plan->family, family->name);
    if (!plan->why[0])
        snprintf(plan->why, sizeof plan->why, "%s height", given ? "given" : "default");
    return status;
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
        return family_plan(family, false, problem, limits, plan, error);
    }
    /* The first family that accepts the stencil and the given part of the plan. */
    tz_error first = {0};
    tz_status status = TZ_UNSUPPORTED;
    for (int i = 0; tz_cuda_family_at(i, problem->dims, &family); i++) {
        *plan = given;
        if (family && family->claims && !tz_cuda_refusal(family, problem) &&
            family_plan(family, true, problem, limits, plan, NULL) == TZ_OK)
            return TZ_OK;
    }
    for (int i = 0; status && tz_cuda_family_at(i, problem->dims, &family); i++) {
        if (!family || family->named || tz_cuda_refusal(family, problem))
            continue;
        *plan = given;
        tz_error reason = {0};
        status = family_plan(family, false, problem, limits, plan, &reason);
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

/* A launch has room for so many values of constants that vary. */
tz_status tz_cuda_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                       tz_error *error)
{
    const int most = tz_cuda_iterations_max(problem);
    const tz_plan given = *plan;
    tz_cuda_pairs pairs;
    const char *why = tz_cuda_pairs_find(problem, &pairs);
    if (why)
        return tz_error_set(error, TZ_UNSUPPORTED, "copies", "'%s' %s: leave 'copies' out",
                            problem->stencil->id, why);
    tz_status status = complete_plan(problem, limits, plan, error);
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

/* ---- Launches and texts ---------------------------------------------------------------------- */

int64_t tz_cuda_choose_chunk(int64_t length, int64_t tiles, int64_t at_once, int64_t before,
                             int64_t group)
{
    int64_t best = length, best_cost = INT64_MAX;
    for (int64_t chunks = 1; chunks <= length; chunks++) {
        const int64_t chunk = (length + chunks - 1) / chunks;
        const int64_t blocks = tiles * ((length + chunk - 1) / chunk);
        const int64_t steps = (chunk + before + group - 1) / group * group;
        const int64_t cost = (blocks + at_once - 1) / at_once * (steps + TZ_FIT_CHUNK_STARTS);
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
        free(text.text);
        return no_text(error);
    }
    *source = text.text;
    return TZ_OK;
}
