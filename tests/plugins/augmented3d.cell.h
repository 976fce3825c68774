/* augmented3d: Two steps of a wave at once, as tz.stencil writes it. k1 = is there a frame.
   k2 = the frame's end at low x. k3 = the frame's end at high x. k4 = the frame's end at low y.
   k5 = the frame's end at high y. k6 = the frame's end at low z. k7 = the frame's end at high
   z. k8 = v * 0.1. k9 = fixed side at high z. k10 = clamp side at high z. k11 = v * (-0.6) + 2.
   k12 = fixed side at high y. k13 = clamp side at high y. k14 = fixed side at high x. k15 =
   clamp side at high x. k16 = fixed side at low x. k17 = clamp side at low x. k18 = fixed side
   at low y. k19 = clamp side at low y. k20 = fixed side at low z. k21 = clamp side at low z.
   k22 = v * 0.1 * (v * 0.1). k23 = v * 0.1 * (v * 0.1) + v * 0.1 * (v * 0.1). k24 =
   v * 0.1 * (v * (-0.6) + 2) + (v * (-0.6) + 2) * (v * 0.1). k25 =
   (v * (-0.6) + 2) * (v * 0.1) + v * 0.1 * (v * (-0.6) + 2). k26 = v * 0.1 * (v * 0.1) +
   v * 0.1 * (v * 0.1) + v * 0.1 * (v * 0.1) + (v * (-0.6) + 2) * (v * (-0.6) + 2) +
   v * 0.1 * (v * 0.1) + v * 0.1 * (v * 0.1) + v * 0.1 * (v * 0.1) + (-1). k27 = -(v * 0.1).
   k28 = -(v * (-0.6) + 2). */
#define TZ_FIELDS(F) F(u, real) F(old, real)
#define TZ_CONSTANTS(K) K(k1, int) K(k2, int) K(k3, int) K(k4, int) K(k5, int) K(k6, int) \
    K(k7, int) K(k8, real) K(k9, int) K(k10, int) K(k11, real) K(k12, int) K(k13, int) \
    K(k14, int) K(k15, int) K(k16, int) K(k17, int) K(k18, int) K(k19, int) K(k20, int) \
    K(k21, int) K(k22, real) K(k23, real) K(k24, real) K(k25, real) K(k26, real) K(k27, real) \
    K(k28, real)
#define TZ_READS(R) R(update, old, -1, 1, -1, 1, -1, 1)

TZ_CELL(update)
{
    if (TZ_K(k1) == 2 || (TZ_K(k1) && (TZ_X < TZ_K(k2) || TZ_X >= TZ_K(k3) || TZ_Y < TZ_K(k4) ||
        TZ_Y >= TZ_K(k5) || TZ_Z < TZ_K(k6) || TZ_Z >= TZ_K(k7)))) {
        const int t1 = (int)TZ_Z + 1;
        const real t2 = TZ_FMA(TZ_R(-1), TZ_AT(old, 0, 0, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 0, 1), TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 1, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 1, 0, 0), TZ_FMA(TZ_K(k11), TZ_AT(u, 0, 0, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, -1, 0, 0), TZ_FMA(TZ_K(k8), TZ_AT(u, 0, -1, 0),
            TZ_K(k8) * TZ_AT(u, 0, 0, -1))))))));
        const int t3 = (int)TZ_Y + 1;
        const int t4 = (int)TZ_X + 1;
        const int t5 = (int)TZ_X + (-1);
        const int t6 = (int)TZ_Y + (-1);
        const int t7 = (int)TZ_Z + (-1);
        TZ_PUT(u, TZ_FMA(TZ_R(-1), TZ_AT(u, 0, 0, 0),
            TZ_FMA(TZ_K(k8), TZ_SELECT(t1 >= TZ_K(k9), TZ_AT(u, 0, 0, 1),
            TZ_SELECT(t1 >= TZ_K(k10), t2, TZ_FMA(TZ_R(-1), TZ_AT(old, 0, 0, 1),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 0, 2), TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 1, 1),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 1, 0, 1), TZ_FMA(TZ_K(k11), TZ_AT(u, 0, 0, 1),
            TZ_FMA(TZ_K(k8), TZ_AT(u, -1, 0, 1), TZ_FMA(TZ_K(k8), TZ_AT(u, 0, -1, 1),
            TZ_K(k8) * TZ_AT(u, 0, 0, 0)))))))))), TZ_FMA(TZ_K(k8),
            TZ_SELECT(t3 >= TZ_K(k12), TZ_AT(u, 0, 1, 0),
            TZ_SELECT(t3 >= TZ_K(k13), t2, TZ_FMA(TZ_R(-1), TZ_AT(old, 0, 1, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 1, 1), TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 2, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 1, 1, 0), TZ_FMA(TZ_K(k11), TZ_AT(u, 0, 1, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, -1, 1, 0), TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 0, 0),
            TZ_K(k8) * TZ_AT(u, 0, 1, -1)))))))))), TZ_FMA(TZ_K(k8),
            TZ_SELECT(t4 >= TZ_K(k14), TZ_AT(u, 1, 0, 0),
            TZ_SELECT(t4 >= TZ_K(k15), t2, TZ_FMA(TZ_R(-1), TZ_AT(old, 1, 0, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 1, 0, 1), TZ_FMA(TZ_K(k8), TZ_AT(u, 1, 1, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 2, 0, 0), TZ_FMA(TZ_K(k11), TZ_AT(u, 1, 0, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 0, 0), TZ_FMA(TZ_K(k8), TZ_AT(u, 1, -1, 0),
            TZ_K(k8) * TZ_AT(u, 1, 0, -1)))))))))), TZ_FMA(TZ_K(k11), t2,
            TZ_FMA(TZ_K(k8), TZ_SELECT(t5 < TZ_K(k16), TZ_AT(u, -1, 0, 0),
            TZ_SELECT(t5 < TZ_K(k17), t2, TZ_FMA(TZ_R(-1), TZ_AT(old, -1, 0, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, -1, 0, 1), TZ_FMA(TZ_K(k8), TZ_AT(u, -1, 1, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 0, 0), TZ_FMA(TZ_K(k11), TZ_AT(u, -1, 0, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, -2, 0, 0), TZ_FMA(TZ_K(k8), TZ_AT(u, -1, -1, 0),
            TZ_K(k8) * TZ_AT(u, -1, 0, -1)))))))))), TZ_FMA(TZ_K(k8),
            TZ_SELECT(t6 < TZ_K(k18), TZ_AT(u, 0, -1, 0),
            TZ_SELECT(t6 < TZ_K(k19), t2, TZ_FMA(TZ_R(-1), TZ_AT(old, 0, -1, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 0, -1, 1), TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 0, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 1, -1, 0), TZ_FMA(TZ_K(k11), TZ_AT(u, 0, -1, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, -1, -1, 0), TZ_FMA(TZ_K(k8), TZ_AT(u, 0, -2, 0),
            TZ_K(k8) * TZ_AT(u, 0, -1, -1)))))))))), TZ_K(k8) * TZ_SELECT(t7 < TZ_K(k20),
            TZ_AT(u, 0, 0, -1), TZ_SELECT(t7 < TZ_K(k21), t2,
            TZ_FMA(TZ_R(-1), TZ_AT(old, 0, 0, -1), TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 0, 0),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 0, 1, -1), TZ_FMA(TZ_K(k8), TZ_AT(u, 1, 0, -1),
            TZ_FMA(TZ_K(k11), TZ_AT(u, 0, 0, -1), TZ_FMA(TZ_K(k8), TZ_AT(u, -1, 0, -1),
            TZ_FMA(TZ_K(k8), TZ_AT(u, 0, -1, -1),
            TZ_K(k8) * TZ_AT(u, 0, 0, -2))))))))))))))))));
        TZ_PUT(old, t2);
    } else {
        const real t1 = TZ_K(k8) * TZ_AT(u, 0, 0, -1) +
            (TZ_K(k8) * TZ_AT(u, 0, -1, 0) + TZ_FMA(TZ_K(k8), TZ_AT(u, 1, 0, 0),
            TZ_FMA(TZ_K(k11), TZ_AT(u, 0, 0, 0), TZ_K(k8) * TZ_AT(u, -1, 0, 0))) +
            TZ_K(k8) * TZ_AT(u, 0, 1, 0)) + TZ_K(k8) * TZ_AT(u, 0, 0, 1) - TZ_AT(old, 0, 0, 0);
        TZ_PUT(u, TZ_K(k22) * TZ_AT(u, 0, 0, -2) + (TZ_K(k23) * TZ_AT(u, 0, -1, -1) +
            TZ_FMA(TZ_K(k23), TZ_AT(u, 1, 0, -1), TZ_FMA(TZ_K(k24), TZ_AT(u, 0, 0, -1),
            TZ_K(k23) * TZ_AT(u, -1, 0, -1))) + TZ_K(k23) * TZ_AT(u, 0, 1, -1)) +
            (TZ_K(k22) * TZ_AT(u, 0, -2, 0) + TZ_FMA(TZ_K(k23), TZ_AT(u, 1, -1, 0),
            TZ_FMA(TZ_K(k24), TZ_AT(u, 0, -1, 0), TZ_K(k23) * TZ_AT(u, -1, -1, 0))) +
            TZ_FMA(TZ_K(k22), TZ_AT(u, 2, 0, 0), TZ_FMA(TZ_K(k25), TZ_AT(u, 1, 0, 0),
            TZ_FMA(TZ_K(k26), TZ_AT(u, 0, 0, 0), TZ_FMA(TZ_K(k24), TZ_AT(u, -1, 0, 0),
            TZ_K(k22) * TZ_AT(u, -2, 0, 0))))) + TZ_FMA(TZ_K(k23), TZ_AT(u, 1, 1, 0),
            TZ_FMA(TZ_K(k25), TZ_AT(u, 0, 1, 0), TZ_K(k23) * TZ_AT(u, -1, 1, 0))) +
            TZ_K(k22) * TZ_AT(u, 0, 2, 0)) + (TZ_K(k23) * TZ_AT(u, 0, -1, 1) +
            TZ_FMA(TZ_K(k23), TZ_AT(u, 1, 0, 1), TZ_FMA(TZ_K(k25), TZ_AT(u, 0, 0, 1),
            TZ_K(k23) * TZ_AT(u, -1, 0, 1))) + TZ_K(k23) * TZ_AT(u, 0, 1, 1)) +
            TZ_K(k22) * TZ_AT(u, 0, 0, 2) + (TZ_K(k27) * TZ_AT(old, 0, 0, -1) +
            (TZ_K(k27) * TZ_AT(old, 0, -1, 0) + TZ_FMA(TZ_K(k27), TZ_AT(old, 1, 0, 0),
            TZ_FMA(TZ_K(k28), TZ_AT(old, 0, 0, 0), TZ_K(k27) * TZ_AT(old, -1, 0, 0))) +
            TZ_K(k27) * TZ_AT(old, 0, 1, 0)) + TZ_K(k27) * TZ_AT(old, 0, 0, 1)));
        TZ_PUT(old, t1);
    }
}
