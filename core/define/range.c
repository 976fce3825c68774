/* The ranges of whole numbers in expressions. Called by expr.c for each node. */
#include "define/expr.h"

#include <limits.h>
#include <math.h>

typedef struct range {
    double low, high;
} range;

static const range every = {INT32_MIN, INT32_MAX};

static bool fits(range r)
{
    return r.low >= INT32_MIN && r.high <= INT32_MAX;
}

static range of_operand(const tz_expr *e, const tz_expr_node *n, int i)
{
    const tz_expr_node *operand = &e->nodes[e->operands[n->first + i].node];
    if (operand->type == TZ_EXPR_BOOL)
        return (range){0, 1};
    return operand->type == TZ_EXPR_INT ? (range){operand->low, operand->high} : every;
}

static range times(range a, range b)
{
    const double p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
    return (range){fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))};
}

static range joined(range a, range b)
{
    return (range){fmin(a.low, b.low), fmax(a.high, b.high)};
}

/* The smallest 2^n - 1 that is not less. */
static double all_bits(double value)
{
    double bits = 0;
    while (bits < value)
        bits = 2 * bits + 1;
    return bits;
}

static range combined(range a, tz_operator op, range b)
{
    const bool positive = a.low >= 0 && b.low >= 0;
    switch (op) {
    case TZ_OP_PLUS:
        return (range){a.low + b.low, a.high + b.high};
    case TZ_OP_MINUS:
        return (range){a.low - b.high, a.high - b.low};
    case TZ_OP_TIMES:
        return times(a, b);
    case TZ_OP_FLOOR_OVER:
        if (b.low <= 0)
            return every;
        return (range){floor(a.low / (a.low < 0 ? b.low : b.high)),
                       floor(a.high / (a.high < 0 ? b.high : b.low))};
    case TZ_OP_MODULO:
        if (b.low <= 0)
            return every;
        return (range){0, a.low >= 0 ? fmin(a.high, b.high - 1) : b.high - 1};
    case TZ_OP_BITS_AND:
        if (a.low < 0 && b.low < 0)
            return every;
        return (range){0, fmin(a.low < 0 ? INT32_MAX : a.high, b.low < 0 ? INT32_MAX : b.high)};
    case TZ_OP_BITS_OR:
    case TZ_OP_BITS_XOR:
        return positive ? (range){0, all_bits(fmax(a.high, b.high))} : every;
    case TZ_OP_LEFT:
        return times(a, (range){exp2(b.low), exp2(b.high)});
    case TZ_OP_RIGHT:
        return (range){floor(a.low * exp2(-b.low)), floor(a.high * exp2(-b.low))};
    default:
        return (range){0, 1};
    }
}

static range of_chain(const tz_expr *e, const tz_expr_node *n, bool *wraps)
{
    range all = of_operand(e, n, 0);
    for (int i = 1; i < n->count; i++) {
        all = combined(all, e->operands[n->first + i].op, of_operand(e, n, i));
        *wraps = *wraps || !fits(all);
    }
    return all;
}

static range of_call(const tz_expr *e, const tz_expr_node *n)
{
    if (n->function == TZ_FUNCTION_abs) {
        const range a = of_operand(e, n, 0);
        return (range){0, fmax(fabs(a.low), fabs(a.high))};
    }
    return n->function == TZ_FUNCTION_int ? every
                                          : joined(of_operand(e, n, 0), of_operand(e, n, 1));
}

static range of_node(const tz_expr *e, const tz_expr_node *n, bool *wraps)
{
    const range a = n->count ? of_operand(e, n, 0) : every;
    range all = a;
    switch (n->kind) {
    case TZ_EXPR_NUMBER:
        return (range){n->number, n->number};
    case TZ_EXPR_PARAM:
        return (range){e->definition->params[n->index].min, e->definition->params[n->index].max};
    case TZ_EXPR_COORDINATE: /* so long grids there are not: a neighbour's does not overflow */
        return (range){0, INT32_MAX - 64};
    case TZ_EXPR_CHAIN:
        return of_chain(e, n, wraps);
    case TZ_EXPR_NEGATIVE:
        return (range){-a.high, -a.low};
    case TZ_EXPR_BITS_NOT:
        return (range){-a.high - 1, -a.low - 1};
    case TZ_EXPR_POWER:
        for (int i = 1; i < n->index; i++) {
            all = times(all, a);
            *wraps = *wraps || !fits(all);
        }
        return all;
    case TZ_EXPR_SELECT:
        return joined(of_operand(e, n, 1), of_operand(e, n, 2));
    case TZ_EXPR_CALL:
        return of_call(e, n);
    case TZ_EXPR_CONVERT:
        return a;
    default:
        return every;
    }
}

void tz_expr_set_range(const tz_expr *e, tz_expr_node *node)
{
    if (node->type != TZ_EXPR_INT)
        return;
    bool wraps = false;
    const range r = of_node(e, node, &wraps);
    node->wraps = wraps || !fits(r);
    node->low = node->wraps || !(r.low >= INT32_MIN) ? INT32_MIN : r.low;
    node->high = node->wraps || !(r.high <= INT32_MAX) ? INT32_MAX : r.high;
}
