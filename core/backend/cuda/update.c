/* What the next iteration would change, computed on a GPU, and the kernels of iterative refinement,
 * for state.c. */
#include "backend/cuda/update.h"

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"
#include "backend/host/reduce.h"
#include "kernels/cpu/update.h"
#include <stdlib.h>
#include <string.h>

enum {
    WARPS_OF_BLOCK = TZ_CUDA_UPDATE_THREADS / 32,
    GROUP_MAX = 32,
    GROUPS_OF_WARP = 4 /* at least, before groups grow, so that all warps end at the same time */
};

struct tz_cuda_updater {
    tz_cuda *cuda;
    tz_cuda_queue *queue;
    const tz_problem *problem;
    tz_cuda_kernel kernel;
    tz_slot constants[TZ_CONSTANTS_MAX]; /* the text contains the integer ones */
    tz_cu_pointer record;                /* and the sums after it */
    size_t record_bytes;
    void *results; /* the same in pinned host memory */
};

/* ---- Text, arguments, results ---------------------------------------------------------------- */

static int largest_radius(const tz_problem *problem)
{
    int radius = problem->radius;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].radius > radius)
            radius = problem->stencil->fields[f].radius;
    return radius;
}

void tz_cuda_update_emit(tz_cuda_text *text, const tz_problem *problem)
{
    static const int64_t tile[TZ_AXES] = {1, 1, 1};
    const tz_problem in_double = tz_problem_in_double(problem);
    tz_cuda_emit_sizes(text, &in_double, 1, tile);
    tz_cuda_emit_lists(text, &in_double);
    if (problem->slab.of)
        tz_cuda_emit(text, "#define TZ_SLAB\n");
    tz_cuda_emit(text,
                 "#define TZ_SEGMENT %d\n#define TZ_UPDATE_RADIUS %d\n#include \"update.cuh\"\n",
                 TZ_UPDATE_SEGMENT, largest_radius(problem));
    if (tz_stencil_excluding(problem->stencil) >= 0)
        tz_cuda_emit(text, "#define TZ_EXCLUDING %d\n", tz_stencil_excluding(problem->stencil));
    for (int p = 0; p < problem->stencil->passes_count; p++)
        tz_cuda_emit_pass(text, problem, p);
    tz_cuda_emit(text, "#include \"update_kernel.cuh\"\n");
}

int tz_cuda_update_group(const tz_problem *problem, int64_t warps, int64_t *groups)
{
    int64_t own[TZ_AXES] = {problem->elements[0], problem->elements[1], problem->elements[2]};
    int64_t low, high;
    tz_problem_own(problem, &low, &high);
    own[problem->dims - 1] = high - low;
    const int64_t of_row = (own[0] + TZ_UPDATE_SEGMENT - 1) / TZ_UPDATE_SEGMENT;
    const int64_t segments = of_row * own[1] * own[2];
    int group = 1;
    /* Groups of a slab would not be groups of the whole grid. */
    while (!problem->slab.of && group < GROUP_MAX &&
           segments / (2 * group) >= GROUPS_OF_WARP * warps)
        group *= 2;
    *groups = (segments + group - 1) / group;
    return group;
}

tz_status tz_cuda_update_arguments(const tz_problem *problem, int group, int64_t step,
                                   const tz_cu_pointer *fields, const tz_cu_pointer *changes,
                                   tz_cu_pointer record, void *arguments, tz_error *error)
{
    static const tz_cu_pointer none[TZ_FIELDS_MAX] = {0};
    const tz_problem in_double = tz_problem_in_double(problem);
    int64_t low, high;
    tz_problem_own(problem, &low, &high);
    const tz_cuda_shape shape = {.geometry = {group, (int)low, (int)high}};
    return tz_cuda_arguments_fill(&in_double, &shape, 1, step, fields, changes ? changes : none,
                                  record, arguments, error);
}

static double negated(int64_t bits)
{
    double value;
    bits = -bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void tz_cuda_update_add(const tz_cuda_update_record *record, const tz_problem *own,
                        const double *sums, int64_t groups, tz_update_sums *out)
{
    const double largest = negated(record->largest), magnitude = negated(record->magnitude);
    out->largest = largest > out->largest ? largest : out->largest;
    out->magnitude = magnitude > out->magnitude ? magnitude : out->magnitude;
    out->count = own->slab.of ? out->count : groups;
    memcpy(out->sums + tz_update_first(own), sums, (size_t)groups * sizeof *sums);
}

/* ---- On a GPU -------------------------------------------------------------------------------- */

tz_status tz_cuda_updater_create(tz_cuda_updater **out, tz_cuda *cuda, tz_cuda_queue *queue,
                                 const tz_problem *problem, tz_error *error)
{
    tz_cuda_updater *updater = calloc(1, sizeof *updater);
    *out = updater;
    if (!updater)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    updater->cuda = cuda;
    updater->queue = queue;
    updater->problem = problem;
    return TZ_OK;
}

void tz_cuda_updater_destroy(tz_cuda_updater *updater)
{
    if (!updater)
        return;
    tz_cuda_unload(updater->cuda, &updater->kernel);
    tz_cuda_free(updater->cuda, updater->record);
    tz_cuda_host_free(updater->cuda, updater->results);
    free(updater);
}

static bool has_kernel(const tz_cuda_updater *updater)
{
    const tz_problem *problem = updater->problem;
    for (int k = 0; k < problem->stencil->constants_count; k++)
        if (!tz_type_is_real(problem->stencil->constants[k].type) &&
            !problem->stencil->constants[k].varies &&
            problem->constants[k].i != updater->constants[k].i)
            return false;
    return updater->kernel.function != NULL;
}

static tz_status need_kernel(tz_cuda_updater *updater, tz_error *error)
{
    if (has_kernel(updater))
        return TZ_OK;
    tz_cuda_text text = {0};
    tz_cuda_unload(updater->cuda, &updater->kernel);
    memcpy(updater->constants, updater->problem->constants, sizeof updater->constants);
    tz_cuda_update_emit(&text, updater->problem);
    return tz_cuda_load_text(updater->cuda, &updater->kernel, &text, TZ_CUDA_UPDATE_KERNEL, error);
}

static tz_status need_room(tz_cuda_updater *updater, size_t bytes, tz_error *error)
{
    if (bytes <= updater->record_bytes)
        return TZ_OK;
    tz_cuda_free(updater->cuda, updater->record);
    tz_cuda_host_free(updater->cuda, updater->results);
    updater->record = 0;
    updater->record_bytes = 0;
    updater->results = NULL;
    tz_status status = tz_cuda_host_allocate(updater->cuda, &updater->results, bytes, error);
    if (!status)
        status = tz_cuda_allocate(updater->cuda, &updater->record, bytes, error);
    if (!status)
        updater->record_bytes = bytes;
    return status;
}

/* Leaves the record and then the sums in updater->results. */
static tz_status run(tz_cuda_updater *updater, const tz_cu_pointer *fields,
                     const tz_cu_pointer *changes, int64_t step, int64_t *groups_count,
                     tz_error *error)
{
    union {
        uint64_t align;
        char bytes[TZ_CUDA_ARGUMENTS_MAX];
    } arguments;
    int at_once = 0;
    tz_status status = need_kernel(updater, error);
    if (!status)
        status = tz_cuda_occupancy(updater->cuda, &updater->kernel, TZ_CUDA_UPDATE_THREADS, 0,
                                   &at_once, error);
    if (status)
        return status;
    int64_t blocks = at_once * (int64_t)tz_cuda_device_of(updater->cuda)->multiprocessors, groups;
    const int group = tz_cuda_update_group(updater->problem, blocks * WARPS_OF_BLOCK, &groups);
    const int64_t needed = (groups + WARPS_OF_BLOCK - 1) / WARPS_OF_BLOCK;
    *groups_count = groups;
    blocks = blocks < 1 ? 1 : needed < blocks ? needed : blocks;
    const size_t bytes = sizeof(tz_cuda_update_record) + (size_t)groups * sizeof(double);
    status = need_room(updater, bytes, error);
    if (!status)
        status = tz_cuda_update_arguments(updater->problem, group, step, fields, changes,
                                          updater->record, arguments.bytes, error);
    if (status)
        return status;
    status = tz_cuda_queue_fill_words(updater->cuda, updater->queue, updater->record, 0,
                                      sizeof(tz_cuda_update_record) / sizeof(uint32_t), error);
    const int grid[3] = {(int)blocks, 1, 1}, block[3] = {TZ_CUDA_UPDATE_THREADS, 1, 1};
    void *pointers[] = {arguments.bytes};
    if (!status)
        status = tz_cuda_launch(updater->cuda, updater->queue, &updater->kernel, grid, block, 0,
                                false, pointers, error);
    if (!status)
        status = tz_cuda_queue_download(updater->cuda, updater->queue, updater->results,
                                        updater->record, bytes, error);
    if (!status)
        status = tz_cuda_queue_wait(updater->cuda, updater->queue, error);
    return status;
}

tz_status tz_cuda_update(tz_cuda_updater *updater, const tz_cu_pointer *fields,
                         const tz_cu_pointer *changes, int64_t step, tz_update_sums *sums,
                         tz_error *error)
{
    int64_t groups;
    const tz_status status = run(updater, fields, changes, step, &groups, error);
    const tz_cuda_update_record *record = updater->results;
    if (!status)
        tz_cuda_update_add(record, updater->problem, (const double *)(const void *)(record + 1),
                           groups, sums);
    return status;
}

/* ---- Iterative refinement -------------------------------------------------------------------- */

TZ_EMBED(tz_cuda_text_refine, "cuda/refine.cuh");

enum { THREADS = 256, BLOCKS_OF_MULTIPROCESSOR = 8 };

_Static_assert(sizeof(tz_cuda_refine_arguments) == 12 * 8,
               "the device compiler lays it out without gaps");

void tz_cuda_refine_arguments_fill(tz_cuda_refine_arguments *out, const tz_problem *solution,
                                   const tz_problem *correction)
{
    *out = (tz_cuda_refine_arguments){
        .source_per_update = solution->source_per_update,
        .pitch = tz_cuda_pitch(solution),
        .single_pitch = tz_cuda_pitch(correction),
        .nx = solution->elements[0],
        .ny = solution->elements[1],
        .nz = solution->elements[2],
    };
    out->plane = out->pitch * out->ny;
    out->single_plane = out->single_pitch * out->ny;
}

static tz_status run_kernel(tz_cuda *cuda, tz_cuda_kernel *kernel, const char *name,
                            const tz_cuda_refine_arguments *arguments, tz_error *error)
{
    tz_cuda_refine_arguments copy = *arguments;
    const tz_status status = tz_cuda_need_kernel(cuda, kernel, tz_cuda_text_refine, name, error);
    const int grid[3] = {BLOCKS_OF_MULTIPROCESSOR * tz_cuda_device_of(cuda)->multiprocessors, 1, 1};
    const int block[3] = {THREADS, 1, 1};
    void *pointers[] = {&copy};
    return status ? status
                  : tz_cuda_launch(cuda, NULL, kernel, grid, block, 0, false, pointers, error);
}

tz_status tz_cuda_refine_add(tz_cuda_refiner *refiner, tz_cuda *cuda,
                             const tz_cuda_refine_arguments *arguments, tz_error *error)
{
    return run_kernel(cuda, &refiner->add, TZ_CUDA_REFINE_ADD, arguments, error);
}

tz_status tz_cuda_refine_set(tz_cuda_refiner *refiner, tz_cuda *cuda,
                             const tz_cuda_refine_arguments *arguments, tz_error *error)
{
    return run_kernel(cuda, &refiner->set, TZ_CUDA_REFINE_SET, arguments, error);
}

void tz_cuda_refiner_clear(tz_cuda_refiner *refiner, tz_cuda *cuda)
{
    tz_cuda_unload(cuda, &refiner->add);
    tz_cuda_unload(cuda, &refiner->set);
}
