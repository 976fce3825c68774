/* The forms of an update that backends compute faster: finds them, and rewrites expressions for
 * them. */
#include "define/forms.h"

#include <string.h>

/* What a node reads, on the axis of rows or planes: one of them, given by its offset, or */
enum { NOTHING = 100, SEVERAL, OTHER /* coordinates, or fields that are not state */ };
enum { FOUND_MAX = 64 }; /* sums that are looked at */

typedef struct search {
    tz_build *build;
    tz_expr *e;
    tz_form *form;
    int axis;
    int nodes;              /* before the search adds some */
    int *reads, *cells;     /* of each node: what, and how many cells, at most 2 */
    int *beside;            /* of each node: reads it cells of other columns or rows? */
    int *moved, *rewritten; /* the node in row or plane 0; reading through sums; or -1 */
    int sum;                /* with rows: the node of the sum */
    int sums[FOUND_MAX], sums_count;
    unsigned where[FOUND_MAX]; /* the offsets at which a sum is needed: bit 8 is 0 */
    bool adds[FOUND_MAX];      /* it reads several cells */
    const struct search *all;  /* the search for all sums of planes; NULL: this is it */
    bool failed;
} search;

/* ---- What nodes read ------------------------------------------------------------------------- */

static int joined(int a, int b)
{
    if (a == OTHER || b == OTHER)
        return OTHER;
    if (a == NOTHING || a == b)
        return b;
    return b == NOTHING ? a : SEVERAL;
}

/* Nodes that a macro cannot hold: those that need variables. */
static bool needs_variables(const tz_expr *e, const tz_expr_node *n)
{
    if (n->type >= TZ_EXPR_BITS)
        return true;
    return n->kind == TZ_EXPR_POWER && e->nodes[e->operands[n->first].node].count > 0;
}

/* Operands come before the nodes that have them. */
static void find_reads(search *s)
{
    for (int i = 0; i < s->nodes; i++) {
        const tz_expr_node *n = &s->e->nodes[i];
        int reads = NOTHING, cells = 0, beside = 0;
        if (n->kind == TZ_EXPR_READ) {
            const bool state = s->build->definition->fields[n->index].role == TZ_STATE;
            reads = state ? n->offset[s->axis] : OTHER;
            cells = 1;
            for (int axis = 0; axis < s->axis; axis++)
                beside = beside || n->offset[axis] != 0;
        } else if (n->kind == TZ_EXPR_COORDINATE || n->kind == TZ_EXPR_STEP) {
            reads = OTHER;
        }
        for (int k = 0; k < n->count; k++) {
            const int operand = s->e->operands[n->first + k].node;
            reads = joined(reads, s->reads[operand]);
            cells += s->cells[operand];
            beside = beside || s->beside[operand];
        }
        if (reads != NOTHING && needs_variables(s->e, n))
            reads = OTHER;
        s->reads[i] = reads;
        s->cells[i] = cells > 2 ? 2 : cells;
        s->beside[i] = beside;
    }
}

/* ---- Nodes with other operands --------------------------------------------------------------- */

static int rebuild(search *s, int node, int (*operand)(void *user, int node))
{
    const int result = tz_expr_rebuild(s->e, node, operand, s);
    s->failed = s->failed || result < 0;
    return result;
}

/* The node with its row or plane moved to 0. */
static int moved(void *user, int node)
{
    search *s = user;
    if (s->reads[node] == NOTHING || s->moved[node] >= 0)
        return s->reads[node] == NOTHING ? node : s->moved[node];
    tz_expr_node n = s->e->nodes[node];
    if (n.kind == TZ_EXPR_READ) {
        n.offset[s->axis] = 0;
        s->moved[node] = tz_expr_intern(s->e, n, NULL, 0);
    } else {
        s->moved[node] = rebuild(s, node, moved);
    }
    return s->moved[node];
}

/* The number of the sum that a node is in row or plane 0; -1: there are too many. */
static int sum_of(search *s, int node)
{
    const int at = s->reads[node], sum = moved(s, node);
    int i = 0;
    if (sum < 0)
        return -1;
    while (i < s->sums_count && s->sums[i] != sum)
        i++;
    if (i == FOUND_MAX)
        return -1;
    if (i == s->sums_count)
        s->sums[s->sums_count++] = sum;
    s->adds[i] = s->cells[node] > 1;
    s->where[i] |= 1u << (at + TZ_RADIUS_MAX);
    return i;
}

/* ---- Forms ----------------------------------------------------------------------------------- */

/* The terms of a sum of real numbers that is added from left to right, as in a + b + c or (a + b) +
 * c: terms[first] to terms[count - 1]. Returns `first`; -1 if there are more terms, or not all are
 * added. */
static int find_terms(const search *s, int node, int *terms, int count)
{
    const tz_expr_node *n = &s->e->nodes[node];
    if (n->kind != TZ_EXPR_CHAIN || n->type != TZ_EXPR_REAL || s->reads[node] != SEVERAL) {
        if (count > 0)
            terms[count - 1] = node;
        return count - 1;
    }
    for (int i = n->count - 1; i > 0; i--) {
        const tz_expr_operand operand = s->e->operands[n->first + i];
        if (operand.op != TZ_OP_PLUS || count == 0)
            return -1;
        terms[--count] = operand.node;
    }
    return find_terms(s, s->e->operands[n->first].node, terms, count);
}

/* Of a node that makes one number of another and of constants: that other one, else -1. */
static int only_operand(const search *s, int node)
{
    const tz_expr_node *n = &s->e->nodes[node];
    int only = -1;
    for (int i = 0; i < n->count; i++) {
        const int operand = s->e->operands[n->first + i].node;
        if (s->reads[operand] == NOTHING)
            continue;
        if (only >= 0 || s->reads[operand] != SEVERAL)
            return -1;
        only = operand;
    }
    return only;
}

/* The node with TZ_EXPR_SUM in place of the sum of all rows; -1: no memory. */
static int without_sum(void *user, int node)
{
    search *s = user;
    const tz_expr_node sum = {.kind = TZ_EXPR_SUM, .type = TZ_EXPR_REAL};
    if (s->reads[node] == NOTHING)
        return node;
    return node == s->sum ? tz_expr_intern(s->e, sum, NULL, 0) : rebuild(s, node, without_sum);
}

/* An update is a sum of rows in their order, each of several cells, or made of it and constants. */
static bool find_rows(search *s)
{
    const tz_built_pass *pass = &s->build->passes[0];
    const int count = 2 * pass->radius + 1;
    int terms[2 * TZ_RADIUS_MAX + 1];
    if (s->build->definition->fields_count != 1 || pass->radius == 0)
        return false;
    s->sum = pass->nodes[0];
    while (s->sum >= 0 && find_terms(s, s->sum, terms, count) != 0)
        s->sum = only_operand(s, s->sum);
    if (s->sum < 0)
        return false;
    for (int i = 0; i < count; i++) {
        if (s->reads[terms[i]] != i - pass->radius || s->cells[terms[i]] < 2)
            return false;
        s->form->row_sum[i] = sum_of(s, terms[i]);
        if (s->form->row_sum[i] < 0)
            return false;
    }
    s->form->result = s->sum == pass->nodes[0] ? -1 : without_sum(s, pass->nodes[0]);
    return !s->failed;
}

static bool in_several_planes(const search *s, int sum)
{
    return (s->where[sum] & (s->where[sum] - 1)) != 0;
}

/* Is a node of one plane kept as a sum? What reads only the cell's own column, and is needed once,
 * is computed where it is needed. */
static bool is_kept(search *s, int node)
{
    if (!s->all || s->beside[node] || s->e->nodes[node].count == 0)
        return true;
    const int sum = moved(s, node);
    for (int i = 0; i < s->all->sums_count; i++)
        if (s->all->sums[i] == sum)
            return in_several_planes(s->all, i);
    return false;
}

static int rewritten(void *user, int node)
{
    search *s = user;
    const int reads = s->reads[node];
    if (reads == NOTHING || (reads == OTHER && s->e->nodes[node].count == 0))
        return node;
    if (s->rewritten[node] >= 0)
        return s->rewritten[node];
    if (reads < NOTHING && is_kept(s, node)) {
        const int sum = sum_of(s, node);
        const tz_expr_node plane = {.kind = TZ_EXPR_PLANE,
                                    .type = s->e->nodes[node].type,
                                    .index = sum,
                                    .offset = {0, 0, reads}};
        s->rewritten[node] = sum < 0 ? -1 : tz_expr_intern(s->e, plane, NULL, 0);
        s->failed = s->failed || s->rewritten[node] < 0;
    } else {
        s->rewritten[node] = rebuild(s, node, rewritten);
    }
    return s->rewritten[node];
}

/* A sum of several cells is needed at several planes. */
static bool find_planes(search *s, int *roots)
{
    const tz_built_pass *pass = &s->build->passes[0];
    bool gains = false;
    for (int round = 0; round < 2; round++) {
        const search all = *s;
        if (round > 0) {
            s->all = &all;
            s->sums_count = 0;
            memset(s->where, 0, sizeof s->where);
            memset(s->rewritten, -1, (size_t)s->nodes * sizeof *s->rewritten);
        }
        for (int i = 0; i < pass->count && !s->failed; i++)
            roots[i] = rewritten(s, pass->nodes[i]);
        s->all = NULL;
    }
    for (int k = 0; k < s->sums_count; k++)
        gains = gains || (s->adds[k] && in_several_planes(s, k));
    return gains && !s->failed && s->sums_count <= TZ_FORM_PLANE_SUMS_MAX;
}

static void find(search *s)
{
    tz_built_pass *pass = &s->build->passes[0];
    int roots[TZ_FIELDS_MAX];
    find_reads(s);
    if (s->axis == 1 && find_rows(s)) {
        s->form->kind = TZ_FORM_ROWS;
    } else if (s->axis == 2 && find_planes(s, roots)) {
        s->form->kind = TZ_FORM_PLANES;
        memcpy(pass->nodes, roots, (size_t)pass->count * sizeof *roots);
    }
}

tz_status tz_form_find(tz_build *build, tz_form *form)
{
    const tz_definition *d = build->definition;
    const int count = build->e.count;
    memset(form, 0, sizeof *form);
    if (d->raw || d->dims < 2 || build->passes_count != 1 || build->frame.there)
        return TZ_OK;
    int *memory = tz_expr_alloc(&build->e, 5 * (size_t)count, sizeof *memory);
    if (!memory)
        return build->e.status;
    memset(memory, -1, 5 * (size_t)count * sizeof *memory);
    search s = {.build = build,
                .e = &build->e,
                .form = form,
                .axis = d->dims - 1,
                .nodes = count,
                .reads = memory,
                .cells = memory + count,
                .moved = memory + 2 * (size_t)count,
                .rewritten = memory + 3 * (size_t)count,
                .beside = memory + 4 * (size_t)count};
    find(&s);
    form->sums_count = form->kind == TZ_FORM_PLAIN ? 0 : s.sums_count;
    memcpy(form->sums, s.sums, (size_t)form->sums_count * sizeof *form->sums);
    return build->e.status;
}
