/* How the fields of a problem are stored, as a scenario wishes. Called by problem.c when a problem
 * is resolved, and by whoever shows it. */
#include "stencil/problem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool may_be_stored(const tz_field *field)
{
    return tz_type_is_real(field->type) && (field->role == TZ_STATE || field->role == TZ_STATIC);
}

static tz_status take_wish(tz_problem *problem, const tz_storage_wish *wish, int f, tz_error *error)
{
    const tz_field *field = &problem->stencil->fields[f];
    const double origin = isnan(wish->origin) ? 0.0 : wish->origin - problem->origin[f];
    int exponent;
    if (wish->as == TZ_STORED_AS_COMPUTED) {
        problem->storage[f].as = wish->as;
        return TZ_OK;
    }
    if (!may_be_stored(field))
        return tz_error_set(error, TZ_UNSUPPORTED, "storage",
                            "'%s' is %s: only state and static fields of real numbers have a "
                            "storage",
                            field->name,
                            tz_type_is_real(field->type) ? tz_role_name(field->role)
                                                         : tz_type_name(field->type));
    if (problem->precision != TZ_PRECISION_CORRECTION)
        return tz_error_set(error, TZ_UNSUPPORTED, "storage",
                            "'%s' is stored as %s, which is computed in single precision: leave "
                            "precision or storage out",
                            field->name, tz_stored_name(wish->as));
    if (!(wish->scale >= TZ_STORAGE_SCALE_LEAST && wish->scale <= 1 / TZ_STORAGE_SCALE_LEAST) ||
        frexp(wish->scale, &exponent) != 0.5)
        return tz_error_set(error, TZ_RANGE, "storage",
                            "the scale of '%s' is %.9g; it must be a power of two, such as %g",
                            field->name, wish->scale,
                            wish->scale > 0 && wish->scale < 1e9 ? exp2(round(log2(wish->scale)))
                                                                 : 1.0);
    if (!(fabs(origin) <= TZ_STORAGE_ORIGIN_MOST * wish->scale))
        return tz_error_set(error, TZ_RANGE, "storage",
                            "the origin of '%s' is %.9g; it must be finite and at most %g times "
                            "the scale from what single precision stores",
                            field->name, wish->origin, TZ_STORAGE_ORIGIN_MOST);
    problem->storage[f] = tz_storage_of(wish->as, origin, wish->scale);
    return TZ_OK;
}

/* A field that takes over what another one was gets its elements. */
static tz_status check_takers(const tz_problem *problem, tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    for (int p = 0; p < stencil->passes_count; p++)
        for (int f = 0; f < stencil->fields_count; f++) {
            const int from = tz_stencil_takes(stencil, &stencil->passes[p], f);
            if (from >= 0 && (!tz_storage_same(&problem->storage[f], &problem->storage[from]) ||
                              problem->origin[f] != problem->origin[from]))
                return tz_error_set(error, TZ_UNSUPPORTED, "storage",
                                    "'%s' takes over what '%s' was: give both the same storage",
                                    stencil->fields[f].name, stencil->fields[from].name);
        }
    return TZ_OK;
}

tz_status tz_problem_resolve_storage(tz_problem *problem, const tz_simulation_config *config,
                                     tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    tz_status status = TZ_OK;
    for (size_t i = 0; !status && i < config->storage_count; i++) {
        const tz_storage_wish *wish = &config->storage[i];
        const int f = wish->field ? tz_stencil_field_index(stencil, wish->field) : -1;
        if (wish->field && f < 0)
            return tz_stencil_unknown_field(stencil, wish->field, "storage", error);
        if (config->mixed && wish->as != TZ_STORED_AS_COMPUTED)
            return tz_error_set(error, TZ_UNSUPPORTED, "storage",
                                "precision \"mixed\" has no storage: leave one of them out");
        if (f >= 0)
            status = take_wish(problem, wish, f, error);
        for (int g = 0; f < 0 && !status && g < stencil->fields_count; g++)
            if (may_be_stored(&stencil->fields[g]))
                status = take_wish(problem, wish, g, error);
        if (!status && f < 0 && !tz_stencil_has_real(stencil))
            status = tz_error_set(error, TZ_UNSUPPORTED, "storage",
                                  "'%s' computes with integers: leave storage out", stencil->id);
    }
    return status || tz_problem_all_as_computed(problem) ? status : check_takers(problem, error);
}

const char *tz_problem_storage_text(const tz_problem *problem, char text[TZ_STORAGE_TEXT_SIZE])
{
    const tz_stencil *stencil = problem->stencil;
    int stored = 0, plain = 0, reals = 0;
    size_t used = 0;
    tz_stored all = TZ_STORED_AS_COMPUTED;
    text[0] = '\0';
    for (int f = 0; f < stencil->fields_count; f++) {
        const tz_storage *s = &problem->storage[f];
        reals += may_be_stored(&stencil->fields[f]);
        if (s->as == TZ_STORED_AS_COMPUTED)
            continue;
        stored++;
        plain += tz_storage_is_plain(s);
        used += (size_t)snprintf(text + used, TZ_STORAGE_TEXT_SIZE - used, "%s%.30s %s",
                                 used ? ", " : "", stencil->fields[f].name, tz_stored_name(s->as));
        if (s->add != 0.0f)
            used += (size_t)snprintf(text + used, TZ_STORAGE_TEXT_SIZE - used, " from %.9g",
                                     problem->origin[f] + (double)s->add);
        if (s->scale != 1.0f)
            used += (size_t)snprintf(text + used, TZ_STORAGE_TEXT_SIZE - used, " by %.9g",
                                     (double)s->scale);
        all = s->as;
    }
    if (stored > 0 && plain == reals)
        snprintf(text, TZ_STORAGE_TEXT_SIZE, "%s", tz_stored_name(all));
    return text;
}
