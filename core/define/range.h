/* The ranges of whole numbers in expressions: where they cannot overflow, the text is plain. */
#ifndef TZ_CORE_DEFINE_RANGE_H
#define TZ_CORE_DEFINE_RANGE_H

#include "define/expr.h"

/* Set low, high and wraps of a node that has its operands, which have theirs. */
void tz_expr_set_range(const tz_expr *e, tz_expr_node *node);

#endif
