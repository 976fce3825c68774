/* Fusing: a product that is added becomes one operation, fma(a, b, c), which rounds once. */
#include "define/expr.h"

#include "define/make.h"
#include <stdlib.h>

/* Is the node a product, and not a quotient? Its last factor, and the product of those before it. */
static bool split(tz_expr *e, int node, int *before, int *last)
{
    const tz_expr_node n = e->nodes[node];
    if (n.type != TZ_EXPR_REAL || n.constant)
        return false;
    if (n.kind == TZ_EXPR_POWER && n.index == 2) {
        *before = *last = e->operands[n.first].node;
        return true;
    }
    if (n.kind != TZ_EXPR_CHAIN || e->operands[n.first + n.count - 1].op != TZ_OP_TIMES)
        return false;
    *last = e->operands[n.first + n.count - 1].node;
    *before = e->operands[n.first].node;
    if (n.count > 2) {
        tz_expr_operand *factors = malloc((size_t)n.count * sizeof *factors);
        if (!factors) {
            tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
            return false;
        }
        for (int i = 0; i < n.count - 1; i++)
            factors[i] = e->operands[n.first + i];
        *before = tz_expr_chain(e, factors, n.count - 1);
        free(factors);
    }
    return *before >= 0;
}

static int negated(tz_expr *e, int node, bool minus)
{
    return minus ? tz_expr_make(e, TZ_EXPR_NEGATIVE, TZ_EXPR_REAL, 0, node, -1, -1) : node;
}

/* a*b + c */
static int fma_of(tz_expr *e, int a, int b, int c)
{
    return tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_fma, a, b, c);
}

/* A sum from the left. */
static int fuse_sum(tz_expr *e, int node)
{
    const tz_expr_node n = e->nodes[node];
    tz_expr_operand *sum = malloc((size_t)n.count * sizeof *sum); /* terms that are not fused yet */
    int count = 1, before, last, result = -1;
    if (!sum)
        return tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
    sum[0] = e->operands[n.first];
    for (int i = 1; i < n.count && !e->status; i++) {
        const tz_expr_operand term = e->operands[n.first + i];
        const bool minus = term.op == TZ_OP_MINUS;
        if (split(e, term.node, &before, &last)) {
            const int all = count == 1 ? sum[0].node : tz_expr_chain(e, sum, count);
            sum[0].node = fma_of(e, negated(e, before, minus), last, all);
            count = 1;
        } else if (i == 1 && split(e, sum[0].node, &before, &last)) {
            sum[0].node = fma_of(e, before, last, negated(e, term.node, minus));
        } else {
            sum[count++] = term;
        }
    }
    if (!e->status)
        result = count == 1 ? sum[0].node : tz_expr_chain(e, sum, count);
    free(sum);
    return result;
}

int tz_expr_fuse(tz_expr *e, int node)
{
    if (node < 0)
        return -1;
    const int result = tz_expr_rebuild(e, node, tz_expr_fuse);
    if (result < 0)
        return -1;
    const tz_expr_node *made = &e->nodes[result];
    return made->kind == TZ_EXPR_CHAIN && made->type == TZ_EXPR_REAL && !made->constant &&
                   tz_operator_level(e->operands[made->first + 1].op) == TZ_LEVEL_SUM
               ? fuse_sum(e, result)
               : result;
}
