#include "backend/slabs/cut.h"

#include "backend/host/reduce.h"
#include "stencil/stencil.h"
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

static const char *const slices[] = {"cells", "rows", "planes"};

tz_status tz_cut_make(tz_cut *out, const tz_problem *problem, const tz_devices *devices,
                      tz_error *error)
{
    const int axis = problem->dims - 1, count = devices->count;
    const int64_t n = problem->extent[axis], unit = axis == 0 ? TZ_REDUCE_SEGMENT : 1;
    const tz_reach reach = tz_stencil_reach_sides(problem->stencil);
    double all = 0.0, sum = 0.0;
    *out = (tz_cut){.count = count, .thinnest = n};
    if (problem->bits && axis == 0 && count > 1)
        return tz_error_set(error, TZ_UNSUPPORTED, "devices",
                            "'%s' has bits in 1-D, which are not cut into slabs: use one device",
                            problem->stencil->id);
    for (int i = 0; i < count; i++)
        all += devices->of[i].share;
    for (int i = 0; i < count; i++) {
        sum += devices->of[i].share;
        out->at[i + 1] =
            i == count - 1 ? n : (int64_t)llround((double)n * sum / all / (double)unit) * unit;
        const int64_t thick = out->at[i + 1] - out->at[i];
        if (thick < 1)
            return tz_error_set(error, TZ_RANGE, "devices",
                                "%d devices are too many for a grid of %" PRId64
                                " %s: each needs at least %" PRId64,
                                count, n, slices[axis], unit);
        out->thinnest = thick < out->thinnest ? thick : out->thinnest;
    }
    out->before = count > 1 ? reach.low[axis] : 0;
    out->after = count > 1 ? reach.high[axis] : 0;
    return TZ_OK;
}

tz_problem tz_cut_slab(const tz_cut *cut, const tz_problem *problem, int i, int exchange)
{
    const tz_boundary *sides = problem->boundary[problem->dims - 1];
    const bool ring = sides[0] == TZ_PERIODIC;
    return tz_problem_slab(problem, cut->at[i], cut->at[i + 1],
                           i > 0 || ring ? (int64_t)cut->before * exchange : 0,
                           i < cut->count - 1 || ring ? (int64_t)cut->after * exchange : 0);
}

int tz_cut_slowest(const tz_cut *cut, const tz_problem *problem, const tz_devices *devices,
                   int exchange)
{
    int slowest = 0;
    double most = 0.0;
    for (int i = 0; i < cut->count; i++) {
        const tz_problem slab = tz_cut_slab(cut, problem, i, exchange);
        const double cells = (double)slab.elements[problem->dims - 1] / devices->of[i].share;
        if (cells > most) {
            most = cells;
            slowest = i;
        }
    }
    return slowest;
}

static int larger_reach(const tz_cut *cut)
{
    return cut->before > cut->after ? cut->before : cut->after;
}

int tz_cut_exchange_max(const tz_cut *cut)
{
    const int reach = larger_reach(cut);
    const int64_t most = reach > 0 ? cut->thinnest / reach : INT_MAX;
    return most < TZ_PLAN_HEIGHT_MAX ? (int)most : TZ_PLAN_HEIGHT_MAX;
}

tz_status tz_cut_check(const tz_cut *cut, const tz_problem *problem, int exchange, tz_error *error)
{
    const int axis = problem->dims - 1, most = tz_cut_exchange_max(cut);
    if (exchange <= most)
        return TZ_OK;
    const int64_t need = (int64_t)exchange * larger_reach(cut), n = problem->extent[axis];
    const int64_t fit = n / need;
    char rather[96] = "";
    if (most > 0)
        snprintf(rather, sizeof rather, ", or exchange after at most %d iteration%s", most,
                 most > 1 ? "s" : "");
    return tz_error_set(error, TZ_RANGE, "devices",
                        "the ghost zone of %d iteration%s has %" PRId64
                        " %s, and the thinnest of %d slabs has %" PRId64 ": use at most %" PRId64
                        " device%s, a grid of at least %" PRId64 " %s%s",
                        exchange, exchange > 1 ? "s" : "", need, slices[axis], cut->count,
                        cut->thinnest, fit > 1 ? fit : 1, fit > 1 ? "s" : "", need * cut->count,
                        slices[axis], rather);
}
