/* What is wrong with a definition outside its formulas, and with its names. Called by build.c. */
#include "define/check.h"

#include "base/names.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

int tz_define_fields(const tz_definition *definition)
{
    return definition->fields_count + definition->temporaries_count;
}

int tz_define_field(const tz_definition *definition, const char *name)
{
    for (int f = 0; f < tz_define_fields(definition); f++)
        if (strcmp(definition->fields[f].name, name) == 0)
            return f;
    return -1;
}

int tz_define_summed_field(const tz_definition *d)
{
    const tz_defined_coefficients *c = d->coefficients;
    if (c->field)
        return tz_define_field(d, c->field);
    for (int f = 0; f < d->fields_count; f++)
        if (d->fields[f].role == TZ_STATE && !(c->old && strcmp(c->old, d->fields[f].name) == 0))
            return f;
    return -1;
}

/* ---- Names ----------------------------------------------------------------------------------- */

enum { NAME_MAX_BYTES = 48 };

/* Words of formulas. Functions are none: they are told by their parentheses. */
static const char *const words[] = {"x", "y", "z", "step", "pi", "and", "or", "not"};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Is it a name, and no word of formulas? `what` is for messages: "field". Errors: TZ_FORMAT. */
static tz_status check_name(const char *id, const char *what, const char *name, tz_error *error)
{
    if (!name || !*name)
        return tz_error_set(error, TZ_FORMAT, id, "a %s has no name", what);
    bool ok = is_letter(*name) && strlen(name) <= NAME_MAX_BYTES;
    for (const char *c = name; *c; c++)
        ok = ok && (is_letter(*c) || (*c >= '0' && *c <= '9') || *c == '_');
    if (!ok)
        return tz_error_set(
            error, TZ_FORMAT, id,
            "%s '%.60s': a name is a letter, then letters, digits and _, at most %d", what, name,
            NAME_MAX_BYTES);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return tz_error_set(error, TZ_FORMAT, id,
                                "%s '%s': this word has another meaning in formulas; take another "
                                "name, such as %s1",
                                what, name, name);
    return TZ_OK;
}

typedef struct named {
    const char *what, *name;
} named;

static tz_status check_names(const tz_definition *d, tz_error *error)
{
    named all[TZ_FIELDS_MAX + TZ_PARAMS_MAX + TZ_CONSTANTS_MAX + TZ_PARTS_MAX];
    int count = 0;
    for (int i = 0; i < tz_define_fields(d); i++)
        all[count++] = (named){"field", d->fields[i].name};
    for (int i = 0; i < d->params_count; i++)
        all[count++] = (named){"parameter", d->params[i].name};
    for (int i = 0; i < d->scalars_count; i++)
        all[count++] = (named){"scalar", d->scalars[i].name};
    for (int i = 0; i < d->parts_count; i++)
        all[count++] = (named){"part", d->parts[i].name};
    for (int i = 0; i < count; i++) {
        tz_status status = check_name(d->id, all[i].what, all[i].name, error);
        for (int k = 0; k < i && !status; k++)
            if (strcmp(all[i].name, all[k].name) == 0)
                status = tz_error_set(error, TZ_FORMAT, d->id, "a %s and a %s are both named '%s'",
                                      all[k].what, all[i].what, all[i].name);
        if (status)
            return status;
    }
    return TZ_OK;
}

tz_text_name tz_define_text_name(const tz_definition *definition, const char *name)
{
    tz_text_name result;
    snprintf(result.text, sizeof result.text, definition->raw ? "%s" : "tz_%s_", name);
    return result;
}

/* ---- Fields and parameters ------------------------------------------------------------------- */

static tz_status unknown_field(const tz_definition *d, const char *what, const char *name,
                               tz_error *error)
{
    char hint[400];
    return tz_error_set(error, TZ_UNKNOWN, d->id, "%s: unknown field '%s'%s", what,
                        name ? name : "",
                        TZ_NAMES_HINT(hint, name ? name : "", d->fields, tz_define_fields(d)));
}

static tz_status check_counts(const tz_definition *d, tz_error *error)
{
    const struct {
        const char *what;
        int count, least, most;
    } counts[] = {
        {"dimensions", d->dims, 1, TZ_AXES},
        {"fields", d->fields_count, 1, TZ_FIELDS_MAX},
        {"temporaries", d->temporaries_count, 0, TZ_FIELDS_MAX - d->fields_count},
        {"parameters", d->params_count, 0, TZ_PARAMS_MAX},
        {"scalars", d->scalars_count, 0, TZ_CONSTANTS_MAX},
        {"names in 'let'", d->parts_count, 0, TZ_PARTS_MAX},
        {"passes", d->passes_count, d->coefficients ? 0 : 1, d->coefficients ? 0 : TZ_PASSES_MAX},
        {"outputs", d->outputs_count, 0, TZ_FIELDS_MAX},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count < counts[i].least || counts[i].count > counts[i].most)
            return tz_error_set(error, TZ_RANGE, d->id, "%d %s; %d to %d are possible%s",
                                counts[i].count, counts[i].what, counts[i].least, counts[i].most,
                                d->coefficients && i == 6 ? " with coefficients" : "");
    return TZ_OK;
}

static tz_status check_field(const tz_definition *d, const tz_defined_field *f, tz_error *error)
{
    if ((unsigned)f->type >= TZ_TYPES ||
        (f->role != TZ_STATE && f->role != TZ_STATIC && f->role != TZ_DERIVED))
        return tz_error_set(error, TZ_TYPE, d->id,
                            "field '%s' is state, static or derived, and real, int or bits",
                            f->name);
    if (tz_type_is_bits(f->type) != tz_type_is_bits(d->fields[0].type))
        return tz_error_set(error, TZ_TYPE, d->id,
                            "field '%s': bits and other types cannot be in one stencil; make all "
                            "fields bits, or none",
                            f->name);
    if (!isfinite(f->initial) || !isfinite(f->boundary_value))
        return tz_error_set(error, TZ_RANGE, d->id,
                            "field '%s': its initial and boundary values must be finite", f->name);
    return TZ_OK;
}

/* One of the definition's last fields. */
static tz_status check_temporary(const tz_definition *d, const tz_defined_field *f, tz_error *error)
{
    if (d->raw || d->coefficients)
        return tz_error_set(error, TZ_FORMAT, d->id,
                            "'%s' is temporary: a formula of one pass for those of later ones, and "
                            "there are no such formulas",
                            f->name);
    if (f->role != TZ_STATE || f->required || f->initial != 0 || f->boundary_value != 0)
        return tz_error_set(error, TZ_TYPE, d->id,
                            "'%s' is temporary: a pass gives it its values, so it has no "
                            "'required', 'initial' and 'boundary_value'",
                            f->name);
    return TZ_OK;
}

static tz_status check_param(const tz_definition *d, const tz_defined_param *p, tz_error *error)
{
    if (!isfinite(p->value) || isnan(p->min) || isnan(p->max) || p->value < p->min ||
        p->value > p->max)
        return tz_error_set(error, TZ_RANGE, d->id,
                            "parameter '%s': its value %g is not between its least %g and most %g",
                            p->name, p->value, p->min, p->max);
    if (p->integer && (p->value != floor(p->value) || fabs(p->value) > INT32_MAX))
        return tz_error_set(
            error, TZ_RANGE, d->id,
            "parameter '%s' is an integer: its value %g must be whole, and at most %d", p->name,
            p->value, INT32_MAX);
    if (p->role != TZ_PARAM_ROLE_NONE && p->integer)
        return tz_error_set(error, TZ_TYPE, d->id,
                            "parameter '%s' is an integer: with the role %s it must be real",
                            p->name, tz_param_role_name(p->role));
    for (const tz_defined_param *before = d->params; before < p; before++)
        if (p->role != TZ_PARAM_ROLE_NONE && p->role == before->role)
            return tz_error_set(error, TZ_USAGE, d->id,
                                "parameters '%s' and '%s' both have the role %s", before->name,
                                p->name, tz_param_role_name(p->role));
    return TZ_OK;
}

static tz_status check_outside(const tz_definition *d, const tz_defined_outside *o, tz_error *error)
{
    const int f = o->field ? tz_define_field(d, o->field) : -1;
    const bool edge = o->side == TZ_EDGE;
    const char *what = edge ? "edge" : "outside";
    if (f < 0)
        return unknown_field(d, what, o->field, error);
    if (edge && !d->domain)
        return tz_error_set(error, TZ_USAGE, d->id,
                            "edge: what fields are past the edge of a domain goes with 'domain'");
    if (edge && (d->fields[f].role == TZ_DERIVED || strcmp(o->field, d->domain) == 0))
        return tz_error_set(error, TZ_TYPE, d->id, "edge: '%s' is %s, which no formula reads there",
                            o->field, d->fields[f].role == TZ_DERIVED ? "derived" : "the domain");
    if (edge)
        return TZ_OK;
    if (d->raw || d->coefficients || d->temporaries_count > 0)
        return tz_error_set(error, TZ_USAGE, d->id,
                            "outside: formulas past sides do not go with %s",
                            d->raw            ? "a text written by hand"
                            : d->coefficients ? "coefficients: write the sum as a formula"
                                              : "temporaries: make them state fields");
    if (f >= d->fields_count || d->fields[f].role == TZ_DERIVED ||
        tz_type_is_bits(d->fields[f].type))
        return tz_error_set(error, TZ_TYPE, d->id,
                            "outside: '%s' must be a state or static field, and not of bits",
                            o->field);
    if (o->side < 0 || o->side >= 2 * d->dims)
        return tz_error_set(error, TZ_RANGE, d->id, "outside: the stencil has %d dimension%s",
                            d->dims, d->dims == 1 ? "" : "s");
    return TZ_OK;
}

static tz_status check_domain(const tz_definition *d, tz_error *error)
{
    const int f = d->domain ? tz_define_field(d, d->domain) : -1;
    bool bits = false;
    for (int i = 0; i < tz_define_fields(d); i++)
        bits = bits || tz_type_is_bits(d->fields[i].type);
    if (!d->domain)
        return TZ_OK;
    if (f < 0)
        return unknown_field(d, "domain", d->domain, error);
    if (d->raw || d->coefficients || bits)
        return tz_error_set(error, TZ_USAGE, d->id, "domain: it does not go with %s",
                            d->raw ? "a text written by hand: leave cells alone there"
                            : d->coefficients
                                ? "coefficients: write the sum as a formula"
                                : "a stencil of bits: write the mask into its formulas, alive and "
                                  "mask");
    if (f >= d->fields_count || d->fields[f].role != TZ_STATIC ||
        !tz_type_is_integer(d->fields[f].type))
        return tz_error_set(error, TZ_TYPE, d->id,
                            "domain: '%s' must be a static field of ints: leave it out of "
                            "'fields', then it is made",
                            d->domain);
    return TZ_OK;
}

/* ---- Updates --------------------------------------------------------------------------------- */

/* What is written where. */
typedef struct written {
    bool field[TZ_FIELDS_MAX];
} written;

static tz_status check_update(const tz_definition *d, const tz_defined_formula *u, tz_role role,
                              const char *what, written *pass, written *all, tz_error *error)
{
    const int f = u->name ? tz_define_field(d, u->name) : -1;
    if (f < 0)
        return unknown_field(d, what, u->name, error);
    if (d->fields[f].role != role && role == TZ_STATE)
        return tz_error_set(
            error, TZ_TYPE, d->id, "%s: '%s' is a %s field, and only state fields are updated; %s",
            what, u->name, d->fields[f].role == TZ_STATIC ? "static" : "derived",
            d->fields[f].role == TZ_STATIC ? "make it a state field, or leave its update out"
                                           : "its formula belongs to the outputs");
    if (d->fields[f].role != role)
        return tz_error_set(
            error, TZ_TYPE, d->id,
            "%s: '%s' is no derived field; the formulas of other fields are updates", what,
            u->name);
    if (pass->field[f])
        return tz_error_set(error, TZ_FORMAT, d->id, "%s: '%s' is written twice", what, u->name);
    if (!u->formula.text && !d->raw)
        return tz_error_set(error, TZ_FORMAT, d->id, "%s: '%s' has no formula", what, u->name);
    pass->field[f] = all->field[f] = true;
    return TZ_OK;
}

static tz_status check_passes(const tz_definition *d, written *all, tz_error *error)
{
    tz_status status = TZ_OK;
    for (int p = 0; p < d->passes_count && !status; p++) {
        const tz_defined_pass *pass = &d->passes[p];
        written here = {{false}};
        char what[80];
        snprintf(what, sizeof what, d->passes_count > 1 ? "pass %d" : "update", p + 1);
        if (pass->updates_count < 1)
            return tz_error_set(error, TZ_FORMAT, d->id, "%s updates no field", what);
        if (pass->radius < 0 || pass->radius > TZ_RADIUS_MAX)
            return tz_error_set(error, TZ_RANGE, d->id, "%s has radius %d; 0 to %d are possible",
                                what, pass->radius, TZ_RADIUS_MAX);
        if (pass->name)
            status = check_name(d->id, "pass", pass->name, error);
        for (int u = 0; u < pass->updates_count && !status; u++)
            status = check_update(d, &pass->updates[u], TZ_STATE, what, &here, all, error);
    }
    written outputs = {{false}};
    for (int o = 0; o < d->outputs_count && !status; o++)
        status = check_update(d, &d->outputs[o], TZ_DERIVED, "outputs", &outputs, all, error);
    return status;
}

static tz_status check_coefficients(const tz_definition *d, written *all, tz_error *error)
{
    const tz_defined_coefficients *c = d->coefficients;
    const int field = tz_define_summed_field(d), old = c->old ? tz_define_field(d, c->old) : -1;
    if (d->raw)
        return tz_error_set(error, TZ_FORMAT, d->id,
                            "coefficients and a raw text exclude each other");
    if (field < 0)
        return unknown_field(d, "coefficients", c->field, error);
    if (c->old && old < 0)
        return unknown_field(d, "coefficients, old", c->old, error);
    if (old == field)
        return tz_error_set(error, TZ_FORMAT, d->id,
                            "coefficients: the field and its old values are both '%s'", c->old);
    const int both[] = {field, old};
    for (int i = 0; i < 2; i++)
        if (both[i] >= 0 &&
            (d->fields[both[i]].role != TZ_STATE || !tz_type_is_real(d->fields[both[i]].type)))
            return tz_error_set(error, TZ_TYPE, d->id,
                                "coefficients: '%s' must be a state field of real numbers",
                                d->fields[both[i]].name);
    if (c->a.text && !c->old)
        return tz_error_set(error, TZ_FORMAT, d->id,
                            "coefficients: a multiplies the values before the last iteration: name "
                            "their field with old");
    if (!isfinite(c->scale))
        return tz_error_set(error, TZ_RANGE, d->id, "coefficients: the scale must be finite");
    if (c->dims != d->dims)
        return tz_error_set(error, TZ_FORMAT, d->id,
                            "the coefficients have %d dimension%s, and the stencil has %d", c->dims,
                            c->dims == 1 ? "" : "s", d->dims);
    for (int axis = 0; axis < d->dims; axis++)
        if (c->side[axis] < 1 || c->side[axis] > 2 * TZ_RADIUS_MAX + 1 || c->side[axis] % 2 == 0)
            return tz_error_set(
                error, TZ_RANGE, d->id,
                "the coefficients have %d numbers along %c; an odd number is needed, "
                "1 to %d, with the cell itself in the middle",
                c->side[axis], "xyz"[axis], 2 * TZ_RADIUS_MAX + 1);
    if (c->augment < 0 || c->augment > TZ_RADIUS_MAX)
        return tz_error_set(error, TZ_RANGE, d->id, "augment is %d; 1 to %d are possible",
                            c->augment, TZ_RADIUS_MAX);
    all->field[field] = true;
    if (old >= 0)
        all->field[old] = true;
    return TZ_OK;
}

uint32_t tz_define_boundaries(const tz_definition *d)
{
    const uint32_t of_bits =
        tz_boundaries_with(TZ_RULE_WRAPS) | tz_boundaries_with(TZ_RULE_HAS_VALUE);
    /* Past a side that has a formula the cell at the side is `inside`. */
    bool has_sides = false;
    for (int i = 0; i < d->outsides_count; i++)
        has_sides = has_sides || d->outsides[i].side != TZ_EDGE;
    const uint32_t any =
        !has_sides ? TZ_ALLOW_ALL
                   : tz_boundaries_with(TZ_RULE_REPEATS) | tz_boundaries_with(TZ_RULE_WRAPS);
    return (d->boundaries ? d->boundaries : any) &
           (d->fields_count > 0 && tz_type_is_bits(d->fields[0].type) ? of_bits : TZ_ALLOW_ALL);
}

static tz_status check_boundaries(const tz_definition *d, tz_error *error)
{
    const uint32_t allowed = tz_define_boundaries(d);
    if ((unsigned)d->boundary < TZ_BOUNDARIES && (allowed & TZ_ALLOW(d->boundary)))
        return TZ_OK;
    return tz_error_set(error, TZ_RANGE, d->id, "the default boundary is not possible: %s",
                        tz_type_is_bits(d->fields[0].type)
                            ? "fields of bits are periodic or fixed"
                            : "it is not among those that are allowed");
}

tz_status tz_define_check(const tz_definition *d, tz_error *error)
{
    tz_status status = check_name("tz.stencil", "stencil", d->id, error);
    if (!status)
        status = check_counts(d, error);
    if (!status)
        status = check_names(d, error);
    if (!status)
        status = check_domain(d, error);
    for (int f = 0; f < tz_define_fields(d) && !status; f++)
        status = check_field(d, &d->fields[f], error);
    for (int f = d->fields_count; f < tz_define_fields(d) && !status; f++)
        status = check_temporary(d, &d->fields[f], error);
    for (int p = 0; p < d->params_count && !status; p++)
        status = check_param(d, &d->params[p], error);
    written all = {{false}};
    if (!status)
        status = check_passes(d, &all, error);
    for (int i = 0; i < d->outsides_count && !status; i++)
        status = check_outside(d, &d->outsides[i], error);
    if (!status && d->coefficients)
        status = check_coefficients(d, &all, error);
    if (!status)
        status = check_boundaries(d, error);
    for (int f = d->fields_count; f < tz_define_fields(d) && !status; f++)
        if (!all.field[f])
            status = tz_error_set(error, TZ_FORMAT, d->id,
                                  "temporary '%s' has no update: write one, in a pass before those "
                                  "that read it",
                                  d->fields[f].name);
    for (int f = 0; f < d->fields_count && !status; f++)
        if (!all.field[f] && d->fields[f].role != TZ_STATIC)
            status =
                tz_error_set(error, TZ_FORMAT, d->id,
                             d->fields[f].role == TZ_STATE
                                 ? "state field '%s' has no update: write one, or make it static"
                                 : "derived field '%s' has no formula among the outputs",
                             d->fields[f].name);
    return status;
}
