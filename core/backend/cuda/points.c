/* Points in device memory, and the launches that apply them after a pass. */
#include "backend/cuda/points.h"

#include "backend/cuda/family/family.h"
#include "base/minmax.h"
#include <stdlib.h>
#include <string.h>

TZ_EMBED(tz_cuda_text_points, "cuda/points.cuh");

enum { THREADS = 128 };

/* tz_points_arguments of the kernel. */
typedef struct kernel_arguments {
    tz_cu_pointer out[TZ_FIELDS_MAX];
    tz_cu_pointer points, added, recorded;
    int64_t count, slot;
} kernel_arguments;

static void clear_lists(tz_cuda_points *p, tz_cuda *cuda)
{
    tz_cuda_free(cuda, p->cells);
    tz_cuda_free(cuda, p->lists);
    tz_cuda_free(cuda, p->added);
    tz_cuda_free(cuda, p->recorded);
    free(p->added_index);
    free(p->recorded_index);
    free(p->staging);
    *p = (tz_cuda_points){.kernel = p->kernel};
}

void tz_cuda_points_clear(tz_cuda_points *p, tz_cuda *cuda)
{
    clear_lists(p, cuda);
    tz_cuda_unload(cuda, &p->kernel);
}

/* The elements of a row of a field: both lists are in the order of x. */
static void add_row(tz_cuda_points *p, const tz_problem *problem, const tz_points *points, int f,
                    int64_t row, tz_cuda_point *cells, int *count)
{
    static const tz_point_list none = {.count = 0};
    const tz_point_list *added = points->added[f].count > 0 ? &points->added[f] : &none;
    const tz_point_list *recorded = points->recorded[f].count > 0 ? &points->recorded[f] : &none;
    int32_t a = added->count ? added->first[row] : 0,
            r = recorded->count ? recorded->first[row] : 0;
    const int32_t a_end = added->count ? added->first[row + 1] : 0;
    const int32_t r_end = recorded->count ? recorded->first[row + 1] : 0;
    const size_t size = tz_problem_element_size(problem, f);
    while (a < a_end || r < r_end) {
        const int64_t x = tz_min(a < a_end ? added->of[a].x : INT64_MAX,
                                 r < r_end ? recorded->of[r].x : INT64_MAX);
        tz_cuda_point *cell = &cells[(*count)++];
        *cell = (tz_cuda_point){.offset = (tz_cuda_pitch(problem) * row + x) * (int64_t)size,
                                .field = f,
                                .size = (int32_t)size,
                                .add = p->adds,
                                .record = -1,
                                .origin = problem->storage[f].add,
                                .scale = problem->storage[f].scale};
        for (; a < a_end && added->of[a].x == x; a++, cell->adds++)
            p->added_index[p->adds++] = added->of[a].index;
        if (r < r_end && recorded->of[r].x == x) {
            cell->record = p->records;
            p->recorded_index[p->records++] = recorded->of[r++].index;
        }
    }
}

/* ---- By rows --------------------------------------------------------------------------------- */

/* tz_point_list of kernels/cuda/point_lists.cuh. */
typedef struct list {
    tz_cu_pointer first, x;
    int32_t base, unused;
} list;

/* The span from `low` on gets `at`, too. */
static void widen(int32_t *low, int32_t *span, int at)
{
    const bool none = *low == INT32_MAX;
    const int last = none || *low + *span < at ? at : *low + *span;
    *low = none || at < *low ? at : *low;
    *span = last - *low;
}

size_t tz_cuda_point_rows(const tz_problem *problem, const int *base, tz_cu_pointer at, char *bytes,
                          tz_cuda_point_arguments *out)
{
    const tz_points *points = problem->points;
    const int fields = problem->stencil->fields_count;
    const size_t rows = (size_t)(problem->elements[1] * problem->elements[2]);
    size_t used = 2 * (size_t)fields * sizeof(list);
    for (int k = 0; k < 2 * fields; k++) {
        const bool adds = k < fields;
        const tz_point_list *from = adds ? &points->added[k] : &points->recorded[k - fields];
        if (from->count == 0)
            continue;
        const size_t begin = used;
        used += (rows + 1 + from->count) * sizeof(int32_t);
        if (!bytes)
            continue;
        int32_t *first = (int32_t *)(void *)(bytes + begin), *x = first + rows + 1;
        ((list *)(void *)bytes)[k] =
            (list){at + begin, at + begin + (rows + 1) * sizeof *first, base[k], 0};
        memcpy(first, from->first, (rows + 1) * sizeof *first);
        for (size_t i = 0; i < from->count; i++)
            x[i] = (int32_t)from->of[i].x;
        for (size_t r = 0; r < rows; r++)
            if (first[r] < first[r + 1])
                widen(&out->low[!adds], &out->span[!adds],
                      (int)(problem->dims == 3 ? (int64_t)r / problem->elements[1] : (int64_t)r));
    }
    return used;
}

static tz_status make_rows(tz_cuda_points *p, tz_cuda *cuda, const tz_problem *problem,
                           const int *base, tz_error *error)
{
    const size_t bytes = tz_cuda_point_rows(problem, base, 0, NULL, NULL);
    char *all = calloc(1, bytes);
    tz_status status = all ? tz_cuda_allocate(cuda, &p->lists, bytes, error)
                           : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
    p->arguments = TZ_CUDA_NO_POINTS;
    if (!status)
        tz_cuda_point_rows(problem, base, p->lists, all, &p->arguments);
    if (!status)
        status = tz_cuda_upload(cuda, p->lists, all, bytes, error);
    free(all);
    return status;
}

tz_cuda_point_arguments tz_cuda_points_arguments(const tz_cuda_points *p, int64_t step)
{
    const tz_point_values *values = p->of->values;
    const int64_t k = step - values->begin;
    tz_cuda_point_arguments out = p->arguments;
    out.lists = p->lists;
    out.values_row = p->adds * (int64_t)p->real;
    out.records_row = p->records * (int64_t)values->slot;
    out.values = p->added + (tz_cu_pointer)(k * out.values_row);
    out.records = p->recorded + (tz_cu_pointer)(k * out.records_row);
    out.slot = (int32_t)values->slot;
    return out;
}

void tz_cuda_points_launched(tz_cuda_points *p, int64_t step, int height)
{
    if (p->of)
        p->rows = step + height - p->of->values->begin;
}

static size_t count_of(const tz_point_list *lists)
{
    size_t count = 0;
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        count += lists[f].count;
    return count;
}

static tz_status make_lists(tz_cuda_points *p, tz_cuda *cuda, const tz_problem *problem,
                            tz_error *error)
{
    const tz_points *points = problem->points;
    const tz_point_values *values = points->values;
    const size_t adds = count_of(points->added), records = count_of(points->recorded);
    const size_t real = tz_problem_real(problem)->size;
    tz_cuda_point *cells = malloc((adds + records + 1) * sizeof *cells);
    int count = 0, base[2 * TZ_FIELDS_MAX] = {0};
    const int fields = problem->stencil->fields_count;
    clear_lists(p, cuda);
    p->added_index = malloc((adds + 1) * sizeof *p->added_index);
    p->recorded_index = malloc((records + 1) * sizeof *p->recorded_index);
    p->staging =
        malloc((size_t)values->rows *
                   (adds * real > records * values->slot ? adds * real : records * values->slot) +
               1);
    tz_status status = cells && p->added_index && p->recorded_index && p->staging
                           ? TZ_OK
                           : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
    for (int pass = 0; pass < problem->stencil->passes_count && !status; pass++) {
        p->first[pass] = count;
        for (int f = 0; f < fields; f++) {
            if (!tz_points_due(points, problem->stencil, pass, f))
                continue;
            base[f] = p->adds;
            base[fields + f] = p->records;
            for (int64_t row = 0; row < problem->elements[1] * problem->elements[2]; row++)
                add_row(p, problem, points, f, row, cells, &count);
        }
        p->first[pass + 1] = count;
    }
    if (!status)
        status = tz_cuda_allocate(cuda, &p->cells, (size_t)count * sizeof *cells, error);
    if (!status)
        status = tz_cuda_upload(cuda, p->cells, cells, (size_t)count * sizeof *cells, error);
    if (!status)
        status = tz_cuda_allocate(cuda, &p->added, (size_t)values->rows * adds * real, error);
    if (!status)
        status = tz_cuda_allocate(cuda, &p->recorded, (size_t)values->rows * records * values->slot,
                                  error);
    if (!status)
        status = make_rows(p, cuda, problem, base, error);
    if (!status)
        status =
            tz_cuda_need_kernel(cuda, &p->kernel, tz_cuda_text_points, "tz_apply_points", error);
    free(cells);
    if (status)
        clear_lists(p, cuda);
    else
        p->of = points;
    p->of_generation = points->generation;
    p->real = real;
    p->whole = p->records == values->records;
    for (int i = 0; i < p->records; i++)
        p->whole = p->whole && p->recorded_index[i] == i;
    return status;
}

/* The values of the rows that are there, of this state's points. */
static tz_status upload_values(tz_cuda_points *p, tz_cuda *cuda, const tz_problem *problem,
                               tz_error *error)
{
    const tz_point_values *values = problem->points->values;
    const size_t size = tz_problem_real(problem)->size, row = (size_t)p->adds * size;
    const int64_t from = p->uploaded;
    char *to = p->staging;
    for (int64_t k = from; k < values->ready; k++) {
        const char *added = values->added + (size_t)(k * values->adds) * size;
        for (int i = 0; i < p->adds; i++, to += size)
            memcpy(to, added + (size_t)p->added_index[i] * size, size);
    }
    const tz_status status = tz_cuda_upload(cuda, p->added + (tz_cu_pointer)from * row, p->staging,
                                            (size_t)(values->ready - from) * row, error);
    if (!status)
        p->uploaded = values->ready;
    return status;
}

tz_status tz_cuda_points_begin(tz_cuda_points *p, tz_cuda *cuda, const tz_problem *problem,
                               int64_t step, int height, tz_error *error)
{
    const tz_points *points = problem->points;
    if (!points)
        return TZ_OK;
    const tz_point_values *values = points->values;
    if (p->of != points || p->of_generation != points->generation) {
        const tz_status status = make_lists(p, cuda, problem, error);
        if (status)
            return status;
        p->from = step - values->begin;
        p->begins = values->begin;
    } else if (p->begins != values->begin) {
        p->from = 0;
        p->begins = values->begin;
    }
    if (p->generation != values->generation)
        p->uploaded = 0;
    p->generation = values->generation;
    return p->adds > 0 && step + height - values->begin > p->uploaded
               ? upload_values(p, cuda, problem, error)
               : TZ_OK;
}

tz_status tz_cuda_points_apply(tz_cuda_points *p, tz_cuda *cuda, int pass, int64_t step,
                               const tz_cu_pointer out[TZ_FIELDS_MAX], tz_error *error)
{
    const int count = p->of ? p->first[pass + 1] - p->first[pass] : 0;
    if (count == 0)
        return TZ_OK;
    const tz_point_values *values = p->of->values;
    const int64_t k = step - values->begin;
    kernel_arguments passed = {.points =
                                   p->cells + (tz_cu_pointer)p->first[pass] * sizeof(tz_cuda_point),
                               .count = count,
                               .slot = (int64_t)values->slot};
    memcpy(passed.out, out, sizeof passed.out);
    passed.added = p->added + (tz_cu_pointer)(k * p->adds) * p->real;
    passed.recorded = p->recorded + (tz_cu_pointer)(k * p->records) * values->slot;
    tz_cuda_points_launched(p, step, 1);
    void *pointers[] = {&passed};
    return tz_cuda_launch(cuda, NULL, &p->kernel,
                          (const int[]){(count + THREADS - 1) / THREADS, 1, 1},
                          (const int[]){THREADS, 1, 1}, 0, false, pointers, error);
}

tz_status tz_cuda_points_take(tz_cuda_points *p, tz_cuda *cuda, tz_error *error)
{
    if (!p->of || p->records == 0 || p->rows <= p->from)
        return TZ_OK;
    const tz_point_values *values = p->of->values;
    const size_t slot = values->slot, row = (size_t)p->records * slot;
    char *to = values->recorded + (size_t)(p->from * values->records) * slot;
    const tz_status status = tz_cuda_download(cuda, p->whole ? to : p->staging,
                                              p->recorded + (tz_cu_pointer)((size_t)p->from * row),
                                              (size_t)(p->rows - p->from) * row, error);
    if (status)
        return status;
    const char *from = p->staging;
    for (int64_t k = p->from; k < p->rows && !p->whole; k++, to += (size_t)values->records * slot)
        for (int i = 0; i < p->records; i++, from += slot)
            memcpy(to + (size_t)p->recorded_index[i] * slot, from, slot);
    p->from = p->rows;
    return TZ_OK;
}
