/* HotSpot in three dimensions (Rodinia): a chip of layers. In a cell of conductivity k,
 *   T' = T + k (ce (E + W - 2T) + cn (N + S - 2T) + ca (T_amb - T))
 *          + ct (up (T_up - T) + down (T_down - T)) + cp P
 * where `up` is the conductivity between the cell and the one above, `down` to the one below. */
#define TZ_FIELDS(F) F(temperature, real) F(power, real) F(lateral, real) F(vertical, real)
#define TZ_CONSTANTS(K) K(ce, real) K(cn, real) K(ct, real) K(ca, real) K(cp, real) K(ambient, real)
#define TZ_READS(R)                                                                                \
    R(hotspot3d, temperature, -1, 1, -1, 1, -1, 1)                                                 \
    R(hotspot3d, power, 0, 0, 0, 0, 0, 0)                                                          \
    R(hotspot3d, lateral, 0, 0, 0, 0, 0, 0)                                                        \
    R(hotspot3d, vertical, 0, 0, 0, 0, -1, 0)

TZ_CELL(hotspot3d)
{
    const real here = TZ_AT(temperature, 0, 0, 0), k = TZ_AT(lateral, 0, 0, 0);
    const real x = TZ_AT(temperature, -1, 0, 0) + TZ_AT(temperature, 1, 0, 0);
    const real y = TZ_AT(temperature, 0, -1, 0) + TZ_AT(temperature, 0, 1, 0);
    const real up = TZ_AT(vertical, 0, 0, 0) * (TZ_AT(temperature, 0, 0, 1) - here);
    const real all = TZ_FMA(TZ_AT(vertical, 0, 0, -1), TZ_AT(temperature, 0, 0, -1) - here, up);
    real side = TZ_K(cn) * TZ_FMA(TZ_R(-2), here, y);
    side = TZ_FMA(TZ_K(ce), TZ_FMA(TZ_R(-2), here, x), side);
    side = TZ_FMA(TZ_K(ca), TZ_K(ambient) - here, side);
    real t = TZ_FMA(TZ_K(cp), TZ_AT(power, 0, 0, 0), here);
    t = TZ_FMA(TZ_K(ct), all, t);
    TZ_PUT(temperature, TZ_FMA(k, side, t));
}
