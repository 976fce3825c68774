/* Parts of tz_expr_chain() in several files. */
#ifndef TZ_CORE_DEFINE_MAKE_H
#define TZ_CORE_DEFINE_MAKE_H

#include "define/expr.h"

/* Like tz_expr_intern(), for a node with operands: numbers are folded, and `constant` is set. Fails
 * if an operand is -1. */
int tz_expr_make_of(tz_expr *e, tz_expr_node node, const tz_expr_operand *operands, int count);
/* The node with operands that `change` has changed; parts that are constant or bits stay. `change` may
 * fail with -1, and so does this. */
int tz_expr_rebuild(tz_expr *e, int node, int (*change)(tz_expr *e, int node));

/* Sums with bits, and their comparison with a number: bits of cells (count.c). */
int tz_expr_add_bits(tz_expr *e, const tz_expr_operand *operands, int count);
int tz_expr_compare_count(tz_expr *e, int a, tz_operator op, int b);

#endif
