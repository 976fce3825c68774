/* kernels/cuda: quotients in cell updates that have tz_doubts as tz_doubt in their context, and a
 * template argument TZ__BORDER: 1 where the compiler divides. For direct.cuh and
 * direct_wide.cuh. */
#include "common.cuh"

/* What the quick quotients of a cell have met. If it is not what they are for, the cell must be
 * computed again (tz_is_doubtful()). */
struct tz_doubts {
    float excess; /* finite as long as all quotients are */
    float last;   /* a quotient that is not in `excess` yet, if there is `one` */
    bool one;
    tz_word size; /* the largest size of a dividend */
};

TZ_DEVICE tz_doubts tz_no_doubts()
{
    return {0.0f, 0.0f, false, 0u};
}
TZ_DEVICE bool tz_is_doubtful(const tz_doubts &doubts)
{
    const float all = doubts.one ? doubts.excess + doubts.last : doubts.excess;
    return doubts.size > TZ_SIZE_MOST || !tz_is_finite(all);
}

template <int BORDER> TZ_DEVICE float tz_divide(tz_doubts &doubts, float a, float b)
{
    if (BORDER == 1)
        return tz_divide_plainly(a, b);
    if (!TZ_QUOTIENTS)
        return tz_quotient(a, b);
    const float quotient = tz_quick_quotient(a, b);
    const tz_word size = tz_size_of_dividend(a, b);
    doubts.size = TZ_MAX(doubts.size, size);
    doubts.excess =
        doubts.one ? TZ__FMA_SINGLE(quotient, doubts.last, doubts.excess) : doubts.excess;
    doubts.last = quotient;
    doubts.one = !doubts.one;
    return quotient;
}
template <int BORDER> TZ_DEVICE double tz_divide(tz_doubts &, double a, double b)
{
    return BORDER == 1 ? tz_divide_plainly(a, b) : tz_quotient(a, b);
}

#undef TZ_DIV
#undef TZ_DIV_BY
#define TZ_DIV(x, y) tz_divide<TZ__BORDER>(tz_c.tz_doubt, (real)(x), (real)(y))
#define TZ_DIV_BY(x, y) TZ_DIV(x, y)
