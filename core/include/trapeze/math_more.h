/* trapeze/math_more.h: rounding, sinh, cosh and erf. See <trapeze/math_double.h>; it, math_single.h
 * and math_arc.h come before. */
#ifndef TRAPEZE_MATH_MORE_H
#define TRAPEZE_MATH_MORE_H

/* ---- From bits ------------------------------------------------------------------------------- */

/* Two words of random bits as a number from 0 to below 1: the first 24 of them, or 53. */
TZ__FUNCTION float tz_unit_single(unsigned int high, unsigned int low)
{
    (void)low;
    return (float)(int)(high >> 8) * 0x1p-24f;
}
TZ__FUNCTION double tz_unit_double(unsigned int high, unsigned int low)
{
    return ((double)(int)(high >> 5) * 0x1p26 + (double)(int)(low >> 6)) * 0x1p-53;
}

/* ---- Whole numbers, exactly ------------------------------------------------------------------ */

/* `large`: from there on all numbers are whole. Adding it rounds a smaller one. */
#define TZ__ROUNDING(precision, type, large)                                                       \
    TZ__FUNCTION type tz__whole_##precision(type x, type value)                                    \
    {                                                                                              \
        const type size = tz_abs_##precision(value);                                               \
        return tz_abs_##precision(x) < large ? tz__signed_##precision(x, size) : x;                \
    }                                                                                              \
    TZ__FUNCTION type tz_floor_##precision(type x)                                                 \
    {                                                                                              \
        const type size = tz_abs_##precision(x), near = (size + large) - large;                    \
        const type value = x < 0 ? -near : near;                                                   \
        return tz__whole_##precision(x, value > x ? value - 1 : value);                            \
    }                                                                                              \
    TZ__FUNCTION type tz_ceil_##precision(type x)                                                  \
    {                                                                                              \
        return -tz_floor_##precision(-x);                                                          \
    }                                                                                              \
    TZ__FUNCTION type tz_round_##precision(type x)                                                 \
    {                                                                                              \
        const type size = tz_abs_##precision(x), near = (size + large) - large;                    \
        return tz__whole_##precision(x, size - near == (type)0.5 ? near + 1 : near);               \
    }

TZ__FUNCTION double tz__signed_double(double x, double size)
{
    return tz__with_sign_of(x, size);
}
TZ__FUNCTION float tz__signed_single(float x, float size)
{
    return tz__single(tz__bits_single(size) | (tz__bits_single(x) & 0x80000000u));
}
TZ__ROUNDING(single, float, 0x1p23f)
TZ__ROUNDING(double, double, 0x1p52)

/* ---- sinh and cosh --------------------------------------------------------------------------- */

/* exp(|x|) / 2, for |x| from 40, where exp(-|x|) does not count. */
TZ__FUNCTION double tz__half_exp(double x)
{
    const double size = tz_abs_double(x), y = size > 711.5 ? 711.5 : size;
    const double high = y - 0x1.62e42fefa39efp-1;
    return tz__exp_double(high, ((y - high) - 0x1.62e42fefa39efp-1) - 0x1.abc9e3b39803fp-56);
}

/* (t + t / (t + 1)) / 2 with t = exp(|x|) - 1. */
TZ__FUNCTION double tz_sinh_double(double x)
{
    const double size = tz_abs_double(x);
    const tz__pair_double t = tz__exp_less_one(size > 40.0 ? 40.0 : size);
    const tz__quotient_double q = tz__pair_over(t, tz__pair_plus(t, 1.0));
    const double sum = t.high + q.ratio;
    const double low = ((t.high - sum) + q.ratio) + TZ__FMA_DOUBLE(q.rest, q.inverse, t.low);
    const double value = 0.5 * (sum + low);
    return tz__with_sign_of(x, size > 40.0 ? tz__half_exp(x) : value);
}
/* (d + 1 / d) / 2 with d = exp(|x|). */
TZ__FUNCTION double tz_cosh_double(double x)
{
    const double size = tz_abs_double(x);
    const tz__pair_double d = tz__pair_plus(tz__exp_less_one(size > 40.0 ? 40.0 : size), 1.0);
    tz__pair_double one;
    one.high = 1.0;
    one.low = 0.0;
    const tz__quotient_double q = tz__pair_over(one, d);
    const double sum = d.high + q.ratio;
    const double low = ((d.high - sum) + q.ratio) + TZ__FMA_DOUBLE(q.rest, q.inverse, d.low);
    const double value = 0.5 * (sum + low);
    return size > 40.0 ? tz__half_exp(x) : value;
}
TZ__BY_DOUBLE(sinh)
TZ__BY_DOUBLE(cosh)

/* ---- erf ------------------------------------------------------------------------------------- */

/* x + x p(x^2) for |x| up to 1, else 1 - exp(-x^2) r(|x| - 2). From 5.95 on it is 1. */
TZ__FUNCTION double tz_erf_double(double x)
{
    const double size = tz_abs_double(x), y = size > 5.95 ? 5.95 : size, t = y - 2.0;
    const double z = size > 1.0 ? 1.0 : size * size;
    double p = 0x1.0565f423b09cfp-34;
    p = TZ__FMA_DOUBLE(p, z, -0x1.386350e0c4e7ap-30);
    p = TZ__FMA_DOUBLE(p, z, 0x1.f7a19d528709cp-27);
    p = TZ__FMA_DOUBLE(p, z, -0x1.5f1cfb0eb6c5fp-23);
    p = TZ__FMA_DOUBLE(p, z, 0x1.b9deea6c3ea2cp-20);
    p = TZ__FMA_DOUBLE(p, z, -0x1.f4d1dea693fd5p-17);
    p = TZ__FMA_DOUBLE(p, z, 0x1.f9a321994fb79p-14);
    p = TZ__FMA_DOUBLE(p, z, -0x1.c02db3d8a714ep-11);
    p = TZ__FMA_DOUBLE(p, z, 0x1.565bcd0dae9f0p-8);
    p = TZ__FMA_DOUBLE(p, z, -0x1.b82ce312848f4p-6);
    p = TZ__FMA_DOUBLE(p, z, 0x1.ce2f21a042b1ep-4);
    p = TZ__FMA_DOUBLE(p, z, -0x1.812746b0379e6p-2);
    p = TZ__FMA_DOUBLE(p, z, 0x1.06eba8214db69p-3);
    double r = 0x1.3dd4a42bf9385p-40;
    r = TZ__FMA_DOUBLE(r, t, -0x1.0fc0812bf9722p-36);
    r = TZ__FMA_DOUBLE(r, t, 0x1.a14f251159497p-34);
    r = TZ__FMA_DOUBLE(r, t, -0x1.aaceacf4665a8p-32);
    r = TZ__FMA_DOUBLE(r, t, 0x1.8e1d980c6c8dfp-30);
    r = TZ__FMA_DOUBLE(r, t, -0x1.8cb82acc9b749p-28);
    r = TZ__FMA_DOUBLE(r, t, 0x1.902545675ea6dp-26);
    r = TZ__FMA_DOUBLE(r, t, -0x1.865de3d31736ep-24);
    r = TZ__FMA_DOUBLE(r, t, 0x1.7260d179b0254p-22);
    r = TZ__FMA_DOUBLE(r, t, -0x1.576e7ff88fc92p-20);
    r = TZ__FMA_DOUBLE(r, t, 0x1.369644e102d9cp-18);
    r = TZ__FMA_DOUBLE(r, t, -0x1.115d5a16f635fp-16);
    r = TZ__FMA_DOUBLE(r, t, 0x1.d37bb39e1e004p-15);
    r = TZ__FMA_DOUBLE(r, t, -0x1.83821d34fcc2fp-13);
    r = TZ__FMA_DOUBLE(r, t, 0x1.369ff9e6bd1b3p-11);
    r = TZ__FMA_DOUBLE(r, t, -0x1.e028e8bed768dp-10);
    r = TZ__FMA_DOUBLE(r, t, 0x1.6490721593407p-8);
    r = TZ__FMA_DOUBLE(r, t, -0x1.fa9d3ac917b82p-7);
    r = TZ__FMA_DOUBLE(r, t, 0x1.5672b9ea14fb2p-5);
    r = TZ__FMA_DOUBLE(r, t, -0x1.b57034efd41b0p-4);
    r = TZ__FMA_DOUBLE(r, t, 0x1.058671b52c76ep-2);
    const double square = y * y, rest = TZ__FMA_DOUBLE(y, y, -square);
    const double tail = TZ__FMA_DOUBLE(-tz__exp_double(-square, -rest), r, 1.0);
    return tz__with_sign_of(x, size > 1.0 ? tail : TZ__FMA_DOUBLE(size, p, size));
}
TZ__BY_DOUBLE(erf)

#endif
