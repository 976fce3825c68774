/* Functions of formulas that are larger expressions of cells: derivatives (dx, dxx, dxp, lap, div
 * and the like), random(stream) and normal(stream). */
#ifndef TZ_CORE_DEFINE_DIFFERENCES_H
#define TZ_CORE_DEFINE_DIFFERENCES_H

#include "define/expansion.h"

/* The call `n` of this function, with as many arguments as it takes, as an expression; -1 after a
 * failure. */
int tz_differentiate(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope,
                     const tz_known_function *f);

/* ---- Random numbers -------------------------------------------------------------------------- */

/* The call `n` of one of them, as an expression of the cell's coordinates, the iteration, the
 * stream and the parameter `seed`; -1 after a failure. */
int tz_noise(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool normal);

#endif
