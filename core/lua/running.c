/* sim:every, sim:write, sim:run and sim:rewind. */
#include "lua/handle.h"

#include "base/names.h"
#include "lua/interrupt.h"
#include "policy/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Binding outputs ------------------------------------------------------------------------- */

static bool wants_residual(const tz_binding *binding)
{
    const tz_output *output = binding->output;
    for (size_t i = 0; output != NULL && i < output->columns_count; i++)
        if (output->columns[i].kind == TZ_COLUMN_RESIDUAL)
            return true;
    return false;
}

/* Check an output against the simulation: fields, slice. Returns the field it shows. */
static int check_output(lua_State *L, const tz_simulation_handle *handle, const tz_output *output,
                        const char *what)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    lua_pushnil(L);
    int field = tz_handle_field(L, lua_gettop(L), handle, what);
    lua_pop(L, 1);
    if (output->kind == TZ_OUTPUT_PNG && stencil->picture.field != NULL)
        field = tz_handle_field_named(L, handle, what, stencil->picture.field);
    for (size_t i = output->fields_count; i-- > 0;) {
        field = tz_handle_field_named(L, handle, what, output->fields[i]);
        if (stencil->fields[field].role == TZ_STREAMED)
            tz_raise(L, "%s: '%s' is streamed and not kept; read its slabs with sim:slabs", what,
                     output->fields[i]);
    }
    for (size_t i = 0; i < output->columns_count; i++) {
        if (output->columns[i].field[0] == '\0')
            continue;
        const int read = tz_handle_field_named(L, handle, what, output->columns[i].field);
        if (stencil->fields[read].role == TZ_STREAMED)
            tz_raise(L, "%s: '%s' is streamed and not kept", what, output->columns[i].field);
    }
    if (output->has_slice && stencil->dims < 3)
        tz_raise(L, "%s: 'slice' is for 3-D grids; this one is %d-D", what, stencil->dims);
    if (output->has_slice && output->slice >= tz_simulation_extent(handle->simulation)[2])
        tz_raise(L, "%s: slice %lld is outside the grid (z is 0 to %lld)", what,
                 (long long)output->slice,
                 (long long)tz_simulation_extent(handle->simulation)[2] - 1);
    if (output->kind == TZ_OUTPUT_RLE && stencil->dims == 3)
        tz_raise(L, "%s: RLE holds 1-D and 2-D patterns; use tz.npy", what);
    return field;
}

/* Files of one name must have one writer. */
static void claim_stem(lua_State *L, const tz_binding *binding, const char *what)
{
    char pattern[200];
    tz_binding_pattern(binding, pattern, sizeof pattern);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "trapeze.patterns");
    if (lua_getfield(L, -1, pattern) != LUA_TNIL)
        tz_raise(L,
                 "%s: another output already writes %s; give this one, or its simulation, "
                 "another 'name'",
                 what, pattern);
    lua_pushboolean(L, 1);
    lua_setfield(L, -3, pattern);
    lua_pop(L, 2);
}

/* The binding of the output or function at `index`, made unless it is there. */
static tz_binding *bind(lua_State *L, tz_simulation_handle *handle, int handle_index, int index,
                        int64_t every, const char *what)
{
    const tz_output *output = luaL_testudata(L, index, TZ_TYPE_OUTPUT);
    if (output == NULL && !lua_isfunction(L, index))
        tz_raise(L,
                 "%s: wants an output (tz.png, tz.npy, tz.rle, tz.vti, tz.table) or a "
                 "function(sim), not a %s",
                 what, luaL_typename(L, index));
    lua_getiuservalue(L, handle_index, 1);
    for (tz_binding *b = handle->bindings; b != NULL; b = b->next) {
        if (every > 0 && b->every > 0)
            continue;
        lua_rawgeti(L, -1, b->reference);
        const bool same = lua_rawequal(L, -1, index);
        lua_pop(L, 1);
        if (same && (output != NULL || every == 0)) {
            b->every = every > 0 ? every : b->every;
            lua_pop(L, 1);
            return b;
        }
    }
    tz_binding made = {.handle = handle, .output = output, .every = every, .last_step = -1};
    if (output != NULL) {
        made.field = check_output(L, handle, output, what);
        const char *name = output->name;
        if (name[0] == '\0')
            name = output->kind == TZ_OUTPUT_TABLE ? "table"
                   : output->kind == TZ_OUTPUT_VTI
                       ? tz_handle_stencil(handle)->id
                       : tz_handle_stencil(handle)->fields[made.field].name;
        snprintf(made.stem, sizeof made.stem, "%s%s", handle->prefix, name);
        claim_stem(L, &made, what);
    } else {
        lua_Debug about;
        lua_pushvalue(L, index);
        lua_getinfo(L, ">S", &about);
        snprintf(made.stem, sizeof made.stem, "function at %.100s:%d", about.short_src,
                 about.linedefined);
    }
    lua_pushvalue(L, index);
    made.reference = luaL_ref(L, -2);
    lua_pop(L, 1);
    tz_binding *binding = malloc(sizeof *binding);
    if (binding == NULL)
        tz_raise(L, "%s: not enough memory", what);
    *binding = made;
    tz_binding **end = &handle->bindings;
    while (*end != NULL)
        end = &(*end)->next;
    *end = binding;
    return binding;
}

static int method_every(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:every");
    lua_settop(L, 3);
    const int64_t every = tz_integer_check(L, 2, "sim:every", "interval", 1, INT64_MAX);
    bind(L, handle, 1, 3, every, "sim:every");
    lua_settop(L, 1);
    return 1;
}

static void open_folder(lua_State *L, tz_simulation_handle *handle, const char *what)
{
    tz_error error;
    if (tz_context_open_folder(handle->context, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
}

static int method_write(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:write");
    lua_settop(L, 2);
    tz_binding *binding = bind(L, handle, 1, 2, 0, "sim:write");
    if (tz_handle_is_dry(handle)) {
        char pattern[200];
        tz_binding_pattern(binding, pattern, sizeof pattern);
        tz_context_print(handle->context, "  %s: writes %s at step %lld\n", handle->name, pattern,
                         (long long)handle->dry_step);
        binding->count++;
        return 0;
    }
    if (binding->output != NULL && binding->output->kind != TZ_OUTPUT_TABLE &&
        binding->last_step == tz_simulation_step(handle->simulation))
        tz_raise(L,
                 "sim:write: %s is written already for step %lld; another picture of the same "
                 "step needs an output with another 'name'",
                 binding->stem, (long long)binding->last_step);
    open_folder(L, handle, "sim:write");
    tz_binding_write(L, binding, 1);
    return 0;
}

static int method_rewind(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:rewind");
    handle->rewinds++;
    handle->dry_step = 0;
    handle->fired_zero = false;
    for (tz_binding *b = handle->bindings; b != NULL; b = b->next)
        b->last_step = -1;
    if (!tz_handle_is_dry(handle))
        tz_simulation_rewind(handle->simulation);
    lua_settop(L, 1);
    return 1;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The Lua side of an event: argument 1 is the binding, 2 the simulation. */
static int fire_protected(lua_State *L)
{
    tz_binding_write(L, lua_touserdata(L, 1), 2);
    return 0;
}

static tz_status fire(void *context, tz_simulation *simulation, tz_error *error)
{
    tz_binding *binding = context;
    tz_simulation_handle *handle = binding->handle;
    lua_State *L = handle->L;
    if (binding->output != NULL && binding->output->kind != TZ_OUTPUT_TABLE &&
        binding->last_step == tz_simulation_step(simulation))
        return TZ_OK; /* written by hand just before the run */
    if (!lua_checkstack(L, 8))
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for Lua's stack");
    lua_pushcfunction(L, tz_context_traceback);
    lua_pushcfunction(L, fire_protected);
    lua_pushlightuserdata(L, binding);
    lua_pushvalue(L, 1); /* the simulation: argument 1 of the method that runs */
    if (lua_pcall(L, 2, 0, -4) == LUA_OK) {
        lua_pop(L, 1);
        return TZ_OK;
    }
    const char *message = lua_tostring(L, -1);
    snprintf(handle->failure, sizeof handle->failure, "%s",
             message != NULL ? message : "an error that is no text");
    lua_pop(L, 2);
    return tz_error_set(error, TZ_SCRIPT, NULL, "%.1500s", handle->failure);
}

static void report(const tz_simulation_handle *handle, const tz_simulation *simulation,
                   int64_t done, int64_t total, bool last)
{
    const tz_script_sink *sink = &handle->context->options->sink;
    if (sink->progress == NULL)
        return;
    const tz_script_progress progress = {.name = handle->name,
                                         .done = done,
                                         .total = total,
                                         .step = tz_simulation_step(simulation),
                                         .cells = tz_simulation_cells(simulation),
                                         .seconds = tz_simulation_seconds(simulation) -
                                                    handle->seconds_before,
                                         .last = last};
    sink->progress(sink->context, &progress);
}

static bool on_progress(void *context, const tz_simulation *simulation, int64_t done, int64_t total)
{
    tz_context_pass_warnings(((tz_simulation_handle *)context)->context);
    report(context, simulation, done, total, false);
    return tz_interrupt_signal() == 0;
}

/* run(n), run{steps=} or run{until_residual= or until_update=, max_steps=, check_every=} at
 * index 2.
 */
static void get_run(lua_State *L, tz_run *run)
{
    static const char *const keys[] = {"steps", "until_residual", "until_update", "max_steps",
                                       "check_every"};
    const char *what = "sim:run";
    *run = (tz_run){.steps = -1, .until_residual = NAN};
    if (lua_type(L, 2) == LUA_TNUMBER) {
        run->steps = tz_integer_check(L, 2, what, "steps", 0, INT64_MAX / 4);
        return;
    }
    if (!lua_istable(L, 2))
        tz_raise(L,
                 "%s: wants a number of steps, { steps = n } or { until_residual = r, "
                 "max_steps = n }",
                 what);
    tz_keys_check(L, 2, what, keys, 5, false);
    const bool has_steps = tz_key_integer(L, 2, what, "steps", 0, INT64_MAX / 4, &run->steps);
    const bool residual = tz_key_number(L, 2, what, "until_residual", &run->until_residual);
    run->until_is_update = tz_key_number(L, 2, what, "until_update", &run->until_residual);
    if (residual && run->until_is_update)
        tz_raise(L, "%s: give 'until_residual' or 'until_update', not both", what);
    const bool until = residual || run->until_is_update;
    int64_t most = -1;
    const bool has_most = tz_key_integer(L, 2, what, "max_steps", 0, INT64_MAX / 4, &most);
    tz_key_integer(L, 2, what, "check_every", 1, INT64_MAX / 4, &run->check_every);
    if (has_steps == until)
        tz_raise(L, "%s: give 'steps' or 'until_residual' or 'until_update' (with 'max_steps')",
                 what);
    if (!until && (has_most || run->check_every > 0))
        tz_raise(L, "%s: 'max_steps' and 'check_every' go with 'until_residual' or 'until_update'",
                 what);
    if (until && run->until_residual < 0)
        tz_raise(L, "%s: '%s' must not be negative", what,
                 run->until_is_update ? "until_update" : "until_residual");
    if (has_most)
        run->steps = most;
}

/* --check: which files a run would write. */
static void run_dry(tz_simulation_handle *handle, const tz_run *run)
{
    tz_context *context = handle->context;
    const int64_t from = handle->dry_step, steps = run->steps < 0 ? 0 : run->steps;
    if (isnan(run->until_residual))
        tz_context_print(context, "  %s: runs %lld steps from step %lld\n", handle->name,
                         (long long)steps, (long long)from);
    else if (run->steps < 0)
        tz_context_print(context, "  %s: runs until the %s is <= %g\n", handle->name,
                         run->until_is_update ? "update" : "residual", run->until_residual);
    else
        tz_context_print(context, "  %s: runs until the %s is <= %g, at most %lld steps\n",
                         handle->name, run->until_is_update ? "update" : "residual",
                         run->until_residual, (long long)steps);
    for (tz_binding *b = handle->bindings; b != NULL; b = b->next) {
        if (b->every == 0)
            continue;
        int64_t count = (from + steps) / b->every - from / b->every;
        if (from == 0 && !handle->fired_zero)
            count++;
        b->count += count;
        char pattern[200];
        tz_binding_pattern(b, pattern, sizeof pattern);
        tz_context_print(context, "    every %lld: %s, %s%lld %s\n", (long long)b->every, pattern,
                         isnan(run->until_residual) ? "" : "at most ", (long long)count,
                         b->output == NULL                    ? "calls"
                         : b->output->kind == TZ_OUTPUT_TABLE ? "rows"
                                                              : "files");
    }
    handle->fired_zero = true;
    handle->dry_step = from + steps;
}

static void push_result(lua_State *L, const tz_run_result *result, int64_t cells)
{
    lua_createtable(L, 0, 6);
    lua_pushinteger(L, result->steps);
    lua_setfield(L, -2, "steps");
    lua_pushinteger(L, result->stages);
    lua_setfield(L, -2, "stages");
    lua_pushnumber(L, result->seconds);
    lua_setfield(L, -2, "seconds");
    lua_pushnumber(L, result->residual);
    lua_setfield(L, -2, "residual");
    lua_pushnumber(L, result->update);
    lua_setfield(L, -2, "update");
    lua_pushboolean(L, result->converged);
    lua_setfield(L, -2, "converged");
    lua_pushnumber(L, result->seconds > 0
                          ? 1e-9 * (double)result->steps * (double)cells / result->seconds
                          : 0);
    lua_setfield(L, -2, "gcells_per_s");
    if (!isnan(result->energy_j)) {
        lua_pushnumber(L, result->energy_j);
        lua_setfield(L, -2, "energy_j");
    }
}

static void flush_tables(lua_State *L, const tz_simulation_handle *handle)
{
    tz_error error;
    for (const tz_binding *b = handle->bindings; b != NULL; b = b->next)
        if (b->table != NULL && tz_table_flush(b->table, &error) != TZ_OK)
            tz_raise_error(L, NULL, &error);
}

static int method_run(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:run");
    tz_run run;
    tz_run_result result = {.residual = NAN};
    tz_error error;
    lua_settop(L, 2);
    get_run(L, &run);
    if (tz_handle_is_dry(handle)) {
        run_dry(handle, &run);
        result.steps = run.steps < 0 ? 0 : run.steps;
        push_result(L, &result, 0);
        return 1;
    }
    open_folder(L, handle, "sim:run");
    size_t count = 0;
    for (const tz_binding *b = handle->bindings; b != NULL; b = b->next)
        count += b->every > 0;
    tz_event *events = lua_newuserdatauv(L, (count + 1) * sizeof *events, 0);
    for (tz_binding *b = handle->bindings; b != NULL; b = b->next)
        if (b->every > 0) {
            tz_event *event = &events[run.events_count++];
            *event = (tz_event){
                .every = b->every, .wants_residual = wants_residual(b), .fire = fire, .context = b};
            tz_later_bind(event, b);
        }
    tz_later_run(&run, handle);
    run.events = events;
    run.progress = on_progress;
    run.progress_context = handle;
    handle->failure[0] = '\0';
    handle->seconds_before = tz_simulation_seconds(handle->simulation);
    handle->L = L;
    const tz_status status = tz_simulation_run(handle->simulation, &run, &result, &error);
    handle->L = NULL;
    char warning[512];
    if (tz_policy_take_warning(tz_simulation_policy(handle->simulation), warning, sizeof warning))
        tz_context_note(handle->context, TZ_NOTE_WARNING, "%s", warning);
    report(handle, handle->simulation, result.steps,
           isnan(run.until_residual) ? run.steps : result.steps, true);
    if (status != TZ_OK && tz_interrupt_signal() != 0)
        tz_raise(L, "interrupted at step %lld", (long long)tz_simulation_step(handle->simulation));
    if (status == TZ_SCRIPT && handle->failure[0] != '\0') {
        lua_pushstring(L, handle->failure); /* its line is in it already */
        return lua_error(L);
    }
    if (status != TZ_OK)
        tz_raise_error(L, "sim:run", &error);
    flush_tables(L, handle);
    push_result(L, &result, tz_simulation_cells(handle->simulation));
    return 1;
}

void tz_running_add(lua_State *L)
{
    static const luaL_Reg methods[] = {{"every", method_every},
                                       {"write", method_write},
                                       {"run", method_run},
                                       {"rewind", method_rewind},
                                       {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
}
