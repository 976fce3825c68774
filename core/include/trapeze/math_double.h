/* trapeze/math_double.h: exp, log and tanh in double precision. <trapeze/rows_math.h> says what
 * they give; <trapeze/math_single.h>, math_angle.h and math_power.h have the others.
 *
 * C and CUDA C++ compile this one text: fused arithmetic and integer operations, without calls,
 * tables or loops. So the bits are the same on every machine, and loops over it are vectorised. Who
 * includes it has defined
 *
 *   TZ__FUNCTION              what stands before an inline function
 *   TZ__FMA_SINGLE(a, b, c)   a * b + c of floats, rounded once
 *   TZ__FMA_DOUBLE(a, b, c)   the same in double precision
 *
 * Polynomials are least-squares fits at Chebyshev nodes, with rounded coefficients. */
#ifndef TRAPEZE_MATH_DOUBLE_H
#define TRAPEZE_MATH_DOUBLE_H

typedef unsigned long long tz__word64;

TZ__FUNCTION tz__word64 tz__bits_double(double value)
{
    union {
        double value;
        tz__word64 bits;
    } both;
    both.value = value;
    return both.bits;
}
TZ__FUNCTION double tz__double(tz__word64 bits)
{
    union {
        double value;
        tz__word64 bits;
    } both;
    both.bits = bits;
    return both.value;
}
TZ__FUNCTION double tz_abs_double(double x)
{
    return tz__double(tz__bits_double(x) & 0x7fffffffffffffffu);
}

/* Adding it rounds a number below 2^51 to an integer, which is then in the last bits of the sum. */
#define TZ__MAGIC_DOUBLE 0x1.8p52
#define TZ__NAN_DOUBLE tz__double(0x7ff8000000000000u)
#define TZ__INFINITY_DOUBLE tz__double(0x7ff0000000000000u)

/* 2^n, for `sum` = n + magic with n from -1022 to 1023. */
TZ__FUNCTION double tz__power_double(double sum)
{
    return tz__double((tz__bits_double(sum) << 52) + 0x3ff0000000000000u);
}

/* ---- exp ------------------------------------------------------------------------------------- */

/* exp(high + low) for high from -746 to 710. The factor 2^n is applied in two halves, so that only
 * the last one rounds. */
TZ__FUNCTION double tz__exp_double(double high, double low)
{
    const double n =
        TZ__FMA_DOUBLE(high, 0x1.71547652b82fep+0, TZ__MAGIC_DOUBLE) - TZ__MAGIC_DOUBLE;
    const double near = TZ__FMA_DOUBLE(n, -0x1.62e42fefa39efp-1, high);
    const double rest = TZ__FMA_DOUBLE(n, -0x1.abc9e3b39803fp-56, low);
    const double r = near + rest, r_low = (near - r) + rest;
    double q = 0x1.1ed458cf47001p-29;
    q = TZ__FMA_DOUBLE(q, r, 0x1.af6efacf30ee7p-26);
    q = TZ__FMA_DOUBLE(q, r, 0x1.27e544a46da88p-22);
    q = TZ__FMA_DOUBLE(q, r, 0x1.71ddee38323c3p-19);
    q = TZ__FMA_DOUBLE(q, r, 0x1.a01a0174e22c1p-16);
    q = TZ__FMA_DOUBLE(q, r, 0x1.a01a01b4566e6p-13);
    q = TZ__FMA_DOUBLE(q, r, 0x1.6c16c16c2018dp-10);
    q = TZ__FMA_DOUBLE(q, r, 0x1.111111110e9e0p-7);
    q = TZ__FMA_DOUBLE(q, r, 0x1.5555555555540p-5);
    q = TZ__FMA_DOUBLE(q, r, 0x1.555555555555cp-3);
    q = TZ__FMA_DOUBLE(q, r, 0.5);
    const double p = 1.0 + (r + TZ__FMA_DOUBLE(r * r, q, r_low));
    const double first = TZ__FMA_DOUBLE(n, 0.5, TZ__MAGIC_DOUBLE);
    const double second = (n - (first - TZ__MAGIC_DOUBLE)) + TZ__MAGIC_DOUBLE;
    return p * tz__power_double(first) * tz__power_double(second);
}

TZ__FUNCTION double tz_exp_double(double x)
{
    const double least = x < -746.0 ? -746.0 : x;
    return tz__exp_double(least > 710.0 ? 710.0 : least, 0.0);
}

/* ---- log ------------------------------------------------------------------------------------- */

/* x = m 2^e with m from sqrt(1/2) to sqrt(2), for finite x > 0. */
typedef struct tz__parts_double {
    double m, e;
} tz__parts_double;

TZ__FUNCTION tz__parts_double tz__parts_of_double(double x)
{
    const int tiny = x < 0x1p-1022;
    const double normal = tiny ? x * 0x1p54 : x;
    const tz__word64 shifted =
        tz__bits_double(normal) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    const double above = tiny ? 0x1p52 + 1023.0 + 54.0 : 0x1p52 + 1023.0;
    tz__parts_double parts;
    parts.m = tz__double((shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    parts.e = tz__double(shifted >> 52 | 0x4330000000000000u) - above;
    return parts;
}

TZ__FUNCTION double tz_log_double(double x)
{
    const tz__parts_double parts = tz__parts_of_double(x);
    const double f = parts.m - 1.0, s = f / (2.0 + f), z = s * s;
    double a = 0x1.0f0774c971d5ap-4; /* atanh(s) = s + s z a */
    a = TZ__FMA_DOUBLE(a, z, 0x1.0f680444993e4p-4);
    a = TZ__FMA_DOUBLE(a, z, 0x1.3b201b6b39f7fp-4);
    a = TZ__FMA_DOUBLE(a, z, 0x1.745ce200e71a2p-4);
    a = TZ__FMA_DOUBLE(a, z, 0x1.c71c724aadfa4p-4);
    a = TZ__FMA_DOUBLE(a, z, 0x1.249249243a17bp-3);
    a = TZ__FMA_DOUBLE(a, z, 0x1.9999999999d0bp-3);
    a = TZ__FMA_DOUBLE(a, z, 0x1.5555555555555p-2);
    const double half = 0.5 * f * f;
    const double small =
        TZ__FMA_DOUBLE(parts.e, 0x1.abc9e3b39803fp-56, s * TZ__FMA_DOUBLE(z + z, a, half));
    const double value = TZ__FMA_DOUBLE(parts.e, 0x1.62e42fefa39efp-1, f - (half - small));
    const double ends = x == 0.0 ? -TZ__INFINITY_DOUBLE : x > 0.0 ? x : TZ__NAN_DOUBLE;
    return x > 0.0 && x < TZ__INFINITY_DOUBLE ? value : ends;
}

/* ---- tanh ------------------------------------------------------------------------------------ */

/* A number as the sum of two: the second is below the last place of the first. */
typedef struct tz__pair_double {
    double high, low;
} tz__pair_double;

/* exp(y) - 1 for y from 0 to 44. */
TZ__FUNCTION tz__pair_double tz__exp_less_one(double y)
{
    const double sum = TZ__FMA_DOUBLE(y, 0x1.71547652b82fep+0, TZ__MAGIC_DOUBLE);
    const double n = sum - TZ__MAGIC_DOUBLE;
    const double near = TZ__FMA_DOUBLE(n, -0x1.62e42fefa39efp-1, y); /* exact */
    const double r = TZ__FMA_DOUBLE(n, -0x1.abc9e3b39803fp-56, near);
    const double r_low = TZ__FMA_DOUBLE(n, -0x1.abc9e3b39803fp-56, near - r);
    double q = 0x1.1f11025d5ee09p-29;
    q = TZ__FMA_DOUBLE(q, r, 0x1.af5fcc7d2b637p-26);
    q = TZ__FMA_DOUBLE(q, r, 0x1.27e5193c5a945p-22);
    q = TZ__FMA_DOUBLE(q, r, 0x1.71ddf7c451d01p-19);
    q = TZ__FMA_DOUBLE(q, r, 0x1.a01a018b4ea97p-16);
    q = TZ__FMA_DOUBLE(q, r, 0x1.a01a01b0198fbp-13);
    q = TZ__FMA_DOUBLE(q, r, 0x1.6c16c16c1b32cp-10);
    q = TZ__FMA_DOUBLE(q, r, 0x1.111111110f635p-7);
    q = TZ__FMA_DOUBLE(q, r, 0x1.555555555554cp-5);
    q = TZ__FMA_DOUBLE(q, r, 0x1.5555555555559p-3);
    q = TZ__FMA_DOUBLE(q, r, 0.5);
    const double scale = tz__power_double(sum), most = scale - 1.0, add = scale * r;
    const double first = most + add;
    const double second = ((most - first) + add) + scale * TZ__FMA_DOUBLE(r * r, q, r_low);
    tz__pair_double pair;
    pair.high = first + second;
    pair.low = (first - pair.high) + second;
    return pair;
}

/* a + b, of a pair and a number. */
TZ__FUNCTION tz__pair_double tz__pair_plus(tz__pair_double a, double b)
{
    tz__pair_double sum;
    sum.high = a.high + b;
    const double back = sum.high - a.high;
    sum.low = ((b - back) + (a.high - (sum.high - back))) + a.low;
    return sum;
}

/* a / b = ratio + rest * inverse. */
typedef struct tz__quotient_double {
    double ratio, rest, inverse;
} tz__quotient_double;

TZ__FUNCTION tz__quotient_double tz__pair_over(tz__pair_double a, tz__pair_double b)
{
    tz__quotient_double q;
    q.inverse = 1.0 / b.high;
    q.ratio = a.high * q.inverse;
    q.rest = TZ__FMA_DOUBLE(-q.ratio, b.high, a.high) + TZ__FMA_DOUBLE(-q.ratio, b.low, a.low);
    return q;
}

/* The value with the sign of x, which it has not yet. */
TZ__FUNCTION double tz__with_sign_of(double x, double value)
{
    return tz__double(tz__bits_double(value) | (tz__bits_double(x) & 0x8000000000000000u));
}

/* t / (t + 2) with t = exp(2 |x|) - 1, both as pairs. */
TZ__FUNCTION double tz_tanh_double(double x)
{
    const double twice = 2.0 * tz_abs_double(x);
    const tz__pair_double t = tz__exp_less_one(twice > 44.0 ? 44.0 : twice);
    const tz__quotient_double q = tz__pair_over(t, tz__pair_plus(t, 2.0));
    return tz__with_sign_of(x, TZ__FMA_DOUBLE(q.rest, q.inverse, q.ratio));
}

#endif
