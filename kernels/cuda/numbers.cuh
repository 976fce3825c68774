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

#define TZ_R(x) ((real)(x))
#define TZ_ABS(x) tz_abs_of(x)
#define TZ_MIN(a, b) tz_min_of((a), (b))
#define TZ_MAX(a, b) tz_max_of((a), (b))
#define TZ_SELECT(test, a, b) tz_select_of((test) ? true : false, (a), (b))
#define TZ_WORTH(test) (test)
#define TZ_DIV(x, y) ((real)(x) / (real)(y))
#define TZ_SQRT(x) tz_sqrt_real((real)(x))
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
