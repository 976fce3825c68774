/* Values of expressions in double. Called where a part of a formula must be known now. */
#include "define/expr.h"

#include <math.h>

/* 0 for b = 0 */
static double floor_over(double a, double b)
{
    return b == 0 ? 0 : floor(a / b);
}

/* a for b = 0 */
static double modulo(double a, double b)
{
    return b == 0 ? a : a - b * floor_over(a, b);
}

/* x*x*...*x from the left; n >= 1. */
static double power_of(double x, int n)
{
    double power = x;
    for (int i = 1; i < n; i++)
        power *= x;
    return power;
}

/* As int: the nearest whole number towards 0, at most the largest; 0 for NaN. */
static double as_int(double x)
{
    if (isnan(x))
        return 0;
    return x >= INT32_MAX ? INT32_MAX : x <= INT32_MIN ? INT32_MIN : trunc(x);
}

static double apply(tz_operator op, double a, double b)
{
    const int32_t ia = (int32_t)as_int(a), ib = (int32_t)as_int(b);
    switch (op) {
    case TZ_OP_OR:
        return a != 0 || b != 0;
    case TZ_OP_AND:
        return a != 0 && b != 0;
    case TZ_OP_EQUAL:
        return a == b;
    case TZ_OP_NOT_EQUAL:
        return a != b;
    case TZ_OP_LESS:
        return a < b;
    case TZ_OP_LESS_EQUAL:
        return a <= b;
    case TZ_OP_GREATER:
        return a > b;
    case TZ_OP_GREATER_EQUAL:
        return a >= b;
    case TZ_OP_BITS_OR:
        return ia | ib;
    case TZ_OP_BITS_XOR:
        return ia ^ ib;
    case TZ_OP_BITS_AND:
        return ia & ib;
    case TZ_OP_LEFT:
        return (int32_t)((uint32_t)ia << (ib & 31));
    case TZ_OP_RIGHT:
        return ia >> (ib & 31);
    case TZ_OP_PLUS:
        return a + b;
    case TZ_OP_MINUS:
        return a - b;
    case TZ_OP_TIMES:
        return a * b;
    case TZ_OP_OVER:
        return a / b;
    case TZ_OP_FLOOR_OVER:
        return floor_over(a, b);
    case TZ_OP_MODULO:
        return modulo(a, b);
    default:
        return a;
    }
}

static double call(tz_function function, const double *a)
{
    switch (function) {
    case TZ_FUNCTION_min:
        return a[1] < a[0] ? a[1] : a[0];
    case TZ_FUNCTION_max:
        return a[0] < a[1] ? a[1] : a[0];
    case TZ_FUNCTION_abs:
        return fabs(a[0]);
    case TZ_FUNCTION_sqrt:
        return sqrt(a[0]);
    case TZ_FUNCTION_exp:
        return exp(a[0]);
    case TZ_FUNCTION_log:
        return log(a[0]);
    case TZ_FUNCTION_sin:
        return sin(a[0]);
    case TZ_FUNCTION_cos:
        return cos(a[0]);
    case TZ_FUNCTION_tanh:
        return tanh(a[0]);
    case TZ_FUNCTION_pow:
        return pow(a[0], a[1]);
    case TZ_FUNCTION_fma:
        return fma(a[0], a[1], a[2]);
    default:
        return as_int(a[0]);
    }
}

double tz_expr_value(const tz_expr *e, int node, const double *params, int64_t step)
{
    const tz_expr_node *n = &e->nodes[node];
    const tz_expr_operand *operands = e->operands + n->first;
    if (n->kind == TZ_EXPR_NUMBER)
        return n->number;
    if (n->kind == TZ_EXPR_PARAM)
        return params[n->index];
    if (n->kind == TZ_EXPR_STEP)
        return (double)step;
    if (n->kind == TZ_EXPR_CALL) {
        double values[3] = {0};
        for (int i = 0; i < n->count; i++)
            values[i] = tz_expr_value(e, operands[i].node, params, step);
        return call(n->function, values);
    }
    if (n->count == 0)
        return NAN; /* reads have no value here */
    double value = tz_expr_value(e, operands[0].node, params, step);
    switch (n->kind) {
    case TZ_EXPR_NEGATIVE:
        return -value;
    case TZ_EXPR_BITS_NOT:
        return ~(int32_t)as_int(value);
    case TZ_EXPR_NOT:
        return value == 0;
    case TZ_EXPR_POWER:
        return power_of(value, n->index);
    case TZ_EXPR_SELECT:
        return tz_expr_value(e, operands[value != 0 ? 1 : 2].node, params, step);
    default: /* a chain, or a conversion */
        for (int i = 1; i < n->count; i++)
            value = apply(operands[i].op, value, tz_expr_value(e, operands[i].node, params, step));
        return value;
    }
}
