/* Kernels: loading, launches, occupancy. */
#include "backend/cuda/compile/compile.h"
#include "backend/cuda/driver/driver_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From cuda.h. */
enum {
    KERNEL_THREADS_MAX = 0,          /* CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK */
    KERNEL_SHARED_BYTES = 1,         /* CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES */
    KERNEL_LOCAL_BYTES = 3,          /* CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES */
    KERNEL_REGISTERS = 4,            /* CU_FUNC_ATTRIBUTE_NUM_REGS */
    KERNEL_DYNAMIC_SHARED_BYTES = 8, /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */

    GRID_YZ_MAX = 65535 /* on every architecture; x goes to 2^31 - 1 */
};

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
    /* A kernel must opt into more than 48 KiB of shared memory. The limit reserves nothing, so it is
     * set to the maximum. */
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
        status = tz_cuda_compile(architecture, source, headers, headers_count,
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
