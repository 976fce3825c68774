/* Holds the lists of a cell text against the stencil's tables. Called by description.c. */
#include "stencil/text_lists.h"

#include "stencil/stencil.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct check {
    const tz_stencil *stencil;
    const tz_pass *pass;
    const char *path;
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
    return tz_error_set(c->error, TZ_PLUGIN, c->path, "stencil '%s', pass '%s': %s", c->stencil->id,
                        c->pass->name, what);
}

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
