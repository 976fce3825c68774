/* kernels/cuda: the language of cell updates: numbers. core/include/trapeze/rows_math.h defines the
 * same names for CPUs, and says what they give. The bits are the same. */
#ifndef TZ_NUMBERS_CUH
#define TZ_NUMBERS_CUH

#include "device.cuh"

/* The public headers, as they are, in this order. */
#define TZ__FUNCTION TZ_DEVICE
#define TZ__FMA_SINGLE(a, b, c) __fmaf_rn((a), (b), (c))
#define TZ__FMA_DOUBLE(a, b, c) __fma_rn((a), (b), (c))
#define TZ__ROOT_DOUBLE(x) tz_sqrt_real(x)
/* clang-format off */
#include "trapeze/math_double.h"
#include "trapeze/math_single.h"
#include "trapeze/math_angle.h"
#include "trapeze/math_power.h"
#include "trapeze/math_arc.h"
#include "trapeze/math_more.h"
/* clang-format on */

/* By the type of the argument, which is real. */
#define TZ__BY_TYPE(name)                                                                          \
    TZ_DEVICE float tz_##name##_real(float x)                                                      \
    {                                                                                              \
        return tz_##name##_single(x);                                                              \
    }                                                                                              \
    TZ_DEVICE double tz_##name##_real(double x)                                                    \
    {                                                                                              \
        return tz_##name##_double(x);                                                              \
    }
TZ__BY_TYPE(exp)
TZ__BY_TYPE(log)
TZ__BY_TYPE(sin)
TZ__BY_TYPE(cos)
TZ__BY_TYPE(tanh)
TZ__BY_TYPE(tan)
TZ__BY_TYPE(asin)
TZ__BY_TYPE(acos)
TZ__BY_TYPE(atan)
TZ__BY_TYPE(sinh)
TZ__BY_TYPE(cosh)
TZ__BY_TYPE(erf)
TZ__BY_TYPE(floor)
TZ__BY_TYPE(ceil)
TZ__BY_TYPE(round)
#define TZ__BY_TYPE_OF_TWO(name)                                                                   \
    TZ_DEVICE float tz_##name##_real(float x, float y)                                             \
    {                                                                                              \
        return tz_##name##_single(x, y);                                                           \
    }                                                                                              \
    TZ_DEVICE double tz_##name##_real(double x, double y)                                          \
    {                                                                                              \
        return tz_##name##_double(x, y);                                                           \
    }
TZ__BY_TYPE_OF_TWO(pow)
TZ__BY_TYPE_OF_TWO(atan2)

/* By the type of the last argument. */
TZ_DEVICE float tz_unit_real(tz_word a, tz_word b, float)
{
    return tz_unit_single(a, b);
}
TZ_DEVICE double tz_unit_real(tz_word a, tz_word b, double)
{
    return tz_unit_double(a, b);
}

TZ_DEVICE float tz_abs_of(float x)
{
    return tz_abs_single(x);
}
TZ_DEVICE double tz_abs_of(double x)
{
    return tz_abs_double(x);
}
TZ_DEVICE tz_word tz_abs_of(tz_word x)
{
    return x;
}
TZ_DEVICE int tz_abs_of(int x)
{
    return x < 0 ? (int)(0u - (tz_word)x) : x;
}
/* TZ_STEP */
TZ_DEVICE long long tz_abs_of(long long x)
{
    return x < 0 ? -x : x;
}
template <class A, class B> TZ_DEVICE auto tz_min_of(A a, B b)
{
    return b < a ? b : a;
}
template <class A, class B> TZ_DEVICE auto tz_max_of(A a, B b)
{
    return a < b ? b : a;
}
template <class A, class B> TZ_DEVICE auto tz_select_of(bool test, A a, B b)
{
    return test ? a : b;
}

/* ---- Quotients and roots --------------------------------------------------------------------- */

/* Correctly rounded, as the compiler's. Those branch to a long way for a = 0, which fields at rest
 * have in every cell: another number takes its place, of which no quotient is infinite. */
template <class T> TZ_DEVICE T tz_quotient(T a, T b)
{
    const bool zero = a == (T)0;
    const T quotient = (zero ? (T)0x1p-60f : a) / b;
    return zero ? a * quotient : quotient;
}
template <class T> TZ_DEVICE T tz_root(T x)
{
    const bool zero = x == (T)0;
    const T root = tz_sqrt_real(zero ? (T)1 : x);
    return zero ? x : root;
}
/* The compiler's text of a division is long, and has branches. */
template <class T> TZ_OUTLINE T tz_divide_plainly(T a, T b)
{
    return a / b;
}

/* Quick quotients: the operations that the compiler uses, with one inverse for all quotients by b.
 * They are right if 2^-40 <= |b| < 2^40, |a| > 2^-80 and the quotient is finite; also for a = 0 and
 * b > 0: since the remainder is rounded down, it is -0 then, which leaves a zero its sign. On sm_90
 * every pair of mantissas was tried; other architectures may have another tz_reciprocal_roughly().
 *
 * NaN if b is not of that size. */
TZ_DEVICE float tz_inverse(float b)
{
    const tz_word least = (127u - 40u) << 24; /* twice the bits: no signs */
    const float rough = tz_reciprocal_roughly(b);
    const float near = TZ__FMA_SINGLE(rough, TZ__FMA_SINGLE(-b, rough, 1.0f), rough);
    return (tz__bits_single(b) << 1) - least < 80u << 24 ? near : TZ__NAN_SINGLE;
}
TZ_DEVICE float tz_quick_quotient(float a, float b)
{
    const float inverse = tz_inverse(b);
    const float first = a * inverse;
    return TZ__FMA_SINGLE(tz_fma_down(-b, first, a), inverse, first);
}
/* It grows from |a| > 2^-80 upwards; zero comes last, at TZ_SIZE_MOST if b > 0. */
enum : tz_word { TZ_SIZE_LEAST = (127u - 80u) << 24, TZ_SIZE_MOST = ~0u - TZ_SIZE_LEAST };
TZ_DEVICE tz_word tz_size_of_dividend(float a, float b)
{
    return (tz__bits_single(a) << 1) + ((tz__bits_single(b) >> 31) - 1u - TZ_SIZE_LEAST);
}
TZ_DEVICE bool tz_is_finite(float x)
{
    return tz_abs_single(x) < tz__single(0x7f800000u);
}

/* a / b, where all cells have the same b: its inverse is computed once. */
TZ_DEVICE float tz_quotient_by(float a, float b)
{
    if (!TZ_QUOTIENTS)
        return tz_quotient(a, b);
    const float quotient = tz_quick_quotient(a, b);
    return tz_size_of_dividend(a, b) > TZ_SIZE_MOST || !tz_is_finite(quotient)
               ? tz_divide_plainly(a, b)
               : quotient;
}
TZ_DEVICE double tz_quotient_by(double a, double b)
{
    return tz_quotient(a, b);
}

/* ---- The language ---------------------------------------------------------------------------- */

#define TZ_R(x) ((real)(x))
#define TZ_ABS(x) tz_abs_of(x)
#define TZ_MIN(a, b) tz_min_of((a), (b))
#define TZ_MAX(a, b) tz_max_of((a), (b))
#define TZ_SELECT(test, a, b) tz_select_of((test) ? true : false, (a), (b))
#define TZ_WORTH(test) (test)
#define TZ_DIV(x, y) tz_quotient((real)(x), (real)(y))
#define TZ_DIV_BY(x, y) tz_quotient_by((real)(x), (real)(y))
#define TZ_SQRT(x) tz_root((real)(x))
#define TZ_EXP(x) tz_exp_real((real)(x))
#define TZ_LOG(x) tz_log_real((real)(x))
#define TZ_SIN(x) tz_sin_real((real)(x))
#define TZ_COS(x) tz_cos_real((real)(x))
#define TZ_TANH(x) tz_tanh_real((real)(x))
#define TZ_POW(x, y) tz_pow_real((real)(x), (real)(y))
#define TZ_TAN(x) tz_tan_real((real)(x))
#define TZ_ASIN(x) tz_asin_real((real)(x))
#define TZ_ACOS(x) tz_acos_real((real)(x))
#define TZ_ATAN(x) tz_atan_real((real)(x))
#define TZ_SINH(x) tz_sinh_real((real)(x))
#define TZ_COSH(x) tz_cosh_real((real)(x))
#define TZ_ERF(x) tz_erf_real((real)(x))
#define TZ_FLOOR(x) tz_floor_real((real)(x))
#define TZ_CEIL(x) tz_ceil_real((real)(x))
#define TZ_ROUND(x) tz_round_real((real)(x))
#define TZ_UNIT(a, b) tz_unit_real((tz_word)(a), (tz_word)(b), (real)0)
#define TZ_ATAN2(y, x) tz_atan2_real((real)(y), (real)(x))
#define TZ_HELPER(type, name, arguments) TZ_DEVICE type helper_##name arguments
#define TZ_CALL(name, ...) helper_##name(__VA_ARGS__)

#endif
