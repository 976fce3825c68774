/* Sums of real numbers: rewritten for fewer operations, and of cells with weights. */
#ifndef TZ_CORE_DEFINE_SUMS_H
#define TZ_CORE_DEFINE_SUMS_H

#include "define/expr.h"

/* Sum terms with equal coefficients first, of these cells that lie symmetrically. */
int tz_expr_group(tz_expr *e, int node);
/* Make products that are added fused operations. */
int tz_expr_fuse(tz_expr *e, int node);

/* ---- Weights --------------------------------------------------------------------------------- */

/* A list of terms that are added from the left. */
typedef struct tz_terms {
    int count;
    tz_expr_operand *all;
} tz_terms;

void tz_terms_add(tz_terms *t, int node); /* a node below 0 is none */
/* Their sum; -2: there is none. */
int tz_terms_total(tz_expr *e, const tz_terms *t);

/* coefficient * node, or -2 if the coefficient is 0. */
int tz_weights_times(tz_expr *e, int coefficient, int node);
/* The sum of coefficients (nodes) times cells of a field: each row first, then rows, then planes.
 * The entry `i` of an array is at this offset. -2: all coefficients are 0. */
int tz_weights_sum(tz_expr *e, int field, const int *side, const int *coefficients);
void tz_weights_offset(const int *side, int i, int *offset);

#endif
