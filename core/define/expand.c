/* From the syntax of a formula to a typed expression: names, offsets, types, functions. Called by
 * build.c and scalar.c. */
#include "define/expansion.h"

#include "base/names.h"
#include "define/check.h"
#include "define/differences.h"
#include "define/temporaries.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table of functions ------------------------------------------------------------------ */

enum { ONE = TZ_NO_AXIS, X = 0, Y = 1, Z = 2 };
#define AXES(first, second) (10 * (first) + (second))

#define USAGE_1 "(a)"
#define USAGE_2 "(a, b)"
#define USAGE_3 "(a, b, c)"
#define PLAIN_ROW(with, name, operands, cell, host)                                                \
    {#name, TZ_FAMILY_PLAIN, TZ_FUNCTION_##name, operands, operands, #name USAGE_##operands},

static const tz_known_function functions[] = {
    TZ_REAL_FUNCTION_TABLE(PLAIN_ROW, ){"abs", TZ_FAMILY_MAGNITUDE, TZ_FUNCTION_abs, 1, 1,
                                        "abs(a)"},
    {"div", TZ_FAMILY_DIVERGENCE, 0, 2, 2,
     "div(k, u), the divergence of k times the gradient of u"},
    {"dx", TZ_FAMILY_DERIVATIVE, AXES(X, ONE), 1, 2, "dx(u), or dx(u, 4) for order 4"},
    {"dxm", TZ_FAMILY_STAGGERED, AXES(X, 1), 1, 2, "dxm(u), or dxm(u, 4) for order 4"},
    {"dxp", TZ_FAMILY_STAGGERED, AXES(X, 0), 1, 2, "dxp(u), or dxp(u, 4) for order 4"},
    {"dxx", TZ_FAMILY_DERIVATIVE, AXES(X, X), 1, 2, "dxx(u), or dxx(u, 4) for order 4"},
    {"dxy", TZ_FAMILY_DERIVATIVE, AXES(X, Y), 1, 2, "dxy(u), or dxy(u, 4) for order 4"},
    {"dxz", TZ_FAMILY_DERIVATIVE, AXES(X, Z), 1, 2, "dxz(u), or dxz(u, 4) for order 4"},
    {"dy", TZ_FAMILY_DERIVATIVE, AXES(Y, ONE), 1, 2, "dy(u), or dy(u, 4) for order 4"},
    {"dym", TZ_FAMILY_STAGGERED, AXES(Y, 1), 1, 2, "dym(u), or dym(u, 4) for order 4"},
    {"dyp", TZ_FAMILY_STAGGERED, AXES(Y, 0), 1, 2, "dyp(u), or dyp(u, 4) for order 4"},
    {"dyy", TZ_FAMILY_DERIVATIVE, AXES(Y, Y), 1, 2, "dyy(u), or dyy(u, 4) for order 4"},
    {"dyz", TZ_FAMILY_DERIVATIVE, AXES(Y, Z), 1, 2, "dyz(u), or dyz(u, 4) for order 4"},
    {"dz", TZ_FAMILY_DERIVATIVE, AXES(Z, ONE), 1, 2, "dz(u), or dz(u, 4) for order 4"},
    {"dzm", TZ_FAMILY_STAGGERED, AXES(Z, 1), 1, 2, "dzm(u), or dzm(u, 4) for order 4"},
    {"dzp", TZ_FAMILY_STAGGERED, AXES(Z, 0), 1, 2, "dzp(u), or dzp(u, 4) for order 4"},
    {"dzz", TZ_FAMILY_DERIVATIVE, AXES(Z, Z), 1, 2, "dzz(u), or dzz(u, 4) for order 4"},
    {"int", TZ_FAMILY_TO_INT, TZ_FUNCTION_int, 1, 1, "int(a)"},
    {"lap", TZ_FAMILY_LAPLACIAN, 0, 1, 2, "lap(u), or lap(u, 4) for order 4"},
    {"max", TZ_FAMILY_EXTREME, TZ_FUNCTION_max, 2, 64, "max(a, b, ...)"},
    {"min", TZ_FAMILY_EXTREME, TZ_FUNCTION_min, 2, 64, "min(a, b, ...)"},
    {"normal", TZ_FAMILY_NOISE, true, 1, 1, "normal(stream), as normal(1)"},
    {"random", TZ_FAMILY_NOISE, false, 1, 1, "random(stream), as random(1)"},
    {"select", TZ_FAMILY_SELECT, 0, 3, 3, "select(condition, a, b)"},
    {"sign", TZ_FAMILY_SIGN, 0, 1, 1, "sign(a)"},
    {"sum", TZ_FAMILY_SUM, 0, 4, 4, "sum(i, -2, 2, u[i])"},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const tz_known_function *find_function(const tz_expansion *x, const tz_syntax_node *n)
{
    char name[16];
    tz_syntax_name(x->syntax, n, name, sizeof name);
    for (int i = 0; i < FUNCTIONS && n->length < (int)sizeof name; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

static bool is_function(const tz_expansion *x, const tz_syntax_node *n)
{
    return find_function(x, n) != NULL;
}

static int unknown_function(tz_expansion *x, const tz_syntax_node *n)
{
    const tz_definition *d = x->e->definition;
    char name[80], hint[400];
    tz_syntax_name(x->syntax, n, name, sizeof name);
    for (int f = 0; f < tz_define_fields(d); f++)
        if (strcmp(d->fields[f].name, name) == 0)
            return tz_expr_fail(
                x->e, TZ_TYPE,
                "'%s' is a field and no function: write %s[...] for a neighbour, and "
                "a * to multiply",
                name, name);
    for (int p = 0; p < d->params_count; p++)
        if (strcmp(d->params[p].name, name) == 0)
            return tz_expr_fail(x->e, TZ_TYPE,
                                "'%s' is a parameter and no function: write a * to multiply", name);
    if (tz_expand_elsewhere(x->e, name))
        return -1;
    return tz_expr_fail(x->e, TZ_UNKNOWN, "unknown function '%s'%s", name,
                        TZ_NAMES_HINT(hint, name, functions, FUNCTIONS));
}

/* ---- Words ----------------------------------------------------------------------------------- */

static bool is_name(const tz_expansion *x, const tz_syntax_node *n, const char *name)
{
    return strlen(name) == (size_t)n->length &&
           memcmp(x->syntax->formula.text.text + n->at, name, (size_t)n->length) == 0;
}

static const char *const own_names[] = {"pi", "step", "x", "y", "z"};
enum { OWN_NAMES = sizeof own_names / sizeof *own_names };

static int find_param(const tz_definition *d, const char *name, const char *doc)
{
    for (int p = 0; p < d->params_count; p++)
        if (strcmp(d->params[p].name, name) == 0 && d->params[p].doc &&
            strcmp(d->params[p].doc, doc) == 0)
            return p;
    return -1;
}

/* An error about a name that is not known, with the nearest one that is. */
static int unknown_name(tz_expansion *x, const tz_syntax_node *n)
{
    const tz_definition *d = x->e->definition;
    const char *names[TZ_FIELDS_MAX + 2 * TZ_CONSTANTS_MAX + TZ_PARTS_MAX + OWN_NAMES + 64];
    size_t count = 0;
    char name[80], hint[400];
    for (int i = 0; i < tz_define_fields(d) && !x->scalar; i++)
        if (!d->fields[i].stage)
            names[count++] = d->fields[i].name;
    for (int i = 0; i < d->params_count; i++)
        if (find_param(d, tz_since_name, tz_since_doc) != i &&
            find_param(d, tz_start_name, tz_start_doc) != i)
            names[count++] = d->params[i].name;
    for (int i = 0; i < d->scalars_count && !x->scalar; i++)
        names[count++] = d->scalars[i].name;
    for (int i = 0; i < d->parts_count; i++)
        names[count++] = d->parts[i].name;
    for (int i = 0; i < (x->scalar ? 2 : 2 + d->dims); i++)
        names[count++] = own_names[i];
    tz_syntax_name(x->syntax, n, name, sizeof name);
    if (tz_expand_elsewhere(x->e, name))
        return -1;
    return tz_expr_fail(x->e, TZ_UNKNOWN, "unknown name '%s'%s%s", name,
                        tz_names_hint(hint, sizeof hint, name, names, count),
                        tz_names_nearest(name, names, count)
                            ? ""
                            : "; numbers of your own are declared in 'params'");
}

void tz_expand_centred(tz_expansion *x, const tz_place *scope, unsigned axes)
{
    x->e->centred |= axes;
    if (!(axes & scope->centred))
        return;
    const char axis = axes & scope->centred & 1 ? 'x' : axes & scope->centred & 2 ? 'y' : 'z';
    tz_expr_warn(
        x->e,
        "a centred difference along %c of one along %c does not see a checkerboard, and at "
        "order 2 couples every second cell only; use div(k, u) for dx(k*dx(u)) + "
        "dy(k*dy(u)), and dxx(u) or lap(u) for dx(dx(u))",
        axis, axis);
}

/* A formula of the definition in place of a name. */
static int expand_text(const tz_expansion *x, tz_defined_text text, const char *where,
                       const tz_place *scope, bool whole)
{
    tz_expr *e = x->e;
    const tz_formula outer = e->formula, formula = {text, where, outer.error};
    tz_syntax syntax;
    tz_place there = *scope;
    there.loops = NULL;
    const tz_status status = tz_syntax_parse(&syntax, &formula);
    if (status) {
        e->status = e->status ? e->status : status;
        return -1;
    }
    tz_expansion inner = {e, &syntax, x->scalar};
    e->formula = formula;
    const int node = tz_expand_node(&inner, syntax.root, &there, whole);
    e->formula = outer;
    tz_syntax_clear(&syntax);
    return node;
}

static int extent(tz_expr *e, int axis)
{
    return tz_expr_intern(
        e,
        (tz_expr_node){
            .kind = TZ_EXPR_EXTENT, .type = TZ_EXPR_INT, .constant = true, .index = axis},
        NULL, 0);
}

/* What is read at `all` from the cell: `node`, or where that is past a side that has a formula,
 * what the formula says. */
static int read_past(tz_expansion *x, int field, const int *all, int node)
{
    tz_expr *e = x->e;
    const tz_definition *d = e->definition;
    tz_place there = {.past = d->fields[field].name};
    memcpy(there.shift, all, sizeof there.shift);
    for (int axis = d->dims - 1; axis >= 0; axis--) /* of a corner the side of x counts */
        for (int i = 0; i < d->outsides_count && node >= 0; i++) {
            const tz_defined_outside *o = &d->outsides[i];
            const bool high = o->side % 2;
            char where[256];
            if (o->side / 2 != axis || (high ? all[axis] <= 0 : all[axis] >= 0) ||
                strcmp(o->field, there.past) != 0)
                continue;
            snprintf(where, sizeof where, "%s, '%s' past the %s side of %c", d->id, o->field,
                     high ? "high" : "low", "xyz"[axis]);
            const tz_expr_type type = tz_expr_type_of(d->fields[field].type);
            int value = expand_text(x, o->formula, where, &there, type != TZ_EXPR_REAL);
            value = tz_expr_convert(e, value, type);
            const int at = tz_expand_coordinate(x, &there, axis, true);
            const int is = high ? tz_expr_two(e, at, TZ_OP_GREATER_EQUAL, extent(e, axis))
                                : tz_expr_two(e, at, TZ_OP_LESS, tz_expr_number(e, 0, TZ_EXPR_INT));
            node = value < 0 || is < 0 ? -1
                                       : tz_expr_make(e, TZ_EXPR_SELECT, type, 0, is, value, node);
        }
    return node;
}

/* The field that holds the values of another one after the stage that is read. */
static int staged(const tz_expr *e, int field)
{
    char name[TZ_STAGE_NAME_SIZE];
    const int stage =
        e->stage == 0
            ? -1
            : tz_define_field(e->definition,
                              tz_stage_name(name, e->definition->fields[field].name, e->stage));
    return stage < 0 ? field : stage;
}

/* What the field is in the cell at `all`, whether that is outside of the domain or not. */
static int read_cell(tz_expansion *x, const tz_place *scope, int own, const int *all)
{
    static const tz_temporary itself;
    const tz_definition *d = x->e->definition;
    const int field = staged(x->e, own);
    const bool temporary = field >= d->fields_count;
    const tz_temporary *of = temporary ? &x->e->temporaries[field] : &itself;
    tz_expr_reach *reach = &x->e->reach;
    if (temporary && tz_temporary_check(x->e, field) < 0)
        return -1;
    if (d->fields[field].role == TZ_DERIVED)
        return tz_expr_fail(
            x->e, TZ_TYPE,
            "'%s' is a derived field: it is computed for outputs, and no formula can "
            "read it",
            d->fields[field].name);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const int low = all[axis] + of->reach.low[axis], high = all[axis] + of->reach.high[axis];
        const int farthest = -low > high ? -low : high;
        if (farthest > TZ_RADIUS_MAX)
            return tz_expr_fail(
                x->e, TZ_RANGE, "this reads %d cells away along %c; at most %d are possible%s",
                farthest, "xyz"[axis], TZ_RADIUS_MAX, temporary ? ": make it a state field" : "");
        reach->low[axis] = low < reach->low[axis] ? low : reach->low[axis];
        reach->high[axis] = high > reach->high[axis] ? high : reach->high[axis];
    }
    reach->fields |= of->reach.fields | 1u << field;
    tz_expand_centred(x, scope, x->e->centred_fields[field]);
    const int node = tz_expr_read(x->e, field, all);
    return scope->past || d->outsides_count == 0 ? node : read_past(x, own, all, node);
}

/* ---- The domain ------------------------------------------------------------------------------ */

static const int centre[TZ_AXES];

static int domain_of(const tz_definition *d)
{
    return d->domain ? tz_define_field(d, d->domain) : -1;
}

static const tz_defined_outside *edge_of(const tz_definition *d, const char *field)
{
    for (int i = 0; i < d->outsides_count; i++)
        if (d->outsides[i].side == TZ_EDGE && (!field || strcmp(d->outsides[i].field, field) == 0))
            return &d->outsides[i];
    return NULL;
}

static tz_place place_at(const tz_place *from, const int *offset)
{
    tz_place there = *from;
    for (int axis = 0; axis < TZ_AXES; axis++)
        there.shift[axis] += offset[axis];
    return there;
}

/* `in` where the cell at `all` is in the domain, `out` where it is not. */
static int choose(tz_expansion *x, const int *all, int in, int out)
{
    tz_expr *e = x->e;
    const tz_place cell = {.past = e->definition->domain};
    if (in < 0 || out < 0 || in == out || e->within)
        return out < 0 ? out : in;
    const tz_expr_type a = e->nodes[in].type, b = e->nodes[out].type;
    const tz_expr_type type = a == b                                   ? a
                              : a == TZ_EXPR_REAL || b == TZ_EXPR_REAL ? TZ_EXPR_REAL
                                                                       : TZ_EXPR_INT;
    const int is =
        tz_expr_convert(e, read_cell(x, &cell, domain_of(e->definition), all), TZ_EXPR_BOOL);
    in = tz_expr_convert(e, in, type);
    out = tz_expr_convert(e, out, type);
    return is < 0 || in < 0 || out < 0 ? -1 : tz_expr_make(e, TZ_EXPR_SELECT, type, 0, is, in, out);
}

static int read_field(tz_expansion *x, const tz_place *scope, int field, const int *offset);

/* What the field is at an offset from a cell outside of the domain. */
static int read_beyond(tz_expansion *x, const tz_place *scope, int field, const int *offset)
{
    const tz_definition *d = x->e->definition;
    const tz_defined_outside *o = edge_of(d, d->fields[field].name);
    const tz_expr_type type = tz_expr_type_of(d->fields[field].type);
    tz_place there = place_at(scope, offset);
    char where[256];
    if (!o)
        return read_field(x, scope->edge, field, offset);
    there.past = d->fields[field].name;
    snprintf(where, sizeof where, "%s, '%s' past the edge of the domain", d->id, there.past);
    return tz_expr_convert(x->e, expand_text(x, o->formula, where, &there, type != TZ_EXPR_REAL),
                           type);
}

static int read_field(tz_expansion *x, const tz_place *scope, int field, const int *offset)
{
    const tz_place there = place_at(scope, offset);
    const bool moves = memcmp(offset, centre, sizeof centre) != 0;
    if (scope->past && scope->edge) /* in the formula itself: from the cell within */
        return moves ? read_cell(x, scope, field, place_at(scope->edge, offset).shift)
                     : read_field(x, scope->edge, field, offset);
    const int domain = domain_of(x->e->definition);
    if (scope->edge && field != domain)
        return read_beyond(x, scope, field, offset);
    const int node = read_cell(x, scope, field, there.shift);
    if (node < 0 || domain < 0 || field == domain || scope->past || !moves)
        return node;
    tz_place beyond = there;
    beyond.edge = scope;
    return choose(x, there.shift, node, read_beyond(x, &beyond, field, centre));
}

static int expand_part(tz_expansion *x, const tz_place *scope, int part, bool whole);

static int expand_operand(tz_expansion *x, int node, int part, const tz_place *scope, bool whole)
{
    return node < 0 ? expand_part(x, scope, part, whole) : tz_expand_node(x, node, scope, whole);
}

int tz_expand_at(tz_expansion *x, int node, int part, const tz_place *scope, const int *offset,
                 bool whole)
{
    const tz_definition *d = x->e->definition;
    const tz_place *base = scope->edge ? scope->edge : scope, beside = place_at(base, offset);
    tz_place in = place_at(scope, offset), out = in;
    if (!d->domain || scope->past || memcmp(offset, centre, sizeof centre) == 0)
        return expand_operand(x, node, part, &in, whole);
    in.edge = scope->edge ? &beside : NULL;
    out.edge = base;
    const int within = expand_operand(x, node, part, &in, whole);
    if (within < 0)
        return within;
    return choose(x, beside.shift, within,
                  expand_operand(x, node, part, edge_of(d, NULL) ? &out : scope, whole));
}

int tz_expand_domain(tz_expr *e, int field, int node)
{
    const tz_definition *d = e->definition;
    tz_expansion x = {.e = e};
    if (!d->domain || node < 0 || field >= d->fields_count)
        return node;
    const tz_place cell = {.past = d->domain};
    const tz_expr_type type = tz_expr_type_of(d->fields[field].type);
    const int kept = d->fields[field].role == TZ_DERIVED ? tz_expr_number(e, 0, type)
                                                         : read_cell(&x, &cell, field, centre);
    return choose(&x, centre, node, kept);
}

/* The value of the cell that is the mirror image of a place past the edge. */
static int mirror(tz_expansion *x, const tz_place *scope, int field)
{
    int all[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++)
        all[axis] = 2 * scope->edge->shift[axis] - scope->shift[axis];
    const int node = read_cell(x, scope, field, all);
    return choose(x, all, node, read_field(x, scope->edge, field, centre));
}

/* ---- Names ----------------------------------------------------------------------------------- */

int tz_expand_coordinate(tz_expansion *x, const tz_place *scope, int axis, bool whole)
{
    const tz_definition *d = x->e->definition;
    while (scope->edge && !scope->past)
        scope = scope->edge;
    if (axis >= d->dims)
        return tz_expr_fail(x->e, TZ_UNKNOWN, "there is no %c: the stencil has %d dimension%s",
                            "xyz"[axis], d -> dims, d -> dims == 1 ? "" : "s");
    if (axis == 0 && tz_type_is_bits(d->fields[0].type))
        return tz_expr_fail(x->e, TZ_TYPE,
                            "x is not known in a stencil of bits, which computes 32 cells of a row "
                            "at once");
    const tz_expr_node node = {.kind = TZ_EXPR_COORDINATE, .type = TZ_EXPR_INT, .index = axis};
    int value = tz_expr_intern(x->e, node, NULL, 0);
    if (!whole)
        value = tz_expr_convert(x->e, value, TZ_EXPR_REAL);
    if (scope->shift[axis] == 0)
        return value;
    return tz_expr_two(x->e, value, TZ_OP_PLUS,
                       tz_expr_number(x->e, scope->shift[axis], TZ_EXPR_INT));
}

/* Names of the language: -2 if it is none. */
static int own_name(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool whole)
{
    for (const tz_named_number *loop = scope->loops; loop; loop = loop->outer)
        if (loop->name->length == n->length &&
            memcmp(x->syntax->formula.text.text + loop->name->at,
                   x->syntax->formula.text.text + n->at, (size_t)n->length) == 0)
            return tz_expr_number(x->e, loop->value, TZ_EXPR_INT);
    if (is_name(x, n, "pi"))
        return tz_expr_number(x->e, 3.14159265358979323846, TZ_EXPR_REAL);
    if (is_name(x, n, "step")) {
        const int step = tz_expr_intern(
            x->e, (tz_expr_node){.kind = TZ_EXPR_STEP, .type = TZ_EXPR_INT}, NULL, 0);
        return whole ? step : tz_expr_convert(x->e, step, TZ_EXPR_REAL);
    }
    for (int axis = 0; axis < TZ_AXES && !x->scalar; axis++)
        if (is_name(x, n, own_names[2 + axis]))
            return tz_expand_coordinate(x, scope, axis, whole);
    return -2;
}

static int find_field(const tz_expansion *x, const tz_syntax_node *n)
{
    const tz_definition *d = x->e->definition;
    for (int f = 0; f < tz_define_fields(d); f++)
        if (!d->fields[f].stage && is_name(x, n, d->fields[f].name))
            return f;
    return -1;
}

static int find_part(const tz_expansion *x, const tz_syntax_node *n)
{
    const tz_definition *d = x->e->definition;
    for (int i = 0; i < d->parts_count; i++)
        if (is_name(x, n, d->parts[i].name))
            return i;
    return -1;
}

/* The formula that a name of `let` stands for. */
static int expand_part(tz_expansion *x, const tz_place *scope, int part, bool whole)
{
    tz_expr *e = x->e;
    const tz_defined_formula *p = &e->definition->parts[part];
    char where[256];
    if (e->inside[part])
        return tz_expr_fail(e, TZ_FORMAT, "'%s' of 'let' is made of itself", p->name);
    snprintf(where, sizeof where, "%s, part '%s' of 'let'", e->definition->id, p->name);
    e->used[part] = e->inside[part] = true;
    const int node = expand_text(x, p->formula, where, scope, whole);
    e->inside[part] = false;
    return node;
}

/* The time before this iteration, or of the stage: (step - t_since)*dt + t_start. -2: there is no
 * time step. */
static int expand_time(tz_expansion *x)
{
    tz_expr *e = x->e;
    const tz_definition *d = e->definition;
    const tz_expr_node step = {.kind = TZ_EXPR_STEP, .type = TZ_EXPR_INT};
    const int since = find_param(d, tz_since_name, tz_since_doc),
              start = find_param(d, tz_start_name, tz_start_doc);
    int p = 0;
    while (p < d->params_count && d->params[p].role != TZ_PARAM_ROLE_TIME_STEP)
        p++;
    if (p == d->params_count)
        return -2;
    int steps = tz_expr_convert(e, tz_expr_intern(e, step, NULL, 0), TZ_EXPR_REAL);
    if (since >= 0)
        steps = tz_expr_two(e, steps, TZ_OP_MINUS, tz_expr_param(e, since));
    if (e->stage_time > 0)
        steps = tz_expr_two(e, steps, TZ_OP_PLUS, tz_expr_number(e, e->stage_time, TZ_EXPR_REAL));
    steps = tz_expr_two(e, steps, TZ_OP_TIMES, tz_expr_param(e, p));
    return start < 0 ? steps : tz_expr_two(e, steps, TZ_OP_PLUS, tz_expr_param(e, start));
}

/* Names that a definition may have itself: the cells along an axis, the time, and past a side what
 * is within. -2 if it is none. */
static int late_name(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope)
{
    static const char *const extents[] = {"nx", "ny", "nz"};
    const tz_definition *d = x->e->definition;
    for (int axis = 0; axis < d->dims && !x->scalar; axis++)
        if (is_name(x, n, extents[axis]))
            return extent(x->e, axis);
    if (is_name(x, n, "inside") && scope->past)
        return read_field(x, scope, tz_define_field(d, scope->past), centre);
    if (is_name(x, n, "mirror") && scope->past && scope->edge)
        return mirror(x, scope, tz_define_field(d, scope->past));
    return is_name(x, n, "t") ? expand_time(x) : -2;
}

static int expand_name(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool whole)
{
    const tz_definition *d = x->e->definition;
    const int own = own_name(x, n, scope, whole), field = find_field(x, n), part = find_part(x, n);
    if (own != -2)
        return own;
    if (part >= 0)
        return expand_part(x, scope, part, whole);
    if (field >= 0 && x->scalar)
        return tz_expr_fail(
            x->e, TZ_TYPE,
            "'%s' is a field: this number is the same for all cells, and is made of "
            "step and parameters",
            d->fields[field].name);
    if (field >= 0)
        return read_field(x, scope, field, centre);
    for (int p = 0; p < d->params_count; p++)
        if (is_name(x, n, d->params[p].name))
            return tz_expr_param(x->e, p);
    for (int s = 0; s < d->scalars_count; s++)
        if (is_name(x, n, d->scalars[s].name)) {
            const tz_expr_node node = {.kind = TZ_EXPR_SCALAR, .type = TZ_EXPR_REAL, .index = s};
            if (x->scalar)
                return tz_expr_fail(x->e, TZ_TYPE,
                                    "'%s' changes with the iteration itself: use its formula here",
                                    d->scalars[s].name);
            return tz_expr_intern(x->e, node, NULL, 0);
        }
    const int more = late_name(x, n, scope);
    if (more != -2)
        return more;
    if (is_function(x, n)) {
        char name[16];
        tz_syntax_name(x->syntax, n, name, sizeof name);
        return tz_expr_fail(x->e, TZ_FORMAT, "'%s' is a function: write %s(...)", name, name);
    }
    return unknown_name(x, n);
}

/* ---- Offsets --------------------------------------------------------------------------------- */

static const char an_offset[] = "an offset";

int tz_expand_number(tz_expansion *x, int node, const tz_place *scope, const char *what, int least,
                     int most, int *value)
{
    const int result = tz_expand_node(x, node, scope, true);
    if (result < 0)
        return -1;
    const tz_expr_node *n = &x->e->nodes[result];
    x->e->at = x->syntax->nodes[node].at;
    if (n->kind != TZ_EXPR_NUMBER || n->type != TZ_EXPR_INT)
        return tz_expr_fail(x->e, TZ_TYPE,
                            "%s is a whole number that is known here: digits, and the names of "
                            "sum(), but no field, parameter or coordinate%s",
                            what, what == an_offset ? "; it counts from the cell: u[1, 0]" : "");
    if (n->number < least || n->number > most)
        return tz_expr_fail(x->e, TZ_RANGE, "%s is %.0f; %d to %d are possible", what, n->number,
                            least, most);
    *value = (int)n->number;
    return 0;
}

static int expand_index(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool whole)
{
    static const char *const examples[] = {"[-1]", "[-1, 0]", "[-1, 0, 0]"};
    const tz_definition *d = x->e->definition;
    const int field = find_field(x, n), part = find_part(x, n);
    int offset[TZ_AXES] = {0};
    char name[80];
    tz_syntax_name(x->syntax, n, name, sizeof name);
    if ((field < 0 && part < 0) || x->scalar) {
        const int node = expand_name(x, n, scope, whole);
        return node < 0
                   ? -1
                   : tz_expr_fail(x->e, TZ_TYPE, "'%s' is no field: it has no neighbours", name);
    }
    if (n->count != d->dims)
        return tz_expr_fail(x->e, TZ_FORMAT,
                            "%s has %d offset%s here, and the stencil has %d dimension%s: write "
                            "%s%s, for example",
                            name, n->count, n->count == 1 ? "" : "s", d->dims,
                            d->dims == 1 ? "" : "s", name, examples[d->dims - 1]);
    int axis = 0;
    for (int i = n->first; i >= 0; i = x->syntax->nodes[i].next, axis++)
        if (tz_expand_number(x, i, scope, an_offset, -TZ_RADIUS_MAX, TZ_RADIUS_MAX, &offset[axis]) <
            0)
            return -1;
    x->e->at = n->at;
    return part >= 0 ? tz_expand_at(x, -1, part, scope, offset, whole)
                     : read_field(x, scope, field, offset);
}

/* ---- Operators ------------------------------------------------------------------------------- */

static int no_bits_in_scalars(tz_expansion *x, const char *what)
{
    return tz_expr_fail(x->e, TZ_TYPE,
                        "%s is not for numbers that are the same for all cells, which are computed "
                        "in double: use // and %%",
                        what);
}

static int expand_chain(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool whole)
{
    const tz_syntax_node *nodes = x->syntax->nodes;
    tz_expr_operand *operands = tz_expr_alloc(x->e, (size_t)n->count, sizeof *operands);
    if (!operands)
        return -1;
    int count = 0;
    const tz_level all = tz_operator_level(nodes[nodes[n->first].next].op);
    if (x->scalar && all >= TZ_LEVEL_BITS_OR && all <= TZ_LEVEL_SHIFT)
        return no_bits_in_scalars(x, "an operation on bits");
    for (int i = n->first; i >= 0; i = nodes[i].next, count++) {
        const tz_operator op = nodes[i].op, next = nodes[i].next < 0 ? op : nodes[nodes[i].next].op;
        const tz_level level = tz_operator_level(op ? op : next);
        const bool int_before = op == TZ_OP_FLOOR_OVER || op == TZ_OP_MODULO;
        const bool int_after = next == TZ_OP_FLOOR_OVER || next == TZ_OP_MODULO;
        const bool ints = whole || int_before || int_after ||
                          (level >= TZ_LEVEL_BITS_OR && level <= TZ_LEVEL_SHIFT);
        operands[count] = (tz_expr_operand){tz_expand_node(x, i, scope, ints), op};
        int places;
        if (operands[count].node >= 0 && level == TZ_LEVEL_SHIFT && op &&
            tz_expand_number(x, i, scope, "the number of places", 0, 31, &places) < 0)
            operands[count].node = -1;
        if (operands[count].node < 0)
            return -1;
    }
    x->e->at = n->at;
    return tz_expr_chain(x->e, operands, count);
}

/* x*x*...*x, pow(x, y), or 1/(x*...*x). */
static int expand_power(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool whole)
{
    tz_expr *e = x->e;
    const int exponent_syntax = x->syntax->nodes[n->first].next;
    int base = tz_expand_node(x, n->first, scope, whole);
    int exponent = base < 0 ? -1 : tz_expand_node(x, exponent_syntax, scope, whole);
    e->at = n->at;
    if (exponent < 0)
        return -1;
    if (e->nodes[base].type == TZ_EXPR_BOOL)
        base = tz_expr_convert(e, base, TZ_EXPR_INT);
    const tz_expr_node by = e->nodes[exponent];
    const double times = fabs(by.number);
    if (by.kind != TZ_EXPR_NUMBER || by.number != floor(by.number) || times > TZ_POWER_MAX) {
        base = tz_expr_convert(e, base, TZ_EXPR_REAL);
        exponent = tz_expr_convert(e, exponent, TZ_EXPR_REAL);
        if (base < 0 || exponent < 0)
            return -1;
        return tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_pow, base, exponent, -1);
    }
    if (e->nodes[base].type > TZ_EXPR_INT || by.number < 0)
        base = tz_expr_convert(e, base, TZ_EXPR_REAL);
    if (base < 0)
        return -1;
    const tz_expr_type type = e->nodes[base].type;
    if (times == 0)
        return tz_expr_number(e, 1, type);
    if (times > 1)
        base = tz_expr_make(e, TZ_EXPR_POWER, type, (int)times, base, -1, -1);
    return by.number > 0 ? base : tz_expr_two(e, tz_expr_number(e, 1, type), TZ_OP_OVER, base);
}

static int expand_prefix(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope,
                         bool whole)
{
    tz_expr *e = x->e;
    int operand = tz_expand_node(x, n->first, scope, whole || n->kind == TZ_SYNTAX_BITS_NOT);
    e->at = n->at;
    if (operand < 0)
        return -1;
    tz_expr_type type = e->nodes[operand].type;
    if (x->scalar && n->kind == TZ_SYNTAX_BITS_NOT)
        return no_bits_in_scalars(x, "an operation on bits");
    if (n->kind == TZ_SYNTAX_NEGATIVE) {
        operand = tz_expr_convert(e, operand, type == TZ_EXPR_REAL ? type : TZ_EXPR_INT);
        type = operand < 0 ? type : e->nodes[operand].type;
        return operand < 0 ? -1 : tz_expr_make(e, TZ_EXPR_NEGATIVE, type, 0, operand, -1, -1);
    }
    if (type == TZ_EXPR_BITS)
        return tz_expr_make(e, TZ_EXPR_BITS_NOT, type, 0, operand, -1, -1);
    type = n->kind == TZ_SYNTAX_NOT ? TZ_EXPR_BOOL : TZ_EXPR_INT;
    operand = tz_expr_convert(e, operand, type);
    return operand < 0 ? -1
                       : tz_expr_make(e, n->kind == TZ_SYNTAX_NOT ? TZ_EXPR_NOT : TZ_EXPR_BITS_NOT,
                                      type, 0, operand, -1, -1);
}

static int expand_select(tz_expansion *x, int syntax, const tz_place *scope, bool whole)
{
    tz_expr *e = x->e;
    const tz_syntax_node *nodes = x->syntax->nodes;
    const int yes_syntax = nodes[syntax].next, no_syntax = nodes[yes_syntax].next;
    int condition = tz_expand_node(x, syntax, scope, whole);
    int yes = condition < 0 ? -1 : tz_expand_node(x, yes_syntax, scope, whole);
    int no = yes < 0 ? -1 : tz_expand_node(x, no_syntax, scope, whole);
    e->at = nodes[syntax].at;
    if (no < 0)
        return -1;
    if (e->nodes[condition].type != TZ_EXPR_BITS)
        condition = tz_expr_convert(e, condition, TZ_EXPR_BOOL);
    const tz_expr_type a = e->nodes[yes].type, b = e->nodes[no].type;
    tz_expr_type type = a == TZ_EXPR_REAL || b == TZ_EXPR_REAL ? TZ_EXPR_REAL : TZ_EXPR_INT;
    if (condition < 0)
        return -1;
    if (a >= TZ_EXPR_BITS || b >= TZ_EXPR_BITS || e->nodes[condition].type == TZ_EXPR_BITS)
        type = TZ_EXPR_BITS;
    else if (a == TZ_EXPR_BOOL && b == TZ_EXPR_BOOL)
        type = TZ_EXPR_BOOL;
    e->at = nodes[yes_syntax].at;
    yes = tz_expr_convert(e, yes, type);
    e->at = nodes[no_syntax].at;
    no = tz_expr_convert(e, no, type);
    if (yes < 0 || no < 0)
        return -1;
    return tz_expr_make(e, TZ_EXPR_SELECT, type, 0, condition, yes, no);
}

/* ---- Plain functions ------------------------------------------------------------------------- */

static int plain(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope,
                 const tz_known_function *f)
{
    int arguments[3] = {-1, -1, -1}, count = 0;
    if (x->scalar && f->family == TZ_FAMILY_TO_INT)
        return tz_expr_fail(x->e, TZ_TYPE, "int() is for the cells of a grid: use // and %% here");
    for (int i = n->first; i >= 0; i = x->syntax->nodes[i].next, count++) {
        const int value = tz_expand_node(x, i, scope, false);
        x->e->at = x->syntax->nodes[i].at;
        arguments[count] = tz_expr_convert(x->e, value, TZ_EXPR_REAL);
        if (arguments[count] < 0)
            return -1;
    }
    x->e->at = n->at;
    const tz_expr_type type = f->family == TZ_FAMILY_TO_INT ? TZ_EXPR_INT : TZ_EXPR_REAL;
    return tz_expr_make(x->e, TZ_EXPR_CALL, type, f->which, arguments[0], arguments[1],
                        arguments[2]);
}

/* min, max and abs: of whole numbers if all arguments are. From the left: min(min(a, b), c). */
static int extreme(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool whole,
                   const tz_known_function *f)
{
    tz_expr *e = x->e;
    int result = -1;
    for (int i = n->first; i >= 0; i = x->syntax->nodes[i].next) {
        int value = tz_expand_node(x, i, scope, whole);
        e->at = x->syntax->nodes[i].at;
        if (value >= 0 && e->nodes[value].type != TZ_EXPR_REAL)
            value = tz_expr_convert(e, value, TZ_EXPR_INT);
        if (value < 0)
            return -1;
        if (result < 0 && f->family == TZ_FAMILY_EXTREME) {
            result = value;
            continue;
        }
        const bool real = e->nodes[value].type == TZ_EXPR_REAL ||
                          (result >= 0 && e->nodes[result].type == TZ_EXPR_REAL);
        const tz_expr_type type = real ? TZ_EXPR_REAL : TZ_EXPR_INT;
        value = tz_expr_convert(e, value, type);
        const int first = result < 0 ? value : tz_expr_convert(e, result, type);
        result = tz_expr_make(e, TZ_EXPR_CALL, type, f->which, first, value, -1);
        if (result < 0)
            return -1;
    }
    return result;
}

/* 1, -1, or the number itself if it is 0 or NAN. */
static int sign(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool whole)
{
    tz_expr *e = x->e;
    int value = tz_expand_node(x, n->first, scope, whole);
    e->at = x->syntax->nodes[n->first].at;
    if (value >= 0 && e->nodes[value].type != TZ_EXPR_REAL)
        value = tz_expr_convert(e, value, TZ_EXPR_INT);
    if (value < 0)
        return -1;
    const tz_expr_type type = e->nodes[value].type;
    const int zero = tz_expr_number(e, 0, type);
    const int below =
        tz_expr_make(e, TZ_EXPR_SELECT, type, 0, tz_expr_two(e, value, TZ_OP_LESS, zero),
                     tz_expr_number(e, -1, type), value);
    return tz_expr_make(e, TZ_EXPR_SELECT, type, 0, tz_expr_two(e, value, TZ_OP_GREATER, zero),
                        tz_expr_number(e, 1, type), below);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* 0, or a product that begins with 0. */
static bool vanishes(const tz_expr *e, int node)
{
    const tz_expr_node *n = &e->nodes[node];
    if (n->kind == TZ_EXPR_CHAIN &&
        tz_operator_level(e->operands[n->first + 1].op) == TZ_LEVEL_PRODUCT)
        return tz_expr_is_number(e, e->operands[n->first].node, 0);
    return tz_expr_is_number(e, node, 0);
}

/* sum(name, low, high, term), from the left. */
static int sum(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool whole)
{
    enum { FARTHEST = 1000000 };
    const tz_syntax_node *nodes = x->syntax->nodes;
    const int name = n->first, low_at = nodes[name].next, high_at = nodes[low_at].next;
    int low = 0, high = 0, count = 0;
    x->e->at = nodes[name].at;
    if (nodes[name].kind != TZ_SYNTAX_NAME)
        return tz_expr_fail(x->e, TZ_FORMAT,
                            "sum() begins with a name for the number: sum(i, -2, 2, "
                            "u[i])");
    if (tz_expand_number(x, low_at, scope, "the first number of a sum", -FARTHEST, FARTHEST, &low) <
            0 ||
        tz_expand_number(x, high_at, scope, "the last number of a sum", -FARTHEST, FARTHEST,
                         &high) < 0)
        return -1;
    if (low > high)
        return tz_expr_number(x->e, 0, TZ_EXPR_INT);
    tz_expr_operand *terms = tz_expr_alloc(x->e, (size_t)(high - low + 1), sizeof *terms);
    if (!terms)
        return -1;
    for (int i = low; i <= high; i++) {
        const tz_named_number loop = {&nodes[name], i, scope->loops};
        tz_place inner = *scope;
        inner.loops = &loop;
        const int term = tz_expand_node(x, nodes[high_at].next, &inner, whole);
        if (term < 0)
            return -1;
        if (!vanishes(x->e, term)) {
            terms[count] = (tz_expr_operand){term, count ? TZ_OP_PLUS : TZ_OP_NONE};
            count++;
        }
    }
    x->e->at = n->at;
    if (count < 2)
        return count ? terms[0].node : tz_expr_number(x->e, 0, TZ_EXPR_INT);
    return tz_expr_chain(x->e, terms, count);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static int expand_call(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool whole)
{
    const tz_known_function *f = find_function(x, n);
    if (!f)
        return unknown_function(x, n);
    if (n->count < f->least || n->count > f->most)
        return tz_expr_fail(x->e, TZ_FORMAT, "%s() has %d argument%s here: write %s", f->name,
                            n->count, n->count == 1 ? "" : "s", f->usage);
    switch (f->family) {
    case TZ_FAMILY_EXTREME:
    case TZ_FAMILY_MAGNITUDE:
        return extreme(x, n, scope, whole, f);
    case TZ_FAMILY_NOISE:
        return tz_noise(x, n, scope, f->which);
    case TZ_FAMILY_SIGN:
        return sign(x, n, scope, whole);
    case TZ_FAMILY_SELECT:
        return expand_select(x, n->first, scope, whole);
    case TZ_FAMILY_SUM:
        return sum(x, n, scope, whole);
    case TZ_FAMILY_LAPLACIAN:
    case TZ_FAMILY_DIVERGENCE:
    case TZ_FAMILY_STAGGERED:
    case TZ_FAMILY_DERIVATIVE:
        return tz_differentiate(x, n, scope, f);
    default:
        return plain(x, n, scope, f);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

int tz_expand_node(tz_expansion *x, int node, const tz_place *scope, bool whole)
{
    const tz_syntax_node *n = &x->syntax->nodes[node];
    x->e->at = n->at;
    if (x->e->status)
        return -1;
    if (++x->e->steps > TZ_EXPR_STEPS_MAX)
        return tz_expr_fail(
            x->e, TZ_RANGE,
            "the sums in the formulas have more than %d terms: use fewer, or several "
            "passes",
            TZ_EXPR_STEPS_MAX);
    switch (n->kind) {
    case TZ_SYNTAX_NUMBER:
        return tz_expr_number(x->e, n->number, n->integer ? TZ_EXPR_INT : TZ_EXPR_REAL);
    case TZ_SYNTAX_NAME:
        return expand_name(x, n, scope, whole);
    case TZ_SYNTAX_INDEX:
        return expand_index(x, n, scope, whole);
    case TZ_SYNTAX_CALL:
        return expand_call(x, n, scope, whole);
    case TZ_SYNTAX_CHAIN:
        return expand_chain(x, n, scope, whole);
    case TZ_SYNTAX_POWER:
        return expand_power(x, n, scope, whole);
    case TZ_SYNTAX_SELECT:
        return expand_select(x, n->first, scope, whole);
    default:
        return expand_prefix(x, n, scope, whole);
    }
}

int tz_expr_expand(tz_expr *e, const tz_syntax *syntax, tz_expr_type type, bool scalar)
{
    tz_expansion x = {.e = e, .syntax = syntax, .scalar = scalar};
    const tz_place scope = {.loops = NULL};
    e->formula = syntax->formula;
    const int node = tz_expand_node(&x, syntax->root, &scope, type != TZ_EXPR_REAL);
    e->at = syntax->nodes[syntax->root].at;
    return tz_expr_convert(e, node, type);
}
