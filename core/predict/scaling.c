#include "predict/scaling.h"

#include "model/roofs.h"
#include <math.h>
#include <string.h>

/* Grids from the workload's divided by 2 ^ LADDER to it times 2 ^ LADDER. */
enum { LADDER = 10 };
static const double GAIN = 0.95, CELLS_MOST = 1e12;

/* The workload's grid times 2 ^ power along each axis. False: too small or too large. */
static bool scale_grid(const tz_problem *problem, int power, tz_problem *out)
{
    double cells = 1.0;
    *out = *problem;
    for (int axis = 0; axis < problem->dims; axis++) {
        const double n = ldexp((double)problem->extent[axis], power);
        const double word = axis == 0 && problem->bits ? 32.0 : 1.0;
        cells *= n;
        if (n < word || n > INT32_MAX || cells > CELLS_MOST)
            return false;
        out->extent[axis] = (int64_t)n;
        out->elements[axis] = (int64_t)ceil((double)out->extent[axis] / word);
    }
    return true;
}

/* The shortest time of an iteration on so many devices; INFINITY: none of the plans can be
 * predicted. */
static double shortest(const tz_workload *workload, const tz_problem *problem, int devices,
                       const tz_plan *plan)
{
    tz_devices some = workload->devices;
    tz_place place = workload->place;
    const tz_backend *backend = devices > 1 ? workload->backend : workload->inner;
    double least = INFINITY;
    some.count = devices;
    place.devices = devices > 1 ? &some : NULL;
    for (int height = 1; height <= 2 * plan->height; height *= 2) {
        tz_plan own = {.height = height,
                       .vector = plan->vector,
                       .ahead = 0,
                       .warps = plan->warps,
                       .blocks = plan->blocks,
                       .lanes = plan->lanes,
                       .swap = plan->swap};
        tz_model_work work;
        tz_model_prediction prediction;
        memcpy(own.family, plan->family, sizeof own.family);
        if (backend->plan(problem, &place, &own, NULL) == TZ_OK &&
            backend->work(problem, &place, &own, TZ_EFFORT_CACHED, &work, NULL) == TZ_OK &&
            tz_roofs_predict(&work, &workload->device, &prediction, NULL) == TZ_OK)
            least = fmin(least, prediction.time_s);
    }
    return least;
}

void tz_scaling_find(const tz_workload *workload, const tz_plan *plan, tz_scaling *out)
{
    /* Slabs on one CPU share its threads: fewer of them are no smaller machine. */
    const bool alike = workload->is_gpu || workload->devices.apart;
    const int most = alike ? workload->devices.count : 0;
    *out = (tz_scaling){.count = 0};
    for (int half = 1; half < most && out->count < TZ_SCALING_MAX; half *= 2) {
        const int devices = 2 * half < most ? 2 * half : most;
        const int at = out->count++;
        out->at[at].devices = devices;
        for (int power = -LADDER; power <= LADDER; power++) {
            tz_problem problem;
            if (!scale_grid(&workload->problem, power, &problem))
                continue;
            double fewer_s = INFINITY;
            for (int fewer = half; fewer >= 1; fewer /= 2)
                fewer_s = fmin(fewer_s, shortest(workload, &problem, fewer, plan));
            if (shortest(workload, &problem, devices, plan) < GAIN * fewer_s) {
                memcpy(out->at[at].extent, problem.extent, sizeof out->at[at].extent);
                break;
            }
        }
    }
}
