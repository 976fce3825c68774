/* What neighbouring cells compute alike. Called by build.c and source.c. */
#include "define/share.h"

#include <stdlib.h>
#include <string.h>

/* ---- Shapes ---------------------------------------------------------------------------------- */

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
    if (s->still >= 0)
        s->at[node][s->still] = 0;
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
        s->place[b] != TZ_SHAPE_MOVES ||
        (s->still >= 0 && n->offset[s->still] != m->offset[s->still]))
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

tz_status tz_shapes_find(tz_expr *e, int still, tz_shapes *out)
{
    enum { BUCKETS = 4096 };
    const size_t count = (size_t)e->count + 1;
    int *next = tz_expr_alloc(e, count, sizeof *next);
    int *heads = tz_expr_alloc(e, BUCKETS, sizeof *heads);
    *out = (tz_shapes){.count = e->count,
                       .still = still,
                       .shape = tz_expr_alloc(e, count, sizeof *out->shape),
                       .at = tz_expr_alloc(e, count, sizeof *out->at),
                       .place = tz_expr_alloc(e, count, sizeof *out->place)};
    if (e->status)
        return e->status;
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
    return TZ_OK;
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
    tz_expr_operand *operands = tz_expr_operands(s->e, node, 0);
    if (!operands)
        return -1;
    const bool real = n.type == TZ_EXPR_REAL;
    for (int i = 0; i < n.count; i++) {
        operands[i].node = change(s, operands[i].node, real && sign_is_lost(s->e, &n, i, any_sign));
        if (operands[i].node < 0)
            return -1;
    }
    if (real && any_sign && is_turned(s, &n)) {
        const int first = operands[0].node;
        operands[0].node = operands[1].node;
        operands[1].node = first;
    }
    return tz_expr_make_of(s->e, n, operands, n.count);
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
    if (node < 0 || tz_shapes_find(e, -1, &s.shapes))
        return -1;
    const size_t count = (size_t)s.shapes.count;
    s.made[0] = tz_expr_alloc(e, 2 * count, sizeof *s.made[0]);
    if (!s.made[0])
        return -1;
    memset(s.made[0], -1, 2 * count * sizeof *s.made[0]);
    s.made[1] = s.made[0] + count;
    return change(&s, node, false);
}

/* ---- Shared values --------------------------------------------------------------------------- */

enum {
    COST_LEAST = 5, /* of a value; an addition costs 1, a quotient 8 */
    COST_LEAST_3D = 8,
    NODES_MOST = 20000,
    X = 0,
    Y = 1,
    Z = 2
};

/* Where the value of a shape is needed, at[0] in x and at[1] a row, in 3-D a plane: by the update,
 * or by a value that is computed in one row and in the columns of the cells, or at most in those
 * from low to high, and in `rows` rows before. */
typedef struct use {
    int at[2], low, high, rows, next;
} use;

typedef struct finder {
    tz_expr *e;
    int slow; /* the axis of rows, or in 3-D of planes */
    tz_shapes shapes;
    int (*corner)[TZ_AXES]; /* of each node: the lowest cells that it reads */
    int *last;              /* and the last column */
    int *shift;             /* of each chosen shape: the columns that it reads before its own */
    bool *chosen;           /* of each shape */
    int *seen, round;       /* of each node: in which round */
    int *uses;              /* of each shape: the first use, or -1 */
    int *number;            /* of each chosen shape */
    int *made;              /* of each node: what it is rewritten to, or -1 */
    use *all;
    int all_count, all_capacity;
    double *costs;         /* of each node, with all that it is made of */
    double cost;           /* of the nodes that were visited */
    tz_operations *counts; /* what visits count, or NULL; then they note no uses */
} finder;

static tz_operations operations_of(const tz_expr *e, const tz_expr_node *n)
{
    tz_operations all = {0};
    if (n->kind == TZ_EXPR_CHAIN)
        for (int i = 1; i < n->count; i++)
            ++*(e->operands[n->first + i].op == TZ_OP_OVER ? &all.quotients : &all.others);
    else if (n->kind == TZ_EXPR_POWER)
        all.others = n->index - 1;
    else if (n->kind == TZ_EXPR_CALL && n->function == TZ_FUNCTION_sqrt)
        all.roots = 1;
    else if (n->kind == TZ_EXPR_CALL && n->function > TZ_FUNCTION_sqrt &&
             n->function <= TZ_FUNCTION_erf)
        all.functions = 1;
    else if (n->count > 0 && n->kind != TZ_EXPR_CONVERT && n->kind != TZ_EXPR_NEGATIVE)
        all.others = 1;
    return all;
}

static void add_operations(const tz_expr *e, int node, bool *seen, tz_operations *sum)
{
    const tz_expr_node *n = &e->nodes[node];
    if (seen[node] || n->count == 0 || n->constant)
        return;
    seen[node] = true;
    const tz_operations own = operations_of(e, n);
    sum->quotients += own.quotients;
    sum->roots += own.roots;
    sum->functions += own.functions;
    sum->others += own.others;
    for (int i = 0; i < n->count; i++)
        add_operations(e, e->operands[n->first + i].node, seen, sum);
}

tz_status tz_operations_add(tz_expr *e, const int *roots, int count, tz_operations *sum)
{
    bool *seen = calloc((size_t)e->count + 1, sizeof *seen);
    if (!seen)
        tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
    for (int i = 0; seen && i < count && roots[i] >= 0; i++)
        add_operations(e, roots[i], seen, sum);
    free(seen);
    return e->status;
}

static double cost_of(const tz_expr *e, const tz_expr_node *n)
{
    const tz_operations all = operations_of(e, n);
    return all.others + 8.0 * (all.quotients + all.roots) + 20.0 * all.functions;
}

static void find_corners(finder *f)
{
    for (int node = 0; node < f->shapes.count; node++) {
        const tz_expr_node *n = &f->e->nodes[node];
        bool any = n->kind == TZ_EXPR_READ;
        memcpy(f->corner[node], n->offset, sizeof f->corner[node]);
        f->last[node] = n->offset[X];
        for (int i = 0; i < n->count; i++) {
            const int operand = f->e->operands[n->first + i].node;
            const int *corner = f->corner[operand];
            if (f->shapes.place[operand] != TZ_SHAPE_MOVES)
                continue;
            for (int axis = 0; axis < TZ_AXES; axis++)
                if (!any || corner[axis] < f->corner[node][axis])
                    f->corner[node][axis] = corner[axis];
            if (!any || f->last[operand] > f->last[node])
                f->last[node] = f->last[operand];
            any = true;
        }
    }
}

static void add_use(finder *f, int shape, use u)
{
    if (f->counts)
        return;
    for (int i = f->uses[shape]; i >= 0; i = f->all[i].next) {
        use *old = &f->all[i];
        if (old->at[X] != u.at[X] || old->at[Y] != u.at[Y])
            continue;
        old->low = u.low < old->low ? u.low : old->low;
        old->high = u.high > old->high ? u.high : old->high;
        old->rows = u.rows > old->rows ? u.rows : old->rows;
        return;
    }
    if (f->all_count == f->all_capacity) {
        const int capacity = 2 * f->all_capacity + 64;
        use *all = realloc(f->all, (size_t)capacity * sizeof *all);
        if (!all) {
            tz_expr_fail(f->e, TZ_MEMORY, "not enough memory for the formula");
            return;
        }
        f->all = all;
        f->all_capacity = capacity;
    }
    u.next = f->uses[shape];
    f->uses[shape] = f->all_count;
    f->all[f->all_count++] = u;
}

/* Visit a node and its operands, as far as they are not shared. The value itself is `top`. `from`
 * says where what it reads at 0, 0 is needed. */
static void visit(finder *f, int node, const use *from, int top)
{
    const tz_expr_node *n = &f->e->nodes[node];
    if (f->seen[node] == f->round)
        return;
    f->seen[node] = f->round;
    if (n->count == 0 || n->constant)
        return;
    if (node != top && f->chosen[f->shapes.shape[node]]) {
        use u = *from;
        u.at[X] += f->corner[node][X];
        u.at[Y] += f->corner[node][f->slow];
        u.low += f->corner[node][X];
        u.high += f->corner[node][X];
        add_use(f, f->shapes.shape[node], u);
        return;
    }
    f->cost += cost_of(f->e, n);
    if (f->counts) {
        const tz_operations all = operations_of(f->e, n);
        f->counts->quotients += all.quotients;
        f->counts->roots += all.roots;
        f->counts->functions += all.functions;
        f->counts->others += all.others;
    }
    for (int i = 0; i < n->count; i++)
        visit(f, f->e->operands[n->first + i].node, from, top);
}

/* Choose the column of a value so that most uses are in the columns of the cells. It is one of
 * those that the value reads. */
static int choose_shift(const finder *f, int shape)
{
    int best = 0, most = 0;
    for (int shift = 0; shift <= f->last[shape] - f->corner[shape][X]; shift++) {
        int count = 0;
        for (int i = f->uses[shape]; i >= 0; i = f->all[i].next)
            count += f->all[i].at[X] + shift == 0;
        if (count > most) {
            best = shift;
            most = count;
        }
    }
    return best;
}

/* The value of a shape as far as its uses say it; returns how many they are. */
static int place_value(const finder *f, int shape, tz_shared_value *value)
{
    const int shift = f->shift[shape];
    int count = 0;
    *value = (tz_shared_value){.low = {0, 100}, .high = {0, -100}};
    for (int i = f->uses[shape]; i >= 0; i = f->all[i].next, count++) {
        const use *u = &f->all[i];
        const int low = u->low + shift, high = u->high + shift, row = u->at[Y] - u->rows;
        value->low[X] = low < value->low[X] ? low : value->low[X];
        value->high[X] = high > value->high[X] ? high : value->high[X];
        value->low[Y] = row < value->low[Y] ? row : value->low[Y];
        value->high[Y] = u->at[Y] > value->high[Y] ? u->at[Y] : value->high[Y];
    }
    for (int i = f->uses[shape]; i >= 0; i = f->all[i].next) {
        const unsigned row = 1u << (f->all[i].at[Y] - value->low[Y]);
        value->before |= f->all[i].at[X] + shift < 0 ? row : 0;
        value->after |= f->all[i].at[X] + shift > 0 ? row : 0;
    }
    return count;
}

/* Where the reads of a value are needed if it is computed once: in the newest row and in the
 * columns of the cells, and at their ends in more. */
static use inside_of(const finder *f, int shape, const tz_shared_value *value)
{
    const int x = f->corner[shape][X] + f->shift[shape], y = f->corner[shape][f->slow];
    return (use){.at = {-x, value->high[Y] - y},
                 .low = value->low[X] - x,
                 .high = value->high[X] - x,
                 .rows = value->high[Y] - value->low[Y]};
}

/* All uses of the chosen shapes. The operands of a node come before it, and so do their shapes.
 * Those that are needed in one place alone are no longer chosen; if there are none, then the first
 * one that costs little. Returns whether the choice has changed. */
static bool find_uses(finder *f, const int *roots, int count, double least, int *values)
{
    int single = 0, cheap = -1;
    *values = 0;
    f->all_count = 0;
    memset(f->uses, -1, (size_t)f->shapes.count * sizeof *f->uses);
    f->round++;
    for (int i = 0; i < count; i++)
        visit(f, roots[i], &(use){.at = {0, 0}}, -1);
    for (int shape = f->shapes.count - 1; shape >= 0; shape--) {
        tz_shared_value value;
        if (!f->chosen[shape] || f->uses[shape] < 0)
            continue;
        f->shift[shape] = choose_shift(f, shape);
        const int places = place_value(f, shape, &value);
        use from = inside_of(f, shape, &value);
        if (places == 1) /* it is part of what needs it */
            from.at[X] = f->all[f->uses[shape]].at[X] - f->corner[shape][X];
        f->round++;
        f->cost = 0;
        visit(f, shape, &from, shape);
        cheap = f->cost < least ? shape : cheap;
        f->chosen[shape] = places > 1;
        single += places < 2;
        ++*values;
    }
    if (single == 0 && cheap >= 0)
        f->chosen[cheap] = false;
    return single > 0 || cheap >= 0;
}

/* The node with values in place of what is shared, and its reads moved by `from`. */
static int rewrite(finder *f, int node, const use *from, int first, int top)
{
    tz_expr_node n = f->e->nodes[node];
    const int shape = node < f->shapes.count ? f->shapes.shape[node] : -1;
    if (n.constant || f->made[node] >= 0)
        return n.constant ? node : f->made[node];
    const bool shared = node != top && f->chosen[shape] && n.count > 0;
    tz_expr_operand *operands = tz_expr_operands(f->e, node, 0);
    if (!operands)
        return -1;
    for (int i = 0; i < n.count && !shared; i++) {
        operands[i].node = rewrite(f, operands[i].node, from, first, top);
        if (operands[i].node < 0)
            return -1;
    }
    if (shared)
        n = (tz_expr_node){.kind = TZ_EXPR_SHARED,
                           .type = TZ_EXPR_REAL,
                           .index = first + f->number[shape],
                           .offset = {f->corner[node][X] + f->shift[shape] + from->at[X],
                                      f->corner[node][f->slow] + from->at[Y]}};
    if (n.kind == TZ_EXPR_READ) {
        n.offset[X] += from->at[X];
        n.offset[f->slow] += from->at[Y];
    }
    f->made[node] = tz_expr_intern(f->e, n, operands, shared ? 0 : n.count);
    return f->made[node];
}

/* What the update and its values compute. */
static void count_operations(finder *f, const int *roots, int count, tz_operations *counts)
{
    *counts = (tz_operations){0};
    f->counts = counts;
    f->round++;
    for (int i = 0; i < count; i++)
        visit(f, roots[i], &(use){.at = {0, 0}}, -1);
    for (int shape = 0; shape < f->shapes.count; shape++) {
        f->round++;
        if (f->chosen[shape] && f->uses[shape] >= 0)
            visit(f, shape, &(use){.at = {0, 0}}, shape);
    }
    f->counts = NULL;
}

static void make_values(finder *f, const int *roots, int count, int first, tz_shared *out)
{
    const size_t bytes = (size_t)f->shapes.count * sizeof *f->made;
    for (int shape = 0; shape < f->shapes.count; shape++) {
        if (!f->chosen[shape] || f->uses[shape] < 0)
            continue;
        tz_shared_value *value = &out->values[out->count];
        place_value(f, shape, value);
        const use at = {.at = {-f->corner[shape][X] - f->shift[shape], -f->corner[shape][f->slow]}};
        f->number[shape] = out->count++;
        memset(f->made, -1, bytes);
        value->node = rewrite(f, shape, &at, first, shape);
    }
    memset(f->made, -1, bytes);
    for (int i = 0; i < count; i++)
        out->nodes[i] = rewrite(f, roots[i], &(use){.at = {0, 0}}, first, -1);
}

/* Choose all shapes that cost enough, with what they are made of. */
static void choose(finder *f, double least)
{
    double *costs = f->costs;
    for (int node = 0; node < f->shapes.count; node++) {
        const tz_expr_node *n = &f->e->nodes[node];
        costs[node] = n->constant ? 0 : cost_of(f->e, n);
        for (int i = 0; i < n->count; i++)
            costs[node] += n->constant ? 0 : costs[f->e->operands[n->first + i].node];
        f->chosen[node] = f->shapes.place[node] == TZ_SHAPE_MOVES && n->type == TZ_EXPR_REAL &&
                          n->count > 0 && f->shapes.shape[node] == node && costs[node] >= least;
    }
}

static void find_values(finder *f, const int *roots, int count, int first, tz_shared *out)
{
    int values;
    memset(f->uses, -1, (size_t)f->shapes.count * sizeof *f->uses);
    count_operations(f, roots, count, &out->as_written);
    find_corners(f);
    for (double least = f->slow == Z ? COST_LEAST_3D : COST_LEAST; least < 1000; least *= 2) {
        choose(f, least);
        while (find_uses(f, roots, count, least, &values) && !f->e->status)
            ;
        if (values <= TZ_SHARED_MAX || f->e->status)
            break;
    }
    if (values == 0 || values > TZ_SHARED_MAX || f->e->status)
        return;
    count_operations(f, roots, count, &out->shared);
    make_values(f, roots, count, first, out);
}

tz_status tz_share_find(tz_expr *e, const int *roots, int count, int first, tz_shared *out)
{
    const bool is_3d = e->definition->dims == 3;
    finder f = {.e = e, .slow = is_3d ? Z : Y};
    *out = (tz_shared){0};
    if (e->count > NODES_MOST || tz_shapes_find(e, is_3d ? Y : -1, &f.shapes))
        return e->status;
    const size_t nodes = (size_t)e->count + 1;
    f.corner = tz_expr_alloc(e, nodes, sizeof *f.corner);
    f.chosen = tz_expr_alloc(e, nodes, sizeof *f.chosen);
    f.seen = tz_expr_alloc(e, 6 * nodes, sizeof *f.seen);
    f.costs = tz_expr_alloc(e, nodes, sizeof *f.costs);
    if (!e->status) {
        f.uses = f.seen + nodes;
        f.number = f.uses + nodes;
        f.made = f.number + nodes;
        f.last = f.made + nodes;
        f.shift = f.last + nodes;
        find_values(&f, roots, count, first, out);
    }
    free(f.all);
    return e->status;
}
