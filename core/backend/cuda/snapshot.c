/* Copies of fields that are read while stages go on, for outputs (tz_backend.freeze). */
#include "backend/cuda/snapshot.h"

#include "backend/backend.h"
#include "backend/cuda/family/family.h"
#include "backend/cuda/staging.h"
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
