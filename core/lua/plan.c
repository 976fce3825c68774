#include "lua/plan.h"

#include "backend/family_names.h"
#include "lua/keys.h"
#include "lua/push.h"
#include <stdio.h>

void tz_plan_read(lua_State *L, int index, const char *who, int dims, tz_plan *plan,
                  const char **height_text)
{
    int64_t height = 0;
    const char *family = NULL;
    tz_error error;
    *plan = (tz_plan){.height = 0};
    if (tz_table_get(L, index, "height") == LUA_TSTRING) {
        if (!height_text)
            tz_raise(L, "%s: 'height' must be an integer, not '%.40s'", who, lua_tostring(L, -1));
        *height_text = tz_text_check(L, -1, who, "height");
    } else {
        tz_key_integer(L, index, who, "height", &height);
    }
    lua_pop(L, 1);
    plan->height = (int)height;
    tz_key_integers(L, index, who, "tile", dims, 0, plan->tile);
    tz_key_text(L, index, who, "family", &family);
    if (family && tz_family_check(family, &error) != TZ_OK)
        tz_raise_error(L, who, &error);
    if (family)
        snprintf(plan->family, sizeof plan->family, "%s", family);
    tz_knobs_read(L, index, who, plan);
}

void tz_knobs_read(lua_State *L, int index, const char *who, tz_plan *plan)
{
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++) {
        const tz_plan_knob *knob = &tz_plan_knobs[k];
        int64_t value = 0;
        tz_key_integer(L, index, who, knob->name, &value);
        tz_plan_set(plan, k, (int)value);
    }
}

void tz_plan_push(lua_State *L, const tz_plan *plan, int dims)
{
    lua_createtable(L, 0, 8);
    tz_plan_set_keys(L, plan, dims);
    tz_set_text(L, "why", plan->why);
}

void tz_plan_set_keys(lua_State *L, const tz_plan *plan, int dims)
{
    tz_set_row(L, tz_plan_columns, &dims, plan);
}
