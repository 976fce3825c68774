/* The description of a stencil, beyond what loading checks (core/stencil/description.c): complete,
 * within its own ranges. */
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

static void check(contract *c, bool holds, const char *what, const char *name)
{
    c->compared++;
    if (!holds)
        contract_fail(c, "%s: %s", name ? name : "(no name)", what);
}

static void check_fields(contract *c)
{
    const tz_stencil *s = c->stencil;
    for (int f = 0; f < s->fields_count; f++) {
        const tz_field *field = &s->fields[f];
        check(c, is_identifier(field->name), "a field's name must be an identifier", field->name);
        check(c, field->doc[0], "the field has no doc", field->name);
        check(c, isfinite(field->initial) && isfinite(field->boundary_value),
              "initial and boundary values must be finite", field->name);
        if (field->role == TZ_STATE)
            check(c, field->radius == 0, "a state field's radius is the pass's: leave it 0",
                  field->name);
        else
            check(c, field->radius <= tz_stencil_radius(s),
                  "the field's radius exceeds that of every pass", field->name);
    }
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
        check(c, param->doc[0], "the parameter has no doc", param->name);
        switch (param->type) {
        case TZ_PARAM_CHOICE:
            check(c, is_choice(param->choices, param->text), "the default is not among the choices",
                  param->name);
            break;
        case TZ_PARAM_TEXT:
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
        check(c, s->methods[m].doc[0], "the method has no doc", s->methods[m].name);
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
#else
    check(c, tz_kernels_rows(pass->kernels, TZ_ISA_BASE, precision), "there are no row functions",
          pass->name);
#endif
}

static void check_passes(contract *c)
{
    const tz_stencil *s = c->stencil;
    uint32_t written = 0;
    for (int p = 0; p < s->passes_count; p++) {
        const tz_pass *pass = &s->passes[p];
        written |= pass->writes;
        check(c, pass->name[0], "the pass has no name", s->id);
        check(c, pass->text[0] && pass->text_file[0], "the pass carries no text of its cell update",
              pass->name);
        for (int precision = TZ_SINGLE; precision < TZ_PRECISIONS; precision++)
            if (pass->kernels->cell[precision])
                check_sets(c, pass, (tz_precision)precision);
    }
    for (int f = 0; f < s->fields_count; f++)
        check(c, s->fields[f].role != TZ_STATE || (written >> f & 1),
              "no pass writes this state field", s->fields[f].name);
}

void contract_descriptor(contract *c)
{
    const tz_stencil *s = c->stencil;
    check(c, is_identifier(s->id), "the stencil's id must be an identifier", s->id);
    check(c, s->doc[0], "the stencil has no doc", s->id);
    check(c, c->plugin->doc[0] && c->plugin->version[0], "the plugin has no doc or version",
          c->plugin->id);
    check(c, (s->boundaries & ~TZ_ALLOW_ALL) == 0, "an unknown boundary is allowed", s->id);
    check_fields(c);
    check_params(c);
    check_passes(c);
}
