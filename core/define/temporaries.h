/* Temporaries: what one pass writes for later passes of the same iteration. They are no fields of
 * the stencil: in a formula that reads one, the formula of the temporary stands in its place, with
 * all that it reads moved to the cell that is read. So passes that write nothing else are gone, and
 * what neighbours compute alike is shared (share.h). The operations are those of a stored field. */
#ifndef TZ_CORE_DEFINE_TEMPORARIES_H
#define TZ_CORE_DEFINE_TEMPORARIES_H

#include "define/expr.h"

/* May the formula that is read now read this temporary? -1, with an error at e->at: no pass has
 * written it, or what it was made of has changed. */
int tz_temporary_check(tz_expr *e, int field);

/* The node with formulas in place of temporaries. */
int tz_temporaries_put(tz_expr *e, int node);

#endif
