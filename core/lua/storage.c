/* The key `storage` of options. Called by problem.c for simulations, and by define.c for stencils,
 * which have it for their simulations. */
#include "lua/storage.h"

#include "base/names.h"
#include "lua/keys.h"
#include "stencil/element.h"
#include <math.h>
#include <stdio.h>

const char *tz_storage_names(int i)
{
    return i < TZ_STORED_COUNT ? tz_stored_name((tz_stored)i) : NULL;
}

const tz_key tz_storage_options[] = {
    {"origin", "number", "the stencil's, else 0",
     "a value of the field, rounded to 20 bits; elements are (value - origin) / scale"},
    {"scale", "number", "1", "a power of two"},
    {NULL}};

/* The name or { name, origin = …, scale = … } at the top of the stack. */
static tz_storage_wish get_wish(lua_State *L, const char *where, const char *field)
{
    tz_storage_wish wish = {.field = field, .origin = NAN, .scale = 1};
    const bool table = lua_istable(L, -1);
    char hint[256];
    if (table) {
        tz_keys_take(L, -1, where, tz_storage_options, true);
        tz_key_number(L, -1, where, "origin", &wish.origin);
        tz_key_number(L, -1, where, "scale", &wish.scale);
        lua_rawgeti(L, -1, 1);
    }
    if (lua_type(L, -1) != LUA_TSTRING)
        tz_raise(L, "%s needs the name of a storage, such as \"half\", not %s", where,
                 tz_kind_text(L, -1));
    const char *name = tz_text_check(L, -1, where, "name");
    const char *names[TZ_STORED_COUNT];
    for (int as = 0; as < TZ_STORED_COUNT; as++)
        names[as] = tz_stored_name((tz_stored)as);
    const int as = tz_stored_find(name);
    if (as < 0)
        tz_raise(L, "%s: unknown storage '%.60s'%s", where, name,
                 tz_names_hint(hint, sizeof hint, name, names, TZ_STORED_COUNT));
    wish.as = (tz_stored)as;
    lua_pop(L, table ? 1 : 0);
    return wish;
}

/* What a userdata of storage holds. */
typedef struct storage_wishes {
    size_t count;
    tz_storage_wish of[TZ_FIELDS_MAX];
} storage_wishes;

void tz_storage_push(lua_State *L, int index, const char *what, const tz_stencil *stencil)
{
    const char *names[TZ_FIELDS_MAX];
    char where[160];
    snprintf(where, sizeof where, "%s: 'storage'", what);
    const int type = tz_table_get(L, index, "storage");
    const bool fields = type == LUA_TTABLE && lua_rawlen(L, -1) == 0;
    if (type == LUA_TNIL)
        return;
    if (type != LUA_TSTRING && type != LUA_TTABLE)
        tz_raise(L, "%s must be a name or { FIELD = name, … }, not %s", where, tz_kind_text(L, -1));
    storage_wishes *wishes = lua_newuserdatauv(L, sizeof *wishes, 0);
    wishes->count = 0;
    lua_insert(L, -2);
    if (!fields)
        wishes->of[wishes->count++] = get_wish(L, where, NULL);
    for (int f = 0; f < stencil->fields_count; f++)
        names[f] = stencil->fields[f].name;
    if (fields)
        tz_keys_check(L, -1, where, names, (size_t)stencil->fields_count, false);
    for (int f = 0; fields && f < stencil->fields_count; f++) {
        snprintf(where, sizeof where, "%s: 'storage.%.60s'", what, names[f]);
        if (tz_table_get(L, -1, names[f]) != LUA_TNIL)
            wishes->of[wishes->count++] = get_wish(L, where, names[f]);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

void tz_storage_read(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                     tz_simulation_config *config)
{
    const int top = lua_gettop(L);
    index = lua_absindex(L, index);
    tz_storage_push(L, index, what, stencil);
    if (lua_isnil(L, -1) && tz_table_get(L, index, "plugin") == LUA_TUSERDATA)
        lua_getiuservalue(L, -1, TZ_STENCIL_STORAGE);
    const storage_wishes *wishes = lua_touserdata(L, -1);
    if (wishes) {
        config->storage = wishes->of;
        config->storage_count = wishes->count;
        lua_setfield(L, index, "storage"); /* it lives as long as the options */
    }
    lua_settop(L, top);
}
