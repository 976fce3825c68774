/* The CUDA driver, opened at run time: devices, memory, kernels. Symbols and numbers are cuda.h's.
 */
#include "cuda/driver_impl.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RESULT_OUT_OF_MEMORY = 2, /* CUDA_ERROR_OUT_OF_MEMORY */
    RESULT_NO_DEVICE = 100,   /* CUDA_ERROR_NO_DEVICE */

    DEVICE_PROCESSORS = 16,   /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
    DEVICE_MAJOR = 75,        /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
    DEVICE_MINOR = 76,        /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR */
    DEVICE_SHARED_BYTES = 97, /* CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */

    KERNEL_LOCAL_BYTES = 3,  /* CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES */
    KERNEL_REGISTERS = 4,    /* CU_FUNC_ATTRIBUTE_NUM_REGS */
    KERNEL_SHARED_BYTES = 8, /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */

    MEMORY_HOST = 1,   /* CU_MEMORYTYPE_HOST */
    MEMORY_DEVICE = 2, /* CU_MEMORYTYPE_DEVICE */
};

typedef struct copy_side {
    size_t x_bytes, y, z, level;
    int memory;
    void *host;
    tz_cu_pointer device;
    void *array, *reserved;
    size_t pitch, height;
} copy_side;

typedef struct copy_3d { /* CUDA_MEMCPY3D_v2 */
    copy_side from, to;
    size_t row_bytes, rows, planes;
} copy_3d;

_Static_assert(sizeof(copy_3d) == 200, "the layout is CUDA_MEMCPY3D_v2's");

/* X(member, symbol, parameters) */
#define DRIVER_TABLE(X)                                                                            \
    X(init, cuInit, (unsigned flags))                                                              \
    X(version, cuDriverGetVersion, (int *version))                                                 \
    X(error_name, cuGetErrorName, (tz_cu_result result, const char **text))                        \
    X(error_text, cuGetErrorString, (tz_cu_result result, const char **text))                      \
    X(device_count, cuDeviceGetCount, (int *count))                                                \
    X(device_get, cuDeviceGet, (tz_cu_device * device, int ordinal))                               \
    X(device_name, cuDeviceGetName, (char *name, int size, tz_cu_device device))                   \
    X(device_attribute, cuDeviceGetAttribute, (int *value, int which, tz_cu_device device))        \
    X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, tz_cu_device device))                   \
    X(context_retain, cuDevicePrimaryCtxRetain, (tz_cu_handle * context, tz_cu_device device))     \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (tz_cu_device device))                        \
    X(context_use, cuCtxSetCurrent, (tz_cu_handle context))                                        \
    X(context_wait, cuCtxSynchronize, (void))                                                      \
    X(memory_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t * bytes))                         \
    X(memory_allocate, cuMemAlloc_v2, (tz_cu_pointer * pointer, size_t bytes))                     \
    X(memory_free, cuMemFree_v2, (tz_cu_pointer pointer))                                          \
    X(memory_upload, cuMemcpyHtoD_v2, (tz_cu_pointer to, const void *from, size_t bytes))          \
    X(memory_download, cuMemcpyDtoH_v2, (void *to, tz_cu_pointer from, size_t bytes))              \
    X(memory_copy_3d, cuMemcpy3D_v2, (const copy_3d *copy))                                        \
    X(memory_set, cuMemsetD8_v2, (tz_cu_pointer to, unsigned char value, size_t bytes))            \
    X(module_load, cuModuleLoadData, (tz_cu_handle * module, const void *image))                   \
    X(module_unload, cuModuleUnload, (tz_cu_handle module))                                        \
    X(module_function, cuModuleGetFunction,                                                        \
      (tz_cu_handle * function, tz_cu_handle module, const char *name))                            \
    X(kernel_get, cuFuncGetAttribute, (int *value, int which, tz_cu_handle function))              \
    X(kernel_set, cuFuncSetAttribute, (tz_cu_handle function, int which, int value))               \
    X(kernel_launch, cuLaunchKernel,                                                               \
      (tz_cu_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, tz_cu_handle stream,             \
       void **arguments, void **extra))

typedef struct driver {
#define DRIVER_MEMBER(member, symbol, parameters) tz_cu_result(*member) parameters;
    DRIVER_TABLE(DRIVER_MEMBER)
#undef DRIVER_MEMBER
    void *library;
    int version_number; /* 1000 major + 10 minor */
    int devices;
} driver;

struct tz_cuda {
    driver driver;
    tz_cuda_device device;
    tz_cu_device handle;
    tz_cu_handle context;
};

/* "WHAT: CUDA_ERROR_X (its text)" */
static tz_status failed(const driver *api, tz_cu_result result, tz_error *error, const char *place,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

static tz_status failed(const driver *api, tz_cu_result result, tz_error *error, const char *place,
                        const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const char *name = NULL, *text = NULL;
    if (api->error_name(result, &name) != 0 || !name)
        name = "CUDA error";
    if (api->error_text(result, &text) != 0 || !text)
        text = "no text for it";
    return tz_error_set(error, TZ_BACKEND, place, "%s: %s %d (%s)", what, name, result, text);
}

static void driver_close(driver *api)
{
    if (api->library)
        dlclose(api->library);
    api->library = NULL;
}

/* The library, initialised, with at least one device. */
static tz_status driver_open(driver *api, tz_error *error)
{
    static const tz__symbol symbols[] = {
#define DRIVER_SYMBOL(member, symbol, parameters) {#symbol, offsetof(driver, member)},
        DRIVER_TABLE(DRIVER_SYMBOL)
#undef DRIVER_SYMBOL
    };
    memset(api, 0, sizeof *api);
    /* NODELETE: the driver starts threads of its own and does not like to be unloaded. */
    api->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!api->library) {
        const char *why = dlerror();
        return tz_error_set(error, TZ_BACKEND, NULL,
                            "no NVIDIA driver: libcuda.so.1 cannot be opened (%s); install one or "
                            "use --backend cpu",
                            why ? why : "no reason given");
    }
    const char *missing =
        tz__symbols_find(api->library, api, symbols, sizeof symbols / sizeof *symbols);
    tz_status status = TZ_OK;
    tz_cu_result result;
    if (missing)
        status = tz_error_set(error, TZ_BACKEND, NULL,
                              "the NVIDIA driver is too old: libcuda.so.1 has no %s; install a "
                              "newer driver or use --backend cpu",
                              missing);
    else if ((result = api->init(0)) != 0 && result != RESULT_NO_DEVICE)
        status = failed(api, result, error, NULL,
                        "the NVIDIA driver (libcuda.so.1) does not start; see nvidia-smi, or use "
                        "--backend cpu");
    else if (result == RESULT_NO_DEVICE || (result = api->device_count(&api->devices)) != 0 ||
             api->devices < 1)
        status = tz_error_set(error, TZ_BACKEND, NULL,
                              "no NVIDIA GPU: libcuda.so.1 finds no device; see nvidia-smi and "
                              "CUDA_VISIBLE_DEVICES, or use --backend cpu");
    else if (api->version(&api->version_number) != 0)
        api->version_number = 0;
    if (status != TZ_OK)
        driver_close(api);
    return status;
}

static tz_status device_look(const driver *api, int ordinal, tz_cuda_device *device,
                             tz_cu_device *handle, tz_error *error)
{
    size_t bytes = 0;
    memset(device, 0, sizeof *device);
    device->ordinal = ordinal;
    tz_cu_result result = api->device_get(handle, ordinal);
    if (!result)
        result = api->device_name(device->name, (int)sizeof device->name, *handle);
    if (!result)
        result = api->device_attribute(&device->major, DEVICE_MAJOR, *handle);
    if (!result)
        result = api->device_attribute(&device->minor, DEVICE_MINOR, *handle);
    if (!result)
        result = api->device_attribute(&device->processors, DEVICE_PROCESSORS, *handle);
    if (!result)
        result = api->device_attribute(&device->shared_bytes, DEVICE_SHARED_BYTES, *handle);
    if (!result)
        result = api->device_memory(&bytes, *handle);
    device->name[sizeof device->name - 1] = '\0';
    device->memory_bytes = (int64_t)bytes;
    if (result)
        return failed(api, result, error, NULL, "GPU %d does not answer; see nvidia-smi", ordinal);
    return TZ_OK;
}

static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void tz_cuda_describe(char *text, size_t size)
{
    if (size == 0)
        return;
    text[0] = '\0';
    tz_error error = {0};
    char line[sizeof error.place + sizeof error.message];
    driver api;
    if (driver_open(&api, &error) == TZ_OK) {
        append(text, size, "CUDA driver: %d.%d (libcuda.so.1)\n", api.version_number / 1000,
               api.version_number % 1000 / 10);
        for (int k = 0; k < api.devices; k++) {
            tz_cuda_device device;
            tz_cu_device handle;
            if (device_look(&api, k, &device, &handle, &error) == TZ_OK)
                append(text, size, "GPU %d: %s, sm_%d%d, %d multiprocessors, %.1f GiB\n", k,
                       device.name, device.major, device.minor, device.processors,
                       (double)device.memory_bytes / (1 << 30));
            else
                append(text, size, "GPU %d: %s\n", k, error.message);
        }
        driver_close(&api);
    } else {
        append(text, size, "CUDA driver: %s\n", error.message);
    }
    if (tz__nvrtc_describe(line, sizeof line, &error) != TZ_OK)
        tz_error_format(&error, line, sizeof line);
    append(text, size, "NVRTC: %s\n", line);
}

int tz_cuda_available(void)
{
    driver api;
    if (driver_open(&api, NULL) != TZ_OK)
        return 0;
    driver_close(&api);
    /* Kernels are compiled at run time: a GPU without a compiler cannot be used. */
    char text[256];
    tz_error error;
    return tz__nvrtc_describe(text, sizeof text, &error) == TZ_OK;
}

tz_status tz_cuda_open(tz_cuda **out, int ordinal, tz_error *error)
{
    *out = NULL;
    tz_cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to open the GPU");
    tz_status status = driver_open(&cuda->driver, error);
    if (status != TZ_OK)
        goto done;
    const driver *api = &cuda->driver;
    if (ordinal < 0 || ordinal >= api->devices) {
        status =
            tz_error_set(error, TZ_BACKEND, NULL,
                         "there is no GPU %d: %d found, counted from 0; choose one of them, or "
                         "see CUDA_VISIBLE_DEVICES",
                         ordinal, api->devices);
        goto done;
    }
    status = device_look(api, ordinal, &cuda->device, &cuda->handle, error);
    if (status != TZ_OK)
        goto done;
    tz_cu_result result = api->context_retain(&cuda->context, cuda->handle);
    if (result) {
        cuda->context = NULL;
        status = failed(api, result, error, NULL,
                        "cannot make a context on GPU %d, %s; see nvidia-smi for who holds it",
                        ordinal, cuda->device.name);
        goto done;
    }
    result = api->context_use(cuda->context);
    if (result)
        status =
            failed(api, result, error, NULL, "cannot use GPU %d, %s", ordinal, cuda->device.name);
done:
    if (status == TZ_OK)
        *out = cuda;
    else
        tz_cuda_close(cuda);
    return status;
}

void tz_cuda_close(tz_cuda *cuda)
{
    if (!cuda)
        return;
    if (cuda->context) {
        cuda->driver.context_use(NULL);
        cuda->driver.context_release(cuda->handle);
    }
    driver_close(&cuda->driver);
    free(cuda);
}

const tz_cuda_device *tz_cuda_device_of(const tz_cuda *cuda)
{
    return &cuda->device;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The context is the thread's: every call makes it so, whichever thread calls. */
static tz_cu_result enter(const tz_cuda *cuda)
{
    return cuda->driver.context_use(cuda->context);
}

tz_status tz_cuda_allocate(tz_cuda *cuda, tz_cu_pointer *out, size_t bytes, tz_error *error)
{
    const driver *api = &cuda->driver;
    *out = 0;
    tz_cu_result result = enter(cuda);
    if (!result)
        result = api->memory_allocate(out, bytes ? bytes : 1);
    if (!result)
        return TZ_OK;
    *out = 0;
    size_t free_bytes = 0, all_bytes = 0;
    if (result != RESULT_OUT_OF_MEMORY)
        return failed(api, result, error, NULL, "cannot allocate %zu bytes on the GPU", bytes);
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
    if (pointer && enter(cuda) == 0)
        cuda->driver.memory_free(pointer);
}

tz_status tz_cuda_upload(tz_cuda *cuda, tz_cu_pointer to, const void *from, size_t bytes,
                         tz_error *error)
{
    if (bytes == 0)
        return TZ_OK;
    tz_cu_result result = enter(cuda);
    if (!result)
        result = cuda->driver.memory_upload(to, from, bytes);
    if (!result)
        return TZ_OK;
    return failed(&cuda->driver, result, error, NULL, "cannot copy %zu bytes to the GPU", bytes);
}

tz_status tz_cuda_download(tz_cuda *cuda, void *to, tz_cu_pointer from, size_t bytes,
                           tz_error *error)
{
    if (bytes == 0)
        return TZ_OK;
    tz_cu_result result = enter(cuda);
    if (!result)
        result = cuda->driver.memory_download(to, from, bytes);
    if (!result)
        return TZ_OK;
    return failed(&cuda->driver, result, error, NULL, "cannot copy %zu bytes from the GPU", bytes);
}

tz_status tz_cuda_clear(tz_cuda *cuda, tz_cu_pointer to, size_t bytes, tz_error *error)
{
    if (bytes == 0)
        return TZ_OK;
    tz_cu_result result = enter(cuda);
    if (!result)
        result = cuda->driver.memory_set(to, 0, bytes);
    if (!result)
        return TZ_OK;
    return failed(&cuda->driver, result, error, NULL, "cannot clear %zu bytes on the GPU", bytes);
}

/* The box as the driver's own record: `device` and `host` are its two ends. */
static tz_status box_copy(tz_cuda *cuda, bool up, tz_cu_pointer pointer, void *host,
                          const tz_cuda_box *box, tz_error *error)
{
    if (box->row_bytes == 0 || box->rows == 0 || box->planes == 0)
        return TZ_OK;
    const bool one_row = box->rows == 1 && box->planes == 1;
    const bool one_plane = box->planes == 1;
    const size_t row_pitch = one_row ? box->row_bytes : box->device_row_pitch;
    const size_t plane_pitch = one_plane ? row_pitch * box->rows : box->device_plane_pitch;
    if (row_pitch < box->row_bytes || plane_pitch % row_pitch != 0 ||
        plane_pitch / row_pitch < box->rows)
        return tz_error_set(error, TZ_SHAPE, NULL,
                            "a box of %zu planes of %zu rows of %zu bytes does not fit pitches of "
                            "%zu bytes a row and %zu a plane (a plane is to be whole rows)",
                            box->planes, box->rows, box->row_bytes, box->device_row_pitch,
                            box->device_plane_pitch);
    const copy_side dense = {
        .memory = MEMORY_HOST, .host = host, .pitch = box->row_bytes, .height = box->rows};
    const copy_side pitched = {.memory = MEMORY_DEVICE,
                               .device = pointer + box->device_offset,
                               .pitch = row_pitch,
                               .height = plane_pitch / row_pitch};
    const copy_3d copy = {.from = up ? dense : pitched,
                          .to = up ? pitched : dense,
                          .row_bytes = box->row_bytes,
                          .rows = box->rows,
                          .planes = box->planes};
    tz_cu_result result = enter(cuda);
    if (!result)
        result = cuda->driver.memory_copy_3d(&copy);
    if (!result)
        return TZ_OK;
    return failed(&cuda->driver, result, error, NULL,
                  "cannot copy a box of %zu planes of %zu rows of %zu bytes %s the GPU",
                  box->planes, box->rows, box->row_bytes, up ? "to" : "from");
}

tz_status tz_cuda_upload_box(tz_cuda *cuda, tz_cu_pointer to, const tz_cuda_box *box,
                             const void *from, tz_error *error)
{
    return box_copy(cuda, true, to, (void *)from, box, error); /* only read */
}

tz_status tz_cuda_download_box(tz_cuda *cuda, void *to, tz_cu_pointer from, const tz_cuda_box *box,
                               tz_error *error)
{
    return box_copy(cuda, false, from, to, box, error);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

tz_status tz_cuda_load(tz_cuda *cuda, tz_cuda_kernel *out, const char *source, const char *function,
                       const tz_cuda_header *headers, size_t headers_count, tz_error *error)
{
    const driver *api = &cuda->driver;
    char architecture[32];
    void *cubin = NULL;
    size_t bytes = 0;
    bool cached = false;
    tz_status status = TZ_OK;
    memset(out, 0, sizeof *out);
    snprintf(architecture, sizeof architecture, "sm_%d%d", cuda->device.major, cuda->device.minor);
    tz_cu_result result = enter(cuda);
    if (result)
        return failed(api, result, error, function, "cannot use the GPU");
    /* A cached cubin that the driver refuses is a bad entry: once more, compiled anew. */
    for (int attempt = 0; attempt < 2; attempt++) {
        free(cubin);
        status = tz__cuda_cubin(architecture, source, headers, headers_count, attempt > 0, &cubin,
                                &bytes, &cached, error);
        if (status != TZ_OK)
            goto done;
        result = api->module_load(&out->module, cubin);
        if (!result || !cached)
            break;
    }
    if (result) {
        out->module = NULL;
        status = failed(api, result, error, function,
                        "the driver (CUDA %d.%d) does not load the kernel compiled for %s; it may "
                        "be older than NVRTC: update it",
                        api->version_number / 1000, api->version_number % 1000 / 10, architecture);
        goto done;
    }
    result = api->module_function(&out->function, out->module, function);
    if (!result)
        result = api->kernel_get(&out->registers, KERNEL_REGISTERS, out->function);
    if (!result)
        result = api->kernel_get(&out->local_bytes, KERNEL_LOCAL_BYTES, out->function);
    if (result)
        status = failed(api, result, error, function,
                        "the compiled source has no such kernel; declare it extern \"C\" "
                        "__global__");
done:
    free(cubin);
    if (status != TZ_OK)
        tz_cuda_unload(cuda, out);
    if (status == TZ_UNSUPPORTED) { /* no NVRTC: to a backend that needs it, a failure */
        status = TZ_BACKEND;
        if (error)
            error->code = status;
    }
    return status;
}

void tz_cuda_unload(tz_cuda *cuda, tz_cuda_kernel *kernel)
{
    if (kernel->module && enter(cuda) == 0)
        cuda->driver.module_unload(kernel->module);
    memset(kernel, 0, sizeof *kernel);
}

tz_status tz_cuda_launch(tz_cuda *cuda, const tz_cuda_kernel *kernel, const int grid[3],
                         const int block[3], int shared_bytes, void **arguments, tz_error *error)
{
    const driver *api = &cuda->driver;
    for (int k = 0; k < 3; k++)
        if (grid[k] < 1 || block[k] < 1)
            return tz_error_set(error, TZ_RANGE, NULL,
                                "a launch needs at least one block and one thread a dimension, not "
                                "%dx%dx%d of %dx%dx%d",
                                grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    if (shared_bytes < 0 || shared_bytes > cuda->device.shared_bytes)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "a block may have 0 to %d bytes of shared memory on %s, not %d",
                            cuda->device.shared_bytes, cuda->device.name, shared_bytes);
    tz_cu_result result = enter(cuda);
    if (!result && shared_bytes > 0) {
        int allowed = 0; /* 48 KiB less what the kernel has of its own, until more is asked for */
        result = api->kernel_get(&allowed, KERNEL_SHARED_BYTES, kernel->function);
        if (!result && shared_bytes > allowed)
            result = api->kernel_set(kernel->function, KERNEL_SHARED_BYTES, shared_bytes);
    }
    if (!result)
        result =
            api->kernel_launch(kernel->function, (unsigned)grid[0], (unsigned)grid[1],
                               (unsigned)grid[2], (unsigned)block[0], (unsigned)block[1],
                               (unsigned)block[2], (unsigned)shared_bytes, NULL, arguments, NULL);
    if (!result)
        return TZ_OK;
    return failed(
        api, result, error, NULL,
        "cannot launch %dx%dx%d blocks of %dx%dx%d threads with %d bytes of shared memory", grid[0],
        grid[1], grid[2], block[0], block[1], block[2], shared_bytes);
}

tz_status tz_cuda_wait(tz_cuda *cuda, tz_error *error)
{
    tz_cu_result result = enter(cuda);
    if (!result)
        result = cuda->driver.context_wait();
    if (!result)
        return TZ_OK;
    return failed(&cuda->driver, result, error, NULL, "the GPU %s failed while computing",
                  cuda->device.name);
}
