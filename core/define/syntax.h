/* Formulas as text: errors with a caret, and the parser, which makes a tree. */
#ifndef TZ_CORE_DEFINE_SYNTAX_H
#define TZ_CORE_DEFINE_SYNTAX_H

#include "define/definition.h"

enum {
    TZ_FORMULA_BYTES_MAX = 1 << 16,
    TZ_FORMULA_DEPTH_MAX = 100 /* parentheses, functions and signs inside each other */
};

/* A formula and where it stands, for messages. Borrowed. */
typedef struct tz_formula {
    tz_defined_text text;
    const char *place;
    tz_error *error; /* may be NULL */
} tz_formula;

/* Fill the error: the message, the formula around byte `at`, and a caret under it. Returns `code`.
 * */
tz_status tz_formula_fail(const tz_formula *formula, tz_status code, int at, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* Operators that join operands. The kind of a node follows from the operators between its
 * operands. */
typedef enum tz_operator {
    TZ_OP_NONE, /* of the first operand */
    TZ_OP_OR,
    TZ_OP_AND,
    TZ_OP_EQUAL,
    TZ_OP_NOT_EQUAL,
    TZ_OP_LESS,
    TZ_OP_LESS_EQUAL,
    TZ_OP_GREATER,
    TZ_OP_GREATER_EQUAL,
    TZ_OP_BITS_OR,
    TZ_OP_BITS_XOR,
    TZ_OP_BITS_AND,
    TZ_OP_LEFT,
    TZ_OP_RIGHT,
    TZ_OP_RIGHT_ZEROS, /* zeros take the place of the sign */
    TZ_OP_PLUS,
    TZ_OP_MINUS,
    TZ_OP_TIMES,
    TZ_OP_OVER,
    TZ_OP_FLOOR_OVER,
    TZ_OP_MODULO
} tz_operator;

/* How strongly operators bind, the weakest first. */
typedef enum tz_level {
    TZ_LEVEL_OR,
    TZ_LEVEL_AND,
    TZ_LEVEL_NOT,
    TZ_LEVEL_COMPARE,
    TZ_LEVEL_BITS_OR,
    TZ_LEVEL_BITS_XOR,
    TZ_LEVEL_BITS_AND,
    TZ_LEVEL_SHIFT,
    TZ_LEVEL_SUM,
    TZ_LEVEL_PRODUCT
} tz_level;

tz_level tz_operator_level(tz_operator op);
/* As in a formula: "+", "and". */
const char *tz_operator_text(tz_operator op);

typedef enum tz_syntax_kind {
    TZ_SYNTAX_NUMBER,
    TZ_SYNTAX_NAME,
    TZ_SYNTAX_INDEX, /* name[children] */
    TZ_SYNTAX_CALL,  /* name(children) */
    TZ_SYNTAX_CHAIN, /* children of one level, from left to right, each with its operator */
    TZ_SYNTAX_NEGATIVE,
    TZ_SYNTAX_BITS_NOT,
    TZ_SYNTAX_NOT,
    TZ_SYNTAX_POWER, /* base, exponent */
    TZ_SYNTAX_SELECT /* condition, value if true, value if false */
} tz_syntax_kind;

typedef struct tz_syntax_node {
    tz_syntax_kind kind;
    tz_operator op;  /* joins it to the operand before it */
    int at, length;  /* in the text: its name, number or operator */
    int first, next; /* child, and the next child of its parent; -1: none */
    int count;       /* of children */
    double number;
    bool integer; /* a number without point and exponent that fits an int */
} tz_syntax_node;

typedef struct tz_syntax {
    tz_formula formula;
    int root, count, capacity;
    tz_syntax_node *nodes;
} tz_syntax;

/* Parse a formula. Errors: TZ_FORMAT, TZ_RANGE, TZ_MEMORY. */
tz_status tz_syntax_parse(tz_syntax *out, const tz_formula *formula);
void tz_syntax_clear(tz_syntax *syntax);

/* Copy a name out of the text; cut to `size`. Returns `name`. */
const char *tz_syntax_name(const tz_syntax *syntax, const tz_syntax_node *node, char *name,
                           size_t size);

#endif
