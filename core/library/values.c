/* Arguments of calls from JSON, and their results as JSON. Called by session.c. */
#include "library/session.h"

#include "base/text.h"
#include "lua/define.h"
#include "lua/keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char tz__memory_key, tz__objects_key, tz__stencils_key;

/* ---- From JSON ------------------------------------------------------------------------------- */

static void push_named(lua_State *L, const json_t *name)
{
    if (!json_is_string(name))
        tz_raise(L, "\"tz.memory\": needs the name that tz_session_give() got");
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__memory_key);
    if (lua_getfield(L, -1, json_string_value(name)) == LUA_TNIL)
        tz_raise(L, "\"tz.memory\": there is no memory '%.60s': tz_session_give() gives it",
                 json_string_value(name));
    lua_remove(L, -2);
}

static void push_object(lua_State *L, const json_t *number)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__objects_key);
    if (!json_is_integer(number) || lua_rawgeti(L, -1, json_integer_value(number)) == LUA_TNIL)
        tz_raise(L, "\"tz.object\": there is no such object, or it has been released");
    lua_remove(L, -2);
}

/* Push what a function of the module returns. */
static void push_called(lua_State *L, tz_session *session, const char *name, const json_t *value)
{
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "trapeze");
    lua_getfield(L, -1, name + strlen("tz.")); /* raises with the nearest name */
    lua_replace(L, -3);
    lua_pop(L, 1);
    lua_call(L, tz__values_push(L, session, value), 1);
}

/* The key of a table: a number if it is one, since JSON has texts alone. */
static void push_key(lua_State *L, const char *key)
{
    if (key[0] && key[0] != '0' && key[strspn(key, "0123456789")] == '\0' && strlen(key) < 10)
        lua_pushinteger(L, atoll(key));
    else
        lua_pushstring(L, key);
}

static void push_table(lua_State *L, tz_session *session, const json_t *object)
{
    const char *key;
    json_t *value;
    lua_newtable(L);
    json_object_foreach((json_t *)object, key, value)
    {
        push_key(L, key);
        tz__value_push(L, session, value);
        lua_rawset(L, -3);
    }
}

void tz__value_push(lua_State *L, tz_session *session, const json_t *value)
{
    luaL_checkstack(L, 8, "values");
    if (json_is_array(value)) {
        const size_t count = json_array_size(value);
        lua_createtable(L, count < INT32_MAX ? (int)count : 0, 0);
        for (size_t i = 0; i < count; i++) {
            tz__value_push(L, session, json_array_get(value, i));
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
    } else if (json_is_object(value)) {
        void *only = json_object_size(value) == 1 ? json_object_iter((json_t *)value) : NULL;
        const char *key = only ? json_object_iter_key(only) : "";
        const json_t *inner = only ? json_object_iter_value(only) : NULL;
        if (strcmp(key, "tz.memory") == 0)
            push_named(L, inner);
        else if (strcmp(key, "tz.object") == 0)
            push_object(L, inner);
        else if (strncmp(key, "tz.", 3) == 0)
            push_called(L, session, key, inner);
        else
            push_table(L, session, value);
    } else if (json_is_string(value)) {
        lua_pushlstring(L, json_string_value(value), json_string_length(value));
    } else if (json_is_integer(value)) {
        lua_pushinteger(L, json_integer_value(value));
    } else if (json_is_real(value)) {
        lua_pushnumber(L, json_real_value(value));
    } else if (json_is_boolean(value)) {
        lua_pushboolean(L, json_is_true(value));
    } else {
        lua_pushnil(L);
    }
}

int tz__values_push(lua_State *L, tz_session *session, const json_t *value)
{
    if (!value)
        return 0;
    if (!json_is_array(value)) {
        tz__value_push(L, session, value);
        return 1;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        tz__value_push(L, session, json_array_get(value, i));
    return (int)json_array_size(value);
}

/* ---- To JSON --------------------------------------------------------------------------------- */

enum { DEPTH_MAX = 100 };

static json_t *real_json(double value)
{
    return isfinite(value) ? json_real(value)
           : isnan(value)  ? json_string("nan")
                           : json_string(value > 0 ? "inf" : "-inf");
}

static json_t *text_json(const char *text, size_t bytes)
{
    json_t *made = json_stringn(text, bytes);
    return made ? made : json_string("(a text that is not UTF-8)");
}

/* The value at an index gets a number. */
static json_t *object_json(lua_State *L, tz_session *session, int index)
{
    if (luaL_testudata(L, index, TZ_TYPE_OUTPUT)) {
        tz_error_set(tz_fault(L), TZ_UNSUPPORTED, NULL,
                     "outputs write files of a run: it is not in the library, which gives cells "
                     "by tz_sim_get(); tz_session_scenario() runs scripts");
        tz_raise_error(L, NULL, tz_fault(L));
    }
    json_t *made = json_object();
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__objects_key);
    lua_pushvalue(L, index);
    lua_rawseti(L, -2, ++session->objects);
    lua_pop(L, 1);
    json_object_set_new(made, "tz.object", json_integer(session->objects));
    if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING) {
        const char *type = lua_tostring(L, -1), *dot = strchr(type, '.');
        json_object_set_new(made, "type", json_string(dot ? dot + 1 : type));
        lua_pop(L, 1);
    }
    const char *id = tz_stencil_id(L, index);
    if (id)
        json_object_set_new(made, "id", json_string(id));
    return made;
}

static json_t *value_json(lua_State *L, tz_session *session, int index, int depth);

/* Is it 1, 2, … alone? */
static bool is_list(lua_State *L, int index)
{
    const lua_Integer count = (lua_Integer)lua_rawlen(L, index);
    lua_Integer keys = 0;
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1))
        keys++;
    return count > 0 && keys == count;
}

static json_t *table_json(lua_State *L, tz_session *session, int index, int depth)
{
    const bool list = is_list(L, index);
    json_t *made = list ? json_array() : json_object();
    for (lua_Integer i = 1; list && i <= (lua_Integer)lua_rawlen(L, index); i++) {
        lua_rawgeti(L, index, i);
        json_array_append_new(made, value_json(L, session, lua_gettop(L), depth + 1));
        lua_pop(L, 1);
    }
    if (list)
        return made;
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        char number[32];
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : number;
        if (key == number)
            snprintf(number, sizeof number, "%lld", (long long)lua_tointeger(L, -2));
        json_object_set_new(made, key, value_json(L, session, lua_gettop(L), depth + 1));
    }
    return made;
}

static json_t *value_json(lua_State *L, tz_session *session, int index, int depth)
{
    size_t bytes;
    const char *text;
    if (depth > DEPTH_MAX || !lua_checkstack(L, 8))
        return json_null();
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
        return json_boolean(lua_toboolean(L, index));
    case LUA_TNUMBER:
        return lua_isinteger(L, index) ? json_integer(lua_tointeger(L, index))
                                       : real_json(lua_tonumber(L, index));
    case LUA_TSTRING:
        text = lua_tolstring(L, index, &bytes);
        return text_json(text, bytes);
    case LUA_TTABLE:
        return table_json(L, session, index, depth);
    case LUA_TUSERDATA: /* methods that return their simulation */
        return luaL_testudata(L, index, TZ_TYPE_SIMULATION) ? json_null()
                                                            : object_json(L, session, index);
    default:
        return json_null();
    }
}

void tz__values_take(lua_State *L, tz_session *session, int first)
{
    const int last = lua_gettop(L);
    json_decref(session->made);
    session->made = last < first    ? json_null()
                    : last == first ? value_json(L, session, first, 0)
                                    : json_array();
    for (int i = first; last > first && i <= last; i++)
        json_array_append_new(session->made, value_json(L, session, i, 0));
}
