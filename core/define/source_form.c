#include "define/names.h"
#include "define/source.h"

#include <stdlib.h>

static const char *sums_name(const tz_form *form)
{
    return form->kind == TZ_FORM_ROWS ? "CELL_ROW" : "CELL_SUM";
}

static const char *list_name(const tz_form *form)
{
    return form->kind == TZ_FORM_ROWS ? "CELL_ROWS" : "CELL_PLANES";
}

/* Completes the line "#define NAME(ARGUMENT)" in `head`, which it frees, with the value of a node. */
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
