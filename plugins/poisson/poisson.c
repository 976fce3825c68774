/* Poisson's equation in two dimensions, relaxed by (weighted) Jacobi iterations. */
#include <math.h>
#include <stdio.h>
#include <trapeze/origin.h>

#define TZ_CELL_TEXT "poisson.cell.h"
#define TZ_CELL_ID poisson
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

enum { OMEGA, HX, HY, ORIGIN, PARAMS };

static const tz_param params[PARAMS] = {
    [OMEGA] = TZ_REAL_PARAM("omega", NAN, 1e-6, 1.0, "",
                            "damping: each iteration takes this share of the Jacobi step (more "
                            "than 1 diverges); 1 by default, 0.8 when every side is periodic or "
                            "mirror, where a checkerboard would never decay"),
    [HX] = TZ_REAL_PARAM("hx", NAN, 1e-12, 1e12, "",
                         "mesh width along x; by default that of a unit length: 1/(nx+1) fixed, "
                         "1/nx periodic and clamp, 1/(nx-1) mirror",
                         .role = TZ_PARAM_ROLE_SPACING_X),
    [HY] = TZ_REAL_PARAM("hy", NAN, 1e-12, 1e12, "", "mesh width along y; as hx",
                         .role = TZ_PARAM_ROLE_SPACING_Y),
    [ORIGIN] = TZ_REAL_PARAM("origin", NAN, -1e30, 1e30, "",
                             "memory holds u minus this, which single precision resolves better; "
                             "by default u's boundary value with a fixed side, else 0"),
};

/* The mesh width for a side of length 1. The nodes on the boundary are the first cells outside the
 * grid with fixed sides, and the edge cells with mirror sides. With clamp, the boundary lies half a
 * mesh width outside the edge cells. */
static double mesh_width(int64_t cells, tz_boundary boundary)
{
    if (boundary == TZ_FIXED)
        return 1.0 / (double)(cells + 1);
    if (boundary == TZ_MIRROR)
        return cells > 1 ? 1.0 / (double)(cells - 1) : 1.0;
    return 1.0 / (double)cells;
}

static int derive(tz_setup *setup)
{
    tz_value *p = setup->params;
    int undamped = 1; /* a checkerboard never decays */
    for (int axis = 0; axis < 2; axis++) {
        const tz_boundary boundary = setup->boundary[axis][0];
        if (!p[HX + axis].given)
            p[HX + axis].number = mesh_width(setup->extent[axis], boundary);
        undamped = undamped && (boundary == TZ_PERIODIC || boundary == TZ_MIRROR);
    }
    if (!p[OMEGA].given)
        p[OMEGA].number = undamped ? 0.8 : 1.0;
    const double hx = p[HX].number, hy = p[HY].number, omega = p[OMEGA].number;
    const double shape = hx / hy;
    if (!(shape >= 1e-3 && shape <= 1e3)) {
        snprintf(setup->message, setup->message_size,
                 "hx = %.6g and hy = %.6g differ more than a thousandfold, which Jacobi cannot "
                 "resolve: choose mesh widths closer to each other",
                 hx, hy);
        return TZ_REFUSED;
    }
    /* The weights of u and its neighbours cancel: any origin is right. */
    const int u = TZ_FIELD(poisson, u);
    const int refused = tz_origin_choose(setup, u, ORIGIN, tz_origin_outside(setup, u));
    if (refused)
        return refused;
    /* q = shape^2. Round 1 + q first: then the weights of u and its neighbours cancel exactly. */
    const double sum = tz_rounded(setup, 1.0 + shape * shape);
    double *constants = setup->constants;
    constants[TZ_CONSTANT(poisson, ratio)] = sum - 1.0;
    constants[TZ_CONSTANT(poisson, centre)] = -2.0 * sum;
    constants[TZ_CONSTANT(poisson, source)] = -hx * hx;
    constants[TZ_CONSTANT(poisson, weight)] = omega / (2.0 * sum);
    /* The update is -weight hx^2 (f - lap u). */
    setup->residual_per_update = 2.0 * sum / (omega * hx * hx);
    setup->source_per_update = -setup->residual_per_update;
    return 0;
}

/* Without a fixed side an iteration changes the mean of u by that of f alone: the residual stays at
 * least as large. */
static int check_run(const tz_run_facts *facts)
{
    const int f = TZ_FIELD(poisson, f);
    double low, high, mean;
    int mirrors = 0;
    for (int axis = 0; axis < 2; axis++)
        for (int side = 0; side < 2; side++) {
            if (facts->boundary[axis][side] == TZ_FIXED)
                return 0;
            mirrors += facts->boundary[axis][side] == TZ_MIRROR;
        }
    if (isnan(facts->until_residual) || facts->range(facts->context, f, &low, &high) ||
        facts->mean(facts->context, f, &mean))
        return 0;
    /* What rounding f leaves is no contradiction. */
    const double digits = facts->precision == TZ_DOUBLE ? 1e-12 : 1e-6;
    if (fabs(mean) <= facts->until_residual + digits * fmax(fabs(low), fabs(high)))
        return 0;
    snprintf(
        facts->message, facts->message_size,
        "lap(u) = f has no solution without a fixed side: the mean of f is %.6g%s, so the "
        "residual stays at %.6g or more, and until_residual = %.6g is never reached; subtract the "
        "mean from f, or give the grid a fixed side",
        mean, mirrors ? " (cells at a mirror side count half, at two of them a quarter)" : "",
        fabs(mean), facts->until_residual);
    return TZ_NO_SOLUTION;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "the solution; its initial value is the first guess"),
    TZ_STATIC_FIELD(
        "f", TZ_REAL, "",
        "right-hand side; without a fixed side its sum must be 0 for a solution to exist, where "
        "cells at a mirror side count half, at two of them a quarter"),
};

/* The residual f - lap(u) is the right-hand side of the correction of u. */
static const tz_refinement refinement = {.solution = TZ_FIELD(poisson, u),
                                         .source = TZ_FIELD(poisson, f)};

static const tz_pass passes[] = {
    {.name = "jacobi", .writes = TZ_WRITES(poisson, u), TZ_PASS(poisson)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "poisson",
    .doc = "Poisson's equation lap(u) = f by weighted Jacobi; the residual is max|f - lap(u)|.",
    .dims = 2,
    TZ_STENCIL_TABLES(poisson, fields, params, passes),
    .boundaries = TZ_ALLOW_ALL,
    .boundary = TZ_FIXED,
    .picture = {"u", "balance", -1.0, 1.0},
    .derive = derive,
    .check_run = check_run,
    .refinement = &refinement,
};

TZ_PLUGIN_DEFINE("poisson", "1.0.0", "relaxation of Poisson's equation", &stencil)
