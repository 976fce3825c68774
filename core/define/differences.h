/* Derivatives of formulas: dx, dxx, dxp, lap, div and the like. */
#ifndef TZ_CORE_DEFINE_DIFFERENCES_H
#define TZ_CORE_DEFINE_DIFFERENCES_H

#include "define/expansion.h"

/* The call `n` of this function, with as many arguments as it takes, as an expression; -1 after a
 * failure. */
int tz_differentiate(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope,
                     const tz_known_function *f);

#endif
