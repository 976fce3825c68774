/* Builds the table of the module, with tz.expect, tz.log, tz.report, tz.backends, tz.args and
 * tz.sweep. Called by sandbox.c for scripts, and by manual.c. */
#include "lua/module.h"

#include "backend/backend.h"
#include "base/number.h"
#include "lua/api.h"
#include "lua/context.h"
#include "lua/keys.h"
#include "output/report/report.h"
#include "output/sweep/sheet.h"
#include <math.h>
#include <string.h>

/* tz.expect(condition[, message]) */
static int module_expect(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    if (lua_gettop(L) == 0)
        tz_raise(L, "tz.expect: needs a condition");
    context->asked = true;
    if (context->options->check) {
        if (!context->expectations_noted)
            tz_context_print(context, "  expectations: skipped\n");
        context->expectations_noted = true;
    }
    if (context->options->check || lua_toboolean(L, 1)) {
        lua_settop(L, 1);
        return 1;
    }
    const char *message =
        lua_isnoneornil(L, 2) ? "the condition is false" : luaL_tolstring(L, 2, NULL);
    tz_raise(L, "expectation failed: %.1500s", message);
}

static int module_log(lua_State *L)
{
    tz_push_line(L, ' ');
    const char *line = tz_text_check(L, -1, "tz.log", "text");
    /* A check computes nothing: its log would show zeros. */
    if (!tz_context_get(L)->options->check)
        tz_context_log(tz_context_get(L), line);
    return 0;
}

/* tz.report(): also while a run is replayed, which then writes it at its end. */
static int module_report(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    if (context->options->check && !context->reports)
        tz_context_print(context, "  writes %s\n", TZ_REPORT_NAME);
    context->reports = true;
    return 0;
}

/* tz.backends(): the names that backend = … takes besides "auto". */
static int module_backends(lua_State *L)
{
    lua_newtable(L);
    for (int i = 0; tz_backends[i]; i++) {
        lua_pushstring(L, tz_backends[i]->name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* ---- tz.args --------------------------------------------------------------------------------- */

static bool is_set(const char *pair, const char *name, const char **value)
{
    const size_t length = strlen(name);
    if (strncmp(pair, name, length) != 0 || pair[length] != '=')
        return false;
    *value = pair + length + 1;
    return true;
}

static void push_value(lua_State *L, const char *value)
{
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        lua_pushboolean(L, value[0] == 't');
    else if (lua_stringtonumber(L, value) == 0)
        lua_pushstring(L, value);
}

/* Push tz.args.NAME, which counts as reading it. */
static void push_argument(lua_State *L, const char *name)
{
    tz_context *context = tz_context_get(L);
    const tz_script_options *options = context->options;
    const char *value = NULL;
    bool known = false;
    for (size_t i = 0; !known && i < context->read_names.count; i++)
        known = strcmp(context->read_names.items[i], name) == 0;
    if (!known)
        tz_try(L, "tz.args", tz_paths_add(&context->read_names, name, tz_fault(L)));
    /* Of several values for one name the last counts. */
    lua_pushnil(L);
    for (size_t i = options->sets_count; i-- > 0;)
        if (is_set(options->sets[i], name, &value)) {
            if (lua_isnil(L, -1)) {
                lua_pop(L, 1);
                push_value(L, value);
            }
            context->sets_read[i] = true;
        }
}

static int args_index(lua_State *L)
{
    push_argument(L, tz_text_check(L, 2, "tz.args", "name"));
    return 1;
}

static int args_newindex(lua_State *L)
{
    tz_raise(L, "tz.args cannot be changed; give values with --set NAME=VALUE");
}

/* pairs(tz.args) counts as reading all of them. */
static int args_pairs(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    const tz_script_options *options = context->options;
    lua_getglobal(L, "next");
    lua_newtable(L);
    for (size_t i = 0; i < options->sets_count; i++) {
        const char *equals = strchr(options->sets[i], '=');
        if (!equals)
            continue;
        lua_pushlstring(L, options->sets[i], (size_t)(equals - options->sets[i]));
        push_value(L, equals + 1);
        lua_rawset(L, -3);
        context->sets_read[i] = true;
    }
    lua_pushnil(L);
    return 3;
}

static void push_args(lua_State *L)
{
    static const luaL_Reg events[] = {{"__index", args_index},
                                      {"__newindex", args_newindex},
                                      {"__pairs", args_pairs},
                                      {NULL, NULL}};
    lua_newtable(L);
    luaL_newlib(L, events);
    lua_pushliteral(L, "trapeze.args");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

/* ---- tz.sweep -------------------------------------------------------------------------------- */

static const char sweeping[] = "tz.sweep";

/* Push the text of the value on the top of the stack, which --set reads back as the same value. */
static void push_value_text(lua_State *L, const char *name)
{
    char text[TZ_NUMBER_SIZE + 4];
    const int type = lua_type(L, -1);
    if (type == LUA_TBOOLEAN) {
        lua_pushstring(L, lua_toboolean(L, -1) ? "true" : "false");
    } else if (type == LUA_TNUMBER && !lua_isinteger(L, -1)) {
        if (!isfinite(lua_tonumber(L, -1)))
            tz_raise(L, "%s: '%s' has a value that is not finite", sweeping, name);
        tz_number_format(text, lua_tonumber(L, -1));
        if (text[strspn(text, "-0123456789")] == '\0')
            strcat(text, ".0");
        lua_pushstring(L, text);
    } else if (type == LUA_TNUMBER) {
        lua_pushfstring(L, "%I", (LUAI_UACINT)lua_tointeger(L, -1));
    } else if (type == LUA_TSTRING) {
        const char *value = tz_text_check(L, -1, sweeping, name);
        if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
            lua_stringtonumber(L, value) != 0)
            tz_raise(L, "%s: '%s' has the text \"%.60s\"; write it without quotes", sweeping, name,
                     value);
        lua_pushvalue(L, -1);
    } else {
        tz_raise(L, "%s: '%s' must have numbers, texts or booleans, not %s", sweeping, name,
                 tz_kind_text(L, -1));
    }
}

/* The list on the top of the stack as an axis of `grid`. */
static void add_axis(lua_State *L, tz_sweep_grid *grid, const char *name)
{
    const size_t count = tz_list_check(L, sweeping, name, "a list of values");
    const int list = lua_gettop(L);
    if (count > TZ_SWEEP_POINTS_MAX)
        tz_raise(L, "%s: the sweep has more than %d points; give fewer values", sweeping,
                 TZ_SWEEP_POINTS_MAX);
    luaL_checkstack(L, 4, sweeping);
    const char **values = lua_newuserdatauv(L, (count + 1) * sizeof *values, 0);
    lua_createtable(L, (int)count, 0); /* keeps the texts */
    for (size_t i = 0; i < count; i++) {
        const int first = lua_rawgeti(L, list, 1);
        if (lua_rawgeti(L, list, (lua_Integer)i + 1) != first)
            tz_raise(L, "%s: the values of '%s' have different types", sweeping, name);
        push_value_text(L, name);
        values[i] = lua_tostring(L, -1);
        lua_rawseti(L, list + 2, (lua_Integer)i + 1);
        lua_pop(L, 2);
    }
    tz_try(L, sweeping, tz_sweep_grid_add(grid, name, values, count, tz_fault(L)));
    lua_settop(L, list);
}

static int grid_gc(lua_State *L)
{
    tz_sweep_grid_clear(lua_touserdata(L, 1));
    return 0;
}

/* The value of this run: that of --set, else the first one. */
static void push_chosen(lua_State *L, const tz_sweep_axis *axis)
{
    tz_table_get(L, 1, axis->name);
    lua_rawgeti(L, -1, 1);
    push_argument(L, axis->name);
    if (lua_isnil(L, -1))
        lua_pop(L, 1);
    else if (lua_type(L, -1) != lua_type(L, -2))
        tz_raise(L, "%s: '%s' is %s, but its list has values such as %s", sweeping, axis->name,
                 tz_kind_text(L, -1), axis->values.items[0]);
}

/* tz.sweep { NAME = {values}, … } */
static int sweep(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    const tz_script_sink *sink = &context->options->sink;
    if (context->sweeps)
        tz_raise(L, "%s: the script calls it a second time; one call has all parameters", sweeping);
    tz_options_check(L, 1, sweeping);
    tz_table_copy(L, 1, sweeping);
    tz_sweep_grid *grid = tz_push_owned(L, sizeof *grid, grid_gc);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            tz_raise(L, "%s: needs NAME = {values}, not %s as a name", sweeping,
                     tz_kind_text(L, -2));
        add_axis(L, grid, lua_tostring(L, -2));
    }
    if (grid->count == 0)
        tz_raise(L, "%s: needs NAME = {values}", sweeping);
    lua_createtable(L, 0, (int)grid->count);
    const int result = lua_gettop(L);
    for (size_t i = 0; i < grid->count; i++) {
        push_chosen(L, &grid->axes[i]);
        lua_setfield(L, result, grid->axes[i].name);
        lua_settop(L, result);
    }
    context->sweeps = true;
    if (sink->sweep)
        tz_try(L, sweeping, sink->sweep(sink->context, grid, tz_fault(L)));
    return 1;
}

/* ---- The module ------------------------------------------------------------------------------ */

static int module_index(lua_State *L)
{
    tz_raise_missing(L, "trapeze", luaL_tolstring(L, 2, NULL), 1, NULL, 0);
}

static const tz_api_function own_functions[] = {
    TZ_API("tz.expect(condition[, message])", module_expect,
           "An error unless the condition is true: a scenario that checks itself. Returns the "
           "condition."),
    TZ_API("tz.log(...)", module_log, "A line of the log, made as by `print`."),
    TZ_API("tz.report()", module_report,
           "The run writes `report.html` into its folder when it ends, in whatever way: one page "
           "with its result, frames, tables and plans, as `trapeze report` does."),
    TZ_API("tz.backends()", module_backends,
           "The names that `backend = …` takes besides `\"auto\"`.", .recall = TZ_RECALL_GIVE),
    TZ_API_END};

static const tz_api_function sweep_functions[] = {
    TZ_API(
        "tz.sweep(parameters)", sweep,
        "The parameters of a sweep, `{ NAME = {values}, … }`: `trapeze sweep SCRIPT` runs the "
        "script with each combination. Returns a table with one value of each; in `trapeze run` "
        "the first ones, or what `--set NAME=VALUE` says. Values are numbers, texts or booleans."),
    TZ_API_END};

/* Those before and after the functions of formats, in the order of the manual. */
static const tz_api_function *const first[] = {own_functions, tz_array_functions,
                                               tz_floorplan_functions, tz_chip_functions, NULL};
static const tz_api_function *const last[] = {
    tz_binding_functions, tz_simulation_functions, tz_picture_functions, tz_predict_functions,
    tz_plot_functions,    tz_stencil_functions,    sweep_functions,      NULL};
static const tz_api_class *const classes[] = {&tz_array_class,      &tz_random_class,
                                              &tz_floorplan_class,  &tz_unit_class,
                                              &tz_output_class,     &tz_checkpoint_class,
                                              &tz_simulation_class, &tz_stencil_class,
                                              &tz_receivers_class,  NULL};

int tz_module_open(lua_State *L)
{
    for (size_t i = 0; classes[i]; i++)
        tz_api_add_class(L, classes[i]);
    lua_newtable(L);
    for (size_t i = 0; first[i]; i++)
        tz_api_add(L, first[i]);
    tz_output_register(L);
    for (size_t i = 0; last[i]; i++)
        tz_api_add(L, last[i]);
    lua_getfield(L, -1, "predict");
    lua_rawsetp(L, LUA_REGISTRYINDEX, tz_predict_functions);
    lua_pushliteral(L, TZ_VERSION);
    lua_setfield(L, -2, "version");
    tz_set_flag(L, "checking", tz_context_get(L)->options->check);
    push_args(L);
    lua_setfield(L, -2, "args");
    lua_newtable(L);
    lua_pushcfunction(L, module_index);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "trapeze");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    return 1;
}
