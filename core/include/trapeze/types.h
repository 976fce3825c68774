/* trapeze/types.h: the limits and the enumerations of the plugin ABI. Included by
 * <trapeze/plugin.h>. */
#ifndef TRAPEZE_TYPES_H
#define TRAPEZE_TYPES_H

#include <stddef.h>
#include <stdint.h>

enum {
    TZ_AXES = 3,
    TZ_SIDES = 2 * TZ_AXES, /* of a grid: side 2*axis is the low one, 2*axis + 1 the high one */
    TZ_FIELDS_MAX = 32,
    TZ_PASSES_MAX = 8,
    TZ_RADIUS_MAX = 8,
    TZ_CONSTANTS_MAX = 256,
    TZ_PARAMS_MAX = 64,
    TZ_METHODS_MAX = 32
};

/* tz_field.excludes of the field that is a stencil's domain: where it is 0, passes leave cells as
 * they are, no cell of the domain depends on them, and pictures and numbers leave them out. */
enum { TZ_EXCLUDES_OUTSIDE = 2 };

typedef enum tz_role {
    TZ_STATE,    /* passes write it */
    TZ_STATIC,   /* read only, one value for each cell */
    TZ_STREAMED, /* read only, a new slab of the grid's size in each iteration */
    TZ_DERIVED   /* not stored: computed from the others when a script or an output reads it */
} tz_role;

/* Types of fields and constants. A row: TZ_ and the type, its kind, its name in scenarios, and its
 * C type in a cell update.
 *   real     float or double, depending on the precision of the run
 *   int      int32_t
 *   tz_word  32 cells, one bit each. The layout is strided: with W = ceil(nx/32) words in a row,
 *            bit b of word i is column b*W + i. The same bits of words i-1 and i+1 are the cells to
 *            the west and east. */
#define TZ_TYPE_TABLE(X)                                                                           \
    X(REAL, REALS, "real", real)                                                                   \
    X(INT, INTEGERS, "int", int)                                                                   \
    X(BITS, WORDS, "bits", tz_word)
#define TZ__TYPE_ENUM(type, kind, name, c_type) TZ_##type,
#define TZ__TYPE_ONE(type, kind, name, c_type) +1
typedef enum tz_type { TZ_TYPE_TABLE(TZ__TYPE_ENUM) } tz_type;
enum { TZ_TYPES = 0 TZ_TYPE_TABLE(TZ__TYPE_ONE) };

/* The value that a read outside the grid gets. Each side of the grid has a boundary; periodic is on
 * both sides of an axis or on none. Where a cell is outside on several axes, the first of the axes
 * x, y, z on which it lies past a fixed side gives the value; else each axis is mapped inside.
 * A row: TZ_ and the kind, the rule that the engine goes by, the name in scenarios, and what a read
 * past that side gets. */
#define TZ_BOUNDARY_TABLE(X)                                                                       \
    X(CLAMP, REPEATS, "clamp", "the nearest cell inside (zero flux)")                              \
    X(PERIODIC, WRAPS, "periodic", "the cell at the other end: the grid wraps around")             \
    X(FIXED, HAS_VALUE, "fixed", "the field's boundary value on that side")                        \
    X(MIRROR, REFLECTS, "mirror", "reflection in the centre of the edge cell: cell -k is cell k")
#define TZ__BOUNDARY_ENUM(kind, rule, name, doc) TZ_##kind,
#define TZ__BOUNDARY_ONE(kind, rule, name, doc) +1
typedef enum tz_boundary { TZ_BOUNDARY_TABLE(TZ__BOUNDARY_ENUM) } tz_boundary;
enum { TZ_BOUNDARIES = 0 TZ_BOUNDARY_TABLE(TZ__BOUNDARY_ONE) };
#define TZ_ALLOW(boundary) (1u << (boundary))
#define TZ_ALLOW_ALL (TZ_ALLOW(TZ_BOUNDARIES) - 1u)

/* What `real` is. A row: TZ_ and the precision, its name, the C type, and the member of tz_slot. */
#define TZ_PRECISION_TABLE(X)                                                                      \
    X(SINGLE, "single", float, f)                                                                  \
    X(DOUBLE, "double", double, d)
#define TZ__PRECISION_ENUM(precision, name, c_type, member) TZ_##precision,
typedef enum tz_precision { TZ_PRECISION_TABLE(TZ__PRECISION_ENUM) TZ_PRECISIONS } tz_precision;

/* A constant's value: .f in single precision, .d in double precision, .i for integers. */
typedef union tz_slot {
    float f;
    double d;
    int64_t i;
} tz_slot;

#endif
