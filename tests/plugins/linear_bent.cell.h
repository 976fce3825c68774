/* What is not linear, or not the same everywhere or always, by `kind`: 0 a limit, 1 a cell that
 * differs, 2 the number of the iteration, 3 nothing of it. */
#define TZ_FIELDS(F) F(u, real) F(conductivity, real)
#define TZ_CONSTANTS(K) K(kind, int)

TZ_CELL(bent)
{
    const real here = TZ_AT(u, 0, 0), k = TZ_AT(conductivity, 0, 0);
    real t = here + k * (TZ_AT(u, -1, 0) - TZ_R(2) * here + TZ_AT(u, 1, 0));
    if (TZ_K(kind) == 0)
        t = t < TZ_R(100) ? t : TZ_R(100);
    if (TZ_K(kind) == 1 && TZ_X == 17 && TZ_Y == 11)
        t = TZ_R(0.5) * t;
    if (TZ_K(kind) == 2 && TZ_STEP > 100)
        t = TZ_R(0.5) * t;
    TZ_PUT(u, t);
}
