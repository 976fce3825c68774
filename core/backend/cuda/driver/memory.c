/* Device memory, pinned host memory, copies that wait and copies that do not. */
#include "backend/cuda/driver/driver_impl.h"

/* From cuda.h. */
enum {
    MEMORY_HOST = 1,   /* CU_MEMORYTYPE_HOST */
    MEMORY_DEVICE = 2, /* CU_MEMORYTYPE_DEVICE */
};

tz_status tz_cuda_allocate(tz_cuda *cuda, tz_cu_pointer *out, size_t bytes, tz_error *error)
{
    const tz__driver *api = &cuda->driver;
    *out = 0;
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    const tz_cu_result result = api->memory_allocate(out, bytes ? bytes : 1);
    if (!result)
        return TZ_OK;
    *out = 0;
    size_t free_bytes = 0, all_bytes = 0;
    if (result != TZ__CU_OUT_OF_MEMORY)
        return tz__cuda_check(cuda, result, error, NULL, "cannot allocate %zu bytes on the GPU",
                              bytes);
    if (api->memory_info(&free_bytes, &all_bytes) != 0)
        free_bytes = all_bytes = 0;
    const double gib = 1 << 30;
    return tz_error_set(error, TZ_MEMORY, NULL,
                        "not enough GPU memory on %s: %zu bytes (%.2f GiB) asked for, %zu (%.2f "
                        "GiB) free of %.2f GiB; use a smaller grid or --backend cpu",
                        cuda->device.name, bytes, (double)bytes / gib, free_bytes,
                        (double)free_bytes / gib, (double)all_bytes / gib);
}

void tz_cuda_free(tz_cuda *cuda, tz_cu_pointer pointer)
{
    if (pointer && tz__cuda_enter(cuda, NULL) == TZ_OK)
        cuda->driver.memory_free(pointer);
}

tz_status tz_cuda_memory(tz_cuda *cuda, size_t *free_bytes, size_t *all_bytes, tz_error *error)
{
    *free_bytes = *all_bytes = 0;
    const tz_status status = tz__cuda_enter(cuda, error);
    return status ? status
                  : tz__cuda_check(cuda, cuda->driver.memory_info(free_bytes, all_bytes), error,
                                   NULL, "cannot tell the GPU's free memory");
}

tz_status tz_cuda_host_allocate(tz_cuda *cuda, void **out, size_t bytes, tz_error *error)
{
    *out = NULL;
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    const tz_cu_result result = cuda->driver.host_allocate(out, bytes ? bytes : 1, 0);
    if (!result)
        return TZ_OK;
    *out = NULL;
    if (result != TZ__CU_OUT_OF_MEMORY)
        return tz__cuda_check(cuda, result, error, NULL, "cannot pin %zu bytes of host memory",
                              bytes);
    return tz_error_set(error, TZ_MEMORY, NULL,
                        "not enough host memory to pin %zu bytes (%.2f GiB) for copies to the GPU; "
                        "use a smaller grid, or see the limit of locked memory (ulimit -l)",
                        bytes, (double)bytes / (1 << 30));
}

void tz_cuda_host_free(tz_cuda *cuda, void *memory)
{
    if (memory && tz__cuda_enter(cuda, NULL) == TZ_OK)
        cuda->driver.host_free(memory);
}

/* ---- One piece --------------------------------------------------------------------------------
 *
 * The driver's plain copies to the device and its clears may return before they are done. They run
 * in the default queue, so the functions wait for it. */

static tz_status finished(tz_cuda *cuda, tz_cu_result result, tz_error *error, const char *verb,
                          size_t bytes, const char *where)
{
    return tz__cuda_check(cuda, result, error, NULL, "cannot %s %zu bytes %s the GPU", verb, bytes,
                          where);
}

tz_status tz_cuda_upload(tz_cuda *cuda, tz_cu_pointer to, const void *from, size_t bytes,
                         tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status || bytes == 0)
        return status;
    tz_cu_result result = cuda->driver.memory_upload(to, from, bytes);
    if (!result)
        result = cuda->driver.queue_wait(NULL);
    return finished(cuda, result, error, "copy", bytes, "to");
}

tz_status tz_cuda_download(tz_cuda *cuda, void *to, tz_cu_pointer from, size_t bytes,
                           tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status || bytes == 0)
        return status;
    return finished(cuda, cuda->driver.memory_download(to, from, bytes), error, "copy", bytes,
                    "from");
}

tz_status tz_cuda_clear(tz_cuda *cuda, tz_cu_pointer to, size_t bytes, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status || bytes == 0)
        return status;
    tz_cu_result result = cuda->driver.memory_set(to, 0, bytes);
    if (!result)
        result = cuda->driver.queue_wait(NULL);
    return finished(cuda, result, error, "clear", bytes, "on");
}

tz_status tz_cuda_queue_upload(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                               const void *from, size_t bytes, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status || bytes == 0)
        return status;
    return finished(cuda, cuda->driver.queue_upload(to, from, bytes, queue), error, "copy", bytes,
                    "to");
}

tz_status tz_cuda_queue_download(tz_cuda *cuda, tz_cuda_queue *queue, void *to, tz_cu_pointer from,
                                 size_t bytes, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status || bytes == 0)
        return status;
    return finished(cuda, cuda->driver.queue_download(to, from, bytes, queue), error, "copy", bytes,
                    "from");
}

tz_status tz_cuda_queue_copy(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                             tz_cu_pointer from, size_t bytes, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status || bytes == 0)
        return status;
    return finished(cuda, cuda->driver.queue_copy(to, from, bytes, queue), error, "copy", bytes,
                    "within");
}

/* Open the memory of `other` to this device, once, if the machine can. */
static void open_peer(tz_cuda *cuda, const tz_cuda *other)
{
    const tz__driver *api = &cuda->driver;
    const unsigned long long bit = 1ULL << (other->device.ordinal % 64);
    int can = 0;
    if (atomic_fetch_or(&cuda->peers, bit) & bit)
        return;
    if (api->peer_can(&can, cuda->handle, other->handle) == 0 && can)
        api->peer_enable(other->context, 0); /* may be open; copies work either way */
}

tz_status tz_cuda_queue_copy_from(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                                  tz_cuda *other, tz_cu_pointer from, size_t bytes, tz_error *error)
{
    if (cuda->context == other->context)
        return tz_cuda_queue_copy(cuda, queue, to, from, bytes, error);
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status || bytes == 0)
        return status;
    open_peer(cuda, other);
    return tz__cuda_check(
        cuda, cuda->driver.queue_copy_peer(to, cuda->context, from, other->context, bytes, queue),
        error, NULL, "cannot copy %zu bytes from GPU %d to GPU %d", bytes, other->device.ordinal,
        cuda->device.ordinal);
}

tz_status tz_cuda_queue_fill_words(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                                   uint32_t word, size_t count, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status || count == 0)
        return status;
    return finished(cuda, cuda->driver.queue_fill_words(to, word, count, queue), error, "fill",
                    4 * count, "on");
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Copies a box to the device (`up`) or from it. */
static tz_status box_move(tz_cuda *cuda, tz_cuda_queue *queue, bool up, tz_cu_pointer pointer,
                          void *host, const tz_cuda_box *box, tz_error *error)
{
    const tz__driver *api = &cuda->driver;
    if (box->row_bytes == 0 || box->rows == 0 || box->planes == 0)
        return TZ_OK;
    const bool one_plane = box->planes == 1, one_row = one_plane && box->rows == 1;
    const size_t row_pitch = one_row ? box->row_bytes : box->device_row_pitch;
    const size_t plane_pitch = one_plane ? row_pitch * box->rows : box->device_plane_pitch;
    if (row_pitch < box->row_bytes || plane_pitch % row_pitch != 0 ||
        plane_pitch / row_pitch < box->rows)
        return tz_error_set(error, TZ_SHAPE, NULL,
                            "a box of %zu planes of %zu rows of %zu bytes does not fit pitches of "
                            "%zu bytes a row and %zu a plane (a plane must be a number of rows)",
                            box->planes, box->rows, box->row_bytes, box->device_row_pitch,
                            box->device_plane_pitch);
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    pointer += box->device_offset;
    tz_cu_result result;
    if (row_pitch == box->row_bytes && plane_pitch == row_pitch * box->rows) {
        const size_t bytes = plane_pitch * box->planes;
        result = up ? api->queue_upload(pointer, host, bytes, queue)
                    : api->queue_download(host, pointer, bytes, queue);
    } else {
        const tz__copy_side dense = {
            .memory = MEMORY_HOST, .host = host, .pitch = box->row_bytes, .height = box->rows};
        const tz__copy_side pitched = {.memory = MEMORY_DEVICE,
                                       .device = pointer,
                                       .pitch = row_pitch,
                                       .height = plane_pitch / row_pitch};
        const tz__copy_3d copy = {.from = up ? dense : pitched,
                                  .to = up ? pitched : dense,
                                  .row_bytes = box->row_bytes,
                                  .rows = box->rows,
                                  .planes = box->planes};
        result = api->queue_copy_3d(&copy, queue);
    }
    return tz__cuda_check(cuda, result, error, NULL,
                          "cannot copy a box of %zu planes of %zu rows of %zu bytes %s the GPU",
                          box->planes, box->rows, box->row_bytes, up ? "to" : "from");
}

tz_status tz_cuda_queue_upload_box(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                                   const tz_cuda_box *box, const void *from, tz_error *error)
{
    return box_move(cuda, queue, true, to, (void *)from, box, error);
}

tz_status tz_cuda_queue_download_box(tz_cuda *cuda, tz_cuda_queue *queue, void *to,
                                     tz_cu_pointer from, const tz_cuda_box *box, tz_error *error)
{
    return box_move(cuda, queue, false, from, to, box, error);
}
