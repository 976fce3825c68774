/* Parser of link records, and the links that a device record describes: peer, host, mpi. Called by
 * core/calibrate, core/backend/slabs, core/sim and core/cli. */
#include "model/link.h"

#include "base/names.h"
#include <stdio.h>
#include <string.h>

static const tz_model_key keys[] = {TZ_MODEL_NAME_KEYS(tz_model_link)
#define LINK_KEY(member, key, quantity, min, max, doc)                                             \
    {key, TZ_MODEL_##quantity, offsetof(tz_model_link, member), min, max, doc, NAN},
                                        TZ_MODEL_LINK_TABLE(LINK_KEY)
#undef LINK_KEY
};

tz_status tz_model_link_parse(const char *path, const char *text, size_t length, tz_model_link *out,
                              tz_error *error)
{
    tz_status status = tz__record_parse(keys, sizeof keys / sizeof *keys, out, sizeof *out, path,
                                        text, length, error);
    if (!status && (!out->latency_s.known || !out->bandwidth_bytes_per_s.known))
        status = tz_error_set(error, TZ_FORMAT, path, "the record of this link has no %s",
                              out->latency_s.known ? "bandwidth" : "latency");
    return status;
}

tz_status tz_model_link_of(const tz_model_device *device, const char *name, tz_model_link *out,
                           bool *assumed, tz_error *error)
{
    static const char *const names[] = {"peer", "host", "mpi"};
    const tz_model_number *numbers[][2] = {
        {&device->peer_latency_s, &device->peer_bandwidth_bytes_per_s},
        {&device->host_latency_s, &device->host_bandwidth_bytes_per_s},
        {&device->mpi_latency_s, &device->mpi_bandwidth_bytes_per_s}};
    enum { COUNT = sizeof names / sizeof *names };
    char hint[128];
    int k = 0;
    *assumed = false;
    memset(out, 0, sizeof *out);
    if (!name || !*name)
        k = numbers[0][0]->known && numbers[0][1]->known ? 0 : 1;
    else
        while (k < COUNT && strcmp(name, names[k]) != 0)
            k++;
    if (k == COUNT)
        return tz_error_set(error, TZ_UNKNOWN, "link", "there is no link '%.60s'%s", name,
                            tz_names_hint(hint, sizeof hint, name, names, COUNT));
    snprintf(out->name, sizeof out->name, "%s", names[k]);
    tz_model_number *const into[] = {&out->latency_s, &out->bandwidth_bytes_per_s};
    for (int i = 0; i < 2; i++) {
        *into[i] = *numbers[k][i];
        into[i]->value = tz_model_device_value(device, numbers[k][i]);
        if (isnan(into[i]->value))
            return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                                "the record of this device has no %s_%s: calibrate it where there "
                                "is such a link, or give --link nvlink, pcie or a file",
                                names[k], i == 0 ? "latency" : "bandwidth");
        *assumed = *assumed || !into[i]->known;
        into[i]->known = true;
    }
    return TZ_OK;
}
