/* Weighted sums: field' = a*old + b*field + v*scale*sum(c*field). */
#include "define/build.h"
#include "define/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct weights {
    tz_build *build;
    const tz_defined_coefficients *c;
    int field;
    tz_status status;
    tz_error *error;
} weights;

/* A list of terms that are added from the left. */
typedef struct terms {
    int count;
    tz_expr_operand *all;
} terms;

static void add_term(terms *t, int node)
{
    if (node < 0)
        return;
    t->all[t->count] = (tz_expr_operand){node, t->count ? TZ_OP_PLUS : TZ_OP_NONE};
    t->count++;
}

/* Their sum; -2: there is none. */
static int total(weights *w, const terms *t)
{
    return t->count == 0   ? -2
           : t->count == 1 ? t->all[0].node
                           : tz_expr_chain(&w->build->e, t->all, t->count);
}

static int formula(weights *w, tz_defined_text text, const char *what)
{
    char place[256];
    snprintf(place, sizeof place, "%s, %s", w->build->definition->id, what);
    return tz_build_formula(w->build, text, place, TZ_EXPR_REAL, false, &w->status, w->error);
}

/* coefficient * field, or -2 if the coefficient is 0. */
static int weighted(weights *w, int coefficient, int node)
{
    tz_expr *e = &w->build->e;
    if (coefficient < 0 || node < 0)
        return -1;
    return tz_expr_is_number(e, coefficient, 0) ? -2
                                                : tz_expr_two(e, coefficient, TZ_OP_TIMES, node);
}

/* The term of entry `i`, whose offsets these are. */
static int entry(weights *w, int i, const int *offset)
{
    tz_expr *e = &w->build->e;
    const char *text = w->c->fields ? w->c->fields[i] : NULL;
    int coefficient;
    if (text) {
        char what[80];
        snprintf(what, sizeof what, "coefficient at offset %d, %d, %d", offset[0], offset[1],
                 offset[2]);
        coefficient = formula(w, (tz_defined_text){text, strlen(text)}, what);
    } else if (!isfinite(w->c->values[i])) {
        w->status = tz_error_set(w->error, TZ_RANGE, w->build->definition->id,
                                 "the coefficient at offset %d, %d, %d is not finite", offset[0],
                                 offset[1], offset[2]);
        return -1;
    } else {
        coefficient = tz_expr_number(e, w->c->values[i], TZ_EXPR_REAL);
    }
    return weighted(w, coefficient, tz_expr_read(e, w->field, offset));
}

/* Over how many axes are entries listed before they are added up? One: rows first. When equal
 * coefficients are grouped: all, or in an array without zeros a row in 2-D and a plane in 3-D. */
static int axes_listed(const weights *w)
{
    const int *side = w->c->side, dims = w->build->definition->dims;
    bool zero = false;
    for (int i = 0; i < side[0] * side[1] * side[2]; i++)
        zero = zero || (w->c->values[i] == 0 && !(w->c->fields && w->c->fields[i]));
    if (!w->build->definition->group)
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

/* The sum of all entries: each list from its first entry on, then the lists of a plane, then the
 * planes. */
static int sum_all(weights *w)
{
    const int *side = w->c->side;
    const int count = side[0] * side[1] * side[2], axes = axes_listed(w);
    tz_expr_operand *memory = malloc(3 * (size_t)(count + 1) * sizeof *memory);
    if (!memory) {
        w->status =
            tz_error_set(w->error, TZ_MEMORY, w->build->definition->id, "not enough memory");
        return -1;
    }
    terms planes = {0, memory}, lists = {0, memory + count + 1};
    terms list = {0, lists.all + count + 1};
    for (int i = 0; i < count && !w->status && !w->build->e.status; i++) {
        const int x = i % side[0], y = i / side[0] % side[1], z = i / side[0] / side[1];
        const int offset[] = {x - side[0] / 2, y - side[1] / 2, z - side[2] / 2};
        add_term(&list, entry(w, i, offset));
        if (ends(side, i) >= axes) {
            int all = total(w, &list);
            if (w->build->definition->group && all >= 0)
                all = tz_expr_group(&w->build->e, all);
            if (w->build->definition->fused && all >= 0)
                all = tz_expr_fuse(&w->build->e, all);
            add_term(&lists, all);
            list.count = 0;
        }
        if (ends(side, i) >= 2) {
            add_term(&planes, total(w, &lists));
            lists.count = 0;
        }
    }
    const int all = total(w, &planes);
    free(memory);
    return all;
}

/* a*old + b*field + v*scale*sum */
static int sum_parts(weights *w)
{
    tz_expr *e = &w->build->e;
    static const int centre[TZ_AXES];
    const tz_defined_coefficients *c = w->c;
    tz_expr_operand parts[3];
    terms t = {0, parts};
    if (c->a.text) {
        const int a = formula(w, c->a, "a");
        add_term(
            &t,
            weighted(w, a, tz_expr_read(e, tz_define_field(w->build->definition, c->old), centre)));
    }
    if (c->b.text && !w->status)
        add_term(&t, weighted(w, formula(w, c->b, "b"), tz_expr_read(e, w->field, centre)));
    int factor = w->status ? -1 : tz_expr_number(e, c->scale, TZ_EXPR_REAL);
    if (c->v.text && factor >= 0) {
        const int v = formula(w, c->v, "v");
        factor = v < 0 ? -1 : tz_expr_two(e, v, TZ_OP_TIMES, factor);
    }
    if (factor < 0)
        return -1;
    const int sum = sum_all(w);
    if (sum >= 0)
        add_term(&t, weighted(w, factor, sum));
    if (w->status || e->status || sum == -1)
        return -1;
    const int all = total(w, &t);
    if (all >= 0 && w->build->definition->fused)
        return tz_expr_fuse(e, all);
    return all == -2 ? tz_expr_number(e, 0, TZ_EXPR_REAL) : all;
}

tz_status tz_build_coefficients(tz_build *build, tz_error *error)
{
    static const int centre[TZ_AXES];
    const tz_definition *d = build->definition;
    char place[128];
    weights w = {
        .build = build, .c = d->coefficients, .field = tz_define_summed_field(d), .error = error};
    tz_built_pass *pass = &build->passes[build->passes_count++];
    snprintf(pass->name, sizeof pass->name, "update");
    snprintf(place, sizeof place, "%s, coefficients", d->id);
    build->e.formula = (tz_formula){{"", 0}, place, error};
    pass->fields[0] = w.field;
    pass->nodes[0] = sum_parts(&w);
    pass->count = 1;
    if (d->coefficients->old) {
        pass->fields[1] = tz_define_field(d, d->coefficients->old);
        pass->nodes[1] = tz_expr_read(&build->e, w.field, centre);
        pass->count = 2;
    }
    return w.status ? w.status : build->e.status;
}
