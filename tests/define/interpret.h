/* What formulas mean, evaluated straight from their syntax: one cell at a time, each operation in
 * the order and precision that docs/formulas.md says. Shares nothing with core/define but the
 * parser. Bits are conditions here. */
#ifndef TZ_TEST_INTERPRET_H
#define TZ_TEST_INTERPRET_H

#include "define/syntax.h"
#include "tests/define/define.h"

typedef enum kind { TRUTH, WHOLE, REAL } kind;

typedef struct interpreted {
    kind kind;
    bool constant; /* of numbers and parameters: `number` is exact in double */
    double number; /* otherwise rounded to the precision of the run */
} interpreted;

typedef struct loop {
    const tz_syntax_node *name;
    int number;
    const struct loop *outer;
} loop;

typedef struct cell {
    const tz_definition *definition;
    const tz_syntax *syntax;
    bool single;
    int at[TZ_AXES]; /* of the cell, moved by derivatives */
    int64_t step;
    const double *params;
    double (*read)(void *context, int field, const int *at);
    void *context;
    const loop *loops;
} cell;

/* A node of the syntax in a cell. `whole`: coordinates and the step are whole numbers, as in a
 * formula of an int or bits field. */
interpreted interpret(const cell *c, int node, bool whole);

/* To the precision of the run. */
double interpret_rounded(const cell *c, double number);

#endif
