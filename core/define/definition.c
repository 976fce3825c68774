/* A definition becomes its two files. Called by core/lua and the command line. */
#include "define/definition.h"

#include "define/source.h"
#include <stdlib.h>
#include <string.h>

void tz_defined_source_clear(tz_defined_source *source)
{
    free(source->cell_text);
    free(source->plugin_text);
    free(source->warning);
    *source = (tz_defined_source){NULL, NULL, NULL};
}

/* A raw text may use all parameters and scalars. */
static tz_status add_all_constants(tz_build *build, int *roots, int *count)
{
    const tz_definition *d = build->definition;
    for (int p = 0; p < d->params_count; p++)
        roots[(*count)++] =
            tz_expr_intern(&build->e,
                           (tz_expr_node){.kind = TZ_EXPR_PARAM,
                                          .type = d->params[p].integer ? TZ_EXPR_INT : TZ_EXPR_REAL,
                                          .constant = true,
                                          .index = p},
                           NULL, 0);
    for (int s = 0; s < d->scalars_count; s++)
        roots[(*count)++] = tz_expr_intern(
            &build->e, (tz_expr_node){.kind = TZ_EXPR_SCALAR, .type = TZ_EXPR_REAL, .index = s},
            NULL, 0);
    return build->e.status;
}

/* All that the cell updates compute. */
static tz_status find_roots(tz_build *build, int *roots, int *count)
{
    *count = 0;
    if (build->definition->raw)
        return add_all_constants(build, roots, count);
    /* Row functions look for these, one after the other. */
    for (int i = 0; i < build->frame.bounds_count; i++)
        roots[(*count)++] = build->frame.bounds[i];
    for (int i = 0; build->frame.there && i < build->passes[0].count; i++)
        roots[(*count)++] = build->frame.nodes[i];
    for (int p = 0; p < build->passes_count; p++)
        for (int i = 0; i < build->passes[p].count; i++)
            roots[(*count)++] = build->passes[p].nodes[i];
    return TZ_OK;
}

static tz_status write_source(tz_build *build, tz_emit *emit, tz_defined_source *out,
                              tz_error *error)
{
    enum {
        ROOTS = (TZ_PASSES_MAX + 1) * TZ_FIELDS_MAX + TZ_PARAMS_MAX + TZ_CONSTANTS_MAX +
                TZ_FORM_SUMS_MAX + 1 + TZ_SIDES + 1 + TZ_FIELDS_MAX
    };
    int roots[ROOTS], count;
    tz_buffer cell = {0}, plugin = {0};
    tz_form form;
    tz_status status = tz_form_find(build, &form, error);
    if (!status)
        status = find_roots(build, roots, &count);
    for (int k = 0; k < form.sums_count && !status; k++)
        roots[count++] = form.sums[k];
    if (form.kind == TZ_FORM_ROWS && form.result >= 0 && !status)
        roots[count++] = form.result;
    if (!status)
        status = tz_emit_begin(emit, &build->e, roots, count, error);
    if (!status) {
        tz_source_cell(build, &form, emit, &cell);
        tz_source_plugin(build, emit, &plugin);
        if (cell.failed || plugin.failed)
            status = tz_error_set(error, TZ_MEMORY, build->definition->id,
                                  "not enough memory for the stencil's text");
    }
    *out = (tz_defined_source){cell.text, plugin.text, build->e.warning};
    build->e.warning = NULL;
    tz_emit_end(emit);
    return status;
}

tz_status tz_define_source(const tz_definition *definition, tz_defined_source *out, tz_error *error)
{
    tz_build *build = malloc(sizeof *build);
    tz_emit *emit = calloc(1, sizeof *emit);
    tz_status status = TZ_MEMORY;
    *out = (tz_defined_source){NULL, NULL, NULL};
    if (!build || !emit) {
        tz_error_set(error, TZ_MEMORY, definition->id, "not enough memory for the stencil's text");
        goto done;
    }
    status = tz_build_begin(build, definition, error);
    if (status)
        goto done;
    status = write_source(build, emit, out, error);
    tz_build_end(build);
done:
    if (status)
        tz_defined_source_clear(out);
    free(build);
    free(emit);
    return status;
}
