/* What a definition becomes in memory: a plugin of one stencil, as the compiled source would be,
 * whose functions compute the formulas without a compiler. */
#ifndef TZ_CORE_DEFINE_DESCRIBE_H
#define TZ_CORE_DEFINE_DESCRIBE_H

#include "base/cache.h"
#include "define/program.h"
#include "stencil/registry.h"

typedef struct tz_described {
    tz_late_rows late; /* first: tz_stencil.engine points to it */
    tz_plugin plugin;
    tz_stencil stencil;
    const tz_stencil *list[1];
    tz_field fields[TZ_FIELDS_MAX];
    tz_param params[TZ_PARAMS_MAX];
    tz_constant constants[TZ_CONSTANTS_MAX];
    tz_pass passes[TZ_BUILT_PASSES_MAX]; /* as in tz_build */
    tz_entry text_fields[TZ_FIELDS_MAX], text_constants[TZ_CONSTANTS_MAX];
    tz_reads *reads;
    bool has_real; /* a field or constant */
    /* Of each constant: the node of its value, and how messages call it if it must fit an int, or
     * NULL. */
    int nodes[TZ_CONSTANTS_MAX];
    const char *checked[TZ_CONSTANTS_MAX];
    tz_expr e;
    tz_augment_frame frame;
    struct tz_kept_text *texts;
    bool failed;                   /* no memory for one of them, or for a program */
    char *cell_text, *plugin_text; /* once the registry has it */
    /* Of its compilation: its entry in the cache, and whether that was there. */
    tz_cache_key key;
    bool kept;
} tz_described;

/* Describe a definition whose constants are found. `nodes`: what the first pass computes, before
 * it was rewritten (forms.h). With a raw text there are no functions. Errors: TZ_MEMORY. */
tz_status tz_describe(const tz_build *build, tz_emit *emit, const int *nodes, tz_described **out,
                      tz_error *error);
/* Gives it the text of the cell updates, borrowed; the expressions of `build`, which then has none;
 * and the definition's bytes. Errors: TZ_MEMORY. */
tz_status tz_describe_finish(tz_described *described, const char *cell_text, tz_build *build,
                             tz_error *error);
/* NULL is fine. */
void tz_described_destroy(tz_described *described);

#endif
