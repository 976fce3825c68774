/* Derivatives of formulas as differences of cells; random numbers as hashes of them. Called by
 * expand.c. */
#include "define/differences.h"

#include <stdlib.h>
#include <string.h>

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
/* At distances 1/2, 3/2, ... from the face between two cells. */
static const double staggered_weights[ORDERS][DISTANCES] = {
    {1.0},
    {9.0 / 8, -1.0 / 24},
    {75.0 / 64, -25.0 / 384, 3.0 / 640},
    {1225.0 / 1024, -245.0 / 3072, 49.0 / 5120, -5.0 / 7168},
};
static const double second_centre[ORDERS] = {-2.0, -5.0 / 2, -49.0 / 18, -205.0 / 72};

typedef struct derivative {
    tz_expansion *x;
    int operand; /* in the syntax */
    const tz_place *scope;
    int order;        /* 0 to ORDERS - 1 */
    unsigned centred; /* axes of the differences of cells on both sides; bit 0 is x */
} derivative;

/* The operand at another cell. */
static int at(const derivative *d, int axis, int distance, int other_axis, int other)
{
    tz_place scope = *d->scope;
    int offset[TZ_AXES] = {0};
    offset[axis] += distance;
    offset[other_axis] += other;
    scope.centred |= d->centred;
    const int node = tz_expand_at(d->x, d->operand, -1, &scope, offset, false);
    d->x->e->at = d->x->syntax->nodes[d->operand].at;
    return tz_expr_convert(d->x->e, node, TZ_EXPR_REAL);
}

/* The number over the spacing of an axis, if the stencil has one. */
static int over_spacing(const derivative *d, int number, int axis)
{
    const tz_definition *def = d->x->e->definition;
    for (int p = 0; def->spaced && p < def->params_count; p++)
        if (def->params[p].role == TZ_PARAM_ROLE_SPACING ||
            def->params[p].role == (tz_param_role)(TZ_PARAM_ROLE_SPACING_X + axis))
            return tz_expr_two(d->x->e, number, TZ_OP_OVER, tz_expr_param(d->x->e, p));
    return number;
}

/* Is the spacing of all axes the same parameter? */
static bool is_square(const tz_definition *d)
{
    bool square = !d->spaced || d->dims == 1;
    for (int p = 0; p < d->params_count; p++)
        square = square || d->params[p].role == TZ_PARAM_ROLE_SPACING;
    return square;
}

/* weight*node, over the spacing of an axis, and over that of another one; -1: none. */
static int weighted(const derivative *d, double weight, int axis, int other, int node)
{
    int number = over_spacing(d, tz_expr_number(d->x->e, weight, TZ_EXPR_REAL), axis);
    number = other < 0 ? number : over_spacing(d, number, other);
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
            ok = append_term(d, terms, &count,
                             weighted(d, second_weights[d->order][k], axis, axis, all));
    }
    if (ok >= 0)
        ok = append_term(
            d, terms, &count,
            weighted(d, axes * second_centre[d->order], axis, axis, at(d, axis, 0, axis, 0)));
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
            weighted(d, first_weights[d->order][k], axis, -1, pair(d, axis, k + 1, true, axis, 0)));
    return ok < 0 ? -1 : count == 1 ? terms[0].node : tz_expr_chain(d->x->e, terms, count);
}

/* c1*(u[1] - u) + c2*(u[2] - u[-1]) + ..., or with all cells `below` lower. */
static int staggered(const derivative *d, int axis, int below)
{
    tz_expr_operand terms[DISTANCES];
    int count = 0, ok = 0;
    for (int k = 0; k <= d->order && ok >= 0; k++) {
        const int high = at(d, axis, k + 1 - below, axis, 0);
        const int low = high < 0 ? -1 : at(d, axis, -k - below, axis, 0);
        ok = append_term(d, terms, &count,
                         weighted(d, staggered_weights[d->order][k], axis, -1,
                                  tz_expr_two(d->x->e, high, TZ_OP_MINUS, low)));
    }
    return ok < 0 ? -1 : count == 1 ? terms[0].node : tz_expr_chain(d->x->e, terms, count);
}

/* dxx(u) + dyy(u) + dzz(u), where the spacings differ. */
static int laplacian(const derivative *d, int dims)
{
    if (is_square(d->x->e->definition))
        return second(d, 0, dims);
    int all = -1;
    for (int axis = 0; axis < dims; axis++) {
        const int one = second(d, axis, 1);
        all = one < 0 ? -1 : plus(d, all, one, axis == 0);
        if (all < 0)
            return -1;
    }
    return all;
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
        ok = append_term(d, terms, &count,
                         weighted(d, weights[i] * weights[j], axis, other,
                                  tz_expr_two(d->x->e, high, TZ_OP_MINUS, low)));
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
    const int mean = weighted(u, 0.5, axis, axis, sum);
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

int tz_differentiate(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope,
                     const tz_known_function *f)
{
    const int dims = x->e->definition->dims;
    const int one = f->which / 10, two = f->which % 10;
    const bool is_first = f->family == TZ_FAMILY_DERIVATIVE && two != one;
    const unsigned axes = is_first ? 1u << one | (two == TZ_NO_AXIS ? 0 : 1u << two) : 0;
    derivative d = {.x = x, .operand = n->first, .scope = scope, .centred = axes};
    const int order_at = x->syntax->nodes[n->first].next; /* or of div(), its second operand */
    if (x->scalar)
        return tz_expr_fail(
            x->e, TZ_TYPE,
            "%s() needs a field: this number is the same for all cells, and is made "
            "of step and parameters",
            f->name);
    if ((f->family == TZ_FAMILY_STAGGERED && one >= dims) ||
        (f->family == TZ_FAMILY_DERIVATIVE && (one >= dims || (two != TZ_NO_AXIS && two >= dims))))
        return tz_expr_fail(x->e, TZ_TYPE,
                            "%s() needs an axis that is not there: the stencil has %d "
                            "dimension%s",
                            f->name, dims, dims == 1 ? "" : "s");
    tz_expand_centred(x, scope, axes);
    if (f->family == TZ_FAMILY_DIVERGENCE) {
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
    if (f->family == TZ_FAMILY_LAPLACIAN)
        return laplacian(&d, dims);
    if (f->family == TZ_FAMILY_STAGGERED)
        return staggered(&d, one, two);
    return two == TZ_NO_AXIS ? first(&d, one)
           : two == one      ? second(&d, one, 1)
                             : mixed(&d, one, two);
}

/* ---- Random numbers -------------------------------------------------------------------------- */

/* As an int, computed modulo 2^32. */
static int word(tz_expr *e, uint32_t number)
{
    return tz_expr_number(e, (int32_t)number, TZ_EXPR_INT);
}

/* a + b*c */
static int mix(tz_expr *e, int a, int b, int c)
{
    return tz_expr_two(e, a, TZ_OP_PLUS, tz_expr_two(e, b, TZ_OP_TIMES, c));
}

/* The seed, spread over all bits, in cells: a constant would be computed in double. */
static int spread_seed(tz_expansion *x)
{
    const tz_definition *d = x->e->definition;
    for (int p = 0; p < d->params_count; p++)
        if (strcmp(d->params[p].name, "seed") == 0 && d->params[p].integer) {
            const int turned =
                tz_expr_two(x->e, tz_expr_param(x->e, p), TZ_OP_BITS_XOR, word(x->e, 0x5bd1e995u));
            const int spread = tz_expr_two(x->e, turned, TZ_OP_TIMES, word(x->e, 0x9e3779b9u));
            const int high = tz_expr_two(x->e, spread, TZ_OP_RIGHT_ZEROS, word(x->e, 15));
            return tz_expr_two(x->e, tz_expr_two(x->e, spread, TZ_OP_BITS_XOR, high), TZ_OP_TIMES,
                               word(x->e, 0x85ebca6bu));
        }
    return tz_expr_fail(x->e, TZ_TYPE,
                        "random numbers need a seed, an integer parameter: params = { seed = { "
                        "value = 1, integer = true } }");
}

/* Four words of random bits from the cell, the iteration, the stream and the seed: pcg4d of
 * Jarzynski and Olano ("Hash functions for GPU rendering", JCGT 9, 2020). The seed and the stream
 * move the cell and the iteration far outside of any grid and run. */
static bool random_words(tz_expansion *x, const tz_place *scope, uint32_t stream, int *v)
{
    tz_expr *e = x->e;
    const int dims = e->definition->dims, seed = spread_seed(x);
    const int step =
        tz_expr_intern(e, (tz_expr_node){.kind = TZ_EXPR_STEP, .type = TZ_EXPR_INT}, NULL, 0);
    if (seed < 0 || step < 0)
        return false;
    v[0] = tz_expr_two(e, tz_expand_coordinate(x, scope, 0, true), TZ_OP_BITS_XOR, seed);
    v[1] = dims > 1 ? tz_expand_coordinate(x, scope, 1, true) : word(e, 0x2545f491u);
    v[2] = dims > 2 ? tz_expand_coordinate(x, scope, 2, true) : word(e, 0x4f6cdd1du);
    v[3] = tz_expr_two(e, step, TZ_OP_BITS_XOR, word(e, (stream + 1) * 0x9e3779b9u));
    v[1] = tz_expr_two(e, v[1], TZ_OP_MINUS, seed);
    for (int i = 0; i < 4; i++)
        v[i] = i == 2 && dims < 3 ? v[i] : mix(e, word(e, 1013904223u), v[i], word(e, 1664525u));
    for (int round = 0; round < 2; round++) {
        v[0] = mix(e, v[0], v[1], v[3]);
        v[1] = mix(e, v[1], v[2], v[0]);
        v[2] = mix(e, v[2], v[0], v[1]);
        v[3] = mix(e, v[3], v[1], v[2]);
        for (int i = 0; i < 4 && round == 0; i++)
            v[i] = tz_expr_two(e, v[i], TZ_OP_BITS_XOR,
                               tz_expr_two(e, v[i], TZ_OP_RIGHT_ZEROS, word(e, 16)));
    }
    return v[3] >= 0;
}

/* random(stream), from 0 to below 1, or normal(stream) of it, by Box and Muller. */
int tz_noise(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool normal)
{
    enum { STREAM_MOST = 1000000 };
    tz_expr *e = x->e;
    int stream = 0, v[4];
    if (x->scalar)
        return tz_expr_fail(e, TZ_TYPE,
                            "random numbers differ from cell to cell, and this number is the same "
                            "for all cells");
    if (tz_type_is_bits(e->definition->fields[0].type))
        return tz_expr_fail(e, TZ_TYPE,
                            "random numbers are not for a stencil of bits: make its fields int");
    if (tz_expand_number(x, n->first, scope, "the stream of random numbers", 0, STREAM_MOST,
                         &stream) < 0)
        return -1;
    e->at = n->at;
    if (!random_words(x, scope, (uint32_t)stream, v))
        return -1;
    const int unit = tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_unit, v[0], v[1], -1);
    if (!normal)
        return unit;
    const int one = tz_expr_number(e, 1, TZ_EXPR_REAL);
    const int turn = tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_unit, v[2], v[3], -1);
    const int logarithm = tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_log,
                                       tz_expr_two(e, one, TZ_OP_MINUS, unit), -1, -1);
    const int square = tz_expr_two(e, tz_expr_number(e, -2, TZ_EXPR_REAL), TZ_OP_TIMES, logarithm);
    const int angle =
        tz_expr_two(e, tz_expr_number(e, 6.28318530717958647692, TZ_EXPR_REAL), TZ_OP_TIMES, turn);
    return tz_expr_two(
        e, tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_sqrt, square, -1, -1),
        TZ_OP_TIMES, tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_cos, angle, -1, -1));
}
