/* tz.plot and tz.can_plot: curves, drawn by gnuplot. Registered by module.c; scenario.c calls
 * tz_plot_check before it runs a scenario. */
#include "lua/module.h"

#include "lua/api.h"
#include "lua/handle.h"
#include "lua/keys.h"
#include "output/format/format.h"
#include "output/frame/plot.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char what[] = "tz.plot";

/* The numbers of the list on the top of the stack, in a userdata that is pushed; NULL for nil. */
static const double *get_list(lua_State *L, const char *key, int *count)
{
    if (lua_isnil(L, -1))
        return NULL;
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: '%s' must be a list of numbers", what, key);
    if (lua_rawlen(L, -1) > INT_MAX)
        tz_raise(L, "%s: '%s' has more than %d elements", what, key, INT_MAX);
    *count = (int)lua_rawlen(L, -1);
    double *numbers = lua_newuserdatauv(L, (size_t)(*count > 0 ? *count : 1) * sizeof *numbers, 0);
    for (int i = 0; i < *count; i++) {
        lua_rawgeti(L, -2, i + 1);
        numbers[i] = lua_tonumber(L, -1);
        if (lua_type(L, -1) != LUA_TNUMBER || !isfinite(numbers[i]))
            tz_raise(L, "%s: %s[%d] must be a finite number", what, key, i + 1);
        lua_pop(L, 1);
    }
    return numbers;
}

static TZ_KEY_NAMES(
    style_names, [TZ_PLOT_AREA] = "area", [TZ_PLOT_LINE] = "line", [TZ_PLOT_THIN] = "thin",
    [TZ_PLOT_POINTS] = "points", [TZ_PLOT_BARS] = "bars", [TZ_PLOT_MARK] = "mark")

    static const tz_key series_options[] = {
        {"title", "text", "\"\"", "its name in the legend"},
        {"style", "text", "\"line\"", "%s", style_names},
        {"x", "list of numbers", NULL, ""},
        {"y", "list of numbers", NULL, ""},
        {"low", "list of numbers", "", "lower ends of error bars or of the area"},
        {"high", "list of numbers", "", "upper ends"},
        {"colour", "integer", "its place", "", .least = 1, .most = 64},
        {NULL, NULL, NULL, NULL}};

/* Add the series on the top of the stack. Its numbers stay on the stack, which keeps them alive. */
static void get_series(lua_State *L, tz_plot *plot, int number)
{
    const int at = lua_gettop(L);
    int counts[4] = {0, 0, 0, 0};
    const double *lists[4];
    int64_t colour = plot->series_count + 1;
    const char *title;
    int style;
    if (!lua_istable(L, at))
        tz_raise(L, "%s: series[%d] must be a table", what, number);
    tz_keys_take(L, at, "tz.plot: series", series_options, false);
    tz_key_choice(L, at, "tz.plot: series", "style", &style);
    tz_key_integer(L, at, "tz.plot: series", "colour", &colour);
    tz_key_text(L, at, "tz.plot: series", "title", &title);
    static const char *const names[] = {"x", "y", "low", "high"};
    luaL_checkstack(L, 10, "series");
    for (int k = 0; k < 4; k++) {
        tz_table_get(L, at, names[k]);
        lists[k] = get_list(L, names[k], &counts[k]);
        if (k > 0 && lists[k] && counts[k] != counts[0])
            tz_raise(L, "%s: series[%d] has %d x and %d %s", what, number, counts[0], counts[k],
                     names[k]);
    }
    if (!lists[0] || !lists[1])
        tz_raise(L, "%s: series[%d] needs the lists x and y", what, number);
    tz_plot_series *series =
        tz_plot_add(plot, (tz_plot_style)style, tz_plot_colour((int)colour - 1), counts[0],
                    lists[0], lists[1], "%s", title);
    if (!series)
        tz_raise(L, "%s: more than %d series", what, TZ_PLOT_SERIES_MAX);
    series->low = lists[2];
    series->high = lists[3];
}

static const tz_key plot_options[] = {
    {"file", "text", NULL, "a name in the run folder that ends with `.png`, `.svg` or `.pdf`"},
    {"title", "text", "\"\"", ""},
    {"subtitle", "text", "\"\"", ""},
    {"x_label", "text", "\"\"", ""},
    {"y_label", "text", "\"\"", ""},
    {"log_x", "boolean", "false", "a logarithmic axis"},
    {"log_y", "boolean", "false", "the same of y"},
    {"zero", "boolean", "false", "the y axis begins at 0"},
    {"width_mm", "number", "",
     "how wide it is on paper; texts are then of 8 points, and the legend is below", .least = 20,
     .most = 1000},
    {"series", "list of tables", NULL, "tables such as `{ x = {…}, y = {…} }`",
     .inner = series_options},
    {NULL, NULL, NULL, NULL}};

static int plot_call(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    char path[PATH_MAX];
    tz_options_take(L, what, plot_options, "tz.plot { file = \"NAME.png\", series = { … } }");
    const char *file = tz_key_file(L, 1, what, NULL);
    tz_plot *plot = lua_newuserdatauv(L, sizeof *plot, 0);
    memset(plot, 0, sizeof *plot);
    plot->terminal = tz_format_of_file(file, TZ_TO_DRAW)->terminal;
    tz_key_copy(L, 1, what, "title", plot->title, sizeof plot->title);
    tz_key_copy(L, 1, what, "subtitle", plot->subtitle, sizeof plot->subtitle);
    tz_key_copy(L, 1, what, "x_label", plot->x_label, sizeof plot->x_label);
    tz_key_copy(L, 1, what, "y_label", plot->y_label, sizeof plot->y_label);
    tz_key_flag(L, 1, what, "log_x", &plot->log_x);
    tz_key_flag(L, 1, what, "log_y", &plot->log_y);
    tz_key_flag(L, 1, what, "zero", &plot->from_zero);
    tz_key_number(L, 1, what, "width_mm", &plot->width_mm);
    if (tz_table_get(L, 1, "series") != LUA_TTABLE || lua_rawlen(L, -1) == 0)
        tz_raise(L, "%s: 'series' must be a list of { x = {…}, y = {…} }", what);
    const int series = lua_gettop(L);
    if (lua_rawlen(L, series) > TZ_PLOT_SERIES_MAX)
        tz_raise(L, "%s: more than %d series", what, TZ_PLOT_SERIES_MAX);
    const int count = (int)lua_rawlen(L, series);
    luaL_checkstack(L, 10 * count + 10, "series");
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, series, i);
        get_series(L, plot, i);
    }
    if (!tz_plot_available())
        tz_raise(L, "%s: %s", what, TZ_PLOT_NEEDS_GNUPLOT);
    if (context->options->check) {
        tz_context_print(context, "  writes %s\n", file);
        return 0;
    }
    tz_status status = tz_handle_open_file(context, file, path, sizeof path, tz_fault(L));
    if (status == TZ_OK)
        status = tz_plot_draw(plot, path, tz_fault(L));
    tz_try(L, what, status);
    tz_record_file(context->files.record, file);
    return 0;
}

/* tz.can_plot(): is gnuplot installed? */
static int can_plot(lua_State *L)
{
    lua_pushboolean(L, tz_plot_available());
    return 1;
}

const tz_api_function tz_plot_functions[] = {
    TZ_API("tz.plot(options)", plot_call, "Draws curves with gnuplot.", .options = plot_options,
           .recall = TZ_RECALL_GIVE),
    TZ_API("tz.can_plot()", can_plot,
           "Whether gnuplot is there; if not, the reason as a second result.",
           .recall = TZ_RECALL_GIVE),
    TZ_API_END};

/* ---- Scenarios that will call it ------------------------------------------------------------- */

/* find_call.lua, found by the assembler through the build's -Wa,-I. */
__asm__(".pushsection .rodata\ntz_find_call:\n.incbin \"lua/find_call.lua\"\n"
        ".byte 0\n.popsection\n");
extern const char tz_find_call[] __attribute__((visibility("hidden")));

typedef struct search {
    const char *text;
    size_t bytes;
    const char *function;
    int line;
} search;

/* Protected: argument 1 is the search. */
static int find_call(lua_State *L)
{
    search *s = lua_touserdata(L, 1);
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
    if (luaL_loadbufferx(L, tz_find_call, strlen(tz_find_call), "=find_call", "t") != LUA_OK)
        lua_error(L);
    lua_pushlstring(L, s->text, s->bytes);
    lua_pushstring(L, s->function);
    lua_call(L, 2, 1);
    s->line = (int)lua_tointeger(L, -1);
    return 0;
}

int tz_plot_find(const char *text, size_t bytes, const char *function)
{
    search s = {text, bytes, function, 0};
    lua_State *L = luaL_newstate(); /* in which no script has changed a function */
    if (!L)
        return 0;
    lua_pushcfunction(L, find_call);
    lua_pushlightuserdata(L, &s);
    lua_pcall(L, 1, 0, 0);
    lua_close(L);
    return s.line;
}

void tz_plot_check(lua_State *L, const char *text, size_t bytes)
{
    const int line = tz_plot_find(text, bytes, "plot");
    if (line > 0 && tz_plot_find(text, bytes, "can_plot") == 0 && !tz_plot_available())
        tz_raise(L, "%s:%d: %s: %s; or ask tz.can_plot() first", tz_context_get(L)->options->path,
                 line, what, TZ_PLOT_NEEDS_GNUPLOT);
}
