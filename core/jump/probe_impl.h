/* The inside of probe.h, for the files probe*.c. */
#ifndef TZ_CORE_JUMP_PROBE_IMPL_H
#define TZ_CORE_JUMP_PROBE_IMPL_H

#include "jump/probe.h"

enum { TZ_PROBE_ARRAYS = 3 * TZ_LINEAR_FIELDS_MAX };

/* The operator as it is found: a term for each offset, of both signs. */
typedef struct tz_probe {
    tz_patch patch;
    const tz_problem *problem; /* in double precision */
    const tz_jump_range *ranges;
    int reach;          /* no offset is larger */
    double size;        /* the largest |value| of the state fields as they are; 1 if all are 0 */
    double scale;       /* of impulses: a power of two so large that s is below their rounding */
    double source_size; /* the largest |s| of the patch */
    tz_linear_term *terms;
    int terms_count;
    double weight; /* the largest sum of |coefficients| that give a value */
    double *memory;
    double *in[TZ_LINEAR_FIELDS_MAX], *out[TZ_LINEAR_FIELDS_MAX], *zero[TZ_LINEAR_FIELDS_MAX];
} tz_probe;

/* out = F(in), at a step. */
void tz__probe_apply(tz_probe *probe, int64_t step);

/* ---- probe_sums.c ---- */
/* sums[to] = the sum of coefficients that give field `to`, times (-1)^(sum of the offset) if
 * `alternating`, to about 18 digits, and exactly if the update adds them exactly. */
void tz__probe_sums(tz_probe *probe, bool alternating, long double sums[TZ_LINEAR_FIELDS_MAX]);

#endif
