/* Sums of reals: products that are added become fused operations, terms with one coefficient are
 * summed first, and sums of cells with weights. Called by build.c and augment.c. */
#include "define/sums.h"

#include <stdlib.h>

/* The node with `change` made in its parts, and then, if it is a sum, in itself; parts that are
 * constant or bits stay. */
static int in_sums(tz_expr *e, int node, int (*parts)(void *e, int node),
                   int (*change)(tz_expr *e, int sum))
{
    if (node < 0)
        return -1;
    const tz_expr_node *n = &e->nodes[node];
    const bool stays = n->count == 0 || n->constant || n->type >= TZ_EXPR_BITS;
    const int result = stays ? node : tz_expr_rebuild(e, node, parts, e);
    if (result < 0)
        return -1;
    const tz_expr_node *made = &e->nodes[result];
    return made->kind == TZ_EXPR_CHAIN && made->type == TZ_EXPR_REAL && !made->constant &&
                   tz_operator_level(e->operands[made->first + 1].op) == TZ_LEVEL_SUM
               ? change(e, result)
               : result;
}

/* ---- Fused operations ------------------------------------------------------------------------ */

/* Is the node a product, and not a quotient? Its last factor, and the product of those before it.
 * */
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
        const tz_expr_operand *factors = tz_expr_operands(e, node, 0);
        *before = factors ? tz_expr_chain(e, factors, n.count - 1) : -1;
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
    tz_expr_operand *sum = tz_expr_operands(e, node, 0); /* terms that are not fused yet */
    int count = 1, before, last;
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
    return e->status ? -1 : count == 1 ? sum[0].node : tz_expr_chain(e, sum, count);
}

static int fuse(void *e, int node)
{
    return tz_expr_fuse(e, node);
}

int tz_expr_fuse(tz_expr *e, int node)
{
    return in_sums(e, node, fuse, fuse_sum);
}

/* ---- Groups of terms with one coefficient ---------------------------------------------------- */

/* A term: coefficient * rest. Its sign is in `op`. */
typedef struct term {
    int coefficient; /* -1: 1 */
    int rest;
    tz_operator op;
    bool done;
} term;

static term split_term(tz_expr *e, tz_expr_operand operand)
{
    const tz_expr_node n = e->nodes[operand.node];
    term t = {-1, operand.node, operand.op ? operand.op : TZ_OP_PLUS, false};
    if (n.kind != TZ_EXPR_CHAIN || n.type != TZ_EXPR_REAL ||
        e->operands[n.first + 1].op != TZ_OP_TIMES)
        return t;
    const int first = e->operands[n.first].node;
    if (!e->nodes[first].constant)
        return t;
    tz_expr_operand *rest = tz_expr_operands(e, operand.node, 1);
    if (!rest)
        return t;
    rest[0].op = TZ_OP_NONE;
    t.coefficient = first;
    t.rest = n.count == 2 ? rest[0].node : tz_expr_chain(e, rest, n.count - 1);
    return t;
}

/* A term of a group: a cell of a field, or cells that lie symmetrically and are added already. */
typedef struct cells {
    int field; /* -1: something else */
    int offset[TZ_AXES];
    unsigned pairs; /* axes along which they lie on both sides, as far as the offset says */
} cells;

static cells cells_of(const tz_expr *e, int node)
{
    const tz_expr_node *n = &e->nodes[node];
    cells c = {.field = n->kind == TZ_EXPR_READ ? n->index : -1};
    memcpy(c.offset, n->offset, sizeof c.offset);
    return c;
}

static bool are_symmetric(const cells *a, const cells *b, int axis)
{
    bool symmetric = a->field >= 0 && a->field == b->field && a->pairs == b->pairs &&
                     a->offset[axis] != 0 && !(a->pairs >> axis & 1);
    for (int d = 0; d < TZ_AXES; d++)
        symmetric = symmetric && a->offset[d] == (d == axis ? -b->offset[d] : b->offset[d]);
    return symmetric;
}

/* Add cells that lie symmetrically, first along x, then such pairs along y, then along z: other
 * cells then add the same. Returns how many terms are left. */
static int add_pairs(tz_expr *e, tz_expr_operand *terms, int count)
{
    cells *all = malloc((size_t)count * sizeof *all);
    if (!all)
        return tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
    for (int i = 0; i < count; i++)
        all[i] = cells_of(e, terms[i].node);
    for (int axis = 0; axis < TZ_AXES; axis++)
        for (int i = 0; i < count && !e->status; i++) {
            int k = i + 1;
            while (k < count && !((terms[k].op == TZ_OP_MINUS) == (terms[i].op == TZ_OP_MINUS) &&
                                  are_symmetric(&all[i], &all[k], axis)))
                k++;
            if (k == count)
                continue;
            const bool turned = all[i].offset[axis] > 0;
            terms[i].node =
                tz_expr_two(e, terms[turned ? k : i].node, TZ_OP_PLUS, terms[turned ? i : k].node);
            all[i].offset[axis] = abs(all[i].offset[axis]);
            all[i].pairs |= 1u << axis;
            count--;
            memmove(terms + k, terms + k + 1, (size_t)(count - k) * sizeof *terms);
            memmove(all + k, all + k + 1, (size_t)(count - k) * sizeof *all);
        }
    free(all);
    return e->status ? -1 : count;
}

/* The terms from number `i` on with the coefficient of that one, as one term. */
static tz_expr_operand gather(tz_expr *e, term *terms, int count, int i, tz_expr_operand *scratch)
{
    const term first = terms[i];
    int n = 0;
    for (int k = i; k < count; k++) {
        if (terms[k].done || terms[k].coefficient != first.coefficient)
            continue;
        terms[k].done = true;
        const tz_operator op = terms[k].op == first.op ? TZ_OP_PLUS : TZ_OP_MINUS;
        scratch[n] = (tz_expr_operand){terms[k].rest, n ? op : TZ_OP_NONE};
        n++;
    }
    n = add_pairs(e, scratch, n);
    int node = n < 0 ? -1 : n == 1 ? scratch[0].node : tz_expr_chain(e, scratch, n);
    if (first.coefficient >= 0 && node >= 0)
        node = tz_expr_two(e, first.coefficient, TZ_OP_TIMES, node);
    return (tz_expr_operand){node, first.op};
}

static int group_sum(tz_expr *e, int node)
{
    const tz_expr_node n = e->nodes[node];
    const size_t size = (size_t)n.count;
    term *terms = tz_expr_alloc(e, size, sizeof *terms);
    tz_expr_operand *scratch = tz_expr_alloc(e, size, sizeof *scratch);
    tz_expr_operand *all = tz_expr_alloc(e, size, sizeof *all);
    int count = 0;
    for (int i = 0; i < n.count && !e->status; i++)
        terms[i] = split_term(e, e->operands[n.first + i]);
    for (int i = 0; i < n.count && !e->status; i++)
        if (!terms[i].done)
            all[count++] = gather(e, terms, n.count, i, scratch);
    if (e->status)
        return -1;
    if (all[0].op == TZ_OP_MINUS) /* only a first term that was negated by a group */
        all[0].node = tz_expr_make(e, TZ_EXPR_NEGATIVE, n.type, 0, all[0].node, -1, -1);
    all[0].op = TZ_OP_NONE;
    return count == 1 ? all[0].node : tz_expr_chain(e, all, count);
}

static int group(void *e, int node)
{
    return tz_expr_group(e, node);
}

int tz_expr_group(tz_expr *e, int node)
{
    return in_sums(e, node, group, group_sum);
}

/* ---- Weights --------------------------------------------------------------------------------- */

void tz_terms_add(tz_terms *t, int node)
{
    if (node < 0)
        return;
    t->all[t->count] = (tz_expr_operand){node, t->count ? TZ_OP_PLUS : TZ_OP_NONE};
    t->count++;
}

int tz_terms_total(tz_expr *e, const tz_terms *t)
{
    return t->count == 0 ? -2 : t->count == 1 ? t->all[0].node : tz_expr_chain(e, t->all, t->count);
}

int tz_weights_times(tz_expr *e, int coefficient, int node)
{
    if (coefficient < 0 || node < 0)
        return -1;
    return tz_expr_is_number(e, coefficient, 0) ? -2
                                                : tz_expr_two(e, coefficient, TZ_OP_TIMES, node);
}

void tz_weights_offset(const int *side, int i, int *offset)
{
    const int at[] = {i % side[0], i / side[0] % side[1], i / side[0] / side[1]};
    for (int axis = 0; axis < TZ_AXES; axis++)
        offset[axis] = at[axis] - side[axis] / 2;
}

/* Over how many axes are entries listed before they are added up? One: rows first. When equal
 * coefficients are grouped: all, or in an array without zeros a row in 2-D and a plane in 3-D. */
static int axes_listed(const tz_expr *e, const int *side, const int *coefficients)
{
    const int dims = e->definition->dims;
    bool zero = false;
    for (int i = 0; i < side[0] * side[1] * side[2]; i++)
        zero = zero || tz_expr_is_number(e, coefficients[i], 0);
    if (!e->definition->group)
        return 1;
    return zero || dims == 1 ? dims : dims - 1;
}

/* Does the entry end its row (1), its plane (2) or the array (3)? */
static int ends(const int *side, int i)
{
    if ((i + 1) % side[0])
        return 0;
    if ((i + 1) % (side[0] * side[1]))
        return 1;
    return i + 1 < side[0] * side[1] * side[2] ? 2 : 3;
}

int tz_weights_sum(tz_expr *e, int field, const int *side, const int *coefficients)
{
    const tz_definition *d = e->definition;
    const int count = side[0] * side[1] * side[2], axes = axes_listed(e, side, coefficients);
    tz_expr_operand *memory = tz_expr_alloc(e, 3 * (size_t)(count + 1), sizeof *memory);
    if (!memory)
        return -1;
    tz_terms planes = {0, memory}, lists = {0, memory + count + 1};
    tz_terms list = {0, lists.all + count + 1};
    for (int i = 0; i < count && !e->status; i++) {
        int offset[TZ_AXES];
        tz_weights_offset(side, i, offset);
        const int read = tz_expr_read(e, field, offset);
        tz_terms_add(&list, tz_weights_times(e, coefficients[i], read));
        if (ends(side, i) >= axes) {
            int all = tz_terms_total(e, &list);
            if (d->group && all >= 0)
                all = tz_expr_group(e, all);
            if (d->fused && all >= 0)
                all = tz_expr_fuse(e, all);
            tz_terms_add(&lists, all);
            list.count = 0;
        }
        if (ends(side, i) >= 2) {
            tz_terms_add(&planes, tz_terms_total(e, &lists));
            lists.count = 0;
        }
    }
    return tz_terms_total(e, &planes);
}
