/* The functions tz.NAME of formats. Descriptions are checked here as far as that is possible
 * without a simulation; sim:every and sim:write check the rest (tz_output_check). */
#include "lua/output.h"

#include "base/names.h"
#include "lua/api.h"
#include "lua/floorplan.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "lua/push.h"
#include "lua/region.h"
#include "output/folder.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void get_name(lua_State *L, int index, const char *what, tz_output *output)
{
    tz_error error;
    if (tz_key_copy(L, index, what, "name", output->name, sizeof output->name) &&
        tz_folder_check_name(output->name, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
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

static const tz_key picture_options[] = {
    TZ_LOOK_OPTIONS,
    {"caption", "text or function(sim)", "\"\"",
     "a line above; words in braces are filled in (see Captions); a function returns one for each "
     "picture"},
    {"field", "text", "the stencil's picture", "the field, if it is not the first argument"},
    {"slice", "integer or table", "",
     "of 3-D fields: only the plane z, or `{ x = 3 }` or `{ y = 3 }`, across which z points up",
     .most = INFINITY},
    {"montage", "boolean or text", "without `slice`",
     "of 3-D fields: all planes side by side; %s: those across that axis", tz_montage_names},
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
    output->has_slice = tz_slice_get(L, 2, what, &output->slice);
    const bool montage = tz_montage_get(L, 2, what, &output->slice.axis);
    if (montage && output->has_slice)
        tz_raise(L, "%s: give 'slice' or 'montage', not both", what);
    if (output->look.isometric && (output->has_slice || output->slice.axis != 2 || montage))
        tz_raise(L, "%s: a view has no 'slice' and no 'montage'", what);
    get_name(L, 2, what, output);
    tz_path_get(L, 2, what, &output->look);
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

/* The suffixes of videos: those of movies but for that of tz.movie itself. */
static const char *video_suffixes(int i)
{
    for (const tz_format *const *f = tz_formats; *f; f++)
        if ((*f)->content == TZ_CONTENT_MOVIE && !(*f)->doc && i-- == 0)
            return (*f)->suffix;
    return NULL;
}

static const tz_key movie_options[] = {
    TZ_LOOK_OPTIONS,
    {"caption", "text or function(sim)", "\"\"",
     "a line above; words in braces are filled in (see Captions); a function returns one for each "
     "picture"},
    {"fps", "number", "25", "frames per second", .least = 0.1, .most = 100},
    {"field", "text", "the stencil's picture", "the field, if it is not the first argument"},
    {"slice", "integer or table", "",
     "of 3-D fields: only the plane z, or `{ x = 3 }` or `{ y = 3 }`, across which z points up",
     .most = INFINITY},
    {"montage", "boolean or text", "without `slice`",
     "of 3-D fields: all planes side by side; %s: those across that axis", tz_montage_names},
    {"name", "text", "the field's",
     "the file is `NAME.png`; a name that ends with %s makes a video", video_suffixes},
    {NULL, NULL, NULL, NULL}};

/* The end of the name is the format. */
static void take_format(tz_output *output)
{
    const tz_format *format = tz_format_of_file(output->name, TZ_TO_FILM);
    if (!format)
        return;
    output->format = format;
    *strrchr(output->name, '.') = '\0';
}

static int output_movie(lua_State *L)
{
    const char *what = called(L)->what;
    tz_output *output = push_picture(L, movie_options);
    tz_key_number(L, 2, what, "fps", &output->fps);
    if (output->look.bits == 16)
        tz_raise(L, "%s: a movie is in colours: 'bits' must be 8", what);
    take_format(output);
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
    {"y", "text", "\"up\" of a chip with a floorplan, else \"down\"",
     "%s: the file begins with the grid's row 0 or, as the y axis of viewers points up, with the "
     "last row, which is a chip's lower edge",
     tz_y_names},
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
    output->look.y = tz_y_get(L, 2, what);
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
            tz_raise(L,
                     "tz.table: a column must be a string such as \"max(temperature)\", or a "
                     "floorplan for its units, not %s",
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
    tz_error error;
    if (lua_type(L, -1) == LUA_TSTRING) {
        if (tz_column_parse(tz_text_check(L, -1, "tz.table", "column"), &output->columns[n],
                            &error) != TZ_OK)
            tz_raise_error(L, "tz.table", &error);
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
        tz_region_push_column(L, -1, i % 2);
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
    const size_t elements = lua_rawlen(L, 1);
    for (size_t i = 0, n = 0; i < elements; i++) {
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
        made->format = *f;
        snprintf(made->what, sizeof made->what, "tz.%s", (*f)->name);
        snprintf(made->signature, sizeof made->signature, "%s(%s)", made->what,
                 contents[(*f)->content].arguments);
        rows[n++] = (tz_api_function){.signature = made->signature,
                                      .call = contents[(*f)->content].call,
                                      .doc = (*f)->doc,
                                      .options = contents[(*f)->content].options,
                                      .data = made};
    }
    return rows;
}

void tz_output_register(lua_State *L)
{
    static const tz_api_function none[] = {TZ_API_END};
    tz_metatable_create(L, TZ_TYPE_OUTPUT, none, NULL, NULL, output_tostring);
    tz_api_add(L, make_rows(L));
}
