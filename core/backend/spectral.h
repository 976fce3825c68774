/* Many iterations at once in the frequency domain: what a backend is given, and what it may do.
 *
 * An iteration of a problem is F(u) = L u + s. L has constant coefficients: each new value is a sum
 * of coefficients times values around the cell. s = F(0) is what sources, static fields and
 * boundary values add. Where each axis has a transform that fits its boundaries, L becomes a number
 * for each frequency (with two fields: a 2 x 2 matrix), its symbol. n iterations are then a
 * transform of u and of s, some arithmetic at each frequency (kernels/spectral.h), and the
 * transform back. All of it is in double.
 *
 * core/jump finds the operator, and does the work in host memory for backends without jump(). */
#ifndef TZ_CORE_BACKEND_SPECTRAL_H
#define TZ_CORE_BACKEND_SPECTRAL_H

#include "kernels/spectral.h"
#include "stencil/problem.h"

/* Of an axis of n cells. Frequency k has the phase theta = pi * p / q per cell, 0 <= p <= 2 q:
 *
 *   TZ_DFT     periodic  p = 2 k    q = n      k = 0 .. n - 1
 *   TZ_DCT_II  clamp     p = k      q = n      k = 0 .. n - 1
 *   TZ_DCT_I   mirror    p = k      q = n - 1  k = 0 .. n - 1   (q = 1 if n = 1)
 *   TZ_DST_I   fixed     p = k + 1  q = n + 1  k = 0 .. n - 1   (0 outside; the values are in s)
 *
 * A value at x is a sum over k of an amplitude times exp(i theta x), cos(theta (x + 1/2)),
 * cos(theta x) or sin(theta (x + 1)). */
typedef enum tz_transform { TZ_DFT, TZ_DCT_II, TZ_DCT_I, TZ_DST_I } tz_transform;

/* The phase of frequency k, as above. */
void tz_transform_phase(tz_transform transform, int64_t n, int64_t k, int64_t *p, int64_t *q);

enum { TZ_LINEAR_FIELDS_MAX = 2 };

typedef struct tz_linear {
    int dims;
    int64_t extent[TZ_AXES]; /* cells; 1 for axes that are not used */
    tz_transform transform[TZ_AXES];
    bool even[TZ_AXES]; /* coefficients are even along the axis; always on axes without DFT */
    bool real;          /* all axes are even: symbols are real */
    int radius;         /* the largest offset */
    int fields_count;   /* 1 or 2 coupled state fields */
    int field[TZ_LINEAR_FIELDS_MAX]; /* their numbers in the problem */
    bool affine;                     /* s is not 0 everywhere */
    int terms_count; /* without those that have a coefficient of 0; with offset 0, too */
    tz_linear_term *terms;
    /* For each `to`: 1 - the sum of all its coefficients from all fields, known to more digits than
     * that sum. The symbol near 1 comes from it:  1 - lambda = rest + sum of coefficient * (1 - cos
     * ...). */
    double rest[TZ_LINEAR_FIELDS_MAX];
    /* Of one field with real symbols: 1 + the sum of coefficient * (-1)^(sum of the offset), for
     * symbols near -1. With theta' = theta + pi:
     *   1 + lambda = alternating_rest - sum of coefficient * (-1)^... * (1 - product of cos
     *   theta') */
    double alternating_rest;
    /* For limits: s is rounding at a frequency where its amplitude, as the sum above has it, is at
     * most this. Transforms that are not normalised multiply it. */
    double source_none;
} tz_linear;

/* Releases the terms. */
void tz_linear_clear(tz_linear *linear);

/* What the functions of kernels/spectral.h compute symbols from, in host memory: releases with
 * free() of *memory, which holds all tables (*count numbers, for copies to a device). Phases are
 * reduced as integers, so that small numbers have all digits. Borrows the terms. Errors:
 * TZ_MEMORY. */
tz_status tz_symbol_create(tz_symbol *symbol, double **memory, int64_t *count,
                           const tz_linear *linear, tz_error *error);

/* ---- The work -------------------------------------------------------------------------------- */

/* As `steps` of tz_backend.jump: the limit of infinitely many. */
#define TZ_JUMP_LIMIT INT64_C(-1)

/* How a jump was made, for people and run.json. */
typedef struct tz_jump_facts {
    char library[64]; /* its name and version */
    int64_t bytes;    /* of memory that it took beside the fields */
} tz_jump_facts;

/* tz_backend.jump, OPTIONAL; NULL: core/jump does it in host memory. Advances the fields of
 * `linear` by `steps` >= 1 iterations, or to TZ_JUMP_LIMIT. Computes in double and rounds to the
 * fields' precision once. All stages are done before.
 *
 * `source`: a state of the same grid in double precision (tz_problem_in_double), of this backend
 * and on the same device, whose fields of `linear` hold s; NULL: s is 0. It is only read.
 *
 * The limit exists if each symbol has |lambda| < 1; or lambda = 1, and s has nothing at that
 * frequency (tz_spectral_limit says so): then the amplitude stays. Without a limit: TZ_UNSUPPORTED,
 * with the reason as tz_spectral_no_limit() gives it.
 *
 * Errors: TZ_UNSUPPORTED also without the library (the message says what to install), TZ_MEMORY
 * with the bytes needed and available. After an error the fields are as they were. */
typedef tz_status tz_jump_function(void *state, const tz_linear *linear, int64_t steps,
                                   void *source, tz_jump_facts *facts, tz_error *error);

/* The error for the reasons that tz_spectral_limit() gathered (kernels/spectral.h); not 0. */
tz_status tz_spectral_no_limit(int reasons, tz_error *error);

#endif
