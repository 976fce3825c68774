#include "backend/cuda/copy_rate.h"

#include "backend/cuda/driver/queue.h"
#include <stdlib.h>

enum { COPY_BYTES = 1 << 30, COPIES = 7 };

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

tz_status tz_cuda_copy_rate(tz_cuda *cuda, double *bytes_per_s, tz_error *error)
{
    tz_cu_pointer from = 0, to = 0;
    tz_cuda_event *begin = NULL, *end = NULL;
    double seconds[COPIES] = {0};
    tz_status status = tz_cuda_allocate(cuda, &from, COPY_BYTES, error);
    if (!status)
        status = tz_cuda_allocate(cuda, &to, COPY_BYTES, error);
    if (!status)
        status = tz_cuda_queue_fill_words(cuda, NULL, from, 0x3f9d70a4u, COPY_BYTES / 4, error);
    if (!status)
        status = tz_cuda_event_create(cuda, &begin, true, error);
    if (!status)
        status = tz_cuda_event_create(cuda, &end, true, error);
    for (int i = -1; !status && i < COPIES; i++) {
        status = tz_cuda_event_record(cuda, begin, NULL, error);
        if (!status)
            status = tz_cuda_queue_copy(cuda, NULL, to, from, COPY_BYTES, error);
        if (!status)
            status = tz_cuda_event_record(cuda, end, NULL, error);
        if (!status)
            status = tz_cuda_event_wait(cuda, end, error);
        if (!status && i >= 0)
            status = tz_cuda_event_elapsed_s(cuda, begin, end, &seconds[i], error);
    }
    qsort(seconds, COPIES, sizeof *seconds, compare_doubles);
    if (!status)
        *bytes_per_s = 2.0 * COPY_BYTES / seconds[COPIES / 2];
    tz_cuda_event_destroy(cuda, begin);
    tz_cuda_event_destroy(cuda, end);
    tz_cuda_free(cuda, from);
    tz_cuda_free(cuda, to);
    return status;
}
