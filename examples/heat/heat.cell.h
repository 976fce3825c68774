/* The cell update: the new temperature of one cell from the old ones around it. This text is
 * compiled for the CPU and, at run time, for a GPU: plain C, no library calls. */
#define TZ_FIELDS(F) F(temperature, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(heat)
{
    const real here = TZ_AT(temperature, 0, 0);
    const real x = TZ_AT(temperature, -1, 0) + TZ_AT(temperature, 1, 0);
    const real y = TZ_AT(temperature, 0, -1) + TZ_AT(temperature, 0, 1);
    const real pull = TZ_FMA((real)-4, here, x + y); /* a fused -4 here + (x + y) */
    TZ_PUT(temperature, TZ_FMA(TZ_K(share), pull, here));
}
