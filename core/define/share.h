/* What neighbouring cells compute alike: expressions that are equal up to a shift. */
#ifndef TZ_CORE_DEFINE_SHARE_H
#define TZ_CORE_DEFINE_SHARE_H

#include "define/expr.h"

/* Of each node of an expression: which others are the same at another place. Sums and products of
 * two operands are the same in both orders. */
typedef struct tz_shapes {
    int count;
    /* The first node of the same shape. */
    int *shape;
    /* Where it is: this minus that of the first one is the shift. */
    int (*at)[TZ_AXES];
    /* TZ_SHAPE_FIXED: other cells do not have the same, as with coordinates. */
    enum { TZ_SHAPE_SAME, TZ_SHAPE_MOVES, TZ_SHAPE_FIXED } * place;
} tz_shapes;

/* Errors: TZ_MEMORY, also in e->status. */
tz_status tz_shapes_find(tz_expr *e, tz_shapes *out);
void tz_shapes_clear(tz_shapes *shapes);

/* Give differences whose sign does not count, as in (a - b)^2, the sign that the neighbour's have:
 * the same bits. Returns the node with such differences; -1 after a failure. */
int tz_share_signs(tz_expr *e, int node);

#endif
