/* Acoustic waves of order 8, u" = speed^2 lap(u), that leave through fixed sides; or the last axis
 * begins with a free surface: u is odd about the cells before the first ones.
 *
 * Near an open side, at depth x from 0 to 1 and with outward normal n,
 *
 *   u" + a(x) c u' + e(x) c^2 du/dn = c^2 (p(x) d2u/dn2 + q(x) (the other derivatives))
 *
 * There are no fields for it, and other cells do not pay: the frame. Along x it has more cells, in
 * which a is 0, and rows continue with a whole vector. Where e = a a wave along n passes and is
 * not seen, what comes back is damped twice; p makes waves shorter, q turns oblique ones. The
 * polynomials are fitted: least reflection of waves of 5 to 70 cells at 0 to 66 degrees. */
#define TZ_FIELDS(F) F(u, real) F(before, real) F(speed, real)
#define TZ_CELL_FRAME frame
#if TZ_CELL_DIMS == 2
#define TZ_CONSTANTS(K)                                                                            \
    K(frame, int)                                                                                  \
    K(low_x, int)                                                                                  \
    K(high_x, int)                                                                                 \
    K(low_y, int)                                                                                  \
    K(high_y, int)                                                                                 \
    K(open_x, int) K(close_x, int) K(surface, int) K(step, real) K(thinness, real) K(strength, real)
#define TZ_READS(R) R(seismic, before, 0, 0, 0, 0) R(seismic, speed, 0, 0, 0, 0)
#define SEISMIC_AT(field, dx, dy, dz) TZ_AT(field, dx, dy)
#define SEISMIC_LAST(k) TZ_AT(u, 0, k)
#define SEISMIC_TOP TZ_Y
#define SEISMIC_RING(k)                                                                            \
    ((TZ_AT(u, -(k), 0) + TZ_AT(u, k, 0)) + (TZ_AT(u, 0, -(k)) + TZ_AT(u, 0, k)))
#define SEISMIC_IN_FRAME                                                                           \
    (TZ_X < TZ_K(low_x) || TZ_X >= TZ_K(high_x) || TZ_Y < TZ_K(low_y) || TZ_Y >= TZ_K(high_y))
#else
#define TZ_CONSTANTS(K)                                                                            \
    K(frame, int)                                                                                  \
    K(low_x, int)                                                                                  \
    K(high_x, int)                                                                                 \
    K(low_y, int)                                                                                  \
    K(high_y, int)                                                                                 \
    K(low_z, int)                                                                                  \
    K(high_z, int)                                                                                 \
    K(open_x, int) K(close_x, int) K(surface, int) K(step, real) K(thinness, real) K(strength, real)
#define TZ_READS(R) R(seismic, before, 0, 0, 0, 0, 0, 0) R(seismic, speed, 0, 0, 0, 0, 0, 0)
#define SEISMIC_AT(field, dx, dy, dz) TZ_AT(field, dx, dy, dz)
#define SEISMIC_LAST(k) TZ_AT(u, 0, 0, k)
#define SEISMIC_TOP TZ_Z
#define SEISMIC_RING(k)                                                                            \
    (((TZ_AT(u, -(k), 0, 0) + TZ_AT(u, k, 0, 0)) + (TZ_AT(u, 0, -(k), 0) + TZ_AT(u, 0, k, 0))) +   \
     (TZ_AT(u, 0, 0, -(k)) + TZ_AT(u, 0, 0, k)))
#define SEISMIC_IN_FRAME                                                                           \
    (TZ_X < TZ_K(low_x) || TZ_X >= TZ_K(high_x) || TZ_Y < TZ_K(low_y) || TZ_Y >= TZ_K(high_y) ||   \
     TZ_Z < TZ_K(low_z) || TZ_Z >= TZ_K(high_z))
#endif

#define SEISMIC_IF(test, weight) (TZ_R(weight) * (real)(test))

/* The derivatives along an axis, times the width of a cell. */
#define SEISMIC_SECOND(at)                                                                         \
    TZ_FMA(TZ_R(-1. / 560), at(-4) + at(4),                                                        \
           TZ_FMA(TZ_R(8. / 315), at(-3) + at(3),                                                  \
                  TZ_FMA(TZ_R(-1. / 5), at(-2) + at(2),                                            \
                         TZ_FMA(TZ_R(8. / 5), at(-1) + at(1), TZ_R(-205. / 72) * at(0)))))
#define SEISMIC_FIRST(at)                                                                          \
    TZ_FMA(TZ_R(-1. / 280), at(4) - at(-4),                                                        \
           TZ_FMA(TZ_R(4. / 105), at(3) - at(-3),                                                  \
                  TZ_FMA(TZ_R(-1. / 5), at(2) - at(-2), TZ_R(4. / 5) * (at(1) - at(-1)))))
#define SEISMIC_ALONG_X(k) SEISMIC_AT(u, k, 0, 0)
#define SEISMIC_ALONG_Y(k) SEISMIC_AT(u, 0, k, 0)
#define SEISMIC_ALONG_Z(k) SEISMIC_AT(u, 0, 0, k)

TZ_HELPER(real, polynomial, (real x, real a, real b, real c, real d, real e))
{
    return x * x * TZ_FMA(x, TZ_FMA(x, TZ_FMA(x, TZ_FMA(x, e, d), c), b), a);
}
TZ_HELPER(real, share, (real less))
{
    /* 1 if `less` is below 0: a sum, since GCC vectorizes no loop with a choice that all its cells
     * share. */
    return TZ_FMA(TZ_R(-0.5), less + TZ_ABS(less), TZ_R(1));
}

/* What an axis does to a cell in depth x on its side with the outward normal -1 or 1:
 *
 *   lap' = (product of all q) * lap + sum of (p - q) * (product of the other q) * second
 *
 * where `second` is the derivative along the axis. At depth 0 p and q are 1: nothing is added. */
#define SEISMIC_AXIS(axis, at, low, high, ALONG, image)                                            \
    real across_##axis = TZ_R(1), more_##axis = TZ_R(0), second_##axis = TZ_R(0);                  \
    if (SEISMIC_WORTH(axis, at, low, high)) {                                                      \
        const int before_it = (low) - (int)(at), past_it = (int)(at) - (high) + 1;                 \
        const real depth = TZ_K(thinness) * (real)TZ_MAX(TZ_MAX(before_it, past_it), 0);           \
        across_##axis = TZ_CALL(share, TZ_CALL(polynomial, depth, SEISMIC_Q));                     \
        more_##axis = TZ_CALL(share, TZ_CALL(polynomial, depth, SEISMIC_P)) - across_##axis;       \
        second_##axis = SEISMIC_SECOND(ALONG) - (image);                                           \
        damping = damping + TZ_CALL(polynomial, depth, SEISMIC_A);                                 \
        flow = TZ_FMA(TZ_CALL(polynomial, depth, SEISMIC_E) *                                      \
                          TZ_SELECT(before_it > past_it, TZ_R(-1), TZ_R(1)),                       \
                      SEISMIC_FIRST(ALONG), flow);                                                 \
    }
/* Row functions know where a row is at the side of its own axis alone: TZ_K(frame) is 2. */
#define SEISMIC_WORTH(axis, at, low, high) SEISMIC_WORTH_##axis(at, low, high)
#define SEISMIC_WORTH_x(at, low, high) TZ_WORTH((int)(at) < (low) || (int)(at) >= (high))
#define SEISMIC_WORTH_y(at, low, high) TZ_K(frame) != 2 && SEISMIC_WORTH_x(at, low, high)
#define SEISMIC_WORTH_z SEISMIC_WORTH_y
#define SEISMIC_A TZ_R(0.0401), TZ_R(-0.0567), TZ_R(0.3228), TZ_R(-0.5476), TZ_R(1.3587)
#define SEISMIC_E TZ_R(0.4196), TZ_R(-0.355), TZ_R(-0.2372), TZ_R(-0.123), TZ_R(1.0056)
#define SEISMIC_P TZ_R(-0.2111), TZ_R(5.6368), TZ_R(-4.1012), TZ_R(-4.8072), TZ_R(4.1867)
#define SEISMIC_Q TZ_R(1.4329), TZ_R(-6.1499), TZ_R(15.1335), TZ_R(-14.2909), TZ_R(3.552)

TZ_CELL(seismic)
{
    const real here = SEISMIC_AT(u, 0, 0, 0), before = SEISMIC_AT(before, 0, 0, 0);
    const real courant = TZ_K(step) * SEISMIC_AT(speed, 0, 0, 0);
    const real going = here + (here - before);
    real lap = TZ_R(-205. / 72 * TZ_CELL_DIMS) * here;
    lap = TZ_FMA(TZ_R(8. / 5), SEISMIC_RING(1), lap);
    lap = TZ_FMA(TZ_R(-1. / 5), SEISMIC_RING(2), lap);
    lap = TZ_FMA(TZ_R(8. / 315), SEISMIC_RING(3), lap);
    lap = TZ_FMA(TZ_R(-1. / 560), SEISMIC_RING(4), lap);
    if (TZ_K(frame) > 1 || (TZ_K(frame) && SEISMIC_IN_FRAME)) {
        real damping = TZ_R(0), flow = TZ_R(0), image = TZ_R(0);
        const int top = (int)SEISMIC_TOP + (1 - TZ_K(surface)) * 4; /* a row of a free surface */
        if (TZ_K(frame) != 2 && TZ_WORTH(top < 3))
            image = TZ_FMA(SEISMIC_IF(top == 2, -1. / 560), SEISMIC_LAST(-2),
                           TZ_FMA(SEISMIC_IF(top == 1, 8. / 315), SEISMIC_LAST(-1),
                                  TZ_FMA(SEISMIC_IF(top == 0, 8. / 315), SEISMIC_LAST(1),
                                         TZ_FMA(SEISMIC_IF(top == 0, -1. / 560), SEISMIC_LAST(2),
                                                (SEISMIC_IF(top == 0, -1. / 5) +
                                                 SEISMIC_IF(top == 1, -1. / 560)) *
                                                    here))));
        SEISMIC_AXIS(x, TZ_X, TZ_K(open_x), TZ_K(close_x), SEISMIC_ALONG_X, TZ_R(0))
#if TZ_CELL_DIMS == 2
        SEISMIC_AXIS(y, TZ_Y, TZ_K(surface) ? -1 : TZ_K(low_y), TZ_K(high_y), SEISMIC_ALONG_Y,
                     image)
        lap = TZ_FMA(more_x * across_y, second_x,
                     TZ_FMA(more_y * across_x, second_y, across_x * across_y * (lap - image)));
#else
        SEISMIC_AXIS(y, TZ_Y, TZ_K(low_y), TZ_K(high_y), SEISMIC_ALONG_Y, TZ_R(0))
        SEISMIC_AXIS(z, TZ_Z, TZ_K(surface) ? -1 : TZ_K(low_z), TZ_K(high_z), SEISMIC_ALONG_Z,
                     image)
        lap = TZ_FMA(more_x * across_y * across_z, second_x,
                     TZ_FMA(more_y * across_x * across_z, second_y,
                            TZ_FMA(more_z * across_x * across_y, second_z,
                                   across_x * across_y * across_z * (lap - image))));
#endif
        const real lost = TZ_R(0.5) * TZ_K(strength) * courant * damping;
        const real moved = TZ_FMA(courant, lap, -(TZ_K(strength) * courant * flow));
        TZ_PUT(u, TZ_DIV(TZ_FMA(courant, moved, TZ_FMA(lost, before, going)), TZ_R(1) + lost));
    } else {
        TZ_PUT(u, TZ_FMA(courant * courant, lap, going));
    }
    TZ_PUT(before, here);
}
#undef SEISMIC_AT
#undef SEISMIC_LAST
#undef SEISMIC_TOP
#undef SEISMIC_RING
#undef SEISMIC_IN_FRAME
#undef SEISMIC_IF
#undef SEISMIC_SECOND
#undef SEISMIC_FIRST
#undef SEISMIC_ALONG_X
#undef SEISMIC_ALONG_Y
#undef SEISMIC_ALONG_Z
#undef SEISMIC_AXIS
#undef SEISMIC_WORTH
#undef SEISMIC_WORTH_x
#undef SEISMIC_WORTH_y
#undef SEISMIC_WORTH_z
#undef SEISMIC_A
#undef SEISMIC_E
#undef SEISMIC_P
#undef SEISMIC_Q
