/* Boundary kinds: the table of <trapeze/types.h>, and what the engine asks of a kind. Nothing else
 * asks which kind it is. */
#ifndef TZ_CORE_STENCIL_BOUNDARY_H
#define TZ_CORE_STENCIL_BOUNDARY_H

#include <stdbool.h>
#include <stdint.h>
#include <trapeze/types.h>

/* How a coordinate outside is treated. */
typedef enum tz_boundary_rule {
    TZ_RULE_REPEATS, /* as the nearest one inside */
    /* modulo the extent: cells outside are computed as those that they repeat. Both sides of an
     * axis, or none */
    TZ_RULE_WRAPS,
    TZ_RULE_HAS_VALUE, /* it is none: the side has a value */
    TZ_RULE_REFLECTS   /* as the one as far inside: reads to one side reach to the other one */
} tz_boundary_rule;

static inline tz_boundary_rule tz_boundary_rule_of(tz_boundary boundary)
{
#define TZ__BOUNDARY_RULE(kind, rule, name, doc) TZ_RULE_##rule,
    static const unsigned char rules[] = {TZ_BOUNDARY_TABLE(TZ__BOUNDARY_RULE)};
#undef TZ__BOUNDARY_RULE
    return (tz_boundary_rule)rules[boundary];
}

/* The sides at which a grid is cut into slabs: nobody reads past them. */
#define TZ_BOUNDARY_CUT TZ_CLAMP

static inline bool tz_boundary_repeats(tz_boundary boundary)
{
    return tz_boundary_rule_of(boundary) == TZ_RULE_REPEATS;
}

static inline bool tz_boundary_wraps(tz_boundary boundary)
{
    return tz_boundary_rule_of(boundary) == TZ_RULE_WRAPS;
}

static inline bool tz_boundary_has_value(tz_boundary boundary)
{
    return tz_boundary_rule_of(boundary) == TZ_RULE_HAS_VALUE;
}

static inline bool tz_boundary_reflects(tz_boundary boundary)
{
    return tz_boundary_rule_of(boundary) == TZ_RULE_REFLECTS;
}

/* TZ_ALLOW() of each kind with the rule. */
uint32_t tz_boundaries_with(tz_boundary_rule rule);

/* "clamp", and "TZ_CLAMP". */
const char *tz_boundary_name(tz_boundary boundary);
const char *tz_boundary_c_name(tz_boundary boundary);
/* The boundary of that name, or -1. */
int tz_boundary_find(const char *name);
/* Write "clamp", or "clamp:fixed" if the sides differ, low side first. Returns `text`. */
enum { TZ_BOUNDARY_TEXT_SIZE = 24 };
const char *tz_boundary_text(const tz_boundary sides[2], char text[TZ_BOUNDARY_TEXT_SIZE]);

/* The definition: the index in [0, extent) of the cell that a read at any coordinate of an axis
 * gets. -1 or -2: the value past the low or the high side. A mirror reflects the coordinate in its
 * edge cell, which may take it past the other side, whose rule then applies. On an axis of one cell
 * between two mirrors that cell is read. The kernels have functions of their own
 * (kernels/cpu/finish.c, kernels/cuda/common.cuh), which are tested against the reference backend,
 * which uses this one. */
int64_t tz_boundary_map(const tz_boundary sides[2], int64_t coordinate, int64_t extent);

/* The same on an axis that wraps. */
static inline int64_t tz_boundary_wrap(int64_t coordinate, int64_t extent)
{
    return (coordinate % extent + extent) % extent;
}

/* ---- What each kind means for whoever chooses one -------------------------------------------- */

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
