/* A definition with its formulas read: what the text is written from. */
#ifndef TZ_CORE_DEFINE_BUILD_H
#define TZ_CORE_DEFINE_BUILD_H

#include "define/augment.h"
#include "define/share.h"

/* A cell update: a pass, or the formula of a derived field. */
typedef struct tz_built_pass {
    char name[64];
    bool output;
    bool inner; /* of cells that read nothing outside of the domain */
    int count;  /* what it writes */
    int fields[TZ_FIELDS_MAX];
    int nodes[TZ_FIELDS_MAX];        /* -1 with a raw text */
    bool reads[TZ_FIELDS_MAX];       /* which fields it reads, and the offsets */
    int low[TZ_FIELDS_MAX][TZ_AXES]; /* <= 0 */
    int high[TZ_FIELDS_MAX][TZ_AXES];
    int radius; /* the largest of all */
} tz_built_pass;

enum { TZ_BUILT_PASSES_MAX = 2 * TZ_PASSES_MAX + TZ_FIELDS_MAX };

typedef struct tz_build {
    const tz_definition *definition;
    tz_expr e;
    int passes_count; /* then outputs, and inner passes, are among them, after the others */
    int inner_count;
    tz_built_pass passes[TZ_BUILT_PASSES_MAX];
    int scalars[TZ_CONSTANTS_MAX]; /* nodes */
    tz_augment_frame frame;
    /* While a rate is read: its stage, and its field. */
    const tz_defined_pass *method;
    const char *rated;
    /* With temporaries: operations of a cell, if they were fields, and with formulas in their
     * place. */
    tz_operations with_fields, with_formulas;
} tz_build;

/* Check a definition and read its formulas. Errors as those of tz_define_source(). */
tz_status tz_build_begin(tz_build *build, const tz_definition *definition, tz_error *error);
void tz_build_end(tz_build *build);

/* How far a static field is read, by all passes. */
int tz_build_static_radius(const tz_build *build, int field);

#endif
