/* Two fields that turn into each other, spread, and drift in opposite directions along x. */
#define TZ_FIELDS(F) F(u, real) F(v, real)
#define TZ_CONSTANTS(K) K(turn, real) K(k, real)

TZ_CELL(spin)
{
    const real u = TZ_AT(u, 0, 0), v = TZ_AT(v, 0, 0);
    const real du = TZ_AT(u, -1, 0) - u, dv = TZ_AT(v, 1, 0) - v;
    TZ_PUT(u, u + TZ_K(k) * du + TZ_K(turn) * v);
    TZ_PUT(v, v + TZ_K(k) * dv - TZ_K(turn) * u);
}
