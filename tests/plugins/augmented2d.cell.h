/* augmented2d: Three uneven averaging steps at once, as tz.stencil writes it. k1 = is there a
   frame. k2 = the frame's end at low x. k3 = the frame's end at high x. k4 = the frame's end at
   low y. k5 = the frame's end at high y. k6 = fixed side at low y. k7 = clamp side at low y.
   k8 = fixed side at low x. k9 = clamp side at low x. k10 = fixed side at high x. k11 = clamp
   side at high x. k12 = fixed side at high y. k13 = clamp side at high y. */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(k1, int) K(k2, int) K(k3, int) K(k4, int) K(k5, int) K(k6, int) \
    K(k7, int) K(k8, int) K(k9, int) K(k10, int) K(k11, int) K(k12, int) K(k13, int)

TZ_CELL(update)
{
    if (TZ_K(k1) == 2 || (TZ_K(k1) && (TZ_X < TZ_K(k2) || TZ_X >= TZ_K(k3) || TZ_Y < TZ_K(k4) ||
        TZ_Y >= TZ_K(k5)))) {
        const int t1 = (int)TZ_Y + (-1);
        const int t2 = t1 < TZ_K(k6);
        const int t3 = t1 < TZ_K(k7);
        const real t4 = TZ_R(0.13) * TZ_AT(u, 0, -1) + TZ_R(0.11) * TZ_AT(u, -1, 0) +
            TZ_R(0.5) * TZ_AT(u, 0, 0) + TZ_R(0.14) * TZ_AT(u, 1, 0) +
            TZ_R(0.12) * TZ_AT(u, 0, 1);
        const real t5 = TZ_SELECT(t2, TZ_AT(u, 0, -1),
            TZ_SELECT(t3, t4, TZ_R(0.13) * TZ_AT(u, 0, -2) + TZ_R(0.11) * TZ_AT(u, -1, -1) +
            TZ_R(0.5) * TZ_AT(u, 0, -1) + TZ_R(0.14) * TZ_AT(u, 1, -1) +
            TZ_R(0.12) * TZ_AT(u, 0, 0)));
        const int t6 = (int)TZ_X + (-1);
        const int t7 = t6 < TZ_K(k8);
        const int t8 = t6 < TZ_K(k9);
        const real t9 = TZ_SELECT(t7, TZ_AT(u, -1, 0),
            TZ_SELECT(t8, t4, TZ_R(0.13) * TZ_AT(u, -1, -1) + TZ_R(0.11) * TZ_AT(u, -2, 0) +
            TZ_R(0.5) * TZ_AT(u, -1, 0) + TZ_R(0.14) * TZ_AT(u, 0, 0) +
            TZ_R(0.12) * TZ_AT(u, -1, 1)));
        const int t10 = (int)TZ_X + 1;
        const int t11 = t10 >= TZ_K(k10);
        const int t12 = t10 >= TZ_K(k11);
        const real t13 = TZ_SELECT(t11, TZ_AT(u, 1, 0),
            TZ_SELECT(t12, t4, TZ_R(0.13) * TZ_AT(u, 1, -1) + TZ_R(0.11) * TZ_AT(u, 0, 0) +
            TZ_R(0.5) * TZ_AT(u, 1, 0) + TZ_R(0.14) * TZ_AT(u, 2, 0) +
            TZ_R(0.12) * TZ_AT(u, 1, 1)));
        const int t14 = (int)TZ_Y + 1;
        const int t15 = t14 >= TZ_K(k12);
        const int t16 = t14 >= TZ_K(k13);
        const real t17 = TZ_SELECT(t15, TZ_AT(u, 0, 1),
            TZ_SELECT(t16, t4, TZ_R(0.13) * TZ_AT(u, 0, 0) + TZ_R(0.11) * TZ_AT(u, -1, 1) +
            TZ_R(0.5) * TZ_AT(u, 0, 1) + TZ_R(0.14) * TZ_AT(u, 1, 1) +
            TZ_R(0.12) * TZ_AT(u, 0, 2)));
        const real t18 = TZ_R(0.13) * t5 + TZ_R(0.11) * t9 + TZ_R(0.5) * t4 + TZ_R(0.14) * t13 +
            TZ_R(0.12) * t17;
        const int t19 = (int)TZ_Y + (-2);
        const real t20 = TZ_SELECT(t7 || t2, TZ_AT(u, -1, -1),
            TZ_SELECT(t8, t5, TZ_SELECT(t3, t9, TZ_R(0.13) * TZ_AT(u, -1, -2) +
            TZ_R(0.11) * TZ_AT(u, -2, -1) + TZ_R(0.5) * TZ_AT(u, -1, -1) +
            TZ_R(0.14) * TZ_AT(u, 0, -1) + TZ_R(0.12) * TZ_AT(u, -1, 0))));
        const real t21 = TZ_SELECT(t11 || t2, TZ_AT(u, 1, -1),
            TZ_SELECT(t12, t5, TZ_SELECT(t3, t13, TZ_R(0.13) * TZ_AT(u, 1, -2) +
            TZ_R(0.11) * TZ_AT(u, 0, -1) + TZ_R(0.5) * TZ_AT(u, 1, -1) +
            TZ_R(0.14) * TZ_AT(u, 2, -1) + TZ_R(0.12) * TZ_AT(u, 1, 0))));
        const int t22 = (int)TZ_X + (-2);
        const real t23 = TZ_SELECT(t7 || t15, TZ_AT(u, -1, 1),
            TZ_SELECT(t8, t17, TZ_SELECT(t16, t9, TZ_R(0.13) * TZ_AT(u, -1, 0) +
            TZ_R(0.11) * TZ_AT(u, -2, 1) + TZ_R(0.5) * TZ_AT(u, -1, 1) +
            TZ_R(0.14) * TZ_AT(u, 0, 1) + TZ_R(0.12) * TZ_AT(u, -1, 2))));
        const int t24 = (int)TZ_X + 2;
        const real t25 = TZ_SELECT(t11 || t15, TZ_AT(u, 1, 1),
            TZ_SELECT(t12, t17, TZ_SELECT(t16, t13, TZ_R(0.13) * TZ_AT(u, 1, 0) +
            TZ_R(0.11) * TZ_AT(u, 0, 1) + TZ_R(0.5) * TZ_AT(u, 1, 1) +
            TZ_R(0.14) * TZ_AT(u, 2, 1) + TZ_R(0.12) * TZ_AT(u, 1, 2))));
        const int t26 = (int)TZ_Y + 2;
        TZ_PUT(u, TZ_R(0.13) * TZ_SELECT(t2, TZ_AT(u, 0, -1),
            TZ_SELECT(t3, t18, TZ_R(0.13) * TZ_SELECT(t19 < TZ_K(k6), TZ_AT(u, 0, -2),
            TZ_SELECT(t19 < TZ_K(k7), t5, TZ_R(0.13) * TZ_AT(u, 0, -3) +
            TZ_R(0.11) * TZ_AT(u, -1, -2) + TZ_R(0.5) * TZ_AT(u, 0, -2) +
            TZ_R(0.14) * TZ_AT(u, 1, -2) + TZ_R(0.12) * TZ_AT(u, 0, -1))) + TZ_R(0.11) * t20 +
            TZ_R(0.5) * t5 + TZ_R(0.14) * t21 + TZ_R(0.12) * t4)) +
            TZ_R(0.11) * TZ_SELECT(t7, TZ_AT(u, -1, 0),
            TZ_SELECT(t8, t18, TZ_R(0.13) * t20 + TZ_R(0.11) * TZ_SELECT(t22 < TZ_K(k8),
            TZ_AT(u, -2, 0), TZ_SELECT(t22 < TZ_K(k9), t9, TZ_R(0.13) * TZ_AT(u, -2, -1) +
            TZ_R(0.11) * TZ_AT(u, -3, 0) + TZ_R(0.5) * TZ_AT(u, -2, 0) +
            TZ_R(0.14) * TZ_AT(u, -1, 0) + TZ_R(0.12) * TZ_AT(u, -2, 1))) + TZ_R(0.5) * t9 +
            TZ_R(0.14) * t4 + TZ_R(0.12) * t23)) + TZ_R(0.5) * t18 +
            TZ_R(0.14) * TZ_SELECT(t11, TZ_AT(u, 1, 0),
            TZ_SELECT(t12, t18, TZ_R(0.13) * t21 + TZ_R(0.11) * t4 + TZ_R(0.5) * t13 +
            TZ_R(0.14) * TZ_SELECT(t24 >= TZ_K(k10), TZ_AT(u, 2, 0),
            TZ_SELECT(t24 >= TZ_K(k11), t13, TZ_R(0.13) * TZ_AT(u, 2, -1) +
            TZ_R(0.11) * TZ_AT(u, 1, 0) + TZ_R(0.5) * TZ_AT(u, 2, 0) +
            TZ_R(0.14) * TZ_AT(u, 3, 0) + TZ_R(0.12) * TZ_AT(u, 2, 1))) + TZ_R(0.12) * t25)) +
            TZ_R(0.12) * TZ_SELECT(t15, TZ_AT(u, 0, 1),
            TZ_SELECT(t16, t18, TZ_R(0.13) * t4 + TZ_R(0.11) * t23 + TZ_R(0.5) * t17 +
            TZ_R(0.14) * t25 + TZ_R(0.12) * TZ_SELECT(t26 >= TZ_K(k12), TZ_AT(u, 0, 2),
            TZ_SELECT(t26 >= TZ_K(k13), t17, TZ_R(0.13) * TZ_AT(u, 0, 1) +
            TZ_R(0.11) * TZ_AT(u, -1, 2) + TZ_R(0.5) * TZ_AT(u, 0, 2) +
            TZ_R(0.14) * TZ_AT(u, 1, 2) + TZ_R(0.12) * TZ_AT(u, 0, 3))))));
    } else {
        TZ_PUT(u, TZ_R(0.002197) * TZ_AT(u, 0, -3) +
            (TZ_R(0.005577) * TZ_AT(u, -1, -2) + TZ_R(0.02535) * TZ_AT(u, 0, -2) +
            TZ_R(0.007098000000000001) * TZ_AT(u, 1, -2)) +
            (TZ_R(0.004719) * TZ_AT(u, -2, -1) + TZ_R(0.0429) * TZ_AT(u, -1, -1) +
            TZ_R(0.115596) * TZ_AT(u, 0, -1) + TZ_R(0.0546) * TZ_AT(u, 1, -1) +
            TZ_R(0.0076440000000000015) * TZ_AT(u, 2, -1)) +
            (TZ_R(0.001331) * TZ_AT(u, -3, 0) + TZ_R(0.01815) * TZ_AT(u, -2, 0) +
            TZ_R(0.097878) * TZ_AT(u, -1, 0) + TZ_R(0.218) * TZ_AT(u, 0, 0) +
            TZ_R(0.12457200000000002) * TZ_AT(u, 1, 0) +
            TZ_R(0.029400000000000006) * TZ_AT(u, 2, 0) +
            TZ_R(0.0027440000000000008) * TZ_AT(u, 3, 0)) +
            (TZ_R(0.004356) * TZ_AT(u, -2, 1) + TZ_R(0.039599999999999996) * TZ_AT(u, -1, 1) +
            TZ_R(0.106704) * TZ_AT(u, 0, 1) + TZ_R(0.05040000000000001) * TZ_AT(u, 1, 1) +
            TZ_R(0.0070560000000000015) * TZ_AT(u, 2, 1)) +
            (TZ_R(0.004752) * TZ_AT(u, -1, 2) + TZ_R(0.021599999999999998) * TZ_AT(u, 0, 2) +
            TZ_R(0.006048) * TZ_AT(u, 1, 2)) + TZ_R(0.001728) * TZ_AT(u, 0, 3));
    }
}
