/* augmented2d: Two steps of a wave at once, as tz.stencil writes it. A name of it is written
   tz_NAME_ here. k1 = is there a frame. k2 = the frame's end at low x. k3 = the frame's end at
   high x. k4 = the frame's end at low y. k5 = the frame's end at high y. k6 = v * 0.13. k7 =
   fixed side at low y. k8 = clamp side at low y. k9 = v * 0.11. k10 = v * (-0.5) + 2. k11 =
   fixed side at low x. k12 = clamp side at low x. k13 = fixed side at high x. k14 = clamp side
   at high x. k15 = fixed side at high y. k16 = clamp side at high y. k17 =
   v * 0.13 * (v * 0.13). k18 = v * 0.13 * (v * 0.11) + v * 0.11 * (v * 0.13). k19 =
   v * 0.13 * (v * (-0.5) + 2) + (v * (-0.5) + 2) * (v * 0.13). k20 = v * 0.11 * (v * 0.11).
   k21 = v * 0.11 * (v * (-0.5) + 2) + (v * (-0.5) + 2) * (v * 0.11). k22 =
   v * 0.13 * (v * 0.13) + v * 0.11 * (v * 0.11) + (v * (-0.5) + 2) * (v * (-0.5) + 2) +
   v * 0.11 * (v * 0.11) + v * 0.13 * (v * 0.13) + (-1). k23 = (v * (-0.5) + 2) * (v * 0.11) +
   v * 0.11 * (v * (-0.5) + 2). k24 = v * 0.11 * (v * 0.13) + v * 0.13 * (v * 0.11). k25 =
   (v * (-0.5) + 2) * (v * 0.13) + v * 0.13 * (v * (-0.5) + 2). k26 = -(v * 0.13). k27 =
   -(v * 0.11). k28 = -(v * (-0.5) + 2). */
#define TZ_FIELDS(tz_d) tz_d(tz_u_, real) tz_d(tz_old_, real)
#define TZ_CONSTANTS(tz_d)                                                                         \
    tz_d(tz_k1_, int) tz_d(tz_k2_, int) tz_d(tz_k3_, int) tz_d(tz_k4_, int) tz_d(tz_k5_, int)      \
        tz_d(tz_k6_, real) tz_d(tz_k7_, int) tz_d(tz_k8_, int) tz_d(tz_k9_, real)                  \
            tz_d(tz_k10_, real) tz_d(tz_k11_, int) tz_d(tz_k12_, int) tz_d(tz_k13_, int)           \
                tz_d(tz_k14_, int) tz_d(tz_k15_, int) tz_d(tz_k16_, int) tz_d(tz_k17_, real)       \
                    tz_d(tz_k18_, real) tz_d(tz_k19_, real) tz_d(tz_k20_, real)                    \
                        tz_d(tz_k21_, real) tz_d(tz_k22_, real) tz_d(tz_k23_, real)                \
                            tz_d(tz_k24_, real) tz_d(tz_k25_, real) tz_d(tz_k26_, real)            \
                                tz_d(tz_k27_, real) tz_d(tz_k28_, real)
#define TZ_READS(tz_d) tz_d(tz_update_, tz_old_, -1, 1, -1, 1)

TZ_CELL(tz_update_)
{
    if (TZ_K(tz_k1_) == 2 || (TZ_K(tz_k1_) && (TZ_X < TZ_K(tz_k2_) || TZ_X >= TZ_K(tz_k3_) ||
                                               TZ_Y < TZ_K(tz_k4_) || TZ_Y >= TZ_K(tz_k5_)))) {
        const int t1 = (int)TZ_Y + (-1);
        const real t2 = TZ_K(tz_k6_) * TZ_AT(tz_u_, 0, -1) + TZ_K(tz_k9_) * TZ_AT(tz_u_, -1, 0) +
                        TZ_K(tz_k10_) * TZ_AT(tz_u_, 0, 0) + TZ_K(tz_k9_) * TZ_AT(tz_u_, 1, 0) +
                        TZ_K(tz_k6_) * TZ_AT(tz_u_, 0, 1) - TZ_AT(tz_old_, 0, 0);
        const real t3 = TZ_K(tz_k6_) * TZ_AT(tz_u_, 0, 0);
        const int t4 = (int)TZ_X + (-1);
        const real t5 = TZ_K(tz_k9_) * TZ_AT(tz_u_, 0, 0);
        const int t6 = (int)TZ_X + 1;
        const int t7 = (int)TZ_Y + 1;
        TZ_PUT(tz_u_,
               TZ_K(tz_k6_) * TZ_SELECT(t1 < TZ_K(tz_k7_), TZ_AT(tz_u_, 0, -1),
                                        TZ_SELECT(t1 < TZ_K(tz_k8_), t2,
                                                  TZ_K(tz_k6_) * TZ_AT(tz_u_, 0, -2) +
                                                      TZ_K(tz_k9_) * TZ_AT(tz_u_, -1, -1) +
                                                      TZ_K(tz_k10_) * TZ_AT(tz_u_, 0, -1) +
                                                      TZ_K(tz_k9_) * TZ_AT(tz_u_, 1, -1) + t3 -
                                                      TZ_AT(tz_old_, 0, -1))) +
                   TZ_K(tz_k9_) * TZ_SELECT(t4 < TZ_K(tz_k11_), TZ_AT(tz_u_, -1, 0),
                                            TZ_SELECT(t4 < TZ_K(tz_k12_), t2,
                                                      TZ_K(tz_k6_) * TZ_AT(tz_u_, -1, -1) +
                                                          TZ_K(tz_k9_) * TZ_AT(tz_u_, -2, 0) +
                                                          TZ_K(tz_k10_) * TZ_AT(tz_u_, -1, 0) + t5 +
                                                          TZ_K(tz_k6_) * TZ_AT(tz_u_, -1, 1) -
                                                          TZ_AT(tz_old_, -1, 0))) +
                   TZ_K(tz_k10_) * t2 +
                   TZ_K(tz_k9_) * TZ_SELECT(t6 >= TZ_K(tz_k13_), TZ_AT(tz_u_, 1, 0),
                                            TZ_SELECT(t6 >= TZ_K(tz_k14_), t2,
                                                      TZ_K(tz_k6_) * TZ_AT(tz_u_, 1, -1) + t5 +
                                                          TZ_K(tz_k10_) * TZ_AT(tz_u_, 1, 0) +
                                                          TZ_K(tz_k9_) * TZ_AT(tz_u_, 2, 0) +
                                                          TZ_K(tz_k6_) * TZ_AT(tz_u_, 1, 1) -
                                                          TZ_AT(tz_old_, 1, 0))) +
                   TZ_K(tz_k6_) * TZ_SELECT(t7 >= TZ_K(tz_k15_), TZ_AT(tz_u_, 0, 1),
                                            TZ_SELECT(t7 >= TZ_K(tz_k16_), t2,
                                                      t3 + TZ_K(tz_k9_) * TZ_AT(tz_u_, -1, 1) +
                                                          TZ_K(tz_k10_) * TZ_AT(tz_u_, 0, 1) +
                                                          TZ_K(tz_k9_) * TZ_AT(tz_u_, 1, 1) +
                                                          TZ_K(tz_k6_) * TZ_AT(tz_u_, 0, 2) -
                                                          TZ_AT(tz_old_, 0, 1))) -
                   TZ_AT(tz_u_, 0, 0));
        TZ_PUT(tz_old_, t2);
    } else {
        const real t1 = TZ_K(tz_k6_) * TZ_AT(tz_u_, 0, -1) +
                        (TZ_K(tz_k9_) * TZ_AT(tz_u_, -1, 0) + TZ_K(tz_k10_) * TZ_AT(tz_u_, 0, 0) +
                         TZ_K(tz_k9_) * TZ_AT(tz_u_, 1, 0)) +
                        TZ_K(tz_k6_) * TZ_AT(tz_u_, 0, 1) - TZ_AT(tz_old_, 0, 0);
        TZ_PUT(tz_u_,
               TZ_K(tz_k17_) * TZ_AT(tz_u_, 0, -2) +
                   (TZ_K(tz_k18_) * TZ_AT(tz_u_, -1, -1) + TZ_K(tz_k19_) * TZ_AT(tz_u_, 0, -1) +
                    TZ_K(tz_k18_) * TZ_AT(tz_u_, 1, -1)) +
                   (TZ_K(tz_k20_) * TZ_AT(tz_u_, -2, 0) + TZ_K(tz_k21_) * TZ_AT(tz_u_, -1, 0) +
                    TZ_K(tz_k22_) * TZ_AT(tz_u_, 0, 0) + TZ_K(tz_k23_) * TZ_AT(tz_u_, 1, 0) +
                    TZ_K(tz_k20_) * TZ_AT(tz_u_, 2, 0)) +
                   (TZ_K(tz_k24_) * TZ_AT(tz_u_, -1, 1) + TZ_K(tz_k25_) * TZ_AT(tz_u_, 0, 1) +
                    TZ_K(tz_k24_) * TZ_AT(tz_u_, 1, 1)) +
                   TZ_K(tz_k17_) * TZ_AT(tz_u_, 0, 2) +
                   (TZ_K(tz_k26_) * TZ_AT(tz_old_, 0, -1) +
                    (TZ_K(tz_k27_) * TZ_AT(tz_old_, -1, 0) + TZ_K(tz_k28_) * TZ_AT(tz_old_, 0, 0) +
                     TZ_K(tz_k27_) * TZ_AT(tz_old_, 1, 0)) +
                    TZ_K(tz_k26_) * TZ_AT(tz_old_, 0, 1)));
        TZ_PUT(tz_old_, t1);
    }
}
