#include "lua/region.h"

#include "lua/api.h"
#include "lua/array.h"
#include "lua/fields.h"
#include "lua/floorplan.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "lua/push.h"
#include <string.h>

/* The cells of an array that selects: all of the grid, or those at its place. */
static void get_mask(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                     tz_region *region)
{
    const tz_array_handle *source = tz_array_check(L, index, what);
    const tz_array *array = &source->view;
    const int dims = tz_handle_stencil(handle)->dims;
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    bool fits = true;
    tz_array_check_at(L, source, dims, what);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        if (source->at_axes > 0) {
            region->box.low[axis] = axis < dims ? source->at[axis] : 0;
            if (__builtin_add_overflow(region->box.low[axis], array->shape[axis],
                                       &region->box.high[axis]))
                fits = false;
        }
        fits = fits && region->box.high[axis] <= extent[axis] &&
               region->box.high[axis] - region->box.low[axis] == array->shape[axis];
    }
    if (!fits) {
        char has[TZ_SHAPE_TEXT_SIZE], needs[TZ_SHAPE_TEXT_SIZE];
        tz_raise(L, "%s: the mask %.250s has %s elements%s, the grid %s", what, source->source,
                 tz_shape_text(has, array->dims, array->shape),
                 source->at_axes > 0 ? " at its place" : "", tz_shape_text(needs, dims, extent));
    }
    region->mask = array;
}

static int mask_field(lua_State *L, int index, const tz_simulation_handle *handle, const char *what)
{
    const int field = tz_handle_field(L, index, handle, what);
    const tz_field *about = &tz_handle_stencil(handle)->fields[field];
    if (about->role == TZ_STREAMED)
        tz_raise(L, "%s: the mask '%s' is streamed and not kept", what, about->name);
    return field;
}

bool tz_region_check(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                     tz_region *region)
{
    *region = (tz_region){.box = tz_box_grid(handle), .mask_field = -1};
    if (lua_isnoneornil(L, index))
        return false;
    const tz_unit_value *unit = luaL_testudata(L, index, TZ_TYPE_UNIT);
    if (lua_istable(L, index))
        tz_box_check(L, index, handle, what, &region->box);
    else if (lua_type(L, index) == LUA_TSTRING)
        region->mask_field = mask_field(L, index, handle, what);
    else if (luaL_testudata(L, index, TZ_TYPE_ARRAY))
        get_mask(L, index, handle, what, region);
    else if (unit)
        tz_floorplan_box(L, handle, unit, what, &region->box);
    else
        tz_raise(L,
                 "%s: the region must be a box {x = {low, high}, …}, a mask (a field's name or an "
                 "array) or a unit (plan:unit \"NAME\"), not %s",
                 what, tz_kind_text(L, index));
    return true;
}

void tz_region_reduce(lua_State *L, const tz_simulation_handle *handle, int field,
                      const tz_region *region, const char *what, tz_region_facts *facts)
{
    tz_error error;
    *facts = (tz_region_facts){.cells = 1};
    if (!tz_handle_is_dry(handle) &&
        tz_simulation_reduce_region(handle->simulation, field, region, facts, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
}

/* ---- Units ----------------------------------------------------------------------------------- */

static void reduce_unit(lua_State *L, const tz_simulation_handle *handle, int field,
                        const tz_unit_value *unit, const char *what, tz_region_facts *facts)
{
    tz_region region = {.mask_field = -1};
    tz_floorplan_box(L, handle, unit, what, &region.box);
    tz_region_reduce(L, handle, field, &region, what, facts);
}

static int column(lua_State *L)
{
    const char *what = "tz.table";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const tz_unit_value *unit = lua_touserdata(L, lua_upvalueindex(1));
    tz_region_facts facts;
    reduce_unit(L, handle, tz_output_default_field(tz_handle_stencil(handle)), unit, what, &facts);
    lua_pushnumber(L, lua_toboolean(L, lua_upvalueindex(2)) ? facts.sum / (double)facts.cells
                                                            : facts.max);
    return 1;
}

void tz_region_push_column(lua_State *L, int index, bool mean)
{
    lua_pushvalue(L, index);
    lua_pushboolean(L, mean);
    lua_pushcclosure(L, column, 2);
}

/* sim:units(floorplan[, field]): {NAME = {max =, mean =}, …} */
static int method_units(lua_State *L)
{
    const char *what = "sim:units";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const tz_floorplan_value *value = tz_floorplan_check(L, 2, what);
    const int field = tz_handle_kept_field(L, 3, handle, what);
    lua_createtable(L, 0, (int)value->plan.unit_count);
    for (size_t i = 0; i < value->plan.unit_count; i++) {
        tz_unit_value unit;
        tz_region_facts facts;
        tz_floorplan_unit_get(value, i, &unit);
        reduce_unit(L, handle, field, &unit, what, &facts);
        lua_createtable(L, 0, 2);
        tz_set_number(L, "max", facts.max);
        tz_set_number(L, "mean", facts.sum / (double)facts.cells);
        lua_setfield(L, -2, unit.unit.name);
    }
    return 1;
}

void tz_region_methods_add(lua_State *L)
{
    static const tz_api_function methods[] = {
        TZ_API("sim:units(floorplan[, field])", method_units,
               "A table of each unit's `max` and `mean`, by the unit's name.",
               .recall = TZ_RECALL_GIVE),
        TZ_API_END};
    tz_api_add(L, methods);
}
