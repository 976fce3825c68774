/* Sums of instruction mixes, and clocks of a round, interpolated between simulated numbers of
 * warps. Called by core/backend/cuda, roofs_gpu.c and roofs_cpu.c. */
#include "model/scheduler/rounds.h"

#include <math.h>

double tz_work_mix_sum(const tz_work_mix *mix)
{
    double sum = 0.0;
    for (int c = 0; c < TZ_WORK_CLASSES; c++)
        sum += mix->of[c];
    return sum;
}

double tz_rounds_clocks(const tz_rounds *r, double warps)
{
    const int last = r->count - 1;
    if (last < 0)
        return 0.0;
    if (warps <= r->warps[0])
        return r->clocks[0];
    if (warps >= r->warps[last])
        return r->clocks[last] * warps / r->warps[last];
    int k = 0;
    while (r->warps[k + 1] < warps)
        k++;
    const double t = (warps - r->warps[k]) / (r->warps[k + 1] - r->warps[k]);
    return r->clocks[k] + t * (r->clocks[k + 1] - r->clocks[k]);
}

int tz_rounds_near(const tz_rounds *r, double warps)
{
    int best = r->count > 0 ? 0 : -1;
    for (int k = 1; k < r->count; k++)
        if (fabs(r->warps[k] - warps) < fabs(r->warps[best] - warps))
            best = k;
    return best;
}

void tz_rounds_blend(tz_rounds *to, double a, const tz_rounds *from, double b)
{
    if (from->count == 0 && to->count == 0)
        return;
    if (to->count == 0) {
        *to = *from;
        a = 0.0;
    }
    for (int k = 0; k < to->count; k++)
        to->clocks[k] = fmax(0.0, a * to->clocks[k] + b * tz_rounds_clocks(from, to->warps[k]));
}
