/* kernels: powers and limits of symbols of one field, for kernels/spectral.h, which includes
 * this. */
#ifndef TZ_KERNELS_SPECTRAL_POWER_H
#define TZ_KERNELS_SPECTRAL_POWER_H

#include "kernels/spectral_complex.h"

/* lambda^n and 1 + lambda + ... + lambda^(n-1), from d = 1 - lambda and e = 1 + lambda. */
TZ_SPECTRAL_FUNCTION void tz_spectral_power(double d, double e, double n, double *power,
                                            double *sum)
{
    if (d <= 1.0) {
        const double x = n * log1p(-d);
        *power = exp(x);
        *sum = d == 0.0 ? n : -expm1(x) / d;
    } else {
        const double size = exp(n * log1p(-e));
        *power = fmod(n, 2.0) == 0.0 ? size : -size;
        *sum = (1.0 - *power) / d;
    }
}

/* The same of a complex lambda. */
TZ_SPECTRAL_FUNCTION void tz_spectral_power_complex(tz_complex d, double n, tz_complex *power,
                                                    tz_complex *sum)
{
    *sum = tz_complex_of(n, 0.0);
    *power = tz_complex_of(1.0, 0.0);
    if (d.re == 0.0 && d.im == 0.0)
        return;
    tz_complex less = tz_complex_of(-1.0, 0.0); /* lambda^n - 1 */
    if (d.re != 1.0 || d.im != 0.0)
        less = tz_complex_expm1(tz_complex_scale(n, tz_complex_log1p(tz_complex_of(-d.re, -d.im))));
    *power = tz_complex_of(1.0 + less.re, less.im);
    *sum = tz_complex_div(tz_complex_of(-less.re, -less.im), d);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

/* Why there is no limit, as bits that are gathered over all frequencies. */
enum {
    TZ_SPECTRAL_GROWS = 1,   /* |lambda| > 1 */
    TZ_SPECTRAL_REMAINS = 2, /* |lambda| = 1, and lambda is not 1: it never comes to rest */
    TZ_SPECTRAL_FED = 4      /* lambda = 1, and the source adds to it for ever */
};

/* Symbols nearer to 1 than this are 1: coefficients are doubles, and their sum is no better
 * known. */
#define TZ_SPECTRAL_UNIT 1e-15

/* The limit at a frequency with amplitude u and source s; 0 and a reason if there is none. `none`:
 * a source of that size is rounding (tz_linear.source_none, in the transform's scale). */
TZ_SPECTRAL_FUNCTION tz_complex tz_spectral_limit(tz_complex d, tz_complex u, tz_complex s,
                                                  double none, int *reasons)
{
    /* |lambda|^2 = 1 - excess. */
    const double excess = 2.0 * d.re - tz_complex_square(d);
    if (fabs(d.re) <= TZ_SPECTRAL_UNIT && fabs(d.im) <= TZ_SPECTRAL_UNIT) {
        if (sqrt(tz_complex_square(s)) > none)
            *reasons |= TZ_SPECTRAL_FED;
        return u;
    }
    if (excess <= 2.0 * TZ_SPECTRAL_UNIT) {
        *reasons |= excess < -2.0 * TZ_SPECTRAL_UNIT ? TZ_SPECTRAL_GROWS : TZ_SPECTRAL_REMAINS;
        return tz_complex_of(0.0, 0.0);
    }
    return tz_complex_div(s, d);
}

#endif
