/* Compares uniform fields before and after a first run, and warns when nothing changed. Called by
 * running.c around a run, and by script.c at the end of a script. */
#include "lua/idle.h"

#include "sim/fields.h"
#include <stdio.h>
#include <string.h>

void tz_idle_begin(tz_idle *idle, const tz_simulation_handle *handle, bool first)
{
    tz_error ignored;
    idle->watched = first && tz_simulation_repeats(handle->simulation) &&
                    tz_simulation_uniform(handle->simulation, &idle->watched, idle->values,
                                          &ignored) == TZ_OK &&
                    idle->watched;
}

/* The field that the script most likely forgot: the first that stayed 0, else the first. -1: one
 * changed, and none stayed 0. */
static int forgotten(const tz_idle *idle, const tz_stencil *s, const double *after, bool *changed)
{
    int zero = -1, state = -1;
    *changed = false;
    for (int f = 0; f < s->fields_count; f++) {
        if (s->fields[f].role != TZ_STATE)
            continue;
        const bool same = after[f] == idle->values[f];
        *changed = *changed || !same;
        state = state < 0 ? f : state;
        zero = zero < 0 && same && after[f] == 0 ? f : zero;
    }
    return zero >= 0 ? zero : *changed ? -1 : state;
}

void tz_idle_end(const tz_idle *idle, const tz_simulation_handle *handle, int64_t steps)
{
    const tz_stencil *s = tz_handle_stencil(handle);
    double after[TZ_FIELDS_MAX];
    bool uniform, changed;
    tz_error ignored;
    if (!idle->watched || steps == 0 ||
        tz_simulation_uniform(handle->simulation, &uniform, after, &ignored) != TZ_OK || !uniform)
        return;
    const int field = forgotten(idle, s, after, &changed);
    if (field < 0)
        return;
    const char *name = s->fields[field].name;
    tz_context_note(handle->context, TZ_NOTE_WARNING,
                    "%s: %s in %lld step%s: field %s is %.6g everywhere at the start%s; give it a "
                    "start: fields = { %s = ... }",
                    handle->name, changed ? "every field stayed one value" : "nothing happened",
                    (long long)steps, steps == 1 ? "" : "s", name, idle->values[field],
                    changed ? " and at the end" : "", name);
}

void tz_idle_script(tz_context *context)
{
    const tz_script_options *options = context->options;
    const char *slash = strrchr(options->path, '/'), *file = slash ? slash + 1 : options->path;
    if (options->check || options->resume || options->unsafe || context->ran || context->asked)
        return;
    if (context->simulations > 0)
        tz_context_note(context, TZ_NOTE_WARNING,
                        "%s made a simulation but ran no step: call sim:run(100)", file);
    else if (!context->printed && !context->defined && !context->has_said && !context->reports)
        tz_context_note(context, TZ_NOTE_WARNING,
                        "%s made no simulation and printed nothing: make one with sim = "
                        "tz.simulation { plugin = ..., grid = ... } and call sim:run(100)",
                        file);
}
