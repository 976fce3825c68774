/* The smaller and the larger of two numbers. */
#ifndef TZ_CORE_BASE_MINMAX_H
#define TZ_CORE_BASE_MINMAX_H

#include <stdint.h>

static inline int64_t tz_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t tz_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int tz_min_int(int a, int b)
{
    return a < b ? a : b;
}

static inline int tz_max_int(int a, int b)
{
    return a > b ? a : b;
}

/* b if one of them is NaN, as the vector instructions of x86 do; fmin() and fmax() are slower. */
static inline double tz_min_double(double a, double b)
{
    return a < b ? a : b;
}

static inline double tz_max_double(double a, double b)
{
    return a > b ? a : b;
}

#endif
