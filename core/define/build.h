/* A definition with its formulas read: what the text is written from. */
#ifndef TZ_CORE_DEFINE_BUILD_H
#define TZ_CORE_DEFINE_BUILD_H

#include "define/expr.h"

/* A cell update: a pass, or the formula of a derived field. */
typedef struct tz_built_pass {
    char name[64];
    bool output;
    int count; /* what it writes */
    int fields[TZ_FIELDS_MAX];
    int nodes[TZ_FIELDS_MAX];        /* -1 with a raw text */
    bool reads[TZ_FIELDS_MAX];       /* which fields it reads, and the offsets */
    int low[TZ_FIELDS_MAX][TZ_AXES]; /* <= 0 */
    int high[TZ_FIELDS_MAX][TZ_AXES];
    int radius; /* the largest of all */
} tz_built_pass;

/* How the cells near clamp and fixed sides differ in an augmented stencil (define/augment.h). */
typedef struct tz_build_frame {
    int steps;                /* that an iteration advances; 0: it is not augmented */
    bool there;               /* it may have such sides */
    bool uneven;              /* mirror sides are not possible */
    int width[TZ_AXES];       /* cells from a side */
    int radius[TZ_AXES];      /* of all steps together */
    int nodes[TZ_FIELDS_MAX]; /* instead of those of the only pass */
    int bounds[1 + TZ_SIDES]; /* is there a frame, then where it ends and begins on each axis */
    int bounds_count;
} tz_build_frame;

typedef struct tz_build {
    const tz_definition *definition;
    tz_expr e;
    int passes_count; /* outputs among them, after the others */
    tz_built_pass passes[TZ_PASSES_MAX + TZ_FIELDS_MAX];
    int scalars[TZ_CONSTANTS_MAX]; /* nodes */
    tz_build_frame frame;
} tz_build;

/* Check a definition and read its formulas. Errors as those of tz_define_source(). */
tz_status tz_build_begin(tz_build *build, const tz_definition *definition, tz_error *error);
void tz_build_end(tz_build *build);

/* How far a static field is read, by all passes. */
int tz_build_static_radius(const tz_build *build, int field);

/* Does an expression need parameters? */
bool tz_build_uses_params(const tz_build *build, int node);

/* The same for the weighted sum of a definition: writes the only pass (coefficients.c). */
tz_status tz_build_coefficients(tz_build *build, tz_error *error);
/* The sum of coefficients (nodes) times cells of a field: each row first, then rows, then planes.
 * The entry `i` of an array is at this offset. -2: all coefficients are 0. */
int tz_build_sum(tz_build *build, int field, const int *side, const int *coefficients);
void tz_weights_offset(const int *side, int i, int *offset);

/* A formula as an expression of a field's type; -1 after a failure, which *status then is. */
int tz_build_formula(tz_build *build, tz_defined_text text, const char *place, tz_expr_type type,
                     bool scalar, tz_status *status, tz_error *error);

#endif
