#include "lua/time.h"

#include "base/number.h"
#include "lua/api.h"
#include "lua/keys.h"
#include "lua/module.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

double tz_time_check(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                     const char *name)
{
    const tz_param *step = tz_simulation_time_step(handle->simulation);
    char where[160];
    tz_error error;
    double time = 0;
    if (!step)
        tz_raise(L, "%s: '%s' is a time, and %s has no time step: count steps instead", what, name,
                 tz_handle_stencil(handle)->id);
    if (lua_type(L, index) == LUA_TNUMBER) {
        time = lua_tonumber(L, index);
    } else if (lua_type(L, index) == LUA_TSTRING) {
        snprintf(where, sizeof where, "%s: '%s'", what, name);
        if (lua_rawlen(L, index) != strlen(lua_tostring(L, index)))
            tz_raise(L, "%s holds a zero byte", where);
        if (tz_duration_parse(lua_tostring(L, index), step->unit, &time, &error) != TZ_OK)
            tz_raise_error(L, where, &error);
    } else {
        tz_raise(L, "%s: '%s' must be a text such as \"2 ms\" or a number%s%s, not %s", what, name,
                 step->unit[0] ? " in " : "", step->unit, tz_kind_text(L, index));
    }
    if (!(time >= 0) || !isfinite(time))
        tz_raise(L, "%s: '%s' must be finite and not negative", what, name);
    return time;
}

/* sim:time(): the simulated time, in the unit of the time step. */
static int method_time(lua_State *L)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:time");
    if (!tz_simulation_time_step(handle->simulation))
        tz_raise(L, "sim:time: %s has no time step: sim.step counts its iterations",
                 tz_handle_stencil(handle)->id);
    lua_pushnumber(L, tz_simulation_time(handle->simulation));
    return 1;
}

void tz_time_add(lua_State *L)
{
    static const tz_api_function methods[] = {
        TZ_API("sim:time()", method_time,
               "The simulated time, in the unit of the stencil's time step."),
        TZ_API_END};
    tz_api_add(L, methods);
}
