/* The description of a stencil: complete, consistent, within its own ranges. */
#include "contract.h"
#include "stencil/stencil.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_identifier(const char *name)
{
    if (!name || !(isalpha((unsigned char)name[0]) || name[0] == '_'))
        return false;
    for (const char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && *at != '_')
            return false;
    return true;
}

static bool is_text(const char *text)
{
    return text && text[0] != '\0';
}

static void check(contract *c, bool holds, const char *what, const char *name)
{
    c->compared++;
    if (!holds)
        contract_fail(c, "%s: %s", name ? name : "(no name)", what);
}

static void check_fields(contract *c)
{
    const tz_stencil *s = c->stencil;
    int states = 0;
    for (int f = 0; f < s->fields_count; f++) {
        const tz_field *field = &s->fields[f];
        check(c, is_identifier(field->name), "a field's name must be an identifier", field->name);
        check(c, is_text(field->doc), "the field has no doc", field->name);
        check(c, field->unit, "the field's unit is NULL: use \"\"", field->name);
        check(c, isfinite(field->initial) && isfinite(field->boundary_value),
              "initial and boundary values must be finite", field->name);
        states += field->role == TZ_STATE;
        if (field->role == TZ_STATE)
            check(c, field->radius == 0, "a state field's radius is the pass's: leave it 0",
                  field->name);
        else
            check(c, field->radius <= tz_stencil_radius(s),
                  "the field's radius exceeds that of every pass", field->name);
        for (int other = 0; other < f; other++)
            check(c, strcmp(field->name, s->fields[other].name) != 0, "two fields have this name",
                  field->name);
    }
    check(c, states > 0, "no field is a state field", s->id);
    check(c, !s->picture.field || tz_stencil_field_index(s, s->picture.field) >= 0,
          "the default picture shows an unknown field", s->picture.field);
    check(c, !s->picture.field || s->picture.low < s->picture.high,
          "the default picture's range is empty", s->picture.field);
}

/* True if `text` is one of "a|b|c". */
static bool is_choice(const char *choices, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, text, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return true;
    return false;
}

static void check_params(contract *c)
{
    const tz_stencil *s = c->stencil;
    for (int p = 0; p < s->params_count; p++) {
        const tz_param *param = &s->params[p];
        check(c, is_identifier(param->name), "a parameter's name must be an identifier",
              param->name);
        check(c, is_text(param->doc), "the parameter has no doc", param->name);
        check(c, param->unit, "the parameter's unit is NULL: use \"\"", param->name);
        for (int other = 0; other < p; other++)
            check(c, strcmp(param->name, s->params[other].name) != 0,
                  "two parameters have this name", param->name);
        switch (param->type) {
        case TZ_PARAM_CHOICE:
            check(c,
                  is_text(param->choices) && param->text && is_choice(param->choices, param->text),
                  "the default is not among the choices", param->name);
            break;
        case TZ_PARAM_TEXT:
            check(c, param->text, "the default text is NULL: use \"\"", param->name);
            break;
        default:
            check(c, param->min <= param->max, "the range is empty", param->name);
            check(c,
                  isnan(param->value) || (param->value >= param->min && param->value <= param->max),
                  "the default is outside the range", param->name);
            check(c,
                  param->type == TZ_PARAM_REAL || isnan(param->value) ||
                      param->value == trunc(param->value),
                  "the default is not an integer", param->name);
        }
    }
    for (int k = 0; k < s->constants_count; k++)
        check(c, is_identifier(s->constants[k].name), "a constant's name must be an identifier",
              s->constants[k].name);
    for (int m = 0; m < s->methods_count; m++) {
        check(c, is_identifier(s->methods[m].name), "a method's name must be an identifier",
              s->methods[m].name);
        check(c, is_text(s->methods[m].doc) && s->methods[m].call,
              "the method has no doc or function", s->methods[m].name);
    }
}

/* Row functions of all instruction sets, or of one (TZ_ROWS_ONLY of <trapeze/rows.h>). */
static void check_sets(contract *c, const tz_pass *pass, tz_precision precision)
{
#if defined(__x86_64__)
    tz_row_fn *const base = tz_kernels_rows(pass->kernels, TZ_ISA_BASE, precision),
                     *const v3 = tz_kernels_rows(pass->kernels, TZ_ISA_V3, precision),
                     *const v4 = tz_kernels_rows(pass->kernels, TZ_ISA_V4, precision);
    if (pass->kernels->forms_count == 1 || base == v3 || base == v4)
        snprintf(c->note, sizeof c->note, "row functions of one instruction set");
    else
        check(c, v3 && v4, "row functions of better instruction sets are missing", pass->name);
#endif
}

static void check_passes(contract *c)
{
    const tz_stencil *s = c->stencil;
    uint32_t written = 0;
    for (int p = 0; p < s->passes_count; p++) {
        const tz_pass *pass = &s->passes[p];
        written |= pass->writes;
        check(c, is_text(pass->name), "the pass has no name", s->id);
        check(c, is_text(pass->text) && is_text(pass->text_file),
              "the pass carries no text of its cell update", pass->name);
        char mark[128], mark_once[128], mark_planes[128], mark_rows[128], mark_rows_of[128];
        snprintf(mark, sizeof mark, "TZ_CELL(%s)", pass->text_cell);
        snprintf(mark_once, sizeof mark_once, "TZ_CELL_ONCE(%s,", pass->text_cell);
        snprintf(mark_planes, sizeof mark_planes, "TZ_CELL_PLANES(%s,", pass->text_cell);
        snprintf(mark_rows, sizeof mark_rows, "TZ_CELL_ROWS(%s,", pass->text_cell);
        snprintf(mark_rows_of, sizeof mark_rows_of, "TZ_CELL_ROWS_OF(%s,", pass->text_cell);
        /* A text with defines may paste the name together: it cannot be found. */
        check(c,
              strstr(pass->text, mark) || strstr(pass->text, mark_once) ||
                  strstr(pass->text, mark_planes) || strstr(pass->text, mark_rows) ||
                  strstr(pass->text, mark_rows_of) || pass->text_defines,
              "the text does not define the pass's TZ_CELL", pass->text_cell);
        for (int precision = TZ_SINGLE; precision < TZ_PRECISIONS; precision++) {
            if (!pass->kernels->cell[precision])
                continue;
            check(c, tz_kernels_rows(pass->kernels, TZ_ISA_BASE, (tz_precision)precision),
                  "a cell function without a row function", pass->name);
            check_sets(c, pass, (tz_precision)precision);
        }
    }
    for (int f = 0; f < s->fields_count; f++)
        check(c, s->fields[f].role != TZ_STATE || (written >> f & 1),
              "no pass writes this state field", s->fields[f].name);
}

void contract_descriptor(contract *c)
{
    const tz_stencil *s = c->stencil;
    check(c, is_identifier(s->id), "the stencil's id must be an identifier", s->id);
    check(c, is_text(s->doc), "the stencil has no doc", s->id);
    check(c, is_text(c->plugin->doc) && is_text(c->plugin->version),
          "the plugin has no doc or version", c->plugin->id);
    check(c, (s->boundaries & ~TZ_ALLOW_ALL) == 0, "an unknown boundary is allowed", s->id);
    check_fields(c);
    check_params(c);
    check_passes(c);
}
