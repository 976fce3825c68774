/* kernels: complex numbers, for kernels/spectral.h, which includes this. */
#ifndef TZ_KERNELS_SPECTRAL_COMPLEX_H
#define TZ_KERNELS_SPECTRAL_COMPLEX_H

#ifndef __CUDACC_RTC__
#include <math.h>
#endif

#ifndef TZ_SPECTRAL_FUNCTION
#define TZ_SPECTRAL_FUNCTION static inline
#endif

typedef struct tz_complex {
    double re, im;
} tz_complex;

TZ_SPECTRAL_FUNCTION tz_complex tz_complex_of(double re, double im)
{
    tz_complex z;
    z.re = re;
    z.im = im;
    return z;
}

TZ_SPECTRAL_FUNCTION tz_complex tz_complex_add(tz_complex a, tz_complex b)
{
    return tz_complex_of(a.re + b.re, a.im + b.im);
}

TZ_SPECTRAL_FUNCTION tz_complex tz_complex_sub(tz_complex a, tz_complex b)
{
    return tz_complex_of(a.re - b.re, a.im - b.im);
}

TZ_SPECTRAL_FUNCTION tz_complex tz_complex_mul(tz_complex a, tz_complex b)
{
    return tz_complex_of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

TZ_SPECTRAL_FUNCTION tz_complex tz_complex_scale(double f, tz_complex a)
{
    return tz_complex_of(f * a.re, f * a.im);
}

TZ_SPECTRAL_FUNCTION double tz_complex_square(tz_complex a)
{
    return a.re * a.re + a.im * a.im;
}

TZ_SPECTRAL_FUNCTION tz_complex tz_complex_div(tz_complex a, tz_complex b)
{
    /* Scaled, so that squares of small numbers do not underflow. */
    const double big = fmax(fabs(b.re), fabs(b.im)), re = b.re / big, im = b.im / big;
    const double f = 1.0 / (big * (re * re + im * im));
    return tz_complex_of((a.re * re + a.im * im) * f, (a.im * re - a.re * im) * f);
}

/* The root with re >= 0. */
TZ_SPECTRAL_FUNCTION tz_complex tz_complex_sqrt(tz_complex a)
{
    const double size = hypot(a.re, a.im);
    const double half = sqrt(0.5 * (size + fabs(a.re)));
    if (half == 0.0)
        return tz_complex_of(0.0, 0.0);
    const double other = 0.5 * a.im / half;
    return a.re >= 0.0 ? tz_complex_of(half, other)
                       : tz_complex_of(fabs(other), a.im < 0.0 ? -half : half);
}

/* log(1 + z). */
TZ_SPECTRAL_FUNCTION tz_complex tz_complex_log1p(tz_complex z)
{
    return tz_complex_of(0.5 * log1p(z.re * (2.0 + z.re) + z.im * z.im), atan2(z.im, 1.0 + z.re));
}

/* exp(z) - 1. */
TZ_SPECTRAL_FUNCTION tz_complex tz_complex_expm1(tz_complex z)
{
    const double grown = expm1(z.re), half = sin(0.5 * z.im);
    return tz_complex_of(grown * cos(z.im) - 2.0 * half * half, (grown + 1.0) * sin(z.im));
}

#endif
