/* Rows of streamed fields on their way to the GPU, for the stages of cuda.c. */
#include "backend/cuda/slabs.h"

#include "backend/cuda/driver/queue.h"
#include "base/minmax.h"
#include <stdlib.h>
#include <string.h>

enum {
    BUFFERS = 2,
    PIECE = 1 << 16 /* cells that a host thread makes at a time */
};

/* The rows of a stage. */
typedef struct buffer {
    int32_t *host; /* pinned */
    tz_cu_pointer device;
    int rows;               /* capacity */
    tz_cuda_event *arrived; /* the upload is done */
    tz_cuda_event *free;    /* the stage that reads them is done */
} buffer;

struct tz_cuda_slabs {
    tz_cuda *cuda;
    tz_threads *threads;
    int64_t cells, pitch;
    /* All rows of a source in memory. */
    tz_cu_pointer all;
    uint64_t all_generation; /* of the source of these rows; 0: none */
    uint64_t refused;        /* the generation of a source that did not fit */
    /* Or the rows of a stage at a time. */
    tz_cuda_queue *copies;
    buffer buffers[BUFFERS];
    int next;
    buffer *taken;
};

tz_status tz_cuda_slabs_create(tz_cuda_slabs **out, tz_cuda *cuda, tz_threads *threads,
                               int64_t cells, int64_t pitch, tz_error *error)
{
    tz_cuda_slabs *slabs = calloc(1, sizeof *slabs);
    *out = slabs;
    if (!slabs)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a streamed field");
    slabs->cuda = cuda;
    slabs->threads = threads;
    slabs->cells = cells;
    slabs->pitch = pitch;
    tz_status status = tz_cuda_queue_create(cuda, &slabs->copies, error);
    for (int i = 0; !status && i < BUFFERS; i++) {
        status = tz_cuda_event_create(cuda, &slabs->buffers[i].arrived, false, error);
        if (!status)
            status = tz_cuda_event_create(cuda, &slabs->buffers[i].free, false, error);
    }
    if (status) {
        tz_cuda_slabs_destroy(slabs);
        *out = NULL;
    }
    return status;
}

static void drop_rows(tz_cuda_slabs *slabs, buffer *b)
{
    tz_cuda_free(slabs->cuda, b->device);
    tz_cuda_host_free(slabs->cuda, b->host);
    b->device = 0;
    b->host = NULL;
    b->rows = 0;
}

void tz_cuda_slabs_destroy(tz_cuda_slabs *slabs)
{
    if (!slabs)
        return;
    tz_cuda_wait(slabs->cuda, NULL);
    tz_cuda_free(slabs->cuda, slabs->all);
    for (int i = 0; i < BUFFERS; i++) {
        drop_rows(slabs, &slabs->buffers[i]);
        tz_cuda_event_destroy(slabs->cuda, slabs->buffers[i].arrived);
        tz_cuda_event_destroy(slabs->cuda, slabs->buffers[i].free);
    }
    tz_cuda_queue_destroy(slabs->cuda, slabs->copies);
    free(slabs);
}

/* Uploads all rows of a source in memory if the device has room, and sets `all_generation`. Too
 * little memory is no error. */
static tz_status upload_all(tz_cuda_slabs *slabs, const tz_streamed_source *source, tz_error *error)
{
    if (slabs->all_generation == source->generation || slabs->refused == source->generation ||
        !source->data || source->slabs <= 0 || source->cells != slabs->cells || source->first != 0)
        return TZ_OK;
    const int64_t bytes = source->slabs * slabs->pitch * (int64_t)sizeof(int32_t);
    slabs->all_generation = 0;
    tz_status status = tz_cuda_wait(slabs->cuda, error);
    if (status)
        return status;
    tz_cuda_free(slabs->cuda, slabs->all);
    slabs->all = 0;
    status = bytes > tz_cuda_device_of(slabs->cuda)->memory_bytes / 10 * 8
                 ? TZ_MEMORY
                 : tz_cuda_allocate(slabs->cuda, &slabs->all, (size_t)bytes, error);
    if (status == TZ_MEMORY) {
        slabs->refused = source->generation;
        return TZ_OK;
    }
    if (status)
        return status;
    const tz_cuda_box box = {.row_bytes = (size_t)slabs->cells * sizeof(int32_t),
                             .rows = (size_t)source->slabs,
                             .planes = 1,
                             .device_row_pitch = (size_t)slabs->pitch * sizeof(int32_t),
                             .device_plane_pitch = (size_t)bytes};
    status = tz_cuda_queue_upload_box(slabs->cuda, NULL, slabs->all, &box, source->data, error);
    if (!status)
        status = tz_cuda_queue_wait(slabs->cuda, NULL, error);
    if (!status)
        slabs->all_generation = source->generation;
    return status;
}

static tz_status make_room(tz_cuda_slabs *slabs, buffer *b, int rows, tz_error *error)
{
    if (b->rows >= rows)
        return TZ_OK;
    const size_t bytes = (size_t)(slabs->pitch * rows) * sizeof(int32_t);
    void *host = NULL;
    tz_status status = tz_cuda_wait(slabs->cuda, error);
    drop_rows(slabs, b);
    if (!status)
        status = tz_cuda_host_allocate(slabs->cuda, &host, bytes, error);
    b->host = host;
    if (!status)
        status = tz_cuda_allocate(slabs->cuda, &b->device, bytes, error);
    if (!status)
        b->rows = rows;
    return status;
}

/* The rows of a stage from `step` on. */
typedef struct making {
    const tz_cuda_slabs *slabs;
    const tz_streamed_source *source;
    int64_t step, pieces; /* pieces: of a row */
    int32_t *to;
} making;

static void make_pieces(void *any, int64_t begin, int64_t end, int thread)
{
    const making *m = any;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        const int64_t t = i / m->pieces, x = i % m->pieces * PIECE;
        const int64_t count = tz_min(m->slabs->cells - x, PIECE);
        int32_t *to = m->to + t * m->slabs->pitch + x;
        const void *row = tz_streamed_source_row(m->source, m->step + t, x, count, to);
        if (row != to)
            memcpy(to, row, (size_t)count * sizeof *to);
    }
}

tz_status tz_cuda_slabs_take(tz_cuda_slabs *slabs, const tz_streamed_source *source, int64_t step,
                             int height, tz_cu_pointer *rows, tz_error *error)
{
    slabs->taken = NULL;
    tz_status status = upload_all(slabs, source, error);
    if (status)
        return status;
    if (slabs->all_generation == source->generation) {
        *rows = slabs->all + (tz_cu_pointer)(step * slabs->pitch) * sizeof(int32_t);
        return TZ_OK;
    }
    buffer *b = &slabs->buffers[slabs->next];
    slabs->next = (slabs->next + 1) % BUFFERS;
    status = make_room(slabs, b, height, error);
    /* Wait for the last upload from the host's rows and for the last stage that read the device's
     * rows. */
    if (!status)
        status = tz_cuda_event_wait(slabs->cuda, b->arrived, error);
    if (!status)
        status = tz_cuda_queue_wait_event(slabs->cuda, slabs->copies, b->free, error);
    if (status)
        return status;
    making m = {.slabs = slabs,
                .source = source,
                .step = step,
                .pieces = (slabs->cells + PIECE - 1) / PIECE,
                .to = b->host};
    tz_threads_for(slabs->cells * height > PIECE ? slabs->threads : NULL, m.pieces * height,
                   make_pieces, &m);
    status = tz_cuda_queue_upload(slabs->cuda, slabs->copies, b->device, b->host,
                                  (size_t)(slabs->pitch * height) * sizeof(int32_t), error);
    if (!status)
        status = tz_cuda_event_record(slabs->cuda, b->arrived, slabs->copies, error);
    if (!status)
        status = tz_cuda_queue_wait_event(slabs->cuda, NULL, b->arrived, error);
    *rows = b->device;
    slabs->taken = b;
    return status;
}

tz_status tz_cuda_slabs_used(tz_cuda_slabs *slabs, tz_error *error)
{
    return slabs->taken ? tz_cuda_event_record(slabs->cuda, slabs->taken->free, NULL, error)
                        : TZ_OK;
}
