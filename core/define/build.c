/* A definition whose formulas are read: what source.c makes text of. */
#include "define/build.h"

#include "define/check.h"
#include "define/expansion.h"
#include "define/share.h"
#include "define/sums.h"
#include "define/temporaries.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rates: stages of Runge-Kutta methods ---------------------------------------------------- */

static int read_centre(tz_build *build, const char *field)
{
    static const int centre[TZ_AXES];
    const int f = tz_define_field(build->definition, field);
    return f < 0 ? -1 : tz_expr_read(&build->e, f, centre);
}

/* The field whose rate the update of a stage is. */
static const char *rated(const tz_definition *d, const tz_defined_pass *pass,
                         const tz_defined_formula *u)
{
    char name[TZ_STAGE_NAME_SIZE];
    for (int f = 0; f < d->fields_count && pass->stage < pass->stages; f++)
        if (strcmp(tz_stage_name(name, d->fields[f].name, pass->stage), u->name) == 0)
            return d->fields[f].name;
    return u->name;
}

static int time_step(tz_build *build)
{
    const tz_definition *d = build->definition;
    for (int p = 0; p < d->params_count; p++)
        if (d->params[p].role == TZ_PARAM_ROLE_TIME_STEP)
            return tz_expr_param(&build->e, p);
    return -1;
}

static int number(tz_build *build, double value)
{
    return tz_expr_number(&build->e, value, TZ_EXPR_REAL);
}

/* What a stage makes of the rate at the values of the stage before, with h the time step. One
 * stage: u + h*rate. Two (Heun): u1 = u + h*rate, ((u + u1) + h*rate)/2. Four (Kutta's, without
 * sums of rates): u1 = u + h/2*rate, u2 = u + h/2*rate, u3 = u + h*rate,
 * (u1 + 2*u2 + u3 - u)/3 + h/6*rate. */
static int end_stage(tz_build *build, int rate)
{
    tz_expr *e = &build->e;
    const tz_defined_pass *p = build->method;
    const char *field = build->rated;
    const int h = time_step(build), own = read_centre(build, field);
    int of[3];
    char name[TZ_STAGE_NAME_SIZE];
    for (int i = 0; i < 3; i++)
        of[i] = i + 1 < p->stages ? read_centre(build, tz_stage_name(name, field, i + 1)) : -1;
    if (p->stages == 2 && p->stage == 2) {
        const int sum = tz_expr_two(e, tz_expr_two(e, own, TZ_OP_PLUS, of[0]), TZ_OP_PLUS,
                                    tz_expr_two(e, h, TZ_OP_TIMES, rate));
        return tz_expr_two(e, number(build, 0.5), TZ_OP_TIMES, sum);
    }
    if (p->stages == 4 && p->stage == 4) {
        const int twice = tz_expr_two(e, number(build, 2), TZ_OP_TIMES, of[1]);
        const int sum = tz_expr_two(
            e, tz_expr_two(e, tz_expr_two(e, of[0], TZ_OP_PLUS, twice), TZ_OP_PLUS, of[2]),
            TZ_OP_MINUS, own);
        const int sixth = tz_expr_two(e, number(build, 1.0 / 6.0), TZ_OP_TIMES, h);
        return tz_expr_two(e, tz_expr_two(e, number(build, 1.0 / 3.0), TZ_OP_TIMES, sum),
                           TZ_OP_PLUS, tz_expr_two(e, sixth, TZ_OP_TIMES, rate));
    }
    const int step =
        p->stages == 4 && p->stage < 3 ? tz_expr_two(e, number(build, 0.5), TZ_OP_TIMES, h) : h;
    return tz_expr_two(e, own, TZ_OP_PLUS, tz_expr_two(e, step, TZ_OP_TIMES, rate));
}

static void begin_update(tz_build *build, const tz_defined_pass *pass, const tz_defined_formula *u)
{
    static const double times[] = {0, 0.5, 0.5, 1};
    build->method = pass && pass->stages > 0 ? pass : NULL;
    build->rated = build->method ? rated(build->definition, pass, u) : NULL;
    build->e.stage = build->method ? pass->stage - 1 : 0;
    build->e.stage_time =
        build->method && pass->stages == 4 ? times[build->e.stage] : build->e.stage;
}

/* ---- Formulas ------------------------------------------------------------------------------- */

/* A formula as an expression of a field's type; -1 after a failure, which *status then is. A
 * rate becomes the new value. */
static int read_formula(tz_build *build, tz_defined_text text, const char *place, tz_expr_type type,
                        bool scalar, tz_status *status, tz_error *error)
{
    tz_syntax syntax;
    const tz_formula formula = {text, place, error};
    *status = tz_syntax_parse(&syntax, &formula);
    if (*status)
        return -1;
    int node = tz_expr_expand(&build->e, &syntax, type, scalar);
    if (build->method && node >= 0)
        node = end_stage(build, node);
    if (build->definition->group && !scalar)
        node = tz_expr_group(&build->e, node);
    if (build->definition->fused && !scalar)
        node = tz_expr_fuse(&build->e, node);
    if (!scalar)
        node = tz_share_signs(&build->e, node);
    *status = build->e.status;
    tz_syntax_clear(&syntax);
    return node;
}

static tz_expr_type type_of(const tz_definition *d, int field)
{
    return tz_expr_type_of(d->fields[field].type);
}

/* ---- Reads ----------------------------------------------------------------------------------- */

static void note_read(tz_built_pass *pass, const tz_expr_node *n)
{
    const int f = n->index;
    pass->reads[f] = true;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const int at = n->offset[axis];
        pass->low[f][axis] = at < pass->low[f][axis] ? at : pass->low[f][axis];
        pass->high[f][axis] = at > pass->high[f][axis] ? at : pass->high[f][axis];
        pass->radius = abs(at) > pass->radius ? abs(at) : pass->radius;
    }
}

static void find_reads(const tz_expr *e, int node, tz_built_pass *pass, bool *seen)
{
    if (seen[node])
        return;
    seen[node] = true;
    const tz_expr_node *n = &e->nodes[node];
    if (n->kind == TZ_EXPR_READ)
        note_read(pass, n);
    for (int i = 0; i < n->count; i++)
        find_reads(e, e->operands[n->first + i].node, pass, seen);
}

static tz_status find_all_reads(tz_build *build)
{
    bool *seen = tz_expr_alloc(&build->e, (size_t)build->e.count, sizeof *seen);
    if (!seen)
        return build->e.status;
    for (int p = 0; p < build->passes_count; p++) {
        memset(seen, 0, (size_t)build->e.count);
        for (int i = 0; i < build->passes[p].count; i++)
            if (build->passes[p].nodes[i] >= 0)
                find_reads(&build->e, build->passes[p].nodes[i], &build->passes[p], seen);
        for (int i = 0; p == 0 && build->frame.there && i < build->passes[p].count; i++)
            find_reads(&build->e, build->frame.nodes[i], &build->passes[p], seen);
    }
    /* Inner passes are called in place of the others. */
    for (int p = 0; p < build->inner_count; p++)
        build->passes[build->passes_count - build->inner_count + p].radius =
            build->passes[p].radius;
    return TZ_OK;
}

int tz_build_static_radius(const tz_build *build, int field)
{
    int radius = 0;
    for (int p = 0; p < build->passes_count; p++) {
        const tz_built_pass *pass = &build->passes[p];
        if (build->definition->raw && pass->radius > radius)
            radius = pass->radius;
        for (int axis = 0; axis < TZ_AXES; axis++) {
            radius = pass->high[field][axis] > radius ? pass->high[field][axis] : radius;
            radius = -pass->low[field][axis] > radius ? -pass->low[field][axis] : radius;
        }
    }
    return radius;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* `from`: its pass; NULL: an output. */
static tz_status add_update(tz_build *build, const tz_defined_pass *from, tz_built_pass *pass,
                            const tz_defined_formula *u, tz_error *error)
{
    const tz_definition *d = build->definition;
    const int field = tz_define_field(d, u->name);
    char place[256];
    tz_status status = TZ_OK;
    begin_update(build, from, u);
    snprintf(place, sizeof place, "%s, %s of '%s'", d->id,
             build->rated ? "rate"
             : from       ? "update"
                          : "output",
             build->rated ? build->rated : u->name);
    pass->fields[pass->count] = field;
    pass->nodes[pass->count] =
        d->raw ? -1
               : read_formula(build, u->formula, place, type_of(d, field), false, &status, error);
    begin_update(build, NULL, NULL);
    if (!status && !d->raw) {
        pass->nodes[pass->count] = tz_expand_domain(&build->e, field, pass->nodes[pass->count]);
        status = build->e.status;
    }
    pass->count++;
    return status;
}

/* A pass whose formulas are read: formulas take the place of temporaries. Those that it writes
 * become formulas for later passes; it writes the other fields alone. */
static tz_status put_temporaries(tz_build *build, tz_built_pass *pass, const tz_expr_reach *reach,
                                 tz_error *error)
{
    tz_expr *e = &build->e;
    const int fields_count = build->definition->fields_count, written = pass->count;
    unsigned changed = 0;
    tz_operations ignored = {0};
    if (build->definition->temporaries_count == 0)
        return TZ_OK;
    e->formula = (tz_formula){{"", 0}, build->definition->id, error};
    tz_operations_add(e, pass->nodes, written, pass->inner ? &ignored : &build->with_fields);
    pass->count = 0;
    for (int i = 0; i < written && !e->status; i++) {
        const int field = pass->fields[i], node = tz_temporaries_put(e, pass->nodes[i]);
        if (field >= fields_count) {
            e->temporaries[field] = (tz_temporary){true, node, reach[i], 0};
        } else {
            changed |= 1u << field;
            pass->fields[pass->count] = field;
            pass->nodes[pass->count++] = node;
        }
    }
    for (int f = fields_count; f < tz_define_fields(build->definition); f++)
        e->temporaries[f].changed |= e->temporaries[f].reach.fields & changed;
    build->passes_count -= pass->count == 0;
    tz_operations_add(e, pass->nodes, pass->count, pass->inner ? &ignored : &build->with_formulas);
    return e->status;
}

static tz_status add_pass(tz_build *build, int p, tz_error *error)
{
    const tz_defined_pass *from = &build->definition->passes[p];
    tz_built_pass *pass = &build->passes[build->passes_count++];
    unsigned centred[TZ_FIELDS_MAX];
    tz_expr_reach reach[TZ_FIELDS_MAX];
    tz_status status = TZ_OK;
    if (from->name)
        snprintf(pass->name, sizeof pass->name, "%s", from->name);
    else if (p == 0)
        snprintf(pass->name, sizeof pass->name, "update");
    else
        snprintf(pass->name, sizeof pass->name, "update_%d", p + 1);
    pass->radius = build->definition->raw ? from->radius : 0;
    pass->inner = build->e.within;
    if (pass->inner)
        snprintf(pass->name + strlen(pass->name), sizeof pass->name - strlen(pass->name), "_inner");
    for (int u = 0; u < from->updates_count && !status; u++) {
        build->e.centred = 0;
        build->e.reach = (tz_expr_reach){0};
        status = add_update(build, from, pass, &from->updates[u], error);
        reach[u] = build->e.reach;
        centred[u] =
            from->stages > 0 || reach[u].fields >> pass->fields[u] & 1 ? 0 : build->e.centred;
    }
    for (int u = 0; u < from->updates_count && !status; u++)
        build->e.centred_fields[pass->fields[u]] = centred[u];
    return status ? status : put_temporaries(build, pass, reach, error);
}

static tz_status add_output(tz_build *build, const tz_defined_formula *output, tz_error *error)
{
    tz_built_pass *pass = &build->passes[build->passes_count++];
    snprintf(pass->name, sizeof pass->name, "%s", output->name);
    pass->output = true;
    for (int p = 0; build->definition->raw && p < build->definition->passes_count; p++)
        if (build->definition->passes[p].radius > pass->radius)
            pass->radius = build->definition->passes[p].radius;
    return add_update(build, NULL, pass, output, error);
}

static tz_status add_scalar(tz_build *build, int s, tz_error *error)
{
    const tz_defined_formula *scalar = &build->definition->scalars[s];
    char place[256];
    tz_status status = TZ_OK;
    snprintf(place, sizeof place, "%s, scalar '%s'", build->definition->id, scalar->name);
    build->scalars[s] =
        read_formula(build, scalar->formula, place, TZ_EXPR_REAL, true, &status, error);
    return status;
}

/* ---- Weighted sums: field' = a*old + b*field + v*scale*sum(c*field) -------------------------- */

typedef struct weights {
    tz_build *build;
    const tz_defined_coefficients *c;
    int field;
    tz_status status;
    tz_error *error;
} weights;

static int formula(weights *w, tz_defined_text text, const char *what)
{
    char place[256];
    const tz_formula outer = w->build->e.formula;
    snprintf(place, sizeof place, "%s, %s", w->build->definition->id, what);
    const int node = read_formula(w->build, text, place, TZ_EXPR_REAL, false, &w->status, w->error);
    w->build->e.formula = outer;
    return node;
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
    tz_terms t = {0, parts};
    if (c->a.text) {
        const int a = formula(w, c->a, "a");
        const int old = tz_expr_read(e, tz_define_field(w->build->definition, c->old), centre);
        tz_terms_add(&t, tz_weights_times(e, a, old));
    }
    if (c->b.text && !w->status)
        tz_terms_add(&t,
                     tz_weights_times(e, formula(w, c->b, "b"), tz_expr_read(e, w->field, centre)));
    const int factor = w->status ? -1 : factor_of(w);
    if (factor < 0)
        return -1;
    const int sum = tz_weights_sum(e, w->field, c->side, coefficients);
    if (sum >= 0)
        tz_terms_add(&t, tz_weights_times(e, factor, sum));
    if (w->status || e->status || sum == -1)
        return -1;
    const int all = tz_terms_total(e, &t);
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
    w->status = tz_augment(&w->build->e, &step, &w->build->frame, pass->nodes, w->error);
}

/* The only pass: of a weighted sum. */
static tz_status add_coefficients(tz_build *build, tz_error *error)
{
    const tz_definition *d = build->definition;
    const tz_defined_coefficients *c = d->coefficients;
    const int count = c->side[0] * c->side[1] * c->side[2];
    char place[128];
    weights w = {.build = build, .c = c, .field = tz_define_summed_field(d), .error = error};
    tz_built_pass *pass = &build->passes[build->passes_count++];
    snprintf(pass->name, sizeof pass->name, "update");
    snprintf(place, sizeof place, "%s, coefficients", d->id);
    build->e.formula = (tz_formula){{"", 0}, place, error};
    int *coefficients = tz_expr_alloc(&build->e, (size_t)count, sizeof *coefficients);
    for (int i = 0; i < count && !w.status && !build->e.status; i++)
        coefficients[i] = entry(&w, i);
    pass->fields[0] = w.field;
    pass->count = 1;
    if (c->old)
        pass->fields[pass->count++] = tz_define_field(d, c->old);
    if (!w.status && !build->e.status)
        (c->augment > 1 ? several : single)(&w, pass, coefficients);
    return w.status ? w.status : build->e.status;
}

/* ---- All ------------------------------------------------------------------------------------- */

static tz_status check_pass_names(const tz_build *build, tz_error *error)
{
    for (int p = 0; p < build->passes_count; p++)
        for (int q = 0; q < p; q++)
            if (strcmp(build->passes[p].name, build->passes[q].name) == 0)
                return tz_error_set(error, TZ_FORMAT, build->definition->id,
                                    "two passes or outputs are named '%s': rename one",
                                    build->passes[p].name);
    return TZ_OK;
}

/* The passes again, of cells that read nothing outside of the domain. */
static tz_status add_inner(tz_build *build, tz_error *error)
{
    const int before = build->passes_count;
    tz_status status = TZ_OK;
    build->e.within = true;
    for (int p = 0; p < build->definition->passes_count && !status; p++)
        status = add_pass(build, p, error);
    memset(build->e.temporaries, 0, sizeof build->e.temporaries);
    build->e.within = false;
    build->inner_count = build->passes_count - before;
    return status;
}

tz_status tz_build_begin(tz_build *build, const tz_definition *definition, tz_error *error)
{
    memset(build, 0, sizeof *build);
    tz_status status = tz_define_check(definition, error);
    if (status)
        return status;
    build->definition = definition;
    build->e.definition = definition;
    for (int p = 0; p < definition->passes_count && !status; p++)
        status = add_pass(build, p, error);
    if (!status && definition->coefficients)
        status = add_coefficients(build, error);
    if (!status && build->passes_count == 0)
        status = tz_error_set(error, TZ_FORMAT, definition->id,
                              "all that the passes write is temporary: one must update a state "
                              "field");
    memset(build->e.temporaries, 0, sizeof build->e.temporaries);
    for (int o = 0; o < definition->outputs_count && !status; o++)
        status = add_output(build, &definition->outputs[o], error);
    for (int s = 0; s < definition->scalars_count && !status; s++)
        status = add_scalar(build, s, error);
    if (!status && definition->domain)
        status = add_inner(build, error);
    if (!status)
        status = check_pass_names(build, error);
    build->e.formula = (tz_formula){{"", 0}, definition->id, error};
    build->e.at = 0;
    if (!status)
        status = find_all_reads(build);
    if (status)
        tz_build_end(build);
    return status;
}

void tz_build_end(tz_build *build)
{
    tz_expr_clear(&build->e);
}
