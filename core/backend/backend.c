/* The table of all backends, their lookup by name or kind, and the checks and host identity that
 * they share. Called by core/sim, core/predict, core/cli and the backends. */
#include "backend/backend.h"

#include "base/machine.h"
#include "base/names.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const tz_backend *const tz_backends[] = {&tz_backend_cuda, &tz_backend_cpu, &tz_backend_reference,
                                         NULL};

tz_limits tz_place_limits(const tz_place *place)
{
    static const tz_limits h200 = {.multiprocessors = 132, .shared_bytes = 227 << 10};
    const tz_model_device *record = place->device;
    tz_limits limits = place->limits;
    if (limits.multiprocessors == 0 && record && record->sm_count.known)
        limits.multiprocessors = (int)record->sm_count.value;
    if (limits.shared_bytes == 0 && record && record->shared_per_block_max_bytes.known)
        limits.shared_bytes = (int)record->shared_per_block_max_bytes.value;
    if (limits.multiprocessors == 0)
        limits.multiprocessors = h200.multiprocessors;
    if (limits.shared_bytes == 0)
        limits.shared_bytes = h200.shared_bytes;
    return limits;
}

static bool has_family(const tz_backend *backend, const char *family)
{
    bool found = false;
    for (int i = 0; backend->family(i) && !found; i++)
        found = strcmp(backend->family(i), family) == 0;
    return found;
}

tz_status tz_backend_check_plan(const tz_plan *given, const tz_backend *backend, tz_error *error)
{
    if (given->family[0] && !has_family(backend, given->family)) {
        const char *second = backend->family(1);
        return tz_error_set(error, TZ_UNKNOWN, "family",
                            "'%s' is no family of the %s backend, which has '%s'%s%s%s",
                            given->family, backend->name, backend->family(0),
                            second ? " and '" : "", second ? second : "", second ? "'" : "");
    }
    const char *knob = tz_plan_first_knob(given);
    if (given->exchange > 0)
        return tz_error_set(error, TZ_UNSUPPORTED, "exchange",
                            "only slabs on several devices have exchanges");
    if (knob)
        return tz_error_set(error, TZ_UNSUPPORTED, "plan",
                            "the %s backend takes only height and tile: '%s' is a knob of the cuda "
                            "backend",
                            backend->name, knob);
    return TZ_OK;
}

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

const tz_backend *tz_backend_of_kind(bool is_gpu)
{
    const tz_backend *const *backend = tz_backends;
    while ((*backend)->is_gpu != is_gpu || !(*backend)->work)
        backend++;
    return *backend;
}

tz_status tz_backend_find(const char *name, const tz_backend **out, tz_error *error)
{
    const char *names[8] = {"auto"};
    size_t count = 1;
    if (!name || strcmp(name, "auto") == 0) {
        const tz_backend *const *first = tz_backends;
        while ((*first)->available && !(*first)->available())
            first++;
        *out = *first;
        return TZ_OK;
    }
    for (const tz_backend *const *backend = tz_backends; *backend; backend++) {
        if (strcmp((*backend)->name, name) == 0) {
            *out = *backend;
            return TZ_OK;
        }
        names[count++] = (*backend)->name;
    }
    char hint[256];
    tz_names_hint(hint, sizeof hint, name, names, count);
    return tz_error_set(error, TZ_UNKNOWN, "backend", "unknown backend '%s'%s", name, hint);
}

/* ---- Names of families ----------------------------------------------------------------------- */

/* Of earlier versions; backends take them as others. */
static const char *const former[] = {"skew"};

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

size_t tz_family_names(const char *names[TZ_FAMILIES_MAX])
{
    size_t count = 0;
    const char *family;
    for (const tz_backend *const *backend = tz_backends; *backend; backend++)
        for (int i = 0; (family = (*backend)->family(i)) && count < TZ_FAMILIES_MAX; i++)
            if (!is_among(family, names, count))
                names[count++] = family;
    return count;
}

tz_status tz_family_check(const char *name, tz_error *error)
{
    const char *names[TZ_FAMILIES_MAX];
    const size_t count = tz_family_names(names);
    char hint[128];
    if (is_among(name, names, count) || is_among(name, former, 1))
        return TZ_OK;
    return tz_error_set(error, TZ_UNKNOWN, "family", "unknown family '%.40s'%s", name,
                        tz_names_hint(hint, sizeof hint, name, names, count));
}
