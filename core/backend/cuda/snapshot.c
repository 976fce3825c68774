/* Copies of fields that are read while stages go on, for outputs (tz_backend.freeze); and copies of
 * boxes through two pinned buffers: for store, load and fill of cuda.c, and for snapshots. */
#include "backend/cuda/snapshot.h"

#include "backend/backend.h"
#include "backend/cuda/family/family.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Snapshots leave a 32nd of the device's memory, at least 64 MiB, for stages and pictures. */
enum { SPARE = 32, SPARE_BYTES = 64 << 20 };

struct tz_cuda_snapshot {
    tz_cuda_snapshots *all;
    tz_cu_pointer room[TZ_FIELDS_MAX]; /* for copies; kept from one use to the next */
    tz_cu_pointer at[TZ_FIELDS_MAX];   /* where a field is read; 0: not part of this snapshot */
    uint32_t fields;                   /* the copied ones */
    tz_cuda_event *taken;              /* the copies are done */
    bool used;
};

struct tz_cuda_snapshots {
    tz_cuda *cuda;
    const tz_problem *problem;
    pthread_mutex_t lock; /* of all `used` */
    pthread_cond_t released;
    pthread_mutex_t reading; /* of the next three */
    tz_cuda_queue *queue;
    tz_cuda_staging *staging;
    tz_cuda_reducer *reducer;
    tz_cuda_snapshot each[TZ_CUDA_SNAPSHOTS];
};

tz_status tz_cuda_snapshots_create(tz_cuda_snapshots **out, tz_cuda *cuda,
                                   const tz_problem *problem, tz_error *error)
{
    tz_cuda_snapshots *all = calloc(1, sizeof *all);
    *out = NULL;
    if (!all)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for snapshots of fields");
    all->cuda = cuda;
    all->problem = problem;
    pthread_mutex_init(&all->lock, NULL);
    pthread_mutex_init(&all->reading, NULL);
    pthread_cond_init(&all->released, NULL);
    tz_status status = tz_cuda_queue_create(cuda, &all->queue, error);
    if (!status)
        status = tz_cuda_staging_create(&all->staging, cuda, all->queue, error);
    if (!status)
        status = tz_cuda_reducer_create(&all->reducer, cuda, all->queue, problem, error);
    for (int i = 0; !status && i < TZ_CUDA_SNAPSHOTS; i++) {
        all->each[i].all = all;
        status = tz_cuda_event_create(cuda, &all->each[i].taken, false, error);
    }
    if (status)
        tz_cuda_snapshots_destroy(all);
    else
        *out = all;
    return status;
}

void tz_cuda_snapshots_destroy(tz_cuda_snapshots *all)
{
    if (!all)
        return;
    for (int i = 0; i < TZ_CUDA_SNAPSHOTS; i++) {
        for (int f = 0; f < TZ_FIELDS_MAX; f++)
            tz_cuda_free(all->cuda, all->each[i].room[f]);
        tz_cuda_event_destroy(all->cuda, all->each[i].taken);
    }
    tz_cuda_reducer_destroy(all->reducer);
    tz_cuda_staging_destroy(all->staging);
    tz_cuda_queue_destroy(all->cuda, all->queue);
    pthread_cond_destroy(&all->released);
    pthread_mutex_destroy(&all->reading);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

/* ---- Taking ---------------------------------------------------------------------------------- */

static tz_cuda_snapshot *claim(tz_cuda_snapshots *all, bool wait)
{
    tz_cuda_snapshot *found = NULL;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        for (int i = 0; i < TZ_CUDA_SNAPSHOTS && !found; i++)
            if (!all->each[i].used)
                found = &all->each[i];
        if (found || !wait)
            break;
        pthread_cond_wait(&all->released, &all->lock);
    }
    if (found)
        found->used = true;
    pthread_mutex_unlock(&all->lock);
    return found;
}

static void release(void *snapshot)
{
    tz_cuda_snapshot *s = snapshot;
    pthread_mutex_lock(&s->all->lock);
    s->used = false;
    pthread_cond_signal(&s->all->released);
    pthread_mutex_unlock(&s->all->lock);
}

static tz_status make_room(tz_cuda_snapshot *s, uint32_t fields, tz_error *error)
{
    tz_cuda_snapshots *all = s->all;
    const tz_problem *problem = all->problem;
    size_t needed = 0, free_bytes, bytes;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        needed += fields >> f & 1 && !s->room[f] ? tz_cuda_field_bytes(problem, f) : 0;
    if (needed == 0)
        return TZ_OK;
    tz_status status = tz_cuda_memory(all->cuda, &free_bytes, &bytes, error);
    if (status)
        return status;
    const size_t spare = bytes / SPARE > SPARE_BYTES ? bytes / SPARE : SPARE_BYTES;
    if (needed > free_bytes || free_bytes - needed < spare)
        return tz_error_set(error, TZ_MEMORY, NULL,
                            "a copy of the fields on the GPU takes %.2f GiB, and %.2f GiB are free "
                            "(%.2f GiB stay so)",
                            (double)needed / (1 << 30), (double)free_bytes / (1 << 30),
                            (double)spare / (1 << 30));
    for (int f = 0; !status && f < problem->stencil->fields_count; f++)
        if (fields >> f & 1 && !s->room[f])
            status =
                tz_cuda_allocate(all->cuda, &s->room[f], tz_cuda_field_bytes(problem, f), error);
    return status;
}

tz_status tz_cuda_snapshot_take(tz_cuda_snapshots *all, uint32_t fields, const tz_cu_pointer *now,
                                bool wait, tz_cuda_snapshot **out, tz_error *error)
{
    const tz_stencil *stencil = all->problem->stencil;
    tz_cuda_snapshot *s = claim(all, wait);
    *out = NULL;
    if (!s)
        return TZ_OK;
    memset(s->at, 0, sizeof s->at);
    s->fields = 0;
    for (int f = 0; f < stencil->fields_count; f++) {
        if (stencil->fields[f].role == TZ_STATIC)
            s->at[f] = now[f];
        else if (stencil->fields[f].role == TZ_STATE)
            s->fields |= fields & 1u << f;
    }
    tz_status status = make_room(s, s->fields, error);
    for (int f = 0; !status && f < stencil->fields_count; f++)
        if (s->fields >> f & 1) {
            s->at[f] = s->room[f];
            status = tz_cuda_queue_copy(all->cuda, NULL, s->at[f], now[f],
                                        tz_cuda_field_bytes(all->problem, f), error);
        }
    if (!status)
        status = tz_cuda_event_record(all->cuda, s->taken, NULL, error);
    if (status)
        release(s);
    else
        *out = s;
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Until end_reading, which must follow even after an error, this thread alone uses the queue, the
 * staging and the reducer. */
static tz_status begin_reading(const tz_cuda_snapshot *s, int field, tz_error *error)
{
    tz_cuda_snapshots *all = s->all;
    pthread_mutex_lock(&all->reading);
    if (!s->at[field])
        return tz_error_set(error, TZ_UNSUPPORTED, all->problem->stencil->fields[field].name,
                            "the field is not part of the snapshot");
    return tz_cuda_queue_wait_event(all->cuda, all->queue, s->taken, error);
}

static tz_status end_reading(const tz_cuda_snapshot *s, tz_status status)
{
    pthread_mutex_unlock(&s->all->reading);
    return status;
}

static tz_cuda_array array_of(const tz_cuda_snapshot *s, int field)
{
    const int64_t pitch = tz_cuda_pitch(s->all->problem);
    return (tz_cuda_array){s->at[field], pitch, pitch * s->all->problem->elements[1]};
}

static tz_status load(const void *snapshot, int field, const tz_box *box, void *elements,
                      tz_error *error)
{
    const tz_cuda_snapshot *s = snapshot;
    const tz_cuda_box where = tz_cuda_box_of(s->all->problem, field, box);
    tz_status status = begin_reading(s, field, error);
    if (!status)
        status = tz_cuda_staging_download(s->all->staging, elements, s->at[field], &where, error);
    return end_reading(s, status);
}

static tz_status reduce(const void *snapshot, int field, tz_reduce_sums *sums, tz_error *error)
{
    const tz_cuda_snapshot *s = snapshot;
    const tz_cuda_array array = array_of(s, field);
    tz_status status = begin_reading(s, field, error);
    if (!status)
        status = tz_cuda_reduce(s->all->reducer, field, &array, sums, error);
    return end_reading(s, status);
}

/* Looks at the fields that were copied. */
static tz_status all_finite(const void *snapshot, bool *finite, tz_error *error)
{
    const tz_cuda_snapshot *s = snapshot;
    tz_status status = TZ_OK;
    *finite = true;
    for (int f = 0; !status && *finite && f < s->all->problem->stencil->fields_count; f++) {
        if (!(s->fields >> f & 1))
            continue;
        const tz_cuda_array array = array_of(s, f);
        status = begin_reading(s, f, error);
        if (!status)
            status = tz_cuda_all_finite(s->all->reducer, f, &array, finite, error);
        status = end_reading(s, status);
    }
    return status;
}

static tz_status shrink(const void *snapshot, int field, int64_t z, int nx, int ny, double *values,
                        tz_error *error)
{
    const tz_cuda_snapshot *s = snapshot;
    const tz_cuda_array array = array_of(s, field);
    tz_status status = begin_reading(s, field, error);
    if (!status)
        status = tz_cuda_shrink(s->all->reducer, field, &array, z, nx, ny, values, error);
    return end_reading(s, status);
}

const tz_backend tz_backend_cuda_frozen = {
    .name = "cuda",
    .doc = "a snapshot of fields on a GPU",
    .destroy = release,
    .load = load,
    .reduce = reduce,
    .all_finite = all_finite,
    .shrink = shrink,
};

/* ---- Copies through pinned buffers ----------------------------------------------------------- */

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
static tz_status claim_buffer(tz_cuda_staging *staging, size_t bytes, char **at, tz_error *error)
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
        status = claim_buffer(staging, p.bytes, &at, error);
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
