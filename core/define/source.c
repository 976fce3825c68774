/* A definition becomes its two files: ID.cell.h with the cell updates, and ID.c with the tables,
 * derive() and at_step(). Called by core/lua and the command line. */
#include "define/source.h"

#include "define/check.h"
#include "define/describe.h"
#include "define/expansion.h"
#include "define/forms.h"
#include "define/share.h"
#include "stencil/stencil.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Forms ----------------------------------------------------------------------------------- */

static const char *sums_name(const tz_form *form)
{
    return form->kind == TZ_FORM_ROWS ? "CELL_ROW" : "CELL_SUM";
}

static const char *list_name(const tz_form *form)
{
    return form->kind == TZ_FORM_ROWS ? "CELL_ROWS" : "CELL_PLANES";
}

/* Completes the line "#define NAME(ARGUMENT)" with the value of a node. */
static void add_macro(tz_emit *emit, int node, tz_buffer *out)
{
    tz_emit_pass(emit, &node, 1);
    tz_buffer_add(out, " (");
    tz_emit_expression(emit, out, node);
    tz_buffer_add(out, ")\n");
}

/* #define CELL_ROWS(D) D(-1, CELL_ROW1) ... or CELL_PLANES(D) D(CELL_SUM1, real) ... */
static void add_entries(const tz_build *build, const tz_form *form, tz_buffer *out)
{
    const int radius = build->passes[0].radius;
    tz_buffer_add(out, "#define %s(D)", list_name(form));
    for (int i = 0; form->kind == TZ_FORM_ROWS && i <= 2 * radius; i++)
        tz_buffer_add(out, " D(%d,%c%s%d)", i - radius, TZ_SPACE, sums_name(form),
                      form->row_sum[i] + 1);
    for (int k = 0; form->kind == TZ_FORM_PLANES && k < form->sums_count; k++)
        tz_buffer_add(out, " D(%s%d,%c%s)", sums_name(form), k + 1, TZ_SPACE,
                      build->e.nodes[form->sums[k]].type == TZ_EXPR_REAL ? "real" : "int");
    tz_buffer_add(out, "\n");
}

/* The macros of a form, and the line or lines with which its update begins. */
static void add_form(const tz_build *build, const tz_described *s, const tz_form *form,
                     tz_emit *emit, tz_buffer *out)
{
    const bool rows = form->kind == TZ_FORM_ROWS;
    const char *cell = s->passes[0].text_cell,
               *field = s->text_fields[build->passes[0].fields[0]].name;
    emit->sums_name = sums_name(form);
    tz_buffer_add(out, rows ? "\n/* What a row adds to the cell. */\n"
                            : "\n/* What a plane adds to the cells of several planes. */\n");
    emit->axis = s->stencil.dims - 1;
    emit->macro = rows ? "dy" : "dz";
    for (int k = 0; k < form->sums_count; k++) { /* CELL_SUM1(dz) */
        tz_buffer_add(out, "#define %s%d(%s)", emit->sums_name, k + 1, emit->macro);
        add_macro(emit, form->sums[k], out);
    }
    emit->macro = NULL;
    add_entries(build, form, out);
    if (rows && form->result >= 0) {
        tz_buffer_add(out, "\n/* What the sum of all rows makes of the cell. */\n"
                           "#define CELL_RESULT(tz_all)");
        add_macro(emit, form->result, out);
        tz_buffer_add(out, "\nTZ_CELL_ROWS_OF(%s, %s, real, CELL_ROWS, CELL_RESULT)\n", cell,
                      field);
    } else if (rows)
        tz_buffer_add(out, "\nTZ_CELL_ROWS(%s, %s, real, CELL_ROWS)\n", cell, field);
    else
        tz_buffer_add(out, "\nTZ_CELL_PLANES(%s, CELL_PLANES)\n", cell);
}

/* What undoes the macros. */
static void add_form_end(const tz_form *form, tz_buffer *out)
{
    if (form->kind == TZ_FORM_PLAIN)
        return;
    tz_buffer_add(out, "\n");
    for (int k = 0; k < form->sums_count; k++)
        tz_buffer_add(out, "#undef %s%d\n", sums_name(form), k + 1);
    if (form->kind == TZ_FORM_ROWS && form->result >= 0)
        tz_buffer_add(out, "#undef CELL_RESULT\n");
    tz_buffer_add(out, "#undef %s\n", list_name(form));
}

/* ---- ID.cell.h ------------------------------------------------------------------------------- */

/* What is in all cell updates: TZ_FIELDS, TZ_CONSTANTS and TZ_READS. */
static void add_lists(const tz_described *s, tz_buffer *out)
{
    const tz_pass *pass = &s->passes[0];
    tz_buffer_add(out, "#define TZ_FIELDS(tz_d)");
    for (int f = 0; f < s->stencil.fields_count; f++)
        tz_buffer_add(out, " tz_d(%s,%c%s)", s->text_fields[f].name, TZ_SPACE,
                      tz_type_keyword(s->fields[f].type));
    tz_buffer_add(out, "\n#define TZ_CONSTANTS(tz_d)");
    for (int k = 0; k < s->stencil.constants_count; k++)
        tz_buffer_add(out, s->constants[k].varies ? " tz_d(%s,%c%s,%cvaries)" : " tz_d(%s,%c%s)",
                      s->text_constants[k].name, TZ_SPACE, tz_type_keyword(s->constants[k].type),
                      TZ_SPACE);
    tz_buffer_add(out, pass->reads_count ? "\n#define TZ_READS(tz_d)" : "");
    for (int i = 0; i < pass->reads_count; i++) {
        const tz_reads *r = &s->reads[i];
        tz_buffer_add(out, " tz_d(%s,%c%s", r->cell, TZ_SPACE, s->text_fields[r->field].name);
        for (int axis = 0; axis < s->stencil.dims; axis++)
            tz_buffer_add(out, ",%c%d,%c%d", TZ_SPACE, r->low[axis], TZ_SPACE, r->high[axis]);
        tz_buffer_add(out, ")");
    }
    tz_buffer_add(out, "\n");
}

/* ---- Helper functions ------------------------------------------------------------------------ */

static void add_helpers(const tz_emit *emit, tz_buffer *out)
{
    if (emit->divides)
        tz_buffer_add(out, "\n/* a / b rounded down; 0 for b = 0. */\n"
                           "TZ_HELPER(int, floor_over, (int a, int b))\n"
                           "{\n"
                           "    if (b == 0)\n"
                           "        return 0;\n"
                           "    if (b == -1)\n"
                           "        return (int)(0u - (tz_word)a);\n"
                           "    return a / b - (a %% b != 0 && (a ^ b) < 0);\n"
                           "}\n");
    if (emit->takes_modulo)
        tz_buffer_add(out, "\n/* a - b * floor(a / b), which has the sign of b; a for b = 0. */\n"
                           "TZ_HELPER(int, modulo, (int a, int b))\n"
                           "{\n"
                           "    if (b == 0)\n"
                           "        return a;\n"
                           "    if (b == -1)\n"
                           "        return 0;\n"
                           "    return a %% b + (a %% b != 0 && (a ^ b) < 0 ? b : 0);\n"
                           "}\n");
    if (emit->cuts)
        tz_buffer_add(out,
                      "\n/* x without its fraction; the nearest int if it is none, 0 for NAN. */\n"
                      "TZ_HELPER(int, whole, (real x))\n"
                      "{\n"
                      "    if (x >= TZ_R(2147483648.0))\n"
                      "        return 2147483647;\n"
                      "    if (x <= TZ_R(-2147483648.0))\n"
                      "        return -2147483647 - 1;\n"
                      "    return x == x ? (int)x : 0;\n"
                      "}\n");
}

/* ---- Updates --------------------------------------------------------------------------------- */

static void add_put(tz_emit *emit, int field, int node)
{
    const tz_definition *d = emit->e->definition;
    tz_buffer_add(emit->out, "    %*sTZ_PUT(%s,%c", emit->indent, "",
                  tz_define_text_name(d, d->fields[field].name).text, TZ_SPACE);
    tz_emit_expression(emit, emit->out, node);
    tz_buffer_add(emit->out, ");\n");
}

/* Does the text of a node read a field that the pass writes before its value number `value`? All
 * such cells must be read before the first one is written. After `left` nodes the answer is yes. */
static bool reads_written(const tz_emit *emit, const tz_built_pass *pass, int value, int node,
                          int *left)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    if (emit->local[node] || emit->constant[node] >= 0)
        return false;
    for (int i = 0; n->kind == TZ_EXPR_READ && i < value; i++)
        if (pass->fields[i] == n->index)
            return true;
    bool found = --*left <= 0;
    for (int i = 0; !found && i < n->count; i++)
        found = reads_written(emit, pass, value, emit->e->operands[n->first + i].node, left);
    return found;
}

/* The values of a pass as statements. */
static void add_values(tz_emit *emit, const tz_built_pass *pass, const int *nodes)
{
    tz_emit_pass(emit, nodes, pass->count);
    for (int i = 0; i < pass->count; i++)
        tz_emit_locals(emit, nodes[i]);
    for (int i = 1; i < pass->count; i++) {
        int left = 1000;
        if (reads_written(emit, pass, i, nodes[i], &left))
            tz_emit_value(emit, nodes[i]);
    }
    for (int i = 0; i < pass->count; i++)
        add_put(emit, pass->fields[i], nodes[i]);
}

/* Is the cell in the frame? The row functions know: the first constant is then 0 or 2. */
static void add_condition(const tz_build *build, tz_emit *emit, tz_buffer *out)
{
    const int *bounds = build->frame.bounds;
    tz_buffer_add(out, "    if%c(", TZ_SPACE);
    tz_emit_expression(emit, out, bounds[0]);
    tz_buffer_add(out, "%c==%c2 || (", TZ_SPACE, TZ_SPACE);
    tz_emit_expression(emit, out, bounds[0]);
    tz_buffer_add(out, " && (");
    for (int side = 0; side + 1 < build->frame.bounds_count; side++) {
        tz_buffer_add(out, "%sTZ_%c%c%s%c", side ? " || " : "", "XYZ"[side / 2], TZ_SPACE,
                      side % 2 ? ">=" : "<", TZ_SPACE);
        tz_emit_expression(emit, out, bounds[1 + side]);
    }
    tz_buffer_add(out, "))) {\n");
}

static void add_pass(const tz_build *build, tz_emit *emit, const tz_built_pass *pass)
{
    const bool framed = build->frame.there && !pass->output;
    tz_buffer_add(emit->out, "{\n");
    if (framed) {
        add_condition(build, emit, emit->out);
        emit->indent = 4;
        add_values(emit, pass, build->frame.nodes);
        tz_buffer_add(emit->out, "    } else {\n");
    }
    add_values(emit, pass, pass->nodes);
    emit->indent = 0;
    tz_buffer_add(emit->out, framed ? "    }\n}\n" : "}\n");
}

/* What the stencil is, as a sentence of a comment. */
static void add_doc(const tz_definition *definition, tz_buffer *out)
{
    const char *doc = definition->doc ? definition->doc : "a stencil that a scenario defines";
    const size_t length = strlen(doc);
    tz_buffer_add_comment(out, doc);
    tz_buffer_add(out, "%s", length > 0 && doc[length - 1] == '.' ? "" : ".");
}

/* What the constants that have no name of their own are. */
static void add_head(const tz_build *build, tz_emit *emit, tz_buffer *out)
{
    const tz_definition *d = build->definition;
    tz_buffer_add(out, "/* ");
    tz_buffer_add_comment(out, d->id);
    tz_buffer_add(out, ": ");
    add_doc(d, out);
    tz_buffer_add(out, d->raw ? "" : " A name of it is written tz_NAME_ here.");
    for (int k = 0; k < emit->constants_count; k++) {
        const tz_expr_node *n = &emit->e->nodes[emit->constants[k].node];
        if (n->kind == TZ_EXPR_PARAM || n->kind == TZ_EXPR_SCALAR)
            continue;
        tz_buffer_add(out, " %s = ", emit->constants[k].name);
        tz_emit_host(emit, out, emit->constants[k].node, true);
        tz_buffer_add(out, ".");
    }
    tz_buffer_add(out, " */\n");
}

/* "2 quotients, 5 others" */
static void add_operations(const tz_operations *o, tz_buffer *out)
{
    const struct {
        int count;
        const char *name;
    } all[] = {{o->quotients, "quotient"},
               {o->roots, "root"},
               {o->functions, "function"},
               {o->others, "other"}};
    bool any = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].count == 0)
            continue;
        tz_buffer_add(out, any ? ",%c" : "", TZ_SPACE);
        tz_buffer_add(out, "%d%c%s%s", all[i].count, TZ_SPACE, all[i].name,
                      all[i].count > 1 ? "s" : "");
        any = true;
    }
}

/* What formulas in place of temporaries cost. `trapeze explain` prints the comment. */
static void add_temporaries(const tz_build *build, tz_buffer *out)
{
    const tz_definition *d = build->definition;
    tz_buffer_add(out, "\n/*%cTemporaries:", TZ_SPACE);
    for (int f = d->fields_count; f < tz_define_fields(d); f++)
        tz_buffer_add(out, "%s%c%s", f > d->fields_count ? "," : "", TZ_SPACE, d->fields[f].name);
    tz_buffer_add(out, ":%c", TZ_SPACE);
    add_operations(&build->with_formulas, out);
    const int count = build->passes_count - d->outputs_count - build->inner_count;
    tz_buffer_add(out, "%ca%ccell%cin%c%d%c%s,%c", TZ_SPACE, TZ_SPACE, TZ_SPACE, TZ_SPACE, count,
                  TZ_SPACE, count > 1 ? "passes" : "pass", TZ_SPACE);
    add_operations(&build->with_fields, out);
    tz_buffer_add(out, "%cin%c%d%c*/\n", TZ_SPACE, TZ_SPACE, d->passes_count, TZ_SPACE);
}

/* What several cells need, once, and the update that is made of it. `trapeze explain` prints the
 * comment. */
static void add_shared(tz_emit *emit, const tz_built_pass *pass, const char *cell, int first,
                       const tz_shared *shared)
{
    tz_buffer *out = emit->out;
    tz_buffer_add(out, "\n#if TZ_SHARES\n/*%cShared:%c%s:%c", TZ_SPACE, TZ_SPACE, pass->name,
                  TZ_SPACE);
    add_operations(&shared->shared, out);
    tz_buffer_add(out, "%ca%ccell", TZ_SPACE, TZ_SPACE);
    if (emit->e->definition->dims == 3)
        tz_buffer_add(out, "%con%cCPUs", TZ_SPACE, TZ_SPACE);
    tz_buffer_add(out, ",%cnot%c", TZ_SPACE, TZ_SPACE);
    add_operations(&shared->as_written, out);
    tz_buffer_add(out, "%c*/\n#define CELL_SHARED%d(D)", TZ_SPACE, first + 1);
    for (int i = 0; i < shared->count; i++) {
        const tz_shared_value *v = &shared->values[i];
        tz_buffer_add(out, " D(%s,%cv%d,%creal,%c%d,%c%d,%c%d,%c%d,%c%u,%c%u)", cell, TZ_SPACE,
                      first + i + 1, TZ_SPACE, TZ_SPACE, v->low[0], TZ_SPACE, v->high[0], TZ_SPACE,
                      v->low[1], TZ_SPACE, v->high[1], TZ_SPACE, v->before, TZ_SPACE, v->after);
    }
    tz_buffer_add(out, "\nTZ_CELL_SHARED(%s, CELL_SHARED%d)\n{\n", cell, first + 1);
    add_values(emit, pass, shared->nodes);
    tz_buffer_add(out, "}\n");
    for (int i = 0; i < shared->count; i++) {
        const int node = shared->values[i].node;
        tz_buffer_add(out, "TZ_SHARED_VALUE(%s, v%d, real)\n{\n", cell, first + i + 1);
        tz_emit_pass(emit, &node, 1);
        tz_emit_locals(emit, node);
        tz_buffer_add(out, "    return ");
        tz_emit_expression(emit, out, node);
        tz_buffer_add(out, ";\n}\n");
    }
    tz_buffer_add(out, "#else");
}

/* ID.cell.h. After tz_emit_begin(). */
static void write_cell(const tz_build *build, const tz_described *described, const tz_form *form,
                       const tz_shared *shared, tz_emit *emit, tz_buffer *out)
{
    int first = 0;
    emit->out = out;
    add_head(build, emit, out);
    add_lists(described, out);
    if (build->definition->raw)
        return;
    add_helpers(emit, out);
    if (build->definition->temporaries_count)
        add_temporaries(build, out);
    for (int p = 0; p < build->passes_count; p++) {
        const char *cell = described->passes[p].text_cell;
        if (shared[p].count > 0)
            add_shared(emit, &build->passes[p], cell, first, &shared[p]);
        if (form->kind == TZ_FORM_PLAIN)
            tz_buffer_add(out, "\nTZ_CELL(%s)\n", cell);
        else
            add_form(build, described, form, emit, out);
        if (form->kind != TZ_FORM_ROWS) /* those are the whole update */
            add_pass(build, emit, &build->passes[p]);
        tz_buffer_add(out, shared[p].count > 0 ? "#endif\n" : "");
        first += shared[p].count;
    }
    add_form_end(form, out);
}

/* ---- ID.c ------------------------------------------------------------------------------------ */

static void add_updates(const tz_build *build, const tz_described *s, const tz_shared *shared,
                        tz_buffer *out)
{
    for (int p = 0; p < build->passes_count; p++) {
        const tz_pass *pass = &s->passes[p];
        tz_buffer_add(
            out,
            "#define TZ_CELL_TEXT \"%s\"\n#define TZ_CELL_ID %s\n#define TZ_CELL_DIMS %d\n"
            "#define TZ_CELL_RADIUS %d\n#define TZ_CELL_REAL %d\n",
            pass->text_file, pass->text_cell, pass->dims, pass->radius, s->has_real);
        if (build->frame.there && !build->passes[p].output)
            tz_buffer_add(out, "#define TZ_CELL_FRAME %s\n", s->text_constants[0].name);
        tz_buffer_add(out, shared[p].count > 0 ? "#define TZ_CELL_SHARES 1\n" : "");
        tz_buffer_add(out, "#include <trapeze/rows.h>\n\n");
    }
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Unit and doc as arguments of a macro. */
static void add_unit_and_doc(tz_buffer *out, const char *unit, const char *doc)
{
    tz_buffer_add(out, ", ");
    tz_buffer_add_literal(out, unit);
    tz_buffer_add(out, ", ");
    tz_buffer_add_literal(out, doc);
}

static void add_params(const tz_described *s, tz_buffer *out)
{
    const int count = s->stencil.params_count;
    if (count == 0)
        return;
    tz_buffer_add(out, "enum {");
    for (int p = 0; p < count; p++)
        tz_buffer_add(out, "\n    PARAM_%s,", s->params[p].name);
    tz_buffer_add(out, "\n    PARAMS\n};\n\nstatic const tz_param params[PARAMS] = {\n");
    for (int p = 0; p < count; p++) {
        const tz_param *param = &s->params[p];
        const bool integer = param->type == TZ_PARAM_INTEGER;
        tz_buffer_add(out, "    [PARAM_%s] = %s(\"%s\", ", param->name,
                      integer ? "TZ_INTEGER_PARAM" : "TZ_REAL_PARAM", param->name);
        tz_buffer_add_number(out, param->value);
        tz_buffer_add(out, ", ");
        tz_buffer_add_number(out, param->min);
        tz_buffer_add(out, ", ");
        tz_buffer_add_number(out, param->max);
        add_unit_and_doc(out, param->unit, param->doc);
        if (param->role != TZ_PARAM_ROLE_NONE) {
            tz_buffer_add(out, ", .role%c=%cTZ_PARAM_ROLE_", TZ_SPACE, TZ_SPACE);
            for (const char *c = tz_param_role_name(param->role); *c; c++)
                tz_buffer_add(out, "%c", toupper((unsigned char)*c));
        }
        tz_buffer_add(out, "),\n");
    }
    tz_buffer_add(out, "};\n\n");
}

/* ---- Constants ------------------------------------------------------------------------------- */

/* What refuses parameters. */
static void add_checks(const tz_described *s, tz_buffer *out)
{
    static const char refused[] = ")\n        return TZ_REFUSED;\n";
    for (int k = 0; k < s->stencil.constants_count; k++) {
        if (!s->checked[k])
            continue;
        tz_buffer_add(out, "    if (tz_formula_check_int(setup, ");
        tz_buffer_add_literal(out, s->checked[k]);
        tz_buffer_add(out, ", constants[TZ_CONSTANT(%s,%c%s)])%s", s->passes[0].text_cell, TZ_SPACE,
                      s->text_constants[k].name, refused);
    }
    for (int axis = 0; axis < s->stencil.dims && s->frame.there; axis++)
        tz_buffer_add(out, "    if (tz_frame_check(setup, %d, %d, %d)%s", s->frame.steps, axis,
                      s->frame.radius[axis], refused);
}

/* derive() or at_step(). */
static void add_function(const tz_described *s, tz_emit *emit, tz_buffer *out, bool varies)
{
    tz_buffer_add(out, varies
                           ? "/* The constants that change with the iteration. */\n"
                             "static int at_step(const tz_setup *setup, int64_t step, double "
                             "*constants)\n{\n    (void)setup, (void)step;\n"
                           : "/* The constants of the cell update, in double; each is rounded "
                             "once. */\nstatic int derive(tz_setup *setup)\n{\n"
                             "    double *constants = setup->constants;\n    (void)constants;\n");
    for (int k = 0; k < s->stencil.constants_count; k++) {
        if (s->constants[k].varies != varies)
            continue;
        tz_buffer_add(out, "    constants[TZ_CONSTANT(%s,%c%s)] = ", s->passes[0].text_cell,
                      TZ_SPACE, s->text_constants[k].name);
        tz_emit_host(emit, out, s->nodes[k], false);
        tz_buffer_add(out, ";\n");
    }
    if (!varies)
        add_checks(s, out);
    tz_buffer_add(out, "    return 0;\n}\n\n");
}

/* ---- Descriptions ---------------------------------------------------------------------------- */

static void add_field_table(const tz_described *s, tz_buffer *out)
{
    static const char *const macros[] = {[TZ_STATE] = "TZ_STATE_FIELD",
                                         [TZ_STATIC] = "TZ_STATIC_FIELD",
                                         [TZ_DERIVED] = "TZ_DERIVED_FIELD"};
    tz_buffer_add(out, "static const tz_field fields[] = {\n");
    for (int f = 0; f < s->stencil.fields_count; f++) {
        const tz_field *field = &s->fields[f];
        tz_buffer_add(out, "    %s(\"%s\", %s", macros[field->role], field->name,
                      tz_type_c_name(field->type));
        add_unit_and_doc(out, field->unit, field->doc);
        if (field->radius)
            tz_buffer_add(out, ", .radius = %d", field->radius);
        if (field->required)
            tz_buffer_add(out, ", .required = 1");
        if (field->excludes)
            tz_buffer_add(out, ", .excludes = TZ_EXCLUDES_OUTSIDE");
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

/* `what`: "passes", "outputs" or "inner". */
static void add_passes(const tz_build *build, const tz_described *s, tz_buffer *out,
                       const char *what)
{
    tz_buffer_add(out, "static const tz_pass %s[] = {\n", what);
    for (int p = 0; p < build->passes_count; p++) {
        const tz_built_pass *from = &build->passes[p];
        const tz_pass *pass = &s->passes[p];
        if (strcmp(what, from->output ? "outputs" : from->inner ? "inner" : "passes") != 0)
            continue;
        tz_buffer_add(out, "    {.name%c=%c\"%s\", .writes%c=%c", TZ_SPACE, TZ_SPACE, pass->name,
                      TZ_SPACE, TZ_SPACE);
        for (int i = 0; i < from->count; i++)
            tz_buffer_add(out, "%sTZ_WRITES(%s,%c%s)", i ? " | " : "", pass->text_cell, TZ_SPACE,
                          s->text_fields[from->fields[i]].name);
        for (int i = 0; i < from->count; i++)
            if (pass->takes[from->fields[i]])
                tz_buffer_add(out, ",%cTZ_TAKES(%s,%c%s,%c%s)", TZ_SPACE, pass->text_cell, TZ_SPACE,
                              s->text_fields[from->fields[i]].name, TZ_SPACE,
                              s->text_fields[pass->takes[from->fields[i]] - 1].name);
        tz_buffer_add(out, ", TZ_PASS(%s)},\n", pass->text_cell);
    }
    tz_buffer_add(out, "};\n\n");
}

static void add_boundaries(const tz_stencil *s, tz_buffer *out)
{
    const char *join = "    .boundaries = ";
    for (int b = 0; b < TZ_BOUNDARIES; b++) {
        if (!(s->boundaries & TZ_ALLOW(b)))
            continue;
        tz_buffer_add(out, "%sTZ_ALLOW(%s)", join, tz_boundary_c_name((tz_boundary)b));
        join = " | ";
    }
    tz_buffer_add(out, ",\n    .boundary = %s,\n", tz_boundary_c_name(s->boundary));
}

static void add_constant_table(const tz_described *s, tz_buffer *out)
{
    tz_buffer_add(out, "static const tz_constant constants[] = {\n");
    for (int k = 0; k < s->stencil.constants_count; k++)
        tz_buffer_add(out, "    {\"%s\", %s, %d},\n", s->constants[k].name,
                      tz_type_c_name(s->constants[k].type), s->constants[k].varies);
    tz_buffer_add(out, "};\n\n");
}

static void add_stencil(const tz_described *described, tz_buffer *out)
{
    const tz_stencil *s = &described->stencil;
    tz_buffer_add(out,
                  "static const tz_stencil stencil = {\n    TZ_STENCIL_HEADER,\n    .id = \"%s\",\n"
                  "    .doc = ",
                  s->id);
    tz_buffer_add_literal(out, s->doc);
    tz_buffer_add(out, ",\n    .dims = %d,\n    .fields_count = %d,\n    .fields = fields,\n",
                  s->dims, s->fields_count);
    if (s->params_count)
        tz_buffer_add(out, "    .params_count = PARAMS,\n    .params = params,\n");
    if (s->constants_count)
        tz_buffer_add(
            out,
            "    .constants_count = TZ_CONSTANTS_COUNT(%s),\n    .constants = constants,\n"
            "    .derive = derive,\n",
            described->passes[0].text_cell);
    if (s->at_step)
        tz_buffer_add(out, "    .at_step = at_step,\n");
    tz_buffer_add(out, "    .passes_count = %d,\n    .passes = passes,\n", s->passes_count);
    if (s->outputs_count)
        tz_buffer_add(out, "    .outputs_count = %d,\n    .outputs = outputs,\n", s->outputs_count);
    tz_buffer_add(out, s->inner ? "    .inner = inner,\n" : "");
    add_boundaries(s, out);
    if (s->steps > 1)
        tz_buffer_add(out, "    .steps = %d,\n", s->steps);
    tz_buffer_add(out, "};\n\nTZ_PLUGIN_DEFINE(\"%s\", \"1.0.0\", ", s->id);
    tz_buffer_add_literal(out, s->doc);
    tz_buffer_add(out, ", &stencil)\n");
}

/* ID.c. After write_cell(). */
static void write_plugin(const tz_build *build, const tz_described *described,
                         const tz_shared *shared, tz_emit *emit, tz_buffer *out)
{
    const tz_definition *d = build->definition;
    tz_buffer_add(out, "/* %s: ", d->id);
    add_doc(d, out);
    tz_buffer_add(out,
                  "\n * %s.cell.h has the cell update%s. */\n#include <trapeze/formulas.h>\n\n",
                  d->id, build->passes_count > 1 ? "s" : "");
    add_updates(build, described, shared, out);
    add_params(described, out);
    if (described->stencil.derive)
        add_function(described, emit, out, false);
    if (described->stencil.at_step)
        add_function(described, emit, out, true);
    add_field_table(described, out);
    if (emit->constants_count)
        add_constant_table(described, out);
    add_passes(build, described, out, "passes");
    if (d->outputs_count)
        add_passes(build, described, out, "outputs");
    if (build->inner_count)
        add_passes(build, described, out, "inner");
    add_stencil(described, out);
}

/* ---- Both ------------------------------------------------------------------------------------ */

void tz_defined_source_clear(tz_defined_source *source)
{
    free(source->cell_text);
    free(source->plugin_text);
    free(source->warning);
    tz_described_destroy(source->described);
    *source = (tz_defined_source){NULL};
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

/* The values that cells of each pass share. Outputs are computed rarely. */
static tz_status find_shared(tz_build *build, tz_shared *shared)
{
    int first = 0;
    for (int p = 0; p < build->passes_count; p++) {
        const tz_built_pass *pass = &build->passes[p];
        shared[p] = (tz_shared){0};
        if (build->frame.there || build->definition->dims < 2 || build->definition->raw ||
            pass->output || build->e.status)
            continue;
        tz_share_find(&build->e, pass->nodes, pass->count, first, &shared[p]);
        first += shared[p].count;
    }
    return build->e.status;
}

static void add_shared_roots(const tz_build *build, const tz_shared *shared, int *roots, int *count)
{
    for (int p = 0; p < build->passes_count; p++) {
        for (int i = 0; i < shared[p].count; i++)
            roots[(*count)++] = shared[p].values[i].node;
        for (int i = 0; i < build->passes[p].count && shared[p].count > 0; i++)
            roots[(*count)++] = shared[p].nodes[i];
    }
}

static tz_status write_source(tz_build *build, tz_emit *emit, tz_defined_source *out,
                              tz_error *error)
{
    enum {
        ROOTS = (2 * TZ_PASSES_MAX + 1) * TZ_FIELDS_MAX + TZ_PARAMS_MAX + TZ_CONSTANTS_MAX +
                TZ_FORM_SUMS_MAX + 1 + TZ_SIDES + 1 + TZ_FIELDS_MAX +
                2 * TZ_PASSES_MAX * (TZ_SHARED_MAX + TZ_FIELDS_MAX)
    };
    int roots[ROOTS], count, nodes[TZ_FIELDS_MAX];
    tz_shared shared[TZ_BUILT_PASSES_MAX];
    tz_buffer cell = {0}, plugin = {0};
    tz_described *described = NULL;
    tz_form form = {0};
    memcpy(nodes, build->passes[0].nodes, sizeof nodes);
    tz_status status = find_shared(build, shared);
    if (!status)
        status = tz_form_find(build, &form);
    if (form.kind == TZ_FORM_ROWS) /* it shares rows */
        shared[0].count = 0;
    if (!status)
        status = find_roots(build, roots, &count);
    for (int k = 0; k < form.sums_count && !status; k++)
        roots[count++] = form.sums[k];
    if (form.kind == TZ_FORM_ROWS && form.result >= 0 && !status)
        roots[count++] = form.result;
    if (!status)
        add_shared_roots(build, shared, roots, &count);
    if (!status)
        status = tz_emit_begin(emit, &build->e, roots, count, error);
    if (!status)
        status = tz_describe(build, emit, nodes, &described, error);
    if (!status) {
        write_cell(build, described, &form, shared, emit, &cell);
        write_plugin(build, described, shared, emit, &plugin);
        tz_buffer_wrap(&cell);
        tz_buffer_wrap(&plugin);
        if (build->definition->raw)
            tz_buffer_add(&cell, "\n%s\n", build->definition->raw);
        if (cell.failed || plugin.failed)
            status = tz_error_set(error, TZ_MEMORY, build->definition->id,
                                  "not enough memory for the stencil's text");
    }
    *out = (tz_defined_source){cell.text, plugin.text, build->e.warning, described};
    build->e.warning = NULL;
    tz_emit_end(emit);
    if (!status)
        status = tz_describe_finish(described, cell.text, build, error);
    if (build->definition->raw) { /* nothing interprets it */
        tz_described_destroy(described);
        out->described = NULL;
    }
    return status;
}

/* Read the parts of 'let' that no formula has, for their mistakes. */
static tz_status check_parts(tz_expr *e, tz_error *error)
{
    const tz_definition *d = e->definition;
    for (int i = 0; i < d->parts_count && !e->status; i++) {
        char where[256];
        tz_syntax syntax;
        if (e->used[i])
            continue;
        snprintf(where, sizeof where, "%s, part '%s' of 'let', which no formula uses", d->id,
                 d->parts[i].name);
        const tz_formula formula = {d->parts[i].formula, where, error};
        const tz_status status = tz_syntax_parse(&syntax, &formula);
        if (status)
            return status;
        tz_expr_expand(e, &syntax, TZ_EXPR_REAL, false);
        tz_syntax_clear(&syntax);
    }
    return e->status;
}

tz_status tz_define_source(const tz_definition *definition, tz_defined_source *out, tz_error *error)
{
    tz_build *build = malloc(sizeof *build);
    tz_emit *emit = calloc(1, sizeof *emit);
    tz_status status = TZ_MEMORY;
    *out = (tz_defined_source){NULL};
    if (!build || !emit) {
        tz_error_set(error, TZ_MEMORY, definition->id, "not enough memory for the stencil's text");
        goto done;
    }
    status = tz_build_begin(build, definition, error);
    if (status)
        goto done;
    status = check_parts(&build->e, error);
    if (!status)
        status = write_source(build, emit, out, error);
    tz_build_end(build);
done:
    if (status)
        tz_defined_source_clear(out);
    free(build);
    free(emit);
    return status;
}
