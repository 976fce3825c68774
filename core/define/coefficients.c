/* Weighted sums: field' = a*old + b*field + v*scale*sum(c*field). */
#include "define/augment.h"
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
static int total(tz_build *build, const terms *t)
{
    return t->count == 0   ? -2
           : t->count == 1 ? t->all[0].node
                           : tz_expr_chain(&build->e, t->all, t->count);
}

static int formula(weights *w, tz_defined_text text, const char *what)
{
    char place[256];
    const tz_formula outer = w->build->e.formula;
    snprintf(place, sizeof place, "%s, %s", w->build->definition->id, what);
    const int node =
        tz_build_formula(w->build, text, place, TZ_EXPR_REAL, false, &w->status, w->error);
    w->build->e.formula = outer;
    return node;
}

/* coefficient * field, or -2 if the coefficient is 0. */
static int weighted(tz_expr *e, int coefficient, int node)
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

/* The coefficient of entry `i`. */
static int entry(weights *w, int i)
{
    const char *text = w->c->fields ? w->c->fields[i] : NULL;
    int offset[TZ_AXES];
    tz_weights_offset(w->c->side, i, offset);
    if (text) {
        char what[80];
        snprintf(what, sizeof what, "coefficient at offset %d, %d, %d", offset[0], offset[1],
                 offset[2]);
        return formula(w, (tz_defined_text){text, strlen(text)}, what);
    }
    if (!isfinite(w->c->values[i])) {
        w->status = tz_error_set(w->error, TZ_RANGE, w->build->definition->id,
                                 "the coefficient at offset %d, %d, %d is not finite", offset[0],
                                 offset[1], offset[2]);
        return -1;
    }
    return tz_expr_number(&w->build->e, w->c->values[i], TZ_EXPR_REAL);
}

/* Over how many axes are entries listed before they are added up? One: rows first. When equal
 * coefficients are grouped: all, or in an array without zeros a row in 2-D and a plane in 3-D. */
static int axes_listed(const tz_build *build, const int *side, const int *coefficients)
{
    const int dims = build->definition->dims;
    bool zero = false;
    for (int i = 0; i < side[0] * side[1] * side[2]; i++)
        zero = zero || tz_expr_is_number(&build->e, coefficients[i], 0);
    if (!build->definition->group)
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

int tz_build_sum(tz_build *build, int field, const int *side, const int *coefficients)
{
    const tz_definition *d = build->definition;
    const int count = side[0] * side[1] * side[2], axes = axes_listed(build, side, coefficients);
    tz_expr_operand *memory = malloc(3 * (size_t)(count + 1) * sizeof *memory);
    if (!memory)
        return tz_expr_fail(&build->e, TZ_MEMORY, "not enough memory");
    terms planes = {0, memory}, lists = {0, memory + count + 1};
    terms list = {0, lists.all + count + 1};
    for (int i = 0; i < count && !build->e.status; i++) {
        int offset[TZ_AXES];
        tz_weights_offset(side, i, offset);
        const int read = tz_expr_read(&build->e, field, offset);
        add_term(&list, weighted(&build->e, coefficients[i], read));
        if (ends(side, i) >= axes) {
            int all = total(build, &list);
            if (d->group && all >= 0)
                all = tz_expr_group(&build->e, all);
            if (d->fused && all >= 0)
                all = tz_expr_fuse(&build->e, all);
            add_term(&lists, all);
            list.count = 0;
        }
        if (ends(side, i) >= 2) {
            add_term(&planes, total(build, &lists));
            lists.count = 0;
        }
    }
    const int all = total(build, &planes);
    free(memory);
    return all;
}

/* The factor of the sum: v*scale. */
static int factor_of(weights *w)
{
    int factor = tz_expr_number(&w->build->e, w->c->scale, TZ_EXPR_REAL);
    if (w->c->v.text && factor >= 0) {
        const int v = formula(w, w->c->v, "v");
        factor = v < 0 ? -1 : tz_expr_two(&w->build->e, v, TZ_OP_TIMES, factor);
    }
    return factor;
}

/* a*old + b*field + v*scale*sum */
static int sum_parts(weights *w, const int *coefficients)
{
    tz_expr *e = &w->build->e;
    static const int centre[TZ_AXES];
    const tz_defined_coefficients *c = w->c;
    tz_expr_operand parts[3];
    terms t = {0, parts};
    if (c->a.text) {
        const int a = formula(w, c->a, "a");
        const int old = tz_expr_read(e, tz_define_field(w->build->definition, c->old), centre);
        add_term(&t, weighted(e, a, old));
    }
    if (c->b.text && !w->status)
        add_term(&t, weighted(e, formula(w, c->b, "b"), tz_expr_read(e, w->field, centre)));
    const int factor = w->status ? -1 : factor_of(w);
    if (factor < 0)
        return -1;
    const int sum = tz_build_sum(w->build, w->field, c->side, coefficients);
    if (sum >= 0)
        add_term(&t, weighted(e, factor, sum));
    if (w->status || e->status || sum == -1)
        return -1;
    const int all = total(w->build, &t);
    if (all >= 0 && w->build->definition->fused)
        return tz_expr_fuse(e, all);
    return all == -2 ? tz_expr_number(e, 0, TZ_EXPR_REAL) : all;
}

/* The update of one step. */
static void single(weights *w, tz_built_pass *pass, int *coefficients)
{
    static const int centre[TZ_AXES];
    pass->nodes[0] = sum_parts(w, coefficients);
    if (pass->count == 2)
        pass->nodes[1] = tz_expr_read(&w->build->e, w->field, centre);
}

/* The update of several steps. */
static void several(weights *w, tz_built_pass *pass, int *coefficients)
{
    const tz_defined_coefficients *c = w->c;
    const int a = c->a.text ? formula(w, c->a, "a") : -1;
    const int b = c->b.text && !w->status ? formula(w, c->b, "b") : -1;
    const int factor = w->status ? -1 : factor_of(w);
    if (w->status || w->build->e.status)
        return;
    const tz_weighted_step step = {.side = {c->side[0], c->side[1], c->side[2]},
                                   .coefficients = coefficients,
                                   .field = w->field,
                                   .old = pass->count == 2 ? pass->fields[1] : -1,
                                   .a = a,
                                   .b = b,
                                   .factor = factor};
    w->status = tz_build_augmented(w->build, &step, pass, w->error);
}

tz_status tz_build_coefficients(tz_build *build, tz_error *error)
{
    const tz_definition *d = build->definition;
    const tz_defined_coefficients *c = d->coefficients;
    const int count = c->side[0] * c->side[1] * c->side[2];
    char place[128];
    weights w = {.build = build, .c = c, .field = tz_define_summed_field(d), .error = error};
    tz_built_pass *pass = &build->passes[build->passes_count++];
    int *coefficients = malloc((size_t)count * sizeof *coefficients);
    if (!coefficients)
        return tz_error_set(error, TZ_MEMORY, d->id, "not enough memory");
    snprintf(pass->name, sizeof pass->name, "update");
    snprintf(place, sizeof place, "%s, coefficients", d->id);
    build->e.formula = (tz_formula){{"", 0}, place, error};
    for (int i = 0; i < count && !w.status && !build->e.status; i++)
        coefficients[i] = entry(&w, i);
    pass->fields[0] = w.field;
    pass->count = 1;
    if (c->old)
        pass->fields[pass->count++] = tz_define_field(d, c->old);
    if (!w.status && !build->e.status)
        (c->augment > 1 ? several : single)(&w, pass, coefficients);
    free(coefficients);
    return w.status ? w.status : build->e.status;
}
