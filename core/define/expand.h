/* Expanding formulas, in two files: operators and names (expand.c), functions (functions.c). */
#ifndef TZ_CORE_DEFINE_EXPAND_H
#define TZ_CORE_DEFINE_EXPAND_H

#include "define/expr.h"

/* The name that a sum() gives to a number. */
typedef struct tz_loop {
    const tz_syntax_node *name;
    int value;
    const struct tz_loop *outer;
} tz_loop;

/* Where a part of a formula stands: in a sum, and at another cell as the operand of a derivative.
 * */
typedef struct tz_scope {
    int shift[TZ_AXES];
    const tz_loop *loops;
    unsigned centred; /* axes along which a centred difference is taken of this part; bit 0 is x */
} tz_scope;

typedef struct tz_expand {
    tz_expr *e;
    const tz_syntax *syntax;
    bool scalar;
} tz_expand;

/* A node of the syntax as an expression. `whole`: coordinates and the step are whole numbers. */
int tz_expand_node(tz_expand *x, int node, const tz_scope *scope, bool whole);
/* A number that is known now, between two bounds. Returns -1 after a failure; `what` says what it
 * is: "an offset". */
int tz_expand_number(tz_expand *x, int node, const tz_scope *scope, const char *what, int least,
                     int most, int *value);
/* A condition and two values: the syntax node `first` and the two after it. */
int tz_expand_select(tz_expand *x, int first, const tz_scope *scope, bool whole);

/* Note centred differences along these axes, at e->at, and warn of those of such differences. */
void tz_expand_centred(tz_expand *x, const tz_scope *scope, unsigned axes);

int tz_expand_call(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, bool whole);
bool tz_expand_is_function(const tz_expand *x, const tz_syntax_node *n);

#endif
