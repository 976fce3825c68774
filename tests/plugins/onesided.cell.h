/* Cells that read to the low side only, in 1-D and 2-D, and to one side of each axis, in 3-D, with
 * a static field that is read farther than the state or, in 2-D, on the other side. */
#if ONESIDED_DIMS == 1
#define TZ_FIELDS(F) F(u, real) F(k, real)
#define TZ_CONSTANTS(K) K(a, real) K(b, real) K(c, real)
#define TZ_READS(R) R(onesided, u, -2, 0) R(onesided, k, 0, 1)

TZ_CELL(onesided)
{
    const real far = TZ_FMA(TZ_K(c), TZ_AT(u, -2), TZ_K(b) * TZ_AT(u, -1));
    TZ_PUT(u, TZ_FMA(TZ_AT(k, 1), far, TZ_K(a) * TZ_AT(u, 0)));
}
#elif ONESIDED_DIMS == 2
#define TZ_FIELDS(F) F(u, real) F(k, real)
#define TZ_CONSTANTS(K) K(a, real) K(b, real) K(c, real)
#define TZ_READS(R) R(onesided, u, -1, 0, 0, 1) R(onesided, k, 0, 1, 0, 0)

TZ_CELL(onesided)
{
    const real far = TZ_FMA(TZ_K(c), TZ_AT(u, 0, 1), TZ_K(b) * TZ_AT(u, -1, 0));
    TZ_PUT(u, TZ_FMA(TZ_AT(k, 1, 0), far, TZ_K(a) * TZ_AT(u, 0, 0)));
}
#else
#define TZ_FIELDS(F) F(u, real) F(k, real)
#define TZ_CONSTANTS(K) K(a, real) K(b, real) K(c, real)
#define TZ_READS(R) R(onesided, u, 0, 1, -2, 0, -1, 0) R(onesided, k, -1, 0, 0, 1, 0, 2)

TZ_CELL(onesided)
{
    const real far = TZ_FMA(TZ_K(c), TZ_AT(u, 0, -2, 0), TZ_K(b) * TZ_AT(u, 1, -1, 0));
    const real deep = TZ_FMA(TZ_AT(k, -1, 0, 0), far, TZ_AT(k, 0, 1, 2) * TZ_AT(u, 0, 0, -1));
    TZ_PUT(u, TZ_FMA(TZ_K(a), TZ_AT(u, 0, 0, 0), TZ_K(c) * deep));
}
#endif
