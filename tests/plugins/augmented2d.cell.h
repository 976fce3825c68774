/* augmented2d: Two steps of a wave at once, as tz.stencil writes it. k1 = is there a frame.
   k2 = the frame's end at low x. k3 = the frame's end at high x. k4 = the frame's end at low y.
   k5 = the frame's end at high y. k6 = v * 0.13. k7 = fixed side at low y. k8 = clamp side at
   low y. k9 = v * 0.11. k10 = v * (-0.5) + 2. k11 = fixed side at low x. k12 = clamp side at
   low x. k13 = fixed side at high x. k14 = clamp side at high x. k15 = fixed side at high y.
   k16 = clamp side at high y. k17 = v * 0.13 * (v * 0.13). k18 = v * 0.13 * (v * 0.11) +
   v * 0.11 * (v * 0.13). k19 = v * 0.13 * (v * (-0.5) + 2) + (v * (-0.5) + 2) * (v * 0.13).
   k20 = v * 0.11 * (v * 0.11). k21 = v * 0.11 * (v * (-0.5) + 2) +
   (v * (-0.5) + 2) * (v * 0.11). k22 = v * 0.13 * (v * 0.13) + v * 0.11 * (v * 0.11) +
   (v * (-0.5) + 2) * (v * (-0.5) + 2) + v * 0.11 * (v * 0.11) + v * 0.13 * (v * 0.13) + (-1).
   k23 = (v * (-0.5) + 2) * (v * 0.11) + v * 0.11 * (v * (-0.5) + 2). k24 =
   v * 0.11 * (v * 0.13) + v * 0.13 * (v * 0.11). k25 = (v * (-0.5) + 2) * (v * 0.13) +
   v * 0.13 * (v * (-0.5) + 2). k26 = -(v * 0.13). k27 = -(v * 0.11). k28 = -(v * (-0.5) + 2).
   */
/* clang-format off */
#define TZ_FIELDS(F) F(u, real) F(old, real)
#define TZ_CONSTANTS(K) K(k1, int) K(k2, int) K(k3, int) K(k4, int) K(k5, int) K(k6, real) \
    K(k7, int) K(k8, int) K(k9, real) K(k10, real) K(k11, int) K(k12, int) K(k13, int) \
    K(k14, int) K(k15, int) K(k16, int) K(k17, real) K(k18, real) K(k19, real) K(k20, real) \
    K(k21, real) K(k22, real) K(k23, real) K(k24, real) K(k25, real) K(k26, real) K(k27, real) \
    K(k28, real)
#define TZ_READS(R) R(update, old, -1, 1, -1, 1)
/* clang-format on */

TZ_CELL(update)
{
    if (TZ_K(k1) == 2 || (TZ_K(k1) && (TZ_X < TZ_K(k2) || TZ_X >= TZ_K(k3) || TZ_Y < TZ_K(k4) ||
                                       TZ_Y >= TZ_K(k5)))) {
        const int t1 = (int)TZ_Y + (-1);
        const real t2 = TZ_K(k6) * TZ_AT(u, 0, -1) + TZ_K(k9) * TZ_AT(u, -1, 0) +
                        TZ_K(k10) * TZ_AT(u, 0, 0) + TZ_K(k9) * TZ_AT(u, 1, 0) +
                        TZ_K(k6) * TZ_AT(u, 0, 1) - TZ_AT(old, 0, 0);
        const real t3 = TZ_K(k6) * TZ_AT(u, 0, 0);
        const int t4 = (int)TZ_X + (-1);
        const real t5 = TZ_K(k9) * TZ_AT(u, 0, 0);
        const int t6 = (int)TZ_X + 1;
        const int t7 = (int)TZ_Y + 1;
        TZ_PUT(
            u,
            TZ_K(k6) *
                    TZ_SELECT(t1 < TZ_K(k7), TZ_AT(u, 0, -1),
                              TZ_SELECT(t1 < TZ_K(k8), t2,
                                        TZ_K(k6) * TZ_AT(u, 0, -2) + TZ_K(k9) * TZ_AT(u, -1, -1) +
                                            TZ_K(k10) * TZ_AT(u, 0, -1) +
                                            TZ_K(k9) * TZ_AT(u, 1, -1) + t3 - TZ_AT(old, 0, -1))) +
                TZ_K(k9) *
                    TZ_SELECT(t4 < TZ_K(k11), TZ_AT(u, -1, 0),
                              TZ_SELECT(t4 < TZ_K(k12), t2,
                                        TZ_K(k6) * TZ_AT(u, -1, -1) + TZ_K(k9) * TZ_AT(u, -2, 0) +
                                            TZ_K(k10) * TZ_AT(u, -1, 0) + t5 +
                                            TZ_K(k6) * TZ_AT(u, -1, 1) - TZ_AT(old, -1, 0))) +
                TZ_K(k10) * t2 +
                TZ_K(k9) *
                    TZ_SELECT(t6 >= TZ_K(k13), TZ_AT(u, 1, 0),
                              TZ_SELECT(t6 >= TZ_K(k14), t2,
                                        TZ_K(k6) * TZ_AT(u, 1, -1) + t5 +
                                            TZ_K(k10) * TZ_AT(u, 1, 0) + TZ_K(k9) * TZ_AT(u, 2, 0) +
                                            TZ_K(k6) * TZ_AT(u, 1, 1) - TZ_AT(old, 1, 0))) +
                TZ_K(k6) *
                    TZ_SELECT(t7 >= TZ_K(k15), TZ_AT(u, 0, 1),
                              TZ_SELECT(t7 >= TZ_K(k16), t2,
                                        t3 + TZ_K(k9) * TZ_AT(u, -1, 1) +
                                            TZ_K(k10) * TZ_AT(u, 0, 1) + TZ_K(k9) * TZ_AT(u, 1, 1) +
                                            TZ_K(k6) * TZ_AT(u, 0, 2) - TZ_AT(old, 0, 1))) -
                TZ_AT(u, 0, 0));
        TZ_PUT(old, t2);
    } else {
        const real t1 =
            TZ_K(k6) * TZ_AT(u, 0, -1) +
            (TZ_K(k9) * TZ_AT(u, -1, 0) + TZ_K(k10) * TZ_AT(u, 0, 0) + TZ_K(k9) * TZ_AT(u, 1, 0)) +
            TZ_K(k6) * TZ_AT(u, 0, 1) - TZ_AT(old, 0, 0);
        TZ_PUT(u, TZ_K(k17) * TZ_AT(u, 0, -2) +
                      (TZ_K(k18) * TZ_AT(u, -1, -1) + TZ_K(k19) * TZ_AT(u, 0, -1) +
                       TZ_K(k18) * TZ_AT(u, 1, -1)) +
                      (TZ_K(k20) * TZ_AT(u, -2, 0) + TZ_K(k21) * TZ_AT(u, -1, 0) +
                       TZ_K(k22) * TZ_AT(u, 0, 0) + TZ_K(k23) * TZ_AT(u, 1, 0) +
                       TZ_K(k20) * TZ_AT(u, 2, 0)) +
                      (TZ_K(k24) * TZ_AT(u, -1, 1) + TZ_K(k25) * TZ_AT(u, 0, 1) +
                       TZ_K(k24) * TZ_AT(u, 1, 1)) +
                      TZ_K(k17) * TZ_AT(u, 0, 2) +
                      (TZ_K(k26) * TZ_AT(old, 0, -1) +
                       (TZ_K(k27) * TZ_AT(old, -1, 0) + TZ_K(k28) * TZ_AT(old, 0, 0) +
                        TZ_K(k27) * TZ_AT(old, 1, 0)) +
                       TZ_K(k26) * TZ_AT(old, 0, 1)));
        TZ_PUT(old, t1);
    }
}
