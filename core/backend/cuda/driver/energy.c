/* A GPU's energy and clock, for calibration, reports and doctor. Symbols and numbers are those of
 * nvml.h. */
#include "backend/cuda/driver/energy.h"

#include "base/library.h"
#include <stdlib.h>

enum { NVML_NOT_SUPPORTED = 3, NVML_DRIVER_NOT_LOADED = 9 }; /* nvmlReturn_t */
enum { NVML_CLOCK_SM = 1 };                                  /* nvmlClockType_t */
enum {                                                       /* nvmlClocksEventReasons */
       REASON_SW_POWER_CAP = 0x4,
       REASON_HW_SLOWDOWN = 0x8, /* power drawn too fast, or heat */
       REASON_SW_THERMAL = 0x20,
       REASON_HW_THERMAL = 0x40,
       REASON_HW_POWER_BRAKE = 0x80
};

typedef struct nvml_device *device_handle;

/* X(member, result type, symbol, parameters) */
#define NVML_TABLE(X)                                                                              \
    X(init, int, nvmlInit_v2, (void))                                                              \
    X(shutdown, int, nvmlShutdown, (void))                                                         \
    X(error_text, const char *, nvmlErrorString, (int result))                                     \
    X(device_find, int, nvmlDeviceGetHandleByPciBusId_v2,                                          \
      (const char *bus_id, device_handle *device))                                                 \
    X(energy, int, nvmlDeviceGetTotalEnergyConsumption,                                            \
      (device_handle device, unsigned long long *millijoules))

/* Symbols that an older NVML may lack. */
#define NVML_OPTIONAL_TABLE(X)                                                                     \
    X(clock_info, int, nvmlDeviceGetClockInfo,                                                     \
      (device_handle device, int type, unsigned *megahertz))                                       \
    X(reasons, int, nvmlDeviceGetCurrentClocksEventReasons,                                        \
      (device_handle device, unsigned long long *reasons))                                         \
    X(reasons_before_535, int, nvmlDeviceGetCurrentClocksThrottleReasons,                          \
      (device_handle device, unsigned long long *reasons))                                         \
    X(power_limit, int, nvmlDeviceGetEnforcedPowerLimit,                                           \
      (device_handle device, unsigned *milliwatts))

struct tz_cuda_energy {
#define NVML_MEMBER(member, type, symbol, parameters) type(*member) parameters;
    NVML_TABLE(NVML_MEMBER)
    NVML_OPTIONAL_TABLE(NVML_MEMBER)
#undef NVML_MEMBER
    tz_library library;
    bool started;
    device_handle device;
};

static tz_status refused(const tz_cuda_energy *energy, int result, const char *what,
                         tz_error *error)
{
    const char *text = energy->error_text(result);
    return tz_error_set(error, TZ_UNSUPPORTED, NULL, "%s (NVML: %s, %d)", what,
                        text ? text : "no text for it", result);
}

static tz_status too_old(const char *symbol, tz_error *error)
{
    return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                        "this NVML is too old: libnvidia-ml.so.1 has no %s", symbol);
}

tz_status tz_cuda_energy_open(tz_cuda_energy **out, const tz_cuda_device *device, tz_error *error)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    static const tz_library_symbol symbols[] = {
#define NVML_SYMBOL(member, type, symbol, parameters)                                              \
    {#symbol, offsetof(tz_cuda_energy, member), false},
#define NVML_OPTIONAL(member, type, symbol, parameters)                                            \
    {#symbol, offsetof(tz_cuda_energy, member), true},
        NVML_TABLE(NVML_SYMBOL) NVML_OPTIONAL_TABLE(NVML_OPTIONAL)
#undef NVML_SYMBOL
#undef NVML_OPTIONAL
    };
    *out = NULL;
    tz_status status = TZ_OK;
    tz_cuda_energy *energy = calloc(1, sizeof *energy);
    if (!energy)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to open NVML");
    energy->library = tz_library_open(names, energy, symbols, sizeof symbols / sizeof *symbols);
    if (!energy->library.handle) {
        status = tz_error_set(error, TZ_UNSUPPORTED, NULL,
                              "no NVML: libnvidia-ml.so.1, a part of the driver, cannot be opened");
        goto failed;
    }
    if (energy->library.missing) {
        status = too_old(energy->library.missing, error);
        goto failed;
    }
    if (!energy->reasons)
        energy->reasons = energy->reasons_before_535;
    int result = energy->init();
    if (result) {
        status = refused(energy, result,
                         result == NVML_DRIVER_NOT_LOADED ? "the driver is not loaded"
                                                          : "NVML does not start",
                         error);
        goto failed;
    }
    energy->started = true;
    result = energy->device_find(device->bus_id, &energy->device);
    if (result) {
        status = refused(energy, result, "NVML does not find the GPU by its bus id", error);
        goto failed;
    }
    double joules;
    status = tz_cuda_energy_read(energy, &joules, error);
    if (status)
        goto failed;
    *out = energy;
    return TZ_OK;
failed:
    tz_cuda_energy_close(energy);
    return status;
}

void tz_cuda_energy_close(tz_cuda_energy *energy)
{
    if (!energy)
        return;
    if (energy->started)
        energy->shutdown();
    tz_library_close(&energy->library);
    free(energy);
}

tz_status tz_cuda_energy_read(tz_cuda_energy *energy, double *joules, tz_error *error)
{
    unsigned long long millijoules = 0;
    *joules = 0;
    const int result = energy->energy(energy->device, &millijoules);
    if (result)
        return refused(energy, result,
                       result == NVML_NOT_SUPPORTED ? "this GPU counts no energy"
                                                    : "the GPU's energy cannot be read",
                       error);
    *joules = 1e-3 * (double)millijoules;
    return TZ_OK;
}

tz_status tz_cuda_energy_clock(tz_cuda_energy *energy, tz_clock_facts *clock, tz_error *error)
{
    unsigned megahertz = 0;
    unsigned long long reasons = 0;
    *clock = (tz_clock_facts){0};
    if (!energy->clock_info || !energy->reasons)
        return too_old(energy->clock_info ? "nvmlDeviceGetCurrentClocksThrottleReasons"
                                          : "nvmlDeviceGetClockInfo",
                       error);
    int result = energy->clock_info(energy->device, NVML_CLOCK_SM, &megahertz);
    if (!result)
        result = energy->reasons(energy->device, &reasons);
    if (result)
        return refused(energy, result, "the GPU's clock cannot be read", error);
    clock->hz = 1e6 * megahertz;
    clock->for_power =
        (reasons & (REASON_SW_POWER_CAP | REASON_HW_SLOWDOWN | REASON_HW_POWER_BRAKE)) != 0;
    clock->for_heat = (reasons & (REASON_SW_THERMAL | REASON_HW_THERMAL)) != 0;
    return TZ_OK;
}

tz_status tz_cuda_energy_limit(tz_cuda_energy *energy, double *watts, tz_error *error)
{
    unsigned milliwatts = 0;
    *watts = 0;
    if (!energy->power_limit)
        return too_old("nvmlDeviceGetEnforcedPowerLimit", error);
    const int result = energy->power_limit(energy->device, &milliwatts);
    if (result)
        return refused(energy, result, "the GPU's power limit cannot be read", error);
    *watts = 1e-3 * milliwatts;
    return TZ_OK;
}
