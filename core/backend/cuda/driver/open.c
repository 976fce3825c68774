/* Opens the CUDA driver, looks at its devices, and makes a context; calls.c has the calls. Symbols
 * and numbers are those of cuda.h. */
#include "backend/cuda/driver/driver_impl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tz__driver_close(tz__driver *api)
{
    tz_library_close(&api->library);
}

tz_status tz__driver_load(tz__driver *api, tz_error *error)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    static const tz_library_symbol symbols[] = {
#define DRIVER_SYMBOL(member, symbol, parameters) {#symbol, offsetof(tz__driver, member), false},
        TZ__DRIVER_TABLE(DRIVER_SYMBOL)
#undef DRIVER_SYMBOL
    };
    memset(api, 0, sizeof *api);
    api->library = tz_library_open(names, api, symbols, sizeof symbols / sizeof *symbols);
    if (!api->library.handle) {
        const char *why = tz_library_why();
        return tz_error_set(error, TZ_BACKEND, NULL,
                            "no NVIDIA driver: %s; install one or use --backend cpu",
                            why ? why : "libcuda.so.1 cannot be opened");
    }
    const char *missing = api->library.missing;
    if (!missing)
        return TZ_OK;
    tz__driver_close(api);
    return tz_error_set(error, TZ_BACKEND, NULL,
                        "the NVIDIA driver is too old: libcuda.so.1 has no %s; install a newer "
                        "driver or use --backend cpu",
                        missing);
}

tz_status tz__driver_open(tz__driver *api, tz_error *error)
{
    tz_cu_result result;
    tz_status status = tz__driver_load(api, error);
    if (status)
        return status;
    if ((result = api->init(0)) != 0 && result != TZ__CU_NO_DEVICE)
        status = tz__driver_failed(api, NULL, result, error, NULL,
                                   "the NVIDIA driver (libcuda.so.1) does not start; see "
                                   "nvidia-smi, or use --backend cpu");
    else if (result == TZ__CU_NO_DEVICE || (result = api->device_count(&api->devices)) != 0 ||
             api->devices < 1)
        status = tz_error_set(error, TZ_BACKEND, NULL,
                              "no NVIDIA GPU: libcuda.so.1 finds no device; see nvidia-smi and "
                              "CUDA_VISIBLE_DEVICES, or use --backend cpu");
    else if (api->version(&api->version_number) != 0)
        api->version_number = 0;
    if (status)
        tz__driver_close(api);
    return status;
}

typedef struct attribute {
    int which; /* CUdevice_attribute */
    int *value;
    bool needed; /* else the value is 0 where the driver does not know it */
} attribute;

static tz_cu_result attributes_read(const tz__driver *api, tz_cu_device handle,
                                    const attribute *attributes, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const tz_cu_result result =
            api->device_attribute(attributes[k].value, attributes[k].which, handle);
        if (result && attributes[k].needed)
            return result;
        if (result)
            *attributes[k].value = 0;
    }
    return 0;
}

tz_status tz__device_look(const tz__driver *api, int ordinal, tz_cuda_device *device,
                          tz_cu_device *handle, tz_error *error)
{
    size_t bytes = 0;
    int cooperative = 0, limit = 0;
    memset(device, 0, sizeof *device);
    device->ordinal = ordinal;
    const attribute attributes[] = {
        {75, &device->major, true},                       /* COMPUTE_CAPABILITY_MAJOR */
        {76, &device->minor, true},                       /* COMPUTE_CAPABILITY_MINOR */
        {16, &device->multiprocessors, true},             /* MULTIPROCESSOR_COUNT */
        {97, &device->shared_bytes, true},                /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
        {111, &device->shared_reserved_bytes, false},     /* RESERVED_SHARED_MEMORY_PER_BLOCK */
        {81, &device->multiprocessor_shared_bytes, true}, /* MAX_SHARED_MEMORY_PER_MULTIPROCESSOR */
        {82, &device->multiprocessor_registers, true},    /* MAX_REGISTERS_PER_MULTIPROCESSOR */
        {39, &device->multiprocessor_threads, true},      /* MAX_THREADS_PER_MULTIPROCESSOR */
        {106, &device->multiprocessor_blocks, false},     /* MAX_BLOCKS_PER_MULTIPROCESSOR */
        {38, &device->l2_bytes, true},                    /* L2_CACHE_SIZE */
        {13, &device->clock_khz, false},                  /* CLOCK_RATE */
        {36, &device->memory_clock_khz, false},           /* MEMORY_CLOCK_RATE */
        {37, &device->memory_bus_bits, false},            /* GLOBAL_MEMORY_BUS_WIDTH */
        {95, &cooperative, false},                        /* COOPERATIVE_LAUNCH */
        {17, &limit, false},                              /* KERNEL_EXEC_TIMEOUT */
    };
    tz_cu_result result = api->device_get(handle, ordinal);
    if (!result)
        result = api->device_name(device->name, (int)sizeof device->name, *handle);
    if (!result)
        result = api->device_memory(&bytes, *handle);
    if (!result)
        result = attributes_read(api, *handle, attributes, sizeof attributes / sizeof *attributes);
    if (!result && api->device_bus_id(device->bus_id, (int)sizeof device->bus_id, *handle) != 0)
        device->bus_id[0] = '\0'; /* only the energy counter needs it */
    device->name[sizeof device->name - 1] = '\0';
    device->bus_id[sizeof device->bus_id - 1] = '\0';
    device->memory_bytes = (int64_t)bytes;
    device->cooperative = cooperative;
    device->time_limit = limit;
    device->driver = api->version_number;
    if (!result)
        return TZ_OK;
    char what[64];
    snprintf(what, sizeof what, "GPU %d does not answer; see nvidia-smi", ordinal);
    return tz__driver_failed(api, NULL, result, error, NULL, what);
}

static tz_status check_ordinal(const tz__driver *api, int ordinal, tz_error *error)
{
    if (ordinal >= 0 && ordinal < api->devices)
        return TZ_OK;
    return tz_error_set(error, TZ_BACKEND, NULL,
                        "there is no GPU %d: %d found, counted from 0; choose one of them, or see "
                        "CUDA_VISIBLE_DEVICES",
                        ordinal, api->devices);
}

bool tz__peers_look(const tz__driver *api, int a, int b, bool *are)
{
    int there = 0, back = 0;
    tz_cu_device first, second;
    const bool known = api->device_get(&first, a) == 0 && api->device_get(&second, b) == 0 &&
                       api->peer_can(&there, first, second) == 0 &&
                       api->peer_can(&back, second, first) == 0;
    *are = known && there && back;
    return known;
}

bool tz_cuda_are_peers(int a, int b)
{
    tz__driver api;
    bool are = false;
    if (tz__driver_open(&api, NULL) != TZ_OK)
        return false;
    tz__peers_look(&api, a, b, &are);
    tz__driver_close(&api);
    return are;
}

tz_status tz_cuda_open(tz_cuda **out, int ordinal, tz_error *error)
{
    *out = NULL;
    tz_cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to open the GPU");
    tz_status status = tz__driver_open(&cuda->driver, error);
    if (status)
        goto done;
    const tz__driver *api = &cuda->driver;
    status = check_ordinal(api, ordinal, error);
    if (status)
        goto done;
    status = tz__device_look(api, ordinal, &cuda->device, &cuda->handle, error);
    if (status)
        goto done;
    tz_cu_result result = api->context_retain(&cuda->context, cuda->handle);
    if (result) {
        cuda->context = NULL;
        char what[sizeof cuda->device.name + 64];
        snprintf(what, sizeof what, "cannot make a context on GPU %d, %s", ordinal,
                 cuda->device.name);
        status = tz__driver_failed(api, &cuda->device, result, error, NULL, what);
        goto done;
    }
    status = tz__cuda_enter(cuda, error);
done:
    if (!status)
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
    tz__driver_close(&cuda->driver);
    free(cuda);
}

void tz_cuda_cancel_by(tz_cuda *cuda, tz_cancel cancel)
{
    cuda->cancel = cancel;
}

const tz_cuda_device *tz_cuda_device_of(const tz_cuda *cuda)
{
    return &cuda->device;
}

int tz_cuda_devices_count(void)
{
    tz__driver api;
    if (tz__driver_open(&api, NULL) != TZ_OK)
        return 0;
    tz__driver_close(&api);
    return api.devices;
}

tz_status tz_cuda_look(int ordinal, tz_cuda_device *out, tz_error *error)
{
    tz__driver api;
    tz_cu_device handle;
    memset(out, 0, sizeof *out);
    tz_status status = tz__driver_open(&api, error);
    if (status)
        return status;
    status = check_ordinal(&api, ordinal, error);
    if (!status)
        status = tz__device_look(&api, ordinal, out, &handle, error);
    tz__driver_close(&api);
    return status;
}
