/* Finds the linear operator of a problem (tz_linear) by trying its update on a patch. */
#ifndef TZ_CORE_JUMP_PROBE_H
#define TZ_CORE_JUMP_PROBE_H

#include "jump/patch.h"

/* Values are tried up to this times the largest one of the fields. */
#define TZ_PROBE_SIZES 1e9

/* The finite values of a field, as its grid has them now: smallest and largest. */
typedef struct tz_jump_range {
    double low, high;
} tz_jump_range;

/* Whether the problem can be jumped as far as its description tells: 1 or 2 state fields of real
 * numbers, nothing streamed, constants that stay, transforms that fit the boundaries. Fills the
 * members of *out that follow from it: dims, extents, transforms, fields. Errors: TZ_UNSUPPORTED,
 * with the reason. */
tz_status tz_jump_describe(tz_linear *out, const tz_problem *problem, tz_error *error);

/* Fill the rest of *out, but for affine and source_none. `in_double`: tz_problem_in_double().
 * `ranges`: of each field. Release with tz_linear_clear(), also after an error. Errors:
 * TZ_UNSUPPORTED with the reason and the place: not linear, not even where it must be, coefficients
 * that follow a static field which is not the same everywhere, results that depend on the step. */
tz_status tz_jump_probe(tz_linear *out, const tz_problem *in_double, const tz_jump_range *ranges,
                        tz_error *error);

#endif
