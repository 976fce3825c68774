/* As many fields and passes as there can be: pass MANY_PASS smooths four fields of 28, which also
 * get a little of four static ones. */
// clang-format off
#define TZ_FIELDS(F)                                                                               \
    F(a0, real)                                                                                    \
    F(a1, real) F(a2, real) F(a3, real) F(b0, real) F(b1, real) F(b2, real) F(b3, real)            \
        F(c0, real) F(c1, real) F(c2, real) F(c3, real) F(d0, real) F(d1, real) F(d2, real)        \
            F(d3, real) F(e0, real) F(e1, real) F(e2, real) F(e3, real) F(f0, real) F(f1, real)    \
                F(f2, real) F(f3, real) F(g0, real) F(g1, real) F(g2, real) F(g3, real)            \
                    F(k0, real) F(k1, real) F(k2, real) F(k3, real)
// clang-format on
#define TZ_CONSTANTS(K) K(keep, real) K(share, real)

#define MIX(to, from, k, dx, dy)                                                                   \
    TZ_PUT(to, TZ_FMA(TZ_K(keep), TZ_AT(to, 0, 0),                                                 \
                      TZ_K(share) * (TZ_AT(from, dx, dy) + TZ_AT(k, 0, 0))))
#define MIX4(to, from)                                                                             \
    MIX(to##0, from##1, k0, -1, 0);                                                                \
    MIX(to##1, from##2, k1, 1, 0);                                                                 \
    MIX(to##2, from##3, k2, 0, -1);                                                                \
    MIX(to##3, from##0, k3, 0, 1)

TZ_CELL(many)
{
#if MANY_PASS == 0
    MIX4(a, b);
#elif MANY_PASS == 1
    MIX4(b, c);
#elif MANY_PASS == 2
    MIX4(c, d);
#elif MANY_PASS == 3
    MIX4(d, e);
#elif MANY_PASS == 4
    MIX4(e, f);
#elif MANY_PASS == 5
    MIX4(f, g);
#elif MANY_PASS == 6
    MIX4(g, a);
#else
    MIX4(a, d);
#endif
}
