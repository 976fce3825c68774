/* Outputs: the functions tz.NAME of formats, and tz.picture, which module.c registers. Descriptions
 * are checked as far as that is possible without a simulation; sim:every and sim:write check the
 * rest. */
#include "lua/handle.h"

#include "base/names.h"
#include "lua/api.h"
#include "lua/array.h"
#include "lua/fields.h"
#include "lua/floorplan.h"
#include "lua/keys.h"
#include "lua/look.h"
#include "lua/module.h"
#include "output/folder.h"
#include "output/frame/colormap.h"
#include "sim/simulation.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Outputs --------------------------------------------------------------------------------- */

/* The function of a format, of which there is one for each content. */
typedef struct format_function {
    const tz_format *format;
    char what[24], signature[64]; /* "tz.npy", "tz.npy([field][, options])" */
} format_function;

/* That of the function that runs. */
static const format_function *called(lua_State *L)
{
    return tz_api_data(L);
}

/* Push a userdata for an output with that many columns. */
static tz_output *push_output(lua_State *L, const tz_format *format, size_t columns)
{
    tz_output *output = lua_newuserdatauv(L, sizeof *output + columns * sizeof output->columns[0],
                                          TZ_OUTPUT_VALUES);
    memset(output, 0, sizeof *output);
    output->format = format;
    output->look.bits = 8;
    output->slice.axis = 2;
    output->columns_count = columns;
    luaL_setmetatable(L, TZ_TYPE_OUTPUT);
    return output;
}

static void copy_field(lua_State *L, int index, const char *what, char *out, size_t size)
{
    if (lua_type(L, index) != LUA_TSTRING)
        tz_raise(L, "%s: a field's name must be a string, not %s", what, tz_kind_text(L, index));
    const char *name = tz_text_check(L, index, what, "field");
    if (strlen(name) >= size)
        tz_raise(L, "%s: the field's name '%.40s…' is too long", what, name);
    snprintf(out, size, "%s", name);
}

/* Is that the ending of a kind of file? */
static bool is_ending(const char *end)
{
    static const char *const others[] = {".apng", ".avi", ".bmp",  ".eps", ".gz",  ".jpeg",
                                         ".jpg",  ".m4v", ".mkv",  ".mov", ".ogv", ".ppm",
                                         ".ps",   ".tif", ".tiff", ".webp"};
    for (const tz_format *const *f = tz_formats; *f; f++)
        if (strcmp(end, (*f)->suffix) == 0 ||
            ((*f)->list_suffix && !strcmp(end, (*f)->list_suffix)))
            return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(end, others[i]) == 0)
            return true;
    return false;
}

/* The name of files, without the ending of their format. Of a movie, the ending is the format. */
static void get_name(lua_State *L, int index, const char *what, tz_output *output)
{
    char known[256];
    if (!tz_key_copy(L, index, what, "name", output->name, sizeof output->name))
        return;
    char *end = strrchr(output->name, '.');
    const bool movie = output->format->content == TZ_CONTENT_MOVIE;
    const tz_format *format = movie ? tz_format_of_file(output->name, TZ_TO_FILM)
                              : end && strcmp(end, output->format->suffix) == 0 ? output->format
                                                                                : NULL;
    if (!format && end && is_ending(end))
        tz_raise(L, "%s: '%.60s' is no name for it: its files end in %s", what, output->name,
                 movie ? tz_format_endings(TZ_TO_FILM, 0, known) : output->format->suffix);
    if (format) {
        output->format = format;
        *end = '\0';
    }
    tz_try(L, what, tz_folder_check_name(output->name, tz_fault(L)));
}

/* Arguments (), (options), (field) or (field, options): leaves the field, or nil, at index 1 and
 * the options at 2. */
static void arrange(lua_State *L, const char *what)
{
    const bool named = !lua_isnoneornil(L, 1) && !lua_istable(L, 1);
    if (lua_istable(L, 1)) {
        if (!lua_isnoneornil(L, 2))
            tz_raise(L, "%s: unexpected argument 2 (%s) after the options", what,
                     tz_kind_text(L, 2));
        lua_settop(L, 1);
        lua_pushnil(L);
        lua_insert(L, 1);
        if (tz_table_get(L, 2, "field") != LUA_TNIL)
            lua_replace(L, 1);
        lua_settop(L, 2);
    }
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_newtable(L);
        lua_replace(L, 2);
    }
    if (!lua_istable(L, 2))
        tz_raise(L, "%s: the options must be a table, not %s", what, tz_kind_text(L, 2));
    if (named && tz_table_get(L, 2, "field") != LUA_TNIL)
        tz_raise(L, "%s: give the field before the options or among them, not both", what);
    lua_settop(L, 2);
}

static const tz_key captioned_options[] = {
    {.all = tz_look_options},
    {"caption", "text or function(sim)", "\"\"",
     "a line above; words in braces are filled in (see Captions); a function returns one for each "
     "picture"},
    {NULL}};

static const tz_key shown_options[] = {
    {"field", "text", "the stencil's picture", "the field, if it is not the first argument"},
    {"slice", "integer or table", "",
     "of 3-D fields: only the plane z, or `{ x = 3 }` or `{ y = 3 }`, across which z points up",
     .most = INFINITY},
    {"montage", "boolean or text", "without `slice`",
     "of 3-D fields: all planes side by side; %s: those across that axis", tz_look_montage_names},
    {NULL}};

static const tz_key picture_options[] = {
    {.all = captioned_options},
    {.all = shown_options},
    {"name", "text", "the field's", "files are `NAME-000100.png`"},
    {NULL, NULL, NULL, NULL}};

/* Push a picture or movie with the options at index 2. */
static tz_output *push_picture(lua_State *L, const tz_key *options)
{
    const char *what = called(L)->what;
    arrange(L, what);
    tz_keys_take(L, 2, what, options, false);
    tz_output *output = push_output(L, called(L)->format, 0);
    if (!lua_isnil(L, 1)) {
        copy_field(L, 1, what, output->fields[0], sizeof output->fields[0]);
        output->fields_count = 1;
    }
    tz_look_get(L, 2, what, &output->look);
    output->has_slice = tz_look_slice(L, 2, what, &output->slice);
    const bool montage = tz_look_montage(L, 2, what, &output->slice.axis);
    if (montage && output->has_slice)
        tz_raise(L, "%s: give 'slice' or 'montage', not both", what);
    if (output->look.isometric && (output->has_slice || output->slice.axis != 2 || montage))
        tz_raise(L, "%s: a view has no 'slice' and no 'montage'", what);
    get_name(L, 2, what, output);
    tz_look_path(L, 2, what, &output->look);
    lua_setiuservalue(L, -2, TZ_OUTPUT_PATH);
    tz_table_get(L, 2, "outline");
    lua_setiuservalue(L, -2, TZ_OUTPUT_OUTLINE);
    tz_table_get(L, 2, "caption");
    lua_setiuservalue(L, -2, TZ_OUTPUT_CAPTION);
    return output;
}

static int output_picture(lua_State *L)
{
    push_picture(L, picture_options);
    return 1;
}

/* ---- Movies ---------------------------------------------------------------------------------- */

/* The suffixes of movies but for that of tz.movie itself. */
static const char *other_suffixes(int i)
{
    for (const tz_format *const *f = tz_formats; *f; f++)
        if ((*f)->content == TZ_CONTENT_MOVIE && !(*f)->doc && i-- == 0)
            return (*f)->suffix;
    return NULL;
}

static const tz_key movie_options[] = {
    {.all = captioned_options},
    {"fps", "number", "25", "frames per second", .least = 0.1, .most = 100},
    {.all = shown_options},
    {"name", "text", "the field's",
     "the file is `NAME.png`; a name that ends with %s makes one of that kind", other_suffixes},
    {NULL, NULL, NULL, NULL}};

static int output_movie(lua_State *L)
{
    const char *what = called(L)->what;
    tz_output *output = push_picture(L, movie_options);
    tz_key_number(L, 2, what, "fps", &output->fps);
    if (output->look.bits == 16)
        tz_raise(L, "%s: a movie is in colours: 'bits' must be 8", what);
    return 1;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static const tz_key array_options[] = {
    {"name", "text", "the field's", "files are `NAME-000100` and the format's ending"},
    {"field", "text", "the first state field", "the field, if it is not the first argument"},
    {NULL, NULL, NULL, NULL}};

/* One field and a name. */
static int output_array(lua_State *L)
{
    const char *what = called(L)->what;
    arrange(L, what);
    tz_keys_take(L, 2, what, array_options, false);
    tz_output *output = push_output(L, called(L)->format, 0);
    if (!lua_isnil(L, 1)) {
        copy_field(L, 1, what, output->fields[0], sizeof output->fields[0]);
        output->fields_count = 1;
    }
    get_name(L, 2, what, output);
    return 1;
}

/* ---- Files with a geometry ------------------------------------------------------------------- */

static const tz_key grid_options[] = {
    {"name", "text", "the stencil's",
     "files are `NAME-000100` and the format's ending, their list is `NAME` and its own"},
    {"field", "text", "the first state field", "the field, if it is not the first argument"},
    {"spacing", "number or {dx[, dy[, dz]]}", "the stencil's, in metres, else 1",
     "width of a cell"},
    {"origin", "{x[, y[, z]]}", "zeros", "the corner of the first cell of the file"},
    {"y", "text", "\"up\"",
     "%s: `\"down\"` keeps the order of the rows of a grid that a floorplan has filled "
     "([which way y is up](boundaries.md#which-way-y-is-up))",
     tz_look_y_names},
    {NULL, NULL, NULL, NULL}};

/* tz.vti { "a", "b", name = … } or tz.vti("a", { name = … }). */
static int output_grid(lua_State *L)
{
    const char *what = called(L)->what;
    arrange(L, what);
    tz_keys_take(L, 2, what, grid_options, true);
    const size_t listed = lua_rawlen(L, 2);
    if (listed > TZ_OUTPUT_FIELDS_MAX)
        tz_raise(L, "%s: more than %d fields", what, TZ_OUTPUT_FIELDS_MAX);
    tz_output *output = push_output(L, called(L)->format, 0);
    if (!lua_isnil(L, 1)) {
        if (listed > 0)
            tz_raise(L, "%s: name the fields before the options or among them, not both", what);
        copy_field(L, 1, what, output->fields[0], sizeof output->fields[0]);
        output->fields_count = 1;
    }
    for (size_t i = 0; i < listed; i++) {
        lua_rawgeti(L, 2, (lua_Integer)i + 1);
        copy_field(L, -1, what, output->fields[i], sizeof output->fields[i]);
        output->fields_count = i + 1;
        lua_pop(L, 1);
    }
    output->look.y = tz_look_y(L, 2, what);
    output->spacing_count = tz_key_vector(L, 2, what, "spacing", 0, output->spacing);
    output->origin_count = tz_key_vector(L, 2, what, "origin", -INFINITY, output->origin);
    get_name(L, 2, what, output);
    return 1;
}

/* ---- tz.table -------------------------------------------------------------------------------- */

static int compare_titles(const void *a, const void *b)
{
    return strcmp(((const tz_column *)a)->title, ((const tz_column *)b)->title);
}

static const tz_key table_options[] = {
    {"name", "text", TZ_KEY_VALUE(TZ_TABLE_STEM), "the file is `NAME.csv`"},
    {"TITLE", "function(sim)", "", "any other key: a column of the function's results"},
    {NULL, NULL, NULL, NULL}};

/* Named functions become columns after the listed ones, in alphabetical order. Counts those, and
 * into *listed the columns of the list: two for each unit of a floorplan. */
static size_t count_columns(lua_State *L, size_t *listed)
{
    static const char *const keys[] = {"name"};
    size_t count = 0;
    *listed = 0;
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        const bool named = lua_type(L, -2) == LUA_TSTRING;
        const char *key = named ? tz_text_check(L, -2, "tz.table", "key") : "";
        const lua_Integer place = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
        if (!named && (place < 1 || place > (lua_Integer)lua_rawlen(L, 1)))
            tz_raise(L, "tz.table: the list of columns has gaps");
        if (named && lua_isfunction(L, -1)) {
            count++;
        } else if (named && strcmp(key, "name") != 0) {
            char hint[128];
            tz_raise(L, "tz.table: '%.60s' must be a function(sim), not %s%s", key,
                     tz_kind_text(L, -1),
                     tz_names_nearest(key, keys, 1) ? tz_names_hint(hint, sizeof hint, key, keys, 1)
                                                    : "");
        } else if (!named && lua_type(L, -1) == LUA_TSTRING) {
            (*listed)++;
        } else if (!named && luaL_testudata(L, -1, TZ_TYPE_FLOORPLAN)) {
            *listed += 2 * tz_floorplan_check(L, -1, "tz.table")->plan.unit_count;
        } else if (!named) {
            tz_raise(L, "tz.table: a column must be a string or a floorplan, for its units, not %s",
                     tz_kind_text(L, -1));
        }
        lua_pop(L, 1);
    }
    return count;
}

static void set_title(lua_State *L, tz_column *column, const char *title)
{
    if (strlen(title) >= sizeof column->title)
        tz_raise(L, "tz.table: the column '%.40s…' is too long", title);
    *column = (tz_column){.kind = TZ_COLUMN_FUNCTION};
    snprintf(column->title, sizeof column->title, "%s", title);
}

/* Add the columns of the element on the top of the stack, from column n on. The functions of its
 * columns go to the table at index 3. Returns how many it has. */
static size_t add_listed(lua_State *L, tz_output *output, size_t n)
{
    if (lua_type(L, -1) == LUA_TSTRING) {
        const char *title = tz_text_check(L, -1, "tz.table", "column");
        if (tz_region_push_sum(L, title))
            set_title(L, &output->columns[n], title);
        else
            tz_try(L, "tz.table", tz_column_parse(title, &output->columns[n], tz_fault(L)));
        lua_rawseti(L, 3, (lua_Integer)n + 1);
        return 1;
    }
    const tz_floorplan_value *value = tz_floorplan_check(L, -1, "tz.table");
    const size_t count = value->plan.unit_count;
    for (size_t i = 0; i < 2 * count; i++) {
        char title[sizeof output->columns->title];
        tz_unit_value *unit = lua_newuserdatauv(L, sizeof *unit, 0);
        tz_floorplan_unit_get(value, i / 2, unit);
        snprintf(title, sizeof title, "%s(%s)", i % 2 ? "mean" : "max", unit->unit.name);
        set_title(L, &output->columns[n + i], title);
        tz_region_push_column(L, -1, i % 2 ? TZ_MAP_AVG : TZ_MAP_MAX);
        lua_rawseti(L, 3, (lua_Integer)(n + i) + 1);
        lua_pop(L, 1);
    }
    return 2 * count;
}

/* Add the functions of the table at index 1 as columns from column n on. */
static void add_functions(lua_State *L, tz_output *output, size_t n)
{
    size_t count = 0;
    lua_pushnil(L);
    while (n + count < output->columns_count && lua_next(L, 1) != 0) {
        if (lua_type(L, -2) == LUA_TSTRING && lua_isfunction(L, -1))
            set_title(L, &output->columns[n + count++], tz_text_check(L, -2, "tz.table", "column"));
        lua_pop(L, 1);
    }
    lua_settop(L, 3);
    qsort(output->columns + n, count, sizeof output->columns[0], compare_titles);
    for (size_t i = n; i < n + count; i++) {
        tz_table_get(L, 1, output->columns[i].title);
        lua_rawseti(L, 3, (lua_Integer)i + 1);
    }
}

static int output_table(lua_State *L)
{
    if (!lua_istable(L, 1))
        tz_raise(L, "tz.table: needs a list of columns: tz.table { \"step\", \"residual\" }");
    lua_settop(L, 1);
    tz_table_copy(L, 1, "tz.table");
    size_t listed = 0;
    const size_t functions = count_columns(L, &listed);
    if (listed + functions < 1 || listed + functions > TZ_COLUMNS_MAX)
        tz_raise(L, "tz.table: needs 1 to %d columns, not %zu", TZ_COLUMNS_MAX, listed + functions);
    tz_output *output = push_output(L, called(L)->format, listed + functions); /* index 2 */
    lua_createtable(L, (int)(listed + functions), 0);                          /* index 3 */
    for (size_t i = 0, n = 0; i < lua_rawlen(L, 1); i++) {
        if (lua_rawgeti(L, 1, (lua_Integer)i + 1) == LUA_TNIL)
            tz_raise(L, "tz.table: the list of columns has gaps");
        n += add_listed(L, output, n);
        lua_pop(L, 1);
    }
    add_functions(L, output, listed);
    lua_setiuservalue(L, 2, TZ_OUTPUT_COLUMNS);
    get_name(L, 1, "tz.table", output);
    return 1;
}

/* ---- tz.ttrace and tz.steady ----------------------------------------------------------------- */

static const tz_key units_options[] = {
    {"name", "text", TZ_KEY_VALUE(TZ_TABLE_STEM), "the file is `NAME` and the format's ending"},
    {NULL, NULL, NULL, NULL}};

/* A list of floorplans: a column for each unit. */
static int output_units(lua_State *L)
{
    const char *what = called(L)->what;
    size_t count = 0, n = 0;
    if (!lua_istable(L, 1))
        tz_raise(L, "%s: needs a list of floorplans", what);
    lua_settop(L, 1);
    tz_keys_take(L, 1, what, units_options, true);
    const lua_Integer plans = (lua_Integer)lua_rawlen(L, 1);
    for (lua_Integer i = 1; i <= plans; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, 1, i);
        count += tz_floorplan_check(L, -1, what)->plan.unit_count;
    }
    if (count < 1 || count > TZ_COLUMNS_MAX)
        tz_raise(L, "%s: needs floorplans of 1 to %d units, not %zu", what, TZ_COLUMNS_MAX, count);
    tz_output *output = push_output(L, called(L)->format, count); /* index 2 */
    lua_createtable(L, (int)count, 0);                            /* index 3 */
    for (lua_Integer i = 1; i <= plans; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, 1, i);
        const tz_floorplan_value *value = tz_floorplan_check(L, -1, what);
        const bool prefixed = output->format->table_style == TZ_TABLE_STEADY;
        for (size_t k = 0; k < value->plan.unit_count; k++, n++) {
            tz_unit_value *unit = lua_newuserdatauv(L, sizeof *unit, 0);
            tz_column *column = &output->columns[n];
            tz_floorplan_unit_get(value, k, unit);
            *column = (tz_column){.kind = TZ_COLUMN_FUNCTION};
            const int length = snprintf(column->title, sizeof column->title, "%s%s",
                                        prefixed ? value->prefix : "", unit->unit.name);
            if (length >= (int)sizeof column->title)
                tz_raise(L, "%s: the name '%.40s…' is too long", what, column->title);
            tz_region_push_column(L, -1, value->place.map);
            lua_rawseti(L, 3, (lua_Integer)n + 1);
            lua_pop(L, 1);
        }
    }
    lua_setiuservalue(L, 2, TZ_OUTPUT_COLUMNS);
    get_name(L, 1, what, output);
    return 1;
}

static int output_tostring(lua_State *L)
{
    const tz_output *output = luaL_checkudata(L, 1, TZ_TYPE_OUTPUT);
    lua_pushfstring(L, "output (%s)", output->format->name);
    return 1;
}

/* What the outputs of each content take. */
static const struct {
    lua_CFunction call;
    const char *arguments;
    const tz_key *options;
} contents[TZ_CONTENTS] = {
    [TZ_CONTENT_PICTURE] = {output_picture, "[field][, options]", picture_options},
    [TZ_CONTENT_ARRAY] = {output_array, "[field][, options]", array_options},
    [TZ_CONTENT_GRID] = {output_grid, "[field][, options]", grid_options},
    [TZ_CONTENT_TABLE] = {output_table, "columns", table_options},
    [TZ_CONTENT_MOVIE] = {output_movie, "[field][, options]", movie_options}};

/* Make a row for each format that has a function, in memory that lives as long as the state. */
static const tz_api_function *make_rows(lua_State *L)
{
    size_t count = 0, n = 0;
    while (tz_formats[count])
        count++;
    format_function *functions = lua_newuserdatauv(L, count * sizeof *functions, 0);
    luaL_ref(L, LUA_REGISTRYINDEX);
    tz_api_function *rows = lua_newuserdatauv(L, (count + 1) * sizeof *rows, 0);
    luaL_ref(L, LUA_REGISTRYINDEX);
    memset(rows, 0, (count + 1) * sizeof *rows);
    for (const tz_format *const *f = tz_formats; *f; f++) {
        if (!(*f)->doc)
            continue;
        format_function *made = &functions[n];
        const bool units = (*f)->table_style != TZ_TABLE_CSV;
        made->format = *f;
        snprintf(made->what, sizeof made->what, "tz.%s", (*f)->name);
        snprintf(made->signature, sizeof made->signature, "%s(%s)", made->what,
                 units ? "floorplans" : contents[(*f)->content].arguments);
        rows[n++] =
            (tz_api_function){.signature = made->signature,
                              .call = units ? output_units : contents[(*f)->content].call,
                              .doc = (*f)->doc,
                              .options = units ? units_options : contents[(*f)->content].options,
                              .data = made};
    }
    return rows;
}

void tz_output_register(lua_State *L)
{
    tz_api_add(L, make_rows(L));
}

static const luaL_Reg output_events[] = {{"__tostring", output_tostring}, {NULL, NULL}};
const tz_api_class tz_output_class = {.type = TZ_TYPE_OUTPUT, .events = output_events};

/* ---- tz.picture ------------------------------------------------------------------------------ */

static const char drawing[] = "tz.picture";

/* Fill the placeholders of a caption for the simulation on the top of the stack. */
static void fill_caption(lua_State *L, tz_look *look)
{
    const tz_simulation_handle *handle = tz_handle_check(L, -1, drawing);
    char filled[TZ_CAPTION_SIZE];
    if (tz_caption_has(look->caption, "time") && !tz_simulation_time_step(handle->simulation))
        tz_raise(L, "%s: {time} in a caption needs a time step, and %s has none", drawing,
                 tz_handle_stencil(handle)->id);
    lua_getfield(L, 1, "field");
    const int field = tz_handle_field(L, -1, handle, drawing);
    lua_pop(L, 1);
    tz_caption_fill(filled, look->caption, handle->simulation,
                    tz_handle_stencil(handle)->fields[field].name, handle->name);
    memcpy(look->caption, filled, sizeof filled);
}

/* An array has no step and no time. */
static void forbid_placeholders(lua_State *L, tz_look *look)
{
    char filled[TZ_CAPTION_SIZE];
    tz_try(L, drawing, tz_caption_fill_none(filled, look->caption, tz_fault(L)));
    memcpy(look->caption, filled, sizeof filled);
}

/* The arguments of tz.picture. */
typedef struct request {
    const char *file;
    tz_look look;
    tz_slice slice; /* at -1: all of 3-D data, as a montage */
    const tz_array_handle *data;
    double spacing[TZ_AXES]; /* of the simulation that is drawn */
    const char *unit;        /* NULL: not known */
    bool y_up, rows_up;      /* of that simulation */
} request;

/* The array of data = array, or of data = sim and field = name. Leaves its handle on the top. */
static const tz_array_handle *get_data(lua_State *L, request *r)
{
    tz_look *look = &r->look;
    tz_table_get(L, 1, "data");
    if (luaL_testudata(L, -1, TZ_TYPE_SIMULATION)) {
        fill_caption(L, look);
        const tz_simulation *simulation = tz_handle_check(L, -1, drawing)->simulation;
        tz_simulation_spacing(simulation, r->spacing);
        r->unit = tz_simulation_spacing_unit(simulation);
        r->y_up = tz_simulation_y_up(simulation);
        r->rows_up = tz_simulation_rows_up(simulation);
        if (tz_table_get(L, 1, "outline") != LUA_TNIL)
            tz_floorplan_check_chip(L, -1, tz_handle_check(L, -2, drawing), drawing);
        lua_pop(L, 1);
        lua_getfield(L, -1, "array");
        lua_insert(L, -2);
        tz_table_get(L, 1, "field");
        lua_call(L, 2, 1);
    } else if (lua_isnil(L, -1)) {
        tz_raise(L, "%s: 'data' is missing: an array or a simulation", drawing);
    } else {
        forbid_placeholders(L, look);
        if (tz_table_get(L, 1, "field") != LUA_TNIL)
            tz_raise(L, "%s: 'field' goes with a simulation as 'data'", drawing);
        lua_pop(L, 1);
    }
    return tz_array_check(L, -1, "tz.picture: 'data'");
}

static void set_range(tz_look *look, const tz_array *array)
{
    if (look->range == TZ_RANGE_FIXED)
        return;
    const tz_range range = tz_range_of(array);
    tz_look_take_range(look, range.lo, range.hi);
}

static const tz_key drawing_options[] = {
    {.all = tz_look_options},
    {"caption", "text", "\"\"",
     "a line above; of a simulation, words in braces are filled in (see Captions)"},
    {"data", "array or simulation", NULL, "what is drawn"},
    {"field", "text", "the stencil's picture", "of a simulation: the field"},
    {"file", "text", NULL,
     "a name in the run folder that ends with `.png`, `.svg` (cells as pixels, all else as "
     "vectors) or `.pdf` (made of that by rsvg-convert, inkscape or cairosvg)"},
    {"slice", "integer or table", "",
     "of 3-D data: only the plane z, or `{ x = 3 }` or `{ y = 3 }`, across which z points up",
     .most = INFINITY},
    {"montage", "boolean or text", "without `slice`",
     "of 3-D data: all planes side by side; %s: those across that axis", tz_look_montage_names},
    {NULL, NULL, NULL, NULL}};

/* Read the table at index 1. Leaves on the stack what the request borrows. */
static void get_request(lua_State *L, request *r)
{
    tz_options_take(L, drawing, drawing_options, "tz.picture { data = …, file = \"NAME.png\" }");
    *r = (request){.look = {.bits = 8}, .slice = {.axis = 2, .at = -1}};
    tz_look_get(L, 1, drawing, &r->look);
    if (r->look.told)
        tz_raise(L, "%s: 'caption' must be a text: call the function for it", drawing);
    r->file = tz_key_file(L, 1, drawing, NULL);
    r->data = get_data(L, r);
    const tz_array *array = &r->data->view;
    const bool sliced = tz_look_slice(L, 1, drawing, &r->slice);
    const bool montage = tz_look_montage(L, 1, drawing, &r->slice.axis);
    if (montage && sliced)
        tz_raise(L, "%s: give 'slice' or 'montage', not both", drawing);
    if ((sliced || montage) && array->dims < 3)
        tz_raise(L, "%s: '%s' is for 3-D data", drawing, sliced ? "slice" : "montage");
    if (sliced && r->slice.at >= array->shape[r->slice.axis])
        tz_raise(L, "%s: slice %lld is outside the data (%c is 0 to %lld)", drawing,
                 (long long)r->slice.at, "xyz"[r->slice.axis],
                 (long long)array -> shape[r->slice.axis] - 1);
    if (r->look.overlay.outlines_count > 0 && r->slice.axis != 2)
        tz_raise(L, "%s: 'outline' is for slices across z, not across %c", drawing,
                 "xyz"[r->slice.axis]);
    if (r->look.isometric && (array->dims < 3 || sliced || montage))
        tz_raise(L, "%s: 'view' is for 3-D data, without 'slice' and 'montage'", drawing);
    tz_try(L, drawing, tz_look_check_region(&r->look, array->dims, array->shape, tz_fault(L)));
    if (r->look.regions_count > 1)
        tz_raise(L, "%s: a list of regions is for films and series; a picture has one", drawing);
    if (r->look.axes && array->dims == 3 && !sliced)
        tz_raise(L, "%s: 'axes' is for one plane: give 'slice'", drawing);
    if (r->look.spacing_count > 1 && r->look.spacing_count != array->dims)
        tz_raise(L, "%s: 'spacing' of the axes has %d numbers, the data %d ax%s", drawing,
                 r->look.spacing_count, array->dims, array->dims == 1 ? "is" : "es");
    tz_look_path(L, 1, drawing, &r->look);
    if (r->look.overlay.path_count > 0 && array->dims != 2)
        tz_raise(L, "%s: 'path' is for 2-D data", drawing);
    tz_try(L, drawing,
           tz_overlay_check_path(&r->look.overlay, array->shape[0], array->shape[1], tz_fault(L)));
    if (!r->look.map[0])
        snprintf(r->look.map, sizeof r->look.map, "viridis");
}

static int picture(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    tz_frame *frame = NULL;
    request r;
    get_request(L, &r);
    if (context->options->check) {
        tz_context_print(context, "  writes %s\n", r.file);
        return 0;
    }
    set_range(&r.look, &r.data->view);
    tz_status status = tz_frame_create(&frame, &r.look, tz_fault(L));
    const tz_format *format = tz_format_of_file(r.file, TZ_TO_DRAW);
    if (status == TZ_OK && format->check)
        status = format->check(format, tz_fault(L));
    if (status == TZ_OK) {
        frame->draw = format->draw;
        frame->vectors = format->vectors;
    }
    if (status == TZ_OK)
        status = tz_handle_open_file(context, r.file, frame->path, sizeof frame->path, tz_fault(L));
    if (status == TZ_OK)
        status = tz_frame_read_array(frame, &r.data->view, r.slice, tz_fault(L));
    if (status != TZ_OK) {
        tz_frame_destroy(frame);
        tz_raise_error(L, drawing, tz_fault(L));
    }
    const int dims = r.data->view.dims;
    tz_frame_set_axes(frame, dims, r.data->view.shape, r.slice.axis, r.spacing, r.unit,
                      tz_frame_turn(frame, dims, r.rows_up, r.y_up));
    tz_frame_note(frame, "Software", "Trapeze %s", TZ_VERSION);
    tz_frame_note(frame, "Scenario", "%s", context->name);
    tz_frame_note(frame, "Source", "%s", r.data->source);
    tz_frame_note_look(frame);
    tz_try(L, drawing, tz_run_files_draw(&context->files, frame, tz_fault(L)));
    tz_record_file(context->files.record, r.file);
    return 0;
}

const tz_api_function tz_picture_functions[] = {
    TZ_API("tz.picture(options)", picture, "Writes one picture of an array or of a simulation now.",
           .options = drawing_options, .recall = TZ_RECALL_GIVE),
    TZ_API_END};
