/* Structs that every layer above uses: boxes, random values, parameters, reductions, and the
 * description of a simulation. */
#ifndef TZ_CORE_STENCIL_TYPES_H
#define TZ_CORE_STENCIL_TYPES_H

#include "stencil/plan.h"
#include "stencil/stored.h"
#include <stdatomic.h>

/* A box of cells, half open: low <= x < high on each axis, x first. */
typedef struct tz_box {
    int64_t low[TZ_AXES], high[TZ_AXES];
} tz_box;

/* A parameter as a scenario gives it. */
typedef struct tz_assignment {
    const char *name;
    double number;    /* numbers and flags (0 or 1) */
    const char *text; /* texts and choices; NULL for a number */
} tz_assignment;

/* The boundary value of a state or static field past some sides. */
typedef struct tz_side_value {
    const char *field;
    /* bit 2*axis for the low side of an axis, 2*axis + 1 for the high one; 0: all */
    uint32_t sides;
    double value;
} tz_side_value;

/* How a scenario wants a field to be stored, or all fields of reals. */
typedef struct tz_storage_wish {
    const char *field; /* NULL: all */
    tz_stored as;
    double origin; /* a value of the field; NAN: what updates compute with is stored */
    double scale;  /* a power of two */
} tz_storage_wish;

/* How a scenario gives a constant that varies: a list, or a formula. */
typedef struct tz_series {
    const char *name;
    const char *text; /* the formula, for messages and records; NULL for a list */
    size_t count; /* 1 or more: values[i] is that of iteration i, the last also of all later ones */
    const double *values;
    /* Without a list: a pure function [any thread]. `params`: one for each tz_stencil.params. */
    double (*value)(const void *context, const tz_value *params, int64_t step);
    const void *context;
} tz_series;

/* Uniform random numbers. A number depends only on the seed, the cell and, for streamed fields, the
 * step. Real fields get values in [low, high), integer fields from low to high inclusive. Bits are
 * 1 with probability `density`. */
typedef struct tz_random {
    uint64_t seed;
    double low, high;
    double density;
} tz_random;

/* Numbers about a field: the same bits on every backend. */
typedef struct tz_reduction {
    double min, max;                   /* of the finite cells; +inf and -inf without such cells */
    double sum;                        /* in double, in a fixed order (backend/host/reduce.h) */
    int64_t population;                /* cells that are not zero */
    int64_t cells;                     /* of the grid or the domain; tz_simulation_reduce() */
    uint64_t hash;                     /* of the cells' bits in memory, in grid order */
    int64_t not_finite;                /* cells that are NaN or infinite */
    int64_t first_not_finite[TZ_AXES]; /* the first of these cells, x fastest */
} tz_reduction;

/* What the next iteration would change: |new - old| of every cell that a pass writes, computed in
 * double from the fields as they are, each pass by itself. The same bits on every backend. */
typedef struct tz_update {
    double largest;   /* NaN if one is NaN; the change of a bit is 1 */
    double sum;       /* in a fixed order (kernels/cpu/update.h) */
    double magnitude; /* the largest |old| */
} tz_update;

/* The description of a simulation. Texts and arrays are borrowed while the simulation is
 * created. */
typedef struct tz_simulation_config {
    const struct tz_registry *registry; /* stencil/registry.h */
    const char *stencil;
    int dims;                /* how many extents the scenario gave */
    int64_t extent[TZ_AXES]; /* cells, each >= 1 */
    int precision;           /* tz_precision, or -1: single (none for integer stencils) */
    /* With double precision: iterate corrections in single precision on residuals in double. */
    bool mixed;
    bool one_copy; /* a backend that can keeps one array of each state field, not two */
    size_t storage_count;
    const tz_storage_wish *storage; /* later ones replace earlier ones */
    /* "clamp", or "clamp:fixed": low and high side; NULL: the stencil's default */
    const char *boundary[TZ_AXES];
    size_t boundary_values_count;
    const tz_side_value *boundary_values; /* later ones replace earlier ones */
    size_t params_count;
    const tz_assignment *params;
    size_t scalars_count;
    const tz_series *scalars; /* their contexts must outlive the simulation */
    const char *backend;      /* "auto", "reference", "cpu" or "cuda" */
    int device;               /* ordinal of the GPU for "cuda" */
    /* Those that hold slabs of the grid: the text of backend/slabs/slabs.h. NULL: one, `device`.
     * */
    const char *devices;
    bool sync;   /* wait for every stage and check it */
    int threads; /* 0: one for each core */
    /* asked while plans are predicted: not 0 ends that with TZ_INTERRUPTED; NULL: nothing does */
    int (*stopped)(void);
    const atomic_bool *cancelled; /* true: as if `stopped` and `overdue` said so; NULL: never */
    /* Told by any thread, one at a time, when a plan is compiled that a policy waits for; may be
     * NULL. */
    void (*compiled)(void *told);
    void *told;
    int (*overdue)(void); /* as `stopped`, while a stage waits for a kernel to be compiled */
    tz_plan plan;         /* used if `policy` is NULL; the backend chooses what is 0 */
    const struct tz_plan_wish *policy; /* how plans are chosen during runs (policy/wish.h) */
    bool dry;                          /* check and plan only; allocate no fields */
    const struct tz_ranks *ranks; /* that run it together (base/ranks.h), borrowed; NULL: alone */
} tz_simulation_config;

#endif
