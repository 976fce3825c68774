#include "lua/plan.h"

#include "lua/keys.h"
#include "policy/policy.h"
#include <string.h>

/* X(key, smallest, largest) */
#define KNOBS(X) X(vector, 1, 64) X(ahead, 1, 16) X(slack, 0, 1) X(warps, 1, 32) X(blocks, 1, 32)

void tz_plan_read(lua_State *L, int index, const char *who, int dims, tz_plan *plan)
{
    int64_t height = 0;
    const char *family = NULL;
    *plan = (tz_plan){.height = 0};
    if (lua_getfield(L, index, "height") == LUA_TSTRING) {
        /* A policy's name is read by tz_policy_read. */
        tz_policy_kind kind;
        if (tz_policy_find(lua_tostring(L, -1), &kind, NULL) != TZ_OK || kind == TZ_POLICY_FIXED)
            tz_raise(L, "%s: 'height' must be an integer or \"auto\", not '%.40s'", who,
                     lua_tostring(L, -1));
    } else {
        tz_key_integer(L, index, who, "height", 1, 1 << 20, &height);
    }
    lua_pop(L, 1);
    plan->height = (int)height;
    tz_key_integers(L, index, who, "tile", dims, 1, plan->tile);
    tz_key_text(L, index, who, "family", &family);
    if (family && strlen(family) >= sizeof plan->family)
        tz_raise(L, "%s: '%.40s' is no family", who, family);
    if (family)
        strcpy(plan->family, family);
#define READ(key, low, high)                                                                       \
    {                                                                                              \
        int64_t value = 0;                                                                         \
        tz_key_integer(L, index, who, #key, low, high, &value);                                    \
        plan->key = (int)value;                                                                    \
    }
    KNOBS(READ)
#undef READ
}

void tz_plan_push(lua_State *L, const tz_plan *plan, int dims)
{
    lua_createtable(L, 0, 8);
    lua_pushinteger(L, plan->height);
    lua_setfield(L, -2, "height");
    lua_pushstring(L, plan->family);
    lua_setfield(L, -2, "family");
    lua_pushstring(L, plan->why);
    lua_setfield(L, -2, "why");
#define PUSH(key, low, high)                                                                       \
    if (plan->key != 0) {                                                                          \
        lua_pushinteger(L, plan->key);                                                             \
        lua_setfield(L, -2, #key);                                                                 \
    }
    KNOBS(PUSH)
#undef PUSH
    lua_createtable(L, dims, 0);
    for (int axis = 0; axis < dims; axis++) {
        lua_pushinteger(L, plan->tile[axis]);
        lua_rawseti(L, -2, axis + 1);
    }
    lua_setfield(L, -2, "tile");
}
