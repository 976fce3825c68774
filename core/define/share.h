/* What neighbouring cells compute alike: expressions that are equal up to a shift. */
#ifndef TZ_CORE_DEFINE_SHARE_H
#define TZ_CORE_DEFINE_SHARE_H

#include "define/expr.h"

/* Of each node of an expression: which others are the same at another place. Sums and products of
 * two operands are the same in both orders. */
typedef struct tz_shapes {
    int count;
    int still; /* an axis along which nothing is moved, or -1 */
    /* Arrays of tz_expr_alloc(). The first node of the same shape. */
    int *shape;
    /* Where it is: this minus that of the first one is the shift. */
    int (*at)[TZ_AXES];
    /* TZ_SHAPE_FIXED: other cells do not have the same, as with coordinates. */
    enum { TZ_SHAPE_SAME, TZ_SHAPE_MOVES, TZ_SHAPE_FIXED } * place;
} tz_shapes;

/* `still`: an axis along which shapes do not move, or -1. Errors: TZ_MEMORY, also in e->status. */
tz_status tz_shapes_find(tz_expr *e, int still, tz_shapes *out);

/* Give differences whose sign does not count, as in (a - b)^2, the sign that the neighbour's have:
 * the same bits. Returns the node with such differences; -1 after a failure. */
int tz_share_signs(tz_expr *e, int node);

/* ---- Shared values (<trapeze/rows_tuning.h>) ------------------------------------------------- */

enum { TZ_SHARED_MAX = 24 };

/* A value that several cells need: of rows in 2-D, in 3-D of planes at one y. It is in a column
 * that it reads, or between such columns, and in the lowest row or plane that it reads. */
typedef struct tz_shared_value {
    int node; /* with the reads of the value at 0, 0 */
    /* Its places for the cell at 0, 0: x and row or plane. low[0] <= 0 <= high[0] */
    int low[2], high[2];
    /* A bit for each row or plane, from the lowest: it is needed before and after the columns of
     * cells. */
    unsigned before, after;
} tz_shared_value;

/* Operations of a cell. */
typedef struct tz_operations {
    int quotients, roots, functions, others; /* functions: exp, log ... */
} tz_operations;

/* Add those of nodes, each once. Errors: TZ_MEMORY, also in e->status. */
tz_status tz_operations_add(tz_expr *e, const int *roots, int count, tz_operations *sum);

typedef struct tz_shared {
    int count;
    tz_shared_value values[TZ_SHARED_MAX]; /* later ones may be made of earlier ones */
    int nodes[TZ_FIELDS_MAX];              /* of the update: TZ_EXPR_SHARED in place of values */
    tz_operations as_written, shared;
} tz_shared;

/* Find the values of an update that are worth to be shared. The numbers of its TZ_EXPR_SHARED begin
 * with `first`. Errors: TZ_MEMORY. */
tz_status tz_share_find(tz_expr *e, const int *roots, int count, int first, tz_shared *out);

#endif
