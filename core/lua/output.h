/* Outputs as scripts describe them: by the function tz.NAME of a format. */
#ifndef TZ_CORE_LUA_OUTPUT_H
#define TZ_CORE_LUA_OUTPUT_H

#include "lua/keys.h"
#include "output/output.h"
#include <lua.h>

/* A userdata of this type is a tz_output. Its user values keep what it has of the script. */
#define TZ_TYPE_OUTPUT "trapeze.output"
enum {
    TZ_OUTPUT_COLUMNS = 1, /* of a table: functions, under the numbers of their columns from 1 */
    TZ_OUTPUT_OUTLINE = 1, /* of a picture: a floorplan, or nil */
    TZ_OUTPUT_CAPTION,     /* of a picture: the function that makes captions, or nil */
    TZ_OUTPUT_PATH,        /* of a picture: the memory of its path, or nil */
    TZ_OUTPUT_VALUES = TZ_OUTPUT_PATH
};

extern const tz_key tz_axes_options[];

/* The keys of a look. */
#define TZ_LOOK_OPTIONS                                                                            \
    {"map", "text", "the stencil's", "a colour map (see Colour maps); with `_r` reversed"},        \
        {"colours",                                                                                \
         "list of texts",                                                                          \
         "",                                                                                       \
         "a map of so many colours, low to high, mixed in between: `{\"#000\", \"#ff8800\"}`",     \
         .least = TZ_COLOURS_MIN,                                                                  \
         .most = TZ_COLOURS_MAX},                                                                  \
        {"range", "{low, high} or \"auto\"", "the stencil's",                                      \
         "the values at the ends of the map; `\"auto\"`: the extremes of the data"},               \
        {"log", "boolean", "false",                                                                \
         "colours follow the logarithm; without a range it is that of the data "                   \
         "above " TZ_KEY_VALUE(TZ_LOOK_LOG) " of the maximum"},                                    \
        {"size",                                                                                   \
         "integer",                                                                                \
         "",                                                                                       \
         "pixels of the longer side: "                                                             \
         "cells are averaged or repeated",                                                         \
         .least = 16,                                                                              \
         .most = 16384},                                                                           \
        {"zoom", "integer", "", "pixels of a cell along each axis", .least = 1, .most = 1024},     \
        {"bits", "integer", "8", "16: gray values without a colour map"},                          \
        {"bar", "boolean", "false", "draw a colour bar"},                                          \
        {"axes", "boolean or table", "false",                                                      \
         "numbers at the sides, in metres where the stencil knows how wide cells are, else in "    \
         "cells; `{ spacing = 0.1, unit = \"mm\" }`: a cell is so wide",                           \
         .inner = tz_axes_options},                                                                \
        {"y", "text", "\"up\" of a chip with a floorplan, else \"down\"",                          \
         "%s: where metres of y in `axes` begin, at the upper edge, which is row 0, or at the "    \
         "lower one",                                                                              \
         tz_y_names},                                                                              \
        {"contours", "integer or list of numbers",                                                 \
         "",         "contour lines: how many, at equal distances in the range, or their values",  \
         .least = 1, .most = TZ_CONTOURS_MAX},                                                     \
        {"outline", "floorplan", "", "the outlines of its units, with the names that fit"},        \
        {"view", "text", "", "%s: 3-D data seen from one corner, bits coloured by their height",   \
         tz_view_names},                                                                           \
        {"cut", "boolean", "false",                                                                \
         "of a view: leave out the nearest eighth, so that the inside is seen"},                   \
        {"level", "number", "the middle of the range",                                             \
         "of a view: cells of at least this value are solid; of bits, " TZ_KEY_VALUE(              \
             TZ_LEVEL_OF_BITS)},                                                                   \
        {"path", "list", "",                                                                       \
         "a line through points `{ x, y }`, or through columns: an integer for each row"},         \
        {"path_rgb", "{red, green, blue}", "white with a rim", "its colour, 0 to 255 each"},       \
        {"grid_lines", "boolean", "false",                                                         \
         "thin lines between cells of at least " TZ_KEY_VALUE(TZ_GRID_LINES_ZOOM) " pixels"},      \
        {"mark", "text", "", "%s: a ring around that value", tz_mark_names},                       \
    {                                                                                              \
        "unit", "text", "the field's", "the unit at the bar"                                       \
    }
const char *tz_view_names(int i), *tz_mark_names(int i), *tz_montage_names(int i),
    *tz_y_names(int i);
/* The option y of pictures and of files with a geometry. Raises. */
tz_y_from tz_y_get(lua_State *L, int index, const char *what);
/* Read a look from the option table at `index`. Raises. */
void tz_look_get(lua_State *L, int index, const char *what, tz_look *look);
/* Read the option `path` into a look. Pushes the value that keeps its memory, or nil. Raises. */
void tz_path_get(lua_State *L, int index, const char *what, tz_look *look);
/* The option slice = 3, or { y = 3 }. False, and *out as it is, when absent. Raises. */
bool tz_slice_get(lua_State *L, int index, const char *what, tz_slice *out);
/* The option montage = true, or the axis that it goes along: montage = "y". False: there is none.
 * Raises. */
bool tz_montage_get(lua_State *L, int index, const char *what, int *axis);

#endif
