/* Random numbers: random(stream) and normal(stream). */
#ifndef TZ_CORE_DEFINE_NOISE_H
#define TZ_CORE_DEFINE_NOISE_H

#include "define/expansion.h"

/* The call `n` of one of them, as an expression of the cell's coordinates, the iteration, the
 * stream and the parameter `seed`; -1 after a failure. */
int tz_noise(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool normal);

#endif
