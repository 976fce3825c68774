#include "lua/augment.h"

#include "define/source.h"
#include "lua/context.h"
#include "lua/definition.h"
#include <stdio.h>
#include <string.h>

static const char what[] = "tz.stencil";
static const char *const with_auto[] = {"grid", "precision", "device"};
enum { WITH_AUTO = sizeof with_auto / sizeof *with_auto };

/* Where the registry keeps tz.predict, which scripts cannot replace there. */
static const char predict_key;

void tz_augment_register(lua_State *L)
{
    lua_getfield(L, -1, "predict");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &predict_key);
}

bool tz_augment_is_auto(lua_State *L)
{
    if (!lua_istable(L, 1))
        return false;
    const bool text = tz_table_get(L, 1, "augment") == LUA_TSTRING;
    if (text && strcmp(lua_tostring(L, -1), "auto") != 0)
        tz_raise(L, "%s: 'augment' must be an integer or \"auto\", not \"%.60s\"", what,
                 lua_tostring(L, -1));
    lua_pop(L, 1);
    return text;
}

void tz_augment_check_given(lua_State *L, int index)
{
    for (int i = 0; i < WITH_AUTO; i++) {
        if (tz_table_get(L, index, with_auto[i]) != LUA_TNIL)
            tz_raise(L, "%s: '%s' goes with augment = \"auto\": give it to tz.simulation", what,
                     with_auto[i]);
        lua_pop(L, 1);
    }
}

/* Push a copy of the options at `index` with this number of steps, and without the keys above. */
static void push_options(lua_State *L, int index, int steps)
{
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, index) != 0;) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    for (int i = 0; i < WITH_AUTO; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, with_auto[i]);
    }
    lua_pushinteger(L, steps);
    lua_setfield(L, -2, "augment");
}

/* Called with options: the largest number of steps that is possible. Raises if none is. */
static int count_possible(lua_State *L)
{
    tz_definition_value *v = tz_definition_read(L, tz_context_get(L)->options->unsafe);
    tz_error error;
    int most = 0;
    if (!v->definition.coefficients)
        tz_raise(L, "%s: 'augment' goes with 'coefficients', which are missing", what);
    for (int steps = 1; steps <= TZ_RADIUS_MAX; steps++) {
        tz_defined_source source;
        v->coefficients.augment = steps;
        if (tz_define_source(&v->definition, &source, &error) != TZ_OK)
            break;
        tz_defined_source_clear(&source);
        most = steps;
    }
    if (most == 0)
        tz_raise_error(L, what, &error);
    lua_pushinteger(L, most);
    return 1;
}

/* Seconds of an iteration of the stencil on the top of the stack, as the options at `index` say. */
static double predicted(lua_State *L, int index)
{
    static const char *const keys[] = {"grid", "precision", "device", "boundary"};
    const int stencil = lua_gettop(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &predict_key);
    lua_newtable(L);
    lua_pushvalue(L, stencil);
    lua_setfield(L, -2, "plugin");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        tz_table_get(L, index, keys[i]);
        lua_setfield(L, -2, keys[i]);
    }
    lua_call(L, 1, 1);
    if (!lua_istable(L, -1) || tz_table_get(L, -1, "best") != LUA_TTABLE ||
        tz_table_get(L, -1, "time_s") != LUA_TNUMBER)
        tz_raise(L, "%s: tz.predict gives no time", what);
    const double seconds = lua_tonumber(L, -1);
    lua_settop(L, stencil);
    return seconds;
}

/* Define the stencil of the options on the top of the stack, which it replaces. A name of its own: the
 * stencil that is chosen gets the script's. */
static void define_candidate(lua_State *L, lua_CFunction define, int steps)
{
    if (tz_table_get(L, -1, "name") == LUA_TSTRING) {
        lua_pushfstring(L, "%s_augmented_%d", lua_tostring(L, -1), steps);
        lua_setfield(L, -3, "name");
    }
    lua_pop(L, 1);
    lua_pushcfunction(L, define);
    lua_insert(L, -2);
    lua_call(L, 1, 1);
}

int tz_augment_choose(lua_State *L, lua_CFunction define)
{
    char doc[600] = "";
    double best = 0, before = 0;
    int chosen = 1, length = 0;
    lua_settop(L, 1);
    tz_keys_take(L, 1, what, tz_definition_options, false);
    if (tz_table_get(L, 1, "grid") == LUA_TNIL)
        tz_raise(L, "%s: augment = \"auto\" needs 'grid', the grid that it is chosen for", what);
    lua_settop(L, 1);
    lua_pushcfunction(L, count_possible);
    push_options(L, 1, 1);
    lua_call(L, 1, 1);
    const int most = (int)lua_tointeger(L, -1);
    for (int steps = 1; steps <= most; steps++) {
        lua_settop(L, 1);
        push_options(L, 1, steps);
        define_candidate(L, define, steps);
        const double seconds = predicted(L, 1) / steps;
        length += snprintf(doc + length, sizeof doc - (size_t)length, "%s%d: %.3g s",
                           steps > 1 ? ", " : "", steps, seconds);
        if (steps == 1 || seconds < best) {
            best = seconds;
            chosen = steps;
        }
        if (steps > 1 && seconds > before) /* and more will be slower still */
            break;
        before = seconds;
    }
    lua_settop(L, 1);
    push_options(L, 1, chosen);
    const bool has_doc = tz_table_get(L, -1, "doc") == LUA_TSTRING;
    lua_pushfstring(L, "%s%sAugmented by %d of up to %d; predicted for a step: %s",
                    has_doc ? lua_tostring(L, -1) : "", has_doc ? " " : "", chosen, most, doc);
    lua_setfield(L, -3, "doc");
    lua_pop(L, 1);
    lua_pushcfunction(L, define);
    lua_insert(L, -2);
    lua_call(L, 1, 1);
    return 1;
}
