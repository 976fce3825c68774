/* The wider sum of an augmented stencil: the powers of a weighted sum, and the frame near the
 * sides. Called by build.c; what it finds becomes text in source.c. */
#include "define/augment.h"

#include "define/check.h"
#include "define/sums.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapeze/formulas.h>

/* A coefficient: a number, or an expression of parameters. */
typedef struct weight {
    long double number;
    int node; /* -1: the number */
} weight;

/* Arrays have the sides of the widest sum, with the cell itself in the middle. */
typedef struct augment {
    tz_expr *e;
    tz_augment_frame *frame;
    const tz_weighted_step *step;
    int steps;
    int radius[TZ_AXES]; /* of one step */
    int side[TZ_AXES], count, centre;
    weight *one;    /* the coefficients of one step */
    weight *sum[3]; /* those of k, k - 1 and k - 2 steps */
    weight a;       /* of the values before */
    bool symbols;   /* there are parameters in them */
    int *values;    /* of each level and cell of the frame's text: its node, or -1 */
    int terms;      /* of the frame */
    tz_status status;
    tz_error *error;
} augment;

/* ---- Coefficients ---------------------------------------------------------------------------- */

static bool is_zero(const weight *w)
{
    return w->node < 0 && w->number == 0;
}

static bool is_equal(const weight *a, const weight *b)
{
    return a->node == b->node && a->number == b->number;
}

static int node_of(augment *g, const weight *w)
{
    return w->node >= 0 ? w->node : tz_expr_number(g->e, (double)w->number, TZ_EXPR_REAL);
}

static weight weight_of(augment *g, int node)
{
    const tz_expr_node *n = &g->e->nodes[node];
    if (n->kind == TZ_EXPR_NUMBER)
        return (weight){n->number, -1};
    g->symbols = true;
    return (weight){0, node};
}

/* to + a*b. Numbers are added in long double, and rounded when they are complete. */
static void add_product(augment *g, weight *to, const weight *a, const weight *b)
{
    tz_expr *e = g->e;
    if (is_zero(a) || is_zero(b))
        return;
    if (to->node < 0 && a->node < 0 && b->node < 0) {
        to->number += a->number * b->number;
        return;
    }
    const int product = tz_expr_two(e, node_of(g, a), TZ_OP_TIMES, node_of(g, b));
    to->node = is_zero(to) ? product : tz_expr_two(e, node_of(g, to), TZ_OP_PLUS, product);
    to->number = 0;
}

/* The cell of an array that is `by` from another one, or -1. */
static int shifted(const augment *g, int cell, const int *by)
{
    int at[TZ_AXES], to = 0;
    tz_weights_offset(g->side, cell, at);
    for (int axis = TZ_AXES - 1; axis >= 0; axis--) {
        const int place = at[axis] + by[axis] + g->side[axis] / 2;
        if (place < 0 || place >= g->side[axis])
            return -1;
        to = to * g->side[axis] + place;
    }
    return to;
}

/* One more step: sum[0] becomes one * sum[0] + a * sum[1], and the others the ones before. */
static void convolve(augment *g)
{
    weight *next = g->sum[2];
    for (int i = 0; i < g->count; i++)
        next[i] = (weight){0, -1};
    for (int o = 0; o < g->count; o++) {
        int by[TZ_AXES];
        if (is_zero(&g->one[o]))
            continue;
        tz_weights_offset(g->side, o, by);
        for (int i = 0; i < g->count && !g->e->status; i++) {
            const int to = is_zero(&g->sum[0][i]) ? -1 : shifted(g, i, by);
            if (to >= 0)
                add_product(g, &next[to], &g->one[o], &g->sum[0][i]);
        }
    }
    for (int i = 0; i < g->count; i++) {
        add_product(g, &next[i], &g->a, &g->sum[1][i]);
        next[i].number = (double)next[i].number;
    }
    g->sum[2] = g->sum[1];
    g->sum[1] = g->sum[0];
    g->sum[0] = next;
}

/* ---- What can be augmented ------------------------------------------------------------------- */

static bool is_constant(augment *g, int node, const char *what)
{
    if (node < 0 || g->e->nodes[node].constant)
        return true;
    g->status = tz_error_set(
        g->error, TZ_TYPE, g->e->definition->id,
        "augment = %d: %s is not the same in all cells and iterations, so several steps are no "
        "sum with one array of coefficients; write it with numbers and parameters, or leave "
        "'augment' out",
        g->steps, what);
    return false;
}

static bool all_constant(augment *g)
{
    const tz_weighted_step *s = g->step;
    const int count = s->side[0] * s->side[1] * s->side[2];
    bool constant =
        is_constant(g, s->a, "a") && is_constant(g, s->b, "b") && is_constant(g, s->factor, "v");
    for (int i = 0; i < count && constant; i++)
        constant = is_constant(g, s->coefficients[i], "a coefficient");
    return constant;
}

/* Radius and sides, without coefficients of 0 at the ends. */
static bool measure(augment *g)
{
    const tz_weighted_step *s = g->step;
    g->count = 1;
    for (int i = 0; i < s->side[0] * s->side[1] * s->side[2]; i++) {
        int offset[TZ_AXES];
        tz_weights_offset(s->side, i, offset);
        for (int axis = 0; axis < TZ_AXES; axis++)
            if (!tz_expr_is_number(g->e, s->coefficients[i], 0) &&
                abs(offset[axis]) > g->radius[axis])
                g->radius[axis] = abs(offset[axis]);
    }
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const int radius = g->steps * g->radius[axis];
        if (radius > TZ_RADIUS_MAX) {
            g->status =
                tz_error_set(g->error, TZ_RANGE, g->e->definition->id,
                             "augment = %d: steps of radius %d need the radius %d along %c, "
                             "and %d is possible: use an augment up to %d",
                             g->steps, g->radius[axis], radius, "xyz"[axis], TZ_RADIUS_MAX,
                             TZ_RADIUS_MAX / g->radius[axis]);
            return false;
        }
        g->side[axis] = 2 * radius + 1;
        g->count *= g->side[axis];
    }
    g->centre = g->count / 2;
    return true;
}

/* The coefficients of one step, b and the factor among them. */
static void fill(augment *g)
{
    const tz_weighted_step *s = g->step;
    const weight factor = weight_of(g, s->factor), one = {1, -1};
    for (int i = 0; i < g->count; i++)
        g->one[i] = g->sum[0][i] = g->sum[1][i] = (weight){0, -1};
    for (int i = 0; i < s->side[0] * s->side[1] * s->side[2]; i++) {
        int offset[TZ_AXES];
        const weight c = weight_of(g, s->coefficients[i]);
        tz_weights_offset(s->side, i, offset);
        if (!is_zero(&c))
            add_product(g, &g->one[shifted(g, g->centre, offset)], &factor, &c);
    }
    if (s->b >= 0) {
        const weight b = weight_of(g, s->b);
        add_product(g, &g->one[g->centre], &one, &b);
    }
    for (int i = 0; i < g->count; i++)
        g->one[i].number = (double)g->one[i].number;
    g->a = s->a >= 0 ? weight_of(g, s->a) : (weight){0, -1};
    g->sum[0][g->centre] = one;
}

/* Past a mirror side a sum of several steps is right if the coefficients are even. */
static bool check_even(augment *g)
{
    const tz_definition *d = g->e->definition;
    for (int i = 0; i < g->count; i++)
        for (int axis = 0; axis < TZ_AXES; axis++) {
            int offset[TZ_AXES], by[TZ_AXES] = {0};
            tz_weights_offset(g->side, i, offset);
            by[axis] = -2 * offset[axis];
            if (is_equal(&g->one[i], &g->one[shifted(g, i, by)]))
                continue;
            g->frame->uneven = true;
            if (!(d->boundaries & tz_boundaries_with(TZ_RULE_REFLECTS)))
                return true;
            g->status = tz_error_set(g->error, TZ_TYPE, d->id,
                                     "augment = %d: mirror sides need coefficients that are the "
                                     "same in both directions of each axis, and along %c they are "
                                     "not: leave \"mirror\" out of the boundaries",
                                     g->steps, "xyz"[axis]);
            return false;
        }
    return true;
}

/* With parameters each coefficient is a formula of its own, which is written out. */
static bool check_symbols(augment *g)
{
    int points = 0;
    for (int i = 0; i < g->count; i++)
        points += !is_zero(&g->one[i]);
    if (!g->symbols || pow(points, g->steps) <= 10000)
        return true;
    g->status = tz_error_set(g->error, TZ_RANGE, g->e->definition->id,
                             "augment = %d: with parameters among %d coefficients the formulas are "
                             "too long: write numbers, or use a smaller augment",
                             g->steps, points);
    return false;
}

/* ---- The wide sum ---------------------------------------------------------------------------- */

/* The sum over a field with factor * sum[which], the coefficients of `steps` steps. */
static int wide_sum(augment *g, int field, int which, int steps, const weight *factor)
{
    int side[TZ_AXES], count = 1;
    for (int axis = 0; axis < TZ_AXES; axis++)
        count *= side[axis] = 2 * steps * g->radius[axis] + 1;
    int *nodes = tz_expr_alloc(g->e, (size_t)count, sizeof *nodes);
    if (!nodes)
        return -1;
    for (int i = 0; i < count; i++) {
        int offset[TZ_AXES];
        weight product = {0, -1};
        tz_weights_offset(side, i, offset);
        add_product(g, &product, factor, &g->sum[which][shifted(g, g->centre, offset)]);
        nodes[i] = node_of(g, &product);
    }
    return g->e->status ? -1 : tz_weights_sum(g->e, field, side, nodes);
}

/* The sums of two fields. */
static int joined(augment *g, int a, int b)
{
    if (a == -1 || b == -1)
        return -1;
    if (a == -2 && b == -2)
        return tz_expr_number(g->e, 0, TZ_EXPR_REAL);
    return a == -2 ? b : b == -2 ? a : tz_expr_two(g->e, a, TZ_OP_PLUS, b);
}

/* How many fields are written: `field`, and `old` if there is one. */
static int levels_of(const augment *g)
{
    return g->step->old >= 0 ? 2 : 1;
}

static void write_sums(augment *g, int *nodes)
{
    const weight one = {1, -1};
    const tz_weighted_step *s = g->step;
    for (int k = 0; k < levels_of(g); k++) {
        const int now = wide_sum(g, s->field, k, g->steps - k, &one);
        const int before =
            is_zero(&g->a) ? -2 : wide_sum(g, s->old, k + 1, g->steps - k - 1, &g->a);
        nodes[k] = joined(g, now, before);
    }
}

/* ---- The frame ------------------------------------------------------------------------------- */

static int side_node(augment *g, int kind, int side)
{
    const tz_expr_node node = {.kind = TZ_EXPR_SIDE,
                               .type = TZ_EXPR_INT,
                               .constant = true,
                               .index = kind + TZ_SIDE_KINDS * side,
                               .number = kind == TZ_SIDE_FRAME ? g->frame->width[side / 2] : 0};
    return tz_expr_intern(g->e, node, NULL, 0);
}

/* Is the cell at this offset along an axis past such a side? */
static int is_past(augment *g, int kind, int axis, int offset)
{
    tz_expr *e = g->e;
    const tz_expr_node node = {.kind = TZ_EXPR_COORDINATE, .type = TZ_EXPR_INT, .index = axis};
    const int cell = tz_expr_two(e, tz_expr_intern(e, node, NULL, 0), TZ_OP_PLUS,
                                 tz_expr_number(e, offset, TZ_EXPR_INT));
    return tz_expr_two(e, cell, offset < 0 ? TZ_OP_LESS : TZ_OP_GREATER_EQUAL,
                       side_node(g, kind, 2 * axis + (offset > 0)));
}

static int value_after(augment *g, int level, int cell);

/* What a step makes of a cell inside the grid. */
static int stepped(augment *g, int level, int cell)
{
    tz_expr *e = g->e;
    const bool fused = g->e->definition->fused;
    int sum = -1;
    for (int o = 0; o <= g->count && !e->status; o++) {
        int by[TZ_AXES];
        const weight *c = o < g->count ? &g->one[o] : &g->a;
        if (is_zero(c))
            continue;
        if (o < g->count)
            tz_weights_offset(g->side, o, by);
        const int read = o < g->count ? value_after(g, level - 1, shifted(g, cell, by))
                                      : value_after(g, level - 2, cell);
        const int factor = node_of(g, c);
        if (fused && sum >= 0)
            sum = tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_fma, factor, read, sum);
        else if (sum >= 0)
            sum = tz_expr_two(e, sum, TZ_OP_PLUS, tz_expr_two(e, factor, TZ_OP_TIMES, read));
        else
            sum = tz_expr_two(e, factor, TZ_OP_TIMES, read);
        g->terms++;
    }
    return sum >= 0 ? sum : tz_expr_number(e, 0, TZ_EXPR_REAL);
}

/* The value of a cell after `level` steps, whether it is inside the grid or past a side. */
static int value_after(augment *g, int level, int cell)
{
    tz_expr *e = g->e;
    int offset[TZ_AXES];
    if (e->status || cell < 0 || g->terms > TZ_AUGMENT_TERMS_MAX)
        return -1;
    tz_weights_offset(g->side, cell, offset);
    if (level <= 0)
        return tz_expr_read(e, level < 0 ? g->step->old : g->step->field, offset);
    int *kept = &g->values[(level - 1) * g->count + cell];
    if (*kept >= 0)
        return *kept;
    int value = stepped(g, level, cell), fixed = -1;
    for (int axis = TZ_AXES - 1; axis >= 0; axis--) {
        int inward[TZ_AXES] = {0};
        if (offset[axis] == 0)
            continue;
        inward[axis] = offset[axis] < 0 ? 1 : -1;
        const int nearer = value_after(g, level, shifted(g, cell, inward));
        value = tz_expr_make(e, TZ_EXPR_SELECT, TZ_EXPR_REAL, 0,
                             is_past(g, TZ_SIDE_CLAMP, axis, offset[axis]), nearer, value);
        const int past = is_past(g, TZ_SIDE_FIXED, axis, offset[axis]);
        fixed = fixed < 0 ? past : tz_expr_two(e, past, TZ_OP_OR, fixed);
    }
    if (fixed >= 0)
        value = tz_expr_make(e, TZ_EXPR_SELECT, TZ_EXPR_REAL, 0, fixed,
                             tz_expr_read(e, g->step->field, offset), value);
    return *kept = value;
}

static bool write_frame(augment *g)
{
    tz_augment_frame *frame = g->frame;
    for (int k = 0; k < levels_of(g); k++)
        frame->nodes[k] = value_after(g, g->steps - k, g->centre);
    if (g->terms > TZ_AUGMENT_TERMS_MAX) {
        g->status = tz_error_set(
            g->error, TZ_RANGE, g->e->definition->id,
            "augment = %d: a cell near a clamp or fixed side needs more than %d terms for its "
            "steps: use a smaller augment, or boundaries = { \"periodic\", \"mirror\" }",
            g->steps, TZ_AUGMENT_TERMS_MAX);
        return false;
    }
    frame->bounds[frame->bounds_count++] = side_node(g, TZ_SIDE_FRAMED, 0);
    for (int side = 0; side < 2 * g->e->definition->dims; side++)
        frame->bounds[frame->bounds_count++] = side_node(g, TZ_SIDE_FRAME, side);
    return true;
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool reserve(augment *g)
{
    const size_t count = (size_t)g->count;
    g->one = tz_expr_alloc(g->e, count, sizeof *g->one);
    for (int k = 0; k < 3; k++)
        g->sum[k] = tz_expr_alloc(g->e, count, sizeof *g->sum[k]);
    g->values = tz_expr_alloc(g->e, (size_t)g->steps * count, sizeof *g->values);
    if (g->e->status)
        return false;
    memset(g->values, -1, (size_t)g->steps * count * sizeof *g->values);
    return true;
}

tz_status tz_augment(tz_expr *e, const tz_weighted_step *step, tz_augment_frame *frame, int *nodes,
                     tz_error *error)
{
    const tz_definition *d = e->definition;
    augment g = {
        .e = e, .frame = frame, .step = step, .steps = d->coefficients->augment, .error = error};
    frame->steps = g.steps;
    frame->there = (tz_define_boundaries(d) & (tz_boundaries_with(TZ_RULE_REPEATS) |
                                               tz_boundaries_with(TZ_RULE_HAS_VALUE))) != 0;
    if (!all_constant(&g) || !measure(&g) || !reserve(&g))
        goto done;
    for (int axis = 0; axis < TZ_AXES; axis++)
        frame->width[axis] = (g.steps - 1) * g.radius[axis],
        frame->radius[axis] = g.steps * g.radius[axis];
    fill(&g);
    if (e->status || !check_even(&g) || !check_symbols(&g))
        goto done;
    for (int k = 0; k < g.steps && !e->status; k++)
        convolve(&g);
    if (!e->status)
        write_sums(&g, nodes);
    if (!e->status && frame->there)
        write_frame(&g);
done:
    return g.status ? g.status : e->status;
}

/* ---- Sides ----------------------------------------------------------------------------------- */

static const struct {
    unsigned kinds;
    const char *text;
} side_kinds[] = {[TZ_SIDE_FRAMED] = {TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED),
                                      "TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED)"},
                  [TZ_SIDE_CLAMP] = {TZ_ALLOW(TZ_CLAMP), "TZ_ALLOW(TZ_CLAMP)"},
                  [TZ_SIDE_FIXED] = {TZ_ALLOW(TZ_FIXED), "TZ_ALLOW(TZ_FIXED)"},
                  [TZ_SIDE_FRAME] = {TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED),
                                     "TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED)"}};

double tz_augment_side(const tz_expr_node *node, const tz_setup *setup)
{
    const int kind = node->index % TZ_SIDE_KINDS;
    const unsigned kinds = side_kinds[kind].kinds;
    return kind == TZ_SIDE_FRAMED
               ? tz_frame_is_there(setup, kinds)
               : tz_frame_side(setup, node->index / TZ_SIDE_KINDS, kinds, node->number);
}

void tz_augment_side_text(const tz_expr_node *node, bool comment, char *text, size_t size)
{
    const int kind = node->index % TZ_SIDE_KINDS, side = node->index / TZ_SIDE_KINDS;
    const char *end = side % 2 ? "high" : "low", *kinds = side_kinds[kind].text;
    if (!comment && kind == TZ_SIDE_FRAMED)
        snprintf(text, size, "tz_frame_is_there(setup, %s)", kinds);
    else if (!comment)
        snprintf(text, size, "tz_frame_side(setup, %d, %s, %d)", side, kinds, (int)node->number);
    else if (kind == TZ_SIDE_FRAMED)
        snprintf(text, size, "is there a frame");
    else if (kind == TZ_SIDE_FRAME)
        snprintf(text, size, "the frame's end at %s %c", end, "xyz"[side / 2]);
    else
        snprintf(text, size, "%s side at %s %c", kind == TZ_SIDE_CLAMP ? "clamp" : "fixed", end,
                 "xyz"[side / 2]);
}
