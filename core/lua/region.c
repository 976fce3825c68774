/* Methods of simulations that give numbers: of regions, and samples along a line or at points. */
#include "lua/region.h"

#include "lua/api.h"
#include "lua/array.h"
#include "lua/fields.h"
#include "lua/floorplan.h"
#include "lua/handle.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "lua/push.h"
#include "sim/fields.h"
#include "sim/numbers.h"
#include <math.h>
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

enum { POINTS_MAX = 1 << 16, BINS_MAX = 1 << 16 };

static void push_numbers(lua_State *L, const char *key, const double *values, int count)
{
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushnumber(L, values[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, key);
}

/* The point {x, y, z} at a stack index, within the grid. */
static void get_end(lua_State *L, int index, const tz_simulation_handle *handle, const char *name,
                    double out[TZ_AXES])
{
    const char *what = "sim:profile";
    const int dims = tz_handle_stencil(handle)->dims;
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    if (!lua_istable(L, index) || (int)lua_rawlen(L, index) != dims)
        tz_raise(L, "%s: '%s' must be a point of %d number%s, such as { %s }", what, name, dims,
                 dims == 1 ? "" : "s",
                 dims == 1   ? "0"
                 : dims == 2 ? "0, 0"
                             : "0, 0, 0");
    for (int a = 0; a < TZ_AXES; a++) {
        out[a] = 0;
        if (a >= dims)
            continue;
        if (lua_rawgeti(L, index, a + 1) != LUA_TNUMBER)
            tz_raise(L, "%s: '%s' must hold numbers, not %s", what, name, tz_kind_text(L, -1));
        out[a] = lua_tonumber(L, -1);
        if (!(out[a] >= 0 && out[a] <= (double)(extent[a] - 1)))
            tz_raise(L, "%s: %c of '%s' must be from 0 to %lld, not %g", what, "xyz"[a], name,
                     (long long)extent[a] - 1, out[a]);
        lua_pop(L, 1);
    }
}

static const tz_key profile_result[] = {
    {"x", "list of numbers", "", "distances from the first point, in cells"},
    {"y", "list of numbers", "", "the values there"},
    {NULL, NULL, NULL, NULL}};

/* sim:profile(field, from, to[, points]) */
static int method_profile(lua_State *L)
{
    const char *what = "sim:profile";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    double from[TZ_AXES], to[TZ_AXES], far = 0, square = 0;
    tz_error error;
    lua_settop(L, 5);
    tz_text_check(L, 2, what, "field");
    const int field = tz_handle_kept_field(L, 2, handle, what);
    get_end(L, 3, handle, "from", from);
    get_end(L, 4, handle, "to", to);
    for (int a = 0; a < TZ_AXES; a++) {
        far = fmax(far, fabs(to[a] - from[a]));
        square += (to[a] - from[a]) * (to[a] - from[a]);
    }
    /* A point for each cell along the axis that the line follows most. */
    int count = (int)fmin(ceil(far) + 1, POINTS_MAX);
    if (!lua_isnil(L, 5))
        count = (int)tz_integer_check(L, 5, what, "points", 2, POINTS_MAX);
    double *values = lua_newuserdatauv(L, 2 * (size_t)count * sizeof *values, 0);
    memset(values, 0, 2 * (size_t)count * sizeof *values);
    for (int i = 0; i < count; i++)
        values[count + i] = count > 1 ? sqrt(square) * i / (count - 1) : 0;
    if (!tz_handle_is_dry(handle) &&
        tz_simulation_profile(handle->simulation, field, from, to, count, values, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    lua_createtable(L, 0, 2);
    push_numbers(L, "x", values + count, count);
    push_numbers(L, "y", values, count);
    return 1;
}

static const tz_key histogram_options[] = {
    {"bins", "integer", "50", "how many", .least = 1, .most = BINS_MAX},
    {"range", "{low, high}", "the field's extremes", "where the first begins and the last ends"},
    {NULL, NULL, NULL, NULL}};

static const tz_key histogram_result[] = {
    {"x", "list of numbers", "", "the middles of the bins"},
    {"y", "list of integers", "", "how many cells' values are in each"},
    {"below", "integer", "", "cells below the range"},
    {"above", "integer", "", "cells above it"},
    {"other", "integer", "", "cells that are NaN or infinite"},
    {NULL, NULL, NULL, NULL}};

/* The range of the options, or the extremes of the field. */
static void get_range(lua_State *L, const tz_simulation_handle *handle, int field, tz_histogram *h)
{
    const char *what = "sim:histogram";
    tz_reduction facts = {.min = 0};
    tz_error error;
    if (tz_key_range(L, 3, what, "range", false, &h->low, &h->high))
        return;
    if (!tz_handle_is_dry(handle) &&
        tz_simulation_reduce(handle->simulation, field, &facts, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    h->low = isfinite(facts.min) ? facts.min : 0;
    h->high = isfinite(facts.max) ? facts.max : 0;
    if (h->low < h->high)
        return;
    /* All cells are equal: they are in the middle. */
    const double room = fmax(0.5, fabs(h->low) * 1e-6);
    h->low -= room;
    h->high += room;
}

/* sim:histogram([field[, options]]) */
static int method_histogram(lua_State *L)
{
    const char *what = "sim:histogram";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    int64_t bins;
    tz_histogram h = {.low = 0};
    tz_error error;
    lua_settop(L, 3);
    const int field = tz_handle_kept_field(L, 2, handle, what);
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    tz_options_check(L, 3, what);
    tz_keys_take(L, 3, what, histogram_options, false);
    tz_key_integer(L, 3, what, "bins", &bins);
    get_range(L, handle, field, &h);
    if (!isfinite(h.high - h.low))
        tz_raise(L, "%s: the range from %g to %g is too wide", what, h.low, h.high);
    h.bins = (int)bins;
    h.counts = lua_newuserdatauv(L, (size_t)bins * sizeof *h.counts, 0);
    memset(h.counts, 0, (size_t)bins * sizeof *h.counts);
    if (!tz_handle_is_dry(handle) &&
        tz_simulation_histogram(handle->simulation, field, &h, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    double *middles = lua_newuserdatauv(L, (size_t)bins * sizeof *middles, 0);
    for (int i = 0; i < h.bins; i++)
        middles[i] = h.low + (h.high - h.low) * (i + 0.5) / h.bins;
    lua_createtable(L, 0, 5);
    push_numbers(L, "x", middles, h.bins);
    tz_push_integers(L, h.bins, h.counts);
    lua_setfield(L, -2, "y");
    tz_set_integer(L, "below", h.below);
    tz_set_integer(L, "above", h.above);
    tz_set_integer(L, "other", h.other);
    return 1;
}

void tz_sample_add(lua_State *L)
{
    static const tz_api_function methods[] = {
        TZ_API("sim:profile(field, from, to[, points])", method_profile,
               "The values along a line between two points such as `{ 0, 12.5 }`, both included. "
               "Whole numbers are the middles of cells; in between, values are interpolated "
               "linearly. Without `points` there is one for each cell of the axis that the line "
               "follows most. `tz.plot` takes the result as a series.",
               .recall = TZ_RECALL_GIVE, .result = profile_result),
        TZ_API("sim:histogram([field[, options]])", method_histogram,
               "How many cells have values in each of a row of equal intervals: "
               "`{ x = h.x, y = h.y, style = \"bars\" }` is a series of `tz.plot`.",
               .recall = TZ_RECALL_GIVE, .options = histogram_options, .result = histogram_result),
        TZ_API_END};
    tz_api_add(L, methods);
}
