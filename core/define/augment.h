/* Augmented stencils: one iteration that advances several steps of a weighted sum with constant
 * coefficients. The sum of m steps is one wider sum, with the coefficients convolved m times. Near
 * clamp and fixed sides it is not: the frame, the cells up to (m - 1)*radius from such a side, does
 * m steps one after the other, each with the boundary applied, from the cells around it. */
#ifndef TZ_CORE_DEFINE_AUGMENT_H
#define TZ_CORE_DEFINE_AUGMENT_H

#include "define/buffer.h"
#include "define/build.h"

enum { TZ_AUGMENT_TERMS_MAX = 5000 /* of a cell in the frame; its text is written out */ };

/* One step: field' = a*old + b*field + factor*sum(c*field), and old' = field. Nodes; -1: there is
 * no such part. `coefficients` has an entry for each cell of the array, x fastest. */
typedef struct tz_weighted_step {
    int side[TZ_AXES];
    const int *coefficients;
    int field, old;
    int a, b, factor;
} tz_weighted_step;

/* Write the update of definition->coefficients->augment steps: the pass's nodes, and build->frame.
 * Errors in *status and *error: TZ_TYPE for coefficients that are not the same in all cells and
 * iterations; TZ_RANGE for a radius, or a frame, that is too large; those of expressions in
 * build->e.status. */
tz_status tz_build_augmented(tz_build *build, const tz_weighted_step *step, tz_built_pass *pass,
                             tz_error *error);

/* ---- The frame ------------------------------------------------------------------------------- */

/* A whole number that derive() finds from the sides: tz_expr_node.index of a TZ_EXPR_SIDE. The
 * first: is there a frame? The others, for each side 2*axis + high: where the cells past a clamp
 * side begin, where those past a fixed side do, and where the frame does; past all cells on other
 * sides. */
enum { TZ_SIDE_FRAMED, TZ_SIDE_CLAMP, TZ_SIDE_FIXED, TZ_SIDE_FRAME, TZ_SIDE_KINDS };

/* Such a number as C of derive(), or as words for a comment. */
void tz_augment_side_text(const tz_expr_node *node, bool comment, char *text, size_t size);
/* What derive() needs for these numbers: functions, and its first lines. */
void tz_augment_host_text(const tz_build *build, tz_buffer *functions, tz_buffer *lines);

#endif
