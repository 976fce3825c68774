/* The text that names devices, and the devices of all ranks. Called by serve.c, and where devices
 * are only predicted. */
#include "backend/slabs/slabs.h"

#include "base/names.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one slab to another; cuts are found in double. */
#define SHARE_MIN 1e-6
#define SHARE_MAX 1e6

static const char HOW[] = "use GPU numbers (\"0,2\"), \"all\", \"cpu:2\", or one of these with its "
                          "share of the grid (\"0,1*0.5\")";

typedef struct reader {
    const char *text;
    const tz_backend *backend; /* of the entries so far; NULL: not known */
    tz_devices *out;
    tz_error *error;
} reader;

static tz_status take_backend(reader *r, const tz_backend *backend)
{
    if (r->backend && r->backend != backend)
        return tz_error_set(r->error, TZ_RANGE, "devices",
                            "\"%.200s\" has a device of the %s backend, and the others are of the "
                            "%s backend: all slabs of a run have the same one",
                            r->text, backend->name, r->backend->name);
    r->backend = backend;
    return TZ_OK;
}

static tz_status add(reader *r, int device, double share) /* 0: the usual one */
{
    if (r->out->count == TZ_DEVICES_MAX)
        return tz_error_set(r->error, TZ_RANGE, "devices", "\"%.200s\" has more than %d slabs",
                            r->text, TZ_DEVICES_MAX);
    r->out->of[r->out->count].device = device;
    r->out->of[r->out->count].given = share > 0.0;
    r->out->of[r->out->count++].share = share > 0.0 ? share : 1.0;
    return TZ_OK;
}

static tz_status add_gpu(reader *r, int device, double share)
{
    tz_device_identity identity;
    tz_status status = take_backend(r, &tz_backend_cuda);
    if (!status)
        status = tz_backend_cuda.identify(device, &identity, r->error);
    return status ? status : add(r, device, share);
}

static tz_status add_all_gpus(reader *r, double share)
{
    tz_device_identity identity;
    int device = 0;
    tz_status status = take_backend(r, &tz_backend_cuda);
    for (; !status && (device == 0 || tz_backend_cuda.identify(device, &identity, NULL) == TZ_OK);
         device++)
        status = add_gpu(r, device, share);
    return status;
}

static tz_status add_named(reader *r, const char *name, long slabs, double share)
{
    const tz_backend *backend = NULL;
    tz_status status = tz_backend_find(name, &backend, r->error);
    if (!status && backend->is_gpu)
        return tz_error_set(r->error, TZ_RANGE, "devices", "\"%.200s\": GPUs have numbers: %s",
                            r->text, HOW);
    if (!status)
        status = take_backend(r, backend);
    for (long i = 0; !status && i < slabs; i++)
        status = add(r, 0, share);
    return status;
}

/* An entry, which ends before `end`. */
static tz_status read_entry(reader *r, const char *entry, size_t length)
{
    char name[64] = "", *rest;
    double share = 0.0;
    long slabs = 1;
    bool ok = length < sizeof name;
    memcpy(name, entry, ok ? length : 0);
    char *star = strchr(name, '*');
    if (star) {
        *star = '\0';
        share = strtod(star + 1, &rest);
        ok = rest > star + 1 && *rest == '\0' && share >= SHARE_MIN && share <= SHARE_MAX;
    }
    char *colon = strchr(name, ':');
    if (ok && colon) {
        *colon = '\0';
        slabs = strtol(colon + 1, &rest, 10);
        ok = rest > colon + 1 && *rest == '\0' && slabs >= 1 && slabs <= TZ_DEVICES_MAX;
    }
    const bool number = name[0] && name[strspn(name, "0123456789")] == '\0';
    if (!ok || !name[0] || (number && colon))
        return tz_error_set(r->error, TZ_RANGE, "devices", "\"%.200s\" names no devices: %s",
                            r->text, HOW);
    if (number) {
        const long device = strtol(name, NULL, 10);
        return add_gpu(r, device < INT_MAX ? (int)device : INT_MAX, share);
    }
    if (strcmp(name, "all") == 0 && !colon)
        return add_all_gpus(r, share);
    return add_named(r, name, slabs, share);
}

tz_status tz_devices_parse(const char *text, const tz_backend *backend, int threads,
                           const tz_backend **found, tz_devices *out, tz_error *error)
{
    reader r = {.text = text, .backend = backend, .out = out, .error = error};
    tz_status status = TZ_OK;
    *out = (tz_devices){.count = 0};
    for (const char *at = text;; at++) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, ", ");
        status = read_entry(&r, at, length);
        at += length + strspn(at + length, " ");
        if (status || *at == '\0')
            break;
        if (*at != ',')
            return tz_error_set(error, TZ_RANGE, "devices",
                                "\"%.200s\": devices are separated by commas", text);
    }
    const int each = r.backend && r.backend->serial ? 1 : threads / (out->count ? out->count : 1);
    for (int i = 0; i < out->count; i++) {
        out->of[i].threads = each > 0 ? each : 1;
        if (each > 0 && r.backend && !r.backend->serial && i < threads % out->count)
            out->of[i].threads++;
    }
    *found = r.backend;
    return status;
}

const char *tz_shares_text(tz_shares how)
{
    static const char *const texts[] = {
        "equal: the devices are alike", "as given", "by predicted speed",
        "equal: a device has no prediction (run trapeze calibrate there)",
        "equal: slabs by predicted speed would be too thin"};
    return texts[how];
}

/* The part of rank `local` of `count` ranks that divide the devices of a machine. */
static void keep_part(tz_devices *devices, int local, int count)
{
    const int n = devices->count;
    int low = n * local / count, high = n * (local + 1) / count;
    devices->shared = n < count;
    if (n < count)
        high = low + 1;
    for (int i = low; i < high; i++)
        devices->of[i - low] = devices->of[i];
    devices->count = high - low;
}

/* The devices of all ranks. */
static tz_status gather(tz_devices *devices, const tz_ranks *ranks, bool are_gpus, tz_error *error)
{
    if (are_gpus)
        keep_part(devices, ranks->local_rank, ranks->local_count);
    tz_devices *all = calloc((size_t)ranks->count, sizeof *all);
    if (!all)
        ranks->abort(ranks, "not enough memory for the devices of the ranks");
    ranks->gather_all(ranks, devices, sizeof *devices, all);
    *devices = (tz_devices){.rank = ranks->rank};
    int count = 0;
    for (int r = 0; r < ranks->count; r++)
        devices->shared |= all[r].shared;
    for (int r = 0; r < ranks->count; r++)
        for (int i = 0; i < all[r].count; i++, count++)
            if (count < TZ_DEVICES_MAX) {
                devices->of[count] = all[r].of[i];
                devices->of[count].rank = r;
            }
    free(all);
    devices->count = count;
    if (count <= TZ_DEVICES_MAX)
        return TZ_OK;
    devices->count = 0;
    return tz_error_set(error, TZ_RANGE, "devices", "%d ranks have %d devices; %d are possible",
                        ranks->count, count, TZ_DEVICES_MAX);
}

static tz_status find_here(const tz_ranks *ranks, const tz_devices_wish *wish,
                           const tz_backend **backend, tz_devices *out, tz_error *error)
{
    const char *names = wish->names;
    const int threads = wish->threads > 0 ? wish->threads : tz_ranks_cores(ranks);
    *out = (tz_devices){.count = 1};
    *backend = wish->backend;
    if (!names && wish->backend->is_gpu && wish->device == 0)
        names = "all";
    if (names)
        return tz_devices_parse(names, wish->backend, threads, backend, out, error);
    out->of[0].device = wish->device;
    out->of[0].threads = threads;
    out->of[0].share = 1.0;
    return TZ_OK;
}

tz_status tz_devices_find(const tz_ranks *ranks, const tz_devices_wish *wish,
                          const tz_backend **backend, tz_devices *out, tz_error *error)
{
    const tz_status status =
        tz_ranks_agree(ranks, find_here(ranks, wish, backend, out, error), error);
    return status || !ranks ? status : gather(out, ranks, (*backend)->is_gpu, error);
}
