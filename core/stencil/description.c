/* What is wrong with a plugin's description. Called once by registry.c. */
#include "stencil/description.h"

#include "stencil/stencil.h"
#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check {
    const tz_stencil *stencil;
    const tz_pass *pass; /* whose text is checked; else NULL */
    const char *path;    /* the plugin's file */
    tz_error *error;
} check;

__attribute__((format(printf, 2, 3))) static tz_status refuse(const check *c, const char *format,
                                                              ...)
{
    char what[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (c->pass)
        return tz_error_set(c->error, TZ_PLUGIN, c->path, "stencil '%s', pass '%s': %s",
                            c->stencil->id, c->pass->name, what);
    return tz_error_set(c->error, TZ_PLUGIN, c->path, "stencil '%s': %s", c->stencil->id, what);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

typedef struct array {
    const char *what;
    int count, least, most; /* elements */
    const void *theirs;
    size_t stride, stride_least;
    size_t size; /* of an element in this engine */
    void **copy; /* out */
} array;

static tz_status copy_array(const check *c, const array *a)
{
    if (a->count < a->least || a->count > a->most)
        return refuse(c, "%d %s; %d to %d are possible", a->count, a->what, a->least, a->most);
    if (a->count > 0 && !a->theirs)
        return refuse(c, "%d %s, but the pointer to them is NULL", a->count, a->what);
    if (a->stride < a->stride_least)
        return refuse(c,
                      "%s_stride is %zu bytes, at least %zu are needed: begin the tz_stencil with "
                      "TZ_STENCIL_HEADER and rebuild",
                      a->what, a->stride, a->stride_least);
    if (a->count == 0)
        return TZ_OK;
    char *to = calloc((size_t)a->count, a->size);
    if (!to)
        return tz_error_set(c->error, TZ_MEMORY, c->path, "not enough memory");
    for (size_t i = 0; i < (size_t)a->count; i++)
        memcpy(to + i * a->size, (const char *)a->theirs + i * a->stride,
               a->stride < a->size ? a->stride : a->size);
    *a->copy = to;
    return TZ_OK;
}

/* Replace the plugin's arrays by copies. */
static tz_status copy_arrays(const check *c, tz_stencil *stencil)
{
    const tz_stencil theirs = *stencil;
    /* Sizes in ABI 2.0 of structs that have grown since. */
    enum { PASS = offsetof(tz_pass, together), FIELD = offsetof(tz_field, excludes) };
#define ARRAY(name, type, size, least, most)                                                       \
    {                                                                                              \
#name, theirs.name##_count, least, most, theirs.name, theirs.name##_stride, size,          \
            sizeof(type), (void **)&stencil->name                                                  \
    }
    const array arrays[] = {
        ARRAY(fields, tz_field, FIELD, 1, TZ_FIELDS_MAX),
        ARRAY(params, tz_param, sizeof(tz_param), 0, TZ_PARAMS_MAX),
        ARRAY(constants, tz_constant, sizeof(tz_constant), 0, TZ_CONSTANTS_MAX),
        ARRAY(passes, tz_pass, PASS, 1, TZ_PASSES_MAX),
        ARRAY(methods, tz_method, sizeof(tz_method), 0, TZ_METHODS_MAX),
        ARRAY(outputs, tz_pass, PASS, 0, TZ_PASSES_MAX),
        {"inner", theirs.inner ? theirs.passes_count : 0, 0, TZ_PASSES_MAX, theirs.inner,
         theirs.passes_stride, PASS, sizeof(tz_pass), (void **)&stencil->inner},
    };
#undef ARRAY
    tz_status status = TZ_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i].copy = NULL;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && !status; i++)
        status = copy_array(c, &arrays[i]);
    return status;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_empty(const char *text)
{
    return !text || !text[0];
}

static tz_status check_field(const check *c, int f)
{
    const tz_stencil *s = c->stencil;
    const tz_field *field = &s->fields[f];
    if (is_empty(field->name) || !field->doc || !field->unit)
        return refuse(c, "field %d lacks a name, unit or doc", f);
    if (tz_stencil_field_index(s, field->name) != f)
        return refuse(c, "two fields are named '%s'", field->name);
    if ((unsigned)field->role > TZ_DERIVED || (unsigned)field->type >= TZ_TYPES)
        return refuse(c, "field '%s' has no role or type that this trapeze knows", field->name);
    if (field->radius < 0 || field->radius > TZ_RADIUS_MAX)
        return refuse(c, "field '%s' has radius %d; 0 to %d are possible", field->name,
                      field->radius, TZ_RADIUS_MAX);
    if (tz_type_is_bits(field->type) != tz_type_is_bits(s->fields[0].type))
        return refuse(c, "bit fields cannot be mixed with others");
    if (field->excludes && (field->role != TZ_STATIC || !tz_type_is_integer(field->type)))
        return refuse(c, "field '%s' excludes cells from the residual: it must be a static int",
                      field->name);
    if (field->excludes && tz_stencil_excluding(s) != f && tz_stencil_domain(s) != f)
        return refuse(c, "two fields exclude cells from the residual: one can");
    if (field->role == TZ_STREAMED &&
        (s->dims != 1 || !tz_type_is_integer(field->type) || field->radius != 0))
        return refuse(c, "a streamed field must be an int of radius 0 in a 1-D stencil");
    return TZ_OK;
}

static tz_status check_param(const check *c, int p)
{
    static const tz_param_type type_of_role[] = {
        [TZ_PARAM_ROLE_RULE] = TZ_PARAM_TEXT,       [TZ_PARAM_ROLE_EXTENT_X_M] = TZ_PARAM_REAL,
        [TZ_PARAM_ROLE_EXTENT_Y_M] = TZ_PARAM_REAL, [TZ_PARAM_ROLE_ALLOW_UNSTABLE] = TZ_PARAM_FLAG,
        [TZ_PARAM_ROLE_TIME_STEP] = TZ_PARAM_REAL,  [TZ_PARAM_ROLE_EXTENT_Z_M] = TZ_PARAM_REAL,
        [TZ_PARAM_ROLE_SPACING] = TZ_PARAM_REAL,    [TZ_PARAM_ROLE_SPACING_X] = TZ_PARAM_REAL,
        [TZ_PARAM_ROLE_SPACING_Y] = TZ_PARAM_REAL,  [TZ_PARAM_ROLE_SPACING_Z] = TZ_PARAM_REAL,
    };
    const tz_stencil *s = c->stencil;
    const tz_param *param = &s->params[p];
    if (is_empty(param->name) || !param->doc || !param->unit)
        return refuse(c, "parameter %d lacks a name, unit or doc", p);
    if (tz_stencil_param_index(s, param->name) != p)
        return refuse(c, "two parameters are named '%s'", param->name);
    if ((unsigned)param->type > TZ_PARAM_CHOICE || (unsigned)param->role > TZ_PARAM_ROLE_SPACING_Z)
        return refuse(c, "parameter '%s' has no type or role that this trapeze knows", param->name);
    if ((param->type == TZ_PARAM_TEXT || param->type == TZ_PARAM_CHOICE) && !param->text)
        return refuse(c, "parameter '%s' is a text and lacks a default", param->name);
    if (param->type == TZ_PARAM_CHOICE && is_empty(param->choices))
        return refuse(c, "parameter '%s' lacks choices", param->name);
    if (param->role == TZ_PARAM_ROLE_NONE)
        return TZ_OK;
    if (param->type != type_of_role[param->role])
        return refuse(c, "parameter '%s' is a %s: with the role %s it must be a %s", param->name,
                      tz_param_type_name(param->type), tz_param_role_name(param->role),
                      tz_param_type_name(type_of_role[param->role]));
    if (tz_stencil_param_of_role(s, param->role) != p)
        return refuse(c, "two parameters have the role %s", tz_param_role_name(param->role));
    return TZ_OK;
}

/* Whether a pass may give a field what another was. */
static bool may_take(const tz_stencil *s, const tz_pass *pass, int field, int other)
{
    return field < s->fields_count && other >= 0 && other < s->fields_count && other != field &&
           (pass->writes >> field & 1) && s->fields[field].role == TZ_STATE &&
           s->fields[other].role == TZ_STATE && s->fields[field].type == s->fields[other].type;
}

/* A pass or an output: `what`, number p, writes fields of `role`. */
static tz_status check_pass(const check *c, const char *what, int p, const tz_pass *pass,
                            tz_role role)
{
    const tz_stencil *s = c->stencil;
    if (pass->radius < 0 || pass->radius > TZ_RADIUS_MAX)
        return refuse(c, "%s %d has radius %d; 0 to %d are possible", what, p, pass->radius,
                      TZ_RADIUS_MAX);
    if (pass->slabs < 0 || pass->slabs == 1 || pass->slabs > TZ_SLABS_IN_PLACE_MAX)
        return refuse(c, "%s %d computes %d slabs at once; 2 to %d are possible", what, p,
                      pass->slabs, TZ_SLABS_IN_PLACE_MAX);
    for (int precision = 0; precision < tz_stencil_precisions(s); precision++)
        if (!pass->kernels || !pass->kernels->cell[precision] ||
            !tz_kernels_rows(pass->kernels, TZ_ISA_BASE, (tz_precision)precision))
            return refuse(c,
                          "%s %d has no %s row function of the form \"base\" or no cell function: "
                          "include <trapeze/rows.h> and use TZ_PASS()",
                          what, p, tz_precision_name((tz_precision)precision));
    if (!pass->text || !pass->text_file || !pass->text_cell || !pass->name)
        return refuse(c, "%s %d lacks a name or text", what, p);
    for (int k = 0; k < s->constants_count; k++)
        if (s->constants[k].varies && strstr(pass->text, "TZ_CELL_ONCE("))
            return refuse(c,
                          "%s %d uses TZ_CELL_ONCE for values that stay, but constant '%s' "
                          "varies: use TZ_CELL",
                          what, p, s->constants[k].name);
    for (int f = 0; f < 32; f++)
        if (pass->writes >> f & 1 && (f >= s->fields_count || s->fields[f].role != role))
            return refuse(c, "%s %d writes %s, which is not a %s field", what, p,
                          f < s->fields_count ? s->fields[f].name : "a field that there is not",
                          tz_role_name(role));
    if (!pass->writes)
        return refuse(c, "%s %d writes nothing", what, p);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        if (pass->takes[f] && !may_take(s, pass, f, pass->takes[f] - 1))
            return refuse(
                c,
                "TZ_TAKES of %s %d has field %d of field %d: both must be state fields of "
                "one type, and the first written",
                what, p, f, pass->takes[f] - 1);
    return tz_text_lists_check(s, pass, c->path, c->error);
}

/* Derived fields come last, and one output computes each. Sets *kept to the number of the others.
 * */
static tz_status check_outputs(const check *c, int *kept)
{
    const tz_stencil *s = c->stencil;
    *kept = s->fields_count;
    while (*kept > 0 && s->fields[*kept - 1].role == TZ_DERIVED)
        (*kept)--;
    for (int f = 0; f < s->fields_count; f++) {
        const tz_field *field = &s->fields[f];
        int outputs = 0;
        for (int p = 0; p < s->outputs_count; p++)
            outputs += s->outputs[p].writes >> f & 1;
        if (field->role == TZ_STREAMED && s->outputs_count > 0)
            return refuse(c,
                          "it has outputs and the streamed field '%s': outputs are computed from "
                          "fields that are kept",
                          field->name);
        if (field->role != TZ_DERIVED)
            continue;
        if (f < *kept)
            return refuse(c,
                          "derived fields come after all others: move '%s' to the end of "
                          "TZ_FIELDS and of the table",
                          field->name);
        if (outputs != 1)
            return refuse(c, "%s computes the derived field '%s': one in tz_stencil.outputs must",
                          outputs == 0 ? "no output" : "more than one output", field->name);
        if (field->required)
            return refuse(c, "the derived field '%s' is required, but nobody can set it",
                          field->name);
    }
    return *kept > 0 ? TZ_OK : refuse(c, "all of its fields are derived");
}

static tz_status check_refinement(const check *c)
{
    const tz_stencil *s = c->stencil;
    const tz_refinement *r = s->refinement;
    if (!r)
        return TZ_OK;
    if (r->solution < 0 || r->solution >= s->fields_count || r->source < 0 ||
        r->source >= s->fields_count || s->fields[r->solution].role != TZ_STATE ||
        s->fields[r->source].role != TZ_STATIC || !tz_type_is_real(s->fields[r->solution].type) ||
        !tz_type_is_real(s->fields[r->source].type))
        return refuse(c, "its refinement needs a state field as the solution and a static field as "
                         "the source, both real");
    for (int k = 0; k < s->constants_count; k++)
        if (s->constants[k].varies)
            return refuse(c,
                          "it has a refinement, which needs the same iteration at every step, but "
                          "constant '%s' varies",
                          s->constants[k].name);
    if (s->passes_count != 1 || s->passes[0].writes != 1u << r->solution)
        return refuse(c, "with a refinement it must have one pass, which writes the solution only");
    if (!s->derive)
        return refuse(c, "it has a refinement, but no derive() that sets source_per_update");
    return TZ_OK;
}

static tz_status check_stencil(const check *c)
{
    const tz_stencil *s = c->stencil;
    if (!s->doc)
        return refuse(c, "it lacks a doc");
    if (s->dims < 1 || s->dims > TZ_AXES)
        return refuse(c, "it has %d dimensions; 1 to %d are possible", s->dims, TZ_AXES);
    if ((unsigned)s->boundary >= TZ_BOUNDARIES || !(s->boundaries & TZ_ALLOW(s->boundary)))
        return refuse(c, "its default boundary is not among those that it allows");
    if (s->steps < 0)
        return refuse(c, "an iteration advances %d steps; at least 1 are possible", s->steps);
    for (int k = 0; k < s->constants_count; k++)
        if (is_empty(s->constants[k].name))
            return refuse(c, "constant %d lacks a name", k);
        else if (!s->constants[k].varies && !s->derive)
            return refuse(c, "it has constants, but no derive() that computes them");
    for (int m = 0; m < s->methods_count; m++)
        if (is_empty(s->methods[m].name) || !s->methods[m].doc || !s->methods[m].call)
            return refuse(c, "method %d lacks a name, doc or function", m);
    tz_status status = TZ_OK;
    for (int f = 0; f < s->fields_count && !status; f++)
        status = check_field(c, f);
    for (int p = 0; p < s->params_count && !status; p++)
        status = check_param(c, p);
    for (int p = 0; p < s->passes_count && !status; p++)
        status = check_pass(c, "pass", p, &s->passes[p], TZ_STATE);
    for (int p = 0; p < s->outputs_count && !status; p++)
        status = check_pass(c, "output", p, &s->outputs[p], TZ_DERIVED);
    for (int p = 0; p < s->passes_count && s->inner && !status; p++) {
        status = check_pass(c, "inner pass", p, &s->inner[p], TZ_STATE);
        if (!status && (tz_stencil_domain(s) < 0 || s->inner[p].writes != s->passes[p].writes ||
                        s->inner[p].radius != s->passes[p].radius))
            status = refuse(c, "inner pass %d needs a domain, and the fields and radius of pass %d",
                            p, p);
    }
    return status ? status : check_refinement(c);
}

tz_status tz_description_take(tz_stencil *out, const tz_stencil *theirs, const char *path,
                              tz_error *error)
{
    const size_t least = offsetof(tz_stencil, check_run); /* the size in ABI 2.0 */
    const check c = {out, NULL, path, error};
    memset(out, 0, sizeof *out);
    if (!theirs || theirs->struct_size < least)
        return tz_error_set(error, TZ_PLUGIN, path,
                            "a stencil's description is %u bytes long, at least %zu are needed: "
                            "begin it with TZ_STENCIL_HEADER, which sets struct_size, and rebuild",
                            theirs ? theirs->struct_size : 0u, least);
    if (is_empty(theirs->id))
        return tz_error_set(error, TZ_PLUGIN, path, "a stencil lacks its id");
    memcpy(out, theirs, theirs->struct_size < sizeof *out ? theirs->struct_size : sizeof *out);
    tz_status status = copy_arrays(&c, out);
    if (!status)
        status = check_stencil(&c);
    int kept = 0;
    if (!status)
        status = check_outputs(&c, &kept);
    if (!status)
        out->fields_count = kept; /* tz_stencil_fields_all() counts the derived ones, too */
    if (status)
        tz_description_clear(out);
    return status;
}

void tz_description_clear(tz_stencil *stencil)
{
    free((void *)stencil->fields);
    free((void *)stencil->params);
    free((void *)stencil->constants);
    free((void *)stencil->passes);
    free((void *)stencil->methods);
    free((void *)stencil->outputs);
    free((void *)stencil->inner);
    memset(stencil, 0, sizeof *stencil);
}

/* ---- What a text says of itself -------------------------------------------------------------- */

/* "u, v, w", cut to the room that there is. */
static void append_name(char *text, size_t size, const char *name)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name ? name : "(no name)");
}

/* One of the two lists. */
typedef struct list {
    bool is_fields;
    const char *macro, *what; /* "TZ_FIELDS" and "field" */
    int count;                /* of the text */
    const tz_entry *entries;
    int wanted; /* of the table */
} list;

static tz_entry table_entry(const check *c, const list *l, int i)
{
    if (l->is_fields)
        return (tz_entry){c->stencil->fields[i].name, c->stencil->fields[i].type};
    return (tz_entry){c->stencil->constants[i].name, c->stencil->constants[i].type};
}

/* Is it `name`, or tz_NAME_? */
static bool is_name_of(const char *in_text, const char *name)
{
    const size_t length = strlen(name);
    return strcmp(in_text, name) == 0 ||
           (strncmp(in_text, "tz_", 3) == 0 && strncmp(in_text + 3, name, length) == 0 &&
            strcmp(in_text + 3 + length, "_") == 0);
}

static tz_status check_list(const check *c, const list *l)
{
    if (l->count > 0 && !l->entries)
        return refuse(c, "it lacks the text's %s: use TZ_PASS()", l->macro);
    if (l->count != l->wanted) {
        char theirs[256] = "", table[256] = "";
        for (int i = 0; i < l->count && i < TZ_CONSTANTS_MAX; i++)
            append_name(theirs, sizeof theirs, l->entries[i].name);
        for (int i = 0; i < l->wanted; i++)
            append_name(table, sizeof table, table_entry(c, l, i).name);
        return refuse(c,
                      "its text lists %d %s%s (%s), the stencil's table has %d (%s): %s lists all "
                      "of them, in the table's order",
                      l->count, l->what, l->count == 1 ? "" : "s", theirs, l->wanted, table,
                      l->macro);
    }
    for (int i = 0; i < l->count; i++) {
        const tz_entry theirs = l->entries[i], table = table_entry(c, l, i);
        if (!theirs.name || !is_name_of(theirs.name, table.name))
            return refuse(c,
                          "%s %d is '%s' in its text and '%s' in the stencil's table: %s lists all "
                          "of them, in the table's order",
                          l->what, i, theirs.name ? theirs.name : "", table.name, l->macro);
        const tz_entry *first =
            l->is_fields ? c->stencil->passes[0].fields : c->stencil->passes[0].constants;
        if (strcmp(theirs.name, first[i].name) != 0)
            return refuse(c,
                          "%s '%s' is '%s' in its text and '%s' in that of the first pass: take "
                          "one name for both",
                          l->what, table.name, theirs.name, first[i].name);
        if (theirs.type != table.type)
            return refuse(c, "%s '%s' is %s in its text and %s in the stencil's table", l->what,
                          table.name,
                          (unsigned)theirs.type >= TZ_TYPES ? "unknown" : tz_type_name(theirs.type),
                          tz_type_name(table.type));
    }
    return TZ_OK;
}

static bool is_word(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

/* Whether the pass's text may have a cell update of that name: the name is a word of the text, or
 * macros from elsewhere may make it. */
static bool may_have_cell(const char *text, const char *defines, const char *cell)
{
    const size_t length = strlen(cell);
    bool found = defines || strstr(text, "##") || strstr(text, "#include");
    for (const char *at = text; length > 0 && !found && (at = strstr(at, cell)); at++)
        found = !is_word(at[length]) && (at == text || !is_word(at[-1]));
    return found;
}

/* Whether `at` in the text is the name of a cell update: an argument that is alone in its
 * parentheses, or the first one of a TZ_CELL form. */
static bool names_cell(const char *text, const char *at, size_t length)
{
    const char *before = at, *after = at + length;
    if (is_word(*after) || (at > text && is_word(at[-1])))
        return false;
    after += strspn(after, " \t\n");
    while (before > text && strchr(" \t\n", before[-1]))
        before--;
    if (before == text || *--before != '(')
        return false;
    while (before > text && is_word(before[-1]))
        before--;
    return *after == ')' || strncmp(before, "TZ_CELL", 7) == 0;
}

/* Whether a cell update of that name is in the pass's text or belongs to another pass. A text that
 * pastes names together may have any. */
static bool has_cell(const check *c, const char *cell)
{
    const tz_stencil *s = c->stencil;
    const char *text = c->pass->text;
    if (c->pass->text_defines || strstr(text, "##"))
        return true;
    for (int p = 0; p < s->passes_count; p++)
        if (s->passes[p].text_cell && strcmp(s->passes[p].text_cell, cell) == 0)
            return true;
    for (int p = 0; p < s->outputs_count; p++)
        if (s->outputs[p].text_cell && strcmp(s->outputs[p].text_cell, cell) == 0)
            return true;
    for (const char *at = text; (at = strstr(at, cell)); at++)
        if (names_cell(text, at, strlen(cell)))
            return true;
    return false;
}

static tz_status check_reads(const check *c, int i)
{
    const tz_reads *r = &c->pass->reads[i];
    if (!r->cell || !*r->cell || r->field < 0 || r->field >= c->stencil->fields_count)
        return refuse(c, "entry %d of its TZ_READS has no cell or field of the text", i);
    if (!has_cell(c, r->cell))
        return refuse(c, "TZ_READS names '%s', and the text has no TZ_CELL(%s)", r->cell, r->cell);
    if (strcmp(r->cell, c->pass->text_cell) != 0)
        return TZ_OK; /* of another cell update of the text */
    const tz_field *field = &c->stencil->fields[r->field];
    for (int axis = 0; axis < TZ_AXES; axis++) {
        if (r->low[axis] > 0 || r->high[axis] < 0)
            return refuse(c,
                          "TZ_READS gives '%s' %d to %d on axis %c: the cell itself must lie "
                          "between, so the first is at most 0 and the second at least 0",
                          field->name, r->low[axis], r->high[axis], "xyz"[axis]);
        /* Row functions get rows or planes up to the pass's radius. */
        const bool by_pass = field->role == TZ_STATE || (axis > 0 && axis == c->stencil->dims - 1 &&
                                                         c->pass->radius <= field->radius);
        const int most = by_pass ? c->pass->radius : field->radius;
        if (-r->low[axis] > most || r->high[axis] > most)
            return refuse(c, "TZ_READS gives '%s' %d to %d on axis %c, beyond %s %d", field->name,
                          r->low[axis], r->high[axis], "xyz"[axis],
                          by_pass ? "TZ_CELL_RADIUS" : "the field's .radius", most);
    }
    for (int k = 0; k < i; k++)
        if (c->pass->reads[k].field == r->field && strcmp(c->pass->reads[k].cell, r->cell) == 0)
            return refuse(c, "TZ_READS lists '%s' of '%s' twice", field->name, r->cell);
    return TZ_OK;
}

tz_status tz_text_lists_check(const tz_stencil *stencil, const tz_pass *pass, const char *path,
                              tz_error *error)
{
    const check c = {stencil, pass, path, error};
    if (pass->dims != stencil->dims)
        return refuse(&c, "its text has %d dimensions (TZ_CELL_DIMS), the stencil has %d",
                      pass->dims, stencil->dims);
    if (!may_have_cell(pass->text, pass->text_defines, pass->text_cell))
        return refuse(&c, "its text has no TZ_CELL(%s), the name in .text_cell: use TZ_PASS()",
                      pass->text_cell);
    tz_status status = check_list(&c, &(list){true, "TZ_FIELDS", "field", pass->fields_count,
                                              pass->fields, stencil->fields_count});
    if (!status)
        status = check_list(&c, &(list){false, "TZ_CONSTANTS", "constant", pass->constants_count,
                                        pass->constants, stencil->constants_count});
    if (!status && pass->reads_count > 0 && !pass->reads)
        status = refuse(&c, "it lacks the text's TZ_READS: use TZ_PASS()");
    for (int i = 0; !status && i < pass->reads_count; i++)
        status = check_reads(&c, i);
    return status;
}

const char *tz_text_field(const tz_stencil *stencil, int field)
{
    const tz_pass *pass = &stencil->passes[0];
    return field < pass->fields_count ? pass->fields[field].name : stencil->fields[field].name;
}

const char *tz_text_constant(const tz_stencil *stencil, int constant)
{
    const tz_pass *pass = &stencil->passes[0];
    return constant < pass->constants_count ? pass->constants[constant].name
                                            : stencil->constants[constant].name;
}
