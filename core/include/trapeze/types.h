/* trapeze/types.h: the limits and the enumerations of the plugin ABI. Included by
 * <trapeze/plugin.h>. */
#ifndef TRAPEZE_TYPES_H
#define TRAPEZE_TYPES_H

#include <stddef.h>
#include <stdint.h>

enum {
    TZ_AXES = 3,
    TZ_FIELDS_MAX = 8,
    TZ_PASSES_MAX = 4,
    TZ_RADIUS_MAX = 8,
    TZ_CONSTANTS_MAX = 64,
    TZ_PARAMS_MAX = 32,
    TZ_METHODS_MAX = 32
};

typedef enum tz_role {
    TZ_STATE,   /* evolves: a pass may write it */
    TZ_STATIC,  /* read only, one value a cell */
    TZ_STREAMED /* read only, one slab of grid size an iteration (PathFinder's rows of weights) */
} tz_role;

/* What a field holds, and the type that a cell update sees. */
typedef enum tz_type {
    TZ_REAL, /* `real`: float or double, as the precision of the run says */
    TZ_INT,  /* `int`: int32_t */
    TZ_BITS  /* `tz_word`: 32 cells, one bit each. The layout is strided: with W = ceil(nx/32) words
              * a row, bit b of word i is column b*W + i. So the bits of the neighbouring words
              * i-1 and i+1 are the cells to the west and east. */
} tz_type;

/* What a cell reads outside the grid. */
typedef enum tz_boundary {
    TZ_CLAMP,    /* the nearest cell inside (zero flux) */
    TZ_PERIODIC, /* the grid wraps around */
    TZ_FIXED,    /* the field's boundary value */
    TZ_MIRROR    /* reflection in the centre of the edge cell: cell -k is cell k */
} tz_boundary;
#define TZ_ALLOW(boundary) (1u << (boundary))

typedef enum tz_precision { TZ_SINGLE, TZ_DOUBLE, TZ_PRECISIONS } tz_precision;

/* A constant as a cell update gets it: .f in single precision, .d in double, .i for integers. */
typedef union tz_slot {
    float f;
    double d;
    int64_t i;
} tz_slot;

#endif
