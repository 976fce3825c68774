/* Parts of grids: tz.floorplan and its unit values, and where units lie on a grid; shapes, such as
 * tz.circle. Registered by module.c; called by fields.c, output.c and binding.c. */
#include "lua/floorplan.h"

#include "base/names.h"
#include "lua/api.h"
#include "lua/array.h"
#include "lua/guard.h"
#include "lua/keys.h"
#include "lua/module.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Larger chips are taken for those of another unit. */
static const double CHIP_MAX_M = 1;

static int floorplan_close(lua_State *L)
{
    tz_floorplan_value *value = luaL_checkudata(L, 1, TZ_TYPE_FLOORPLAN);
    if (tz_guard_in_use(L, value))
        tz_raise(L, "floorplan:close: a function that uses the floorplan has not returned");
    tz_floorplan_clear(&value->plan);
    tz_ptrace_clear(&value->trace);
    memset(&value->plan, 0, sizeof value->plan);
    memset(&value->trace, 0, sizeof value->trace);
    return 0;
}

tz_floorplan_value *tz_floorplan_check(lua_State *L, int index, const char *what)
{
    tz_floorplan_value *value = luaL_testudata(L, index, TZ_TYPE_FLOORPLAN);
    if (!value)
        tz_raise(L, "%s: needs a floorplan (tz.floorplan), not %s", what, tz_kind_text(L, index));
    if (value->plan.unit_count == 0)
        tz_raise(L, "%s: the floorplan is closed", what);
    return value;
}

/* ---- Units and the chip ---------------------------------------------------------------------- */

void tz_floorplan_unit_get(const tz_floorplan_value *value, size_t i, tz_unit_value *out)
{
    *out =
        (tz_unit_value){.unit = value->plan.units[i], .plan = value->plan, .place = value->place};
    snprintf(out->path, sizeof out->path, "%s", value->plan.path);
    out->plan.units = NULL;
    out->plan.unit_count = 0;
    out->plan.path = NULL;
}

/* floorplan:unit(name) */
static int floorplan_unit(lua_State *L)
{
    const char *what = "floorplan:unit";
    const tz_floorplan_value *value = tz_floorplan_check(L, 1, what);
    const tz_floorplan *plan = &value->plan;
    const char *name = tz_text_check(L, 2, what, "name");
    size_t i = 0;
    while (i < plan->unit_count && strcmp(plan->units[i].name, name) != 0)
        i++;
    if (i == plan->unit_count) {
        const char **names = lua_newuserdatauv(L, plan->unit_count * sizeof *names, 0);
        for (size_t k = 0; k < plan->unit_count; k++)
            names[k] = plan->units[k].name;
        const char *nearest = tz_names_nearest(name, names, plan->unit_count);
        tz_raise(L, "%s: %.300s has no unit '%.63s'%s%s%s", what, plan->path, name,
                 nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    tz_floorplan_unit_get(value, i, lua_newuserdatauv(L, sizeof(tz_unit_value), 0));
    luaL_setmetatable(L, TZ_TYPE_UNIT);
    return 1;
}

static int unit_tostring(lua_State *L)
{
    const tz_unit_value *value = luaL_checkudata(L, 1, TZ_TYPE_UNIT);
    lua_pushfstring(L, "unit %s of %s", value->unit.name, value->path);
    return 1;
}

/* Are two lengths of a chip the same, but for the rounding of published plans? */
static bool same_length(double a, double b, double longer)
{
    return fabs(a - b) <= 1e-3 * longer;
}

static noreturn void raise_size(lua_State *L, const tz_stencil *stencil, const char *what,
                                const char *path, double width_m, double height_m,
                                const double *chip_m)
{
    const char *x =
        stencil->params[tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_EXTENT_X_M)].name;
    const char *y =
        stencil->params[tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_EXTENT_Y_M)].name;
    tz_raise(
        L,
        "%s: the floorplan %.300s is of a chip of %g m x %g m, the simulation's is %g m x %g m: "
        "give the simulation params = { %s = %g, %s = %g }; if the plan leaves a rim of the "
        "chip free, give tz.floorplan the chip's 'width_m' and 'height_m'",
        what, path, width_m, height_m, chip_m[0], chip_m[1], x, width_m, y, height_m);
}

void tz_floorplan_chip(lua_State *L, const tz_simulation_handle *handle, const tz_floorplan *plan,
                       const char *what, tz_floorplan_place *place)
{
    static const tz_param_role roles[] = {TZ_PARAM_ROLE_EXTENT_X_M, TZ_PARAM_ROLE_EXTENT_Y_M};
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    double chip_m[2] = {0, 0};
    bool whole = true;
    if (stencil->dims < 2)
        tz_raise(L, "%s: a floorplan is of a grid in 2-D or 3-D, not in 1-D", what);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        if (place->box.high[axis] == 0)
            place->box.high[axis] = extent[axis];
        if (place->box.high[axis] > extent[axis])
            tz_raise(L, "%s: %c of the floorplan's 'box' ends at %lld, and the grid at %lld", what,
                     "xyz"[axis], (long long)place -> box.high[axis], (long long)extent[axis]);
        whole =
            whole && (axis == 2 || place->box.high[axis] - place->box.low[axis] == extent[axis]);
    }
    for (int axis = 0; axis < 2; axis++) {
        const int i = tz_stencil_param_of_role(stencil, roles[axis]);
        chip_m[axis] = i < 0 ? 0 : tz_simulation_params(handle->simulation)[i].number;
    }
    if (!whole || !(chip_m[0] > 0 && chip_m[1] > 0))
        return;
    const double longer = chip_m[0] > chip_m[1] ? chip_m[0] : chip_m[1];
    const double right = place->width_m > 0 ? place->width_m : plan->width_m;
    const double top = place->width_m > 0 ? place->height_m : plan->height_m;
    if (!same_length(right, chip_m[0], longer) || !same_length(top, chip_m[1], longer))
        raise_size(L, stencil, what, plan->path, right, top, chip_m);
    place->width_m = chip_m[0];
    place->height_m = chip_m[1];
}

void tz_floorplan_check_chip(lua_State *L, int index, const tz_simulation_handle *handle,
                             const char *what)
{
    const tz_floorplan_value *value = tz_floorplan_check(L, index, what);
    tz_floorplan_place place = value->place;
    tz_floorplan_chip(L, handle, &value->plan, what, &place);
}

void tz_floorplan_box(lua_State *L, const tz_simulation_handle *handle, const tz_unit_value *unit,
                      const char *what, tz_box *box)
{
    tz_floorplan plan = unit->plan;
    tz_floorplan_place place = unit->place;
    char path[sizeof unit->path];
    memcpy(path, unit->path, sizeof path);
    plan.path = path;
    tz_floorplan_chip(L, handle, &plan, what, &place);
    *box = place.box;
    tz_try(L, what,
           tz_floorplan_unit_cells(&plan, &unit->unit, box->high[0] - box->low[0],
                                   box->high[1] - box->low[1], place.width_m, place.height_m,
                                   place.touched, box->low, box->high, tz_fault(L)));
    if (tz_simulation_rows_up(handle->simulation)) {
        const int64_t rows = place.box.high[1] - place.box.low[1], low = box->low[1];
        box->low[1] = rows - box->high[1];
        box->high[1] = rows - low;
    }
    for (int axis = 0; axis < 2; axis++) {
        box->low[axis] += place.box.low[axis];
        box->high[axis] += place.box.low[axis];
    }
}

/* ---- tz.floorplan ---------------------------------------------------------------------------- */

static const tz_sheet_column unit_columns[] = {TZ_MEMBER("name", tz_floorplan_unit, name),
                                               TZ_MEMBER("width_m", tz_floorplan_unit, width_m),
                                               TZ_MEMBER("height_m", tz_floorplan_unit, height_m),
                                               TZ_MEMBER("left_m", tz_floorplan_unit, left_m),
                                               TZ_MEMBER("bottom_m", tz_floorplan_unit, bottom_m),
                                               {.key = NULL}};

#define OF_FLOORPLAN(name, expression) TZ_GETTER(plan_##name, void, tz_floorplan_value, expression)
OF_FLOORPLAN(units, tz_cell_rows((tz_sheet){.columns = unit_columns,
                                            .rows = r->plan.units,
                                            .stride = sizeof *r->plan.units,
                                            .count = (int)r->plan.unit_count}));
OF_FLOORPLAN(samples, tz_cell_integer((int64_t)r->trace.sample_count));

static const tz_sheet_column floorplan_members[] = {
    {.key = "units", .get = plan_units},
    {.key = "samples", .get = plan_samples},
    TZ_MEMBER("width_m", tz_floorplan_value, plan.width_m),
    TZ_MEMBER("height_m", tz_floorplan_value, plan.height_m),
    {.key = NULL}};

static const tz_key floorplan_options[] = {
    {"flp", "file", NULL, "HotSpot's floorplan: units with their sizes and places in metres"},
    {"ptrace", "file", "", "HotSpot's power trace; without it the floorplan only names regions"},
    {"row", "integer", "the mean of all rows", "the row of the trace", .least = 1,
     .most = INFINITY},
    {"width_m", "number", "that of the units",
     "length of the chip along x; without it the plan is moved to the origin"},
    {"height_m", "number", "that of the units", "length of the chip along y"},
    {"box", "box", "the grid", "`{ x = {low, high}, y =, z = }`: the cells that the chip fills"},
    {"overlap", "number", "0", "the largest share of a unit that another one may cover",
     .most = TZ_OVERLAP_MAX},
    {NULL, NULL, NULL, NULL}};

/* box = { x = {low, high}, … } */
static void get_place(lua_State *L, const char *what, tz_floorplan_place *place)
{
    static const char *const axes[] = {"x", "y", "z"};
    *place = (tz_floorplan_place){.width_m = 0};
    tz_key_number(L, 1, what, "width_m", &place->width_m);
    tz_key_number(L, 1, what, "height_m", &place->height_m);
    if (place->width_m < 0 || place->height_m < 0 || (place->width_m > 0) != (place->height_m > 0))
        tz_raise(L, "%s: 'width_m' and 'height_m' go together and must be positive", what);
    if (tz_table_get(L, 1, "box") != LUA_TNIL) {
        const int table = lua_gettop(L);
        if (!lua_istable(L, table))
            tz_raise_kind(L, table, what, "box", "{ x = {low, high}, … }");
        tz_keys_check(L, table, what, axes, TZ_AXES, false);
        for (int axis = 0; axis < TZ_AXES; axis++) {
            int64_t pair[2];
            const int got = tz_key_integers(L, table, what, axes[axis], 2, 0, pair);
            if (got != 0 && (got != 2 || pair[0] >= pair[1]))
                tz_raise(L, "%s: %s of 'box' must be {low, high} with 0 <= low < high", what,
                         axes[axis]);
            place->box.low[axis] = got ? pair[0] : 0;
            place->box.high[axis] = got ? pair[1] : 0;
        }
    }
    lua_pop(L, 1);
}

/* The share of a plan that units may leave open, before it is said. */
static const double GAP = 1e-3;

tz_floorplan_value *tz_floorplan_push(lua_State *L, const char *what, const char *flp,
                                      const char *ptrace, double overlap,
                                      const tz_floorplan_place *place)
{
    tz_floorplan_value *value = lua_newuserdatauv(L, sizeof *value, 0);
    memset(value, 0, sizeof *value);
    luaL_setmetatable(L, TZ_TYPE_FLOORPLAN);
    value->row = -1;
    value->place = *place;
    if (tz_floorplan_read(flp, overlap, &value->plan, tz_fault(L)) != TZ_OK ||
        (ptrace && tz_ptrace_read(ptrace, &value->trace, tz_fault(L)) != TZ_OK))
        tz_raise_error(L, what, tz_fault(L));
    value->columns = value->trace.unit_count;
    if (place->width_m == 0)
        tz_floorplan_move(&value->plan, 0, 0);
    if (ptrace && value->plan.covered < 1 - GAP)
        tz_context_note(tz_context_get(L), TZ_NOTE_WARNING,
                        "%s: %.300s: units cover %.4g %% of the plan of %g m x %g m; no power is "
                        "in the rest",
                        what, flp, 100 * value->plan.covered, value->plan.width_m,
                        value->plan.height_m);
    if (value->trace.negative_line > 0)
        tz_context_note(tz_context_get(L), TZ_NOTE_WARNING,
                        "%s: %.300s:%d: a negative power cools its unit", what, value->trace.path,
                        value->trace.negative_line);
    tz_api_input(L, flp);
    if (ptrace)
        tz_api_input(L, ptrace);
    return value;
}

void tz_floorplan_powers(lua_State *L, const char *what, const tz_floorplan_value *value,
                         double *powers_w)
{
    tz_try(L, what,
           tz_ptrace_arrange(&value->trace, &value->plan, value->row, value->first, value->columns,
                             powers_w, tz_fault(L)));
}

static void set_row(lua_State *L, const char *what, tz_floorplan_value *value, int64_t row)
{
    if (row > (int64_t)value->trace.sample_count)
        tz_raise(L, "%s: 'row' is %lld, but %.300s has %zu row%s", what, (long long)row,
                 value->trace.path, value->trace.sample_count,
                 value->trace.sample_count == 1 ? "" : "s");
    value->row = row - 1;
}

static int value_floorplan(lua_State *L)
{
    tz_options_take(L, "tz.floorplan", floorplan_options, NULL);
    const char *flp = NULL, *ptrace = NULL;
    char plan_path[PATH_MAX], trace_path[PATH_MAX];
    if (!tz_key_text(L, 1, "tz.floorplan", "flp", &flp))
        tz_raise(L, "tz.floorplan: needs flp = \"FILE.flp\" and, for powers, ptrace = "
                    "\"FILE.ptrace\"");
    tz_key_text(L, 1, "tz.floorplan", "ptrace", &ptrace);
    int64_t row = 0;
    const bool has_row = tz_key_integer(L, 1, "tz.floorplan", "row", &row);
    double overlap = 0;
    tz_floorplan_place place;
    get_place(L, "tz.floorplan", &place);
    tz_key_number(L, 1, "tz.floorplan", "overlap", &overlap);
    tz_path_resolve(L, flp, plan_path, sizeof plan_path);
    if (ptrace)
        tz_path_resolve(L, ptrace, trace_path, sizeof trace_path);
    else if (has_row)
        tz_raise(L, "tz.floorplan: 'row' is of a 'ptrace', which is missing");
    tz_floorplan_value *value = tz_floorplan_push(L, "tz.floorplan", plan_path,
                                                  ptrace ? trace_path : NULL, overlap, &place);
    const tz_floorplan *plan = &value->plan;
    if (fmax(plan->width_m, plan->height_m) > CHIP_MAX_M)
        tz_context_note(
            tz_context_get(L), TZ_NOTE_WARNING,
            "tz.floorplan: %.300s: the units reach over %g m x %g m: are its numbers in "
            "mm? HotSpot's files are in metres",
            plan->path, plan->width_m, plan->height_m);
    if (has_row)
        set_row(L, "tz.floorplan", value, row);
    return 1;
}

/* floorplan:row([row]) */
static int floorplan_row(lua_State *L)
{
    const char *what = "floorplan:row";
    tz_floorplan_value *value = tz_floorplan_check(L, 1, what);
    if (value->trace.sample_count == 0)
        tz_raise(L, "%s: the floorplan %.300s has no powers: give tz.floorplan a 'ptrace'", what,
                 value->plan.path);
    if (lua_isnoneornil(L, 2))
        value->row = -1;
    else
        set_row(L, what, value, tz_integer_check(L, 2, what, "row", 1, INT64_MAX));
    lua_settop(L, 1);
    return 1;
}

static const tz_api_function floorplan_methods[] = {
    TZ_API("floorplan:unit(name)", floorplan_unit,
           "A unit as a region, for `sim:max(field, unit)` and others."),
    TZ_API("floorplan:row([row])", floorplan_row,
           "From now on its power is that of a row of the trace, from 1; without `row` the mean of "
           "all. Returns the floorplan: `sim:set(\"power\", plan:row(3))`.",
           .recall = TZ_RECALL_CALL),
    TZ_API("floorplan:close()", floorplan_close, "Frees its memory now."), TZ_API_END};
static const luaL_Reg floorplan_events[] = {
    {"__close", floorplan_close}, {"__gc", floorplan_close}, {NULL, NULL}};
const tz_api_class tz_floorplan_class = {
    .type = TZ_TYPE_FLOORPLAN,
    .events = floorplan_events,
    .methods = (const tz_api_function *const[]){floorplan_methods, NULL},
    .what = "floorplan",
    .one = "a floorplan",
    .members = floorplan_members};

static const luaL_Reg unit_events[] = {{"__tostring", unit_tostring}, {NULL, NULL}};
const tz_api_class tz_unit_class = {.type = TZ_TYPE_UNIT, .events = unit_events};

/* ---- Shapes: functions of a cell that are true within ---------------------------------------- */

enum { POLYGON_POINTS_MAX = 65536 };

/* The numbers of a shape, a userdata. */
typedef struct shape {
    int count;
    double numbers[];
} shape;

static shape *push_shape(lua_State *L, int count)
{
    shape *s = lua_newuserdatauv(L, sizeof *s + (size_t)count * sizeof *s->numbers, 0);
    s->count = count;
    return s;
}

/* The arguments of a shape: x, y and z of a cell. */
static const shape *get_cell(lua_State *L, double at[TZ_AXES])
{
    for (int axis = 0; axis < TZ_AXES; axis++)
        at[axis] = luaL_optnumber(L, axis + 1, 0);
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* The square of the radius, then the centre. */
static int in_circle(lua_State *L)
{
    double at[TZ_AXES], square = 0;
    const shape *s = get_cell(L, at);
    for (int axis = 0; axis + 1 < s->count; axis++)
        square += (at[axis] - s->numbers[axis + 1]) * (at[axis] - s->numbers[axis + 1]);
    lua_pushboolean(L, square <= s->numbers[0]);
    return 1;
}

/* low and high of each axis. */
static int in_box(lua_State *L)
{
    double at[TZ_AXES];
    const shape *s = get_cell(L, at);
    bool in = true;
    for (int axis = 0; axis < TZ_AXES; axis++)
        in = in && at[axis] >= s->numbers[2 * axis] && at[axis] < s->numbers[2 * axis + 1];
    lua_pushboolean(L, in);
    return 1;
}

/* x and y of each corner. Is the number of edges on one side of the cell odd? */
static int in_polygon(lua_State *L)
{
    double at[TZ_AXES];
    const shape *s = get_cell(L, at);
    bool in = false;
    for (int i = 0; i < s->count; i += 2) {
        const double *a = s->numbers + i, *b = s->numbers + (i + 2) % s->count;
        if ((a[1] > at[1]) != (b[1] > at[1]))
            in = in != (at[0] < a[0] + (at[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]));
    }
    lua_pushboolean(L, in);
    return 1;
}

/* Is the cell in an operand, a function or an array? */
static bool in_operand(lua_State *L, int operand)
{
    const tz_array_handle *source = luaL_testudata(L, operand, TZ_TYPE_ARRAY);
    if (!source) {
        lua_pushvalue(L, operand);
        for (int i = 1; i <= TZ_AXES; i++)
            lua_pushvalue(L, i);
        lua_call(L, TZ_AXES, 1);
        const bool in = lua_isnumber(L, -1) ? lua_tonumber(L, -1) != 0 : lua_toboolean(L, -1);
        lua_pop(L, 1);
        return in;
    }
    const tz_array *array = &tz_array_check(L, operand, "tz.union")->view;
    int64_t index = 0;
    for (int axis = TZ_AXES - 1; axis >= 0; axis--) {
        const int64_t at = luaL_optinteger(L, axis + 1, 0) - source->at[axis];
        if (axis < array->dims && (at < 0 || at >= array->shape[axis]))
            return false;
        index = axis < array->dims ? index * array->shape[axis] + at : index;
    }
    return tz_array_get(array, index) != 0;
}

/* Upvalues: the word, how many operands, and these. */
static int in_combination(lua_State *L)
{
    const char word = *lua_tostring(L, lua_upvalueindex(1));
    const int count = (int)lua_tointeger(L, lua_upvalueindex(2));
    bool in = word != 'u';
    lua_settop(L, TZ_AXES);
    for (int i = 0; i < count && in == (word != 'u'); i++) {
        const bool also = in_operand(L, lua_upvalueindex(3 + i));
        in = word == 'd' && i > 0 ? !also : also;
    }
    lua_pushboolean(L, in);
    return 1;
}

static const tz_key circle_options[] = {
    {"centre", "{x, y[, z]}", NULL, "in cells; with three numbers it is a sphere"},
    {"radius", "number", NULL, "in cells"},
    {NULL, NULL, NULL, NULL}};

/* The number at the top of the stack, which it pops. */
static double take_number(lua_State *L, const char *what, const char *name)
{
    if (lua_type(L, -1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, -1)))
        tz_raise(L, "%s: '%s' must hold finite numbers, not %s", what, name, tz_kind_text(L, -1));
    const double number = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return number;
}

static int shape_circle(lua_State *L)
{
    const char *what = "tz.circle";
    tz_options_take(L, what, circle_options, "tz.circle { centre = { 50, 50 }, radius = 40 }");
    double radius = 0;
    if (tz_table_get(L, 1, "centre") != LUA_TTABLE || lua_rawlen(L, -1) < 2 ||
        lua_rawlen(L, -1) > TZ_AXES)
        tz_raise(L, "%s: 'centre' must be { x, y } or { x, y, z }", what);
    const int centre = lua_gettop(L), axes = (int)lua_rawlen(L, centre);
    if (!tz_key_number(L, 1, what, "radius", &radius) || radius <= 0)
        tz_raise(L, "%s: 'radius' must be above 0", what);
    shape *s = push_shape(L, axes + 1);
    s->numbers[0] = radius * radius;
    for (int axis = 0; axis < axes; axis++) {
        lua_rawgeti(L, centre, axis + 1);
        s->numbers[axis + 1] = take_number(L, what, "centre");
    }
    lua_pushcclosure(L, in_circle, 1);
    return 1;
}

static const tz_key box_options[] = {
    {"x", "{low, high}", "all", "low <= x < high, in cells; with high - low cells"},
    {"y", "{low, high}", "all", "likewise"},
    {"z", "{low, high}", "all", "likewise"},
    {NULL, NULL, NULL, NULL}};

static int shape_box(lua_State *L)
{
    const char *what = "tz.box";
    tz_options_take(L, what, box_options, "tz.box { x = { 10, 90 }, y = { 20, 40 } }");
    shape *s = push_shape(L, 2 * TZ_AXES);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        s->numbers[2 * axis] = -INFINITY;
        s->numbers[2 * axis + 1] = INFINITY;
        tz_key_range(L, 1, what, box_options[axis].key, false, &s->numbers[2 * axis],
                     &s->numbers[2 * axis + 1]);
    }
    lua_pushcclosure(L, in_box, 1);
    return 1;
}

static int shape_polygon(lua_State *L)
{
    const char *what = "tz.polygon";
    if (!lua_istable(L, 1))
        tz_raise(L, "%s: needs a list of points { { x, y }, … }, not %s", what, tz_kind_text(L, 1));
    tz_table_copy(L, 1, what);
    const lua_Integer count = (lua_Integer)tz_list_check(L, what, "points", "a list of points");
    if (count < 3 || count > POLYGON_POINTS_MAX)
        tz_raise(L, "%s: has %d point%s; it needs 3 to %d", what, (int)count, count == 1 ? "" : "s",
                 POLYGON_POINTS_MAX);
    shape *s = push_shape(L, 2 * (int)count);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 1, i + 1);
        if (!lua_istable(L, -1) || lua_rawlen(L, -1) != 2)
            tz_raise(L, "%s: point %d must be { x, y }", what, i + 1);
        for (int k = 0; k < 2; k++) {
            lua_rawgeti(L, -1, k + 1);
            s->numbers[2 * i + k] = take_number(L, what, "points");
        }
        lua_pop(L, 1);
    }
    lua_pushcclosure(L, in_polygon, 1);
    return 1;
}

/* tz.union, tz.intersection and tz.difference: the data of a row is its name. */
static int shape_combine(lua_State *L)
{
    enum { OPERANDS_MAX = 200 };
    const char *what = tz_api_data(L);
    const int count = lua_gettop(L);
    if (count < 2 || count > OPERANDS_MAX)
        tz_raise(L, "%s: needs 2 to %d shapes, not %d", what, OPERANDS_MAX, count);
    for (int i = 1; i <= count; i++)
        if (!lua_isfunction(L, i) && !luaL_testudata(L, i, TZ_TYPE_ARRAY))
            tz_raise(L,
                     "%s: shape %d must be tz.circle, tz.box, tz.polygon, a combination of them, a "
                     "function(x, y, z) or an array, such as tz.read of a picture, not %s",
                     what, i, tz_kind_text(L, i));
    lua_pushstring(L, what + sizeof "tz." - 1);
    lua_pushinteger(L, count);
    lua_rotate(L, 1, 2);
    lua_pushcclosure(L, in_combination, count + 2);
    return 1;
}

const tz_api_function tz_floorplan_functions[] = {
    TZ_API("tz.floorplan(options)", value_floorplan,
           "The units of a chip: a value of fields (the power of each cell, W), columns of "
           "`tz.table`, and regions, in 2-D and 3-D. Several layers of a box have the same power. "
           "The trace may have units of other plans. Row 0 of the grid is the chip's upper edge "
           "([which way y is up](boundaries.md#which-way-y-is-up)).",
           .options = floorplan_options, .recall = TZ_RECALL_CALL),
    TZ_API(
        "tz.circle(options)", shape_circle,
        "A disc, a ball, or a cylinder along z: a `function(x, y, z)` that is true within, as a "
        "value "
        "of fields, as a domain, or to be combined. Whole numbers are the middles of cells, so the "
        "middle of a grid is at (nx - 1)/2.",
        .options = circle_options),
    TZ_API("tz.box(options)", shape_box, "A rectangle or cuboid, likewise.",
           .options = box_options),
    TZ_API("tz.polygon(points)", shape_polygon,
           "A polygon in x and y, likewise, by the even-odd rule: `tz.polygon { { 10, 10 }, { 90, "
           "10 }, { 50, 80 } }`."),
    TZ_API("tz.union(...)", shape_combine,
           "What is in any of the shapes: those above, a `function(x, y, z)`, or an array (cells "
           "that are "
           "not 0), such as `tz.read \"shape.png\"`.",
           .data = "tz.union"),
    TZ_API("tz.intersection(...)", shape_combine, "What is in all of them.",
           .data = "tz.intersection"),
    TZ_API("tz.difference(...)", shape_combine, "What is in the first and in no other.",
           .data = "tz.difference"),
    TZ_API_END};
