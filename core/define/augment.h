/* Augmented stencils: one iteration that advances several steps of a weighted sum with constant
 * coefficients. The sum of m steps is one wider sum, with the coefficients convolved m times. Near
 * clamp and fixed sides it is not: the frame, the cells up to (m - 1)*radius from such a side, does
 * m steps one after the other, each with the boundary applied, from the cells around it. */
#ifndef TZ_CORE_DEFINE_AUGMENT_H
#define TZ_CORE_DEFINE_AUGMENT_H

#include "define/expr.h"

enum { TZ_AUGMENT_TERMS_MAX = 5000 /* of a cell in the frame; its text is written out */ };

/* One step: field' = a*old + b*field + factor*sum(c*field), and old' = field. Nodes; -1: there is
 * no such part. `coefficients` has an entry for each cell of the array, x fastest. */
typedef struct tz_weighted_step {
    int side[TZ_AXES];
    const int *coefficients;
    int field, old;
    int a, b, factor;
} tz_weighted_step;

/* How the cells near clamp and fixed sides differ in an augmented stencil. */
typedef struct tz_augment_frame {
    int steps;                /* that an iteration advances; 0: it is not augmented */
    bool there;               /* it may have such sides */
    bool uneven;              /* mirror sides are not possible */
    int width[TZ_AXES];       /* cells from a side */
    int radius[TZ_AXES];      /* of all steps together */
    int nodes[TZ_FIELDS_MAX]; /* instead of those of the only pass */
    int bounds[1 + TZ_SIDES]; /* is there a frame, then where it ends and begins on each axis */
    int bounds_count;
} tz_augment_frame;

/* The update of definition->coefficients->augment steps: the nodes of the field and of `old`, and
 * the frame. Errors: TZ_TYPE for coefficients that are not the same in all
 * cells and iterations; TZ_RANGE for a radius, or a frame, that is too large; those of expressions
 * in e->status. */
tz_status tz_augment(tz_expr *e, const tz_weighted_step *step, tz_augment_frame *frame, int *nodes,
                     tz_error *error);

/* ---- The frame ------------------------------------------------------------------------------- */

/* A whole number that derive() finds from the sides: tz_expr_node.index of a TZ_EXPR_SIDE. The
 * first: is there a frame? The others, for each side 2*axis + high: where the cells past a clamp
 * side begin, where those past a fixed side do, and where the frame does; past all cells on other
 * sides. */
enum { TZ_SIDE_FRAMED, TZ_SIDE_CLAMP, TZ_SIDE_FIXED, TZ_SIDE_FRAME, TZ_SIDE_KINDS };

/* Such a number; and as C of derive(), or as words for a comment. */
double tz_augment_side(const tz_expr_node *node, const tz_setup *setup);
void tz_augment_side_text(const tz_expr_node *node, bool comment, char *text, size_t size);

#endif
