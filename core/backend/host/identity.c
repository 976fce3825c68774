#include "backend/host/identity.h"

#include "base/machine.h"
#include <inttypes.h>
#include <stdio.h>

tz_status tz_host_identify(int device, tz_device_identity *out, tz_error *error)
{
    tz_machine machine;
    (void)device;
    (void)error;
    tz_machine_read(&machine);
    *out = (tz_device_identity){.units = machine.cores,
                                .vector_bytes = tz_isa_vector_bytes(machine.isa)};
    snprintf(out->name, sizeof out->name, "%s", machine.cpu);
    snprintf(out->key, sizeof out->key, "%s %s %" PRId64 " %" PRId64, machine.cpu,
             tz_isa_name(machine.isa), machine.l2_bytes, machine.l3_bytes);
    return TZ_OK;
}
