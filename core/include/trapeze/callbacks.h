/* trapeze/callbacks.h: the arguments of derive(), check_run() and analyses. Included by
 * <trapeze/plugin.h>. */
#ifndef TRAPEZE_CALLBACKS_H
#define TRAPEZE_CALLBACKS_H

#include <trapeze/types.h>

/* A parameter's value in a simulation. */
typedef struct tz_value {
    double number;
    const char *text; /* borrowed: do not change or free it */
    int given;        /* 1: the scenario set it */
} tz_value;

/* Return values of derive() and check_run() other than 0. */
enum {
    TZ_WARNS = 1, /* check_run() only: the run begins, and the user gets the message */
    /* check_run() only: until_residual is out of reach: the run ends with the status "inconsistent"
     * before it computes, and the user gets the message */
    TZ_NO_SOLUTION = 2,
    TZ_REFUSED = -1, /* the parameters contradict each other, or one of them is not possible */
    TZ_DIVERGES = -2 /* the parameters are possible, but the iteration would diverge */
};

/* The argument of derive(). It and its pointers are valid only during the call. */
typedef struct tz_setup {
    uint32_t struct_size; /* of the engine's tz_setup */
    int dims;
    int64_t extent[TZ_AXES];          /* cells; 1 on unused axes */
    tz_boundary boundary[TZ_AXES][2]; /* low and high side of each axis */
    tz_precision precision;
    /* in and out: one for each tz_stencil.params. derive() writes the numbers of parameters whose
     * default is NAN, unless they are given */
    tz_value *params;
    /* Out, NAN at first: one for each tz_stencil.constants, finite. The engine rounds each once to
     * the precision of the run. Constants that vary may stay NAN. */
    double *constants;
    /* in and out, 1 at first. The residual is this factor times the largest change of a cell in an
     * iteration */
    double residual_per_update;
    char *message;       /* out, on failure: one line that says what is wrong and what to do */
    size_t message_size; /* bytes, including the terminating 0 */
    /* In and out: one for each tz_stencil.fields. Memory holds a field's values minus
     * its origin, so that single precision resolves small differences from it; scenarios and
     * outputs see values. Cell updates see what memory holds: the constants must be right for it.
     * NAN when a simulation is created: derive() may write a finite origin for a TZ_REAL state or
     * static field; NAN that it leaves means 0. Later calls get the chosen origins, which stay. */
    double *origins;
    /* What cells outside the grid hold past a fixed side: [field * TZ_SIDES + side]. */
    const double *boundary_values;
    /* Out, NAN at first; REQUIRED with tz_stencil.refinement: a source of this size
     * changes the update of its cell by 1. */
    double source_per_update;
    const void *engine; /* tz_stencil.engine */
} tz_setup;

/* A constant as the engine rounds it for this run: for constants that must fit each other. */
static inline double tz_rounded(const tz_setup *setup, double value)
{
    if (setup->precision != TZ_SINGLE)
        return value;
    volatile float single = (float)value; /* volatile: GCC 12 may leave out a mere conversion */
    return (double)single;
}

/* The argument of check_run(). It and its pointers are valid only during the call. range() and
 * mean() look at every cell of a field as the run begins, also where slabs of several devices and
 * ranks hold it, and give the same numbers everywhere. They return 0, or -1 for a streamed field or
 * after an error, which then ends the run: return 0. */
typedef struct tz_run_facts {
    uint32_t struct_size; /* of the engine's tz_run_facts */
    int dims;
    int64_t extent[TZ_AXES];          /* cells; 1 on unused axes */
    tz_boundary boundary[TZ_AXES][2]; /* low and high side of each axis */
    tz_precision precision;
    const tz_value *params;        /* one for each tz_stencil.params, as derive() left them */
    const double *boundary_values; /* as in tz_setup */
    double until_residual;         /* the run ends at this residual; NAN: at a number of steps */
    void *context;                 /* for the functions below */
    /* The least and the largest value of a field, derived ones included. */
    int (*range)(void *context, int field, double *low, double *high);
    /* Its mean, in double. Along an axis, cells beside a mirror side count half: what an iteration
     * with symmetric weights conserves. */
    int (*mean)(void *context, int field, double *mean);
    char *message; /* out: one line that says what is wrong, with the numbers, and what to do */
    size_t message_size; /* bytes, including the terminating 0 */
} tz_run_facts;

/* The argument of an analysis. It and its pointers are valid only during the call. */
typedef struct tz_access {
    uint32_t struct_size; /* of the engine's tz_access */
    void *context;        /* for the functions below */
    int64_t extent[TZ_AXES];
    tz_boundary boundary[TZ_AXES][2]; /* low and high side of each axis */
    int64_t step;                     /* iterations since the run began */
    /* Copy `count` cells of a row of `field`, from (x, y, z) on, to `values` as doubles: values,
     * not differences from an origin. For a streamed field, `step` is the number of the slab; for
     * other fields it is ignored. Returns 0, or -1 if the cells or the slab are out of range. */
    int (*read)(void *context, int field, int64_t step, int64_t x, int64_t y, int64_t z,
                int64_t count, double *values);
    /* Return a result to the scenario. The engine copies name and values. */
    void (*give_number)(void *context, const char *name, double value);
    void (*give_list)(void *context, const char *name, int64_t count, const int64_t *values);
    char *message; /* out, on failure: one line that says what is wrong and what to do */
    size_t message_size;
} tz_access;

#endif
