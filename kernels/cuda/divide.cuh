/* kernels/cuda: quotients in cell updates that have tz_doubts as tz_doubt in their context, and a
 * template argument TZ__BORDER: 1 where the compiler divides. For direct.cuh and
 * direct_wide.cuh. */
#include "common.cuh"

/* What the quick divisions of a cell have met. If it is not what they are for, the cell must be
 * computed again (tz_is_doubtful()). */
struct tz_doubts {
    float excess; /* finite as long as all quotients are */
    float last;   /* a quotient that is not in `excess` yet, if there is `one` */
    bool one;
    tz_word size; /* the largest `size` of a dividend */
};
enum : tz_word { TZ_LEAST_A = (127u - 80u) << 24, TZ_LEAST_B = (127u - 40u) << 24 };

TZ_DEVICE tz_doubts tz_no_doubts()
{
    return {0.0f, 0.0f, false, 0u};
}
TZ_DEVICE bool tz_is_doubtful(const tz_doubts &doubts)
{
    const float all = doubts.one ? doubts.excess + doubts.last : doubts.excess;
    return doubts.size > ~0u - TZ_LEAST_A || !(tz_abs_single(all) < tz__single(0x7f800000u));
}

/* The compiler's text of a division is long, and has branches. */
template <class T> TZ_OUTLINE T tz_divide_plainly(T a, T b)
{
    return a / b;
}

/* a / b, correctly rounded, by the operations that the compiler uses, without its branches and
 * with one reciprocal for all quotients by b. For 2^-40 <= |b| < 2^40 and |a| >= 2^-80, if the
 * quotient is finite; also for a = 0 and b > 0: since the remainder is rounded down, it is -0 then,
 * which leaves a zero its sign. On sm_90 every pair of mantissas was tried; other architectures may
 * have another tz_reciprocal_roughly(). */
template <int BORDER> TZ_DEVICE float tz_divide(tz_doubts &doubts, float a, float b)
{
    if (BORDER == 1)
        return tz_divide_plainly(a, b);
    if (!TZ_QUOTIENTS)
        return a / b;
    /* Twice the bits: no signs. Counted from TZ_LEAST_A upwards, zero comes last. */
    const tz_word from = (tz__bits_single(b) >> 31) - 1u - TZ_LEAST_A;
    const tz_word size = (tz__bits_single(a) << 1) + from;
    const bool usual = (tz__bits_single(b) << 1) - TZ_LEAST_B < 80u << 24;
    const float rough = tz_reciprocal_roughly(b);
    const float near = TZ__FMA_SINGLE(rough, TZ__FMA_SINGLE(-b, rough, 1.0f), rough);
    const float inverse = usual ? near : TZ__NAN_SINGLE;
    const float first = a * inverse;
    const float quotient = TZ__FMA_SINGLE(tz_fma_down(-b, first, a), inverse, first);
    doubts.size = TZ_MAX(doubts.size, size);
    doubts.excess =
        doubts.one ? TZ__FMA_SINGLE(quotient, doubts.last, doubts.excess) : doubts.excess;
    doubts.last = quotient;
    doubts.one = !doubts.one;
    return quotient;
}

/* The compiler's text is slow for a = 0: another number takes its place, of which no quotient is
 * infinite. */
template <int BORDER> TZ_DEVICE double tz_divide(tz_doubts &, double a, double b)
{
    if (BORDER == 1)
        return tz_divide_plainly(a, b);
    const bool zero = a == 0.0;
    const double quotient = tz_choose(zero, 0x1p-60, a) / b;
    return zero ? a * quotient : quotient;
}

#undef TZ_DIV
#define TZ_DIV(x, y) tz_divide<TZ__BORDER>(tz_c.tz_doubt, (real)(x), (real)(y))
