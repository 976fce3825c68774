/* Methods sim:every and sim:write, and tz.checkpoint. simulation.c and module.c register them;
 * running.c writes and calls what is bound. */
#include "lua/handle.h"

#include "base/number.h"
#include "lua/api.h"
#include "lua/checkpoint.h"
#include "lua/floorplan.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "lua/recall.h"
#include "sim/residual.h"
#include "sim/simulation.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TZ_TYPE_CHECKPOINT "trapeze.checkpoint"

/* ---- Writing --------------------------------------------------------------------------------- */

/* The text of the value on the top of the stack. */
static void get_text(lua_State *L, const char *title, char cell[TZ_CELL_SIZE])
{
    luaL_tolstring(L, -1, NULL);
    const char *text = tz_text_check(L, -1, "tz.table", title);
    if (strlen(text) >= TZ_CELL_SIZE)
        tz_raise(L, "tz.table: '%s' gave a text of %zu bytes; a cell holds %d", title, strlen(text),
                 TZ_CELL_SIZE - 1);
    snprintf(cell, TZ_CELL_SIZE, "%s", text);
}

/* Push a user value of the binding's output, above other values. */
static void push_own(lua_State *L, const tz_binding *binding, int handle_index, int which)
{
    lua_getiuservalue(L, handle_index, 1);
    lua_rawgeti(L, -1, binding->reference);
    lua_getiuservalue(L, -1, which);
}

/* Call the function of column i for the text of its cell. */
static void call_column(lua_State *L, const tz_binding *binding, int handle_index, size_t i,
                        char cell[TZ_CELL_SIZE])
{
    const int top = lua_gettop(L);
    push_own(L, binding, handle_index, TZ_OUTPUT_COLUMNS);
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    lua_pushvalue(L, handle_index);
    lua_call(L, 1, 1);
    if (lua_isinteger(L, -1))
        snprintf(cell, TZ_CELL_SIZE, "%lld", (long long)lua_tointeger(L, -1));
    else if (lua_type(L, -1) == LUA_TNUMBER)
        tz_writer_number(cell, lua_tonumber(L, -1));
    else
        get_text(L, binding->writer.output->columns[i].title, cell);
    lua_settop(L, top);
}

/* A row of a table with columns that are functions. */
static tz_status write_row(lua_State *L, tz_binding *binding, int handle_index, tz_error *error)
{
    const tz_output *output = binding->writer.output;
    const tz_context *context = binding->handle->context;
    const bool replays = tz_recall_replays(context);
    tz_writer_row row, other;
    tz_status status =
        replays ? TZ_OK
                : tz_writer_fill(&binding->writer, binding->handle->simulation, &other, error);
    if (status != TZ_OK)
        return status;
    for (size_t i = 0; i < output->columns_count; i++)
        if (output->columns[i].kind == TZ_COLUMN_FUNCTION)
            call_column(L, binding, handle_index, i, row.cells[i]);
    if (tz_recall_replays(context)) /* the row is in the table */
        return TZ_OK;
    if (replays) /* a function came to the checkpoint: only now are there fields */
        status = tz_writer_fill(&binding->writer, binding->handle->simulation, &other, error);
    for (size_t i = 0; i < output->columns_count; i++)
        if (output->columns[i].kind != TZ_COLUMN_FUNCTION)
            memcpy(row.cells[i], other.cells[i], sizeof row.cells[i]);
    return status ? status : tz_writer_add(&binding->writer, &row, error);
}

/* A file, from now on, of the run folder. One that grows is noted once. */
static void note_file(const tz_binding *binding, int64_t step)
{
    char name[TZ_WRITER_FILE_SIZE];
    if (tz_format_is_one_file(binding->writer.output->format) &&
        binding->writer.count > binding->writer.first_frame)
        return;
    tz_writer_file(&binding->writer, step, name);
    tz_recall_file(binding->handle->context, name);
}

tz_status tz_binding_take(tz_binding *binding, tz_error *error)
{
    const tz_simulation *simulation = binding->handle->simulation;
    if (!binding->writer.probes)
        return TZ_OK;
    if (tz_binding_listens(binding))
        note_file(binding, tz_simulation_step(simulation));
    return tz_writer_take(&binding->writer, simulation, !tz_binding_listens(binding), error);
}

/* A picture with a caption that a function makes. */
static tz_status write_told(lua_State *L, tz_binding *binding, int handle_index, tz_error *error)
{
    const tz_simulation *simulation = binding->handle->simulation;
    const int top = lua_gettop(L);
    push_own(L, binding, handle_index, TZ_OUTPUT_CAPTION);
    lua_pushvalue(L, handle_index);
    lua_call(L, 1, 1);
    if (lua_type(L, -1) != LUA_TSTRING)
        tz_raise(L, "the function that makes a caption returned %s, not a text",
                 tz_kind_text(L, -1));
    const char *caption = tz_text_check(L, -1, "the function that makes a caption", "caption");
    if (strlen(caption) >= TZ_CAPTION_SIZE / 2)
        tz_raise(L, "the function that makes a caption returned %zu bytes; a caption holds %d",
                 strlen(caption), TZ_CAPTION_SIZE / 2 - 1);
    tz_status status = tz_output_check_caption(caption, simulation, error);
    if (status == TZ_OK && !tz_recall_replays(binding->handle->context)) {
        note_file(binding, tz_simulation_step(simulation));
        /* Frames of a movie have one size, also where there is nothing to say. */
        binding->writer.caption = caption[0] ? caption : " ";
        status = tz_writer_write(&binding->writer, simulation, error);
        binding->writer.caption = NULL;
    }
    lua_settop(L, top);
    return status;
}

tz_status tz_binding_write_later(tz_binding *binding, tz_snapshot *snapshot, tz_error *error)
{
    if (!tz_writer_is_done(&binding->writer, tz_simulation_step(tz_snapshot_simulation(snapshot))))
        note_file(binding, tz_simulation_step(tz_snapshot_simulation(snapshot)));
    return tz_writer_write_later(&binding->writer, snapshot, error);
}

bool tz_binding_calls_lua(const tz_binding *binding)
{
    return binding->kind == TZ_BINDING_FUNCTION || binding->kind == TZ_BINDING_UNTIL ||
           (binding->kind == TZ_BINDING_OUTPUT && tz_output_needs_texts(binding->writer.output));
}

/* Ask the condition of a run, which may end it. */
static void ask_until(lua_State *L, const tz_binding *binding, int handle_index)
{
    char why[TZ_RUN_WHY_SIZE];
    lua_getiuservalue(L, handle_index, 1);
    lua_rawgeti(L, -1, binding->reference);
    lua_pushvalue(L, handle_index);
    lua_call(L, 1, 1);
    if (lua_type(L, -1) != LUA_TBOOLEAN)
        tz_raise(L, "sim:run: 'until_true', the %s, must return true or false, not %s: %s",
                 binding->function, tz_kind_text(L, -1),
                 lua_isnil(L, -1) ? "does it end with return?" : "compare it with something");
    if (lua_toboolean(L, -1)) {
        snprintf(why, sizeof why, "%s is true", binding->function);
        tz_simulation_stop(&tz_active_run_of(binding->handle)->course, TZ_RUN_UNTIL, why);
    }
    lua_pop(L, 2);
}

void tz_binding_write(lua_State *L, tz_binding *binding, int handle_index)
{
    tz_simulation *simulation = binding->handle->simulation;
    const bool replays = tz_recall_replays(binding->handle->context);
    tz_status status = TZ_OK;
    if (binding->kind == TZ_BINDING_OUTPUT && !replays &&
        tz_output_has_column(binding->writer.output, TZ_COLUMN_RESIDUAL))
        status = tz_simulation_measure(simulation, &(tz_update){0}, tz_fault(L));
    tz_try(L, NULL, status);
    if (binding->kind == TZ_BINDING_CHECKPOINT) {
        /* Outside of a run nothing else waits for a thread that writes it. */
        status = tz_checkpoint_now(binding->handle->context, !binding->handle->L, tz_fault(L));
    } else if (binding->kind == TZ_BINDING_FUNCTION) {
        lua_getiuservalue(L, handle_index, 1);
        lua_rawgeti(L, -1, binding->reference);
        lua_pushvalue(L, handle_index);
        lua_call(L, 1, 0);
        lua_pop(L, 1);
    } else if (binding->kind == TZ_BINDING_UNTIL) {
        ask_until(L, binding, handle_index);
    } else if (binding->writer.output->look.told) {
        status = write_told(L, binding, handle_index, tz_fault(L));
    } else if (tz_binding_calls_lua(binding)) {
        note_file(binding, 0);
        status = write_row(L, binding, handle_index, tz_fault(L));
    } else if (!replays) {
        note_file(binding, tz_simulation_step(simulation));
        status = tz_writer_write(&binding->writer, simulation, tz_fault(L));
    }
    tz_try(L, NULL, status);
    tz_writer_count(&binding->writer, tz_simulation_step(simulation));
}

bool tz_binding_is_done(const tz_binding *binding, int64_t step)
{
    return binding->kind == TZ_BINDING_OUTPUT && tz_writer_is_done(&binding->writer, step);
}

/* ---- Binding --------------------------------------------------------------------------------- */

/* The table of files that outputs write is on the top of the stack. */
static void claim(lua_State *L, const char *file, const char *what)
{
    if (lua_getfield(L, -1, file) != LUA_TNIL)
        tz_raise(L,
                 "%s: another output already writes %s; give this one, or its simulation, "
                 "another 'name'",
                 what, file);
    lua_pushboolean(L, 1);
    lua_setfield(L, -3, file);
    lua_pop(L, 1);
}

/* Two outputs must not write files of the same name. */
static void claim_files(lua_State *L, const tz_binding *binding, const char *what)
{
    char pattern[200], series[200];
    tz_binding_pattern(binding, pattern, sizeof pattern);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "trapeze.patterns");
    claim(L, pattern, what);
    if (tz_writer_series(&binding->writer, series, sizeof series))
        claim(L, series, what);
    lua_pop(L, 1);
}

/* The binding of the value at `index` that can be used again; NULL if there is none. The handle's
 * user value is on the top of the stack. */
static tz_binding *find_binding(lua_State *L, const tz_simulation_handle *handle, int index,
                                bool regular)
{
    for (tz_binding *b = handle->bindings; b; b = b->next) {
        if (regular && tz_binding_is_regular(b))
            continue;
        lua_rawgeti(L, -1, b->reference);
        const bool same = lua_rawequal(L, -1, index);
        lua_pop(L, 1);
        if (same && (b->kind == TZ_BINDING_OUTPUT || !regular))
            return b;
    }
    return NULL;
}

/* Outlines of a picture must be those of the simulation's chip. */
static void check_outline(lua_State *L, const tz_simulation_handle *handle, int index,
                          const tz_output *output, const char *what)
{
    if (output->look.overlay.outlines_count == 0)
        return;
    lua_getiuservalue(L, index, TZ_OUTPUT_OUTLINE);
    tz_floorplan_check_chip(L, -1, handle, what);
    lua_pop(L, 1);
}

static noreturn void refuse_output(lua_State *L, int index, const char *what)
{
    char names[256] = "";
    for (const tz_format *const *f = tz_formats; *f; f++)
        if ((*f)->doc)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%stz.%s",
                     names[0] ? ", " : "", (*f)->name);
    tz_raise(L, "%s: needs an output (%s), a function(sim) or tz.checkpoint(), not %s", what, names,
             tz_kind_text(L, index));
}

static void append(tz_binding *binding)
{
    tz_binding **end = &binding->handle->bindings;
    while (*end)
        end = &(*end)->next;
    *end = binding;
}

void tz_binding_until(lua_State *L, tz_simulation_handle *handle, int handle_index, int index,
                      int64_t every)
{
    tz_binding *binding = calloc(1, sizeof *binding);
    if (!binding)
        tz_raise(L, "sim:run: not enough memory");
    *binding = (tz_binding){.handle = handle,
                            .kind = TZ_BINDING_UNTIL,
                            .every = {.steps = every},
                            .writer = {.last_step = -1}};
    tz_function_text(L, index, binding->function, sizeof binding->function);
    append(binding); /* from here on the simulation frees it */
    lua_getiuservalue(L, handle_index, 1);
    lua_pushvalue(L, index);
    binding->reference = luaL_ref(L, -2);
    lua_pop(L, 1);
}

void tz_binding_until_ended(lua_State *L, tz_simulation_handle *handle, int handle_index)
{
    tz_binding **last = &handle->bindings;
    while (*last && (*last)->kind != TZ_BINDING_UNTIL)
        last = &(*last)->next;
    if (!*last)
        return;
    lua_getiuservalue(L, handle_index, 1);
    luaL_unref(L, -1, (int)(*last)->reference);
    lua_pop(L, 1);
    tz_binding *ended = *last;
    *last = ended->next;
    free(ended);
}

/* Find or make the binding of the output or function at `index`; `every` NULL: by sim:write. */
static tz_binding *bind(lua_State *L, tz_simulation_handle *handle, int handle_index, int index,
                        const tz_interval *every, const char *what)
{
    const tz_output *output = luaL_testudata(L, index, TZ_TYPE_OUTPUT);
    const bool checkpoint = luaL_testudata(L, index, TZ_TYPE_CHECKPOINT);
    if (!output && !checkpoint && !lua_isfunction(L, index))
        refuse_output(L, index, what);
    lua_getiuservalue(L, handle_index, 1);
    tz_binding *found = find_binding(L, handle, index, every);
    if (found) {
        found->every = every ? *every : found->every;
        lua_pop(L, 1);
        return found;
    }
    tz_binding made = {.handle = handle,
                       .kind = output       ? TZ_BINDING_OUTPUT
                               : checkpoint ? TZ_BINDING_CHECKPOINT
                                            : TZ_BINDING_FUNCTION,
                       .writer = {.last_step = -1}};
    if (every)
        made.every = *every;
    if (output) {
        check_outline(L, handle, index, output, what);
        if (output->look.y == TZ_Y_DOWN && tz_simulation_rows_up(handle->simulation) &&
            (tz_format_is_picture(output->format) || output->format->content == TZ_CONTENT_GRID))
            tz_raise(L, "%s: the simulation has y = \"up\", which its outputs follow", what);
        if (output->format->content == TZ_CONTENT_GRID && output->look.y == TZ_Y_AUTO &&
            tz_simulation_y_up(handle->simulation))
            tz_context_note(
                handle->context, TZ_NOTE_LOG,
                "%s: files begin with the chip's lower edge, the grid's last row, since "
                "a floorplan fills a field (y = \"up\")",
                what);
        tz_try(L, what,
               tz_writer_open(&made.writer, output, &handle->context->files, handle->simulation,
                              handle->name, handle->prefix, tz_fault(L)));
        made.writer.rewinds = handle->rewinds;
        claim_files(L, &made, what);
    } else if (checkpoint) {
        strcpy(made.function, "checkpoint");
        tz_checkpoints_every(handle->context, 0);
    } else {
        tz_function_text(L, index, made.function, sizeof made.function);
    }
    lua_pushvalue(L, index);
    made.reference = luaL_ref(L, -2);
    lua_pop(L, 1);
    tz_binding *binding = malloc(sizeof *binding);
    if (!binding)
        tz_raise(L, "%s: not enough memory", what);
    *binding = made;
    append(binding);
    return binding;
}

/* sim:every("10 min", tz.checkpoint()): a time of the clock, whatever the simulation does. */
static void every_wall_time(lua_State *L, tz_simulation_handle *handle)
{
    double seconds = 0;
    const char *text = tz_text_check(L, 2, "sim:every", "interval");
    tz_try(L, "sim:every: 'interval' of a checkpoint",
           tz_duration_parse(text, "s", &seconds, tz_fault(L)));
    if (!(seconds > 0) || !isfinite(seconds))
        tz_raise(L, "sim:every: the interval must be positive, not %s", text);
    tz_checkpoints_every(handle->context, seconds);
}

static int method_every(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:every");
    lua_settop(L, 3);
    tz_interval every = {.steps = 0};
    if (luaL_testudata(L, 2, TZ_TYPE_OUTPUT) || lua_type(L, 2) == LUA_TFUNCTION)
        tz_raise(L, "sim:every: the interval comes first: sim:every(10, %s)",
                 lua_isfunction(L, 2) ? "function(sim) ... end" : "tz.png()");
    if (lua_type(L, 2) == LUA_TSTRING && strstr(lua_tostring(L, 2), "step"))
        tz_raise(L, "sim:every: an interval in steps is a number: sim:every(%d, ...), not '%.40s'",
                 atoi(lua_tostring(L, 2)), lua_tostring(L, 2));
    if (lua_type(L, 2) == LUA_TSTRING && luaL_testudata(L, 3, TZ_TYPE_CHECKPOINT)) {
        every_wall_time(L, handle);
        lua_settop(L, 1);
        return 1;
    }
    if (lua_type(L, 2) == LUA_TSTRING)
        every.time = tz_handle_time(L, 2, handle, "sim:every", "interval");
    else
        every.steps = tz_integer_check(L, 2, "sim:every", "interval", 1, INT64_MAX);
    if (every.steps == 0 && every.time == 0)
        tz_raise(L, "sim:every: the interval must be positive, not %s", lua_tostring(L, 2));
    tz_binding *binding = bind(L, handle, 1, 3, &every, "sim:every");
    if (binding->kind == TZ_BINDING_OUTPUT && every.steps == 1 && !binding->writer.probes &&
        !tz_handle_is_dry(handle)) {
        tz_try(L, "sim:every", tz_writer_listen(&binding->writer, handle->simulation, tz_fault(L)));
    }
    lua_settop(L, 1);
    return 1;
}

/* Protected: argument 1 is the binding, 2 the simulation. */
static int write_now(lua_State *L)
{
    tz_binding *binding = lua_touserdata(L, 1);
    const tz_simulation_handle *handle = binding->handle;
    if (!tz_recall_replays(handle->context)) {
        if (tz_binding_is_done(binding, tz_simulation_step(handle->simulation)))
            tz_raise(L,
                     "sim:write: %s is written already for step %lld; another picture of the same "
                     "step needs an output with another 'name'",
                     binding->writer.stem, (long long)binding->writer.last_step);
        tz_try(L, "sim:write", tz_handle_open_folder(handle->context, tz_fault(L)));
    }
    tz_binding_write(L, binding, 2);
    return 0;
}

/* How a write ended is in the journal: whether a file could be written is no matter of the
 * script. */
static int conclude_write(lua_State *L, tz_context *context, int status)
{
    tz_reading reading;
    char message[2600];
    if (status != LUA_OK && (tz_interrupt_signal() != 0 || lua_type(L, -1) != LUA_TSTRING))
        return lua_error(L);
    if (tz_recall_replays(context)) {
        tz_recall_take(L, TZ_ENTRY_WRITTEN, "sim:write", &reading);
        tz_reading_unpack(&reading, "s", message, sizeof message);
        if (!message[0])
            return 0;
        lua_pushstring(L, message);
        return lua_error(L);
    }
    tz_recall_put(context, TZ_ENTRY_WRITTEN, "s", status == LUA_OK ? "" : lua_tostring(L, -1));
    return status == LUA_OK ? 0 : lua_error(L);
}

static int method_write(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:write");
    handle->context->asked = true;
    lua_settop(L, 2);
    tz_binding *binding = bind(L, handle, 1, 2, NULL, "sim:write");
    if (tz_handle_is_dry(handle)) {
        char pattern[200];
        tz_binding_pattern(binding, pattern, sizeof pattern);
        tz_context_print(handle->context, "  %s: writes %s at step %lld\n", handle->name, pattern,
                         (long long)tz_simulation_step(handle->simulation));
        binding->writer.count++;
        return 0;
    }
    if (binding->kind == TZ_BINDING_CHECKPOINT) {
        tz_try(L, "sim:write", tz_handle_open_folder(handle->context, tz_fault(L)));
        tz_binding_write(L, binding, 1);
        return 0;
    }
    lua_pushcfunction(L, tz_context_traceback);
    lua_pushcfunction(L, write_now);
    lua_pushlightuserdata(L, binding);
    lua_pushvalue(L, 1);
    const int status = lua_pcall(L, 2, 0, -4);
    return conclude_write(L, handle->context, status);
}

const tz_api_function tz_binding_methods[] = {
    TZ_API("sim:every(interval, output)", method_every,
           "Writes an output, or calls a function with the simulation, at step 0 and then every "
           "`interval` iterations, or at multiples of a time such as `\"0.1 ms\"`.",
           .recall = TZ_RECALL_CALL, .keeps = true),
    TZ_API("sim:write(output)", method_write, "Writes an output now.", .recall = TZ_RECALL_OWN),
    TZ_API_END};

/* ---- tz.checkpoint --------------------------------------------------------------------------- */

static int value_checkpoint(lua_State *L)
{
    lua_newuserdatauv(L, 1, 0);
    luaL_setmetatable(L, TZ_TYPE_CHECKPOINT);
    return 1;
}

static int checkpoint_tostring(lua_State *L)
{
    lua_pushliteral(L, "checkpoint");
    return 1;
}

static const luaL_Reg checkpoint_events[] = {{"__tostring", checkpoint_tostring}, {NULL, NULL}};
const tz_api_class tz_checkpoint_class = {.type = TZ_TYPE_CHECKPOINT, .events = checkpoint_events};

const tz_api_function tz_binding_functions[] = {
    TZ_API("tz.checkpoint()", value_checkpoint,
           "For `sim:every` and `sim:write`: a checkpoint of all simulations, from which "
           "`trapeze resume` goes on. `sim:every(\"10 min\", tz.checkpoint())` counts minutes "
           "of the clock on the wall."),
    TZ_API_END};
