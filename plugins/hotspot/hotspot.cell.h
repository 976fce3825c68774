/* HotSpot (Rodinia): T' = T + dt/C (P + (N + S - 2T)/Ry + (E + W - 2T)/Rx + (T_amb - T)/Rz), as a
 * weighted sum with the weights derived once on the host. */
#define TZ_FIELDS(F) F(temperature, real) F(power, real)
#define TZ_CONSTANTS(K) K(c, real) K(cx, real) K(cy, real) K(cp, real) K(ambient, real)
/* Power and the ambient do not change: one value a cell for all iterations. */
#define HOTSPOT_ONCE(D) D(heating, real, TZ_FMA(TZ_K(cp), TZ_AT(power, 0, 0), TZ_K(ambient)))

TZ_CELL_ONCE(hotspot, HOTSPOT_ONCE)
{
    const real y = TZ_AT(temperature, 0, -1) + TZ_AT(temperature, 0, 1);
    const real x = TZ_AT(temperature, -1, 0) + TZ_AT(temperature, 1, 0);
    real t = TZ_FMA(TZ_K(cy), y, TZ_ONCE(heating));
    t = TZ_FMA(TZ_K(cx), x, t);
    TZ_PUT(temperature, TZ_FMA(TZ_K(c), TZ_AT(temperature, 0, 0), t));
}
