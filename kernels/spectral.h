/* kernels: the arithmetic of jumps at one frequency (core/backend/spectral.h), for CPUs and GPUs.
 *
 * Plain C, for C files and for the text of GPU kernels, which has the functions of <math.h> built in. Define
 * TZ_SPECTRAL_FUNCTION first if "static inline" is not what functions need.
 *
 * Symbols are given as their distance from 1, so that slow modes have all digits: d = 1 - lambda. `n` is a
 * number of iterations, at least 1. */
#ifndef TZ_KERNELS_SPECTRAL_H
#define TZ_KERNELS_SPECTRAL_H

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

/* ---- Symbols --------------------------------------------------------------------------------- */

/* A part of the sum that gives a cell its new value. On an even axis it stands for both signs of the
 * offset together: the offset is not negative, and the coefficient is that of both (of all of them, if
 * several axes are even). The new value gets, at the frequency with phases theta, the value times
 *
 *   coefficient * product over axes of (even ? cos(theta * offset) : exp(i theta * offset)) */
typedef struct tz_linear_term {
    int to, from; /* 0 or 1: numbers in tz_linear.field */
    int offset[3];
    double coefficient;
} tz_linear_term;

/* What a symbol is computed from. The pointers are to host memory, or to a device's. */
typedef struct tz_symbol {
    int fields; /* 1 or 2 */
    int radius; /* the largest offset */
    int terms_count;
    const tz_linear_term *terms;
    double rest[2]; /* as tz_linear has them */
    double alternating_rest;
    /* Of frequency k of an axis: at [k * radius + o - 1] the numbers for an offset o from 1 to radius. */
    const double *versine[3]; /* 1 - cos(theta o) */
    const double *sine[3];    /* sin(theta o); NULL: the axis is even */
    const double
        *alternating[3]; /* 1 - cos((theta + pi) o); NULL but for one field with real symbols */
} tz_symbol;

/* 1 - lambda of one field with a real symbol, and 1 + lambda where lambda is less than 0. */
TZ_SPECTRAL_FUNCTION void tz_symbol_real(const tz_symbol *symbol, const long long k[3], double *d,
                                         double *e)
{
    const double *const *table = symbol->versine;
    *d = 0.0;
    *e = 0.0;
    for (int negative = 0; negative < 2; negative++) {
        double sum = negative ? symbol->alternating_rest : symbol->rest[0];
        for (int i = 0; i < symbol->terms_count; i++) {
            const tz_linear_term *term = &symbol->terms[i];
            double versine = 0.0; /* 1 - a product of cosines */
            int odd = 0;
            for (int axis = 0; axis < 3; axis++) {
                const int o = term->offset[axis];
                if (o == 0)
                    continue;
                const double one = table[axis][k[axis] * symbol->radius + o - 1];
                versine += one - versine * one;
                odd ^= o & 1;
            }
            sum += (negative && !odd ? -term->coefficient : term->coefficient) * versine;
        }
        if (negative)
            *e = sum;
        else
            *d = sum;
        if (*d <= 1.0)
            return;
        table = symbol->alternating;
    }
}

/* 1 - the factor of a term. */
TZ_SPECTRAL_FUNCTION tz_complex tz_symbol_term(const tz_symbol *symbol, const tz_linear_term *term,
                                               const long long k[3])
{
    tz_complex less = tz_complex_of(0.0, 0.0);
    for (int axis = 0; axis < 3; axis++) {
        const int o = term->offset[axis], distance = o < 0 ? -o : o;
        if (o == 0)
            continue;
        const long long at = k[axis] * symbol->radius + distance - 1;
        tz_complex one = tz_complex_of(symbol->versine[axis][at], 0.0);
        if (symbol->sine[axis])
            one.im = o < 0 ? symbol->sine[axis][at] : -symbol->sine[axis][at];
        less = tz_complex_sub(tz_complex_add(less, one), tz_complex_mul(less, one));
    }
    return less;
}

/* 1 - lambda of one field. */
TZ_SPECTRAL_FUNCTION tz_complex tz_symbol_complex(const tz_symbol *symbol, const long long k[3])
{
    tz_complex d = tz_complex_of(symbol->rest[0], 0.0);
    for (int i = 0; i < symbol->terms_count; i++)
        d = tz_complex_add(d, tz_complex_scale(symbol->terms[i].coefficient,
                                               tz_symbol_term(symbol, &symbol->terms[i], k)));
    return d;
}

/* A = I - M of two fields, where M is the symbol: the sums of its rows, and what is not on its
 * diagonal. */
typedef struct tz_symbol_pair {
    tz_complex row[2];
    tz_complex other[2]; /* of row 0: A01; of row 1: A10 */
} tz_symbol_pair;

TZ_SPECTRAL_FUNCTION tz_symbol_pair tz_symbol_pair_at(const tz_symbol *symbol, const long long k[3])
{
    tz_symbol_pair pair;
    for (int to = 0; to < 2; to++) {
        pair.row[to] = tz_complex_of(symbol->rest[to], 0.0);
        pair.other[to] = tz_complex_of(0.0, 0.0);
    }
    for (int i = 0; i < symbol->terms_count; i++) {
        const tz_linear_term *term = &symbol->terms[i];
        const tz_complex less = tz_symbol_term(symbol, term, k);
        const double c = term->coefficient;
        pair.row[term->to] = tz_complex_add(pair.row[term->to], tz_complex_scale(c, less));
        if (term->to != term->from)
            pair.other[term->to] = tz_complex_add(pair.other[term->to],
                                                  tz_complex_of(c * (less.re - 1.0), c * less.im));
    }
    return pair;
}

/* ---- One field ------------------------------------------------------------------------------- */

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

/* ---- Limits ---------------------------------------------------------------------------------- */

/* Why there is no limit, as bits that are gathered over all frequencies. */
enum {
    TZ_SPECTRAL_GROWS = 1,   /* |lambda| > 1 */
    TZ_SPECTRAL_REMAINS = 2, /* |lambda| = 1, and lambda is not 1: it never comes to rest */
    TZ_SPECTRAL_FED = 4      /* lambda = 1, and the source adds to it for ever */
};

/* Symbols nearer to 1 than this are 1: coefficients are doubles, and their sum is no better known. */
#define TZ_SPECTRAL_UNIT 1e-15

/* The limit at a frequency with amplitude u and source s; 0 and a reason if there is none. `none`: a
 * source of that size is rounding (tz_linear.source_none, in the transform's scale). */
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
