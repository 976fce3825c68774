/* A problem: a stencil on a grid, with all that a backend needs, checked. */
#ifndef TZ_CORE_STENCIL_PROBLEM_H
#define TZ_CORE_STENCIL_PROBLEM_H

#include "base/array.h"
#include "base/sheet.h"
#include "stencil/boundary.h"
#include "stencil/element.h"
#include "stencil/stencil.h"
#include "stencil/types.h"

/* A slab of a larger grid, which is cut along its last axis. Its arrays hold its own cells and,
 * before and after them, a ghost zone: cells of other slabs. */
typedef struct tz_slab {
    /* the problem of the whole grid, borrowed; NULL: this is no slab */
    const struct tz_problem *of;
    /* the cell of the whole grid that is cell 0 here; negative where the axis wraps */
    int64_t first;
    int64_t low, high; /* its own cells, counted from cell 0 here */
} tz_slab;

typedef struct tz_problem {
    const tz_stencil *stencil;
    int dims;
    int64_t extent[TZ_AXES];   /* cells */
    int64_t elements[TZ_AXES]; /* array elements: words along x for bit fields, else cells */
    bool bits;                 /* the fields are words of bits (all of them are, or none) */
    tz_precision precision;
    tz_boundary boundary[TZ_AXES][2]; /* low and high side */
    double boundary_value[TZ_FIELDS_MAX][TZ_SIDES];
    /* updates compute with a field's values minus this; else 0 */
    double origin[TZ_FIELDS_MAX];
    tz_storage storage[TZ_FIELDS_MAX];   /* of what updates compute with */
    bool one_copy;                       /* of tz_simulation_config */
    tz_value params[TZ_PARAMS_MAX];      /* texts are owned by the problem */
    tz_slot constants[TZ_CONSTANTS_MAX]; /* those that vary: of iteration 0 */
    /* As derive() gives them for double precision, whatever the precision is. */
    tz_slot constants_in_double[TZ_CONSTANTS_MAX];
    double derived[TZ_PRECISIONS][TZ_CONSTANTS_MAX]; /* before they are rounded */
    /* of tz_problem_in_double(): its argument. Kernels read the fields of that in memory; NULL for
     * a state whose fields are in double precision themselves */
    const struct tz_problem *narrow;
    /* of tz_simulation_config: constants that vary as the scenario says; borrowed */
    const tz_series *scalars;
    size_t scalars_count;
    double residual_per_update;
    double source_per_update; /* tz_setup.source_per_update; NAN: the stencil has no refinement */
    int radius;               /* largest pass radius */
    tz_slab slab;
    /* stencil/points.h; borrowed; NULL: none. A slab has those of the whole until a stage. */
    const struct tz_points *points;
} tz_problem;

/* The problem of a slab of `whole`: its own cells are `low` to `high` along the last axis, with
 * ghost zones of `before` and `after` cells. A side with a ghost zone has the grid's rule, or clamp
 * where the grid is periodic: results near its end are wrong, farther inside with each iteration.
 * Borrows `whole` and its texts: do not clear it. */
tz_problem tz_problem_slab(const tz_problem *whole, int64_t low, int64_t high, int64_t before,
                           int64_t after);
/* Take over the parameters and constants of the whole grid, which may have changed. */
void tz_problem_slab_refresh(tz_problem *slab);

/* The elements of a problem along its last axis that are its own: all of them without a slab. */
void tz_problem_own(const tz_problem *problem, int64_t *low, int64_t *high);
/* The coordinate of a cell in the whole grid, given that along the last axis here. */
int64_t tz_problem_coordinate(const tz_problem *problem, int64_t here);
/* Does a box along the last axis lie outside the problem's own cells? */
bool tz_problem_is_ghost(const tz_problem *problem, const tz_box *box);

/* Check a config against a stencil and derive the constants. Release the problem with
 * tz_problem_clear(). Errors: see tz_simulation_create(). */
tz_status tz_problem_resolve(tz_problem *problem, const tz_stencil *stencil,
                             const tz_simulation_config *config, tz_error *error);
void tz_problem_clear(tz_problem *problem);

/* Does a constant have a value for each iteration? */
bool tz_problem_varies(const tz_problem *problem);

/* Is every iteration the same function of the fields, and that alone? No text uses TZ_STEP, no
 * constant varies, no field is streamed, and there are no points. */
bool tz_problem_repeats(const tz_problem *problem);

/* The constants of iteration `step`, rounded for the problem's precision: problem->constants if
 * none varies. They depend on nothing but the step and the parameters. [any thread] Errors:
 * TZ_PLUGIN and TZ_SCRIPT if the plugin or the scenario gives no value that can be used. */
tz_status tz_problem_constants_at(const tz_problem *problem, int64_t step,
                                  tz_slot constants[TZ_CONSTANTS_MAX], tz_error *error);

/* The value in iteration `step`. */
double tz_series_at(const tz_series *scalar, const tz_value *params, int64_t step);

/* A copy of scalars with their names, texts and lists, to be released with free(). *out is NULL if
 * there are none. Errors: TZ_MEMORY. */
tz_status tz_series_copy(size_t count, const tz_series *scalars, tz_series **out, tz_error *error);

/* The value of a constant that varies in iteration `step`, as in the run. Errors: TZ_UNKNOWN with
 * the nearest name, and those of tz_problem_constants_at(). */
tz_status tz_problem_scalar_at(const tz_problem *problem, const char *name, int64_t step,
                               double *value, tz_error *error);

/* The problem whose solution is the correction of a solution of `problem`: in single precision,
 * with boundary values of zero. The stencil must have a refinement. Release it with
 * tz_problem_clear(). */
tz_status tz_problem_correction(tz_problem *correction, const tz_problem *problem, tz_error *error);

/* Set parameters and derive the constants again; after an error the problem is unchanged. */
tz_status tz_problem_set_params(tz_problem *problem, size_t count, const tz_assignment *params,
                                tz_error *error);
/* A copy with texts of its own and one parameter set otherwise; release it with
 * tz_problem_clear(). */
tz_status tz_problem_copy_with(tz_problem *out, const tz_problem *problem,
                               const tz_assignment *param, tz_error *error);
/* The value of a parameter as a number, a flag or a text. */
tz_cell tz_param_cell(const tz_param *param, const tz_value *value);

/* The same problem with double precision, for what is computed in double from what memory holds in
 * any precision. Its boundary values are as memory holds them: less the origin, rounded to the
 * precision of the fields. It borrows the texts of `problem`: do not clear it. */
tz_problem tz_problem_in_double(const tz_problem *problem);

/* The type of a field's elements, and of the reals. */
const tz_element_type *tz_problem_element_type(const tz_problem *problem, int field);
const tz_element_type *tz_problem_real(const tz_problem *problem);
/* Of a field's values as updates compute with them. */
const tz_element_type *tz_problem_computed_type(const tz_problem *problem, int field);
/* Bytes of an element of a field, and the type of its cells in memory. */
size_t tz_problem_element_size(const tz_problem *problem, int field);
tz_dtype tz_problem_dtype(const tz_problem *problem, int field);
/* The type that holds the values of a field's cells: float64 if they are a float and an origin. */
tz_dtype tz_problem_value_dtype(const tz_problem *problem, int field);
/* Are its cells what memory holds? */
bool tz_problem_values_are_elements(const tz_problem *problem, int field);
/* Elements of a field. */
int64_t tz_problem_elements(const tz_problem *problem);

/* NULL if a cell of a field can hold the value, else what it must be: "must be 0 or 1". */
const char *tz_problem_fault(const tz_problem *problem, int field, double value);
/* Write `value` as an element of a field. The 32 cells of a word of bits are all 0 or all 1. */
void tz_problem_element(const tz_problem *problem, int field, double value, void *element);

/* Values of cells to elements and back; not for bits. Only these functions and
 * tz_problem_element() know how origins are applied. */
void tz_problem_to_elements(const tz_problem *problem, int field, const double *values,
                            int64_t count, void *elements);
void tz_problem_to_values(const tz_problem *problem, int field, const void *elements, int64_t count,
                          double *values);
/* Elements to cells of tz_problem_value_dtype(). */
void tz_problem_to_cells(const tz_problem *problem, int field, const void *elements, int64_t count,
                         void *cells);
/* Elements to what updates compute with, as doubles. */
void tz_problem_to_computed(const tz_problem *problem, int field, const void *elements,
                            int64_t count, double *computed);
/* Is a field stored as updates compute with it? */
static inline bool tz_problem_as_computed(const tz_problem *problem, int field)
{
    return problem->storage[field].as == TZ_STORED_AS_COMPUTED;
}
/* Is every field? */
bool tz_problem_all_as_computed(const tz_problem *problem);
/* Part of tz_problem_resolve(), when the origins are known. Errors: TZ_UNKNOWN, TZ_RANGE,
 * TZ_UNSUPPORTED. */
tz_status tz_problem_resolve_storage(tz_problem *problem, const tz_simulation_config *config,
                                     tz_error *error);
/* "half" if all reals are stored so; "u half, v half from 80 by 0.5": these; "": none. */
const char *tz_problem_storage_text(const tz_problem *problem, char text[TZ_STORAGE_TEXT_SIZE]);

/* Bits of a row of `words` words as bytes, from cell x on. */
void tz_bits_spread(const uint32_t *row, int64_t words, int64_t x, int64_t count, uint8_t *cells);

/* Are there so many bytes on this machine for each of `sharers`? TZ_MEMORY, with what is needed. */
tz_status tz_problem_check_memory(const tz_problem *problem, int64_t bytes, int sharers,
                                  tz_error *error);

#endif
