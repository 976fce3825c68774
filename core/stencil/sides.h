/* What each kind of boundary means for whoever chooses one: the words of `trapeze plugins` and of
 * the manual. docs/boundaries.md says more. */
#ifndef TZ_CORE_STENCIL_SIDES_H
#define TZ_CORE_STENCIL_SIDES_H

#include <trapeze/types.h>

/* Where the wall lies, and what diffusion conserves. */
#define TZ_WALL_OF_CLAMP                                                                           \
    "an insulated wall at the outer face of the last cell; the sum is conserved"
#define TZ_WALL_OF_PERIODIC "no wall; the sum is conserved"
#define TZ_WALL_OF_FIXED                                                                           \
    "the value holds at the centre of the first cell outside; nothing is conserved"
#define TZ_WALL_OF_MIRROR                                                                          \
    "an insulated wall through the centre of the last cell, which counts half in the sum that is " \
    "conserved"

/* For TZ_BOUNDARY_TABLE: an array of them, or one text of Markdown. */
#define TZ_WALL(kind, rule, name, doc) TZ_WALL_OF_##kind,
#define TZ_WALL_LISTED(kind, rule, name, doc) "`" name "`: " TZ_WALL_OF_##kind "; "

#endif
