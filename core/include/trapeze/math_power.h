/* trapeze/math_power.h: pow in both precisions. See <trapeze/math_double.h>, which comes
 * before it. */
#ifndef TRAPEZE_MATH_POWER_H
#define TRAPEZE_MATH_POWER_H

/* log(x), for x from 0 to infinity, or NAN. atanh(s) = s + s z / 3 + s z^2 a, with
 * s = (m - 1) / (m + 1) and z = s^2; all but `a` are sums of two numbers. */
TZ__FUNCTION tz__pair_double tz__log_pair(double x)
{
    const tz__parts_double parts = tz__parts_of_double(x);
    const double f = parts.m - 1.0, d = parts.m + 1.0, d_low = parts.m - (d - 1.0);
    const double inverse = 1.0 / d, s = f * inverse;
    const double left = TZ__FMA_DOUBLE(-s, d_low, TZ__FMA_DOUBLE(-s, d, f));
    const double s_low = left * inverse;
    const double z = s * s, z_low = TZ__FMA_DOUBLE(s, s, -z) + 2.0 * s * s_low;
    double a = 0x1.0e5d8b2d1a7ffp-4;
    a = TZ__FMA_DOUBLE(a, z, 0x1.0f7cd1ce7fa10p-4);
    a = TZ__FMA_DOUBLE(a, z, 0x1.3b1f10b618996p-4);
    a = TZ__FMA_DOUBLE(a, z, 0x1.745ce904f26f0p-4);
    a = TZ__FMA_DOUBLE(a, z, 0x1.c71c7230380b2p-4);
    a = TZ__FMA_DOUBLE(a, z, 0x1.24924924558aep-3);
    a = TZ__FMA_DOUBLE(a, z, 0x1.9999999999b47p-3);
    const double more = z * a, u = 0x1.5555555555555p-2 + more;
    const double u_low = ((0x1.5555555555555p-2 - u) + more) + 0x1.5555555555555p-56;
    const double v = z * u;
    const double v_low = TZ__FMA_DOUBLE(z, u, -v) + TZ__FMA_DOUBLE(z, u_low, z_low * u);
    const double w = s * v;
    const double w_low = TZ__FMA_DOUBLE(s, v, -w) + TZ__FMA_DOUBLE(s, v_low, s_low * v);
    const double half = s + w, half_low = ((s - half) + w) + (s_low + w_low);
    /* e ln 2 is exact in its first number */
    const double whole = parts.e * 0x1.62e42fefa4000p-1, part = half + half;
    const double high = whole + part;
    const double low = ((whole - high) + part) +
                       TZ__FMA_DOUBLE(parts.e, -0x1.8432a1b0e2634p-43, half_low + half_low);
    const double sum = high + low, top = x < TZ__INFINITY_DOUBLE ? sum : x;
    tz__pair_double pair;
    pair.high = x == 0.0 ? -TZ__INFINITY_DOUBLE : top;
    pair.low = (high - sum) + low; /* without meaning for 0 and infinity */
    return pair;
}

/* What x from 0 exceeds the nearest integer by; a large x is one. */
TZ__FUNCTION double tz__beyond_integer(double x)
{
    const double beyond = x - ((x + 0x1p52) - 0x1p52);
    return x < 0x1p52 ? beyond : 0.0;
}

/* `power` = |x|^y with the sign and the special cases of C. */
TZ__FUNCTION double tz__power_finish(double x, double y, double power)
{
    const double size = tz_abs_double(y), beyond = tz__beyond_integer(size);
    const tz__word64 odd = tz__beyond_integer(0.5 * size) == 0.0 ? 0u : 0x8000000000000000u;
    const tz__word64 sign = tz__bits_double(x) & (beyond == 0.0 ? odd : 0u);
    const double with_sign = tz__double(tz__bits_double(power) ^ sign);
    const double finite = beyond == 0.0 ? with_sign : TZ__NAN_DOUBLE;
    const double below = x > -TZ__INFINITY_DOUBLE ? finite : with_sign;
    const double any = x < 0.0 ? below : with_sign;
    const double minus_one = size == TZ__INFINITY_DOUBLE ? 1.0 : any;
    const double base = x == -1.0 ? minus_one : any;
    const double plus_one = x == 1.0 ? 1.0 : base;
    return y == 0.0 ? 1.0 : plus_one;
}

TZ__FUNCTION double tz_pow_double(double x, double y)
{
    const tz__pair_double log = tz__log_pair(tz_abs_double(x));
    const double high = y * log.high;
    const double low = TZ__FMA_DOUBLE(y, log.high, -high) + y * log.low;
    const double least = high < -746.0 ? -746.0 : high;
    const double most = least > 710.0 ? 710.0 : least;
    const double power = tz__exp_double(most, most == high ? low : 0.0);
    return tz__power_finish(x, y, power);
}

/* By way of double precision: exp(y log(x)) with an error of 2^-34. */
TZ__FUNCTION float tz_pow_single(float x, float y)
{
    const double size = tz_abs_double((double)x);
    const tz__parts_double parts = tz__parts_of_double(size);
    const double f = parts.m - 1.0, s = f / (2.0 + f), z = s * s;
    double a = 0x1.9125141095b92p-4;
    a = TZ__FMA_DOUBLE(a, z, 0x1.c629e8089b4b1p-4);
    a = TZ__FMA_DOUBLE(a, z, 0x1.249415f3d7408p-3);
    a = TZ__FMA_DOUBLE(a, z, 0x1.9999969df7e03p-3);
    a = TZ__FMA_DOUBLE(a, z, 0x1.55555556239bbp-2);
    const double log =
        TZ__FMA_DOUBLE(parts.e, 0x1.62e42fefa39efp-1, TZ__FMA_DOUBLE(s + s, z * a, s + s));
    const double top = size < TZ__INFINITY_DOUBLE ? log : size;
    const double high = (double)y * (size == 0.0 ? -TZ__INFINITY_DOUBLE : top);
    const double least = high < -200.0 ? -200.0 : high, t = least > 200.0 ? 200.0 : least;
    const double sum = TZ__FMA_DOUBLE(t, 0x1.71547652b82fep+0, TZ__MAGIC_DOUBLE);
    const double r = TZ__FMA_DOUBLE(sum - TZ__MAGIC_DOUBLE, -0x1.62e42fefa39efp-1, t);
    double q = 0x1.9fca3a4fa7b48p-13;
    q = TZ__FMA_DOUBLE(q, r, 0x1.6d97fb27efd83p-10);
    q = TZ__FMA_DOUBLE(q, r, 0x1.1111e2a61063ep-7);
    q = TZ__FMA_DOUBLE(q, r, 0x1.55547e81d337dp-5);
    q = TZ__FMA_DOUBLE(q, r, 0x1.555554a60eda0p-3);
    q = TZ__FMA_DOUBLE(q, r, 0x1.00000044119f0p-1);
    const double power = (1.0 + TZ__FMA_DOUBLE(r * r, q, r)) * tz__power_double(sum);
    return (float)tz__power_finish((double)x, (double)y, power);
}

#endif
