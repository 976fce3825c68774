/* The problem: a stencil on a grid with everything a backend needs, resolved and checked. */
#ifndef TZ_CORE_STENCIL_PROBLEM_H
#define TZ_CORE_STENCIL_PROBLEM_H

#include "base/array.h"
#include "stencil/types.h"

typedef struct tz_problem {
    const tz_stencil *stencil;
    int dims;
    int64_t extent[TZ_AXES];   /* cells */
    int64_t elements[TZ_AXES]; /* array elements: words along x for bit fields, else cells */
    bool bits;                 /* the fields are TZ_BITS (all of them are, or none) */
    tz_precision precision;
    tz_boundary boundary[TZ_AXES];
    double boundary_value[TZ_FIELDS_MAX];
    tz_value params[TZ_PARAMS_MAX]; /* texts are owned by the problem */
    tz_slot constants[TZ_CONSTANTS_MAX];
    double residual_per_update;
    int radius; /* largest pass radius */
} tz_problem;

/* Check a config against a stencil and derive the constants. Owns copies of parameter texts:
 * free with tz_problem_clear. Errors: see tz_simulation_create. */
tz_status tz_problem_resolve(tz_problem *problem, const tz_stencil *stencil,
                             const tz_simulation_config *config, tz_error *error);
void tz_problem_clear(tz_problem *problem);

/* Assign parameters and derive anew; on error the problem is unchanged. */
tz_status tz_problem_set_params(tz_problem *problem, size_t count, const tz_assignment *params,
                                tz_error *error);

/* Bytes of one element of a field; its array dtype as cells. */
size_t tz_problem_element_size(const tz_problem *problem, int field);
tz_dtype tz_problem_dtype(const tz_problem *problem, int field);
/* Elements of a whole field. */
int64_t tz_problem_elements(const tz_problem *problem);

/* One element holding `value` (bits: all columns 0 or 1), as the field's type, into `element`. */
void tz_problem_element(const tz_problem *problem, int field, double value, void *element);

/* Where a coordinate outside [0, extent) is read: an index inside, or -1 for "the boundary value".
 * Defined for any coordinate, however far outside. The kernels have their own: this one is the
 * reference backend's, which is their oracle. */
int64_t tz_boundary_map(tz_boundary boundary, int64_t coordinate, int64_t extent);

#endif
