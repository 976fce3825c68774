/* The structure tensor of a volume: the six products of its gradient's components, which are
 * central differences. */
#define TZ_FIELDS(F)                                                                               \
    F(xx, real) F(xy, real) F(xz, real) F(yy, real) F(yz, real) F(zz, real) F(image, real)
#define TZ_CONSTANTS(K) K(half, real)
#define TZ_READS(R)                                                                                \
    R(st, image, -1, 1, -1, 1, -1, 1)                                                              \
    R(st, xx, 0, 0, 0, 0, 0, 0)                                                                    \
    R(st, xy, 0, 0, 0, 0, 0, 0)                                                                    \
    R(st, xz, 0, 0, 0, 0, 0, 0)                                                                    \
    R(st, yy, 0, 0, 0, 0, 0, 0) R(st, yz, 0, 0, 0, 0, 0, 0) R(st, zz, 0, 0, 0, 0, 0, 0)

TZ_CELL(st)
{
    const real x = TZ_K(half) * (TZ_AT(image, 1, 0, 0) - TZ_AT(image, -1, 0, 0));
    const real y = TZ_K(half) * (TZ_AT(image, 0, 1, 0) - TZ_AT(image, 0, -1, 0));
    const real z = TZ_K(half) * (TZ_AT(image, 0, 0, 1) - TZ_AT(image, 0, 0, -1));
    TZ_PUT(xx, x * x);
    TZ_PUT(xy, x * y);
    TZ_PUT(xz, x * z);
    TZ_PUT(yy, y * y);
    TZ_PUT(yz, y * z);
    TZ_PUT(zz, z * z);
}
