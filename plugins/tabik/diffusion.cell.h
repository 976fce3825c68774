/* Anisotropic nonlinear diffusion: smooths a volume along its surfaces, not across them.
 *
 * Six passes. Three blur u along x, y and z into `smooth` and `half_smooth`. The fourth makes the
 * structure tensor J = g g' of the blurred volume's gradient g, and the fifth the diffusion tensor
 *
 *     D = (1 + J / contrast^2)^-1 = 1 - J / (contrast^2 + |g|^2)
 *
 * which is 1 along a surface and small across a steep one. Both are in xx to zz. The last pass adds
 * dt div(D grad u). */
// clang-format off
#define TZ_FIELDS(F)                                                                               \
    F(u, real) F(smooth, real) F(half_smooth, real)                                                \
    F(xx, real) F(xy, real) F(xz, real) F(yy, real) F(yz, real) F(zz, real)
// clang-format on
#define TZ_CONSTANTS(K) K(dt, real) K(contrast2, real)

/* What the passes read along each axis. The tensor: none of it, or what each entry needs. */
#define DIFFUSION_NONE 0, 0, 0, 0, 0, 0
#define DIFFUSION_X -1, 1, 0, 0, 0, 0
#define DIFFUSION_Y 0, 0, -1, 1, 0, 0
#define DIFFUSION_Z 0, 0, 0, 0, -1, 1
#define DIFFUSION_ALL -1, 1, -1, 1, -1, 1
#define DIFFUSION_READS(R, cell, of_u, of_smooth, of_half)                                         \
    R(cell, u, of_u) R(cell, smooth, of_smooth) R(cell, half_smooth, of_half)
// clang-format off
#define DIFFUSION_POINT(R, cell)                                                                   \
    R(cell, xx, 0, 0, 0, 0, 0, 0) R(cell, xy, 0, 0, 0, 0, 0, 0) R(cell, xz, 0, 0, 0, 0, 0, 0)      \
    R(cell, yy, 0, 0, 0, 0, 0, 0) R(cell, yz, 0, 0, 0, 0, 0, 0) R(cell, zz, 0, 0, 0, 0, 0, 0)
#define TZ_READS(R)                                                                                \
    DIFFUSION_READS(R, blur_x, DIFFUSION_X, DIFFUSION_NONE, DIFFUSION_NONE)                        \
    DIFFUSION_READS(R, blur_y, DIFFUSION_NONE, DIFFUSION_Y, DIFFUSION_NONE)                        \
    DIFFUSION_READS(R, blur_z, DIFFUSION_NONE, DIFFUSION_NONE, DIFFUSION_Z)                        \
    DIFFUSION_READS(R, edges, DIFFUSION_NONE, DIFFUSION_ALL, DIFFUSION_NONE)                       \
    DIFFUSION_READS(R, conduct, DIFFUSION_NONE, DIFFUSION_NONE, DIFFUSION_NONE)                    \
    DIFFUSION_READS(R, diffuse, DIFFUSION_ALL, DIFFUSION_NONE, DIFFUSION_NONE)                     \
    DIFFUSION_POINT(R, blur_x) DIFFUSION_POINT(R, blur_y) DIFFUSION_POINT(R, blur_z)               \
    DIFFUSION_POINT(R, edges) DIFFUSION_POINT(R, conduct)                                          \
    R(diffuse, xx, -1, 1, 0, 0, 0, 0) R(diffuse, yy, 0, 0, -1, 1, 0, 0)                            \
    R(diffuse, zz, 0, 0, 0, 0, -1, 1)                                                              \
    R(diffuse, xy, -1, 1, -1, 1, 0, 0) R(diffuse, xz, -1, 1, 0, 0, -1, 1)                          \
    R(diffuse, yz, 0, 0, -1, 1, -1, 1)
// clang-format on

#define DIFFUSION_BLUR(f, dx, dy, dz)                                                              \
    TZ_FMA(TZ_R(0.25), TZ_AT(f, -(dx), -(dy), -(dz)) + TZ_AT(f, dx, dy, dz),                       \
           TZ_R(0.5) * TZ_AT(f, 0, 0, 0))

TZ_CELL(blur_x)
{
    TZ_PUT(smooth, DIFFUSION_BLUR(u, 1, 0, 0));
}

TZ_CELL(blur_y)
{
    TZ_PUT(half_smooth, DIFFUSION_BLUR(smooth, 0, 1, 0));
}

TZ_CELL(blur_z)
{
    TZ_PUT(smooth, DIFFUSION_BLUR(half_smooth, 0, 0, 1));
}

TZ_CELL(edges)
{
    const real x = TZ_R(0.5) * (TZ_AT(smooth, 1, 0, 0) - TZ_AT(smooth, -1, 0, 0));
    const real y = TZ_R(0.5) * (TZ_AT(smooth, 0, 1, 0) - TZ_AT(smooth, 0, -1, 0));
    const real z = TZ_R(0.5) * (TZ_AT(smooth, 0, 0, 1) - TZ_AT(smooth, 0, 0, -1));
    TZ_PUT(xx, x * x);
    TZ_PUT(xy, x * y);
    TZ_PUT(xz, x * z);
    TZ_PUT(yy, y * y);
    TZ_PUT(yz, y * z);
    TZ_PUT(zz, z * z);
}

TZ_CELL(conduct)
{
    const real xx = TZ_AT(xx, 0, 0, 0), yy = TZ_AT(yy, 0, 0, 0), zz = TZ_AT(zz, 0, 0, 0);
    const real less = TZ_R(1) / (TZ_K(contrast2) + ((xx + yy) + zz));
    TZ_PUT(xx, TZ_R(1) - xx * less);
    TZ_PUT(yy, TZ_R(1) - yy * less);
    TZ_PUT(zz, TZ_R(1) - zz * less);
    TZ_PUT(xy, -(TZ_AT(xy, 0, 0, 0) * less));
    TZ_PUT(xz, -(TZ_AT(xz, 0, 0, 0) * less));
    TZ_PUT(yz, -(TZ_AT(yz, 0, 0, 0) * less));
}

/* Twice what flows in along an axis by the tensor's own entry, through both faces. */
#define DIFFUSION_FACE(d, dx, dy, dz)                                                              \
    (TZ_AT(d, dx, dy, dz) + TZ_AT(d, 0, 0, 0)) * (TZ_AT(u, dx, dy, dz) - here)
#define DIFFUSION_STRAIGHT(d, dx, dy, dz)                                                          \
    (DIFFUSION_FACE(d, dx, dy, dz) + DIFFUSION_FACE(d, -(dx), -(dy), -(dz)))
/* Four times what flows in by a mixed entry of axes a and b: both derivatives are central. */
#define DIFFUSION_SLOPE(ax, ay, az, bx, by, bz)                                                    \
    (TZ_AT(u, (ax) + (bx), (ay) + (by), (az) + (bz)) -                                             \
     TZ_AT(u, (ax) - (bx), (ay) - (by), (az) - (bz)))
#define DIFFUSION_ALONG(d, ax, ay, az, bx, by, bz)                                                 \
    (TZ_AT(d, ax, ay, az) * DIFFUSION_SLOPE(ax, ay, az, bx, by, bz) -                              \
     TZ_AT(d, -(ax), -(ay), -(az)) * DIFFUSION_SLOPE(-(ax), -(ay), -(az), bx, by, bz))
#define DIFFUSION_MIXED(d, ax, ay, az, bx, by, bz)                                                 \
    (DIFFUSION_ALONG(d, ax, ay, az, bx, by, bz) + DIFFUSION_ALONG(d, bx, by, bz, ax, ay, az))

TZ_CELL(diffuse)
{
    const real here = TZ_AT(u, 0, 0, 0);
    const real straight = (DIFFUSION_STRAIGHT(xx, 1, 0, 0) + DIFFUSION_STRAIGHT(yy, 0, 1, 0)) +
                          DIFFUSION_STRAIGHT(zz, 0, 0, 1);
    const real mixed =
        (DIFFUSION_MIXED(xy, 1, 0, 0, 0, 1, 0) + DIFFUSION_MIXED(xz, 1, 0, 0, 0, 0, 1)) +
        DIFFUSION_MIXED(yz, 0, 1, 0, 0, 0, 1);
    TZ_PUT(u, TZ_FMA(TZ_K(dt), TZ_FMA(TZ_R(0.25), mixed, TZ_R(0.5) * straight), here));
}
#undef DIFFUSION_BLUR
#undef DIFFUSION_FACE
#undef DIFFUSION_STRAIGHT
#undef DIFFUSION_SLOPE
#undef DIFFUSION_ALONG
#undef DIFFUSION_MIXED
