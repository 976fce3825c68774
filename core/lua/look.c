/* The options of a look, which pictures and movies share: colours, range, size, part of the grid,
 * axes, overlays, views. */
#include "lua/look.h"

#include "lua/api.h"
#include "lua/floorplan.h"
#include "lua/handle.h"
#include "lua/module.h"
#include "output/frame/colormap.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TZ_KEY_NAMES(mark_names, "max", "min", "both")

    static TZ_KEY_NAMES(view_names, "isometric")

        TZ_KEY_NAMES(tz_look_montage_names, "x", "y", "z")

            TZ_KEY_NAMES(tz_look_y_names, [TZ_Y_DOWN] = "down", [TZ_Y_UP] = "up")

                static const tz_key axes_options[] = {
                    {"spacing", "number or {dx[, dy[, dz]]}", NULL, "width of a cell"},
                    {"unit", "text", "", "of the spacing"},
                    {NULL}};

static TZ_KEY_NAMES(reduce_names, "mean", "max")

    static const tz_key region_options[] = {
        {"x", "{first, end}", "all", "", .most = INFINITY},
        {"y", "{first, end}", "all", "", .most = INFINITY},
        {"follow", "boolean", "false",
         "the part keeps its size and moves with the middle of the rectangle around all cells that "
         "are not 0"},
        {"step", "integer", "", "of a list: when the film shows this part", .most = INFINITY},
        {NULL}};

const tz_key tz_look_options[] = {
    {"map", "text", "the stencil's", "a colour map (see Colour maps); with `_r` reversed"},
    {"colours", "list of texts", "",
     "a map of so many colours, low to high, mixed in between: `{\"#000\", \"#ff8800\"}`",
     .least = TZ_COLOURS_MIN, .most = TZ_COLOURS_MAX},
    {"range", "{low, high} or \"auto\"", "the stencil's",
     "the values at the ends of the map; `\"auto\"`: the extremes of the data"},
    {"log", "boolean", "false",
     "colours follow the logarithm; without a range it is that of the data "
     "above " TZ_KEY_VALUE(TZ_LOOK_LOG) " of the maximum"},
    {"size", "integer", "", "pixels of the longer side: cells are averaged or repeated",
     .least = 16, .most = 16384},
    {"width_mm", "number", "",
     "how wide the whole picture is on paper; texts are then of 8 points: 86 for a column",
     .least = 20, .most = 1000},
    {"reduce", "text", "\"mean\"",
     "%s: of 2-D, what a pixel of several cells shows: their mean, or the largest", reduce_names},
    {"region", "{x = {a, b}, y = {c, d}} or list", "the grid",
     "of 2-D: a part, cells a to b - 1 along x; a list of up to " TZ_KEY_VALUE(
         TZ_LOOK_REGIONS_MAX) " such parts of one shape, each with its `step`: a film moves and "
                              "zooms from one to the next",
     .inner = region_options},
    {"zoom", "integer", "", "pixels of a cell along each axis", .least = 1, .most = 1024},
    {"bits", "integer", "8", "16: gray values without a colour map"},
    {"bar", "boolean", "false", "draw a colour bar"},
    {"axes", "boolean or table", "false",
     "numbers at the sides, in metres where the stencil knows them, else in cells or by `{ spacing "
     "= 0.1, unit = \"mm\" }`",
     .inner = axes_options},
    {"y", "text", "the simulation's, and \"up\" of a chip with a floorplan",
     "%s: where y begins ([which way y is up](boundaries.md#which-way-y-is-up))", tz_look_y_names},
    {"contours", "integer or list of numbers", "",
     "contour lines: how many, at equal distances in the range, or their values", .least = 1,
     .most = TZ_CONTOURS_MAX},
    {"outline", "floorplan", "", "the outlines of its units, with the names that fit"},
    {"view", "text", "", "%s: 3-D data seen from one corner, bits coloured by their height",
     view_names},
    {"cut", "boolean", "false",
     "of a view: leave out the nearest eighth, so that the inside is seen"},
    {"level", "number", "the middle of the range",
     "of a view: cells of at least this value are solid; of bits, " TZ_KEY_VALUE(TZ_LEVEL_OF_BITS)},
    {"path", "list", "",
     "a line through points `{ x, y }`, or through columns: an integer for each row"},
    {"path_rgb", "{red, green, blue}", "white with a rim", "its colour, 0 to 255 each"},
    {"grid_lines", "boolean", "false",
     "thin lines between cells of at least " TZ_KEY_VALUE(TZ_GRID_LINES_ZOOM) " pixels"},
    {"mark", "text", "", "%s: a ring around that value", mark_names},
    {"unit", "text", "the field's", "the unit at the bar"},
    {NULL}};

/* colours = {"#000", "#ff8800", …} */
static void get_colours(lua_State *L, int index, const char *what, tz_look *look)
{
    const int type = tz_table_get(L, index, "colours");
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    const size_t count = tz_list_check(L, what, "colours", "a list of colours such as \"#ff8800\"");
    if (count < TZ_COLOURS_MIN || count > TZ_COLOURS_MAX)
        tz_raise(L, "%s: 'colours' must hold %d to %d colours, not %zu", what, TZ_COLOURS_MIN,
                 TZ_COLOURS_MAX, count);
    if (look->map[0])
        tz_raise(L, "%s: give 'map' or 'colours', not both", what);
    for (size_t i = 0; i < count; i++) {
        const bool is_text = lua_rawgeti(L, -1, (lua_Integer)i + 1) == LUA_TSTRING;
        if (!is_text || !tz_colour_parse(tz_text_check(L, -1, what, "colours"), look->colours[i]))
            tz_raise(L, "%s: a colour is a text such as \"#f80\" or \"#ff8800\", not %.40s", what,
                     is_text ? lua_tostring(L, -1) : tz_kind_text(L, -1));
        lua_pop(L, 1);
    }
    look->colours_count = (int)count;
    lua_pop(L, 1);
}

/* contours = 8, or contours = {320, 330, …} */
static void get_contours(lua_State *L, int index, const char *what, tz_overlay *overlay)
{
    if (tz_table_get(L, index, "contours") != LUA_TTABLE) {
        int64_t count = 0;
        lua_pop(L, 1);
        tz_key_integer(L, index, what, "contours", &count);
        overlay->contours_even = (int)count;
        return;
    }
    const size_t count = tz_list_check(L, what, "contours", "a list");
    if (count < 1 || count > TZ_CONTOURS_MAX)
        tz_raise(L, "%s: 'contours' must hold 1 to %d values, not %zu", what, TZ_CONTOURS_MAX,
                 count);
    for (size_t i = 0; i < count; i++) {
        if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, -1)))
            tz_raise(L, "%s: 'contours[%d]' must be a finite number", what, (int)i + 1);
        overlay->contours[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    overlay->contours_count = (int)count;
    lua_pop(L, 1);
}

enum { MARK_MAX, MARK_MIN, MARK_BOTH };

static void get_mark(lua_State *L, int index, const char *what, tz_overlay *overlay)
{
    int mark;
    if (!tz_key_choice(L, index, what, "mark", &mark))
        return;
    overlay->mark_max = mark != MARK_MIN;
    overlay->mark_min = mark != MARK_MAX;
}

/* outline = tz.floorplan { … } */
static void get_outline(lua_State *L, int index, const char *what, tz_overlay *overlay)
{
    if (tz_table_get(L, index, "outline") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (!luaL_testudata(L, -1, TZ_TYPE_FLOORPLAN))
        tz_raise_kind(L, -1, what, "outline", "a floorplan");
    const tz_floorplan_value *value = tz_floorplan_check(L, -1, what);
    const tz_floorplan *plan = &value->plan;
    const tz_floorplan_place *place = &value->place;
    const double width = place->width_m > 0 ? place->width_m : plan->width_m;
    const double height = place->width_m > 0 ? place->height_m : plan->height_m;
    if (plan->unit_count > TZ_OUTLINES_MAX)
        tz_raise(L, "%s: 'outline' has %zu units, more than %d", what, plan->unit_count,
                 TZ_OUTLINES_MAX);
    for (size_t i = 0; i < plan->unit_count; i++) {
        const tz_floorplan_unit *u = &plan->units[i];
        tz_outline *o = &overlay->outlines[i];
        *o = (tz_outline){.left = u->left_m / width,
                          .right = (u->left_m + u->width_m) / width,
                          .top = 1 - (u->bottom_m + u->height_m) / height,
                          .bottom = 1 - u->bottom_m / height};
        snprintf(o->name, sizeof o->name, "%.31s", u->name);
    }
    overlay->outlines_count = (int)plan->unit_count;
    for (int axis = 0; axis < 2; axis++) {
        overlay->outlines_low[axis] = place->box.low[axis];
        overlay->outlines_high[axis] = place->box.high[axis];
    }
    lua_pop(L, 1);
}

/* axes = true, or axes = { spacing = 0.1, unit = "mm" } */
static void get_axes(lua_State *L, int index, const char *what, tz_look *look)
{
    char place[64];
    if (tz_table_get(L, index, "axes") != LUA_TTABLE) {
        lua_pop(L, 1);
        tz_key_flag(L, index, what, "axes", &look->axes);
        return;
    }
    const int table = lua_gettop(L);
    snprintf(place, sizeof place, "%.40s: axes", what);
    tz_keys_take(L, table, place, axes_options, false);
    look->axes = true;
    look->spacing_count = tz_key_vector(L, table, place, "spacing", 0, look->spacing);
    if (look->spacing_count == 0)
        tz_raise(L, "%s: 'spacing' is missing: the width of a cell; or say axes = true", place);
    tz_key_copy(L, table, place, "unit", look->axes_unit, sizeof look->axes_unit);
    lua_pop(L, 1);
}

/* The option y of pictures and of files with a geometry. */
tz_y_from tz_look_y(lua_State *L, int index, const char *what)
{
    int y;
    return tz_key_choice(L, index, what, "y", &y) ? (tz_y_from)y : TZ_Y_AUTO;
}

/* slice = 3, or { y = 3 }. False, and *out as it is, when absent. */
bool tz_look_slice(lua_State *L, int index, const char *what, tz_slice *out)
{
    static const tz_key axes[] = {
        {"x", .most = INFINITY}, {"y", .most = INFINITY}, {"z", .most = INFINITY}, {NULL}};
    if (tz_table_get(L, index, "slice") != LUA_TTABLE) {
        lua_pop(L, 1);
        out->axis = 2;
        return tz_key_integer(L, index, what, "slice", &out->at);
    }
    const int table = lua_gettop(L);
    char place[64];
    int given = 0;
    snprintf(place, sizeof place, "%.40s: slice", what);
    tz_keys_take(L, table, place, axes, false);
    for (int a = 0; a < 3; a++)
        if (tz_key_integer(L, table, place, axes[a].key, &out->at)) {
            out->axis = a;
            given++;
        }
    if (given != 1)
        tz_raise(L, "%s: 'slice' must be an integer or have one of x, y and z: { y = 3 }", what);
    lua_pop(L, 1);
    return true;
}

/* montage = true, or the axis that it goes along: "y". False: there is none. */
bool tz_look_montage(lua_State *L, int index, const char *what, int *axis)
{
    bool montage = false;
    const int type = tz_table_get(L, index, "montage");
    lua_pop(L, 1);
    if (type != LUA_TSTRING) {
        tz_key_flag(L, index, what, "montage", &montage);
        return montage;
    }
    return tz_key_choice(L, index, what, "montage", axis);
}

/* view = "isometric", level = 0.5 */
static void get_view(lua_State *L, int index, const char *what, tz_look *look)
{
    int view;
    look->isometric = tz_key_choice(L, index, what, "view", &view);
    look->has_level = tz_key_number(L, index, what, "level", &look->level);
    const bool cuts = tz_key_flag(L, index, what, "cut", &look->cut);
    if ((look->has_level || cuts) && !look->isometric)
        tz_raise(L, "%s: '%s' goes with 'view'", what, cuts ? "cut" : "level");
    if (look->isometric && tz_overlay_any(&look->overlay))
        tz_raise(L, "%s: a view has no 'contours', 'mark', 'outline' or 'grid_lines'", what);
    if (look->isometric && (look->log || look->axes))
        tz_raise(L, "%s: a view has no 'log' and no 'axes'", what);
    if (look->isometric && look->bits == 16)
        tz_raise(L, "%s: a view is in colours: 'bits' must be 8", what);
}

/* caption = "after {time}", or caption = function(sim) … end */
static void get_caption(lua_State *L, int index, const char *what, tz_look *look)
{
    look->told = tz_table_get(L, index, "caption") == LUA_TFUNCTION;
    lua_pop(L, 1);
    if (!look->told &&
        tz_key_copy(L, index, what, "caption", look->caption, sizeof look->caption / 2))
        tz_try(L, what, tz_caption_check(look->caption, tz_fault(L)));
}

/* A point {x, y}, or a column of row i, on the top of the stack, which is popped. */
static tz_overlay_point get_point(lua_State *L, const char *what, int64_t i)
{
    tz_overlay_point point = {NAN, (double)i};
    if (lua_isinteger(L, -1)) {
        point.x = (double)lua_tointeger(L, -1);
    } else if (lua_istable(L, -1) && lua_rawlen(L, -1) == 2) {
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        const bool numbers = lua_type(L, -1) == LUA_TNUMBER && lua_type(L, -2) == LUA_TNUMBER;
        point.x = numbers ? lua_tonumber(L, -2) : NAN;
        point.y = lua_tonumber(L, -1);
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
    if (!isfinite(point.x) || !isfinite(point.y))
        tz_raise(L, "%s: path[%lld] must be a column or a point { x, y }", what, (long long)i + 1);
    return point;
}

/* Pushes the value that keeps its memory, or nil. */
void tz_look_path(lua_State *L, int index, const char *what, tz_look *look)
{
    enum { POINTS_MAX = 1 << 20 };
    int64_t rgb[3] = {0, 0, 0};
    const int channels = tz_key_integers(L, index, what, "path_rgb", 3, 0, rgb);
    const bool given = tz_table_get(L, index, "path") != LUA_TNIL;
    if (channels != 0 && !given)
        tz_raise(L, "%s: 'path_rgb' goes with 'path'", what);
    if (channels != 0 && (channels != 3 || rgb[0] > 255 || rgb[1] > 255 || rgb[2] > 255))
        tz_raise(L, "%s: 'path_rgb' must be three numbers from 0 to 255", what);
    /* In check mode nothing is computed, so there is no path. */
    if (!given || tz_context_get(L)->options->check) {
        lua_pop(L, 1);
        lua_pushnil(L);
        return;
    }
    const size_t count = tz_list_check(L, what, "path", "a list of columns or of points { x, y }");
    if (count < 1 || count > POINTS_MAX)
        tz_raise(L, "%s: 'path' must hold 1 to %d points, not %zu", what, POINTS_MAX, count);
    if (look->bits == 16 || look->isometric)
        tz_raise(L, "%s: a %s has no 'path'", what, look->isometric ? "view" : "16-bit picture");
    tz_overlay_point *points = lua_newuserdatauv(L, count * sizeof *points, 0);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, -2, (lua_Integer)i + 1);
        points[i] = get_point(L, what, (int64_t)i);
    }
    lua_remove(L, -2);
    look->overlay.path = points;
    look->overlay.path_count = (int64_t)count;
    for (int i = 0; i < 3; i++)
        look->overlay.path_rgb[i] = (uint8_t)rgb[i];
}

/* { x = { 10, 50 }, y = { 0, 40 }, step = 100 }, the table at `table`. Returns whether it has a
 * step. */
static bool get_part(lua_State *L, int table, const char *place, tz_look_region *region)
{
    tz_keys_take(L, table, place, region_options, false);
    for (int axis = 0; axis < 2; axis++) {
        int64_t ends[2] = {0, 0};
        const char name[] = {"xy"[axis], '\0'};
        const int count = tz_key_integers(L, table, place, name, 2, 0, ends);
        if (count == 1 || (count == 2 && ends[1] <= ends[0]))
            tz_raise(L, "%s: '%s' must be {first, end}, and the end is above the first", place,
                     name);
        region->low[axis] = ends[0];
        region->high[axis] = ends[1];
    }
    return tz_key_integer(L, table, place, "step", &region->step);
}

/* The list on the top of the stack: { { step = 0, x = … }, { step = 500, x = … } }. */
static void get_parts(lua_State *L, const char *what, tz_look *look)
{
    char place[64];
    const size_t count = tz_list_check(L, what, "region", "a list of regions");
    bool follows = false;
    if (count < 2 || count > TZ_LOOK_REGIONS_MAX)
        tz_raise(L, "%s: a list of regions has 2 to %d parts, not %zu", what, TZ_LOOK_REGIONS_MAX,
                 count);
    for (size_t i = 0; i < count; i++) {
        tz_look_region *region = &look->regions[i];
        snprintf(place, sizeof place, "%.40s: region[%zu]", what, i + 1);
        if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TTABLE)
            tz_raise(L, "%s must be { step = …, x = {a, b}, y = {c, d} }, not %s", place,
                     tz_kind_text(L, -1));
        if (!get_part(L, lua_gettop(L), place, region))
            tz_raise(L, "%s: 'step' is missing: when the film shows this part", place);
        tz_key_flag(L, lua_gettop(L), place, "follow", &follows);
        if (follows)
            tz_raise(L, "%s: a region that moves by steps does not 'follow'", place);
        if (i > 0 && region->step <= region[-1].step)
            tz_raise(L, "%s: its step %lld is not above %lld, that of the part before", place,
                     (long long)region->step, (long long)region[-1].step);
        lua_pop(L, 1);
    }
    look->regions_count = (int)count;
    if (look->width_mm > 0 || look->zoom > 0)
        tz_raise(L, "%s: a 'region' that moves has 'size', not '%s'", what,
                 look->zoom > 0 ? "zoom" : "width_mm");
}

/* region = { x = { 10, 50 }, y = { 0, 40 }, follow = true }, or a list */
static void get_region(lua_State *L, int index, const char *what, tz_look *look)
{
    char place[64];
    const int type = tz_table_get(L, index, "region");
    const int table = lua_gettop(L);
    if (type != LUA_TNIL && type != LUA_TTABLE)
        tz_raise(L, "%s: 'region' must be { x = {a, b}, y = {c, d} }, not %s", what,
                 tz_kind_text(L, table));
    if (type == LUA_TTABLE && lua_rawlen(L, table) > 0) {
        get_parts(L, what, look);
    } else if (type == LUA_TTABLE) {
        snprintf(place, sizeof place, "%.40s: region", what);
        if (get_part(L, table, place, &look->regions[0]))
            tz_raise(L, "%s: 'step' is for a list of regions, { { step = 0, … }, … }", place);
        look->regions_count = 1;
        tz_key_flag(L, table, place, "follow", &look->follows);
    }
    if (look->regions_count > 0 &&
        (look->isometric || look->axes || look->overlay.outlines_count > 0))
        tz_raise(L, "%s: a 'region' has no 'axes', 'outline' or 'view'", what);
    lua_pop(L, 1);
}

void tz_look_get(lua_State *L, int index, const char *what, tz_look *look)
{
    int64_t bits;
    int reduce = 0;
    if (tz_key_copy(L, index, what, "map", look->map, sizeof look->map)) {
        tz_colormap map;
        tz_try(L, what, tz_colormap_find(look->map, &map, tz_fault(L)));
    }
    get_colours(L, index, what, look);
    if (tz_table_get(L, index, "range") == LUA_TSTRING) {
        const char *range = tz_text_check(L, -1, what, "range");
        if (strcmp(range, "auto") != 0)
            tz_raise(L, "%s: 'range' must be {low, high} or \"auto\", not '%.40s'", what, range);
        look->range = TZ_RANGE_AUTO;
    } else if (tz_key_range(L, index, what, "range", false, &look->low, &look->high)) {
        look->range = TZ_RANGE_FIXED;
    }
    lua_pop(L, 1);
    tz_key_flag(L, index, what, "log", &look->log);
    if (look->log && look->range == TZ_RANGE_FIXED && !(look->low > 0))
        tz_raise(L, "%s: with 'log' the range must be above 0, and it begins at %g", what,
                 look->low);
    tz_key_integer(L, index, what, "size", &look->size);
    tz_key_integer(L, index, what, "zoom", &look->zoom);
    if (tz_key_number(L, index, what, "width_mm", &look->width_mm) && look->size + look->zoom > 0)
        tz_raise(L, "%s: give 'width_mm' or '%s', not both", what, look->zoom ? "zoom" : "size");
    tz_key_integer(L, index, what, "bits", &bits);
    if (bits != 8 && bits != 16)
        tz_raise(L, "%s: 'bits' must be 8 (colour) or 16 (gray values)", what);
    look->bits = (int)bits;
    tz_key_flag(L, index, what, "bar", &look->bar);
    get_caption(L, index, what, look);
    look->has_unit = tz_key_copy(L, index, what, "unit", look->unit, sizeof look->unit);
    get_axes(L, index, what, look);
    look->y = tz_look_y(L, index, what);
    get_contours(L, index, what, &look->overlay);
    get_mark(L, index, what, &look->overlay);
    get_outline(L, index, what, &look->overlay);
    tz_key_flag(L, index, what, "grid_lines", &look->overlay.grid_lines);
    get_view(L, index, what, look);
    tz_key_choice(L, index, what, "reduce", &reduce);
    look->greatest = reduce == 1;
    get_region(L, index, what, look);
    if (look->bits == 16 && look->log)
        tz_raise(L, "%s: a 16-bit picture holds values: no 'log'", what);
    if (look->bits == 16 && (look->bar || look->axes || look->caption[0] != '\0' || look->told ||
                             tz_overlay_any(&look->overlay)))
        tz_raise(L,
                 "%s: a 16-bit picture holds values only: no 'bar', 'axes', 'caption', 'contours', "
                 "'mark', 'outline' or 'grid_lines'",
                 what);
}
