/* What neighbouring cells compute alike. Called by build.c. */
#include "define/share.h"

#include <stdlib.h>
#include <string.h>

/* ---- Shapes ---------------------------------------------------------------------------------- */

void tz_shapes_clear(tz_shapes *shapes)
{
    free(shapes->shape);
    free(shapes->at);
    free(shapes->place);
    memset(shapes, 0, sizeof *shapes);
}

/* Negative if a comes first: z decides, then y, then x. */
static int compare_places(const int *a, const int *b)
{
    for (int axis = TZ_AXES - 1; axis >= 0; axis--)
        if (a[axis] != b[axis])
            return a[axis] < b[axis] ? -1 : 1;
    return 0;
}

static int compare_nodes(const tz_shapes *s, int a, int b)
{
    return s->shape[a] != s->shape[b] ? (s->shape[a] < s->shape[b] ? -1 : 1)
                                      : compare_places(s->at[a], s->at[b]);
}

/* Operand i of a node. The first two of a sum or product come in one order. */
static tz_expr_operand operand_of(const tz_expr *e, const tz_shapes *s, const tz_expr_node *n,
                                  int i)
{
    const tz_expr_operand *o = e->operands + n->first;
    const bool commute = n->kind == TZ_EXPR_CHAIN && n->count > 1 &&
                         (o[1].op == TZ_OP_PLUS || o[1].op == TZ_OP_TIMES);
    if (i < 2 && commute && compare_nodes(s, o[0].node, o[1].node) > 0)
        return (tz_expr_operand){o[1 - i].node, o[i].op};
    return o[i];
}

static void place_node(const tz_expr *e, tz_shapes *s, int node)
{
    const tz_expr_node *n = &e->nodes[node];
    const bool fixed = n->kind == TZ_EXPR_COORDINATE || n->kind == TZ_EXPR_PLANE ||
                       n->kind == TZ_EXPR_SUM || n->type >= TZ_EXPR_BITS;
    s->place[node] = fixed                     ? TZ_SHAPE_FIXED
                     : n->kind == TZ_EXPR_READ ? TZ_SHAPE_MOVES
                                               : TZ_SHAPE_SAME;
    memcpy(s->at[node], n->kind == TZ_EXPR_READ ? n->offset : (int[TZ_AXES]){0},
           sizeof s->at[node]);
    for (int i = 0; i < n->count; i++) {
        const int operand = operand_of(e, s, n, i).node;
        if (s->place[node] == TZ_SHAPE_SAME)
            memcpy(s->at[node], s->at[operand], sizeof s->at[node]);
        if (s->place[operand] > s->place[node])
            s->place[node] = s->place[operand];
    }
}

/* Are the operands of b those of a, shifted as b is? Their shapes are known. */
static bool same_shape(const tz_expr *e, const tz_shapes *s, int a, int b)
{
    const tz_expr_node *n = &e->nodes[a], *m = &e->nodes[b];
    if (n->kind != m->kind || n->type != m->type || n->function != m->function ||
        n->index != m->index || n->count != m->count || s->place[a] != TZ_SHAPE_MOVES ||
        s->place[b] != TZ_SHAPE_MOVES)
        return false;
    for (int i = 0; i < n->count; i++) {
        const tz_expr_operand p = operand_of(e, s, n, i), q = operand_of(e, s, m, i);
        if (p.op != q.op || s->shape[p.node] != s->shape[q.node])
            return false;
        for (int axis = 0; axis < TZ_AXES && s->place[p.node] == TZ_SHAPE_MOVES; axis++)
            if (s->at[p.node][axis] - s->at[a][axis] != s->at[q.node][axis] - s->at[b][axis])
                return false;
    }
    return true;
}

static unsigned hash_of(const tz_expr *e, const tz_shapes *s, int node)
{
    const tz_expr_node *n = &e->nodes[node];
    unsigned hash = (unsigned)n->kind * 31u + (unsigned)n->index * 7u + (unsigned)n->function;
    for (int i = 0; i < n->count; i++)
        hash = (hash ^ (unsigned)s->shape[operand_of(e, s, n, i).node]) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

tz_status tz_shapes_find(tz_expr *e, tz_shapes *out)
{
    enum { BUCKETS = 4096 };
    const size_t count = (size_t)e->count + 1;
    int *next = malloc(count * sizeof *next), *heads = malloc(BUCKETS * sizeof *heads);
    *out = (tz_shapes){.count = e->count,
                       .shape = malloc(count * sizeof *out->shape),
                       .at = malloc(count * sizeof *out->at),
                       .place = malloc(count * sizeof *out->place)};
    if (!next || !heads || !out->shape || !out->at || !out->place) {
        tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
        tz_shapes_clear(out);
        goto done;
    }
    memset(heads, -1, BUCKETS * sizeof *heads);
    for (int node = 0; node < e->count; node++) { /* operands come before */
        place_node(e, out, node);
        int *head = &heads[hash_of(e, out, node) % BUCKETS], same = *head;
        while (same >= 0 && !same_shape(e, out, same, node))
            same = next[same];
        out->shape[node] = same >= 0 ? same : node;
        next[node] = *head;
        if (same < 0)
            *head = node;
    }
done:
    free(next);
    free(heads);
    return e->status;
}

/* ---- Signs ----------------------------------------------------------------------------------- */

typedef struct signs {
    tz_expr *e;
    tz_shapes shapes;
    /* What was made of each node: with its sign, and with any. -1: nothing yet. */
    int *made[2];
} signs;

static int change(signs *s, int node, bool any_sign);

static bool is_product(const tz_expr *e, const tz_expr_node *n)
{
    return n->kind == TZ_EXPR_CHAIN &&
           tz_operator_level(e->operands[n->first + 1].op) == TZ_LEVEL_PRODUCT;
}

static int without_minus(const tz_expr *e, int node)
{
    return e->nodes[node].kind == TZ_EXPR_NEGATIVE ? e->operands[e->nodes[node].first].node : node;
}

/* Does the sign of operand i not count? Then that of the operands that are equal does not, too. */
static bool sign_is_lost(const tz_expr *e, const tz_expr_node *n, int i, bool any_sign)
{
    const tz_expr_operand *o = e->operands + n->first;
    if (n->kind == TZ_EXPR_NEGATIVE)
        return any_sign;
    if (n->kind == TZ_EXPR_POWER)
        return any_sign || n->index % 2 == 0;
    if (n->kind == TZ_EXPR_SELECT)
        return any_sign && i > 0;
    if (n->kind == TZ_EXPR_CALL)
        return n->function == TZ_FUNCTION_abs ||
               (n->function == TZ_FUNCTION_fma && i < 2 && o[0].node == o[1].node);
    if (!is_product(e, n) || any_sign)
        return any_sign && is_product(e, n);
    int times = 0; /* squares */
    for (int k = 0; k < n->count; k++)
        times += without_minus(e, o[k].node) == without_minus(e, o[i].node);
    return times % 2 == 0;
}

/* Is it a - b, and would the neighbour have b - a? */
static bool is_turned(const signs *s, const tz_expr_node *n)
{
    const tz_expr_operand *o = s->e->operands + n->first;
    return n->kind == TZ_EXPR_CHAIN && n->count == 2 && o[1].op == TZ_OP_MINUS &&
           compare_nodes(&s->shapes, o[0].node, o[1].node) < 0;
}

static int make(signs *s, int node, bool any_sign)
{
    const tz_expr_node n = s->e->nodes[node];
    if (n.count == 0 || n.constant || n.type >= TZ_EXPR_BITS)
        return node;
    tz_expr_operand *operands = malloc((size_t)n.count * sizeof *operands);
    if (!operands)
        return tz_expr_fail(s->e, TZ_MEMORY, "not enough memory for the formula");
    const bool real = n.type == TZ_EXPR_REAL;
    bool ok = true;
    for (int i = 0; i < n.count && ok; i++) {
        operands[i] = s->e->operands[n.first + i];
        operands[i].node = change(s, operands[i].node, real && sign_is_lost(s->e, &n, i, any_sign));
        ok = operands[i].node >= 0;
    }
    if (ok && real && any_sign && is_turned(s, &n)) {
        const int first = operands[0].node;
        operands[0].node = operands[1].node;
        operands[1].node = first;
    }
    const int result = ok ? tz_expr_make_of(s->e, n, operands, n.count) : -1;
    free(operands);
    return result;
}

static int change(signs *s, int node, bool any_sign)
{
    int *made = &s->made[any_sign][node];
    if (*made < 0)
        *made = make(s, node, any_sign);
    return *made;
}

int tz_share_signs(tz_expr *e, int node)
{
    signs s = {.e = e};
    int result = -1;
    if (node < 0 || tz_shapes_find(e, &s.shapes))
        return -1;
    const size_t bytes = 2 * (size_t)s.shapes.count * sizeof *s.made[0];
    s.made[0] = malloc(bytes);
    if (s.made[0]) {
        memset(s.made[0], -1, bytes);
        s.made[1] = s.made[0] + s.shapes.count;
        result = change(&s, node, false);
    } else {
        tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
    }
    free(s.made[0]);
    tz_shapes_clear(&s.shapes);
    return result;
}
