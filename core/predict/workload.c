/* Creates workloads from options: problem, record, backend and devices. Called by core/lua and
 * core/cli. Also finds the shares of unequal devices, for core/sim and core/cli. */
#include "predict/workload.h"

#include "backend/slabs/cut.h"
#include "backend/slabs/slabs.h"
#include "base/machine.h"
#include "calibrate/records.h"
#include "model/roofs.h"
#include "stencil/registry.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Shares of devices of unequal speed ------------------------------------------------------ */

/* A cut by speed leaves room for ghost zones of so many iterations, or of as many as an equal
 * cut. */
enum { EXCHANGE_ROOM = 32 };

/* Of a device, for all ranks. */
typedef struct fact {
    char name[128];
    int threads;  /* of a CPU, else 0 */
    double speed; /* iterations a second; 0: not known */
} fact;

static bool are_alike(const fact *a, const fact *b)
{
    return strcmp(a->name, b->name) == 0 && a->threads == b->threads;
}

/* Predicted iterations a second of the fastest of some plans; 0: no prediction. */
static double predict(const tz_devices *devices, int i, const tz_backend *inner,
                      const tz_problem *problem, const tz_model_device *record)
{
    const tz_place place = {
        .device = record, .threads = devices->of[i].threads, .absent = true /* alike everywhere */};
    double least = INFINITY;
    int sharers = 0; /* threads that use the memory of a CPU at the same time */
    for (int k = 0; !inner->is_gpu && !devices->apart && k < devices->count; k++)
        sharers += devices->of[k].rank == devices->of[i].rank ? devices->of[k].threads : 0;
    for (int height = 1; record && inner->work && height <= 16; height *= 2) {
        tz_plan plan = {.height = height};
        tz_model_work work;
        tz_model_prediction prediction;
        if (inner->plan(problem, &place, &plan, NULL) != TZ_OK ||
            inner->work(problem, &place, &plan, TZ_EFFORT_CACHED, &work, NULL) != TZ_OK)
            continue;
        work.sharers += sharers;
        if (tz_roofs_predict(&work, record, &prediction, NULL) == TZ_OK)
            least = fmin(least, prediction.time_s);
    }
    return least > 0.0 && isfinite(least) ? 1.0 / least : 0.0;
}

/* Every rank's facts, in the order of devices. */
static void share_facts(const tz_devices *devices, const tz_ranks *ranks, fact *facts)
{
    const int64_t bytes = TZ_DEVICES_MAX * (int64_t)sizeof *facts;
    fact *all = ranks ? malloc((size_t)(ranks->count * bytes)) : NULL;
    if (!ranks)
        return;
    if (!all)
        ranks->abort(ranks, "not enough memory for the speeds of the ranks' devices");
    ranks->gather_all(ranks, facts, bytes, all);
    for (int i = 0; i < devices->count; i++)
        facts[i] = all[devices->of[i].rank * TZ_DEVICES_MAX + i];
    free(all);
}

static bool has_room(const tz_devices *devices, const tz_problem *problem, int exchange)
{
    tz_cut cut;
    return tz_cut_make(&cut, problem, devices, NULL) == TZ_OK &&
           tz_cut_exchange_max(&cut) >= exchange;
}

/* Iterations that the ghost zones of an equal cut may have, at most EXCHANGE_ROOM. */
static int room_of_equal(const tz_devices *devices, const tz_problem *problem)
{
    int exchange = EXCHANGE_ROOM;
    while (exchange > 0 && !has_room(devices, problem, exchange))
        exchange--;
    return exchange;
}

static void set_shares(tz_devices *devices, const tz_problem *problem, fact *facts)
{
    const int room = room_of_equal(devices, problem);
    double most = 0.0;
    for (int i = 0; i < devices->count; i++) {
        for (int k = i - 1; k >= 0; k--) /* records of two machines differ by noise */
            if (are_alike(&facts[i], &facts[k]))
                facts[i].speed = facts[k].speed;
        if (!(facts[i].speed > 0.0)) {
            devices->how = TZ_SHARES_UNKNOWN;
            return;
        }
        most = fmax(most, facts[i].speed);
    }
    devices->how = TZ_SHARES_PREDICTED;
    for (int i = 0; i < devices->count; i++)
        devices->of[i].share = facts[i].speed / most;
    if (has_room(devices, problem, room))
        return;
    devices->how = TZ_SHARES_THIN;
    for (int i = 0; i < devices->count; i++)
        devices->of[i].share = 1.0;
}

void tz_shares_find(tz_devices *devices, const tz_backend *inner, const tz_problem *problem,
                    const tz_share_of *own, const tz_ranks *ranks)
{
    fact facts[TZ_DEVICES_MAX] = {{.speed = 0.0}};
    bool alike = true;
    devices->how = TZ_SHARES_EQUAL;
    for (int i = 0; i < devices->count; i++)
        if (devices->of[i].given)
            devices->how = TZ_SHARES_GIVEN;
    if (devices->how == TZ_SHARES_GIVEN)
        return;
    for (int i = 0; i < devices->count; i++)
        if (tz_devices_are_own(devices, i)) {
            snprintf(facts[i].name, sizeof facts[i].name, "%s", own[i].name);
            facts[i].threads = inner->is_gpu ? 0 : devices->of[i].threads;
        }
    share_facts(devices, ranks, facts);
    for (int i = 1; i < devices->count; i++)
        alike = alike && are_alike(&facts[i], &facts[0]);
    if (alike)
        return;
    for (int i = 0; i < devices->count; i++)
        if (tz_devices_are_own(devices, i))
            facts[i].speed = predict(devices, i, inner, problem, own[i].record);
    share_facts(devices, ranks, facts);
    set_shares(devices, problem, facts);
}

void tz_shares_find_here(tz_devices *devices, const tz_backend *inner, const tz_problem *problem,
                         const tz_ranks *ranks)
{
    tz_share_of own[TZ_DEVICES_MAX] = {{.name = NULL}};
    tz_device_identity identities[TZ_DEVICES_MAX];
    tz_model_device *records = calloc(TZ_DEVICES_MAX, sizeof *records);
    for (int i = 0; i < devices->count; i++) {
        const int device = devices->of[i].device;
        if (!tz_devices_are_own(devices, i))
            continue;
        const bool known = inner->identify(device, &identities[i], NULL) == TZ_OK;
        own[i].name = known ? identities[i].name : "";
        if (records && tz_device_of(inner, device, &records[i], NULL) == TZ_OK)
            own[i].record = &records[i];
    }
    tz_shares_find(devices, inner, problem, own, ranks);
    free(records);
}

/* ---- Workloads ------------------------------------------------------------------------------- */

/* How fast a plan is does not depend on the values of constants that vary: 1 stands for each that
 * the plugin leaves to scenarios. */
static tz_status stand_in(tz_workload *workload, const tz_stencil *stencil,
                          tz_simulation_config *config, tz_error *error)
{
    static const double one = 1.0;
    const bool any = stencil->constants_count > 0 && !stencil->at_step;
    workload->scalars = any ? calloc((size_t)stencil->constants_count, sizeof(tz_series)) : NULL;
    if (any && !workload->scalars)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    for (int k = 0; any && k < stencil->constants_count; k++)
        if (stencil->constants[k].varies)
            workload->scalars[workload->scalars_count++] =
                (tz_series){.name = stencil->constants[k].name, .count = 1, .values = &one};
    if (config->scalars_count == 0) {
        config->scalars = workload->scalars;
        config->scalars_count = workload->scalars_count;
    }
    return TZ_OK;
}

static tz_status resolve(tz_workload *workload, const tz_workload_config *config,
                         const tz_stencil *stencil, tz_error *error)
{
    tz_simulation_config again = *config->simulation;
    const int flag = tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_ALLOW_UNSTABLE);
    tz_status status = stand_in(workload, stencil, &again, error);
    if (!status)
        status = tz_problem_resolve(&workload->problem, stencil, &again, error);
    if (status != TZ_UNSTABLE || !config->let_unstable || flag < 0)
        return status;
    tz_assignment *params = calloc(again.params_count + 1, sizeof *params);
    if (!params)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    if (again.params_count > 0)
        memcpy(params, again.params, again.params_count * sizeof *params);
    params[again.params_count++] = (tz_assignment){.name = stencil->params[flag].name, .number = 1};
    again.params = params;
    workload->let_unstable = true;
    const tz_status second = tz_problem_resolve(&workload->problem, stencil, &again, error);
    free(params);
    return second;
}

/* Whether a named record describes a device of this machine: its title is the device's name. */
static bool describes_this_machine(const tz_workload *workload, int ordinal)
{
    tz_device_identity device;
    return workload->backend->identify(ordinal, &device, NULL) == TZ_OK &&
           strncmp(device.name, workload->device.title, sizeof workload->device.title - 1) == 0;
}

/* The record, and the backend that runs on such a device. */
static tz_status find_device(tz_workload *workload, const tz_workload_config *config,
                             tz_error *error)
{
    const tz_simulation_config *simulation = config->simulation;
    const bool any = !simulation->backend || strcmp(simulation->backend, "auto") == 0;
    tz_status status = tz_backend_find(simulation->backend, &workload->backend, error);
    if (status)
        return status;
    if (!workload->backend->work)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "the %s backend has a single plan and no predictions: use cpu or cuda",
                            workload->backend->name);
    if (!config->device) {
        workload->is_here = true;
        workload->is_gpu = workload->backend->is_gpu;
        return tz_device_of(workload->backend, simulation->device, &workload->device, error);
    }
    status = tz_device_find(config->device, &workload->device, error);
    if (status)
        return status;
    workload->is_gpu = workload->device.sm_count.known;
    const tz_backend *runs = tz_backend_of_kind(workload->is_gpu);
    if (!any && workload->backend->is_gpu != workload->is_gpu)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "%s is a %s: the %s backend does not run there, %s does",
                            workload->device.name, workload->is_gpu ? "GPU" : "CPU",
                            workload->backend->name, runs->name);
    if (any)
        workload->backend = runs;
    workload->is_here = describes_this_machine(workload, simulation->device);
    return TZ_OK;
}

/* ---- Several devices ------------------------------------------------------------------------- */

/* The number in a text of digits alone; 0: another text. */
static int read_count(const char *text)
{
    char *end;
    const long count = strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && count <= INT32_MAX ? (int)count : 0;
}

/* The devices of a text that names them; their backend becomes that of the workload. */
static tz_status name_devices(tz_workload *workload, const tz_simulation_config *simulation,
                              int threads, tz_simulation_config *own, tz_error *error)
{
    const tz_backend *backend = NULL, *found = NULL;
    const bool any = !simulation->backend || strcmp(simulation->backend, "auto") == 0;
    tz_status status = any ? TZ_OK : tz_backend_find(simulation->backend, &backend, error);
    if (!status)
        status = tz_devices_parse(simulation->devices, backend, threads, &found, &workload->devices,
                                  error);
    if (!status) {
        own->backend = found->name;
        own->device = workload->devices.of[0].device;
    }
    return status;
}

/* As many devices as the text says, all like the workload's. */
static tz_status count_devices(tz_workload *workload, const char *text, tz_error *error)
{
    const int count = read_count(text);
    if (count < 1 || count > TZ_DEVICES_MAX)
        return tz_error_set(error, TZ_RANGE, "devices", "%s devices; 1 to %d are possible", text,
                            TZ_DEVICES_MAX);
    for (int i = 0; i < count; i++) {
        workload->devices.of[i].device = i;
        workload->devices.of[i].threads = workload->place.threads;
        workload->devices.of[i].share = 1.0;
    }
    workload->devices.count = count;
    workload->devices.apart = !workload->is_gpu;
    for (int i = 1; i < count; i++) /* CPUs of other machines, or GPUs that are not there */
        workload->is_here = workload->is_here && workload->is_gpu &&
                            workload->backend->identify(i, &(tz_device_identity){0}, NULL) == TZ_OK;
    return TZ_OK;
}

/* `here`: the devices are those of this machine. */
static tz_status set_devices(tz_workload *workload, const char *link, bool here, tz_error *error)
{
    if (workload->devices.count < 2) {
        if (link)
            return tz_error_set(error, TZ_UNSUPPORTED, "link",
                                "one device has no links: give devices, too");
        return TZ_OK;
    }
    tz_status status =
        tz_link_find(link, &workload->device, &workload->link, &workload->link_assumed, error);
    if (!status)
        status = tz_slabs_backend(workload->backend, &workload->devices, &workload->slabs, error);
    if (!status && here)
        tz_shares_find_here(&workload->devices, workload->backend, &workload->problem, NULL);
    workload->joined =
        (tz_link){workload->link.latency_s.value, workload->link.bandwidth_bytes_per_s.value};
    workload->backend = &workload->slabs;
    workload->place.devices = &workload->devices;
    workload->place.link = &workload->joined;
    return status;
}

void tz_workload_alone(const tz_workload *workload, tz_workload *out)
{
    *out = *workload;
    out->backend = out->inner;
    out->devices.count = 0;
    out->place.device = &out->device;
    out->place.devices = NULL;
    out->place.link = NULL;
}

double tz_workload_devices(const tz_workload *workload)
{
    const tz_devices *devices = &workload->devices;
    double sum = 0.0;
    if (devices->count < 2 || (!workload->is_gpu && !devices->apart))
        return 1.0;
    for (int i = 0; i < devices->count; i++)
        sum += devices->of[i].share / devices->of[0].share;
    return sum;
}

static void describe(tz_workload *workload)
{
    const tz_problem *p = &workload->problem;
    char side[TZ_BOUNDARY_TEXT_SIZE];
    size_t a = 0, b = 0;
    bool same = true;
    for (int axis = 0; axis < p->dims; axis++) {
        same = same && memcmp(p->boundary[axis], p->boundary[0], sizeof p->boundary[0]) == 0;
        a += (size_t)snprintf(workload->grid + a, sizeof workload->grid - a, "%s%" PRId64,
                              axis ? " x " : "", p->extent[axis]);
    }
    for (int axis = 0; axis < (same ? 1 : p->dims); axis++)
        b += (size_t)snprintf(workload->boundary + b, sizeof workload->boundary - b, "%s%s",
                              axis ? ", " : "", tz_boundary_text(p->boundary[axis], side));
    char storage[TZ_STORAGE_TEXT_SIZE];
    tz_problem_storage_text(p, storage);
    snprintf(workload->precision, sizeof workload->precision, "%s",
             p->bits                            ? "bits"
             : !tz_stencil_has_real(p->stencil) ? "integers"
             : strlen(storage) > 4              ? "partly half"
             : storage[0]                       ? tz_stored_name(TZ_STORED_HALF)
                                                : tz_precision_name(p->precision));
}

tz_status tz_workload_create(tz_workload **out, const tz_workload_config *config, tz_error *error)
{
    const tz_simulation_config *simulation = config->simulation;
    const tz_stencil *stencil = NULL;
    tz_machine machine;
    *out = NULL;
    tz_workload *workload = calloc(1, sizeof *workload);
    if (!workload)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    tz_status status = tz_registry_find(simulation->registry, simulation->stencil, &stencil,
                                        &workload->plugin, error);
    if (!status)
        status = resolve(workload, config, stencil, error);
    tz_machine_read(&machine);
    tz_simulation_config own = *simulation;
    tz_workload_config with_own = *config;
    with_own.simulation = &own;
    const int threads = simulation->threads > 0 ? simulation->threads : machine.cores;
    const bool named = simulation->devices && read_count(simulation->devices) == 0;
    if (!status && named)
        status = name_devices(workload, simulation, threads, &own, error);
    if (!status) { /* the scenario's may not live as long */
        workload->problem.scalars = workload->scalars;
        workload->problem.scalars_count = workload->scalars_count;
        status = find_device(workload, &with_own, error);
    }
    for (size_t i = 0; !status && i < config->changes_count; i++)
        status = tz_device_change(&workload->device, config->changes[i].key,
                                  config->changes[i].value, error);
    workload->place.absent = !workload->is_here || config->changes_count > 0;
    workload->is_here = !workload->place.absent;
    workload->inner = workload->backend;
    workload->place.device = &workload->device;
    workload->place.cancel.stopped = simulation->stopped;
    workload->place.cancel.cancelled = simulation->cancelled;
    workload->place.threads = simulation->threads > 0                 ? simulation->threads
                              : workload->is_here || workload->is_gpu ? machine.cores
                              : workload->device.cores.known ? (int)workload->device.cores.value
                                                             : machine.cores;
    if (!status && simulation->devices && !named)
        status = count_devices(workload, simulation->devices, error);
    if (!status)
        status = set_devices(workload, config->link, named && !config->device, error);
    if (status) {
        tz_workload_destroy(workload);
        return status;
    }
    describe(workload);
    *out = workload;
    return TZ_OK;
}

void tz_workload_destroy(tz_workload *workload)
{
    if (!workload)
        return;
    tz_problem_clear(&workload->problem);
    free(workload->scalars);
    free(workload);
}
