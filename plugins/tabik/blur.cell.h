/* A Gaussian of three cells along one axis, as Tabik and others write it: it reads the cell and the
 * next two, so the picture moves by one cell towards 0. */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(middle, real) K(side, real)
#define TZ_READS(R) R(gx, u, 0, 2, 0, 0, 0, 0) R(gy, u, 0, 0, 0, 2, 0, 0) R(gz, u, 0, 0, 0, 0, 0, 2)

#define BLUR(dx, dy, dz)                                                                           \
    TZ_FMA(TZ_K(side), TZ_AT(u, 0, 0, 0) + TZ_AT(u, 2 * dx, 2 * dy, 2 * dz),                       \
           TZ_K(middle) * TZ_AT(u, dx, dy, dz))

TZ_CELL(gx)
{
    TZ_PUT(u, BLUR(1, 0, 0));
}

TZ_CELL(gy)
{
    TZ_PUT(u, BLUR(0, 1, 0));
}

TZ_CELL(gz)
{
    TZ_PUT(u, BLUR(0, 0, 1));
}
#undef BLUR
