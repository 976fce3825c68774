/* Typed expressions: formulas with names, offsets, sums and derivatives resolved.
 *
 * All expressions of a definition are in one tz_expr. Equal expressions are one node. Nodes are
 * numbered from 0; functions that make one return its number, or -1 after a failure. */
#ifndef TZ_CORE_DEFINE_EXPR_H
#define TZ_CORE_DEFINE_EXPR_H

#include "define/syntax.h"

enum {
    TZ_EXPR_OPERANDS_MAX = 65536, /* of all operations; more no compiler takes in reasonable time */
    TZ_EXPR_STEPS_MAX = 1000000,  /* of an expansion */
    TZ_POWER_MAX = 64             /* larger exponents are left to pow() */
};

typedef enum tz_expr_type {
    TZ_EXPR_REAL,
    TZ_EXPR_INT,
    TZ_EXPR_BOOL, /* a condition; 0 or 1 as a number */
    TZ_EXPR_BITS, /* 32 cells of a bits field */
    TZ_EXPR_COUNT /* for 32 cells each, how many of some bits are set */
} tz_expr_type;

typedef enum tz_expr_kind {
    TZ_EXPR_NUMBER,
    TZ_EXPR_PARAM,
    TZ_EXPR_EXTENT, /* the cells along an axis: a constant */
    TZ_EXPR_SCALAR,
    TZ_EXPR_COORDINATE,
    TZ_EXPR_SIDE, /* a number that derive() finds from the sides (augment.h) */
    TZ_EXPR_STEP,
    TZ_EXPR_READ,
    TZ_EXPR_PLANE,  /* sum number `index` of plane offset[2] (forms.h) */
    TZ_EXPR_SUM,    /* the sum of all rows (forms.h) */
    TZ_EXPR_SHARED, /* shared value number `index` at that offset (share.h) */
    TZ_EXPR_CHAIN,
    TZ_EXPR_NEGATIVE,
    TZ_EXPR_BITS_NOT,
    TZ_EXPR_NOT,
    TZ_EXPR_POWER,  /* of one operand; the exponent is in `index`, 2 to TZ_POWER_MAX */
    TZ_EXPR_SELECT, /* condition, value if true, value if false */
    TZ_EXPR_CALL,
    TZ_EXPR_CONVERT,
    TZ_EXPR_ADD_UP,  /* a count, for tests of it; its operands are bits */
    TZ_EXPR_MAJORITY /* of three bits */
} tz_expr_kind;

/* Functions of real numbers that give real ones: X(with, name, operands, its name in cell texts,
 * and in C for doubles). `with` is passed on. From exp to erf a call is counted as a function. */
#define TZ_REAL_FUNCTION_TABLE(X, with)                                                            \
    X(with, sqrt, 1, TZ_SQRT, sqrt)                                                                \
    X(with, exp, 1, TZ_EXP, exp)                                                                   \
    X(with, log, 1, TZ_LOG, log)                                                                   \
    X(with, sin, 1, TZ_SIN, sin)                                                                   \
    X(with, cos, 1, TZ_COS, cos)                                                                   \
    X(with, tan, 1, TZ_TAN, tan)                                                                   \
    X(with, asin, 1, TZ_ASIN, asin)                                                                \
    X(with, acos, 1, TZ_ACOS, acos)                                                                \
    X(with, atan, 1, TZ_ATAN, atan)                                                                \
    X(with, atan2, 2, TZ_ATAN2, atan2)                                                             \
    X(with, sinh, 1, TZ_SINH, sinh)                                                                \
    X(with, cosh, 1, TZ_COSH, cosh)                                                                \
    X(with, tanh, 1, TZ_TANH, tanh)                                                                \
    X(with, pow, 2, TZ_POW, pow)                                                                   \
    X(with, erf, 1, TZ_ERF, erf)                                                                   \
    X(with, floor, 1, TZ_FLOOR, floor)                                                             \
    X(with, ceil, 1, TZ_CEIL, ceil)                                                                \
    X(with, round, 1, TZ_ROUND, round)                                                             \
    X(with, fma, 3, TZ_FMA, fma)

/* Also those that take and give whole numbers, too. */
#define TZ_FUNCTION_TABLE(X, with)                                                                 \
    X(with, min, 2, TZ_MIN, tz_formula_min)                                                        \
    X(with, max, 2, TZ_MAX, tz_formula_max)                                                        \
    X(with, abs, 1, TZ_ABS, fabs)                                                                  \
    TZ_REAL_FUNCTION_TABLE(X, with)

typedef enum tz_function {
#define TZ_FUNCTION_ENUM(with, name, operands, cell, host) TZ_FUNCTION_##name,
    TZ_FUNCTION_TABLE(TZ_FUNCTION_ENUM, )
#undef TZ_FUNCTION_ENUM
        TZ_FUNCTION_int,
    TZ_FUNCTION_unit, /* two ints of random bits as a real number from 0 to below 1 */
    TZ_FUNCTIONS
} tz_function;

typedef struct tz_expr_node {
    tz_expr_kind kind;
    tz_expr_type type;
    tz_function function;
    bool constant; /* holds only numbers and parameters */
    int index;     /* of the parameter, scalar, axis or field; or an exponent */
    int offset[TZ_AXES];
    int first, count; /* operands, in tz_expr.operands */
    double number;    /* of a side: the width of the frame */
    double low, high; /* of an int: the range of its values */
    bool wraps;       /* of an int: computed as tz_word, as it may overflow */
} tz_expr_node;

typedef struct tz_expr_operand {
    int node;
    tz_operator op; /* joins it to the operand before it in a chain */
} tz_expr_operand;

/* Fields that a formula reads, and how far. */
typedef struct tz_expr_reach {
    unsigned fields;
    int low[TZ_AXES], high[TZ_AXES]; /* <= 0, >= 0 */
} tz_expr_reach;

/* What a pass has put into a temporary (temporaries.h). */
typedef struct tz_temporary {
    bool written;
    int node; /* without temporaries */
    tz_expr_reach reach;
    unsigned changed; /* fields that it reads, and that a pass has changed since */
} tz_temporary;

typedef struct tz_expr {
    const tz_definition *definition;
    tz_formula formula; /* the formula that is read, for messages */
    int at;             /* where in it */
    int count, capacity;
    tz_expr_node *nodes;
    int operands_count, operands_capacity;
    tz_expr_operand *operands;
    int buckets_count, *buckets; /* a hash table of nodes */
    int steps;
    tz_status status; /* of the first failure */
    char *warning;    /* the first one, malloc'd; NULL: none */
    /* Of the formula that is read: axes of its centred differences (bit 0 is x), and fields. */
    unsigned centred;
    tz_expr_reach reach;
    tz_temporary temporaries[TZ_FIELDS_MAX];
    bool within;               /* of a domain: nothing is read outside of it */
    bool inside[TZ_PARTS_MAX]; /* of the part that is read: itself, and those that it is in */
    bool used[TZ_PARTS_MAX];   /* by a formula */
    /* The same axes of what an earlier pass put into a field, if not added to it. */
    unsigned centred_fields[TZ_FIELDS_MAX];
    /* The rate that is read: formulas have fields as stage `stage` has left them, at the part
     * `stage_time` of the time step. 0: as they are. */
    int stage;
    double stage_time;
    struct tz_expr_memory *memory; /* of tz_expr_alloc() */
} tz_expr;

void tz_expr_clear(tz_expr *e);

/* Note a failure at e->at. Returns -1. */
int tz_expr_fail(tz_expr *e, tz_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Zeros, until tz_expr_clear(). NULL after a failure, which is noted. */
void *tz_expr_alloc(tz_expr *e, size_t count, size_t size);

/* Note what may not be meant, at e->at, as the text of an error; the first one stays. */
void tz_expr_warn(tz_expr *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Making nodes ---------------------------------------------------------------------------- */

/* The node with these members and operands; count and first are ignored. */
int tz_expr_intern(tz_expr *e, tz_expr_node node, const tz_expr_operand *operands, int count);
int tz_expr_number(tz_expr *e, double number, tz_expr_type type);
int tz_expr_param(tz_expr *e, int param);
bool tz_expr_is_number(const tz_expr *e, int node, double number);
/* What the values of a field of that type are. */
tz_expr_type tz_expr_type_of(tz_type type);

int tz_expr_read(tz_expr *e, int field, const int *offset);
/* A number as another type: int or bool to real, bool to int, a number or condition to bool, bool
 * or 0 or 1 to bits. Without an operation if it has the type. Fails if that is not possible. */
int tz_expr_convert(tz_expr *e, int node, tz_expr_type type);
/* A node with one to three operands. For a call: `function`; for a power: `index`. */
int tz_expr_make(tz_expr *e, tz_expr_kind kind, tz_expr_type type, int which, int a, int b, int c);
/* Like tz_expr_intern(), for a node with operands: numbers are folded, and `constant` is set. Fails
 * if an operand is -1. */
int tz_expr_make_of(tz_expr *e, tz_expr_node node, const tz_expr_operand *operands, int count);
/* A copy of the operands of a node from number `first` on, of tz_expr_alloc(). */
tz_expr_operand *tz_expr_operands(tz_expr *e, int node, int first);
/* The node with operands that `change` has changed; `change` may fail with -1, and so does this. */
int tz_expr_rebuild(tz_expr *e, int node, int (*change)(void *user, int node), void *user);
/* Operands of one level from left to right. */
int tz_expr_chain(tz_expr *e, const tz_expr_operand *operands, int count);
int tz_expr_two(tz_expr *e, int a, tz_operator op, int b);

/* The value of a node without reads, in double. `params` in the order of the definition, and from
 * TZ_PARAMS_MAX on the cells along each axis; may be NULL if none is in it. Pure. */
double tz_expr_value(const tz_expr *e, int node, const double *params, int64_t step);

#endif
