#include "backend/host/refine.h"

static char *row_of(const tz_host_store *store, int field, int64_t row)
{
    const tz_host_field *host = tz_host_store_current(store, field);
    const int64_t ny = store->problem->elements[1];
    return host->origin + (row % ny * host->row_stride + row / ny * host->plane_stride) *
                              (ptrdiff_t)tz_problem_element_size(store->problem, field);
}

static int64_t rows_of(const tz_host_store *store)
{
    return store->problem->elements[1] * store->problem->elements[2];
}

/* What the threads share. */
typedef struct refining {
    tz_host_store *solution, *correction;
    int field;
    const double *changes;
    double source_per_update;
} refining;

static void add_rows(void *any, int64_t begin, int64_t end, int thread)
{
    const refining *r = any;
    const int64_t nx = r->solution->problem->elements[0];
    (void)thread;
    for (int64_t row = begin; row < end; row++) {
        double *to = (double *)(void *)row_of(r->solution, r->field, row);
        float *from = (float *)(void *)row_of(r->correction, r->field, row);
        for (int64_t x = 0; x < nx; x++) {
            to[x] += (double)from[x];
            from[x] = 0.0f;
        }
    }
}

void tz_host_refine_add(tz_host_store *solution, tz_host_store *correction, int field,
                        tz_threads *threads)
{
    refining r = {.solution = solution, .correction = correction, .field = field};
    tz_threads_for(threads, rows_of(solution), add_rows, &r);
}

static void make_source(void *any, int64_t begin, int64_t end, int thread)
{
    const refining *r = any;
    const int64_t nx = r->correction->problem->elements[0];
    (void)thread;
    for (int64_t row = begin; row < end; row++) {
        float *to = (float *)(void *)row_of(r->correction, r->field, row);
        for (int64_t x = 0; x < nx; x++)
            to[x] = (float)(r->changes[row * nx + x] * r->source_per_update);
    }
}

tz_status tz_host_refine_source(tz_host_store *correction, int field, const double *changes,
                                double source_per_update, tz_threads *threads, tz_error *error)
{
    const tz_box first = {{0, 0, 0}, {1, 1, 1}};
    const float zero = 0.0f;
    refining r = {.correction = correction,
                  .field = field,
                  .changes = changes,
                  .source_per_update = source_per_update};
    /* After this, the field has an array. */
    const tz_status status = tz_host_store_put(correction, field, &first, &zero, error);
    if (!status)
        tz_threads_for(threads, rows_of(correction), make_source, &r);
    return status;
}
