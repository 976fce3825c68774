/* Formulas that are parsed become expressions. */
#ifndef TZ_CORE_DEFINE_EXPAND_H
#define TZ_CORE_DEFINE_EXPAND_H

#include "define/expr.h"

/* A parsed formula as an expression of this type. TZ_EXPR_INT and TZ_EXPR_BITS say how coordinates
 * and numbers are understood. `scalar`: fields and coordinates are refused. */
int tz_expr_expand(tz_expr *e, const tz_syntax *syntax, tz_expr_type type, bool scalar);

#endif
