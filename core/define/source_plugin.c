/* ID.c: the tables, derive() and at_step() of a definition. Called by definition.c. */
#include "define/source.h"

#include "define/augment.h"
#include "define/check.h"
#include "stencil/stencil.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Are real numbers in it? */
static bool has_real(const tz_build *build, const tz_emit *emit)
{
    const tz_definition *d = build->definition;
    bool real = false;
    for (int f = 0; f < d->fields_count; f++)
        real = real || tz_type_is_real(d->fields[f].type);
    for (int k = 0; k < emit->constants_count; k++)
        real = real || emit->e->nodes[emit->constants[k].node].type == TZ_EXPR_REAL;
    return real;
}

/* A line, broken where it is too long. Frees the text. */
static void add_wrapped(tz_buffer *out, tz_buffer *text, int column, int indent)
{
    tz_buffer_add(out, "%*s", column, "");
    if (text->text)
        tz_buffer_add_wrapped(out, text->text, column, indent);
    tz_buffer_add(out, "\n");
    out->failed = out->failed || text->failed;
    free(text->text);
}

/* ---- Cell updates ---------------------------------------------------------------------------- */

/* The name of a pass, field or constant in C. */
static void add_name(const tz_build *build, const char *name, tz_buffer *out)
{
    tz_buffer_add(out, "%s", tz_define_text_name(build->definition, name).text);
}

static void add_updates(const tz_build *build, const tz_emit *emit, tz_buffer *out)
{
    for (int p = 0; p < build->passes_count; p++) {
        const tz_built_pass *pass = &build->passes[p];
        tz_buffer_add(out, "#define TZ_CELL_TEXT \"%s.cell.h\"\n#define TZ_CELL_ID ",
                      build->definition->id);
        add_name(build, pass->name, out);
        tz_buffer_add(out,
                      "\n#define TZ_CELL_DIMS %d\n#define TZ_CELL_RADIUS %d\n"
                      "#define TZ_CELL_REAL %d\n",
                      build->definition->dims, pass->radius, has_real(build, emit));
        if (build->frame.there && !pass->output) {
            tz_buffer_add(out, "#define TZ_CELL_FRAME ");
            add_name(build, emit->constants[emit->constant[build->frame.bounds[0]]].name, out);
            tz_buffer_add(out, "\n");
        }
        tz_buffer_add(out, "#include <trapeze/rows.h>\n\n");
    }
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Unit and doc as arguments of a macro, in the line that began at `line` if they fit. */
static void add_unit_and_doc(tz_buffer *out, size_t line, const char *unit, const char *doc)
{
    unit = unit ? unit : "";
    tz_buffer_add(out, ", ");
    tz_buffer_add_literal(out, unit);
    tz_buffer_add(out, out->length - line + strlen(doc) > 90 ? ",\n        " : ", ");
    tz_buffer_add_literal(out, doc);
}

static void add_params(const tz_definition *d, tz_buffer *out)
{
    if (d->params_count == 0)
        return;
    tz_buffer_add(out, "enum {");
    for (int p = 0; p < d->params_count; p++)
        tz_buffer_add(out, "\n    PARAM_%s,", d->params[p].name);
    tz_buffer_add(out, "\n    PARAMS\n};\n\nstatic const tz_param params[PARAMS] = {\n");
    for (int p = 0; p < d->params_count; p++) {
        const tz_defined_param *param = &d->params[p];
        const size_t line = out->length;
        tz_buffer_add(out, "    [PARAM_%s] = %s(\"%s\", ", param->name,
                      param->integer ? "TZ_INTEGER_PARAM" : "TZ_REAL_PARAM", param->name);
        tz_buffer_add_number(out, param->value);
        tz_buffer_add(out, ", ");
        tz_buffer_add_number(out, param->integer ? fmax(param->min, -INT32_MAX) : param->min);
        tz_buffer_add(out, ", ");
        tz_buffer_add_number(out, param->integer ? fmin(param->max, INT32_MAX) : param->max);
        add_unit_and_doc(out, line, param->unit, param->doc ? param->doc : param->name);
        if (param->role != TZ_PARAM_ROLE_NONE) {
            tz_buffer_add(out, ",\n        .role = TZ_PARAM_ROLE_");
            for (const char *c = tz_param_role_name(param->role); *c; c++)
                tz_buffer_add(out, "%c", toupper((unsigned char)*c));
        }
        tz_buffer_add(out, "),\n");
    }
    tz_buffer_add(out, "};\n\n");
}

/* ---- Constants ------------------------------------------------------------------------------- */

static void add_host_helpers(const tz_emit *emit, tz_buffer *out)
{
    if (emit->host_powers)
        tz_buffer_add(out, "static double power(double x, int n)\n{\n    double result = x;\n"
                           "    for (int i = 1; i < n; i++)\n        result *= x;\n"
                           "    return result;\n}\n\n");
    if (emit->host_divides)
        tz_buffer_add(out, "static double floor_over(double a, double b)\n{\n"
                           "    return b == 0.0 ? 0.0 : floor(a / b);\n}\n\n");
    if (emit->host_takes_modulo)
        tz_buffer_add(out, "static double modulo(double a, double b)\n{\n"
                           "    return b == 0.0 ? a : a - b * floor(a / b);\n}\n\n");
    if (emit->host_least)
        tz_buffer_add(out, "static double least(double a, double b)\n{\n"
                           "    return b < a ? b : a;\n}\n\n");
    if (emit->host_greatest)
        tz_buffer_add(out, "static double greatest(double a, double b)\n{\n"
                           "    return a < b ? b : a;\n}\n\n");
}

/* One line: constants[...] = expression; */
static void add_assignment(const tz_build *build, tz_emit *emit, tz_buffer *out, int k, int node)
{
    tz_buffer text = {0};
    tz_buffer_add(&text, "constants[TZ_CONSTANT(");
    add_name(build, build->passes[0].name, &text);
    tz_buffer_add(&text, ",%c", TZ_SPACE);
    add_name(build, emit->constants[k].name, &text);
    tz_buffer_add(&text, ")] = ");
    tz_emit_host(emit, &text, node, false);
    tz_buffer_add(&text, ";");
    add_wrapped(out, &text, 4, 8);
}

/* A constant of type int is a whole number that fits. */
static void add_int_check(const tz_build *build, tz_emit *emit, tz_buffer *out, int k)
{
    tz_buffer text = {0};
    tz_buffer_add(&text, "%s = ", emit->constants[k].name);
    tz_emit_host(emit, &text, emit->constants[k].node, true);
    tz_buffer_add(out, "    const double %s = constants[TZ_CONSTANT(", emit->constants[k].name);
    add_name(build, build->passes[0].name, out);
    tz_buffer_add(out, ", ");
    add_name(build, emit->constants[k].name, out);
    tz_buffer_add(out, ")];\n    if (!(fabs(%s) <= 2147483647.0)) {\n", emit->constants[k].name);
    tz_buffer_add(out, "        snprintf(setup->message, setup->message_size,\n"
                       "                 \"%%s is %%.17g, and must be between -2147483647 and "
                       "2147483647: \"\n                 \"change the parameters\",\n"
                       "                 ");
    if (text.text)
        tz_buffer_add_literal(out, text.text);
    tz_buffer_add(out, ", %s);\n        return TZ_REFUSED;\n    }\n", emit->constants[k].name);
    out->failed = out->failed || text.failed;
    free(text.text);
}

static bool needs_check(const tz_expr_node *n)
{
    return n->type == TZ_EXPR_INT && n->kind != TZ_EXPR_PARAM && n->wraps;
}

/* derive(), if there are constants, and at_step(), if there are scalars among them. */
static void add_functions(const tz_build *build, tz_emit *emit, tz_buffer *out)
{
    const tz_expr_node *nodes = build->e.nodes;
    tz_buffer derive = {0}, at_step = {0}, checks = {0};
    bool derives = false, params = false, scalars_use_params = false;
    for (int k = 0; k < emit->constants_count; k++) {
        const tz_expr_node *n = &nodes[emit->constants[k].node];
        if (n->kind == TZ_EXPR_SCALAR) {
            add_assignment(build, emit, &at_step, k, build->scalars[n->index]);
            scalars_use_params =
                scalars_use_params || tz_build_uses_params(build, build->scalars[n->index]);
            continue;
        }
        add_assignment(build, emit, &derive, k, emit->constants[k].node);
        derives = true;
        params = params || tz_build_uses_params(build, emit->constants[k].node);
        if (needs_check(n))
            add_int_check(build, emit, &checks, k);
    }
    add_host_helpers(emit, out);
    if (build->frame.there)
        tz_augment_host_text(build, out, &checks);
    tz_buffer_add(out, "/* The constants of the cell update, in double; each is rounded once. */\n"
                       "static int derive(tz_setup *setup)\n{\n");
    tz_buffer_add(out, params ? "    const tz_value *p = setup->params;\n" : "");
    tz_buffer_add(out, derives ? "    double *constants = setup->constants;\n"
                               : "    (void)setup; /* all constants vary */\n");
    tz_buffer_add(out, "%s%s    return 0;\n}\n\n", derive.text ? derive.text : "",
                  checks.text ? checks.text : "");
    if (at_step.text) {
        tz_buffer_add(out, "/* The constants that change with the iteration. */\n"
                           "static int at_step(const tz_setup *setup, int64_t step, double "
                           "*constants)\n{\n");
        tz_buffer_add(out, scalars_use_params ? "    const tz_value *p = setup->params;\n"
                                              : "    (void)setup;\n");
        tz_buffer_add(out, "%s%s    return 0;\n}\n\n",
                      strstr(at_step.text, ")step") ? "" : "    (void)step;\n", at_step.text);
    }
    out->failed = out->failed || derive.failed || at_step.failed || checks.failed;
    free(derive.text);
    free(at_step.text);
    free(checks.text);
}

/* ---- Descriptions ---------------------------------------------------------------------------- */

static void add_fields(const tz_build *build, tz_buffer *out)
{
    static const char *const macros[] = {[TZ_STATE] = "TZ_STATE_FIELD",
                                         [TZ_STATIC] = "TZ_STATIC_FIELD",
                                         [TZ_DERIVED] = "TZ_DERIVED_FIELD"};
    const tz_definition *d = build->definition;
    tz_buffer_add(out, "static const tz_field fields[] = {\n");
    for (int f = 0; f < d->fields_count; f++) {
        const tz_defined_field *field = &d->fields[f];
        const int radius = field->role == TZ_STATIC ? tz_build_static_radius(build, f) : 0;
        const size_t line = out->length;
        tz_buffer_add(out, "    %s(\"%s\", %s", macros[field->role], field->name,
                      tz_type_c_name(field->type));
        add_unit_and_doc(out, line, field->unit, field->doc ? field->doc : field->name);
        if (radius)
            tz_buffer_add(out, ", .radius = %d", radius);
        if (field->required && field->role != TZ_DERIVED)
            tz_buffer_add(out, ", .required = 1");
        if (field->initial != 0) {
            tz_buffer_add(out, ", .initial = ");
            tz_buffer_add_number(out, field->initial);
        }
        if (field->boundary_value != 0) {
            tz_buffer_add(out, ", .boundary_value = ");
            tz_buffer_add_number(out, field->boundary_value);
        }
        tz_buffer_add(out, "),\n");
    }
    tz_buffer_add(out, "};\n\n");
}

/* A formula that is the name of another state field: the field only takes over what that was. */
static void add_taken(const tz_build *build, const tz_built_pass *pass, int i, tz_buffer *out)
{
    const tz_definition *d = build->definition;
    const tz_expr_node *n = pass->nodes[i] < 0 ? NULL : &build->e.nodes[pass->nodes[i]];
    if (!n || n->kind != TZ_EXPR_READ || n->index == pass->fields[i] || pass->output ||
        d->fields[n->index].role != TZ_STATE ||
        d->fields[n->index].type != d->fields[pass->fields[i]].type)
        return;
    for (int axis = 0; axis < d->dims; axis++)
        if (n->offset[axis] != 0)
            return;
    tz_buffer_add(out, ",%cTZ_TAKES(", TZ_SPACE);
    add_name(build, pass->name, out);
    tz_buffer_add(out, ",%c", TZ_SPACE);
    add_name(build, d->fields[pass->fields[i]].name, out);
    tz_buffer_add(out, ",%c", TZ_SPACE);
    add_name(build, d->fields[n->index].name, out);
    tz_buffer_add(out, ")");
}

static void add_passes(const tz_build *build, tz_buffer *out, bool outputs)
{
    tz_buffer_add(out, "static const tz_pass %s[] = {\n", outputs ? "outputs" : "passes");
    for (int p = 0; p < build->passes_count; p++) {
        const tz_built_pass *pass = &build->passes[p];
        if (pass->output != outputs)
            continue;
        tz_buffer text = {0};
        tz_buffer_add(&text, "{.name%c=%c\"%s\", .writes%c=%c", TZ_SPACE, TZ_SPACE, pass->name,
                      TZ_SPACE, TZ_SPACE);
        for (int i = 0; i < pass->count; i++) {
            tz_buffer_add(&text, i ? " | TZ_WRITES(" : "TZ_WRITES(");
            add_name(build, pass->name, &text);
            tz_buffer_add(&text, ",%c", TZ_SPACE);
            add_name(build, build->definition->fields[pass->fields[i]].name, &text);
            tz_buffer_add(&text, ")");
        }
        for (int i = 0; i < pass->count; i++)
            add_taken(build, pass, i, &text);
        tz_buffer_add(&text, ", TZ_PASS(");
        add_name(build, pass->name, &text);
        tz_buffer_add(&text, ")},");
        add_wrapped(out, &text, 4, 5);
    }
    tz_buffer_add(out, "};\n\n");
}

static void add_boundaries(const tz_build *build, tz_buffer *out)
{
    const tz_definition *d = build->definition;
    const uint32_t uneven = build->frame.uneven ? tz_boundaries_with(TZ_RULE_REFLECTS) : 0;
    const uint32_t allowed = tz_define_boundaries(d) & ~uneven;
    tz_buffer text = {0};
    for (int b = 0; b < TZ_BOUNDARIES; b++)
        if (allowed & TZ_ALLOW(b))
            tz_buffer_add(&text, text.length ? " | TZ_ALLOW(%s)" : ".boundaries = TZ_ALLOW(%s)",
                          tz_boundary_c_name((tz_boundary)b));
    tz_buffer_add(&text, ",");
    add_wrapped(out, &text, 4, 8);
    tz_buffer_add(out, "    .boundary = %s,\n", tz_boundary_c_name(d->boundary));
}

/* By their names in scenarios, in the order of TZ_CONSTANTS. */
static void add_constants(const tz_build *build, const tz_emit *emit, tz_buffer *out)
{
    tz_buffer_add(out, "static const tz_constant constants[] = {\n");
    for (int k = 0; k < emit->constants_count; k++) {
        const tz_expr_node *n = &build->e.nodes[emit->constants[k].node];
        tz_buffer_add(out, "    {\"%s\", %s, %d},\n", emit->constants[k].name,
                      n->type == TZ_EXPR_REAL ? "TZ_REAL" : "TZ_INT", n->kind == TZ_EXPR_SCALAR);
    }
    tz_buffer_add(out, "};\n\n");
}

static void add_stencil(const tz_build *build, const tz_emit *emit, tz_buffer *out)
{
    const tz_definition *d = build->definition;
    bool varies = false;
    for (int k = 0; k < emit->constants_count; k++)
        varies = varies || build->e.nodes[emit->constants[k].node].kind == TZ_EXPR_SCALAR;
    tz_buffer_add(out,
                  "static const tz_stencil stencil = {\n    TZ_STENCIL_HEADER,\n    .id = \"%s\",\n"
                  "    .doc = ",
                  d->id);
    tz_buffer_add_literal(out, d->doc ? d->doc : "A stencil that a scenario defines");
    tz_buffer_add(out, ",\n    .dims = %d,\n    .fields_count = %d,\n    .fields = fields,\n",
                  d->dims, d->fields_count);
    if (d->params_count)
        tz_buffer_add(out, "    .params_count = PARAMS,\n    .params = params,\n");
    if (emit->constants_count) {
        tz_buffer_add(out, "    .constants_count = TZ_CONSTANTS_COUNT(");
        add_name(build, build->passes[0].name, out);
        tz_buffer_add(out, "),\n    .constants = constants,\n    .derive = derive,\n");
    }
    if (varies)
        tz_buffer_add(out, "    .at_step = at_step,\n");
    tz_buffer_add(out, "    .passes_count = %d,\n    .passes = passes,\n",
                  build->passes_count - d->outputs_count);
    if (d->outputs_count)
        tz_buffer_add(out, "    .outputs_count = %d,\n    .outputs = outputs,\n", d->outputs_count);
    add_boundaries(build, out);
    if (build->frame.steps > 1)
        tz_buffer_add(out, "    .steps = %d,\n", build->frame.steps);
    tz_buffer_add(out, "};\n\nTZ_PLUGIN_DEFINE(\"%s\", \"1.0.0\", ", d->id);
    tz_buffer_add_literal(out, d->doc ? d->doc : "A stencil that a scenario defines");
    tz_buffer_add(out, ", &stencil)\n");
}

void tz_source_plugin(const tz_build *build, tz_emit *emit, tz_buffer *out)
{
    const tz_definition *d = build->definition;
    tz_buffer_add(out, "/* %s: ", d->id);
    tz_source_doc(d, out);
    tz_buffer_add(out,
                  "\n * %s.cell.h has the cell update%s. */\n#include <math.h>\n"
                  "#include <stdio.h>\n\n",
                  d->id, build->passes_count > 1 ? "s" : "");
    add_updates(build, emit, out);
    add_params(d, out);
    if (emit->constants_count)
        add_functions(build, emit, out);
    add_fields(build, out);
    if (emit->constants_count)
        add_constants(build, emit, out);
    add_passes(build, out, false);
    if (d->outputs_count)
        add_passes(build, out, true);
    add_stencil(build, emit, out);
}
