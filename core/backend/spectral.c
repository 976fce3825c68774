/* Tables of sines and cosines from which the symbol of a linear operator is evaluated. Called by
 * core/jump and backend/cuda/spectral for jumps; core/predict/jump.c frees operators. */
#include "backend/spectral.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

void tz_transform_phase(tz_transform transform, int64_t n, int64_t k, int64_t *p, int64_t *q)
{
    *p = transform == TZ_DFT ? 2 * k : transform == TZ_DST_I ? k + 1 : k;
    *q = transform == TZ_DCT_I ? (n > 1 ? n - 1 : 1) : transform == TZ_DST_I ? n + 1 : n;
}

void tz_linear_clear(tz_linear *linear)
{
    free(linear->terms);
    linear->terms = NULL;
    linear->terms_count = 0;
}

/* sin(pi p / q), for 0 <= p < 2 q. */
static double sine_of(int64_t p, int64_t q)
{
    const double sign = p >= q ? -1.0 : 1.0;
    if (p >= q)
        p -= q;
    if (2 * p > q)
        p = q - p;
    /* cos has more digits near the top. */
    return sign * (4 * p <= q ? sin(PI * (double)p / (double)q)
                              : cos(PI * (double)(q - 2 * p) / (double)(2 * q)));
}

/* 1 - cos(pi p / q), for 0 <= p < 2 q. */
static double versine_of(int64_t p, int64_t q)
{
    const double half = sine_of(p, 2 * q);
    return 2.0 * half * half;
}

/* The tables of an axis; `sine` and `alternating` may be NULL. */
static void fill(const tz_linear *linear, int axis, double *versine, double *sine,
                 double *alternating)
{
    const int64_t n = linear->extent[axis], r = linear->radius;
    for (int64_t k = 0; k < n; k++) {
        int64_t p, q;
        tz_transform_phase(linear->transform[axis], n, k, &p, &q);
        for (int64_t o = 1; o <= r; o++) {
            const int64_t at = k * r + o - 1;
            versine[at] = versine_of(p * o % (2 * q), q);
            if (sine)
                sine[at] = sine_of(p * o % (2 * q), q);
            if (alternating)
                alternating[at] = versine_of((p + q) * o % (2 * q), q);
        }
    }
}

tz_status tz_symbol_create(tz_symbol *symbol, double **memory, int64_t *count,
                           const tz_linear *linear, tz_error *error)
{
    const bool alternates = linear->real && linear->fields_count == 1;
    *symbol = (tz_symbol){.fields = linear->fields_count,
                          .radius = linear->radius,
                          .terms_count = linear->terms_count,
                          .terms = linear->terms,
                          .rest = {linear->rest[0], linear->rest[1]},
                          .alternating_rest = linear->alternating_rest};
    *count = 1; /* none may be needed */
    for (int axis = 0; axis < linear->dims; axis++)
        *count += (1 + !linear->even[axis] + alternates) * linear->extent[axis] * linear->radius;
    double *next = *memory = malloc((size_t)*count * sizeof *next);
    if (!next)
        return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory for tables of symbols");
    *next++ = 0.0;
    for (int axis = 0; axis < linear->dims; axis++) {
        const int64_t size = linear->extent[axis] * linear->radius;
        double *versine = next, *sine = NULL, *alternating = NULL;
        next += size;
        if (!linear->even[axis]) {
            sine = next;
            next += size;
        }
        if (alternates) {
            alternating = next;
            next += size;
        }
        fill(linear, axis, versine, sine, alternating);
        symbol->versine[axis] = versine;
        symbol->sine[axis] = sine;
        symbol->alternating[axis] = alternating;
    }
    return TZ_OK;
}

tz_status tz_spectral_no_limit(int reasons, tz_error *error)
{
    return tz_error_set(error, TZ_UNSUPPORTED, "steady", "%sthere is no steady state: %s",
                        reasons & (TZ_SPECTRAL_GROWS | TZ_SPECTRAL_REMAINS) ? "" : "inconsistent: ",
                        reasons & TZ_SPECTRAL_GROWS
                            ? "an iteration makes some waves larger, so they grow for ever"
                        : reasons & TZ_SPECTRAL_REMAINS
                            ? "some waves move for ever and never become smaller; where "
                              "the stencil has a damping, use it"
                            : "what the source adds has a mean that nothing takes away, so "
                              "the values grow for ever: make its sum 0 (cells at a mirror side "
                              "count half, at two of them a quarter), or give the grid a fixed "
                              "side");
}
