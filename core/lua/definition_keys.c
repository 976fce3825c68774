#include "lua/definition_keys.h"

#include "output/format/number.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "tz.stencil";

void tz_definition_keep(lua_State *L)
{
    lua_rawseti(L, TZ_DEFINITION_KEPT, (lua_Integer)lua_rawlen(L, TZ_DEFINITION_KEPT) + 1);
}

bool tz_definition_push(lua_State *L, int index, const char *who, const char *key)
{
    const int type = tz_table_get(L, index, key);
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    if (type != LUA_TTABLE)
        tz_raise(L, "%s: '%s' must be a table, not %s", who, key, tz_kind_text(L, -1));
    return true;
}

const char *tz_definition_text(lua_State *L, int index, const char *who, const char *key)
{
    const char *text = NULL;
    if (tz_key_text(L, index, who, key, &text)) {
        lua_pushstring(L, key);
        lua_rawget(L, index);
        tz_definition_keep(L);
    }
    return text;
}

tz_defined_text tz_definition_formula(lua_State *L, const char *who, const char *name)
{
    tz_defined_text out;
    if (lua_type(L, -1) == LUA_TNUMBER) {
        char number[TZ_NUMBER_SIZE];
        if (!isfinite(lua_tonumber(L, -1)))
            tz_raise(L, "%s: '%.60s' must be a finite number", who, name);
        lua_pushstring(L, tz_number_format(number, lua_tonumber(L, -1)));
        lua_remove(L, -2);
    } else if (lua_type(L, -1) != LUA_TSTRING) {
        tz_raise(L, "%s: '%.60s' must be a formula, a string, not %s", who, name,
                 tz_kind_text(L, -1));
    }
    out.text = lua_tolstring(L, -1, &out.length);
    tz_definition_keep(L);
    return out;
}

tz_defined_text tz_definition_option(lua_State *L, const char *key)
{
    if (tz_table_get(L, TZ_DEFINITION_OPTIONS, key) != LUA_TNIL)
        return tz_definition_formula(L, what, key);
    lua_pop(L, 1);
    return (tz_defined_text){.text = NULL};
}

/* f2 comes before f10. */
static int compare_texts(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

int tz_definition_names(lua_State *L, const char *who, const char **names, int most, bool list)
{
    int count = 0;
    tz_table_copy(L, -1, who);
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        lua_pop(L, 1);
        if (lua_isinteger(L, -1) && list)
            continue;
        if (lua_type(L, -1) != LUA_TSTRING)
            tz_raise(L, "%s: needs NAME = value, not a list", who);
        if (count == most)
            tz_raise(L, "%s: more than %d names", who, most);
        names[count++] = tz_text_check(L, -1, who, "name");
        lua_pushvalue(L, -1);
        tz_definition_keep(L);
    }
    qsort(names, (size_t)count, sizeof *names, compare_texts);
    return count;
}
