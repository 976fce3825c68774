/* trapeze/math_angle.h: sin and cos in both precisions. See <trapeze/math_double.h>, which comes
 * before it, as math_single.h does. */
#ifndef TRAPEZE_MATH_ANGLE_H
#define TRAPEZE_MATH_ANGLE_H

/* ---- Double precision ------------------------------------------------------------------------ */

/* x = quadrant * pi/2 + high + low. */
typedef struct tz__angle_double {
    double high, low;
    tz__word64 quadrant;
} tz__angle_double;

TZ__FUNCTION tz__angle_double tz__angle_of_double(double x)
{
    const double sum = TZ__FMA_DOUBLE(x, 0x1.45f306dc9c883p-1, TZ__MAGIC_DOUBLE);
    const double n = sum - TZ__MAGIC_DOUBLE;
    const double near = TZ__FMA_DOUBLE(n, -0x1.921fb54442d18p+0, x); /* exact */
    const double w = n * 0x1.1a62633145c07p-54;
    const double w_low = TZ__FMA_DOUBLE(n, 0x1.1a62633145c07p-54, -w);
    const double high = near - w, back = high - near;
    const double low = (near - (high - back)) - (w + back);
    tz__angle_double angle;
    angle.high = tz_abs_double(x) < 0x1p45 ? high : TZ__NAN_DOUBLE;
    angle.low = TZ__FMA_DOUBLE(n, 0x1.f1976b7ed8fbcp-110, low - w_low);
    angle.quadrant = tz__bits_double(sum);
    return angle;
}

/* (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4, with z = r^2. */
TZ__FUNCTION double tz__sine_curve(double z)
{
    double s = 0x1.5d8d15e1b80c2p-33;
    s = TZ__FMA_DOUBLE(s, z, -0x1.ae5e50f249ba6p-26);
    s = TZ__FMA_DOUBLE(s, z, 0x1.71de355b249dbp-19);
    s = TZ__FMA_DOUBLE(s, z, -0x1.a01a019bee917p-13);
    s = TZ__FMA_DOUBLE(s, z, 0x1.111111110f74bp-7);
    s = TZ__FMA_DOUBLE(s, z, -0x1.5555555555548p-3);
    return s;
}
TZ__FUNCTION double tz__cosine_curve(double z)
{
    double c = -0x1.8f9e6cab94db1p-37;
    c = TZ__FMA_DOUBLE(c, z, 0x1.1ee9cb185c8bcp-29);
    c = TZ__FMA_DOUBLE(c, z, -0x1.27e4f7d6eb330p-22);
    c = TZ__FMA_DOUBLE(c, z, 0x1.a01a019c666f7p-16);
    c = TZ__FMA_DOUBLE(c, z, -0x1.6c16c16c14e3dp-10);
    c = TZ__FMA_DOUBLE(c, z, 0x1.555555555554ap-5);
    return c;
}

/* sin(high + low + quadrant pi/2). */
TZ__FUNCTION double tz__turn_double(double high, double low, tz__word64 quadrant)
{
    const double z = high * high, c = tz__cosine_curve(z);
    const double sine = high + TZ__FMA_DOUBLE(high * z, tz__sine_curve(z), low);
    const double half = 0.5 * z, one = 1.0 - half;
    const double cosine = one + (((1.0 - one) - half) + TZ__FMA_DOUBLE(z * z, c, -high * low));
    const tz__word64 bits = tz__bits_double(quadrant & 1 ? cosine : sine);
    return tz__double(bits ^ (quadrant & 2) << 62);
}

TZ__FUNCTION double tz_sin_double(double x)
{
    const tz__angle_double angle = tz__angle_of_double(x);
    const double value = tz__turn_double(angle.high, angle.low, angle.quadrant);
    return x == 0.0 ? x : value;
}
TZ__FUNCTION double tz_cos_double(double x)
{
    const tz__angle_double angle = tz__angle_of_double(x);
    return tz__turn_double(angle.high, angle.low, angle.quadrant + 1);
}

/* ---- Single precision ------------------------------------------------------------------------ */

typedef struct tz__angle_single {
    float high, low;
    unsigned int quadrant;
} tz__angle_single;

/* For |x| from 2^17, in double precision. x is scaled to an integer times a power of two below
 * 2^47; of 2/pi times the scale, multiples of 4 are left out. */
TZ__FUNCTION tz__angle_single tz__angle_of_large(double x)
{
    const double size = tz_abs_double(x);
    double scale = 1.0, high = 0x1.45f306dc9c883p-1, low = -0x1.6b01ec5417056p-55;
    high = size < 0x1p46 ? high : 0x1.b727220a94fe1p+0;
    low = size < 0x1p46 ? low : 0x1.d5f47d4d37703p-55;
    scale = size < 0x1p46 ? scale : 0x1p-23;
    high = size < 0x1p70 ? high : 0x1.054a7f09d5f48p+1;
    low = size < 0x1p70 ? low : -0x1.596447e493ad5p-54;
    scale = size < 0x1p70 ? scale : 0x1p-47;
    high = size < 0x1p94 ? high : 0x1.09d5f47d4d377p+1;
    low = size < 0x1p94 ? low : 0x1.b6c52b3278872p-58;
    scale = size < 0x1p94 ? scale : 0x1p-71;
    high = size < 0x1p118 ? high : 0x1.f534ddc0db629p-1;
    low = size < 0x1p118 ? low : 0x1.664f10e4107f9p-55;
    scale = size < 0x1p118 ? scale : 0x1p-95;
    const double scaled = x * scale, turns = scaled * high, sum = turns + TZ__MAGIC_DOUBLE;
    const double rest = TZ__FMA_DOUBLE(scaled, high, -turns);
    const double part = (turns - (sum - TZ__MAGIC_DOUBLE)) + TZ__FMA_DOUBLE(scaled, low, rest);
    const double r = part * 0x1.921fb54442d18p+0;
    tz__angle_single angle;
    angle.high = (float)r;
    angle.low = (float)(r - (double)angle.high);
    angle.quadrant = (unsigned int)tz__bits_double(sum);
    return angle;
}

TZ__FUNCTION tz__angle_single tz__angle_of_single(float x)
{
    tz__angle_single angle;
    if (tz_abs_single(x) >= 0x1p17f) {
        angle = tz__angle_of_large((double)x);
    } else {
        const float sum = TZ__FMA_SINGLE(x, 0x1.45f306p-1f, TZ__MAGIC_SINGLE);
        const float n = sum - TZ__MAGIC_SINGLE;
        const float near = TZ__FMA_SINGLE(n, -0x1.921fb6p+0f, x); /* exact */
        const float w = n * -0x1.777a5cp-25f;
        const float w_low = TZ__FMA_SINGLE(n, -0x1.777a5cp-25f, -w);
        const float high = near - w, back = high - near;
        const float low = (near - (high - back)) - (w + back);
        angle.high = high;
        angle.low = TZ__FMA_SINGLE(n, 0x1.ee59dap-50f, low - w_low);
        angle.quadrant = tz__bits_single(sum);
    }
    return angle;
}

/* sin(high + low + quadrant pi/2). */
TZ__FUNCTION float tz__turn_single(float high, float low, unsigned int quadrant)
{
    const float z = high * high;
    float s = 0x1.77dd08p-19f;
    s = TZ__FMA_SINGLE(s, z, -0x1.a0485cp-13f);
    s = TZ__FMA_SINGLE(s, z, 0x1.111164p-7f);
    s = TZ__FMA_SINGLE(s, z, -0x1.555556p-3f);
    const float sine = high + TZ__FMA_SINGLE(high * z, s, low);
    float c = 0x1.99e818p-16f;
    c = TZ__FMA_SINGLE(c, z, -0x1.6c0c28p-10f);
    c = TZ__FMA_SINGLE(c, z, 0x1.55554ap-5f);
    const float half = 0.5f * z, one = 1.0f - half;
    const float cosine = one + (((1.0f - one) - half) + TZ__FMA_SINGLE(z * z, c, -high * low));
    const unsigned int bits = tz__bits_single(quadrant & 1u ? cosine : sine);
    return tz__single(bits ^ (quadrant & 2u) << 30);
}

TZ__FUNCTION float tz_sin_single(float x)
{
    const tz__angle_single angle = tz__angle_of_single(x);
    const float value = tz__turn_single(angle.high, angle.low, angle.quadrant);
    return x == 0.0f ? x : value;
}
TZ__FUNCTION float tz_cos_single(float x)
{
    const tz__angle_single angle = tz__angle_of_single(x);
    return tz__turn_single(angle.high, angle.low, angle.quadrant + 1u);
}

#endif
