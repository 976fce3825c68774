/* Checks arguments that are simulations, and opens and closes their handles and the run folder.
 * Called by most files of core/lua, mainly simulation.c and running.c. */
#include "lua/handle.h"

#include "backend/slabs/slabs.h"
#include "base/number.h"
#include "lua/guard.h"
#include "lua/keys.h"
#include "lua/recall.h"
#include "policy/policy.h"
#include "sim/fields.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tz_simulation_handle *tz_handle_check(lua_State *L, int index, const char *what)
{
    tz_simulation_handle *handle = luaL_testudata(L, index, TZ_TYPE_SIMULATION);
    if (!handle)
        tz_raise(L, "%s: needs a simulation, not %s (call methods with a colon: sim:run)", what,
                 tz_kind_text(L, index));
    if (!handle->simulation)
        tz_raise(L, "%s: the simulation is closed", what);
    return handle;
}

tz_simulation_handle *tz_handle_check_idle(lua_State *L, int index, const char *what)
{
    tz_simulation_handle *handle = tz_handle_check(L, index, what);
    if (tz_guard_in_use(L, handle))
        tz_raise(
            L, "%s: not from within an output of the same simulation, or a function that it calls",
            what);
    return handle;
}

bool tz_handle_is_dry(const tz_simulation_handle *handle)
{
    return handle->context->options->check;
}

const tz_stencil *tz_handle_stencil(const tz_simulation_handle *handle)
{
    return tz_simulation_stencil(handle->simulation);
}

int tz_handle_field(lua_State *L, int index, const tz_simulation_handle *handle, const char *what)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    int field;
    if (lua_isnoneornil(L, index))
        return tz_output_default_field(stencil);
    if (lua_type(L, index) != LUA_TSTRING)
        tz_raise(L, "%s: needs a field's name, not %s", what, tz_kind_text(L, index));
    tz_try(
        L, what,
        tz_output_find_field(stencil, tz_text_check(L, index, what, "field"), &field, tz_fault(L)));
    return field;
}

int tz_handle_kept_field(lua_State *L, int index, const tz_simulation_handle *handle,
                         const char *what)
{
    const int field = tz_handle_field(L, index, handle, what);
    if (tz_handle_stencil(handle)->fields[field].role == TZ_STREAMED)
        tz_raise(L, "%s: '%s' is streamed and not kept; read its slabs with sim:slabs", what,
                 tz_handle_stencil(handle)->fields[field].name);
    return field;
}

double tz_handle_time(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                      const char *name)
{
    const tz_param *step = tz_simulation_time_step(handle->simulation);
    char where[160];
    double time = 0;
    if (!step)
        tz_raise(L, "%s: '%s' is a time, and %s has no time step: count steps instead", what, name,
                 tz_handle_stencil(handle)->id);
    if (lua_type(L, index) == LUA_TNUMBER) {
        time = lua_tonumber(L, index);
    } else if (lua_type(L, index) == LUA_TSTRING) {
        snprintf(where, sizeof where, "%s: '%s'", what, name);
        if (lua_rawlen(L, index) != strlen(lua_tostring(L, index)))
            tz_raise(L, "%s holds a zero byte", where);
        tz_try(L, where, tz_duration_parse(lua_tostring(L, index), step->unit, &time, tz_fault(L)));
    } else {
        tz_raise(L, "%s: '%s' must be a text such as \"2 ms\" or a number%s%s, not %s", what, name,
                 step->unit[0] ? " in " : "", step->unit, tz_kind_text(L, index));
    }
    if (!(time >= 0) || !isfinite(time))
        tz_raise(L, "%s: '%s' must be finite and not negative", what, name);
    return time;
}

void tz_binding_pattern(const tz_binding *binding, char *text, size_t size)
{
    if (binding->kind != TZ_BINDING_OUTPUT)
        snprintf(text, size, "%s", binding->function);
    else
        tz_writer_pattern(&binding->writer, text, size);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

void tz_handle_record(const tz_simulation_handle *handle)
{
    if (!handle->kept)
        return;
    tz_record *into = handle->context->files.record;
    tz_record_simulation(into, handle->index, handle->name, handle->plugin_path, handle->definition,
                         handle->simulation);
    for (const tz_binding *b = handle->bindings; b; b = b->next) {
        char pattern[200];
        if (b->kind == TZ_BINDING_CHECKPOINT || b->kind == TZ_BINDING_UNTIL)
            continue;
        tz_binding_pattern(b, pattern, sizeof pattern);
        tz_record_output(into, handle->index, pattern,
                         b->kind == TZ_BINDING_FUNCTION ? "function"
                                                        : b->writer.output->format->name,
                         &b->every, b->writer.count);
    }
}

void tz_handle_open(tz_simulation_handle *handle, const char *name)
{
    tz_context *context = handle->context;
    handle->next = context->open;
    handle->link = &context->open;
    if (handle->next)
        handle->next->link = &handle->next;
    context->open = handle;
    handle->index = context->simulations++;
    handle->kept = !context->options->library;
    if (name[0])
        snprintf(handle->name, sizeof handle->name, "%s", name);
    else
        snprintf(handle->name, sizeof handle->name, "sim%zu", handle->index + 1);
    /* A script with one nameless simulation gets short file names. */
    if (name[0] || handle->index > 0)
        snprintf(handle->prefix, sizeof handle->prefix, "%s-", handle->name);
    tz_handle_record(handle);
}

/* ---- A run in which nothing happens ---------------------------------------------------------- */

void tz_idle_begin(tz_idle *before, const tz_simulation_handle *handle, bool first)
{
    tz_error ignored;
    before->watched = first && tz_simulation_repeats(handle->simulation) &&
                      tz_simulation_uniform(handle->simulation, &before->watched, before->values,
                                            &ignored) == TZ_OK &&
                      before->watched;
}

/* The field that the script most likely forgot: the first that stayed 0, else the first. -1: one
 * changed, and none stayed 0. */
static int forgotten(const tz_idle *before, const tz_stencil *s, const double *after, bool *changed)
{
    int zero = -1, state = -1;
    *changed = false;
    for (int f = 0; f < s->fields_count; f++) {
        if (s->fields[f].role != TZ_STATE)
            continue;
        const bool same = after[f] == before->values[f];
        *changed = *changed || !same;
        state = state < 0 ? f : state;
        zero = zero < 0 && same && after[f] == 0 ? f : zero;
    }
    return zero >= 0 ? zero : *changed ? -1 : state;
}

void tz_idle_end(const tz_idle *before, const tz_simulation_handle *handle, int64_t steps)
{
    const tz_stencil *s = tz_handle_stencil(handle);
    double after[TZ_FIELDS_MAX];
    bool uniform, changed;
    tz_error ignored;
    if (!before->watched || steps == 0 ||
        tz_simulation_uniform(handle->simulation, &uniform, after, &ignored) != TZ_OK || !uniform)
        return;
    const int field = forgotten(before, s, after, &changed);
    if (field < 0)
        return;
    const char *name = s->fields[field].name;
    tz_context_note(handle->context, TZ_NOTE_WARNING,
                    "%s: %s in %lld step%s: field %s is %.6g everywhere at the start%s; give it a "
                    "start: fields = { %s = ... }",
                    handle->name, changed ? "every field stayed one value" : "nothing happened",
                    (long long)steps, steps == 1 ? "" : "s", name, before->values[field],
                    changed ? " and at the end" : "", name);
}

/* ---- Recordings ------------------------------------------------------------------------------ */

/* Rows of receivers in memory take at most so many bytes. */
enum { RECORDING_BYTES = 32 << 20 };

tz_status tz_recordings_keep(tz_simulation_handle *handle, bool all, tz_error *error)
{
    tz_status status = all ? tz_simulation_receive(handle->simulation, error) : TZ_OK;
    for (tz_binding *b = handle->bindings; b && all && !status; b = b->next)
        status = tz_binding_take(b, error);
    for (tz_recording *r = handle->recordings; r && !status; r = r->next) {
        const tz_received in_memory = tz_receivers_get(r->receivers);
        const size_t bytes = (size_t)in_memory.rows * in_memory.count * sizeof(double);
        if (handle->context->options->library)
            continue; /* it has no folder, and they stay in memory */
        if (all ? bytes == 0 && !r->stream : bytes <= RECORDING_BYTES)
            continue;
        status = tz_handle_open_folder(handle->context, error);
        if (!status)
            status = tz_recording_keep(r, &handle->context->files, 0, all, error);
    }
    return status;
}

static tz_status write_at_end(tz_simulation_handle *handle, const tz_recording *r, char *path,
                              size_t size, tz_error *error)
{
    if (!r->file[0] || tz_handle_is_dry(handle) || tz_recording_rows(r) == 0)
        return TZ_UNSUPPORTED;
    const tz_status status = tz_handle_open_file(handle->context, r->file, path, size, error);
    if (!status)
        tz_record_file(handle->context->files.record, r->file);
    return status;
}

static tz_status close_recordings(tz_simulation_handle *handle, tz_error *error)
{
    tz_error ignored;
    tz_status first = handle->recordings ? tz_simulation_receive(handle->simulation, error) : TZ_OK;
    for (tz_recording *r = handle->recordings, *next; r; r = next) {
        char path[PATH_MAX];
        tz_error *into = first ? &ignored : error;
        next = r->next;
        tz_status status = write_at_end(handle, r, path, sizeof path, into);
        if (!status)
            status = tz_recording_write(r, path, into);
        if (status && status != TZ_UNSUPPORTED && !first)
            first = status;
        tz_recording_close(r, &handle->context->files);
    }
    handle->recordings = NULL;
    return first;
}

/* ---- Closing --------------------------------------------------------------------------------- */

/* Add what the simulation has done to the script's result. */
static void add_to_result(const tz_simulation_handle *handle)
{
    tz_script_result *result = handle->context->result;
    const tz_plan_use *uses = NULL;
    const size_t count = tz_simulation_plan_uses(handle->simulation, &uses);
    for (size_t i = 0; i < count; i++) {
        result->steps += uses[i].steps;
        result->updates += (double)uses[i].steps * (double)tz_simulation_cells(handle->simulation);
    }
    result->seconds += tz_simulation_seconds(handle->simulation);
    if (count > 0) {
        tz_policy_describe(tz_simulation_policy(handle->simulation), result->policy,
                           sizeof result->policy);
        result->ran++;
    }
}

static void tell_apart(const tz_simulation_handle *handle)
{
    tz_slabs_facts slabs;
    tz_context *context = handle->context;
    if (context->told_apart || !tz_simulation_slabs(handle->simulation, &slabs) || !slabs.apart[0])
        return;
    context->told_apart = true;
    tz_context_note(context, TZ_NOTE_WARNING, "%s", slabs.apart);
}

tz_status tz_handle_close(tz_simulation_handle *handle, tz_error *error)
{
    if (!handle->simulation)
        return TZ_OK;
    tz_error ignored;
    tz_status status = tz_run_files_settle(&handle->context->files, error);
    tz_handle_record(handle);
    tell_apart(handle);
    for (tz_binding *b = handle->bindings, *next; b; b = next) {
        next = b->next;
        char note[512];
        bool warns;
        if (tz_writer_note(&b->writer, note, sizeof note, &warns))
            tz_context_note(handle->context, warns ? TZ_NOTE_WARNING : TZ_NOTE_LOG, "%s", note);
        const tz_status closed = tz_writer_close(&b->writer, status == TZ_OK ? error : &ignored);
        if (status == TZ_OK)
            status = closed;
        free(b);
    }
    handle->bindings = NULL;
    const tz_status recorded = close_recordings(handle, status == TZ_OK ? error : &ignored);
    if (status == TZ_OK)
        status = recorded;
    add_to_result(handle);
    tz_simulation_destroy(handle->simulation);
    handle->simulation = NULL;
    for (int field = 0; field < TZ_FIELDS_MAX; field++) {
        tz_array_memory_release(handle->streamed[field]);
        handle->streamed[field] = NULL;
    }
    *handle->link = handle->next;
    if (handle->next)
        handle->next->link = handle->link;
    return status;
}

tz_status tz_handle_call(tz_simulation_handle *handle, lua_CFunction function, void *argument,
                         tz_error *error)
{
    lua_State *L = handle->L;
    if (!lua_checkstack(L, 12))
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for Lua's stack");
    lua_pushcfunction(L, tz_context_traceback);
    lua_pushcfunction(L, function);
    lua_pushlightuserdata(L, argument);
    lua_pushvalue(L, 1); /* the simulation: argument 1 of the method that runs */
    if (lua_pcall(L, 2, 0, -4) == LUA_OK) {
        lua_pop(L, 1);
        return TZ_OK;
    }
    const char *message = lua_tostring(L, -1);
    snprintf(handle->failure, sizeof handle->failure, "%s",
             message ? message : "an error that is not a string");
    lua_pop(L, 2);
    return tz_error_set(error, TZ_SCRIPT, NULL, "%.1500s", handle->failure);
}

tz_status tz_handle_open_folder(tz_context *context, tz_error *error)
{
    tz_run_files *files = &context->files;
    if (files->open)
        return TZ_OK;
    if (context->options->library)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "the library writes no files of runs: get the cells with tz_sim_get() "
                            "and write them, or run a script with tz_session_scenario()");
    const tz_status status = tz_run_files_open(files, context->options->out, context->text,
                                               context->bytes, context->machine.cores, error);
    if (files->folder) {
        snprintf(context->result->folder, sizeof context->result->folder, "%s",
                 tz_folder_path(files->folder));
        tz_context_log_early(context);
    }
    if (status != TZ_OK)
        return status;
    /* A run that is killed leaves this record. */
    for (const tz_simulation_handle *h = context->open; h; h = h->next)
        tz_handle_record(h);
    return tz_run_files_write_record(files, "running", NULL, error);
}

tz_status tz_handle_open_file(tz_context *context, const char *name, char *path, size_t size,
                              tz_error *error)
{
    if (context->options->library) /* a path */
        return (size_t)snprintf(path, size, "%s", name) < size
                   ? TZ_OK
                   : tz_error_set(error, TZ_RANGE, NULL, "the path is too long");
    tz_status status = tz_handle_open_folder(context, error);
    if (status == TZ_OK)
        status = tz_run_files_path(&context->files, name, path, size, error);
    if (status == TZ_OK)
        tz_recall_file(context, name);
    return status;
}
