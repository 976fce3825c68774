/* Values of Lua that all ranks get from rank 0. */
#include "lua/together.h"

#include "lua/keys.h"
#include <stdlib.h>
#include <string.h>

/* ---- As bytes ---------------------------------------------------------------------------------- */

/* Values as bytes: a tag, then a number, a length and characters, or keys and values up to an 'e'.
 * Tables are numbered from 1 in the order in which they begin; 'a' is the number of an earlier one. */
typedef struct text {
    char *bytes;
    size_t used, room;
    bool full; /* there was no memory */
} text;

static void put(text *t, const void *bytes, size_t count)
{
    if (t->used + count > t->room) {
        const size_t room = 2 * (t->used + count) + 256;
        char *grown = t->full ? NULL : realloc(t->bytes, room);
        t->full = !grown;
        if (!grown)
            return;
        t->bytes = grown;
        t->room = room;
    }
    if (count > 0)
        memcpy(t->bytes + t->used, bytes, count);
    t->used += count;
}

static void put_tagged(text *t, char tag, const void *bytes, size_t count)
{
    put(t, &tag, 1);
    put(t, bytes, count);
}

static void encode(lua_State *L, text *t, int index, int known, int64_t *tables);

static void encode_table(lua_State *L, text *t, int index, int known, int64_t *tables)
{
    lua_pushvalue(L, index);
    if (lua_rawget(L, known) != LUA_TNIL) {
        const int64_t number = lua_tointeger(L, -1);
        lua_pop(L, 1);
        put_tagged(t, 'a', &number, sizeof number);
        return;
    }
    lua_pop(L, 1);
    lua_pushvalue(L, index);
    lua_pushinteger(L, ++*tables);
    lua_rawset(L, known);
    put_tagged(t, 't', NULL, 0);
    luaL_checkstack(L, 8, "a table in tables");
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        const int top = lua_gettop(L), key = lua_type(L, top - 1);
        if (key == LUA_TNUMBER || key == LUA_TSTRING || key == LUA_TBOOLEAN) {
            encode(L, t, top - 1, known, tables);
            encode(L, t, top, known, tables);
        }
        lua_settop(L, top - 1);
    }
    put_tagged(t, 'e', NULL, 0);
}

static void encode(lua_State *L, text *t, int index, int known, int64_t *tables)
{
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
        put_tagged(t, lua_toboolean(L, index) ? 'T' : 'F', NULL, 0);
        return;
    case LUA_TNUMBER:
        if (lua_isinteger(L, index)) {
            const lua_Integer value = lua_tointeger(L, index);
            put_tagged(t, 'i', &value, sizeof value);
        } else {
            const lua_Number value = lua_tonumber(L, index);
            put_tagged(t, 'n', &value, sizeof value);
        }
        return;
    case LUA_TSTRING: {
        size_t length;
        const char *value = lua_tolstring(L, index, &length);
        put_tagged(t, 's', &length, sizeof length);
        put(t, value, length);
        return;
    }
    case LUA_TTABLE:
        encode_table(L, t, index, known, tables);
        return;
    default:
        put_tagged(t, '0', NULL, 0);
    }
}

/* Protected: argument 1 is the text, the others are the values. */
static int encode_all(lua_State *L)
{
    text *t = lua_touserdata(L, 1);
    const int top = lua_gettop(L);
    int64_t tables = 0;
    lua_newtable(L);
    for (int i = 2; i <= top; i++)
        encode(L, t, i, top + 1, &tables);
    return 0;
}

static const char *take(const char *from, void *to, size_t count)
{
    memcpy(to, from, count);
    return from + count;
}

/* Push the value that the bytes begin with; returns what follows it. */
static const char *decode(lua_State *L, const char *from, int known)
{
    lua_Integer integer;
    lua_Number number;
    size_t length;
    luaL_checkstack(L, 8, "a table in tables");
    switch (*from++) {
    case 'T':
    case 'F':
        lua_pushboolean(L, from[-1] == 'T');
        return from;
    case 'i':
        from = take(from, &integer, sizeof integer);
        lua_pushinteger(L, integer);
        return from;
    case 'n':
        from = take(from, &number, sizeof number);
        lua_pushnumber(L, number);
        return from;
    case 's':
        from = take(from, &length, sizeof length);
        lua_pushlstring(L, from, length);
        return from + length;
    case 'a':
        from = take(from, &integer, sizeof integer);
        lua_rawgeti(L, known, integer);
        return from;
    case 't':
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawseti(L, known, (lua_Integer)lua_rawlen(L, known) + 1);
        while (*from != 'e') {
            from = decode(L, from, known);
            from = decode(L, from, known);
            lua_rawset(L, -3);
        }
        return from + 1;
    default:
        lua_pushnil(L);
        return from;
    }
}

/* ---- From rank 0 to all ------------------------------------------------------------------------ */

/* Give the `count` values on the top of the stack to the other ranks. */
static void send_values(lua_State *L, const tz_ranks *ranks, int count)
{
    text t = {NULL, 0, 0, false};
    const int first = lua_gettop(L) - count + 1;
    luaL_checkstack(L, count + 4, "values of ranks");
    lua_pushcfunction(L, encode_all);
    lua_pushlightuserdata(L, &t);
    for (int i = 0; i < count; i++)
        lua_pushvalue(L, first + i);
    if (lua_pcall(L, count + 1, 0, 0) != LUA_OK || t.full)
        ranks->abort(ranks, "not enough memory for the values of the ranks");
    uint64_t bytes = t.used;
    tz_ranks_agree(ranks, &bytes, sizeof bytes);
    tz_ranks_agree(ranks, t.bytes, bytes);
    free(t.bytes);
}

/* Push the values that rank 0 gives. */
static void receive_values(lua_State *L, const tz_ranks *ranks, int count)
{
    uint64_t bytes = 0;
    luaL_checkstack(L, count + 4, "values of ranks");
    tz_ranks_agree(ranks, &bytes, sizeof bytes);
    char *given = lua_newuserdatauv(L, bytes + 1, 0);
    lua_newtable(L);
    const int known = lua_gettop(L);
    tz_ranks_agree(ranks, given, bytes);
    const char *from = given;
    for (int i = 0; i < count; i++)
        from = decode(L, from, known);
    lua_remove(L, known);
    lua_remove(L, known - 1);
}

void tz_together_agree(lua_State *L, int count)
{
    const tz_ranks *ranks = tz_ranks_of(L);
    if (!ranks)
        return;
    if (ranks->rank == 0) {
        send_values(L, ranks, count);
        return;
    }
    lua_pop(L, count);
    receive_values(L, ranks, count);
}

int tz_together_lead(lua_State *L, lua_CFunction function)
{
    const tz_ranks *ranks = tz_ranks_of(L);
    if (!ranks)
        return function(L);
    int32_t outcome[2] = {LUA_OK, 0}; /* the status, and how many values there are */
    const bool leads = ranks->rank == 0;
    if (leads) {
        const int arguments = lua_gettop(L);
        lua_pushcfunction(L, function);
        lua_insert(L, 1);
        outcome[0] = lua_pcall(L, arguments, LUA_MULTRET, 0);
        outcome[1] = lua_gettop(L);
    }
    tz_ranks_agree(ranks, outcome, sizeof outcome);
    if (leads) {
        send_values(L, ranks, outcome[1]);
    } else {
        lua_settop(L, 0);
        receive_values(L, ranks, outcome[1]);
    }
    return outcome[0] == LUA_OK ? outcome[1] : lua_error(L);
}

/* ---- Lua's own functions ----------------------------------------------------------------------- */

/* Calls upvalue 1; all get rank 0's results. */
static int agreed(lua_State *L)
{
    const int arguments = lua_gettop(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, arguments, LUA_MULTRET);
    tz_together_agree(L, lua_gettop(L));
    return lua_gettop(L);
}

/* Replace a function of the table on the top of the stack. */
static void wrap(lua_State *L, const char *name)
{
    if (lua_getfield(L, -1, name) == LUA_TFUNCTION) {
        lua_pushcclosure(L, agreed, 1);
        lua_setfield(L, -2, name);
    } else {
        lua_pop(L, 1);
    }
}

/* math.randomseed(): without a seed, rank 0 draws it. Upvalue 1 is Lua's own. */
static int randomseed(lua_State *L)
{
    const int arguments = lua_gettop(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, arguments, 2);
    tz_together_agree(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, -3);
    lua_pushvalue(L, -3);
    lua_call(L, 2, 0);
    return 2;
}

/* ---- The order of pairs() ---------------------------------------------------------------------- */

/* Numbers come first, then texts, then booleans. */
static int kind_of(lua_State *L, int index)
{
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        return 0;
    case LUA_TSTRING:
        return 1;
    case LUA_TBOOLEAN:
        return 2;
    default:
        return luaL_error(L,
                          "under mpirun pairs() takes tables with keys that are numbers, texts or "
                          "booleans, not a key that is a %s: ranks would not have the same order",
                          luaL_typename(L, index));
    }
}

/* Is key 1 before key 2? For table.sort. */
static int is_before(lua_State *L)
{
    const int a = kind_of(L, 1), b = kind_of(L, 2);
    bool before;
    if (a != b) {
        before = a < b;
    } else if (a == 1) { /* by bytes: no locale */
        size_t length, other;
        const char *first = lua_tolstring(L, 1, &length), *second = lua_tolstring(L, 2, &other);
        const int order = memcmp(first, second, length < other ? length : other);
        before = order != 0 ? order < 0 : length < other;
    } else {
        before =
            a == 0 ? lua_compare(L, 1, 2, LUA_OPLT) : !lua_toboolean(L, 1) && lua_toboolean(L, 2);
    }
    lua_pushboolean(L, before);
    return 1;
}

/* The iterator: upvalue 1 is the list of keys, 2 the place of the next. */
static int next_ordered(lua_State *L)
{
    for (lua_Integer place = lua_tointeger(L, lua_upvalueindex(2));; place++) {
        if (lua_rawgeti(L, lua_upvalueindex(1), place) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) { /* not removed meanwhile */
            lua_pushinteger(L, place + 1);
            lua_replace(L, lua_upvalueindex(2));
            return 2;
        }
        lua_pop(L, 2);
    }
}

/* pairs(table). Upvalue 1 is table.sort. */
static int ordered_pairs(lua_State *L)
{
    luaL_checkany(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_call(L, 1, 3);
        return 3;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_Integer count = 0;
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        lua_pop(L, 1);
        kind_of(L, -1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, ++count);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 2);
    lua_pushcfunction(L, is_before);
    lua_call(L, 2, 0);
    lua_pushinteger(L, 1);
    lua_pushcclosure(L, next_ordered, 2);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* next(table[, key]): the keys in the order of pairs(). */
static int ordered_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    lua_pushnil(L); /* 3: the best so far */
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        lua_settop(L, 4);
        bool candidate = true;
        for (int other = 2; candidate && other <= 3; other++) {
            if (lua_isnil(L, other))
                continue;
            lua_pushcfunction(L, is_before);
            lua_pushvalue(L, other == 2 ? 2 : 4);
            lua_pushvalue(L, other == 2 ? 4 : 3);
            lua_call(L, 2, 1);
            candidate = lua_toboolean(L, -1);
            lua_settop(L, 4);
        }
        if (candidate) {
            lua_pushvalue(L, 4);
            lua_replace(L, 3);
        }
    }
    lua_settop(L, 3);
    if (lua_isnil(L, 3))
        return 1;
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}

void tz_together_patch(lua_State *L)
{
    static const char *const clocks[] = {"clock", "date", "time"};
    if (!tz_ranks_of(L))
        return;
    lua_getglobal(L, LUA_OSLIBNAME);
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        wrap(L, clocks[i]);
    lua_pop(L, 1);
    lua_pushglobaltable(L);
    wrap(L, "collectgarbage");
    lua_getfield(L, -1, LUA_TABLIBNAME);
    lua_getfield(L, -1, "sort");
    lua_pushcclosure(L, ordered_pairs, 1);
    lua_setfield(L, -3, "pairs");
    lua_pop(L, 1);
    lua_pushcfunction(L, ordered_next);
    lua_setfield(L, -2, "next");
    lua_pop(L, 1);
    lua_getglobal(L, LUA_MATHLIBNAME);
    lua_getfield(L, -1, "randomseed");
    lua_pushcclosure(L, randomseed, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "randomseed");
    lua_call(L, 0, 0); /* Lua has drawn a seed already */
    lua_pop(L, 1);
}
