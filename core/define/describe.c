/* The tables of a defined stencil, and its functions, in memory. Called by source.c, which writes
 * the same tables as text. */
#include "define/describe.h"

#include "define/check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapeze/formulas.h>

/* ---- Texts ----------------------------------------------------------------------------------- */

struct tz_kept_text {
    struct tz_kept_text *next;
    char text[];
};

/* A copy that lives as long as the description. */
static const char *keep(tz_described *s, const char *text)
{
    const size_t size = strlen(text) + 1;
    struct tz_kept_text *kept = malloc(sizeof *kept + size);
    s->failed = s->failed || !kept;
    if (!kept)
        return "";
    memcpy(kept->text, text, size);
    kept->next = s->texts;
    s->texts = kept;
    return kept->text;
}

static const char *keep_name(tz_described *s, const tz_build *build, const char *name)
{
    return keep(s, tz_define_text_name(build->definition, name).text);
}

/* ---- Constants ------------------------------------------------------------------------------- */

/* As tz_expr_value() takes them. */
static void get_numbers(const tz_setup *setup, double *params)
{
    const tz_described *s = setup->engine;
    for (int p = 0; p < s->stencil.params_count; p++)
        params[p] = setup->params[p].number;
    for (int axis = 0; axis < TZ_AXES; axis++)
        params[TZ_PARAMS_MAX + axis] = (double)setup->extent[axis];
}

static int derive(tz_setup *setup)
{
    const tz_described *s = setup->engine;
    double params[TZ_PARAMS_MAX + TZ_AXES];
    get_numbers(setup, params);
    for (int k = 0; k < s->stencil.constants_count; k++) {
        const tz_expr_node *n = &s->e.nodes[s->nodes[k]];
        if (s->constants[k].varies)
            continue;
        setup->constants[k] = n->kind == TZ_EXPR_SIDE
                                  ? tz_augment_side(n, setup)
                                  : tz_expr_value(&s->e, s->nodes[k], params, 0);
    }
    int refused = 0;
    for (int k = 0; k < s->stencil.constants_count && !refused; k++)
        if (s->checked[k])
            refused = tz_formula_check_int(setup, s->checked[k], setup->constants[k]);
    for (int axis = 0; axis < setup->dims && s->frame.there && !refused; axis++)
        refused = tz_frame_check(setup, s->frame.steps, axis, s->frame.radius[axis]);
    return refused;
}

static int at_step(const tz_setup *setup, int64_t step, double *constants)
{
    const tz_described *s = setup->engine;
    double params[TZ_PARAMS_MAX + TZ_AXES];
    get_numbers(setup, params);
    for (int k = 0; k < s->stencil.constants_count; k++)
        if (s->constants[k].varies)
            constants[k] = tz_expr_value(&s->e, s->nodes[k], params, step);
    return 0;
}

static bool needs_check(const tz_expr_node *n)
{
    return n->type == TZ_EXPR_INT && n->kind != TZ_EXPR_PARAM && n->wraps;
}

/* In the order of TZ_CONSTANTS, by their names in scenarios. */
static void add_constants(tz_described *s, const tz_build *build, tz_emit *emit)
{
    for (int k = 0; k < emit->constants_count; k++) {
        const int node = emit->constants[k].node;
        const tz_expr_node *n = &build->e.nodes[node];
        const bool varies = n->kind == TZ_EXPR_SCALAR;
        s->constants[k] = (tz_constant){keep(s, emit->constants[k].name),
                                        n->type == TZ_EXPR_REAL ? TZ_REAL : TZ_INT, varies};
        s->text_constants[k] =
            (tz_entry){keep_name(s, build, emit->constants[k].name), s->constants[k].type};
        s->nodes[k] = varies ? build->scalars[n->index] : node;
        if (varies)
            s->stencil.at_step = at_step;
        if (!needs_check(n))
            continue;
        tz_buffer text = {0};
        tz_buffer_add(&text, "%s = ", emit->constants[k].name);
        tz_emit_host(emit, &text, node, true);
        tz_buffer_wrap(&text);
        s->failed = s->failed || text.failed;
        s->checked[k] = keep(s, text.text ? text.text : "");
        free(text.text);
    }
    s->stencil.constants_count = emit->constants_count;
    s->stencil.constants = s->constants;
    s->stencil.derive = emit->constants_count ? derive : NULL;
}

/* ---- Fields and parameters ------------------------------------------------------------------- */

static void add_fields(tz_described *s, const tz_build *build)
{
    const tz_definition *d = build->definition;
    for (int f = 0; f < d->fields_count; f++) {
        const tz_defined_field *from = &d->fields[f];
        const char *name = keep(s, from->name);
        s->fields[f] = (tz_field){
            .name = name,
            .role = from->role,
            .type = from->type,
            .radius = from->role == TZ_STATIC ? tz_build_static_radius(build, f) : 0,
            .unit = keep(s, from->unit ? from->unit : ""),
            .doc = from->doc ? keep(s, from->doc) : name,
            .required = from->required && from->role != TZ_DERIVED,
            .initial = from->initial,
            .boundary_value = from->boundary_value,
            .excludes = d->domain && strcmp(d->domain, from->name) == 0 ? TZ_EXCLUDES_OUTSIDE : 0};
        s->text_fields[f] = (tz_entry){keep_name(s, build, from->name), from->type};
    }
    s->stencil.fields_count = d->fields_count;
    s->stencil.fields = s->fields;
    for (int p = 0; p < d->params_count; p++) {
        const tz_defined_param *from = &d->params[p];
        const char *name = keep(s, from->name);
        s->params[p] = (tz_param){.name = name,
                                  .type = from->integer ? TZ_PARAM_INTEGER : TZ_PARAM_REAL,
                                  .value = from->value,
                                  .min = from->integer ? fmax(from->min, -INT32_MAX) : from->min,
                                  .max = from->integer ? fmin(from->max, INT32_MAX) : from->max,
                                  .unit = keep(s, from->unit ? from->unit : ""),
                                  .doc = from->doc ? keep(s, from->doc) : name,
                                  .role = from->role};
    }
    s->stencil.params_count = d->params_count;
    s->stencil.params = s->params;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* Does a pass read less of the field than is assumed of fields that are not listed? */
static bool reads_less(const tz_build *build, const tz_built_pass *pass, int field)
{
    const tz_role role = build->definition->fields[field].role;
    const int radius = role == TZ_STATE ? pass->radius : tz_build_static_radius(build, field);
    bool less = pass->output && !pass->reads[field];
    for (int axis = 0; axis < build->definition->dims; axis++)
        less = less || pass->low[field][axis] > -radius || pass->high[field][axis] < radius;
    return less && role != TZ_DERIVED;
}

/* Fields of which a pass reads less than is assumed. Of an output, all that it reads. */
static int add_reads(tz_described *s, const tz_build *build)
{
    const tz_definition *d = build->definition;
    int count = 0;
    for (int p = 0; p < build->passes_count && !d->raw; p++) {
        const tz_built_pass *pass = &build->passes[p];
        bool any = false;
        for (int f = 0; f < d->fields_count; f++)
            any = any || reads_less(build, pass, f);
        for (int f = 0; f < d->fields_count; f++) {
            if (pass->output ? !any || !pass->reads[f] : !reads_less(build, pass, f))
                continue;
            tz_reads *to = &s->reads[count++];
            *to = (tz_reads){.cell = s->passes[p].text_cell, .field = f};
            memcpy(to->low, pass->low[f], sizeof to->low);
            memcpy(to->high, pass->high[f], sizeof to->high);
        }
    }
    return count;
}

/* A formula that is the name of another state field: the field only takes over what that was. The
 * other field; -1: it is no such formula. */
static int taken_by(const tz_build *build, const tz_built_pass *pass, int i)
{
    const tz_definition *d = build->definition;
    const tz_expr_node *n = pass->nodes[i] < 0 ? NULL : &build->e.nodes[pass->nodes[i]];
    if (!n || n->kind != TZ_EXPR_READ || n->index == pass->fields[i] || pass->output ||
        d->fields[n->index].role != TZ_STATE ||
        d->fields[n->index].type != d->fields[pass->fields[i]].type)
        return -1;
    for (int axis = 0; axis < d->dims; axis++)
        if (n->offset[axis] != 0)
            return -1;
    return n->index;
}

static void add_passes(tz_described *s, const tz_build *build, const tz_emit *emit,
                       const int *nodes)
{
    const tz_definition *d = build->definition;
    char file[80];
    s->has_real = tz_stencil_has_real(&s->stencil);
    snprintf(file, sizeof file, "%s.cell.h", d->id);
    const char *text_file = keep(s, file);
    for (int p = 0; p < build->passes_count; p++) {
        const tz_built_pass *from = &build->passes[p];
        tz_pass *to = &s->passes[p];
        *to = (tz_pass){.name = keep(s, from->name),
                        .dims = d->dims,
                        .radius = from->radius,
                        .kernels = tz_program_kernels(s->has_real),
                        .text_file = text_file,
                        .text_cell = keep_name(s, build, from->name),
                        .fields_count = d->fields_count,
                        .fields = s->text_fields,
                        .constants_count = emit->constants_count,
                        .constants = s->text_constants};
        for (int i = 0; i < from->count; i++) {
            const int taken = from->inner ? -1 : taken_by(build, from, i);
            to->writes |= 1u << from->fields[i];
            to->takes[from->fields[i]] = (int8_t)(1 + taken);
        }
        if (d->raw)
            continue;
        to->engine = tz_program_create(build, emit, from, p == 0 ? nodes : from->nodes,
                                       p == 0 && build->frame.there ? build->frame.nodes : NULL);
        s->failed = s->failed || !to->engine;
    }
    s->stencil.passes_count = build->passes_count - d->outputs_count - build->inner_count;
    s->stencil.passes = s->passes;
    s->stencil.outputs_count = d->outputs_count;
    s->stencil.outputs = s->passes + s->stencil.passes_count;
    s->stencil.inner = build->inner_count ? s->stencil.outputs + d->outputs_count : NULL;
    const int reads = add_reads(s, build);
    for (int p = 0; p < build->passes_count; p++) {
        s->passes[p].reads_count = reads;
        s->passes[p].reads = reads ? s->reads : NULL;
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool fill(tz_described *s, const tz_build *build, tz_emit *emit, const int *nodes)
{
    const tz_definition *d = build->definition;
    const uint32_t uneven = build->frame.uneven ? tz_boundaries_with(TZ_RULE_REFLECTS) : 0;
    s->frame = build->frame;
    s->reads = calloc((size_t)(build->passes_count * d->fields_count), sizeof *s->reads);
    s->stencil = (tz_stencil){TZ_STENCIL_HEADER,
                              .id = keep(s, d->id),
                              .doc = keep(s, d->doc ? d->doc : "A stencil that a scenario defines"),
                              .dims = d->dims,
                              .boundaries = tz_define_boundaries(d) & ~uneven,
                              .boundary = d->boundary,
                              .steps = build->frame.steps > 1 ? build->frame.steps : 0,
                              .engine = &s->late};
    s->list[0] = &s->stencil;
    s->plugin = (tz_plugin){TZ_PLUGIN_HEADER,      .id = s->stencil.id, .version = "1.0.0",
                            .doc = s->stencil.doc, .stencils_count = 1, .stencils = s->list};
    add_constants(s, build, emit);
    add_fields(s, build);
    if (s->reads)
        add_passes(s, build, emit, nodes);
    return s->reads && !s->failed;
}

tz_status tz_describe(const tz_build *build, tz_emit *emit, const int *nodes, tz_described **out,
                      tz_error *error)
{
    tz_described *s = calloc(1, sizeof *s);
    *out = s;
    if (s && fill(s, build, emit, nodes))
        return TZ_OK;
    tz_described_destroy(s);
    *out = NULL;
    return tz_error_set(error, TZ_MEMORY, build->definition->id,
                        "not enough memory for the stencil's text");
}

tz_status tz_describe_finish(tz_described *s, const char *cell_text, tz_build *build,
                             tz_error *error)
{
    for (int p = 0; p < TZ_BUILT_PASSES_MAX && s->passes[p].name; p++)
        s->passes[p].text = cell_text;
    s->e = build->e;
    memset(&build->e, 0, sizeof build->e);
    s->late.definition = tz_definition_pack(build->definition, &s->late.definition_bytes);
    return s->late.definition ? TZ_OK
                              : tz_error_set(error, TZ_MEMORY, s->stencil.id,
                                             "not enough memory for the stencil's text");
}

void tz_described_destroy(tz_described *s)
{
    if (!s)
        return;
    for (int p = 0; p < TZ_BUILT_PASSES_MAX; p++)
        tz_program_destroy((tz_program *)(uintptr_t)s->passes[p].engine);
    for (struct tz_kept_text *kept = s->texts, *next; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
    tz_expr_clear(&s->e);
    free(s->reads);
    free(s->late.definition);
    free(s->cell_text);
    free(s->plugin_text);
    free(s);
}
