/* The cell update: the new temperature of a cell, from the old temperatures around it. This text is
 * compiled for the CPU and, at run time, for a GPU: it is C without library calls.
 *
 * TZ_AT(field, dx, dy) reads a cell, TZ_PUT(field, value) writes the cell itself, and TZ_K(name) is
 * a constant. TZ_FMA(a, b, c) is a * b + c, rounded once. <trapeze/rows.h> has the full list. */
#define TZ_FIELDS(F) F(temperature, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(heat)
{
    const real here = TZ_AT(temperature, 0, 0);
    const real x = TZ_AT(temperature, -1, 0) + TZ_AT(temperature, 1, 0);
    const real y = TZ_AT(temperature, 0, -1) + TZ_AT(temperature, 0, 1);
    const real difference = TZ_FMA((real)-4, here, x + y);
    TZ_PUT(temperature, TZ_FMA(TZ_K(share), difference, here));
}
