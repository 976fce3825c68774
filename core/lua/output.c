/* Descriptions are checked here as far as that is possible without a simulation; sim:every and
 * sim:write check the rest (tz_output_check). */
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

/* Push a userdata for an output with that many columns. */
static tz_output *push_output(lua_State *L, tz_output_kind kind, size_t columns)
{
    tz_output *output = lua_newuserdatauv(L, sizeof *output + columns * sizeof output->columns[0],
                                          TZ_OUTPUT_VALUES);
    memset(output, 0, sizeof *output);
    output->kind = kind;
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

static const tz_key png_options[] = {
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
    {"name", "text", "the field's", "files are `NAME-000100.png`; a table is `NAME.csv`"},
    {NULL, NULL, NULL, NULL}};

/* Push a picture or movie with the options at index 2. */
static tz_output *push_picture(lua_State *L, tz_output_kind kind, const tz_key *options,
                               const char *what)
{
    arrange(L, what);
    tz_keys_take(L, 2, what, options, false);
    tz_output *output = push_output(L, kind, 0);
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

static int output_png(lua_State *L)
{
    push_picture(L, TZ_OUTPUT_PNG, png_options, "tz.png");
    return 1;
}

/* ---- tz.movie -------------------------------------------------------------------------------- */

static const char *video_suffixes(int i)
{
    return i + 1 < TZ_MOVIE_FORMATS ? tz_movie_suffix((tz_movie_format)(i + 1)) : NULL;
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
    char *end = strrchr(output->name, '.');
    for (int k = 0; end && k < TZ_MOVIE_FORMATS; k++)
        if (strcmp(end, tz_movie_suffix((tz_movie_format)k)) == 0) {
            output->format = (tz_movie_format)k;
            *end = '\0';
            return;
        }
}

static int output_movie(lua_State *L)
{
    const char *what = "tz.movie";
    tz_output *output = push_picture(L, TZ_OUTPUT_MOVIE, movie_options, what);
    tz_key_number(L, 2, what, "fps", &output->fps);
    if (output->look.bits == 16)
        tz_raise(L, "%s: a movie is in colours: 'bits' must be 8", what);
    take_format(output);
    return 1;
}

/* ---- tz.npy, tz.rle -------------------------------------------------------------------------- */

static const tz_key array_options[] = {
    {"name", "text", "the field's", "files are `NAME-000100.png`; a table is `NAME.csv`"},
    {"field", "text", "the first state field", "the field, if it is not the first argument"},
    {NULL, NULL, NULL, NULL}};

/* tz.npy and tz.rle: one field and a name. */
static int output_array(lua_State *L, tz_output_kind kind, const char *what)
{
    arrange(L, what);
    tz_keys_take(L, 2, what, array_options, false);
    tz_output *output = push_output(L, kind, 0);
    if (!lua_isnil(L, 1)) {
        copy_field(L, 1, what, output->fields[0], sizeof output->fields[0]);
        output->fields_count = 1;
    }
    get_name(L, 2, what, output);
    return 1;
}

static int output_npy(lua_State *L)
{
    return output_array(L, TZ_OUTPUT_NPY, "tz.npy");
}

static int output_rle(lua_State *L)
{
    return output_array(L, TZ_OUTPUT_RLE, "tz.rle");
}

/* ---- tz.vti, tz.xdmf, tz.hdf5 ---------------------------------------------------------------- */

static const tz_key grid_options[] = {
    {"name", "text", "the stencil's",
     "files are `NAME-000100.vti`, `.raw` or `.h5`, their list is `NAME.pvd` or `.xdmf`"},
    {"field", "text", "the first state field", "the field, if it is not the first argument"},
    {"spacing", "number or {dx[, dy[, dz]]}", "the stencil's, in metres, else 1",
     "width of a cell"},
    {"origin", "{x[, y[, z]]}", "zeros", "the corner of the first cell of the file"},
    {"y", "text", "\"up\" of a chip with a floorplan, else \"down\"",
     "%s: the file begins with the grid's row 0 or, as the y axis of viewers points up, with the "
     "last "
     "row, which is a chip's lower edge",
     tz_y_names},
    {NULL, NULL, NULL, NULL}};

/* tz.vti { "a", "b", name = … } or tz.vti("a", { name = … }). */
static int output_grid(lua_State *L, tz_output_kind kind, const char *what)
{
    arrange(L, what);
    tz_keys_take(L, 2, what, grid_options, true);
    const size_t listed = lua_rawlen(L, 2);
    if (listed > TZ_OUTPUT_FIELDS_MAX)
        tz_raise(L, "%s: more than %d fields", what, TZ_OUTPUT_FIELDS_MAX);
    tz_output *output = push_output(L, kind, 0);
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

static int output_vti(lua_State *L)
{
    return output_grid(L, TZ_OUTPUT_VTI, "tz.vti");
}

static int output_xdmf(lua_State *L)
{
    return output_grid(L, TZ_OUTPUT_XDMF, "tz.xdmf");
}

static int output_hdf5(lua_State *L)
{
    return output_grid(L, TZ_OUTPUT_HDF5, "tz.hdf5");
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
    tz_output *output = push_output(L, TZ_OUTPUT_TABLE, listed + functions); /* index 2 */
    lua_createtable(L, (int)(listed + functions), 0);                        /* index 3 */
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
    lua_pushfstring(L, "output (%s)", tz_output_kind_name(output->kind));
    return 1;
}

void tz_output_register(lua_State *L)
{
    static const tz_api_function none[] = {TZ_API_END};
    static const tz_api_function functions[] = {
        TZ_API("tz.png([field][, options])", output_png,
               "A picture of a field, for `sim:every` and `sim:write`.", .options = png_options),
        TZ_API(
            "tz.movie([field][, options])", output_movie,
            "A movie of a field, for `sim:every`: an animated PNG, `NAME.png`, which browsers "
            "play. It grows while the run goes on, and can be played at any time, also after the "
            "run was killed. All frames have the range of the first one, unless the option or "
            "the stencil gives it; a warning tells when values leave it. A run that goes on from "
            "a checkpoint goes on with the movie. A video, `name = \"heat.mp4\"`, is made by the "
            "program ffmpeg, which `trapeze doctor` looks for, and completed also if the run is "
            "killed; a run that goes on makes a new one, with the number of its first frame in "
            "its name.",
            .options = movie_options),
        TZ_API("tz.npy([field][, options])", output_npy,
               "The field as a NumPy array, with the values' type.", .options = array_options),
        TZ_API("tz.rle([field][, options])", output_rle,
               "A 1-D or 2-D field of bits or integers as a Life pattern, with its rule.",
               .options = array_options),
        TZ_API("tz.vti([field][, options])", output_vti,
               "One field, or several, `tz.vti { \"a\", \"b\" }`, as a VTK image for ParaView. "
               "Opening `NAME.pvd` shows the whole run, also while it goes on.",
               .options = grid_options),
        TZ_API("tz.xdmf([field][, options])", output_xdmf,
               "The same as bare numbers, `NAME-000100.raw`, which `NAME.xdmf` describes.",
               .options = grid_options),
        TZ_API("tz.hdf5([field][, options])", output_hdf5,
               "The same as `NAME-000100.h5`: a dataset for each field, with attributes `step`, "
               "`time`, `time_unit`, `spacing` and `origin` of the file. ParaView opens "
               "`NAME.xdmf`. Needs libhdf5, which `trapeze doctor` looks for.",
               .options = grid_options),
        TZ_API("tz.table(columns)", output_table,
               "A CSV file with a line for each call. Columns are a list of titles (see Columns), "
               "floorplans (maximum and mean of each unit) and functions.",
               .options = table_options),
        TZ_API_END};
    tz_metatable_create(L, TZ_TYPE_OUTPUT, none, NULL, NULL, output_tostring);
    tz_api_add(L, functions);
}
