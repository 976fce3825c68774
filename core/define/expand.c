/* From the syntax of a formula to a typed expression: names, offsets, types. */
#include "define/expand.h"

#include "base/names.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

static bool is_name(const tz_expand *x, const tz_syntax_node *n, const char *name)
{
    return strlen(name) == (size_t)n->length &&
           memcmp(x->syntax->formula.text.text + n->at, name, (size_t)n->length) == 0;
}

static const char *const own_names[] = {"pi", "step", "x", "y", "z"};
enum { OWN_NAMES = sizeof own_names / sizeof *own_names };

/* An error about a name that is not known, with the nearest one that is. */
static int unknown_name(tz_expand *x, const tz_syntax_node *n)
{
    const tz_definition *d = x->e->definition;
    const char *names[TZ_FIELDS_MAX + 2 * TZ_CONSTANTS_MAX + OWN_NAMES + 64];
    size_t count = 0;
    char name[80], hint[400];
    for (int i = 0; i < d->fields_count && !x->scalar; i++)
        names[count++] = d->fields[i].name;
    for (int i = 0; i < d->params_count; i++)
        names[count++] = d->params[i].name;
    for (int i = 0; i < d->scalars_count && !x->scalar; i++)
        names[count++] = d->scalars[i].name;
    for (int i = 0; i < (x->scalar ? 2 : 2 + d->dims); i++)
        names[count++] = own_names[i];
    tz_syntax_name(x->syntax, n, name, sizeof name);
    return tz_expr_fail(x->e, TZ_UNKNOWN, "unknown name '%s'%s%s", name,
                        tz_names_hint(hint, sizeof hint, name, names, count),
                        tz_names_nearest(name, names, count)
                            ? ""
                            : "; numbers of your own are declared in 'params'");
}

void tz_expand_centred(tz_expand *x, const tz_scope *scope, unsigned axes)
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

static int read_field(tz_expand *x, const tz_scope *scope, int field, const int *offset)
{
    const tz_definition *d = x->e->definition;
    int all[TZ_AXES];
    if (d->fields[field].role == TZ_DERIVED)
        return tz_expr_fail(
            x->e, TZ_TYPE,
            "'%s' is a derived field: it is computed for outputs, and no formula can "
            "read it",
            d->fields[field].name);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        all[axis] = offset[axis] + scope->shift[axis];
        if (abs(all[axis]) > TZ_RADIUS_MAX)
            return tz_expr_fail(x->e, TZ_RANGE,
                                "this reads %d cells away along %c; at most %d are possible",
                                abs(all[axis]), "xyz"[axis], TZ_RADIUS_MAX);
    }
    x->e->fields |= 1u << field;
    tz_expand_centred(x, scope, x->e->centred_fields[field]);
    return tz_expr_read(x->e, field, all);
}

static int coordinate(tz_expand *x, const tz_scope *scope, int axis, bool whole)
{
    const tz_definition *d = x->e->definition;
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
static int own_name(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, bool whole)
{
    for (const tz_loop *loop = scope->loops; loop; loop = loop->outer)
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
            return coordinate(x, scope, axis, whole);
    return -2;
}

static int find_field(const tz_expand *x, const tz_syntax_node *n)
{
    const tz_definition *d = x->e->definition;
    for (int f = 0; f < d->fields_count; f++)
        if (is_name(x, n, d->fields[f].name))
            return f;
    return -1;
}

static int expand_name(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, bool whole)
{
    static const int centre[TZ_AXES];
    const tz_definition *d = x->e->definition;
    const int own = own_name(x, n, scope, whole), field = find_field(x, n);
    if (own != -2)
        return own;
    if (field >= 0 && x->scalar)
        return tz_expr_fail(
            x->e, TZ_TYPE,
            "'%s' is a field: this number is the same for all cells, and is made of "
            "step and parameters",
            d->fields[field].name);
    if (field >= 0)
        return read_field(x, scope, field, centre);
    for (int p = 0; p < d->params_count; p++)
        if (is_name(x, n, d->params[p].name)) {
            const tz_expr_node node = {.kind = TZ_EXPR_PARAM,
                                       .type = d->params[p].integer ? TZ_EXPR_INT : TZ_EXPR_REAL,
                                       .constant = true,
                                       .index = p};
            return tz_expr_intern(x->e, node, NULL, 0);
        }
    for (int s = 0; s < d->scalars_count; s++)
        if (is_name(x, n, d->scalars[s].name)) {
            const tz_expr_node node = {.kind = TZ_EXPR_SCALAR, .type = TZ_EXPR_REAL, .index = s};
            if (x->scalar)
                return tz_expr_fail(x->e, TZ_TYPE,
                                    "'%s' changes with the iteration itself: use its formula here",
                                    d->scalars[s].name);
            return tz_expr_intern(x->e, node, NULL, 0);
        }
    if (tz_expand_is_function(x, n)) {
        char name[16];
        tz_syntax_name(x->syntax, n, name, sizeof name);
        return tz_expr_fail(x->e, TZ_FORMAT, "'%s' is a function: write %s(...)", name, name);
    }
    return unknown_name(x, n);
}

/* ---- Offsets --------------------------------------------------------------------------------- */

/* A whole number that is known now: -1 after a failure, with *value unchanged. */
int tz_expand_number(tz_expand *x, int node, const tz_scope *scope, const char *what, int least,
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
                            "sum(), but no field or parameter",
                            what);
    if (n->number < least || n->number > most)
        return tz_expr_fail(x->e, TZ_RANGE, "%s is %.0f; %d to %d are possible", what, n->number,
                            least, most);
    *value = (int)n->number;
    return 0;
}

static int expand_index(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope)
{
    static const char *const examples[] = {"[-1]", "[-1, 0]", "[-1, 0, 0]"};
    const tz_definition *d = x->e->definition;
    const int field = find_field(x, n);
    int offset[TZ_AXES] = {0};
    char name[80];
    tz_syntax_name(x->syntax, n, name, sizeof name);
    if (field < 0 || x->scalar) {
        const int node = expand_name(x, n, scope, false);
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
        if (tz_expand_number(x, i, scope, "an offset", -TZ_RADIUS_MAX, TZ_RADIUS_MAX,
                             &offset[axis]) < 0)
            return -1;
    x->e->at = n->at;
    return read_field(x, scope, field, offset);
}

/* ---- Operators ------------------------------------------------------------------------------- */

static int no_bits_in_scalars(tz_expand *x, const char *what)
{
    return tz_expr_fail(x->e, TZ_TYPE,
                        "%s is not for numbers that are the same for all cells, which are computed "
                        "in double: use // and %%",
                        what);
}

static int expand_chain(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, bool whole)
{
    const tz_syntax_node *nodes = x->syntax->nodes;
    tz_expr_operand *operands = malloc((size_t)n->count * sizeof *operands);
    if (!operands)
        return tz_expr_fail(x->e, TZ_MEMORY, "not enough memory for the formula");
    int count = 0;
    const tz_level all = tz_operator_level(nodes[nodes[n->first].next].op);
    if (x->scalar && all >= TZ_LEVEL_BITS_OR && all <= TZ_LEVEL_SHIFT) {
        free(operands);
        return no_bits_in_scalars(x, "an operation on bits");
    }
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
            break;
    }
    x->e->at = n->at;
    const int result = count < n->count ? -1 : tz_expr_chain(x->e, operands, count);
    free(operands);
    return result;
}

/* x*x*...*x, pow(x, y), or 1/(x*...*x). */
static int expand_power(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, bool whole)
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

static int expand_prefix(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, bool whole)
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

int tz_expand_select(tz_expand *x, int syntax, const tz_scope *scope, bool whole)
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

/* ---- All ------------------------------------------------------------------------------------- */

int tz_expand_node(tz_expand *x, int node, const tz_scope *scope, bool whole)
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
        return expand_index(x, n, scope);
    case TZ_SYNTAX_CALL:
        return tz_expand_call(x, n, scope, whole);
    case TZ_SYNTAX_CHAIN:
        return expand_chain(x, n, scope, whole);
    case TZ_SYNTAX_POWER:
        return expand_power(x, n, scope, whole);
    case TZ_SYNTAX_SELECT:
        return tz_expand_select(x, n->first, scope, whole);
    default:
        return expand_prefix(x, n, scope, whole);
    }
}

int tz_expr_expand(tz_expr *e, const tz_syntax *syntax, tz_expr_type type, bool scalar)
{
    tz_expand x = {.e = e, .syntax = syntax, .scalar = scalar};
    const tz_scope scope = {{0}, NULL, 0};
    e->formula = syntax->formula;
    const int node = tz_expand_node(&x, syntax->root, &scope, type != TZ_EXPR_REAL);
    e->at = syntax->nodes[syntax->root].at;
    return tz_expr_convert(e, node, type);
}
