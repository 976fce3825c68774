/* Places the cuts between slabs by the shares of devices, sizes ghost zones, and limits the
 * exchange. Called by the other files of slabs/ and by core/predict/workload.c. */
#include "backend/slabs/cut.h"

#include "backend/host/reduce.h"
#include "stencil/stencil.h"
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

static const char *const slices[] = {"cells", "rows", "planes"};

/* Iterations before the last one update cells farther out. What these read of state fields becomes
 * one pass after another; static fields are read as far from the cells of each pass. */
static void find_reach(tz_cut *cut, const tz_problem *problem)
{
    const tz_stencil *stencil = problem->stencil;
    const int axis = stencil->dims - 1;
    int so_far[2] = {0, 0};
    for (int p = 0; p < stencil->passes_count; p++) {
        const tz_pass *pass = &stencil->passes[p];
        const tz_reach reach = tz_pass_reach(stencil, pass);
        so_far[0] += reach.low[axis];
        so_far[1] += reach.high[axis];
        for (int f = 0; f < stencil->fields_count; f++) {
            const tz_reads reads = tz_stencil_reads(stencil, pass, f);
            const int far[2] = {-reads.low[axis] - so_far[0], reads.high[axis] - so_far[1]};
            for (int side = 0; side < 2 && stencil->fields[f].role == TZ_STATIC; side++)
                cut->more[side] = far[side] > cut->more[side] ? far[side] : cut->more[side];
        }
    }
    cut->each[0] = so_far[0];
    cut->each[1] = so_far[1];
    /* A mirror gives back cells as far inside as a read is outside, which may be another slab's. */
    const int far[2] = {cut->each[0] + cut->more[0], cut->each[1] + cut->more[1]};
    for (int side = 0; side < 2; side++)
        if (tz_boundary_reflects(problem->boundary[axis][1 - side]) && far[1 - side] > far[side])
            cut->more[side] = far[1 - side] - cut->each[side];
}

tz_status tz_cut_make(tz_cut *out, const tz_problem *problem, const tz_devices *devices,
                      tz_error *error)
{
    const int axis = problem->dims - 1, count = devices->count;
    const int64_t n = problem->extent[axis], unit = axis == 0 ? TZ_REDUCE_SEGMENT : 1;
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
    if (count > 1)
        find_reach(out, problem);
    return TZ_OK;
}

int64_t tz_cut_ghost(const tz_cut *cut, int side, int exchange)
{
    return exchange > 0 ? (int64_t)cut->each[side] * exchange + cut->more[side] : 0;
}

tz_problem tz_cut_slab(const tz_cut *cut, const tz_problem *problem, int i, int exchange)
{
    const tz_boundary *sides = problem->boundary[problem->dims - 1];
    const bool ring = tz_boundary_wraps(sides[0]);
    return tz_problem_slab(problem, cut->at[i], cut->at[i + 1],
                           i > 0 || ring ? tz_cut_ghost(cut, 0, exchange) : 0,
                           i < cut->count - 1 || ring ? tz_cut_ghost(cut, 1, exchange) : 0);
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

int tz_cut_exchange_max(const tz_cut *cut)
{
    int64_t most = TZ_PLAN_HEIGHT_MAX;
    for (int side = 0; side < 2; side++) {
        const int64_t room = cut->thinnest - cut->more[side];
        if (cut->each[side] > 0 && room / cut->each[side] < most)
            most = room / cut->each[side];
        if (room < 0)
            most = 0;
    }
    return (int)most;
}

tz_status tz_cut_check(const tz_cut *cut, const tz_problem *problem, int exchange, tz_error *error)
{
    const int axis = problem->dims - 1, most = tz_cut_exchange_max(cut);
    if (exchange <= most)
        return TZ_OK;
    const int64_t low = tz_cut_ghost(cut, 0, exchange), high = tz_cut_ghost(cut, 1, exchange);
    const int64_t need = low > high ? low : high, n = problem->extent[axis];
    const int64_t fit = n / need;
    const bool equal = cut->thinnest >= n / cut->count;
    char rather[96] = "", fewer[64] = "more equal shares";
    if (equal)
        snprintf(fewer, sizeof fewer, "at most %" PRId64 " device%s", fit > 1 ? fit : 1,
                 fit > 1 ? "s" : "");
    if (most > 0)
        snprintf(rather, sizeof rather, ", or exchange after at most %d iteration%s", most,
                 most > 1 ? "s" : "");
    return tz_error_set(error, TZ_RANGE, "devices",
                        "the ghost zone of %d iteration%s has %" PRId64
                        " %s, and the thinnest of %d slabs has %" PRId64
                        ": use %s, a grid of at least %" PRId64 " %s%s",
                        exchange, exchange > 1 ? "s" : "", need, slices[axis], cut->count,
                        cut->thinnest, fewer,
                        equal ? need * cut->count : (need * n + cut->thinnest - 1) / cut->thinnest,
                        slices[axis], rather);
}
