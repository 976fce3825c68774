/* Reductions and averages of a field on a GPU, for state.c and snapshot.c. */
#include "backend/cuda/reduce.h"

#include "backend/cuda/family/family.h"
#include "backend/host/reduce.h"
#include "base/average.h"
#include "base/embed.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

TZ_EMBED(tz_cuda_text_reduce, "cuda/reduce.cuh");

enum {
    WARPS_OF_BLOCK = TZ_CUDA_REDUCE_THREADS / 32,
    GROUP_MAX = 32,
    GROUPS_OF_WARP = 4 /* at least, before groups grow, so that all warps end at the same time */
};

_Static_assert(sizeof(tz_cuda_record) == 7 * 8 && sizeof(tz_cuda_reduce_arguments) == 12 * 8 &&
                   sizeof(tz_cuda_shrink_arguments) == 9 * 8,
               "the device compiler lays them out without gaps");

struct tz_cuda_reducer {
    tz_cuda *cuda;
    tz_cuda_queue *queue;
    const tz_problem *problem;
    tz_cuda_kernel kernels[TZ_ELEMENTS][TZ_CUDA_NUMBERS_END];
    tz_cuda_kernel stored[TZ_FIELDS_MAX][TZ_CUDA_NUMBERS_END]; /* of fields not as computed */
    tz_cu_pointer record;
    tz_cu_pointer results; /* sums or values */
    size_t results_bytes;
    tz_cu_pointer edges;
    int edges_nx, edges_ny; /* values of the edges; 0: no edges yet */
    size_t edges_bytes;
};

/* ---- Text ------------------------------------------------------------------------------------ */

const char *tz_cuda_reduce_kernel(tz_cuda_number which)
{
    static const char *const names[] = {"", "tz_numbers", "tz_finite", "tz_difference",
                                        "tz_shrink"};
    return names[which];
}

void tz_cuda_reduce_emit(tz_cuda_text *text, tz_dtype dtype, const char *memory,
                         tz_cuda_number which)
{
    const tz_element_type *type = tz_element_type_of_array(dtype);
    const bool real = tz_type_is_real(type->type), bits = tz_type_is_bits(type->type);
    const char *word = type->size == 8 ? "unsigned long long" : "unsigned int";
    const char *cell = real ? type->c_type : tz_type_keyword(type->type);
    tz_cuda_emit(text,
                 "#define TZ_CELL %s\n#define TZ_MEMORY %s\n#define TZ_CELL_WORD %s\n#define "
                 "TZ_CELL_BITS %d\n"
                 "#define TZ_CELL_REAL %d\n#define TZ_SEGMENT %d\n#define TZ_ONLY %d\n"
                 "#line 1 \"reduce.cuh\"\n%s",
                 cell, memory ? memory : cell, bits ? "tz_word" : word, bits, real,
                 TZ_REDUCE_SEGMENT, (int)which, tz_cuda_text_reduce);
}

/* ---- Arguments and results ------------------------------------------------------------------- */

/* Replace the extents of a slab by those of its own cells, which begin after `*skipped` elements
 * and are, from number *first on, cells of the whole grid. */
static void narrow(tz_cuda_reduce_arguments *a, const tz_problem *slab, int64_t *skipped)
{
    const int axis = slab->dims - 1;
    const int64_t low = slab->slab.low, count = slab->slab.high - low;
    const int64_t strides[TZ_AXES] = {1, a->pitch, a->plane};
    const int64_t cells[TZ_AXES] = {1, a->columns, a->columns * a->rows}; /* of a slice */
    *skipped = low * strides[axis];
    a->first = (slab->slab.first + low) * cells[axis];
    if (axis == 0)
        a->elements = a->columns = count;
    else if (axis == 1)
        a->rows = count;
    else
        a->planes = count;
}

int64_t tz_cuda_reduce_arguments_fill(tz_cuda_reduce_arguments *a, const tz_problem *problem,
                                      int field, const tz_cuda_array *array, tz_cu_pointer other,
                                      int64_t warps)
{
    int64_t skipped = 0;
    *a = (tz_cuda_reduce_arguments){
        .pitch = array->pitch,
        .plane = array->plane,
        .elements = problem->elements[0],
        .columns = problem->extent[0],
        .rows = problem->extent[1],
        .planes = problem->extent[2],
        .group = 1,
    };
    if (problem->slab.of)
        narrow(a, problem, &skipped);
    const tz_cu_pointer bytes = (tz_cu_pointer)skipped * tz_problem_element_size(problem, field);
    a->cells = array->cells + bytes;
    a->other = other + bytes;
    const int64_t segments =
        (a->elements + TZ_REDUCE_SEGMENT - 1) / TZ_REDUCE_SEGMENT * a->rows * a->planes;
    /* Groups of a slab would not be groups of the whole grid. */
    while (!problem->slab.of && a->group < GROUP_MAX &&
           segments / (2 * a->group) >= GROUPS_OF_WARP * warps)
        a->group *= 2;
    return (segments + a->group - 1) / a->group;
}

int64_t tz_cuda_shrink_arguments_fill(tz_cuda_shrink_arguments *a, const tz_problem *problem,
                                      int field, const tz_cuda_array *array, int64_t z, int nx,
                                      int ny)
{
    const int64_t most = (problem->extent[0] - 1) / nx + 2; /* columns of a value */
    const bool even = problem->extent[0] % nx == 0;
    const int64_t columns = even ? problem->extent[0] / nx : most;
    const size_t size = tz_problem_element_size(problem, field);
    *a = (tz_cuda_shrink_arguments){
        .cells = array->cells + (tz_cu_pointer)(z * array->plane) * size,
        .pitch = array->pitch,
        .elements = problem->elements[0],
        .width = 1,
        .steps = columns <= TZ_AVERAGE_LANES ? 1 : 2,
        .nx = nx,
        .ny = ny,
        .strands = problem->bits ? 32 : 1,
    };
    while (a->width < TZ_AVERAGE_LANES && a->width < columns)
        a->width *= 2;
    a->apart = (nx + a->strands - 1) / a->strands;
    const int64_t numbers = (int64_t)a->apart * a->strands * ny, of_warp = 32 / a->width;
    return (numbers + of_warp - 1) / of_warp;
}

void tz_cuda_shrink_edges(const tz_problem *problem, int nx, int ny, double *edges)
{
    for (int i = 0; i <= nx; i++)
        *edges++ = tz_average_edge(problem->extent[0], nx, i);
    for (int j = 0; j <= ny; j++)
        *edges++ = tz_average_edge(problem->extent[1], ny, j);
}

tz_cuda_record tz_cuda_record_start(void)
{
    return (tz_cuda_record){.low = INT64_MAX, .high = INT64_MAX, .first = INT64_MAX};
}

/* The number that tz_ordered() of the kernels turned into this integer. */
static double from_ordered(int64_t bits)
{
    double value;
    if (bits < 0)
        bits ^= INT64_MAX;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void tz_cuda_record_add(const tz_cuda_record *record, const tz_problem *own, const double *sums,
                        int64_t sums_count, tz_reduce_sums *out)
{
    const int64_t of_row = (own->elements[0] + TZ_REDUCE_SEGMENT - 1) / TZ_REDUCE_SEGMENT;
    const int64_t rows = own->dims == 3 ? own->extent[1] : 1;
    int64_t low, high;
    tz_problem_own(own, &low, &high);
    const int64_t first = own->slab.first + low;
    double *to = out->sums + (own->dims == 1 ? first / TZ_REDUCE_SEGMENT : first * rows * of_row);
    double least = from_ordered(record->low), most = -from_ordered(record->high);
    out->count = own->slab.of ? out->count : sums_count;
    out->population += (int64_t)record->population;
    out->not_finite += (int64_t)record->not_finite;
    out->hash += record->hash;
    out->first = record->first < out->first ? record->first : out->first;
    if (sums) {
        memcpy(to, sums, (size_t)sums_count * sizeof *sums);
    } else { /* integers, whose order does not matter */
        const int64_t cells = own->extent[0] * rows * (own->dims == 1 ? 1 : high - low);
        memset(to, 0, (size_t)sums_count * sizeof *to);
        to[0] = (double)record->population;
        least = (int64_t)record->population == cells ? 1.0 : 0.0;
        most = record->population > 0 ? 1.0 : 0.0;
    }
    out->low = least < out->low ? least : out->low;
    out->high = most > out->high ? most : out->high;
}

double tz_cuda_record_difference(const tz_cuda_record *record)
{
    const int64_t bits = -record->difference;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- On a GPU -------------------------------------------------------------------------------- */

tz_status tz_cuda_reducer_create(tz_cuda_reducer **out, tz_cuda *cuda, tz_cuda_queue *queue,
                                 const tz_problem *problem, tz_error *error)
{
    tz_cuda_reducer *reducer = calloc(1, sizeof *reducer);
    *out = NULL;
    if (!reducer)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    reducer->cuda = cuda;
    reducer->queue = queue;
    reducer->problem = problem;
    tz_status status = tz_cuda_allocate(cuda, &reducer->record, sizeof(tz_cuda_record), error);
    if (status) {
        tz_cuda_reducer_destroy(reducer);
        return status;
    }
    *out = reducer;
    return TZ_OK;
}

void tz_cuda_reducer_destroy(tz_cuda_reducer *reducer)
{
    if (!reducer)
        return;
    for (int k = 0; k < TZ_CUDA_NUMBERS_END; k++) {
        for (int t = 0; t < TZ_ELEMENTS; t++)
            tz_cuda_unload(reducer->cuda, &reducer->kernels[t][k]);
        for (int f = 0; f < TZ_FIELDS_MAX; f++)
            tz_cuda_unload(reducer->cuda, &reducer->stored[f][k]);
    }
    tz_cuda_free(reducer->cuda, reducer->record);
    tz_cuda_free(reducer->cuda, reducer->results);
    tz_cuda_free(reducer->cuda, reducer->edges);
    free(reducer);
}

static tz_status kernel_of(tz_cuda_reducer *reducer, int field, tz_cuda_number which,
                           tz_cuda_kernel **out, tz_error *error)
{
    const tz_dtype dtype = tz_problem_dtype(reducer->problem, field);
    char memory[TZ_CUDA_MEMORY_TYPE_SIZE];
    const bool stored = !tz_problem_as_computed(reducer->problem, field);
    tz_cuda_kernel *kernel =
        stored ? &reducer->stored[field][which]
               : &reducer->kernels[tz_element_type_of_array(dtype)->element][which];
    *out = kernel;
    if (kernel->function)
        return TZ_OK;
    tz_cuda_text text = {0};
    tz_cuda_reduce_emit(
        &text, dtype, stored ? tz_cuda_memory_type(reducer->problem, field, memory) : NULL, which);
    return tz_cuda_load_text(reducer->cuda, kernel, &text, tz_cuda_reduce_kernel(which), error);
}

/* Make *memory at least so large; its contents may be lost. */
static tz_status make_room(tz_cuda_reducer *reducer, tz_cu_pointer *memory, size_t *room,
                           size_t bytes, tz_error *error)
{
    if (bytes <= *room)
        return TZ_OK;
    tz_cuda_free(reducer->cuda, *memory);
    *memory = 0;
    *room = 0;
    const tz_status status = tz_cuda_allocate(reducer->cuda, memory, bytes, error);
    if (!status)
        *room = bytes;
    return status;
}

/* Upload in the order of the queue. Memory that is not pinned is read before this returns: the
 * driver keeps a copy of it. */
static tz_status put(const tz_cuda_reducer *reducer, tz_cu_pointer to, const void *from,
                     size_t bytes, tz_error *error)
{
    return tz_cuda_queue_upload(reducer->cuda, reducer->queue, to, from, bytes, error);
}

/* Download; done when this returns. */
static tz_status get(const tz_cuda_reducer *reducer, void *to, tz_cu_pointer from, size_t bytes,
                     tz_error *error)
{
    const tz_status status =
        tz_cuda_queue_download(reducer->cuda, reducer->queue, to, from, bytes, error);
    return status ? status : tz_cuda_queue_wait(reducer->cuda, reducer->queue, error);
}

static tz_status launch(const tz_cuda_reducer *reducer, const tz_cuda_kernel *kernel,
                        int64_t blocks, void *arguments, tz_error *error)
{
    const int grid[3] = {(int)blocks, 1, 1}, block[3] = {TZ_CUDA_REDUCE_THREADS, 1, 1};
    void *pointers[] = {arguments};
    return tz_cuda_launch(reducer->cuda, reducer->queue, kernel, grid, block, 0, false, pointers,
                          error);
}

/* Blocks that run on the GPU at once. */
static int64_t blocks_at_once(const tz_cuda_reducer *reducer, const tz_cuda_kernel *kernel)
{
    const int registers = (kernel->registers + 7) / 8 * 8 * TZ_CUDA_REDUCE_THREADS;
    const int of_registers = registers > 0 ? 65536 / registers : 8, of_warps = 64 / WARPS_OF_BLOCK;
    const int blocks = of_registers < of_warps ? of_registers : of_warps;
    return (int64_t)(blocks > 0 ? blocks : 1) * tz_cuda_device_of(reducer->cuda)->multiprocessors;
}

/* Runs a kernel over a field. Returns its record and, if `sums` is given, the sums (malloc'd). */
static tz_status run(tz_cuda_reducer *reducer, int field, tz_cuda_number which,
                     const tz_cuda_array *array, tz_cu_pointer other, tz_cuda_record *record,
                     double **sums, int64_t *sums_count, tz_error *error)
{
    tz_cuda_kernel *kernel;
    tz_cuda_reduce_arguments arguments;
    tz_status status = kernel_of(reducer, field, which, &kernel, error);
    if (status)
        return status;
    int64_t blocks = blocks_at_once(reducer, kernel);
    const int64_t groups = tz_cuda_reduce_arguments_fill(&arguments, reducer->problem, field, array,
                                                         other, blocks * WARPS_OF_BLOCK);
    const int64_t needed = (groups + WARPS_OF_BLOCK - 1) / WARPS_OF_BLOCK;
    blocks = needed < blocks ? needed : blocks;
    const bool summed = sums && !reducer->problem->bits;
    const size_t bytes = summed ? (size_t)groups * sizeof(double) : 0;
    *record = tz_cuda_record_start();
    if (sums_count)
        *sums_count = groups;
    status = make_room(reducer, &reducer->results, &reducer->results_bytes, bytes, error);
    if (!status)
        status = put(reducer, reducer->record, record, sizeof *record, error);
    arguments.record = reducer->record;
    arguments.sums = reducer->results;
    if (!status)
        status = launch(reducer, kernel, blocks, &arguments, error);
    if (!status)
        status = get(reducer, record, reducer->record, sizeof *record, error);
    if (status || !summed)
        return status;
    *sums = malloc(bytes);
    if (!*sums)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to reduce a field");
    return get(reducer, *sums, reducer->results, bytes, error);
}

tz_status tz_cuda_reduce(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array,
                         tz_reduce_sums *sums, tz_error *error)
{
    tz_cuda_record record;
    double *own = NULL;
    int64_t count = 0;
    const tz_status status =
        run(reducer, field, TZ_CUDA_NUMBERS, array, 0, &record, &own, &count, error);
    if (!status)
        tz_cuda_record_add(&record, reducer->problem, own, count, sums);
    free(own);
    return status;
}

tz_status tz_cuda_all_finite(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array,
                             bool *finite, tz_error *error)
{
    tz_cuda_record record;
    *finite = true;
    if (!tz_type_is_real(reducer->problem->stencil->fields[field].type))
        return TZ_OK;
    const tz_status status =
        run(reducer, field, TZ_CUDA_FINITE, array, 0, &record, NULL, NULL, error);
    *finite = !status && record.not_finite == 0;
    return status;
}

tz_status tz_cuda_difference(tz_cuda_reducer *reducer, int field, const tz_cuda_array *a,
                             const tz_cuda_array *b, double *out, tz_error *error)
{
    tz_cuda_record record;
    const tz_status status =
        run(reducer, field, TZ_CUDA_DIFFERENCE, a, b->cells, &record, NULL, NULL, error);
    *out = status ? NAN : tz_cuda_record_difference(&record);
    return status;
}

/* Upload the edges, unless those of the last call can be used again. */
static tz_status place_edges(tz_cuda_reducer *reducer, int nx, int ny, tz_error *error)
{
    if (reducer->edges_nx == nx && reducer->edges_ny == ny)
        return TZ_OK;
    const size_t bytes = ((size_t)nx + (size_t)ny + 2) * sizeof(double);
    double *edges = malloc(bytes);
    if (!edges)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a picture");
    tz_cuda_shrink_edges(reducer->problem, nx, ny, edges);
    reducer->edges_nx = reducer->edges_ny = 0;
    tz_status status = make_room(reducer, &reducer->edges, &reducer->edges_bytes, bytes, error);
    if (!status)
        status = put(reducer, reducer->edges, edges, bytes, error);
    if (!status) {
        reducer->edges_nx = nx;
        reducer->edges_ny = ny;
    }
    free(edges);
    return status;
}

tz_status tz_cuda_shrink(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array, int64_t z,
                         int nx, int ny, double *values, tz_error *error)
{
    tz_cuda_kernel *kernel;
    tz_cuda_shrink_arguments arguments;
    const size_t bytes = (size_t)nx * (size_t)ny * sizeof *values;
    tz_status status = kernel_of(reducer, field, TZ_CUDA_SHRINK, &kernel, error);
    if (!status)
        status = place_edges(reducer, nx, ny, error);
    if (!status)
        status = make_room(reducer, &reducer->results, &reducer->results_bytes, bytes, error);
    if (status)
        return status;
    const int64_t warps =
        tz_cuda_shrink_arguments_fill(&arguments, reducer->problem, field, array, z, nx, ny);
    arguments.edges_x = reducer->edges;
    arguments.edges_y = reducer->edges + ((size_t)nx + 1) * sizeof(double);
    arguments.values = reducer->results;
    status =
        launch(reducer, kernel, (warps + WARPS_OF_BLOCK - 1) / WARPS_OF_BLOCK, &arguments, error);
    return status ? status : get(reducer, values, reducer->results, bytes, error);
}
