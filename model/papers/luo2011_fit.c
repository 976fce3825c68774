/* Least-squares fit of the numbers a, b and d of the parallel degree of computation to measured
 * points. Called by costs.c. */
#include "model/papers/luo2011.h"

#include <math.h>
#include <string.h>

enum { UNKNOWNS = 3, TURNS = 50, POINTS_LEAST = 6, POINTS_MOST = 256 };

double tz_luo2011_measured_cpd(const tz_luo2011_period *period, double active, double time)
{
    tz_luo2011_period waits = *period;
    waits.type =
        tz_luo2011_type(period->computation, period->memory, period->computation, period->memory);
    tz_luo2011_period_time(&waits, active, 1, period->memory, period->mpd);
    const double left = time - waits.before - waits.after;
    return left > period->computation ? active * period->computation / left : NAN;
}

/* Which equation gives the degree of a point. */
typedef enum branch { BY_3, BY_4, LEAST } branch;

static branch branch_of(const tz_luo2011_gpu *gpu, const tz_luo2011_point *p)
{
    const double cpd = tz_luo2011_cpd(gpu, p->share, p->active);
    if (!(cpd > 1))
        return LEAST;
    return cpd == tz_luo2011_cpd2(gpu, p->share, p->active) ? BY_4 : BY_3;
}

static double squares_of(const tz_luo2011_gpu *gpu, const tz_luo2011_point *points, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double ratio = tz_luo2011_cpd(gpu, points[i].share, points[i].active) / points[i].cpd;
        sum += (ratio - 1) * (ratio - 1);
    }
    return sum;
}

/* Solves the symmetric system by Cholesky's method; its diagonal is above 0. */
static void solve(double m[UNKNOWNS][UNKNOWNS], double x[UNKNOWNS])
{
    for (int j = 0; j < UNKNOWNS; j++) {
        for (int k = 0; k < j; k++)
            m[j][j] -= m[j][k] * m[j][k];
        m[j][j] = sqrt(m[j][j]);
        for (int i = j + 1; i < UNKNOWNS; i++) {
            for (int k = 0; k < j; k++)
                m[i][j] -= m[i][k] * m[j][k];
            m[i][j] /= m[j][j];
        }
    }
    for (int i = 0; i < UNKNOWNS; x[i] /= m[i][i], i++)
        for (int k = 0; k < i; k++)
            x[i] -= m[i][k] * x[k];
    for (int i = UNKNOWNS - 1; i >= 0; x[i] /= m[i][i], i--)
        for (int k = i + 1; k < UNKNOWNS; k++)
            x[i] -= m[k][i] * x[k];
}

/* With the equation of each point given, the degree is linear in a, b and d. A number that no point
 * depends on stays. If d would be below 0, it is 0, and the others are the best for that. */
static void improve(tz_luo2011_gpu *gpu, const tz_luo2011_point *points, const branch *by,
                    int count, bool with_d)
{
    double m[UNKNOWNS][UNKNOWNS] = {{0}}, x[UNKNOWNS] = {0};
    const double now[UNKNOWNS] = {gpu->a, gpu->b, with_d ? gpu->d : 0};
    tz_luo2011_gpu unit = *gpu;
    unit.a = 0;
    unit.d = 1;
    for (int i = 0; i < count; i++) {
        const tz_luo2011_point *p = &points[i];
        const double away = gpu->c - p->share;
        const double row[UNKNOWNS] = {
            1, by[i] == BY_3 ? -away : 0,
            with_d && by[i] == BY_4 ? tz_luo2011_cpd2(&unit, p->share, p->active) : 0};
        const double target = p->cpd - (by[i] == BY_3 ? away * p->active : 0);
        for (int j = 0; by[i] != LEAST && j < UNKNOWNS; j++) {
            x[j] += row[j] * target / (p->cpd * p->cpd);
            for (int k = 0; k < UNKNOWNS; k++)
                m[j][k] += row[j] * row[k] / (p->cpd * p->cpd);
        }
    }
    for (int j = 0; j < UNKNOWNS; j++) {
        const double hold = 1e-9;
        m[j][j] += hold;
        x[j] += hold * now[j];
    }
    solve(m, x);
    if (with_d && x[2] < 0) {
        improve(gpu, points, by, count, false);
        return;
    }
    gpu->a = x[0];
    gpu->b = x[1];
    gpu->d = x[2];
}

/* From the numbers of `gpu` on: which equation holds where, then the best numbers for that, until
 * the equations stay the same. Keeps the best of `best` and all that it meets. */
static void descend(tz_luo2011_gpu gpu, const tz_luo2011_point *points, int count,
                    tz_luo2011_gpu *best)
{
    branch by[POINTS_MOST], before[POINTS_MOST];
    memset(before, -1, sizeof before);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < count; i++)
            by[i] = branch_of(&gpu, &points[i]);
        if (memcmp(by, before, (size_t)count * sizeof *by) == 0)
            return;
        memcpy(before, by, sizeof by);
        improve(&gpu, points, by, count, true);
        if (squares_of(&gpu, points, count) < squares_of(best, points, count))
            *best = gpu;
    }
}

tz_status tz_luo2011_fit(const tz_luo2011_point *points, int count, tz_luo2011_gpu *gpu,
                         double *error_share, tz_error *error)
{
    int wrong = count < POINTS_LEAST || count > POINTS_MOST;
    for (int i = 0; i < count; i++)
        wrong += !(points[i].cpd >= 1 && isfinite(points[i].cpd));
    if (wrong)
        return tz_error_set(error, TZ_RANGE, "luo2011",
                            "a, b and d are fitted to %d to %d degrees of at least 1, not to "
                            "these %d",
                            POINTS_LEAST, POINTS_MOST, count);
    tz_luo2011_gpu best = *gpu;
    best.a = 3; /* the paper's numbers */
    best.b = 11;
    best.d = 80;
    /* Several starts: which equation holds where decides where this ends. */
    const tz_luo2011_gpu first = best;
    for (int k = 0; k < 16; k++) {
        tz_luo2011_gpu start = first;
        start.a = k & 1 ? 1 : 8;
        start.b = k & 2 ? 0 : gpu->warps_max;
        start.d = (double[]){0, 10, 100, 1000}[k / 4];
        descend(start, points, count, &best);
    }
    descend(first, points, count, &best);
    gpu->a = best.a;
    gpu->b = best.b;
    gpu->d = best.d;
    *error_share = sqrt(squares_of(&best, points, count) / count);
    return TZ_OK;
}
