/* ID.cell.h: the cell updates of a definition, with the macros of their forms. Called by
 * definition.c. */
#include "define/check.h"
#include "define/source.h"
#include <stdlib.h>
#include <string.h>

/* ---- Lists ----------------------------------------------------------------------------------- */

void tz_source_list(tz_buffer *out, tz_buffer *head, tz_buffer *entries)
{
    tz_buffer lines = {0};
    const char *name = head->text ? head->text : "";
    tz_buffer_add_wrapped(&lines, entries->text ? entries->text : "", (int)strlen(name), 4);
    tz_buffer_add(out, "%s", name);
    for (const char *c = lines.text ? lines.text : ""; *c; c++)
        tz_buffer_add(out, *c == '\n' ? " \\%c" : "%c", *c);
    tz_buffer_add(out, "\n");
    out->failed = out->failed || lines.failed || head->failed || entries->failed;
    free(lines.text);
    free(head->text);
    free(entries->text);
}

static void add_fields(const tz_build *build, tz_buffer *out)
{
    const tz_definition *d = build->definition;
    tz_buffer entries = {0}, head = {0};
    tz_buffer_add(&head, "#define TZ_FIELDS(tz_d)");
    for (int f = 0; f < d->fields_count; f++)
        tz_buffer_add(&entries, " tz_d(%s,%c%s)", tz_define_text_name(d, d->fields[f].name).text,
                      TZ_SPACE, tz_type_keyword(d->fields[f].type));
    tz_source_list(out, &head, &entries);
}

static void add_constants(const tz_build *build, const tz_emit *emit, tz_buffer *out)
{
    tz_buffer entries = {0}, head = {0};
    tz_buffer_add(&head, "#define TZ_CONSTANTS(tz_d)");
    for (int k = 0; k < emit->constants_count; k++) {
        const tz_expr_node *n = &emit->e->nodes[emit->constants[k].node];
        tz_buffer_add(&entries, " tz_d(%s,%c%s",
                      tz_define_text_name(build->definition, emit->constants[k].name).text,
                      TZ_SPACE, n->type == TZ_EXPR_REAL ? "real" : "int");
        if (n->kind == TZ_EXPR_SCALAR)
            tz_buffer_add(&entries, ",%cvaries", TZ_SPACE);
        tz_buffer_add(&entries, ")");
    }
    tz_source_list(out, &head, &entries);
}

/* How far fields that are not listed are taken to be read, on each axis. */
static int assumed(const tz_build *build, const tz_built_pass *pass, int field)
{
    const tz_role role = build->definition->fields[field].role;
    return role == TZ_STATE ? pass->radius : tz_build_static_radius(build, field);
}

/* Does a pass read less of the field than is assumed? */
static bool reads_less(const tz_build *build, const tz_built_pass *pass, int field)
{
    const int radius = assumed(build, pass, field);
    bool less = pass->output && !pass->reads[field];
    for (int axis = 0; axis < build->definition->dims; axis++)
        less = less || pass->low[field][axis] > -radius || pass->high[field][axis] < radius;
    return less && build->definition->fields[field].role != TZ_DERIVED;
}

/* Fields of which a pass reads less than is assumed. Of an output, all that it reads. */
static void add_reads(const tz_build *build, tz_buffer *out)
{
    const tz_definition *d = build->definition;
    tz_buffer entries = {0}, head = {0};
    tz_buffer_add(&head, "#define TZ_READS(tz_d)");
    for (int p = 0; p < build->passes_count && !d->raw; p++) {
        const tz_built_pass *pass = &build->passes[p];
        bool any = false;
        for (int f = 0; f < d->fields_count; f++)
            any = any || reads_less(build, pass, f);
        for (int f = 0; f < d->fields_count; f++) {
            if (pass->output ? !any || !pass->reads[f] : !reads_less(build, pass, f))
                continue;
            tz_buffer_add(&entries, " tz_d(%s,%c%s", tz_define_text_name(d, pass->name).text,
                          TZ_SPACE, tz_define_text_name(d, d->fields[f].name).text);
            for (int axis = 0; axis < d->dims; axis++)
                tz_buffer_add(&entries, ",%c%d,%c%d", TZ_SPACE, pass->low[f][axis], TZ_SPACE,
                              pass->high[f][axis]);
            tz_buffer_add(&entries, ")");
        }
    }
    if (entries.text) {
        tz_source_list(out, &head, &entries);
        return;
    }
    out->failed = out->failed || head.failed || entries.failed;
    free(head.text);
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
    tz_buffer text = {0};
    tz_buffer_add(&text, "TZ_PUT(%s,%c", tz_define_text_name(d, d->fields[field].name).text,
                  TZ_SPACE);
    tz_emit_expression(emit, &text, node);
    tz_buffer_add(&text, ");");
    tz_buffer_add(emit->out, "    %*s", emit->indent, "");
    if (text.text)
        tz_buffer_add_wrapped(emit->out, text.text, 4 + emit->indent, 8 + emit->indent);
    tz_buffer_add(emit->out, "\n");
    emit->out->failed = emit->out->failed || text.failed;
    free(text.text);
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
    tz_buffer text = {0};
    tz_buffer_add(&text, "if (");
    tz_emit_expression(emit, &text, bounds[0]);
    tz_buffer_add(&text, "%c==%c2 || (", TZ_SPACE, TZ_SPACE);
    tz_emit_expression(emit, &text, bounds[0]);
    tz_buffer_add(&text, " && (");
    for (int side = 0; side + 1 < build->frame.bounds_count; side++) {
        tz_buffer_add(&text, "%sTZ_%c%c%s%c", side ? " || " : "", "XYZ"[side / 2], TZ_SPACE,
                      side % 2 ? ">=" : "<", TZ_SPACE);
        tz_emit_expression(emit, &text, bounds[1 + side]);
    }
    tz_buffer_add(&text, "))) {");
    tz_buffer_add(out, "    ");
    if (text.text)
        tz_buffer_add_wrapped(out, text.text, 4, 8);
    tz_buffer_add(out, "\n");
    out->failed = out->failed || text.failed;
    free(text.text);
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

void tz_source_doc(const tz_definition *definition, tz_buffer *out)
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
    tz_buffer text = {0};
    tz_buffer_add(&text, "/* ");
    tz_buffer_add_comment(&text, d->id);
    tz_buffer_add(&text, ": ");
    tz_source_doc(d, &text);
    tz_buffer_add(&text, d->raw ? "" : " A name of it is written tz_NAME_ here.");
    for (int k = 0; k < emit->constants_count; k++) {
        const tz_expr_node *n = &emit->e->nodes[emit->constants[k].node];
        if (n->kind == TZ_EXPR_PARAM || n->kind == TZ_EXPR_SCALAR)
            continue;
        tz_buffer_add(&text, " %s = ", emit->constants[k].name);
        tz_emit_host(emit, &text, emit->constants[k].node, true);
        tz_buffer_add(&text, ".");
    }
    tz_buffer_add(&text, " */");
    if (text.text)
        tz_buffer_add_wrapped(out, text.text, 0, 3);
    tz_buffer_add(out, "\n");
    out->failed = out->failed || text.failed;
    free(text.text);
}

void tz_source_cell(const tz_build *build, const tz_form *form, tz_emit *emit, tz_buffer *out)
{
    emit->out = out;
    add_head(build, emit, out);
    add_fields(build, out);
    add_constants(build, emit, out);
    add_reads(build, out);
    if (build->definition->raw) {
        tz_buffer_add(out, "\n%s\n", build->definition->raw);
        return;
    }
    add_helpers(emit, out);
    for (int p = 0; p < build->passes_count; p++) {
        if (form->kind == TZ_FORM_PLAIN)
            tz_buffer_add(out, "\nTZ_CELL(%s)\n",
                          tz_define_text_name(build->definition, build->passes[p].name).text);
        else
            tz_source_form(build, form, emit, out);
        if (form->kind != TZ_FORM_ROWS) /* those are the whole update */
            add_pass(build, emit, &build->passes[p]);
    }
    tz_source_form_end(form, out);
}

/* ---- Forms ----------------------------------------------------------------------------------- */

static const char *sums_name(const tz_form *form)
{
    return form->kind == TZ_FORM_ROWS ? "CELL_ROW" : "CELL_SUM";
}

static const char *list_name(const tz_form *form)
{
    return form->kind == TZ_FORM_ROWS ? "CELL_ROWS" : "CELL_PLANES";
}

/* Completes the line "#define NAME(ARGUMENT)" in `head`, which it frees, with the value of a node.
 * */
static void add_macro(tz_emit *emit, tz_buffer *head, int node, tz_buffer *out)
{
    tz_buffer text = {0};
    tz_emit_pass(emit, &node, 1);
    tz_buffer_add(&text, " (");
    tz_emit_expression(emit, &text, node);
    tz_buffer_add(&text, ")");
    tz_source_list(out, head, &text);
}

/* #define CELL_ROWS(D) D(-1, CELL_ROW1) ... or CELL_PLANES(D) D(CELL_SUM1, real) ... */
static void add_entries(const tz_build *build, const tz_form *form, tz_buffer *out)
{
    tz_buffer head = {0}, text = {0};
    const int radius = build->passes[0].radius;
    tz_buffer_add(&head, "#define %s(D)", list_name(form));
    for (int i = 0; form->kind == TZ_FORM_ROWS && i <= 2 * radius; i++)
        tz_buffer_add(&text, " D(%d,%c%s%d)", i - radius, TZ_SPACE, sums_name(form),
                      form->row_sum[i] + 1);
    for (int k = 0; form->kind == TZ_FORM_PLANES && k < form->sums_count; k++)
        tz_buffer_add(&text, " D(%s%d,%c%s)", sums_name(form), k + 1, TZ_SPACE,
                      build->e.nodes[form->sums[k]].type == TZ_EXPR_REAL ? "real" : "int");
    tz_source_list(out, &head, &text);
}

void tz_source_form(const tz_build *build, const tz_form *form, tz_emit *emit, tz_buffer *out)
{
    const tz_built_pass *pass = &build->passes[0];
    const bool rows = form->kind == TZ_FORM_ROWS;
    const tz_definition *d = build->definition;
    const tz_text_name cell = tz_define_text_name(d, pass->name),
                       field = tz_define_text_name(d, d->fields[pass->fields[0]].name);
    emit->sums_name = sums_name(form);
    tz_buffer_add(out, rows ? "\n/* What a row adds to the cell. */\n"
                            : "\n/* What a plane adds to the cells of several planes. */\n");
    emit->axis = d->dims - 1;
    emit->macro = rows ? "dy" : "dz";
    for (int k = 0; k < form->sums_count; k++) {
        tz_buffer head = {0}; /* CELL_SUM1(dz) */
        tz_buffer_add(&head, "#define %s%d(%s)", emit->sums_name, k + 1, emit->macro);
        add_macro(emit, &head, form->sums[k], out);
    }
    emit->macro = NULL;
    add_entries(build, form, out);
    if (rows && form->result >= 0) {
        tz_buffer_add(out, "\n/* What the sum of all rows makes of the cell. */\n");
        tz_buffer head = {0};
        tz_buffer_add(&head, "#define CELL_RESULT(tz_all)");
        add_macro(emit, &head, form->result, out);
        tz_buffer_add(out, "\nTZ_CELL_ROWS_OF(%s, %s, real, CELL_ROWS, CELL_RESULT)\n", cell.text,
                      field.text);
    } else if (rows)
        tz_buffer_add(out, "\nTZ_CELL_ROWS(%s, %s, real, CELL_ROWS)\n", cell.text, field.text);
    else
        tz_buffer_add(out, "\nTZ_CELL_PLANES(%s, CELL_PLANES)\n", cell.text);
}

void tz_source_form_end(const tz_form *form, tz_buffer *out)
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
