/* The calls of the CUDA driver: memory, queues, events, graphs, kernels, what processes share. All
 * of the backend uses them. Most are a row of CALL, MAKE, COPY or DROP. */
#include "backend/cuda/driver/driver_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From cuda.h. */
enum {
    MEMORY_HOST = 1,          /* CU_MEMORYTYPE_HOST */
    MEMORY_DEVICE = 2,        /* CU_MEMORYTYPE_DEVICE */
    STREAM_NON_BLOCKING = 1,  /* CU_STREAM_NON_BLOCKING: not ordered with the default queue */
    EVENT_DISABLE_TIMING = 2, /* CU_EVENT_DISABLE_TIMING */
    EVENT_INTERPROCESS = 4,   /* CU_EVENT_INTERPROCESS */
    ENABLE_PEER_ACCESS = 1,   /* CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS */
    CAPTURE_THREAD_LOCAL = 1, /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: other threads are free */

    KERNEL_THREADS_MAX = 0,          /* CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK */
    KERNEL_SHARED_BYTES = 1,         /* CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES */
    KERNEL_LOCAL_BYTES = 3,          /* CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES */
    KERNEL_REGISTERS = 4,            /* CU_FUNC_ATTRIBUTE_NUM_REGS */
    KERNEL_DYNAMIC_SHARED_BYTES = 8, /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */

    FIRST = -1000,      /* a priority: the driver takes the highest that there is */
    GRID_YZ_MAX = 65535 /* on every architecture; x goes to 2^31 - 1 */
};

/* A function that calls the driver once: its name and parameters (without `cuda` and `error`), the
 * call, and what is said if that fails. */
#define TAKE(...) __VA_ARGS__
#define CALL(name, parameters, call, ...)                                                          \
    tz_status name(tz_cuda *cuda, TAKE parameters, tz_error *error)                                \
    {                                                                                              \
        const tz_status status = tz__cuda_enter(cuda, error);                                      \
        return status ? status                                                                     \
                      : tz__cuda_check(cuda, cuda->driver.call, error, NULL, __VA_ARGS__);         \
    }
/* The same where the call gives *out, which is 0 after a failure. */
#define MAKE(name, parameters, call, ...)                                                          \
    tz_status name(tz_cuda *cuda, TAKE parameters, tz_error *error)                                \
    {                                                                                              \
        *out = 0;                                                                                  \
        tz_status status = tz__cuda_enter(cuda, error);                                            \
        if (!status)                                                                               \
            status = tz__cuda_check(cuda, cuda->driver.call, error, NULL, __VA_ARGS__);            \
        if (status)                                                                                \
            *out = 0;                                                                              \
        return status;                                                                             \
    }
/* Moves `bytes` bytes, unless that is 0. If it fails: "cannot VERB so many bytes WHERE the GPU".
 * With `waits` it also waits for the default queue, in which the driver's plain copies to the
 * device and its clears run, and may return before they are done. */
#define COPY(name, parameters, bytes, call, waits, verb, where)                                    \
    tz_status name(tz_cuda *cuda, TAKE parameters, tz_error *error)                                \
    {                                                                                              \
        const tz_status status = tz__cuda_enter(cuda, error);                                      \
        if (status || (bytes) == 0)                                                                \
            return status;                                                                         \
        tz_cu_result result = cuda->driver.call;                                                   \
        if (!result && (waits))                                                                    \
            result = cuda->driver.queue_wait(NULL);                                                \
        return tz__cuda_check(cuda, result, error, NULL, "cannot %s %zu bytes %s the GPU", verb,   \
                              (size_t)(bytes), where);                                             \
    }
/* Gives back a thing, unless it is 0. */
#define DROP(name, type, call)                                                                     \
    void name(tz_cuda *cuda, type thing)                                                           \
    {                                                                                              \
        if (thing && tz__cuda_enter(cuda, NULL) == TZ_OK)                                          \
            cuda->driver.call(thing);                                                              \
    }

tz_status tz_cuda_wait(tz_cuda *cuda, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    return status ? status
                  : tz__cuda_check(cuda, cuda->driver.context_wait(), error, NULL,
                                   "waiting for the GPU failed");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

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

DROP(tz_cuda_free, tz_cu_pointer, memory_free)

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

DROP(tz_cuda_host_free, void *, host_free)

COPY(tz_cuda_upload, (tz_cu_pointer to, const void *from, size_t bytes), bytes,
     memory_upload(to, from, bytes), true, "copy", "to")
COPY(tz_cuda_download, (void *to, tz_cu_pointer from, size_t bytes), bytes,
     memory_download(to, from, bytes), false, "copy", "from")
COPY(tz_cuda_clear, (tz_cu_pointer to, size_t bytes), bytes, memory_set(to, 0, bytes), true,
     "clear", "on")
COPY(tz_cuda_queue_upload,
     (tz_cuda_queue * queue, tz_cu_pointer to, const void *from, size_t bytes), bytes,
     queue_upload(to, from, bytes, queue), false, "copy", "to")
COPY(tz_cuda_queue_download, (tz_cuda_queue * queue, void *to, tz_cu_pointer from, size_t bytes),
     bytes, queue_download(to, from, bytes, queue), false, "copy", "from")
COPY(tz_cuda_queue_copy,
     (tz_cuda_queue * queue, tz_cu_pointer to, tz_cu_pointer from, size_t bytes), bytes,
     queue_copy(to, from, bytes, queue), false, "copy", "within")
COPY(tz_cuda_queue_fill_words,
     (tz_cuda_queue * queue, tz_cu_pointer to, uint32_t word, size_t count), 4 * count,
     queue_fill_words(to, word, count, queue), false, "fill", "on")

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

/* ---- Queues, events, graphs ------------------------------------------------------------------ */

MAKE(tz_cuda_queue_create, (tz_cuda_queue * *out), queue_create(out, STREAM_NON_BLOCKING),
     "cannot make a queue on the GPU")
MAKE(tz_cuda_queue_create_first, (tz_cuda_queue * *out),
     queue_create_first(out, STREAM_NON_BLOCKING, FIRST), "cannot make a queue on the GPU")
DROP(tz_cuda_queue_destroy, tz_cuda_queue *, queue_destroy)
CALL(tz_cuda_queue_wait, (tz_cuda_queue * queue), queue_wait(queue), "waiting for the GPU failed")
CALL(tz_cuda_queue_wait_event, (tz_cuda_queue * queue, tz_cuda_event *event),
     queue_wait_event(queue, event, 0), "cannot make a queue of the GPU wait for an event")
MAKE(tz_cuda_event_create, (tz_cuda_event * *out, bool timed),
     event_create(out, timed ? 0 : EVENT_DISABLE_TIMING), "cannot make an event on the GPU")
DROP(tz_cuda_event_destroy, tz_cuda_event *, event_destroy)
CALL(tz_cuda_event_record, (tz_cuda_event * event, tz_cuda_queue *queue),
     event_record(event, queue), "cannot record an event on the GPU")
CALL(tz_cuda_event_wait, (tz_cuda_event * event), event_wait(event), "waiting for the GPU failed")

tz_status tz_cuda_event_elapsed_s(tz_cuda *cuda, tz_cuda_event *from, tz_cuda_event *to,
                                  double *seconds, tz_error *error)
{
    float milliseconds = 0;
    *seconds = 0;
    tz_status status = tz__cuda_enter(cuda, error);
    if (!status)
        status =
            tz__cuda_check(cuda, cuda->driver.event_elapsed(&milliseconds, from, to), error, NULL,
                           "cannot tell the time between two events of the GPU (both must be "
                           "timed, recorded and waited for)");
    if (!status)
        *seconds = 1e-3 * (double)milliseconds;
    return status;
}

CALL(tz_cuda_graph_begin, (tz_cuda_queue * queue), capture_begin(queue, CAPTURE_THREAD_LOCAL),
     "cannot begin a graph on the GPU")

tz_status tz_cuda_graph_end(tz_cuda *cuda, tz_cuda_queue *queue, tz_cuda_graph **out,
                            tz_error *error)
{
    const tz__driver *api = &cuda->driver;
    tz_cu_handle recorded = NULL;
    if (out)
        *out = NULL;
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    tz_cu_result result = api->capture_end(queue, &recorded);
    if (!result && out)
        result = api->graph_create(out, recorded, 0);
    if (recorded)
        api->recorded_destroy(recorded);
    if (!result || !out)
        return TZ_OK;
    *out = NULL;
    return tz__cuda_check(cuda, result, error, NULL, "cannot make a graph of the recorded work");
}

CALL(tz_cuda_graph_launch, (tz_cuda_graph * graph, tz_cuda_queue *queue),
     graph_launch(graph, queue), "cannot launch a graph on the GPU")
DROP(tz_cuda_graph_destroy, tz_cuda_graph *, graph_destroy)

/* ---- Other processes ------------------------------------------------------------------------- */

_Static_assert(sizeof(tz_cuda_handle) == 64, "the size is CU_IPC_HANDLE_SIZE");

CALL(tz_cuda_shared_handle, (tz_cu_pointer pointer, tz_cuda_handle *out),
     shared_memory_handle(out, pointer), "cannot share memory of GPU %d with another process",
     cuda->device.ordinal)
MAKE(tz_cuda_shared_open, (const tz_cuda_handle *handle, tz_cu_pointer *out),
     shared_memory_open(out, *handle, ENABLE_PEER_ACCESS),
     "GPU %d cannot open device memory of another process", cuda->device.ordinal)
DROP(tz_cuda_shared_close, tz_cu_pointer, shared_memory_close)
MAKE(tz_cuda_shared_event_open, (const tz_cuda_handle *handle, tz_cuda_event **out),
     shared_event_open(out, *handle), "GPU %d cannot open an event of another process",
     cuda->device.ordinal)

tz_status tz_cuda_shared_event_create(tz_cuda *cuda, tz_cuda_event **out, tz_cuda_handle *handle,
                                      tz_error *error)
{
    *out = NULL;
    tz_cuda_event *event = NULL;
    tz_status status = tz__cuda_enter(cuda, error);
    if (!status)
        status = tz__cuda_check(
            cuda, cuda->driver.event_create(&event, EVENT_DISABLE_TIMING | EVENT_INTERPROCESS),
            error, NULL, "cannot make an event of GPU %d for other processes",
            cuda->device.ordinal);
    if (status)
        return status;
    status = tz__cuda_check(cuda, cuda->driver.shared_event_handle(handle, event), error, NULL,
                            "cannot share an event of GPU %d with another process",
                            cuda->device.ordinal);
    if (status)
        tz_cuda_event_destroy(cuda, event);
    else
        *out = event;
    return status;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* The kernel's needs and limits, which every launch uses. */
static tz_cu_result kernel_look(const tz_cuda *cuda, tz_cuda_kernel *kernel)
{
    const tz__driver *api = &cuda->driver;
    const struct {
        int which, *value;
    } wanted[] = {{KERNEL_REGISTERS, &kernel->registers},
                  {KERNEL_LOCAL_BYTES, &kernel->local_bytes},
                  {KERNEL_SHARED_BYTES, &kernel->shared_bytes},
                  {KERNEL_THREADS_MAX, &kernel->threads_max}};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        const tz_cu_result result =
            api->kernel_get(wanted[k].value, wanted[k].which, kernel->function);
        if (result)
            return result;
    }
    /* A kernel must opt into more than 48 KiB of shared memory. The limit reserves nothing, so it
     * is set to the maximum. */
    kernel->dynamic_shared_bytes = cuda->device.shared_bytes - kernel->shared_bytes;
    if (api->kernel_set(kernel->function, KERNEL_DYNAMIC_SHARED_BYTES,
                        kernel->dynamic_shared_bytes) == 0)
        return 0;
    return api->kernel_get(&kernel->dynamic_shared_bytes, KERNEL_DYNAMIC_SHARED_BYTES,
                           kernel->function);
}

tz_status tz_cuda_load(tz_cuda *cuda, tz_cuda_kernel *out, const char *source, const char *function,
                       const tz_cuda_header *headers, size_t headers_count, tz_error *error)
{
    const tz__driver *api = &cuda->driver;
    char architecture[32];
    void *cubin = NULL;
    size_t bytes = 0;
    bool cached = false;
    tz_cu_result result = 0;
    memset(out, 0, sizeof *out);
    snprintf(architecture, sizeof architecture, "sm_%d%d", cuda->device.major, cuda->device.minor);
    tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    /* If the driver refuses a cubin from the cache, compile the source and try once more. */
    for (int attempt = 0; attempt < 2; attempt++) {
        free(cubin);
        status = tz_cuda_compile(&cuda->cancel, true, architecture, source, headers, headers_count,
                                 attempt == 0 ? &cached : NULL, &cubin, &bytes, error);
        if (status)
            goto done;
        result = api->module_load(&out->module, cubin);
        if (!result || !cached)
            break;
    }
    if (result) {
        out->module = NULL;
        status = tz__cuda_check(cuda, result, error, function,
                                "the driver (CUDA %d.%d) does not load the kernel compiled for "
                                "%s; it may be older than NVRTC: update it",
                                api->version_number / 1000, api->version_number % 1000 / 10,
                                architecture);
        goto done;
    }
    result = api->module_function(&out->function, out->module, function);
    if (!result)
        result = kernel_look(cuda, out);
    if (result)
        status = tz__cuda_check(cuda, result, error, function,
                                "the compiled source has no such kernel; declare it extern \"C\" "
                                "__global__");
done:
    free(cubin);
    if (status)
        tz_cuda_unload(cuda, out);
    if (status == TZ_UNSUPPORTED) { /* no NVRTC, which this backend needs */
        status = TZ_BACKEND;
        if (error)
            error->code = status;
    }
    return status;
}

void tz_cuda_unload(tz_cuda *cuda, tz_cuda_kernel *kernel)
{
    if (kernel->module && tz__cuda_enter(cuda, NULL) == TZ_OK)
        cuda->driver.module_unload(kernel->module);
    memset(kernel, 0, sizeof *kernel);
}

static tz_status check_shape(const tz_cuda *cuda, const tz_cuda_kernel *kernel, const int grid[3],
                             const int block[3], int shared_bytes, tz_error *error)
{
    for (int k = 0; k < 3; k++)
        if (grid[k] < 1 || block[k] < 1)
            return tz_error_set(error, TZ_RANGE, NULL,
                                "a launch needs at least one block and one thread a dimension, not "
                                "%dx%dx%d of %dx%dx%d",
                                grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    if (grid[1] > GRID_YZ_MAX || grid[2] > GRID_YZ_MAX)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "a launch may have up to %d blocks along y and z, not %dx%dx%d",
                            GRID_YZ_MAX, grid[0], grid[1], grid[2]);
    if ((int64_t)block[0] * block[1] > kernel->threads_max ||
        (int64_t)block[0] * block[1] * block[2] > kernel->threads_max)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "a block of this kernel may have up to %d threads on %s, not %dx%dx%d",
                            kernel->threads_max, cuda->device.name, block[0], block[1], block[2]);
    if (shared_bytes < 0 || shared_bytes > kernel->dynamic_shared_bytes)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "a block may have 0 to %d bytes of shared memory on %s, not %d",
                            kernel->dynamic_shared_bytes, cuda->device.name, shared_bytes);
    return TZ_OK;
}

tz_status tz_cuda_launch(tz_cuda *cuda, tz_cuda_queue *queue, const tz_cuda_kernel *kernel,
                         const int grid[3], const int block[3], int shared_bytes, bool cooperative,
                         void **arguments, tz_error *error)
{
    const tz__driver *api = &cuda->driver;
    tz_status status = check_shape(cuda, kernel, grid, block, shared_bytes, error);
    if (!status && cooperative && !cuda->device.cooperative)
        status = tz_error_set(error, TZ_UNSUPPORTED, NULL,
                              "%s cannot launch kernels whose blocks wait for each other",
                              cuda->device.name);
    if (!status)
        status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    const unsigned g[3] = {(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]};
    const unsigned b[3] = {(unsigned)block[0], (unsigned)block[1], (unsigned)block[2]};
    const unsigned shared = (unsigned)shared_bytes;
    const tz_cu_result result =
        cooperative ? api->kernel_launch_cooperative(kernel->function, g[0], g[1], g[2], b[0], b[1],
                                                     b[2], shared, queue, arguments)
                    : api->kernel_launch(kernel->function, g[0], g[1], g[2], b[0], b[1], b[2],
                                         shared, queue, arguments, NULL);
    return tz__cuda_check(
        cuda, result, error, NULL,
        "cannot launch %dx%dx%d blocks of %dx%dx%d threads with %d bytes of shared memory", grid[0],
        grid[1], grid[2], block[0], block[1], block[2], shared_bytes);
}

tz_status tz_cuda_occupancy(tz_cuda *cuda, const tz_cuda_kernel *kernel, int threads,
                            int shared_bytes, int *blocks_per_multiprocessor, tz_error *error)
{
    *blocks_per_multiprocessor = 0;
    if (threads < 1 || shared_bytes < 0)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "no blocks of %d threads and %d bytes of shared memory", threads,
                            shared_bytes);
    if (threads > kernel->threads_max || shared_bytes > kernel->dynamic_shared_bytes)
        return TZ_OK;
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    const tz_cu_result result = cuda->driver.kernel_occupancy(
        blocks_per_multiprocessor, kernel->function, threads, (size_t)shared_bytes);
    if (result)
        *blocks_per_multiprocessor = 0;
    return tz__cuda_check(cuda, result, error, NULL,
                          "cannot tell how many blocks of %d threads and %d bytes of shared memory "
                          "fit",
                          threads, shared_bytes);
}
