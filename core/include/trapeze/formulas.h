/* trapeze/formulas.h: what derive() and at_step() call in plugins that `trapeze new --from` writes.
 * Plugins that are written by hand do not need it. */
#ifndef TRAPEZE_FORMULAS_H
#define TRAPEZE_FORMULAS_H

#include <math.h>
#include <stdio.h>
#include <trapeze/plugin.h>

/* x*x*...*x from the left; n >= 1. */
static inline double tz_formula_power(double x, int n)
{
    double result = x;
    for (int i = 1; i < n; i++)
        result *= x;
    return result;
}

/* a / b rounded down; 0 for b = 0. */
static inline double tz_formula_floor_over(double a, double b)
{
    return b == 0.0 ? 0.0 : floor(a / b);
}

/* What is left, with the sign of b; a for b = 0. */
static inline double tz_formula_modulo(double a, double b)
{
    return b == 0.0 ? a : a - b * floor(a / b);
}

static inline double tz_formula_min(double a, double b)
{
    return b < a ? b : a;
}

static inline double tz_formula_max(double a, double b)
{
    return a < b ? b : a;
}

/* TZ_REFUSED, with a message, for a constant that is no int; else 0. */
static inline int tz_formula_check_int(tz_setup *setup, const char *what, double value)
{
    if (fabs(value) <= 2147483647.0)
        return 0;
    snprintf(setup->message, setup->message_size,
             "%s is %.17g, and must be between -2147483647 and 2147483647: change the parameters",
             what, value);
    return TZ_REFUSED;
}

/* ---- Sides of an augmented stencil ----------------------------------------------------------- */

/* Where the cells past a side of such a kind begin, or those `inside` of it; far away from the grid
 * for other sides. */
static inline double tz_frame_side(const tz_setup *setup, int side, unsigned kinds, double inside)
{
    const int high = side % 2;
    if (!(kinds >> setup->boundary[side / 2][high] & 1))
        return high ? 1 << 30 : -(1 << 30);
    return high ? (double)setup->extent[side / 2] - inside : inside;
}

/* Is there a side of such a kind? */
static inline int tz_frame_is_there(const tz_setup *setup, unsigned kinds)
{
    int there = 0;
    for (int side = 0; side < 2 * setup->dims; side++)
        there |= kinds >> setup->boundary[side / 2][side % 2] & 1;
    return there;
}

/* Cells that a mirror shows must not be past the other side: TZ_REFUSED, with a message; else 0. */
static inline int tz_frame_check(tz_setup *setup, int steps, int axis, int radius)
{
    const tz_boundary *sides = setup->boundary[axis];
    if ((sides[0] == TZ_MIRROR) == (sides[1] == TZ_MIRROR) || setup->extent[axis] > radius)
        return 0;
    snprintf(setup->message, setup->message_size,
             "augment = %d: with a mirror side and another one along %c, more than %d cells are "
             "needed there",
             steps, "xyz"[axis], radius);
    return TZ_REFUSED;
}

#endif
