/* A definition whose formulas are read: what definition.c makes source of. */
#include "define/build.h"

#include "define/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tz_build_formula(tz_build *build, tz_defined_text text, const char *place, tz_expr_type type,
                     bool scalar, tz_status *status, tz_error *error)
{
    tz_syntax syntax;
    const tz_formula formula = {text, place, error};
    *status = tz_syntax_parse(&syntax, &formula);
    if (*status)
        return -1;
    int node = tz_expr_expand(&build->e, &syntax, type, scalar);
    if (build->definition->group && !scalar)
        node = tz_expr_group(&build->e, node);
    if (build->definition->fused && !scalar)
        node = tz_expr_fuse(&build->e, node);
    *status = build->e.status;
    tz_syntax_clear(&syntax);
    return node;
}

static tz_expr_type type_of(const tz_definition *d, int field)
{
    return tz_expr_type_of(d->fields[field].type);
}

/* ---- Reads ----------------------------------------------------------------------------------- */

static void note_read(tz_built_pass *pass, const tz_expr_node *n)
{
    const int f = n->index;
    pass->reads[f] = true;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const int at = n->offset[axis];
        pass->low[f][axis] = at < pass->low[f][axis] ? at : pass->low[f][axis];
        pass->high[f][axis] = at > pass->high[f][axis] ? at : pass->high[f][axis];
        pass->radius = abs(at) > pass->radius ? abs(at) : pass->radius;
    }
}

static void find_reads(const tz_expr *e, int node, tz_built_pass *pass, bool *seen)
{
    if (seen[node])
        return;
    seen[node] = true;
    const tz_expr_node *n = &e->nodes[node];
    if (n->kind == TZ_EXPR_READ)
        note_read(pass, n);
    for (int i = 0; i < n->count; i++)
        find_reads(e, e->operands[n->first + i].node, pass, seen);
}

static tz_status find_all_reads(tz_build *build, tz_error *error)
{
    bool *seen = malloc((size_t)build->e.count + 1);
    if (!seen)
        return tz_error_set(error, TZ_MEMORY, build->definition->id,
                            "not enough memory for the stencil's text");
    for (int p = 0; p < build->passes_count; p++) {
        memset(seen, 0, (size_t)build->e.count);
        for (int i = 0; i < build->passes[p].count; i++)
            if (build->passes[p].nodes[i] >= 0)
                find_reads(&build->e, build->passes[p].nodes[i], &build->passes[p], seen);
        for (int i = 0; p == 0 && build->frame.there && i < build->passes[p].count; i++)
            find_reads(&build->e, build->frame.nodes[i], &build->passes[p], seen);
    }
    free(seen);
    return TZ_OK;
}

bool tz_build_uses_params(const tz_build *build, int node)
{
    const tz_expr_node *n = &build->e.nodes[node];
    if (n->kind == TZ_EXPR_PARAM)
        return true;
    for (int i = 0; i < n->count; i++)
        if (tz_build_uses_params(build, build->e.operands[n->first + i].node))
            return true;
    return false;
}

int tz_build_static_radius(const tz_build *build, int field)
{
    int radius = 0;
    for (int p = 0; p < build->passes_count; p++) {
        const tz_built_pass *pass = &build->passes[p];
        if (build->definition->raw && pass->radius > radius)
            radius = pass->radius;
        for (int axis = 0; axis < TZ_AXES; axis++) {
            radius = pass->high[field][axis] > radius ? pass->high[field][axis] : radius;
            radius = -pass->low[field][axis] > radius ? -pass->low[field][axis] : radius;
        }
    }
    return radius;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static tz_status add_update(tz_build *build, tz_built_pass *pass, const tz_defined_update *u,
                            const char *what, tz_error *error)
{
    const tz_definition *d = build->definition;
    const int field = tz_define_field(d, u->field);
    char place[256];
    tz_status status = TZ_OK;
    snprintf(place, sizeof place, "%s, %s of '%s'", d->id, what, u->field);
    pass->fields[pass->count] = field;
    pass->nodes[pass->count] = d->raw ? -1
                                      : tz_build_formula(build, u->formula, place,
                                                         type_of(d, field), false, &status, error);
    pass->count++;
    return status;
}

static tz_status add_pass(tz_build *build, int p, tz_error *error)
{
    const tz_defined_pass *from = &build->definition->passes[p];
    tz_built_pass *pass = &build->passes[build->passes_count++];
    unsigned centred[TZ_FIELDS_MAX];
    tz_status status = TZ_OK;
    if (from->name)
        snprintf(pass->name, sizeof pass->name, "%s", from->name);
    else if (p == 0)
        snprintf(pass->name, sizeof pass->name, "update");
    else
        snprintf(pass->name, sizeof pass->name, "update_%d", p + 1);
    pass->radius = build->definition->raw ? from->radius : 0;
    for (int u = 0; u < from->updates_count && !status; u++) {
        build->e.centred = build->e.fields = 0;
        status = add_update(build, pass, &from->updates[u], "update", error);
        centred[u] = build->e.fields >> pass->fields[u] & 1 ? 0 : build->e.centred;
    }
    for (int u = 0; u < from->updates_count && !status; u++)
        build->e.centred_fields[pass->fields[u]] = centred[u];
    return status;
}

static tz_status add_output(tz_build *build, const tz_defined_update *output, tz_error *error)
{
    tz_built_pass *pass = &build->passes[build->passes_count++];
    snprintf(pass->name, sizeof pass->name, "%s", output->field);
    pass->output = true;
    for (int p = 0; build->definition->raw && p < build->definition->passes_count; p++)
        if (build->definition->passes[p].radius > pass->radius)
            pass->radius = build->definition->passes[p].radius;
    return add_update(build, pass, output, "output", error);
}

static tz_status add_scalar(tz_build *build, int s, tz_error *error)
{
    const tz_defined_scalar *scalar = &build->definition->scalars[s];
    char place[256];
    tz_status status = TZ_OK;
    snprintf(place, sizeof place, "%s, scalar '%s'", build->definition->id, scalar->name);
    build->scalars[s] =
        tz_build_formula(build, scalar->formula, place, TZ_EXPR_REAL, true, &status, error);
    return status;
}

static tz_status check_pass_names(const tz_build *build, tz_error *error)
{
    for (int p = 0; p < build->passes_count; p++)
        for (int q = 0; q < p; q++)
            if (strcmp(build->passes[p].name, build->passes[q].name) == 0)
                return tz_error_set(error, TZ_FORMAT, build->definition->id,
                                    "two passes or outputs are named '%s': rename one",
                                    build->passes[p].name);
    return TZ_OK;
}

tz_status tz_build_begin(tz_build *build, const tz_definition *definition, tz_error *error)
{
    memset(build, 0, sizeof *build);
    tz_status status = tz_define_check(definition, error);
    if (status)
        return status;
    build->definition = definition;
    build->e.definition = definition;
    for (int p = 0; p < definition->passes_count && !status; p++)
        status = add_pass(build, p, error);
    if (!status && definition->coefficients)
        status = tz_build_coefficients(build, error);
    for (int o = 0; o < definition->outputs_count && !status; o++)
        status = add_output(build, &definition->outputs[o], error);
    for (int s = 0; s < definition->scalars_count && !status; s++)
        status = add_scalar(build, s, error);
    if (!status)
        status = check_pass_names(build, error);
    if (!status)
        status = find_all_reads(build, error);
    if (status)
        tz_build_end(build);
    return status;
}

void tz_build_end(tz_build *build)
{
    tz_expr_clear(&build->e);
}
