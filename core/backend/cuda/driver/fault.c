/* What the driver's results mean to a user. cuda.h defines their numbers, their names, and which of
 * them end a context. */
#include "backend/cuda/driver/driver_impl.h"

#include <stdarg.h>
#include <stdio.h>

/* The kinds differ in the form of their message. */
typedef enum fault_kind {
    REFUSED, /* the call failed: "WHAT: HAPPENED; REMEDY" */
    KERNEL,  /* an earlier kernel ended the context: "a kernel HAPPENED on GPU; REMEDY" */
    DEVICE,  /* this process has lost the device: "HAPPENED GPU; REMEDY" */
} fault_kind;

typedef struct fault {
    tz_cu_result result;
    fault_kind kind;
    const char *happened, *remedy;
} fault;

#define FIND_STAGE "run with --sync to find the stage"
#define SEE_SMI "see nvidia-smi and the system's log (dmesg)"

static const fault faults[] = {
    {TZ__CU_OUT_OF_MEMORY, REFUSED, "not enough GPU memory",
     "use a smaller grid or --backend cpu, or see nvidia-smi for the programs that hold it"},
    {46, REFUSED, "the GPU is held by another process or closed to computing",
     "see nvidia-smi for its compute mode"},
    {701, REFUSED, "the kernel needs more registers or threads than a multiprocessor has",
     "use a smaller height or tile"},
    {720, REFUSED, "more blocks than the GPU holds at once cannot wait for each other",
     "use fewer or smaller blocks"},
    {802, REFUSED, "the system is not ready for CUDA",
     "on machines with NVSwitch see whether nvidia-fabricmanager runs"},
    {803, REFUSED, "libcuda.so.1 and the kernel's driver module are of different versions",
     "restart the machine after a driver update"},
    {804, REFUSED, "this GPU does not work with the installed compatibility libcuda.so.1",
     "take it out of LD_LIBRARY_PATH"},

    {700, KERNEL, "read or wrote outside its memory", FIND_STAGE},
    {710, KERNEL, "failed an assertion", FIND_STAGE},
    {714, KERNEL, "ran out of its stack", FIND_STAGE},
    {715, KERNEL, "came to an illegal instruction", FIND_STAGE},
    {716, KERNEL, "read or wrote at a misaligned address", FIND_STAGE},
    {717, KERNEL, "used an address of the wrong kind of memory", FIND_STAGE},
    {718, KERNEL, "jumped out of its program", FIND_STAGE},
    {719, KERNEL, "failed", FIND_STAGE},
    {721, KERNEL, "kept tensor memory", FIND_STAGE},
    {702, KERNEL, "ran longer than the system allows",
     "this GPU also drives a display: use a smaller height or grid, or another GPU (--device)"},

    {4, DEVICE, "the driver is shutting down, and with it", "start again"},
    {101, DEVICE, "the driver no longer knows", SEE_SMI},
    {214, DEVICE, "memory error that cannot be corrected (ECC) on",
     "start again; if it comes back, " SEE_SMI},
    {220, DEVICE, "NVLink error that cannot be corrected on",
     "start again; if it comes back, " SEE_SMI},
    {226, DEVICE, "hardware error on", "start again; if it comes back, " SEE_SMI},
    {709, DEVICE, "the context was destroyed on", "start again"},
    {810, DEVICE, "the MPS server ended this process's use of",
     "start again; see the server's log"},
    {911, DEVICE, "a device that works together with it failed, and with it",
     "start again; if it comes back, " SEE_SMI},
    {999, DEVICE, "the driver lost", SEE_SMI},
};

static const fault *fault_find(tz_cu_result result)
{
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
        if (faults[k].result == result)
            return &faults[k];
    return NULL;
}

tz_status tz__driver_failed(const tz__driver *api, const tz_cuda_device *device,
                            tz_cu_result result, tz_error *error, const char *place,
                            const char *what)
{
    const char *name = NULL, *text = NULL;
    char gpu[sizeof device->name + 32] = "the GPU";
    if (api->error_name(result, &name) != 0 || !name)
        name = "CUDA error";
    if (api->error_text(result, &text) != 0 || !text)
        text = "no text for it";
    if (device)
        snprintf(gpu, sizeof gpu, "GPU %d, %s", device->ordinal, device->name);
    const fault *known = fault_find(result);
    if (!known)
        return tz_error_set(error, TZ_BACKEND, place, "%s: %s %d (%s)", what, name, result, text);
    switch (known->kind) {
    case KERNEL:
        return tz_error_set(error, TZ_BACKEND, NULL, "a kernel %s on %s (%s %d); %s",
                            known->happened, gpu, name, result, known->remedy);
    case DEVICE:
        return tz_error_set(error, TZ_BACKEND, NULL, "%s %s (%s %d); %s", known->happened, gpu,
                            name, result, known->remedy);
    case REFUSED:
        break;
    }
    return tz_error_set(error, result == TZ__CU_OUT_OF_MEMORY ? TZ_MEMORY : TZ_BACKEND, place,
                        "%s: %s (%s %d); %s", what, known->happened, name, result, known->remedy);
}

static tz_status first_fault(const tz_cuda *cuda, tz_error *error)
{
    if (error)
        *error = cuda->fault;
    return cuda->fault.code;
}

tz_status tz__cuda_check(tz_cuda *cuda, tz_cu_result result, tz_error *error, const char *place,
                         const char *format, ...)
{
    char what[512];
    va_list arguments;
    if (!result)
        return TZ_OK;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const fault *known = fault_find(result);
    if (!known || known->kind == REFUSED)
        return tz__driver_failed(&cuda->driver, &cuda->device, result, error, place, what);
    tz_error fresh = {0};
    tz__driver_failed(&cuda->driver, &cuda->device, result, &fresh, place, what);
    int before = TZ__INTACT;
    if (atomic_compare_exchange_strong(&cuda->broken, &before, TZ__BREAKING)) {
        cuda->fault = fresh;
        atomic_store(&cuda->broken, TZ__BROKEN);
    } else if (before == TZ__BROKEN) {
        return first_fault(cuda, error);
    }
    if (error)
        *error = fresh;
    return fresh.code;
}

tz_status tz__cuda_enter(tz_cuda *cuda, tz_error *error)
{
    if (atomic_load(&cuda->broken) == TZ__BROKEN)
        return first_fault(cuda, error);
    const tz_cu_result result = cuda->driver.context_use(cuda->context);
    return tz__cuda_check(cuda, result, error, NULL, "cannot use the GPU");
}
