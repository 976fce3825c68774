/* kernels: the arithmetic of jumps at one frequency (core/backend/spectral.h), for CPUs and GPUs.
 *
 * Plain C, for C files and for the text of GPU kernels, which has the functions of <math.h> built
 * in. Define TZ_SPECTRAL_FUNCTION first if "static inline" is not what functions need.
 *
 * Symbols are given as their distance from 1, so that slow modes have all digits: d = 1 - lambda.
 * `n` is a number of iterations, at least 1. */
#ifndef TZ_KERNELS_SPECTRAL_H
#define TZ_KERNELS_SPECTRAL_H

/* clang-format off */
#include "kernels/spectral_complex.h"
#include "kernels/spectral_symbol.h"
#include "kernels/spectral_power.h"
/* clang-format on */

/* ---- Two fields ------------------------------------------------------------------------------ */

/* A times an amplitude of both fields. */
TZ_SPECTRAL_FUNCTION void tz_spectral_pair_times(const tz_symbol_pair *a, const tz_complex u[2],
                                                 tz_complex out[2])
{
    for (int i = 0; i < 2; i++)
        out[i] = tz_complex_add(tz_complex_mul(a->row[i], u[i]),
                                tz_complex_mul(a->other[i], tz_complex_sub(u[1 - i], u[i])));
}

/* The trace, the determinant and the eigenvalues of A; |mu[0]| <= |mu[1]|. */
TZ_SPECTRAL_FUNCTION void tz_spectral_pair_roots(const tz_symbol_pair *a, tz_complex *trace,
                                                 tz_complex *det, tz_complex mu[2])
{
    const tz_complex t = tz_complex_sub(tz_complex_add(a->row[0], a->row[1]),
                                        tz_complex_add(a->other[0], a->other[1]));
    *trace = t;
    *det = tz_complex_sub(tz_complex_mul(a->row[0], a->row[1]),
                          tz_complex_add(tz_complex_mul(a->row[0], a->other[1]),
                                         tz_complex_mul(a->row[1], a->other[0])));
    tz_complex apart =
        tz_complex_sqrt(tz_complex_sub(tz_complex_mul(t, t), tz_complex_scale(4.0, *det)));
    if (t.re * apart.re + t.im * apart.im < 0.0)
        apart = tz_complex_of(-apart.re, -apart.im);
    mu[1] = tz_complex_scale(0.5, tz_complex_add(t, apart));
    mu[0] = mu[1].re == 0.0 && mu[1].im == 0.0 ? mu[1] : tz_complex_div(*det, mu[1]);
}

/* The divided differences of f(x) = (1 - x)^n:  q = -f[mu0, mu1],  r = f[0, mu0, mu1]. */
TZ_SPECTRAL_FUNCTION void tz_spectral_differences(tz_complex trace, tz_complex det,
                                                  const tz_complex mu[2], double n, tz_complex *q,
                                                  tz_complex *r)
{
    if (n * n * tz_complex_square(mu[1]) <= 1.0) {
        /* Their series: h is the sum of all products of `j` of the two. */
        tz_complex before = tz_complex_of(0.0, 0.0), h = tz_complex_of(1.0, 0.0);
        double binomial = n; /* of n over j + 1, with its sign */
        *q = *r = before;
        for (int j = 0; j < 24 && binomial != 0.0; j++) {
            *q = tz_complex_add(*q, tz_complex_scale(binomial, h));
            binomial *= -(n - (double)(j + 1)) / (double)(j + 2);
            *r = tz_complex_sub(*r, tz_complex_scale(binomial, h));
            const tz_complex next =
                tz_complex_sub(tz_complex_mul(trace, h), tz_complex_mul(det, before));
            before = h;
            h = next;
        }
        return;
    }
    /* f(b) is the larger one. */
    const tz_complex one = tz_complex_of(1.0, 0.0);
    const tz_complex from0 = tz_complex_sub(one, mu[0]), from1 = tz_complex_sub(one, mu[1]);
    const int b = tz_complex_square(from1) > tz_complex_square(from0);
    const tz_complex base = b ? from1 : from0;
    const tz_complex apart = tz_complex_sub(mu[b], mu[1 - b]);
    if (base.re == 0.0 && base.im == 0.0) { /* M * M = 0 */
        *q = tz_complex_of(n == 1.0 ? 1.0 : 0.0, 0.0);
    } else {
        tz_complex power, sum, ratio = tz_complex_div(apart, base), less;
        tz_spectral_power_complex(mu[b], n, &power, &sum);
        tz_spectral_power_complex(tz_complex_of(-ratio.re, -ratio.im), n, &less, &sum);
        /* f(a) - f(b) = f(b) * (ratio + 1)^n - f(b) = f(b) * ratio * sum. */
        *q = tz_complex_div(tz_complex_mul(power, sum), base);
    }
    tz_complex power, sum;
    tz_spectral_power_complex(mu[0], n, &power, &sum);
    *r = tz_complex_div(tz_complex_sub(sum, *q), mu[1]);
}

/* u = M^n u + (1 + M + ... + M^(n-1)) s. */
TZ_SPECTRAL_FUNCTION void tz_spectral_pair_power(const tz_symbol_pair *a, double n, tz_complex u[2],
                                                 const tz_complex s[2])
{
    tz_complex trace, det, mu[2], q, r, au[2], as[2];
    tz_spectral_pair_roots(a, &trace, &det, mu);
    tz_spectral_differences(trace, det, mu, n, &q, &r);
    tz_spectral_pair_times(a, u, au);
    tz_spectral_pair_times(a, s, as);
    const tz_complex p = tz_complex_sub(tz_complex_of(1.0, 0.0), tz_complex_mul(r, det));
    const tz_complex g = tz_complex_add(q, tz_complex_mul(r, trace));
    for (int i = 0; i < 2; i++) {
        const tz_complex moved = tz_complex_sub(tz_complex_mul(p, u[i]), tz_complex_mul(q, au[i]));
        const tz_complex fed = tz_complex_sub(tz_complex_mul(g, s[i]), tz_complex_mul(r, as[i]));
        u[i] = tz_complex_add(moved, fed);
    }
}

/* The same of two fields: u becomes the limit. */
TZ_SPECTRAL_FUNCTION void tz_spectral_pair_limit(const tz_symbol_pair *a, tz_complex u[2],
                                                 const tz_complex s[2], double none, int *reasons)
{
    tz_complex trace, det, mu[2], times[2], ignored = tz_complex_of(0.0, 0.0);
    tz_spectral_pair_roots(a, &trace, &det, mu);
    tz_spectral_limit(mu[1], ignored, ignored, none, reasons);
    if (fabs(mu[1].re) <= TZ_SPECTRAL_UNIT && fabs(mu[1].im) <= TZ_SPECTRAL_UNIT) {
        *reasons |= TZ_SPECTRAL_REMAINS; /* both are 1: it may grow with n */
        return;
    }
    if (fabs(mu[0].re) > TZ_SPECTRAL_UNIT || fabs(mu[0].im) > TZ_SPECTRAL_UNIT) {
        tz_spectral_limit(mu[0], ignored, ignored, none, reasons);
        /* The inverse of A, times s. */
        tz_spectral_pair_times(a, s, times);
        for (int i = 0; i < 2; i++)
            u[i] = tz_complex_div(tz_complex_sub(tz_complex_mul(trace, s[i]), times[i]), det);
        return;
    }
    /* One is 1 and keeps I - A / mu1 of what is there; the source must have nothing of that. */
    tz_complex kept[2];
    tz_spectral_pair_times(a, u, times);
    for (int i = 0; i < 2; i++)
        kept[i] = tz_complex_sub(u[i], tz_complex_div(times[i], mu[1]));
    tz_spectral_pair_times(a, s, times);
    for (int i = 0; i < 2; i++) {
        const tz_complex fed = tz_complex_sub(s[i], tz_complex_div(times[i], mu[1]));
        if (sqrt(tz_complex_square(fed)) > none)
            *reasons |= TZ_SPECTRAL_FED;
        u[i] = tz_complex_add(kept[i], tz_complex_div(s[i], mu[1]));
    }
}

#endif
