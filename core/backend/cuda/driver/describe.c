/* What `trapeze doctor` says of GPUs and of the libraries that they need. */
#include "backend/cuda/compile/compile.h"
#include "backend/cuda/driver/driver_impl.h"
#include "backend/cuda/driver/energy.h"
#include "backend/cuda/driver/fft.h"
#include "base/cache.h"

#include <stdio.h>
#include <string.h>

/* The energy that a device has used, or why it is unknown, as text. */
static void energy_describe(const tz_cuda_device *device, char *text, size_t size)
{
    tz_error error = {0};
    tz_cuda_energy *energy;
    double joules = 0;
    tz_status status = tz_cuda_energy_open(&energy, device, &error);
    if (!status)
        status = tz_cuda_energy_read(energy, &joules, &error);
    if (!status)
        snprintf(text, size, "%.3f kJ since the driver was loaded", 1e-3 * joules);
    else
        snprintf(text, size, "not known: %s", error.message);
    tz_cuda_energy_close(energy);
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

/* How slabs on two GPUs exchange ghost zones: a line for each pair. */
static void peers_describe(const tz__driver *api, char *text, size_t size)
{
    for (int i = 0; i < api->devices; i++)
        for (int k = i + 1; k < api->devices; k++) {
            bool are;
            const bool known = tz__peers_look(api, i, k, &are);
            append(text, size, "GPU %d and %d: %s\n", i, k,
                   !known ? "peer access is not known"
                   : are  ? "peer access: they copy to each other directly"
                          : "no peer access: copies go through host memory");
        }
}

/* How ranks of this machine exchange ghost zones with this GPU. Containers may refuse it all the
 * same. */
static void sharing_describe(const tz__driver *api, int ordinal, tz_cu_device handle, char *text,
                             size_t size)
{
    int shares = 0;
    if (api->device_attribute(&shares, 125 /* IPC_EVENT_SUPPORTED */, handle) != 0)
        return;
    append(text, size, "GPU %d between ranks of this machine: %s\n", ordinal,
           shares ? "processes can share its memory; trapeze explain says whether a run did"
                  : "through host memory, since processes cannot share its events");
}

void tz_cuda_describe(char *text, size_t size)
{
    if (size == 0)
        return;
    text[0] = '\0';
    tz_error error = {0};
    char line[sizeof error.place + sizeof error.message];
    tz__driver api;
    if (tz__driver_open(&api, &error) == TZ_OK) {
        append(text, size, "CUDA driver: %d.%d (libcuda.so.1)\n", api.version_number / 1000,
               api.version_number % 1000 / 10);
        for (int k = 0; k < api.devices; k++) {
            tz_cuda_device device;
            tz_cu_device handle;
            if (tz__device_look(&api, k, &device, &handle, &error) != TZ_OK) {
                append(text, size, "GPU %d: %s\n", k, error.message);
                continue;
            }
            append(text, size, "GPU %d: %s, sm_%d%d, %d multiprocessors, %.1f GiB%s\n", k,
                   device.name, device.major, device.minor, device.multiprocessors,
                   (double)device.memory_bytes / (1 << 30),
                   device.time_limit ? ", stops kernels that take long" : "");
            energy_describe(&device, line, sizeof line);
            append(text, size, "GPU %d energy: %s\n", k, line);
            sharing_describe(&api, k, handle, text, size);
        }
        peers_describe(&api, text, size);
        tz__driver_close(&api);
    } else {
        append(text, size, "CUDA driver: %s\n", error.message);
    }
    if (tz_cuda_compile_describe(line, sizeof line, &error) != TZ_OK)
        tz_error_format(&error, line, sizeof line);
    append(text, size, "NVRTC: %s\n", line);
    append(text, size, "compilers at once: %d\n", tz_cuda_compilers_at_once());
    if (tz_cuda_fft_describe(line, sizeof line, &error) != TZ_OK)
        tz_error_format(&error, line, sizeof line);
    append(text, size, "cuFFT: %s\n", line);
    tz_cache_describe(line, sizeof line);
    append(text, size, "compiled kernels: %s\n", line);
}

int tz_cuda_installed(void)
{
    tz__driver api;
    const bool installed = tz__driver_load(&api, NULL) == TZ_OK;
    if (installed)
        tz__driver_close(&api);
    return installed;
}

int tz_cuda_available(void)
{
    tz__driver api;
    tz_cuda_compilers_begin(); /* it opens NVRTC meanwhile */
    if (tz__driver_open(&api, NULL) != TZ_OK)
        return 0;
    tz__driver_close(&api);
    /* Kernels are compiled at run time, so a GPU without NVRTC cannot be used. */
    char text[256];
    tz_error error;
    return tz_cuda_compile_describe(text, sizeof text, &error) == TZ_OK;
}
