/* How the syntax of a formula becomes an expression: expand.c, and what it shares with
 * differences.c and noise.c. */
#ifndef TZ_CORE_DEFINE_EXPANSION_H
#define TZ_CORE_DEFINE_EXPANSION_H

#include "define/expr.h"

/* The name that a sum() gives to a number. */
typedef struct tz_named_number {
    const tz_syntax_node *name;
    int value;
    const struct tz_named_number *outer;
} tz_named_number;

/* Where a part of a formula stands: in a sum, and at another cell as the operand of a derivative.
 * */
typedef struct tz_place {
    int shift[TZ_AXES];
    const tz_named_number *loops;
    const char *past; /* the field whose formula past a side or the edge this is; NULL: none */
    /* NULL, or this cell is outside of the domain: the cell within that needs it. */
    const struct tz_place *edge;
    unsigned centred; /* axes along which a centred difference is taken of this part; bit 0 is x */
} tz_place;

typedef struct tz_expansion {
    tz_expr *e;
    const tz_syntax *syntax;
    bool scalar;
} tz_expansion;

typedef enum tz_family {
    TZ_FAMILY_PLAIN,     /* one of tz_function, on real numbers */
    TZ_FAMILY_EXTREME,   /* min, max */
    TZ_FAMILY_MAGNITUDE, /* abs */
    TZ_FAMILY_SIGN,
    TZ_FAMILY_TO_INT,
    TZ_FAMILY_SELECT,
    TZ_FAMILY_SUM,
    TZ_FAMILY_NOISE,
    TZ_FAMILY_LAPLACIAN,
    TZ_FAMILY_DIVERGENCE,
    TZ_FAMILY_STAGGERED,
    TZ_FAMILY_DERIVATIVE
} tz_family;

typedef struct tz_known_function {
    const char *name;
    tz_family family;
    int which;       /* a tz_function; or axes of a derivative, as 10*first + second, 0 for x */
    int least, most; /* arguments */
    const char *usage;
} tz_known_function;

/* The second axis of a derivative along one. A staggered one has there how much lower its cells
 * are. */
enum { TZ_NO_AXIS = 9 };

/* A parsed formula as an expression of this type. TZ_EXPR_INT and TZ_EXPR_BITS say how coordinates
 * and numbers are understood. `scalar`: fields and coordinates are refused. */
int tz_expr_expand(tz_expr *e, const tz_syntax *syntax, tz_expr_type type, bool scalar);

/* A formula's node as what becomes of the field: outside of the domain a state field keeps its
 * value, and a derived field is 0. -1 after a failure, or if `node` is. */
int tz_expand_domain(tz_expr *e, int field, int node);

/* A node of the syntax as an expression. `whole`: coordinates and the step are whole numbers. */
int tz_expand_node(tz_expansion *x, int node, const tz_place *scope, bool whole);

/* A node of the syntax, or with node -1 a part of 'let', at another cell. If that is outside of the
 * domain: what it is past the edge. */
int tz_expand_at(tz_expansion *x, int node, int part, const tz_place *scope, const int *offset,
                 bool whole);

/* A whole number that is known now: -1 after a failure, with *value unchanged. */
int tz_expand_number(tz_expansion *x, int node, const tz_place *scope, const char *what, int least,
                     int most, int *value);

/* The cell's coordinate, as a whole number or a real one. */
int tz_expand_coordinate(tz_expansion *x, const tz_place *scope, int axis, bool whole);

/* Note the failure of an unknown word that other languages have, or that is a derivative as papers
 * write it (elsewhere.c). False: it is neither. */
bool tz_expand_elsewhere(tz_expr *e, const char *name);

/* Note centred differences along these axes, and warn if they couple every second cell only. */
void tz_expand_centred(tz_expansion *x, const tz_place *scope, unsigned axes);

#endif
