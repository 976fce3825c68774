/* kernels: the symbol of an update at a frequency, for kernels/spectral.h, which includes this. */
#ifndef TZ_KERNELS_SPECTRAL_SYMBOL_H
#define TZ_KERNELS_SPECTRAL_SYMBOL_H

#include "kernels/spectral_complex.h"

/* A part of the sum that gives a cell its new value. On an even axis it stands for both signs of
 * the offset together: the offset is not negative, and the coefficient is that of both (of all of
 * them, if several axes are even). The new value gets, at the frequency with phases theta, the
 * value times
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
    /* Of frequency k of an axis: at [k * radius + o - 1] the numbers for an offset o from 1 to
     * radius. */
    const double *versine[3]; /* 1 - cos(theta o) */
    const double *sine[3];    /* sin(theta o); NULL: the axis is even */
    /* 1 - cos((theta + pi) o); NULL but for one field with real symbols */
    const double *alternating[3];
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

#endif
