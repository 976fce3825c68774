/* Two components that spread, slowed by a static field, and pushed in columns and by a force that
 * change with the iteration; and outputs: their speed, and how they turn. In 1-D and 3-D the
 * directions are x and the last axis. */
#if TZ_CELL_DIMS == 1
#define SWIRL_AT(f, d, e) TZ_AT(f, (d) + (e))
#elif TZ_CELL_DIMS == 2
#define SWIRL_AT(f, d, e) TZ_AT(f, d, e)
#else
#define SWIRL_AT(f, d, e) TZ_AT(f, d, 0, e)
#endif
#define TZ_FIELDS(F)                                                                               \
    F(u, real)                                                                                     \
    F(v, real)                                                                                     \
    F(drag, real)                                                                                  \
    F(speed, real)                                                                                 \
    F(turn, real)                                                                                  \
    F(kind, int)
#define TZ_CONSTANTS(K) K(push, real, varies) K(keep, real) K(spread, real) K(phase, int, varies)
#if TZ_CELL_DIMS == 2
#define TZ_READS(R)                                                                                \
    R(swirl_speed, u, 0, 0, 0, 0)                                                                  \
    R(swirl_speed, v, 0, 0, 0, 0)                                                                  \
    R(swirl_turn, u, 0, 0, -1, 2)                                                                  \
    R(swirl_turn, v, -2, 1, 0, 0)                                                                  \
    R(swirl_turn, drag, 0, 0, -1, 0)
#endif

TZ_CELL(swirl)
{
    const real sides_u = SWIRL_AT(u, -1, 0) + SWIRL_AT(u, 1, 0);
    const real sides_v = SWIRL_AT(v, 0, -1) + SWIRL_AT(v, 0, 1);
    const real slow = TZ_K(keep) - TZ_K(spread) * SWIRL_AT(drag, 0, 1);
    const real force = (int)(TZ_X & 3) == TZ_K(phase) ? TZ_K(push) : 0;
    TZ_PUT(u, TZ_FMA(slow, SWIRL_AT(u, 0, 0), TZ_K(spread) * sides_u) + force);
    TZ_PUT(v, TZ_FMA(slow, SWIRL_AT(v, 0, 0), TZ_K(spread) * sides_v) * TZ_K(push));
}

TZ_CELL(swirl_speed)
{
    const real u = SWIRL_AT(u, 0, 0), v = SWIRL_AT(v, 0, 0);
    TZ_PUT(speed, TZ_FMA(u, u, v * v));
}

TZ_CELL(swirl_turn)
{
    const real across = SWIRL_AT(v, 1, 0) - SWIRL_AT(v, -2, 0);
    const real along = SWIRL_AT(u, 0, 2) - SWIRL_AT(u, 0, -1);
    const real turn = across - SWIRL_AT(drag, 0, -1) * along;
    TZ_PUT(turn, turn);
    TZ_PUT(kind,
           TZ_K(phase) + (turn > TZ_K(push) ? 1 : 2) + 10 * (int)((TZ_X + TZ_Y + TZ_STEP) % 7));
}
#undef SWIRL_AT
