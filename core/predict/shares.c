#include "predict/shares.h"

#include "backend/slabs/cut.h"
#include "calibrate/records.h"
#include "model/roofs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cut by speed leaves room for ghost zones of so many iterations, or of as many as an equal cut. */
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
    const tz_place place = {.device = record, .threads = devices->of[i].threads};
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
