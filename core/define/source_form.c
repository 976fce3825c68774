#include "define/source.h"

#include <stdio.h>
#include <stdlib.h>

/* The stencil's id in capitals, with which the names of macros begin. */
static void capitals(const tz_build *build, char *text, size_t size)
{
    size_t i = 0;
    for (; build->definition->id[i] && i + 1 < size; i++) {
        const char c = build->definition->id[i];
        text[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    text[i] = '\0';
}

static const char *kind_name(const tz_form *form)
{
    return form->kind == TZ_FORM_ROWS ? "ROW" : "SUM";
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

/* #define ID_ROWS(D) D(-1, ID_ROW1) ... or ID_PLANES(D) D(ID_SUM1, real) ... */
static void add_entries(const tz_build *build, const tz_form *form, const char *id, tz_buffer *out)
{
    tz_buffer head = {0}, text = {0};
    const int radius = build->passes[0].radius;
    tz_buffer_add(&head, "#define %s_%sS(D)", id, form->kind == TZ_FORM_ROWS ? "ROW" : "PLANE");
    for (int i = 0; form->kind == TZ_FORM_ROWS && i <= 2 * radius; i++)
        tz_buffer_add(&text, " D(%d,%c%s_ROW%d)", i - radius, TZ_SPACE, id, form->row_sum[i] + 1);
    for (int k = 0; form->kind == TZ_FORM_PLANES && k < form->sums_count; k++)
        tz_buffer_add(&text, " D(%s_SUM%d,%c%s)", id, k + 1, TZ_SPACE,
                      build->e.nodes[form->sums[k]].type == TZ_EXPR_REAL ? "real" : "int");
    tz_source_list(out, &head, &text);
}

void tz_source_form(const tz_build *build, const tz_form *form, tz_emit *emit, tz_buffer *out)
{
    const tz_built_pass *pass = &build->passes[0];
    const bool rows = form->kind == TZ_FORM_ROWS;
    char id[64];
    capitals(build, id, sizeof id);
    snprintf(emit->sums_name, sizeof emit->sums_name, "%s_%s", id, kind_name(form));
    tz_buffer_add(out, rows ? "\n/* What a row adds to the cell. */\n"
                            : "\n/* What a plane adds to the cells of several planes. */\n");
    emit->axis = build->definition->dims - 1;
    emit->macro = rows ? "dy" : "dz";
    for (int k = 0; k < form->sums_count; k++) {
        tz_buffer head = {0}; /* ID_SUM1(dz) */
        tz_buffer_add(&head, "#define %s%d(%s)", emit->sums_name, k + 1, emit->macro);
        add_macro(emit, &head, form->sums[k], out);
    }
    emit->macro = NULL;
    add_entries(build, form, id, out);
    if (rows && form->result >= 0) {
        tz_buffer_add(out, "\n/* What the sum of all rows makes of the cell. */\n");
        tz_buffer head = {0};
        tz_buffer_add(&head, "#define %s_RESULT(tz_all)", id);
        add_macro(emit, &head, form->result, out);
        tz_buffer_add(out, "\nTZ_CELL_ROWS_OF(%s, %s, real, %s_ROWS, %s_RESULT)\n", pass->name,
                      build->definition->fields[pass->fields[0]].name, id, id);
    } else if (rows)
        tz_buffer_add(out, "\nTZ_CELL_ROWS(%s, %s, real, %s_ROWS)\n", pass->name,
                      build->definition->fields[pass->fields[0]].name, id);
    else
        tz_buffer_add(out, "\nTZ_CELL_PLANES(%s, %s_PLANES)\n", pass->name, id);
}

void tz_source_form_end(const tz_build *build, const tz_form *form, tz_buffer *out)
{
    char id[64];
    if (form->kind == TZ_FORM_PLAIN)
        return;
    capitals(build, id, sizeof id);
    tz_buffer_add(out, "\n");
    for (int k = 0; k < form->sums_count; k++)
        tz_buffer_add(out, "#undef %s_%s%d\n", id, kind_name(form), k + 1);
    if (form->kind == TZ_FORM_ROWS && form->result >= 0)
        tz_buffer_add(out, "#undef %s_RESULT\n", id);
    tz_buffer_add(out, "#undef %s_%sS\n", id, form->kind == TZ_FORM_ROWS ? "ROW" : "PLANE");
}
