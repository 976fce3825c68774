/* Formulas take the place of temporaries. Called by expand.c and build.c. */
#include "define/temporaries.h"

#include <stdlib.h>
#include <string.h>

int tz_temporary_check(tz_expr *e, int field)
{
    const tz_definition *d = e->definition;
    const tz_temporary *t = &e->temporaries[field];
    const char *name = d->fields[field].name;
    if (!t->written)
        return tz_expr_fail(e, TZ_TYPE,
                            "'%s' is temporary: it has values only in passes after the one that "
                            "writes it, of the same iteration",
                            name);
    if (t->changed)
        return tz_expr_fail(e, TZ_TYPE,
                            "'%s' is temporary, and '%s', which it is made of, has changed since: "
                            "make '%s' a state field",
                            name, d->fields[__builtin_ctz(t->changed)].name, name);
    return 0;
}

static int moved(tz_expr *e, int node, const int *offset);

/* A node without operands, moved. */
static int move_leaf(tz_expr *e, int node, const int *offset)
{
    tz_expr_node n = e->nodes[node];
    if (n.kind == TZ_EXPR_COORDINATE && offset[n.index] != 0)
        return tz_expr_two(e, node, TZ_OP_PLUS, tz_expr_number(e, offset[n.index], TZ_EXPR_INT));
    if (n.kind != TZ_EXPR_READ)
        return node;
    if (n.index >= e->definition->fields_count)
        return moved(e, e->temporaries[n.index].node, n.offset);
    for (int axis = 0; axis < TZ_AXES; axis++)
        n.offset[axis] += offset[axis];
    return tz_expr_intern(e, n, NULL, 0);
}

/* `made`: of each node what was made of it, or -1. */
static int move(tz_expr *e, int node, const int *offset, int *made)
{
    const tz_expr_node n = e->nodes[node];
    if (made[node] >= 0)
        return made[node];
    if (n.count == 0)
        return made[node] = move_leaf(e, node, offset);
    tz_expr_operand *operands = malloc((size_t)n.count * sizeof *operands);
    if (!operands)
        return tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
    bool ok = true;
    for (int i = 0; i < n.count && ok; i++) {
        operands[i] = e->operands[n.first + i];
        operands[i].node = move(e, operands[i].node, offset, made);
        ok = operands[i].node >= 0;
    }
    made[node] = ok ? tz_expr_make_of(e, n, operands, n.count) : -1;
    free(operands);
    return made[node];
}

/* The node with all that it reads at another cell. */
static int moved(tz_expr *e, int node, const int *offset)
{
    const size_t bytes = ((size_t)e->count + 1) * sizeof(int);
    int *made = node < 0 ? NULL : malloc(bytes);
    if (!made)
        return tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
    memset(made, -1, bytes);
    const int result = move(e, node, offset, made);
    free(made);
    return result;
}

int tz_temporaries_put(tz_expr *e, int node)
{
    static const int centre[TZ_AXES];
    return moved(e, node, centre);
}
