/* libnvidia-ml.so.1 without a GPU: see fake.h. Each reading of the energy is 1.5 J above the one
 * before; with FAKE_NVML_WATTS it grows with the clock instead, in steps of 20 ms. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT(type, symbol, parameters)                                                           \
    __attribute__((visibility("default"))) type symbol parameters;                                 \
    type symbol parameters

static int started;

static int fault_of(const char *symbol)
{
    const char *text = getenv("FAKE_NVML_FAULT");
    const size_t length = strlen(symbol);
    return text && strncmp(text, symbol, length) == 0 && text[length] == ':'
               ? atoi(text + length + 1)
               : 0;
}

EXPORT(int, nvmlInit_v2, (void))
{
    const int fault = fault_of("nvmlInit_v2");
    started += !fault;
    return fault;
}

EXPORT(int, nvmlShutdown, (void))
{
    return started > 0 ? (started--, 0) : 1;
}

EXPORT(const char *, nvmlErrorString, (int result))
{
    return result == 3 ? "Not Supported" : "text of a fake";
}

EXPORT(int, nvmlDeviceGetHandleByPciBusId_v2, (const char *bus_id, void **device))
{
    static int devices[8];
    const int fault = fault_of("nvmlDeviceGetHandleByPciBusId_v2");
    const int which = strlen(bus_id) == 12 ? bus_id[6] - '0' : -1;
    if (fault || which < 0 || which > 7)
        return fault ? fault : 6;
    *device = &devices[which];
    return started ? 0 : 1;
}

EXPORT(int, nvmlDeviceGetTotalEnergyConsumption, (void *device, unsigned long long *millijoules))
{
    static _Atomic unsigned long long counter = 1234500;
    const int fault = fault_of("nvmlDeviceGetTotalEnergyConsumption");
    if (fault || !device)
        return fault ? fault : 2;
    const char *watts = getenv("FAKE_NVML_WATTS");
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (watts)
        *millijoules =
            (unsigned long long)(atof(watts) * 20) *
            ((unsigned long long)now.tv_sec * 50 + (unsigned long long)now.tv_nsec / 20000000);
    else
        *millijoules = counter += 1500;
    return started ? 0 : 1;
}

static unsigned number_of(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

EXPORT(int, nvmlDeviceGetClockInfo, (void *device, int type, unsigned *megahertz))
{
    const int fault = fault_of("nvmlDeviceGetClockInfo");
    if (fault || !device || type != 1)
        return fault ? fault : 2;
    *megahertz = number_of("FAKE_NVML_CLOCK", 1980);
    return started ? 0 : 1;
}

/* An NVML older than 535, which lacks the newer name. */
EXPORT(int, nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons))
{
    const int fault = fault_of("nvmlDeviceGetCurrentClocksThrottleReasons");
    if (fault || !device)
        return fault ? fault : 2;
    *reasons = number_of("FAKE_NVML_REASONS", 0);
    return started ? 0 : 1;
}

EXPORT(int, nvmlDeviceGetEnforcedPowerLimit, (void *device, unsigned *milliwatts))
{
    const int fault = fault_of("nvmlDeviceGetEnforcedPowerLimit");
    if (fault || !device)
        return fault ? fault : 2;
    *milliwatts = 700000;
    return started ? 0 : 1;
}
