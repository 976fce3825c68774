/* trapeze/math_arc.h: tan, and the inverse functions of angles. See <trapeze/math_double.h>; it and
 * math_angle.h come before. Who includes it has also defined
 *
 *   TZ__ROOT_DOUBLE(x)        the square root, correctly rounded */
#ifndef TRAPEZE_MATH_ARC_H
#define TRAPEZE_MATH_ARC_H

/* In single precision computed in double precision and rounded once. */
#define TZ__BY_DOUBLE(name)                                                                        \
    TZ__FUNCTION float tz_##name##_single(float x)                                                 \
    {                                                                                              \
        return (float)tz_##name##_double((double)x);                                               \
    }

/* ---- tan ------------------------------------------------------------------------------------- */

/* tan(high + low + quadrant pi/2): sine and cosine as pairs. */
TZ__FUNCTION double tz__slope(double high, double low, tz__word64 quadrant)
{
    const double z = high * high, half = 0.5 * z, one = 1.0 - half;
    const double s = TZ__FMA_DOUBLE(high * z, tz__sine_curve(z), low);
    const double c = ((1.0 - one) - half) + TZ__FMA_DOUBLE(z * z, tz__cosine_curve(z), -high * low);
    tz__pair_double sine, cosine, top, base;
    sine.high = high + s;
    sine.low = (high - sine.high) + s;
    cosine.high = one + c;
    cosine.low = (one - cosine.high) + c;
    const int turned = (int)(quadrant & 1);
    top.high = turned ? -cosine.high : sine.high;
    top.low = turned ? -cosine.low : sine.low;
    base.high = turned ? sine.high : cosine.high;
    base.low = turned ? sine.low : cosine.low;
    const tz__quotient_double q = tz__pair_over(top, base);
    return TZ__FMA_DOUBLE(q.rest, q.inverse, q.ratio);
}

TZ__FUNCTION double tz_tan_double(double x)
{
    const tz__angle_double angle = tz__angle_of_double(x);
    const double value = tz__slope(angle.high, angle.low, angle.quadrant);
    return x == 0.0 ? x : value;
}
TZ__FUNCTION float tz_tan_single(float x)
{
    const tz__angle_single angle = tz__angle_of_single(x);
    const double value = tz__slope((double)angle.high, (double)angle.low, angle.quadrant);
    return x == 0.0f ? x : (float)value;
}

/* ---- asin and acos --------------------------------------------------------------------------- */

/* asin(s) = s + rest, for |x| up to 1/2 with s = |x|, else with s = sqrt((1 - |x|) / 2), whose part
 * that a double does not hold is in the rest. */
typedef struct tz__arc_double {
    int steep;
    double s, rest;
} tz__arc_double;

TZ__FUNCTION tz__arc_double tz__arc_of(double x)
{
    const double size = tz_abs_double(x);
    tz__arc_double arc;
    arc.steep = size > 0.5;
    const double z = arc.steep ? 0.5 * (1.0 - size) : size * size, root = TZ__ROOT_DOUBLE(z);
    const double left = TZ__FMA_DOUBLE(-root, root, z) / (root + root);
    const double root_low = z == 0.0 ? 0.0 : left;
    arc.s = arc.steep ? root : size;
    double q = 0x1.0acf32b2ec9d2p-5;
    q = TZ__FMA_DOUBLE(q, z, -0x1.5681ab88209b2p-6);
    q = TZ__FMA_DOUBLE(q, z, 0x1.6292a56b83729p-6);
    q = TZ__FMA_DOUBLE(q, z, 0x1.e95360548347bp-9);
    q = TZ__FMA_DOUBLE(q, z, 0x1.6104a010d2bacp-7);
    q = TZ__FMA_DOUBLE(q, z, 0x1.758f3d1075088p-7);
    q = TZ__FMA_DOUBLE(q, z, 0x1.ca1e69ee86830p-7);
    q = TZ__FMA_DOUBLE(q, z, 0x1.1c49fbd219d64p-6);
    q = TZ__FMA_DOUBLE(q, z, 0x1.6e8bde4b1cf14p-6);
    q = TZ__FMA_DOUBLE(q, z, 0x1.f1c71a9983105p-6);
    q = TZ__FMA_DOUBLE(q, z, 0x1.6db6db72092e3p-5);
    q = TZ__FMA_DOUBLE(q, z, 0x1.333333332e190p-4);
    q = TZ__FMA_DOUBLE(q, z, 0x1.5555555555577p-3);
    arc.rest = TZ__FMA_DOUBLE(arc.s * z, q, arc.steep ? root_low : 0.0);
    return arc;
}

/* A multiple of pi/4 as a pair, less a + rest. */
TZ__FUNCTION double tz__angle_less(double quarters, double a, double rest)
{
    const double high = quarters * 0x1.921fb54442d18p-1, value = high - a;
    const double low =
        TZ__FMA_DOUBLE(quarters, 0x1.921fb54442d18p-1, -high) + quarters * 0x1.1a62633145c07p-55;
    return value + (((high - value) - a) + (low - rest));
}

TZ__FUNCTION double tz_asin_double(double x)
{
    const tz__arc_double arc = tz__arc_of(x);
    const double steep = tz__angle_less(2.0, 2.0 * arc.s, 2.0 * arc.rest);
    return tz__with_sign_of(x, arc.steep ? steep : arc.s + arc.rest);
}
TZ__FUNCTION double tz_acos_double(double x)
{
    const tz__arc_double arc = tz__arc_of(x);
    const int minus = x < 0.0, less = minus == arc.steep;
    const double factor = arc.steep ? 2.0 : 1.0;
    const double quarters = arc.steep ? (minus ? 4.0 : 0.0) : 2.0;
    const double a = factor * arc.s, rest = factor * arc.rest;
    return tz__angle_less(quarters, less ? a : -a, less ? rest : -rest);
}
TZ__BY_DOUBLE(asin)
TZ__BY_DOUBLE(acos)

/* ---- atan ------------------------------------------------------------------------------------ */

/* The smaller of |x| and |y| over the larger one; above tan(pi/8) the angle less pi/4. Then
 * multiples of pi/4, and the signs. */
TZ__FUNCTION double tz_atan2_double(double y, double x)
{
    const double across = tz_abs_double(x), up = tz_abs_double(y);
    const int steep = up > across, minus = (int)(tz__bits_double(x) >> 63);
    const double least = steep ? across : up, most = steep ? up : across;
    const int endless = most == TZ__INFINITY_DOUBLE;
    const double ends = least < TZ__INFINITY_DOUBLE ? 0.0 : 1.0;
    const double smaller = most < 0x1p-900 ? 0x1p200 : 1.0;
    const double scale = most > 0x1p900 ? 0x1p-200 : smaller;
    const double small = endless ? ends : least * scale;
    const double large = endless || most == 0.0 ? 1.0 : most * scale;
    const int near = small > 0x1.a827999fcef32p-2 * large;
    const double less = large - small, more = large + small;
    tz__pair_double top, base;
    top.high = near ? -less : small;
    top.low = near ? -((large - less) - small) : 0.0;
    base.high = near ? more : large;
    base.low = near ? (large - more) + small : 0.0;
    const tz__quotient_double ratio = tz__pair_over(top, base);
    const double z = ratio.ratio * ratio.ratio;
    double q = 0x1.f1619e1e1b44ep-7;
    q = TZ__FMA_DOUBLE(q, z, -0x1.12144023daa54p-5);
    q = TZ__FMA_DOUBLE(q, z, 0x1.70dcf30885be2p-5);
    q = TZ__FMA_DOUBLE(q, z, -0x1.ab792e4290801p-5);
    q = TZ__FMA_DOUBLE(q, z, 0x1.e17146344c23bp-5);
    q = TZ__FMA_DOUBLE(q, z, -0x1.110c687a01b13p-4);
    q = TZ__FMA_DOUBLE(q, z, 0x1.3b136d692afd5p-4);
    q = TZ__FMA_DOUBLE(q, z, -0x1.745d14b0133d9p-4);
    q = TZ__FMA_DOUBLE(q, z, 0x1.c71c71b6fd2b7p-4);
    q = TZ__FMA_DOUBLE(q, z, -0x1.2492492474b6bp-3);
    q = TZ__FMA_DOUBLE(q, z, 0x1.999999999962fp-3);
    q = TZ__FMA_DOUBLE(q, z, -0x1.5555555555554p-2);
    const double rest = TZ__FMA_DOUBLE(ratio.ratio * z, q, ratio.rest * ratio.inverse);
    const double first = near ? 1.0 : 0.0, second = steep ? 2.0 - first : first;
    const double quarters = minus ? 4.0 - second : second;
    const int turned = steep != minus;
    const double a = turned ? ratio.ratio : -ratio.ratio, a_rest = turned ? rest : -rest;
    const double value = tz__with_sign_of(y, tz__angle_less(quarters, a, a_rest));
    return x != x || y != y ? TZ__NAN_DOUBLE : value;
}
TZ__FUNCTION float tz_atan2_single(float y, float x)
{
    return (float)tz_atan2_double((double)y, (double)x);
}
TZ__FUNCTION double tz_atan_double(double x)
{
    return tz_atan2_double(x, 1.0);
}
TZ__BY_DOUBLE(atan)

#endif
