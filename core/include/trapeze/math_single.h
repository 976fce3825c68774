/* trapeze/math_single.h: exp, log and tanh in single precision. See <trapeze/math_double.h>. */
#ifndef TRAPEZE_MATH_SINGLE_H
#define TRAPEZE_MATH_SINGLE_H

TZ__FUNCTION unsigned int tz__bits_single(float value)
{
    union {
        float value;
        unsigned int bits;
    } both;
    both.value = value;
    return both.bits;
}
TZ__FUNCTION float tz__single(unsigned int bits)
{
    union {
        float value;
        unsigned int bits;
    } both;
    both.bits = bits;
    return both.value;
}
TZ__FUNCTION float tz_abs_single(float x)
{
    return tz__single(tz__bits_single(x) & 0x7fffffffu);
}

/* Adding it rounds a number below 2^22 to an integer, which is then in the last bits of the sum. */
#define TZ__MAGIC_SINGLE 0x1.8p23f
#define TZ__NAN_SINGLE tz__single(0x7fc00000u)
#define TZ__INFINITY_SINGLE tz__single(0x7f800000u)

/* 2^n, for `sum` = n + magic with n from -126 to 127. */
TZ__FUNCTION float tz__power_single(float sum)
{
    return tz__single((tz__bits_single(sum) << 23) + 0x3f800000u);
}

TZ__FUNCTION float tz_exp_single(float x)
{
    const float least = x < -105.0f ? -105.0f : x, y = least > 90.0f ? 90.0f : least;
    const float n = TZ__FMA_SINGLE(y, 0x1.715476p+0f, TZ__MAGIC_SINGLE) - TZ__MAGIC_SINGLE;
    const float near = TZ__FMA_SINGLE(n, -0x1.62e430p-1f, y);
    const float r = TZ__FMA_SINGLE(n, 0x1.05c610p-29f, near);
    float q = 0x1.685d26p-10f;
    q = TZ__FMA_SINGLE(q, r, 0x1.123d48p-7f);
    q = TZ__FMA_SINGLE(q, r, 0x1.555b90p-5f);
    q = TZ__FMA_SINGLE(q, r, 0x1.55548cp-3f);
    q = TZ__FMA_SINGLE(q, r, 0x1.fffff8p-2f);
    const float p = 1.0f + TZ__FMA_SINGLE(r * r, q, r);
    /* 2^n in two halves, so that only the last one rounds. */
    const float first = TZ__FMA_SINGLE(n, 0.5f, TZ__MAGIC_SINGLE);
    const float second = (n - (first - TZ__MAGIC_SINGLE)) + TZ__MAGIC_SINGLE;
    return p * tz__power_single(first) * tz__power_single(second);
}

TZ__FUNCTION float tz_log_single(float x)
{
    /* x = m 2^e with m from sqrt(1/2) to sqrt(2) */
    const int tiny = x < 0x1p-126f;
    const float normal = tiny ? x * 0x1p25f : x;
    const unsigned int shifted = tz__bits_single(normal) + (0x3f800000u - 0x3f3504f3u);
    const float above = tiny ? 0x1p23f + 127.0f + 25.0f : 0x1p23f + 127.0f;
    const float e = tz__single(shifted >> 23 | 0x4b000000u) - above;
    const float f = tz__single((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float p = 0x1.11c288p-4f; /* log(1 + f) = f - f^2 / 2 + f^3 p */
    p = TZ__FMA_SINGLE(p, f, -0x1.dd6266p-4f);
    p = TZ__FMA_SINGLE(p, f, 0x1.e7a62cp-4f);
    p = TZ__FMA_SINGLE(p, f, -0x1.fc4e0ap-4f);
    p = TZ__FMA_SINGLE(p, f, 0x1.232cf6p-3f);
    p = TZ__FMA_SINGLE(p, f, -0x1.555ae2p-3f);
    p = TZ__FMA_SINGLE(p, f, 0x1.99a546p-3f);
    p = TZ__FMA_SINGLE(p, f, -0x1.00000ap-2f);
    p = TZ__FMA_SINGLE(p, f, 0x1.555546p-2f);
    const float curve = (f * f) * TZ__FMA_SINGLE(p, f, -0.5f);
    const float small = f + TZ__FMA_SINGLE(e, -0x1.05c610p-29f, curve);
    const float value = TZ__FMA_SINGLE(e, 0x1.62e430p-1f, small);
    const float ends = x == 0.0f ? -TZ__INFINITY_SINGLE : x > 0.0f ? x : TZ__NAN_SINGLE;
    return x > 0.0f && x < TZ__INFINITY_SINGLE ? value : ends;
}

/* t / (t + 2) with t = exp(2 |x|) - 1, both as sums of two numbers. */
TZ__FUNCTION float tz_tanh_single(float x)
{
    const float twice = 2.0f * tz_abs_single(x), y = twice > 20.0f ? 20.0f : twice;
    const float sum = TZ__FMA_SINGLE(y, 0x1.715476p+0f, TZ__MAGIC_SINGLE);
    const float n = sum - TZ__MAGIC_SINGLE;
    const float near = TZ__FMA_SINGLE(n, -0x1.62e430p-1f, y); /* exact */
    const float r = TZ__FMA_SINGLE(n, 0x1.05c610p-29f, near);
    const float r_low = TZ__FMA_SINGLE(n, 0x1.05c610p-29f, near - r);
    float q = 0x1.6b6b5ep-10f;
    q = TZ__FMA_SINGLE(q, r, 0x1.122a50p-7f);
    q = TZ__FMA_SINGLE(q, r, 0x1.55571ep-5f);
    q = TZ__FMA_SINGLE(q, r, 0x1.5554acp-3f);
    q = TZ__FMA_SINGLE(q, r, 0x1.fffffep-2f);
    const float scale = tz__power_single(sum), most = scale - 1.0f, add = scale * r;
    const float first = most + add;
    const float second = ((most - first) + add) + scale * TZ__FMA_SINGLE(r * r, q, r_low);
    const float t = first + second, t_low = (first - t) + second;
    const float d = t + 2.0f, back = d - t, d_low = ((2.0f - back) + (t - (d - back))) + t_low;
    const float inverse = 1.0f / d, ratio = t * inverse;
    const float rest = TZ__FMA_SINGLE(-ratio, d, t) + TZ__FMA_SINGLE(-ratio, d_low, t_low);
    const float value = TZ__FMA_SINGLE(rest, inverse, ratio);
    return tz__single(tz__bits_single(value) | (tz__bits_single(x) & 0x80000000u));
}

#endif
