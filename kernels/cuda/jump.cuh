/* kernels/cuda: the arithmetic of jumps at all frequencies (kernels/spectral.h), in double
 * precision. core/backend/cuda/spectral/transform.h says how amplitudes lie in memory. */
#include "values.cuh"

#define TZ_SPECTRAL_FUNCTION TZ_DEVICE
#include "kernels/spectral.h"

struct tz_jump_arguments {
    tz_symbol symbol;
    double *u[2];          /* amplitudes of the fields, which are replaced */
    const double *s[2];    /* of the source; 0: there is none */
    long long n[3];        /* frequencies of the axes in memory, the fastest first */
    int axis[3];           /* which axes of the grid these are */
    int parts;             /* doubles of an amplitude */
    double steps;          /* less than 0: the limit */
    double scale;          /* of the results */
    double none;           /* a source of that size is rounding */
    unsigned int *reasons; /* of the limit: how often each bit was found */
};

/* All frequencies; blocks of the second axis take rows in turns. */
#define TZ_FOR_ROWS(row, rows, i, count)                                                           \
    for (long long row = tz_block(1); row < (rows); row += tz_blocks(1))                           \
        for (long long i = (long long)tz_block(0) * tz_threads() + tz_thread(); i < (count);       \
             i += (long long)tz_blocks(0) * tz_threads())

/* The frequencies of amplitude `first` of a row, for the axes of the grid. */
TZ_DEVICE void tz_frequencies_of(const tz_jump_arguments &a, long long row, long long first,
                                 long long k[3])
{
    const long long plane = a.n[2] == 1 ? 0 : row / a.n[1];
    const long long at[3] = {first, row - plane * a.n[1], plane};
    for (int axis = 0; axis < 3; axis++)
        k[axis] = a.axis[0] == axis ? at[0] : a.axis[1] == axis ? at[1] : at[2];
}

TZ_DEVICE tz_complex tz_amplitude(const tz_jump_arguments &a, const double *of, long long i)
{
    double z[2] = {0.0, 0.0};
    if (of && a.parts == 2)
        tz_load(of + 2 * i, z);
    else if (of)
        z[0] = tz_load_one(of + i);
    return tz_complex_of(z[0], z[1]);
}

TZ_DEVICE void tz_amplitude_set(const tz_jump_arguments &a, double *of, long long i, tz_complex z)
{
    const double scaled[2] = {a.scale * z.re, a.scale * z.im};
    if (a.parts == 2)
        tz_store(of + 2 * i, scaled);
    else
        tz_store_one(of + i, scaled[0]);
}

TZ_DEVICE void tz_reasons_add(const tz_jump_arguments &a, int reasons)
{
    for (int bit = 0; bit < 3; bit++)
        if (reasons >> bit & 1)
            tz_atomic_add_u32(a.reasons + bit, 1u);
}

/* ---- One field with real symbols ------------------------------------------------------------- */

template <bool SOURCE> TZ_DEVICE void tz_jump_real_all(const tz_jump_arguments &a)
{
    TZ_FOR_ROWS(row, a.n[1] * a.n[2], first, a.n[0])
    {
        const long long i = row * a.n[0] + first;
        long long k[3];
        double d, e, power = 0.0, sum = 0.0;
        tz_frequencies_of(a, row, first, k);
        tz_symbol_real(&a.symbol, k, &d, &e);
        /* Most waves are gone after many steps: then exp() gives 0, and u is not needed. */
        const double left = d > 1.0 ? e : d;
        const bool gone = left > 0.0 && a.steps * left > 746.0;
        if (!gone)
            tz_spectral_power(d, e, a.steps, &power, &sum);
        else if (SOURCE)
            sum = 1.0 / d;
        tz_complex z = tz_complex_of(0.0, 0.0);
        if (!gone)
            z = tz_complex_scale(power, tz_amplitude(a, a.u[0], i));
        if (SOURCE)
            z = tz_complex_add(z, tz_complex_scale(sum, tz_amplitude(a, a.s[0], i)));
        tz_amplitude_set(a, a.u[0], i, z);
    }
}

TZ_DEVICE void tz_jump_real_limit(const tz_jump_arguments &a)
{
    int reasons = 0;
    TZ_FOR_ROWS(row, a.n[1] * a.n[2], first, a.n[0])
    {
        const long long i = row * a.n[0] + first;
        long long k[3];
        double d, e;
        tz_frequencies_of(a, row, first, k);
        tz_symbol_real(&a.symbol, k, &d, &e);
        tz_amplitude_set(a, a.u[0], i,
                         tz_spectral_limit(tz_complex_of(d, 0.0), tz_amplitude(a, a.u[0], i),
                                           tz_amplitude(a, a.s[0], i), a.none, &reasons));
    }
    tz_reasons_add(a, reasons);
}

TZ_KERNEL(tz_jump_real, 256)(const TZ_UNCOPIED tz_jump_arguments a)
{
    if (a.steps < 0.0)
        tz_jump_real_limit(a);
    else if (a.s[0])
        tz_jump_real_all<true>(a);
    else
        tz_jump_real_all<false>(a);
}

/* ---- One field with complex symbols ---------------------------------------------------------- */

TZ_KERNEL(tz_jump_complex, 256)(const TZ_UNCOPIED tz_jump_arguments a)
{
    int reasons = 0;
    TZ_FOR_ROWS(row, a.n[1] * a.n[2], first, a.n[0])
    {
        const long long i = row * a.n[0] + first;
        long long k[3];
        tz_frequencies_of(a, row, first, k);
        const tz_complex d = tz_symbol_complex(&a.symbol, k);
        const tz_complex u = tz_amplitude(a, a.u[0], i), s = tz_amplitude(a, a.s[0], i);
        tz_complex z, power, sum;
        if (a.steps < 0.0) {
            z = tz_spectral_limit(d, u, s, a.none, &reasons);
        } else {
            tz_spectral_power_complex(d, a.steps, &power, &sum);
            z = tz_complex_add(tz_complex_mul(power, u), tz_complex_mul(sum, s));
        }
        tz_amplitude_set(a, a.u[0], i, z);
    }
    tz_reasons_add(a, reasons);
}

/* ---- Two fields ------------------------------------------------------------------------------ */

TZ_KERNEL(tz_jump_pair, 256)(const TZ_UNCOPIED tz_jump_arguments a)
{
    int reasons = 0;
    TZ_FOR_ROWS(row, a.n[1] * a.n[2], first, a.n[0])
    {
        const long long i = row * a.n[0] + first;
        long long k[3];
        tz_frequencies_of(a, row, first, k);
        const tz_symbol_pair pair = tz_symbol_pair_at(&a.symbol, k);
        tz_complex u[2], s[2];
        for (int f = 0; f < 2; f++) {
            u[f] = tz_amplitude(a, a.u[f], i);
            s[f] = tz_amplitude(a, a.s[f], i);
        }
        if (a.steps < 0.0)
            tz_spectral_pair_limit(&pair, u, s, a.none, &reasons);
        else
            tz_spectral_pair_power(&pair, a.steps, u, s);
        for (int f = 0; f < 2; f++)
            tz_amplitude_set(a, a.u[f], i, u[f]);
    }
    tz_reasons_add(a, reasons);
}
