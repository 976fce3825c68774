/* Copies of boxes through two pinned buffers: for store, load and fill of cuda.c, and for
 * snapshots. */
#include "backend/cuda/staging.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUFFERS = 2,
    BUFFER_BYTES = 4 << 20, /* 80 us at 50 GB/s: longer than starting a copy */
    PATTERN_BYTES = 256 << 10,
    ALIGNMENT = 64
};

struct tz_cuda_staging {
    tz_cuda *cuda;
    tz_cuda_queue *queue;
    struct {
        char *memory;
        tz_cuda_event *done; /* recorded after its last copy */
    } buffers[BUFFERS];
    int now;     /* the buffer of the next upload */
    size_t used; /* bytes of it */
};

tz_status tz_cuda_staging_create(tz_cuda_staging **out, tz_cuda *cuda, tz_cuda_queue *queue,
                                 tz_error *error)
{
    tz_cuda_staging *staging = calloc(1, sizeof *staging);
    *out = staging;
    if (!staging)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for copies to the GPU");
    staging->cuda = cuda;
    staging->queue = queue;
    return TZ_OK;
}

void tz_cuda_staging_destroy(tz_cuda_staging *staging)
{
    if (!staging)
        return;
    for (int i = 0; i < BUFFERS; i++) {
        if (staging->buffers[i].done)
            tz_cuda_queue_wait(staging->cuda, staging->queue, NULL);
        tz_cuda_event_destroy(staging->cuda, staging->buffers[i].done);
        tz_cuda_host_free(staging->cuda, staging->buffers[i].memory);
    }
    free(staging);
}

static tz_status pin(tz_cuda_staging *staging, tz_error *error)
{
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < BUFFERS; i++) {
        void *memory = staging->buffers[i].memory;
        if (!staging->buffers[i].done)
            status = tz_cuda_event_create(staging->cuda, &staging->buffers[i].done, false, error);
        if (!status && !memory)
            status = tz_cuda_host_allocate(staging->cuda, &memory, BUFFER_BYTES, error);
        staging->buffers[i].memory = memory;
    }
    return status;
}

static tz_status mark(tz_cuda_staging *staging, int i, tz_error *error)
{
    return tz_cuda_event_record(staging->cuda, staging->buffers[i].done, staging->queue, error);
}

static tz_status await(tz_cuda_staging *staging, int i, tz_error *error)
{
    return tz_cuda_event_wait(staging->cuda, staging->buffers[i].done, error);
}

/* ---- Boxes in pieces ------------------------------------------------------------------------- */

/* A piece of a box. In the dense host array its bytes are contiguous. */
typedef struct piece {
    tz_cuda_box box;
    size_t offset, bytes; /* in the host array */
} piece;

/* Cuts a box into pieces that fit a buffer: part of a row, some rows, or some planes. */
typedef struct cutter {
    const tz_cuda_box *box;
    size_t width, rows, planes; /* of a piece */
    size_t x, y, z;             /* where the next piece begins */
} cutter;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static cutter cutter_of(const tz_cuda_box *box)
{
    cutter c = {.box = box, .width = least(box->row_bytes, BUFFER_BYTES), .rows = 1, .planes = 1};
    if (c.width > 0 && c.width == box->row_bytes)
        c.rows = least(box->rows, BUFFER_BYTES / c.width);
    if (c.width > 0 && c.rows > 0 && c.width == box->row_bytes && c.rows == box->rows)
        c.planes = least(box->planes, BUFFER_BYTES / (c.width * c.rows));
    return c;
}

/* The next piece; false after the last. */
static bool cut(cutter *c, piece *out)
{
    const tz_cuda_box *box = c->box;
    if (box->row_bytes == 0 || box->rows == 0 || c->z >= box->planes)
        return false;
    const size_t width = least(c->width, box->row_bytes - c->x);
    const size_t rows = least(c->rows, box->rows - c->y);
    const size_t planes = least(c->planes, box->planes - c->z);
    *out = (piece){
        .box = {.row_bytes = width,
                .rows = rows,
                .planes = planes,
                .device_offset = box->device_offset + c->x + c->y * box->device_row_pitch +
                                 c->z * box->device_plane_pitch,
                .device_row_pitch = box->device_row_pitch,
                .device_plane_pitch = box->device_plane_pitch},
        .offset = c->x + (c->y + c->z * box->rows) * box->row_bytes,
        .bytes = width * rows * planes,
    };
    c->x += width;
    if (c->x >= box->row_bytes) {
        c->x = 0;
        c->y += rows;
    }
    if (c->y >= box->rows) {
        c->y = 0;
        c->z += planes;
    }
    return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Room for an upload. Small uploads share a buffer. When it is full, waits for the copies of the
 * other buffer and takes that one. */
static tz_status claim(tz_cuda_staging *staging, size_t bytes, char **at, tz_error *error)
{
    tz_status status = TZ_OK;
    if (staging->used + bytes > BUFFER_BYTES) {
        status = mark(staging, staging->now, error);
        staging->now = (staging->now + 1) % BUFFERS;
        staging->used = 0;
        if (!status)
            status = await(staging, staging->now, error);
    }
    *at = staging->buffers[staging->now].memory + staging->used;
    staging->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return status;
}

tz_status tz_cuda_staging_upload(tz_cuda_staging *staging, tz_cu_pointer to, const tz_cuda_box *box,
                                 const void *from, tz_error *error)
{
    piece p;
    char *at;
    tz_status status = pin(staging, error);
    for (cutter c = cutter_of(box); !status && cut(&c, &p);) {
        status = claim(staging, p.bytes, &at, error);
        if (status)
            break;
        memcpy(at, (const char *)from + p.offset, p.bytes);
        status = tz_cuda_queue_upload_box(staging->cuda, staging->queue, to, &p.box, at, error);
    }
    return status;
}

tz_status tz_cuda_staging_download(tz_cuda_staging *staging, void *to, tz_cu_pointer from,
                                   const tz_cuda_box *box, tz_error *error)
{
    piece p, before = {.bytes = 0};
    int i = 0;
    tz_status status = pin(staging, error);
    if (!status && staging->used > 0) /* the device may still read uploads from this buffer */
        status = mark(staging, staging->now, error);
    for (cutter c = cutter_of(box); !status && cut(&c, &p); i = (i + 1) % BUFFERS, before = p) {
        char *at = staging->buffers[i].memory;
        status = await(staging, i, error);
        if (!status)
            status =
                tz_cuda_queue_download_box(staging->cuda, staging->queue, at, from, &p.box, error);
        if (!status)
            status = mark(staging, i, error);
        if (status || before.bytes == 0)
            continue;
        const int other = (i + 1) % BUFFERS;
        status = await(staging, other, error);
        if (!status)
            memcpy((char *)to + before.offset, staging->buffers[other].memory, before.bytes);
    }
    const int last = (i + 1) % BUFFERS;
    if (!status && before.bytes > 0)
        status = await(staging, last, error);
    if (!status && before.bytes > 0)
        memcpy((char *)to + before.offset, staging->buffers[last].memory, before.bytes);
    return status;
}

tz_status tz_cuda_staging_fill(tz_cuda_staging *staging, tz_cu_pointer to, const void *element,
                               size_t size, size_t bytes, tz_error *error)
{
    uint32_t words[2] = {0};
    memcpy(words, element, size);
    if (size == sizeof words[0] || words[0] == words[1])
        return tz_cuda_queue_fill_words(staging->cuda, staging->queue, to, words[0],
                                        bytes / sizeof words[0], error);
    /* The driver fills with words of at most 32 bits. So upload a first part, then double it by
     * copies on the device. */
    size_t done = least(bytes, PATTERN_BYTES);
    char *pattern = calloc(1, done ? done : 1);
    if (!pattern)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to fill a field");
    for (size_t i = 0; i < done; i += size)
        memcpy(pattern + i, element, size);
    const tz_cuda_box box = {.row_bytes = done, .rows = 1, .planes = 1};
    tz_status status = tz_cuda_staging_upload(staging, to, &box, pattern, error);
    free(pattern);
    while (!status && done < bytes) {
        const size_t more = least(done, bytes - done);
        status = tz_cuda_queue_copy(staging->cuda, staging->queue, to + done, to, more, error);
        done += more;
    }
    return status;
}
