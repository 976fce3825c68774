/* The functions of formulas. */
#include "define/expand.h"

#include "base/names.h"
#include <stdlib.h>
#include <string.h>

typedef enum family {
    PLAIN,     /* one of tz_function, on real numbers */
    EXTREME,   /* min, max */
    MAGNITUDE, /* abs */
    TO_INT,
    SELECT,
    SUM,
    LAPLACIAN,
    DIVERGENCE,
    DERIVATIVE
} family;

typedef struct function {
    const char *name;
    family family;
    int which;       /* a tz_function; or axes of a derivative, as 10*first + second, 0 for x */
    int least, most; /* arguments */
    const char *usage;
} function;

/* Axes of derivatives: -1 if there is no second. */
enum { ONE = 9, X = 0, Y = 1, Z = 2 };
#define AXES(first, second) (10 * (first) + (second))

static const function functions[] = {
    {"abs", MAGNITUDE, TZ_FUNCTION_abs, 1, 1, "abs(a)"},
    {"cos", PLAIN, TZ_FUNCTION_cos, 1, 1, "cos(a)"},
    {"div", DIVERGENCE, 0, 2, 2, "div(k, u), the divergence of k times the gradient of u"},
    {"dx", DERIVATIVE, AXES(X, ONE), 1, 2, "dx(u), or dx(u, 4) for order 4"},
    {"dxx", DERIVATIVE, AXES(X, X), 1, 2, "dxx(u), or dxx(u, 4) for order 4"},
    {"dxy", DERIVATIVE, AXES(X, Y), 1, 2, "dxy(u), or dxy(u, 4) for order 4"},
    {"dxz", DERIVATIVE, AXES(X, Z), 1, 2, "dxz(u), or dxz(u, 4) for order 4"},
    {"dy", DERIVATIVE, AXES(Y, ONE), 1, 2, "dy(u), or dy(u, 4) for order 4"},
    {"dyy", DERIVATIVE, AXES(Y, Y), 1, 2, "dyy(u), or dyy(u, 4) for order 4"},
    {"dyz", DERIVATIVE, AXES(Y, Z), 1, 2, "dyz(u), or dyz(u, 4) for order 4"},
    {"dz", DERIVATIVE, AXES(Z, ONE), 1, 2, "dz(u), or dz(u, 4) for order 4"},
    {"dzz", DERIVATIVE, AXES(Z, Z), 1, 2, "dzz(u), or dzz(u, 4) for order 4"},
    {"exp", PLAIN, TZ_FUNCTION_exp, 1, 1, "exp(a)"},
    {"fma", PLAIN, TZ_FUNCTION_fma, 3, 3, "fma(a, b, c), which is a*b + c"},
    {"int", TO_INT, TZ_FUNCTION_int, 1, 1, "int(a)"},
    {"lap", LAPLACIAN, 0, 1, 2, "lap(u), or lap(u, 4) for order 4"},
    {"log", PLAIN, TZ_FUNCTION_log, 1, 1, "log(a)"},
    {"max", EXTREME, TZ_FUNCTION_max, 2, 64, "max(a, b, ...)"},
    {"min", EXTREME, TZ_FUNCTION_min, 2, 64, "min(a, b, ...)"},
    {"pow", PLAIN, TZ_FUNCTION_pow, 2, 2, "pow(a, b)"},
    {"select", SELECT, 0, 3, 3, "select(condition, a, b)"},
    {"sin", PLAIN, TZ_FUNCTION_sin, 1, 1, "sin(a)"},
    {"sqrt", PLAIN, TZ_FUNCTION_sqrt, 1, 1, "sqrt(a)"},
    {"sum", SUM, 0, 4, 4, "sum(i, -2, 2, u[i])"},
    {"tanh", PLAIN, TZ_FUNCTION_tanh, 1, 1, "tanh(a)"},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const function *find(const tz_expand *x, const tz_syntax_node *n)
{
    char name[16];
    tz_syntax_name(x->syntax, n, name, sizeof name);
    for (int i = 0; i < FUNCTIONS && n->length < (int)sizeof name; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

bool tz_expand_is_function(const tz_expand *x, const tz_syntax_node *n)
{
    return find(x, n) != NULL;
}

static int unknown_function(tz_expand *x, const tz_syntax_node *n)
{
    const tz_definition *d = x->e->definition;
    const char *names[FUNCTIONS];
    char name[80], hint[400];
    tz_syntax_name(x->syntax, n, name, sizeof name);
    for (int i = 0; i < FUNCTIONS; i++)
        names[i] = functions[i].name;
    for (int f = 0; f < d->fields_count; f++)
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
    return tz_expr_fail(x->e, TZ_UNKNOWN, "unknown function '%s'%s", name,
                        tz_names_hint(hint, sizeof hint, name, names, FUNCTIONS));
}

/* ---- Plain functions ------------------------------------------------------------------------- */

static int plain(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, const function *f)
{
    int arguments[3] = {-1, -1, -1}, count = 0;
    if (x->scalar && f->family == TO_INT)
        return tz_expr_fail(x->e, TZ_TYPE, "int() is for the cells of a grid: use // and %% here");
    for (int i = n->first; i >= 0; i = x->syntax->nodes[i].next, count++) {
        const int value = tz_expand_node(x, i, scope, false);
        x->e->at = x->syntax->nodes[i].at;
        arguments[count] = tz_expr_convert(x->e, value, TZ_EXPR_REAL);
        if (arguments[count] < 0)
            return -1;
    }
    x->e->at = n->at;
    const tz_expr_type type = f->family == TO_INT ? TZ_EXPR_INT : TZ_EXPR_REAL;
    return tz_expr_make(x->e, TZ_EXPR_CALL, type, f->which, arguments[0], arguments[1],
                        arguments[2]);
}

/* min, max and abs: of whole numbers if all arguments are. From the left: min(min(a, b), c). */
static int extreme(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, bool whole,
                   const function *f)
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
        if (result < 0 && f->family == EXTREME) {
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
static int sum(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, bool whole)
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
    tz_expr_operand *terms = malloc((size_t)(high - low + 1) * sizeof *terms);
    if (!terms)
        return tz_expr_fail(x->e, TZ_MEMORY, "not enough memory for the formula");
    bool ok = true;
    for (int i = low; i <= high && ok; i++) {
        const tz_loop loop = {&nodes[name], i, scope->loops};
        tz_scope inner = *scope;
        inner.loops = &loop;
        const int term = tz_expand_node(x, nodes[high_at].next, &inner, whole);
        ok = term >= 0;
        if (ok && !vanishes(x->e, term)) {
            terms[count] = (tz_expr_operand){term, count ? TZ_OP_PLUS : TZ_OP_NONE};
            count++;
        }
    }
    x->e->at = n->at;
    int result = -1;
    if (ok && count < 2)
        result = count ? terms[0].node : tz_expr_number(x->e, 0, TZ_EXPR_INT);
    else if (ok)
        result = tz_expr_chain(x->e, terms, count);
    free(terms);
    return result;
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

enum { ORDERS = 4, DISTANCES = 4 };

/* Weights at distance 1 to 4, for the orders 2, 4, 6 and 8. The first derivative takes the
 * difference of two cells, the second the sum and `centre`. */
static const double first_weights[ORDERS][DISTANCES] = {
    {1.0 / 2},
    {2.0 / 3, -1.0 / 12},
    {3.0 / 4, -3.0 / 20, 1.0 / 60},
    {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280},
};
static const double second_weights[ORDERS][DISTANCES] = {
    {1.0},
    {4.0 / 3, -1.0 / 12},
    {3.0 / 2, -3.0 / 20, 1.0 / 90},
    {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560},
};
static const double second_centre[ORDERS] = {-2.0, -5.0 / 2, -49.0 / 18, -205.0 / 72};

typedef struct derivative {
    tz_expand *x;
    int operand; /* in the syntax */
    const tz_scope *scope;
    int order;        /* 0 to ORDERS - 1 */
    unsigned centred; /* axes of the differences of cells on both sides; bit 0 is x */
} derivative;

/* The operand at another cell. */
static int at(const derivative *d, int axis, int distance, int other_axis, int other)
{
    tz_scope scope = *d->scope;
    scope.shift[axis] += distance;
    scope.shift[other_axis] += other;
    scope.centred |= d->centred;
    const int node = tz_expand_node(d->x, d->operand, &scope, false);
    d->x->e->at = d->x->syntax->nodes[d->operand].at;
    return tz_expr_convert(d->x->e, node, TZ_EXPR_REAL);
}

static int weighted(const derivative *d, double weight, int node)
{
    const int number = tz_expr_number(d->x->e, weight, TZ_EXPR_REAL);
    return node < 0 || number < 0 ? -1 : tz_expr_two(d->x->e, number, TZ_OP_TIMES, node);
}

/* sum + term, or term if there is no sum yet. */
static int plus(const derivative *d, int sum, int term, bool begins)
{
    return begins ? term : tz_expr_two(d->x->e, sum, TZ_OP_PLUS, term);
}

/* The two cells at a distance along an axis: near + far, or far - near. */
static int pair(const derivative *d, int axis, int distance, bool difference, int other_axis,
                int other)
{
    const int low = at(d, axis, -distance, other_axis, other);
    const int high = low < 0 ? -1 : at(d, axis, distance, other_axis, other);
    return difference ? tz_expr_two(d->x->e, high, TZ_OP_MINUS, low)
                      : tz_expr_two(d->x->e, low, TZ_OP_PLUS, high);
}

static int append_term(const derivative *d, tz_expr_operand *terms, int *count, int term)
{
    (void)d;
    terms[*count] = (tz_expr_operand){term, *count ? TZ_OP_PLUS : TZ_OP_NONE};
    ++*count;
    return term;
}

/* c1*(u[-1] + u[1]) + c2*(u[-2] + u[2]) + ... + c0*u, where a pair becomes the sum of all axes'. */
static int second(const derivative *d, int axis, int axes)
{
    tz_expr_operand terms[DISTANCES + 1];
    int count = 0, ok = 0;
    for (int k = 0; k <= d->order && ok >= 0; k++) {
        int all = -1;
        for (int a = axis; a < axis + axes && ok >= 0; a++)
            ok = all = plus(d, all, pair(d, a, k + 1, false, a, 0), a == axis);
        if (ok >= 0)
            ok = append_term(d, terms, &count, weighted(d, second_weights[d->order][k], all));
    }
    if (ok >= 0)
        ok = append_term(d, terms, &count,
                         weighted(d, axes * second_centre[d->order], at(d, axis, 0, axis, 0)));
    return ok < 0 ? -1 : tz_expr_chain(d->x->e, terms, count);
}

/* c1*(u[1] - u[-1]) + c2*(u[2] - u[-2]) + ... */
static int first(const derivative *d, int axis)
{
    tz_expr_operand terms[DISTANCES];
    int count = 0, ok = 0;
    for (int k = 0; k <= d->order && ok >= 0; k++)
        ok = append_term(
            d, terms, &count,
            weighted(d, first_weights[d->order][k], pair(d, axis, k + 1, true, axis, 0)));
    return ok < 0 ? -1 : count == 1 ? terms[0].node : tz_expr_chain(d->x->e, terms, count);
}

/* The sum of ci*cj*((u[i,j] - u[i,-j]) - (u[-i,j] - u[-i,-j])) over i, and for each i over j. */
static int mixed(const derivative *d, int axis, int other)
{
    tz_expr_operand terms[DISTANCES * DISTANCES];
    const double *weights = first_weights[d->order];
    int count = 0, ok = 0;
    for (int k = 0; k < (d->order + 1) * (d->order + 1) && ok >= 0; k++) {
        const int i = k / (d->order + 1), j = k % (d->order + 1);
        const int high = pair(d, other, j + 1, true, axis, i + 1);
        const int low = high < 0 ? -1 : pair(d, other, j + 1, true, axis, -(i + 1));
        ok = append_term(
            d, terms, &count,
            weighted(d, weights[i] * weights[j], tz_expr_two(d->x->e, high, TZ_OP_MINUS, low)));
    }
    return ok < 0 ? -1 : count == 1 ? terms[0].node : tz_expr_chain(d->x->e, terms, count);
}

/* What flows through the face between a cell and the next one: 0.5*(k + k[1])*(u[1] - u). Both
 * cells compute the same bits. `from`: 0 of this cell, -1 of the one before. */
static int flux(const derivative *k, const derivative *u, int axis, int from)
{
    tz_expr *e = u->x->e;
    const int here = at(k, axis, from, axis, 0),
              next = here < 0 ? -1 : at(k, axis, from + 1, axis, 0);
    const int sum = next < 0 ? -1 : tz_expr_two(e, here, TZ_OP_PLUS, next);
    const int mean = weighted(u, 0.5, sum);
    const int low = mean < 0 ? -1 : at(u, axis, from, axis, 0);
    const int high = low < 0 ? -1 : at(u, axis, from + 1, axis, 0);
    const int step = high < 0 ? -1 : tz_expr_two(e, high, TZ_OP_MINUS, low);
    return step < 0 ? -1 : tz_expr_two(e, mean, TZ_OP_TIMES, step);
}

/* The sum over the axes of what flows in at the high side less what flows out at the low side. */
static int divergence(const derivative *k, const derivative *u, int dims)
{
    int all = -1;
    for (int axis = 0; axis < dims; axis++) {
        const int high = flux(k, u, axis, 0), low = high < 0 ? -1 : flux(k, u, axis, -1);
        const int both = low < 0 ? -1 : tz_expr_two(u->x->e, high, TZ_OP_MINUS, low);
        all = both < 0 ? -1 : plus(u, all, both, axis == 0);
        if (all < 0)
            return -1;
    }
    return all;
}

static int differentiate(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope,
                         const function *f)
{
    const int dims = x->e->definition->dims;
    const int one = f->which / 10, two = f->which % 10;
    const bool is_first = f->family == DERIVATIVE && two != one;
    const unsigned axes = is_first ? 1u << one | (two == ONE ? 0 : 1u << two) : 0;
    derivative d = {.x = x, .operand = n->first, .scope = scope, .centred = axes};
    const int order_at = x->syntax->nodes[n->first].next; /* or of div(), its second operand */
    if (x->scalar)
        return tz_expr_fail(
            x->e, TZ_TYPE,
            "%s() needs a field: this number is the same for all cells, and is made "
            "of step and parameters",
            f->name);
    if (f->family == DERIVATIVE && (one >= dims || (two != ONE && two >= dims)))
        return tz_expr_fail(x->e, TZ_TYPE,
                            "%s() needs an axis that is not there: the stencil has %d "
                            "dimension%s",
                            f->name, dims, dims == 1 ? "" : "s");
    tz_expand_centred(x, scope, axes);
    if (f->family == DIVERGENCE) {
        derivative of = d;
        of.operand = order_at;
        return divergence(&d, &of, dims);
    }
    if (order_at >= 0) {
        int order = 0;
        if (tz_expand_number(x, order_at, scope, "the order of a difference", 2, 8, &order) < 0)
            return -1;
        if (order % 2)
            return tz_expr_fail(x->e, TZ_RANGE,
                                "the order of a difference is 2, 4, 6 or 8, and not %d", order);
        d.order = order / 2 - 1;
    }
    if (f->family == LAPLACIAN)
        return second(&d, 0, dims);
    return two == ONE ? first(&d, one) : two == one ? second(&d, one, 1) : mixed(&d, one, two);
}

int tz_expand_call(tz_expand *x, const tz_syntax_node *n, const tz_scope *scope, bool whole)
{
    const function *f = find(x, n);
    if (!f)
        return unknown_function(x, n);
    if (n->count < f->least || n->count > f->most)
        return tz_expr_fail(x->e, TZ_FORMAT, "%s() has %d argument%s here: write %s", f->name,
                            n->count, n->count == 1 ? "" : "s", f->usage);
    switch (f->family) {
    case EXTREME:
    case MAGNITUDE:
        return extreme(x, n, scope, whole, f);
    case SELECT:
        return tz_expand_select(x, n->first, scope, whole);
    case SUM:
        return sum(x, n, scope, whole);
    case LAPLACIAN:
    case DIVERGENCE:
    case DERIVATIVE:
        return differentiate(x, n, scope, f);
    default:
        return plain(x, n, scope, f);
    }
}
