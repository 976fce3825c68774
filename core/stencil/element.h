/* Element types: how a field's cells lie in memory. The tables of <trapeze/types.h> have the types
 * that plugins name, and the precisions; a row here is what one of them becomes. Nothing else asks
 * which type it is: it asks for a kind, or has a row of functions for each element type. */
#ifndef TZ_CORE_STENCIL_ELEMENT_H
#define TZ_CORE_STENCIL_ELEMENT_H

#include "base/array.h"
#include "stencil/stored.h"
#include <stdbool.h>
#include <stddef.h>
#include <trapeze/types.h>

/* X(element, type, precision, C type in memory, type of arrays and files, epsilon, function of a
 * fused multiply-add on GPUs, member of tz_slot). The precision, epsilon and function count for
 * reals alone: epsilon is the distance from 1 to the next number. */
#define TZ_ELEMENT_TABLE(X)                                                                        \
    X(F32, REAL, SINGLE, float, F32, 0x1p-23, "__fmaf_rn", f)                                      \
    X(F64, REAL, DOUBLE, double, F64, 0x1p-52, "__fma_rn", d)                                      \
    X(I32, INT, SINGLE, int32_t, I32, 0, "", i)                                                    \
    X(WORD, BITS, SINGLE, uint32_t, U8, 0, "", i)

/* Reals of single precision that only lie in memory so (stencil/stored.h). X(element, its
 * TZ_STORED_, its name in scenarios, C type in memory, type of arrays and files, epsilon, value of
 * an element, element of a value). */
#define TZ_STORED_TABLE(X) X(F16, HALF, "half", uint16_t, F32, 0x1p-10, tz_half_value, tz_half_of)

#define TZ__ELEMENT(element, ...) TZ_ELEMENT_##element,
typedef enum tz_element {
    TZ_ELEMENT_TABLE(TZ__ELEMENT) TZ_STORED_TABLE(TZ__ELEMENT) TZ_ELEMENTS
} tz_element;

/* In which residuals are computed, and the corrections of precision "mixed". */
#define TZ_PRECISION_RESIDUAL TZ_DOUBLE
#define TZ_PRECISION_CORRECTION TZ_SINGLE

/* How the engine treats a type. */
typedef enum tz_kind {
    TZ_KIND_REALS,    /* of a precision; a difference may be small, a value not finite */
    TZ_KIND_INTEGERS, /* exact */
    TZ_KIND_WORDS     /* packed cells of a bit: all fields of a stencil, or none */
} tz_kind;

typedef struct tz_element_type {
    tz_element element;
    tz_type type;
    tz_precision precision;
    size_t size;        /* bytes in memory */
    tz_dtype dtype;     /* of a cell in arrays and files */
    const char *c_type; /* "float" */
    double epsilon;
    const char *fma;
    const char *member;
    /* `count` values, less an origin, to elements, and elements to values. All cells of a word get
     * the same value. */
    void (*put)(const double *values, double origin, int64_t count, void *elements);
    void (*get)(const void *elements, int64_t count, double *values);
    bool (*is_nan)(const void *element);
} tz_element_type;

const tz_element_type *tz_element_type_of(tz_type type, tz_precision precision);
/* Of reals of single precision. */
const tz_element_type *tz_element_type_stored(tz_stored as);
/* "half"; "single" for TZ_STORED_AS_COMPUTED. tz_stored_find() returns -1 for an unknown name. */
const char *tz_stored_name(tz_stored as);
int tz_stored_find(const char *name);
/* The one whose cells are so in arrays. */
const tz_element_type *tz_element_type_of_array(tz_dtype dtype);

/* The names of the tables: "real"; "TZ_REAL"; the C type in a cell update; "single". */
const char *tz_type_name(tz_type type);
const char *tz_type_c_name(tz_type type);
const char *tz_type_keyword(tz_type type);
const char *tz_precision_name(tz_precision precision);
/* The precision of that name, or -1. */
int tz_precision_find(const char *name);

static inline tz_kind tz_type_kind(tz_type type)
{
#define TZ__TYPE_KIND(type, kind, name, c_type) TZ_KIND_##kind,
    static const unsigned char kinds[] = {TZ_TYPE_TABLE(TZ__TYPE_KIND)};
#undef TZ__TYPE_KIND
    return (tz_kind)kinds[type];
}

static inline bool tz_type_is_real(tz_type type)
{
    return tz_type_kind(type) == TZ_KIND_REALS;
}

static inline bool tz_type_is_integer(tz_type type)
{
    return tz_type_kind(type) == TZ_KIND_INTEGERS;
}

static inline bool tz_type_is_bits(tz_type type)
{
    return tz_type_kind(type) == TZ_KIND_WORDS;
}

/* A constant's value: a real in the precision, or an integer. */
tz_slot tz_slot_of(tz_type type, tz_precision precision, double value);

#endif
