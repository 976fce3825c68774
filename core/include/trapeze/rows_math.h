/* trapeze/rows_math.h: numbers in the text of a cell update. Included by <trapeze/rows.h>. GPU
 * backends have the same names with the same bits.
 *
 *   TZ_R(x)                   x as a real: a literal in the run's precision, as in TZ_R(0.25)
 *   TZ_ABS(x)                 the absolute value
 *   TZ_MIN(a, b)              b < a ? b : a: the first if they are equal (as -0 and 0 are), or if
 *                             one of them is NAN
 *   TZ_MAX(a, b)              a < b ? b : a, likewise
 *   TZ_SELECT(test, a, b)     a if the test is true (not 0), else b; both are computed
 *   TZ_DIV(x, y)              x / y of reals; some kernels compute it sooner than x / y
 *   TZ_DIV_BY(x, y)           the same, where all cells have the same y
 *   TZ_SQRT(x)                the square root, correctly rounded; NAN for x < 0, -0 for -0
 *   TZ_HELPER(type, name, (type a, type b)) { ... return ...; }
 *                             a function, defined before the TZ_CELL, of real, int or tz_word.
 *                             In it there are no TZ_AT, TZ_PUT, TZ_K, TZ_X to TZ_STEP
 *   TZ_CALL(name, a, b)       calls it, in a cell update or in a later helper
 *
 * TZ_ABS, TZ_MIN, TZ_MAX and TZ_SELECT take real, int and tz_word. Two arguments are converted as C
 * does it for a + b; the absolute value of the smallest int is that int. The following take and
 * give reals. They are wrong by less than 1.1 units in the last place, TZ_ATAN2 by less
 * than 1.2. TZ_POW and those after it compute in double precision for single precision, too: their
 * error is then below 0.51 (TZ_TAN 0.8):
 *
 *   TZ_EXP(x)      0 for x = -infinity; subnormal results as well
 *   TZ_LOG(x)      -infinity for x = 0 or -0, NAN for x < 0
 *   TZ_SIN(x)      x in radians. In single precision for all finite x. In double precision NAN if
 *   TZ_COS(x)      |x| is 2^45 (3.5e13) or more. NAN for infinite x
 *   TZ_TANH(x)
 *   TZ_POW(x, y)   x^y, with the special cases of C's pow(): 1 for y = 0 or x = 1, even with NAN;
 *                  for x < 0 NAN unless y is an integer
 *   TZ_TAN(x)      as TZ_SIN
 *   TZ_ASIN(x)     from -pi/2 to pi/2; NAN if |x| > 1
 *   TZ_ACOS(x)     from 0 to pi; NAN if |x| > 1
 *   TZ_ATAN(x)     from -pi/2 to pi/2
 *   TZ_ATAN2(y, x) the angle of the point (x, y), from -pi to pi, with the special cases of C
 *   TZ_SINH(x)
 *   TZ_COSH(x)
 *   TZ_ERF(x)      the error function
 *
 * These are exact; their result is a real, and -0 for what rounds to 0 from below:
 *
 *   TZ_FLOOR(x)    the largest whole number that is not larger
 *   TZ_CEIL(x)     the smallest one that is not smaller
 *   TZ_ROUND(x)    the nearest one; of two the one away from 0
 *
 *   TZ_UNIT(a, b)  two words or ints of random bits as a real from 0 to below 1. What it is in
 *                  single precision is that of double precision, rounded down
 *
 * NAN arguments else give NAN; the bits of a NAN may differ between machines. The functions neither
 * branch nor read tables: loops over them are vectorised, where the machine has fused arithmetic.
 * */
#ifndef TRAPEZE_ROWS_MATH_H
#define TRAPEZE_ROWS_MATH_H

#include <stdint.h>

#define TZ__FUNCTION static inline __attribute__((always_inline, unused))
#define TZ__FMA_SINGLE(a, b, c) __builtin_fmaf((a), (b), (c))
#define TZ__FMA_DOUBLE(a, b, c) __builtin_fma((a), (b), (c))
#define TZ__ROOT_DOUBLE(x) __builtin_sqrt(x)
/* In this order. */
/* clang-format off */
#include <trapeze/math_double.h>
#include <trapeze/math_single.h>
#include <trapeze/math_angle.h>
#include <trapeze/math_power.h>
#include <trapeze/math_arc.h>
#include <trapeze/math_more.h>
/* clang-format on */

TZ__FUNCTION int tz_abs_int(int x)
{
    return x < 0 ? (int)(0u - (unsigned int)x) : x;
}
TZ__FUNCTION unsigned int tz_abs_word(unsigned int x)
{
    return x;
}
/* Coordinates and TZ_STEP. */
TZ__FUNCTION int64_t tz_abs_long(int64_t x)
{
    return x < 0 ? -x : x;
}
TZ__FUNCTION float tz_sqrt_single(float x)
{
    return __builtin_sqrtf(x);
}
TZ__FUNCTION double tz_sqrt_double(double x)
{
    return __builtin_sqrt(x);
}

/* rows_isa.h defines `real` and TZ__PRECISION. */
#define TZ_R(x) ((real)(x))
#define TZ_DIV(x, y) ((real)(x) / (real)(y))
#define TZ_DIV_BY(x, y) TZ_DIV(x, y)
#define TZ_SQRT(x) TZ__OF_PRECISION(sqrt)((real)(x))
#define TZ_EXP(x) TZ__OF_PRECISION(exp)((real)(x))
#define TZ_LOG(x) TZ__OF_PRECISION(log)((real)(x))
#define TZ_SIN(x) TZ__OF_PRECISION(sin)((real)(x))
#define TZ_COS(x) TZ__OF_PRECISION(cos)((real)(x))
#define TZ_TANH(x) TZ__OF_PRECISION(tanh)((real)(x))
#define TZ_POW(x, y) TZ__OF_PRECISION(pow)((real)(x), (real)(y))
#define TZ_TAN(x) TZ__OF_PRECISION(tan)((real)(x))
#define TZ_ASIN(x) TZ__OF_PRECISION(asin)((real)(x))
#define TZ_ACOS(x) TZ__OF_PRECISION(acos)((real)(x))
#define TZ_ATAN(x) TZ__OF_PRECISION(atan)((real)(x))
#define TZ_SINH(x) TZ__OF_PRECISION(sinh)((real)(x))
#define TZ_COSH(x) TZ__OF_PRECISION(cosh)((real)(x))
#define TZ_ERF(x) TZ__OF_PRECISION(erf)((real)(x))
#define TZ_FLOOR(x) TZ__OF_PRECISION(floor)((real)(x))
#define TZ_CEIL(x) TZ__OF_PRECISION(ceil)((real)(x))
#define TZ_ROUND(x) TZ__OF_PRECISION(round)((real)(x))
#define TZ_UNIT(a, b) TZ__OF_PRECISION(unit)((unsigned int)(a), (unsigned int)(b))
#define TZ_ATAN2(y, x) TZ__OF_PRECISION(atan2)((real)(y), (real)(x))
#define TZ__OF_PRECISION(name) TZ__OF_PRECISION_(name, TZ__PRECISION)
#define TZ__OF_PRECISION_(name, precision) TZ__OF_PRECISION__(name, precision)
#define TZ__OF_PRECISION__(name, precision) tz_##name##_##precision

/* An argument stands once in the text, and its variable has a name of its own: calls can be nested
 * deeply. */
#define TZ_ABS(x) TZ__ABS_(x, __COUNTER__)
#define TZ__ABS_(x, n) TZ__ABS__(x, n)
#define TZ__ABS__(x, n)                                                                            \
    (__extension__({                                                                               \
        const __auto_type tz_x##n = (x);                                                           \
        _Generic(tz_x##n, float                                                                    \
                 : tz_abs_single, double                                                           \
                 : tz_abs_double, int64_t                                                          \
                 : tz_abs_long, unsigned int                                                       \
                 : tz_abs_word, default                                                            \
                 : tz_abs_int)(tz_x##n);                                                           \
    }))
#define TZ_MIN(a, b) TZ__MIN_(a, b, __COUNTER__)
#define TZ__MIN_(a, b, n) TZ__MIN__(a, b, n)
#define TZ__MIN__(a, b, n)                                                                         \
    (__extension__({                                                                               \
        const __auto_type tz_a##n = (a);                                                           \
        const __auto_type tz_b##n = (b);                                                           \
        tz_b##n < tz_a##n ? tz_b##n : tz_a##n;                                                     \
    }))
#define TZ_MAX(a, b) TZ__MAX_(a, b, __COUNTER__)
#define TZ__MAX_(a, b, n) TZ__MAX__(a, b, n)
#define TZ__MAX__(a, b, n)                                                                         \
    (__extension__({                                                                               \
        const __auto_type tz_a##n = (a);                                                           \
        const __auto_type tz_b##n = (b);                                                           \
        tz_a##n < tz_b##n ? tz_b##n : tz_a##n;                                                     \
    }))
#define TZ_SELECT(test, a, b) TZ__SELECT_(test, a, b, __COUNTER__)
#define TZ__SELECT_(test, a, b, n) TZ__SELECT__(test, a, b, n)
#define TZ__SELECT__(test, a, b, n)                                                                \
    (__extension__({                                                                               \
        const __auto_type tz_a##n = (a);                                                           \
        const __auto_type tz_b##n = (b);                                                           \
        (test) ? tz_a##n : tz_b##n;                                                                \
    }))

/* For a branch that only saves work: without it the update has the same bits. Processors compute
 * it always, in whole vectors. */
#define TZ_WORTH(test) 1

#define TZ_HELPER(type, name, arguments) TZ__FUNCTION type TZ__THIS(helper_##name) arguments
#define TZ_CALL(name, ...) TZ__THIS(helper_##name)(__VA_ARGS__)

#endif
