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

void tz_host_refine_add(tz_host_store *solution, tz_host_store *correction, int field, int threads)
{
    const int64_t nx = solution->problem->elements[0];
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows_of(solution); row++) {
        double *to = (double *)(void *)row_of(solution, field, row);
        float *from = (float *)(void *)row_of(correction, field, row);
        for (int64_t x = 0; x < nx; x++) {
            to[x] += (double)from[x];
            from[x] = 0.0f;
        }
    }
}

tz_status tz_host_refine_source(tz_host_store *correction, int field, const double *changes,
                                double source_per_update, int threads, tz_error *error)
{
    const int64_t nx = correction->problem->elements[0];
    const tz_box first = {{0, 0, 0}, {1, 1, 1}};
    const float zero = 0.0f;
    /* After this, the field has an array. */
    const tz_status status = tz_host_store_put(correction, field, &first, &zero, error);
    if (status)
        return status;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows_of(correction); row++) {
        float *to = (float *)(void *)row_of(correction, field, row);
        for (int64_t x = 0; x < nx; x++)
            to[x] = (float)(changes[row * nx + x] * source_per_update);
    }
    return TZ_OK;
}
