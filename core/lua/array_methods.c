/* Arrays of scripts: in memory (tz.array), from files (tz.read), and their methods; tz.random.
 * module.c registers them. */
#include "base/number.h"
#include "lua/api.h"
#include "lua/array.h"
#include "lua/guard.h"
#include "lua/handle.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "output/format/format.h"
#include "stencil/streamed_source.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Elements -------------------------------------------------------------------------------- */

tz_array_handle *tz_array_push(lua_State *L, const char *source)
{
    tz_array_handle *handle = lua_newuserdatauv(L, sizeof *handle, 0);
    memset(handle, 0, sizeof *handle);
    snprintf(handle->source, sizeof handle->source, "%s", source);
    luaL_setmetatable(L, TZ_TYPE_ARRAY);
    handle->memory = calloc(1, sizeof *handle->memory);
    if (!handle->memory)
        tz_raise(L, "not enough memory for an array");
    handle->memory->users = 1;
    return handle;
}

void tz_array_own(tz_array_handle *handle, tz_array *array)
{
    handle->memory->owned = array;
    handle->view = *array;
}

tz_array_memory *tz_array_memory_share(tz_array_memory *memory)
{
    if (memory)
        memory->users++;
    return memory;
}

void tz_array_memory_release(tz_array_memory *memory)
{
    if (!memory || --memory->users > 0)
        return;
    tz_array_destroy(memory->owned);
    tz_npy_unmap(&memory->map);
    tz_npy_close(memory->file);
    free(memory);
}

tz_array_handle *tz_array_check_open(lua_State *L, int index, const char *what)
{
    tz_array_handle *handle = luaL_testudata(L, index, TZ_TYPE_ARRAY);
    if (!handle)
        tz_raise(L, "%s: needs an array (tz.read, tz.array or sim:array), not %s", what,
                 tz_kind_text(L, index));
    if (!handle->memory)
        tz_raise(L, "%s: the array (%.200s) is closed", what, handle->source);
    return handle;
}

tz_array_handle *tz_array_check(lua_State *L, int index, const char *what)
{
    tz_array_handle *handle = tz_array_check_open(L, index, what);
    tz_array_memory *memory = handle->memory;
    tz_array *array = NULL;
    if (handle->view.data)
        return handle;
    tz_status status = tz_npy_map(memory->file, &memory->map, tz_fault(L));
    if (status == TZ_OK)
        handle->view.data = (void *)memory->map.data;
    else if (status == TZ_UNSUPPORTED)
        status = tz_npy_read_all(memory->file, &array, tz_fault(L));
    tz_try(L, what, status);
    if (array) {
        tz_array_own(handle, array);
        tz_npy_close(memory->file);
        memory->file = NULL;
    }
    return handle;
}

void tz_array_check_at(lua_State *L, const tz_array_handle *handle, int dims, const char *what)
{
    if (handle->at_axes > 0 && handle->at_axes != dims)
        tz_raise(L, "%s: 'at' of %.250s has %d number%s, the grid %d axes", what, handle->source,
                 handle->at_axes, handle->at_axes == 1 ? "" : "s", dims);
}

/* ---- Methods --------------------------------------------------------------------------------- */

static void release(tz_array_handle *handle)
{
    tz_array_memory_release(handle->memory);
    handle->memory = NULL;
    handle->view.data = NULL;
}

static int array_close(lua_State *L)
{
    tz_array_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_ARRAY);
    if (tz_guard_in_use(L, handle))
        tz_raise(L, "array:close: a function that uses the array (%.200s) has not returned",
                 handle->source);
    release(handle);
    return 0;
}

static int array_gc(lua_State *L)
{
    release(luaL_checkudata(L, 1, TZ_TYPE_ARRAY));
    return 0;
}

/* The flat index of 0-based coordinates at stack indices 2… */
static int64_t element_index(lua_State *L, const tz_array *array, const char *what, int given)
{
    static const char *const names[] = {"x", "y", "z"};
    if (given != array->dims)
        tz_raise(L, "%s: needs %d coordinate%s, not %d", what, array->dims,
                 array->dims > 1 ? "s" : "", given);
    int64_t at = 0;
    for (int axis = array->dims - 1; axis >= 0; axis--)
        at = at * array->shape[axis] +
             tz_integer_check(L, 2 + axis, what, names[axis], 0, array->shape[axis] - 1);
    return at;
}

static void push_element(lua_State *L, const tz_array *array, int64_t i, const char *what)
{
    int64_t value;
    if (array->dtype == TZ_DTYPE_F32 || array->dtype == TZ_DTYPE_F64)
        lua_pushnumber(L, tz_array_get(array, i));
    else if (tz_array_get_integer(array, i, &value))
        lua_pushinteger(L, value);
    else
        tz_raise(L, "%s: the element is %llu; Lua's integers end at %lld", what,
                 ((const unsigned long long *)array->data)[i], (long long)INT64_MAX);
}

static int array_get(lua_State *L)
{
    const tz_array *array = &tz_array_check(L, 1, "array:get")->view;
    const int64_t i = element_index(L, array, "array:get", lua_gettop(L) - 1);
    push_element(L, array, i, "array:get");
    return 1;
}

static noreturn void refuse_number(lua_State *L, const tz_array *array, double value,
                                   const char *what)
{
    char number[TZ_NUMBER_SIZE];
    tz_raise(L, "%s: %s is not a number of type %s: it %s", what, tz_number_format(number, value),
             tz_dtype_name(array->dtype), tz_dtype_fault(array->dtype, value));
}

/* Store the number at a stack index. Raises when the element type cannot hold it. */
static void store(lua_State *L, tz_array *array, int64_t i, int index, const char *what)
{
    if (lua_type(L, index) == LUA_TBOOLEAN) {
        tz_array_set(array, i, lua_toboolean(L, index));
        return;
    }
    if (lua_type(L, index) != LUA_TNUMBER)
        tz_raise(L, "%s: an element must be a number, not %s", what, tz_kind_text(L, index));
    const double value = lua_tonumber(L, index);
    if (lua_isinteger(L, index) && array->dtype == TZ_DTYPE_I64)
        ((int64_t *)array->data)[i] = lua_tointeger(L, index);
    else if (lua_isinteger(L, index) && array->dtype == TZ_DTYPE_U64 && value >= 0)
        ((uint64_t *)array->data)[i] = (uint64_t)lua_tointeger(L, index);
    else if (tz_dtype_fault(array->dtype, value))
        refuse_number(L, array, value, what);
    else
        tz_array_set(array, i, value);
}

static tz_array *check_writable(lua_State *L, const char *what)
{
    tz_array_handle *handle = tz_array_check_open(L, 1, what);
    if (!handle->memory->owned || handle->memory->users > 1)
        tz_raise(L, "%s: the array (%.200s) is read-only: it is a large file or feeds a simulation",
                 what, handle->source);
    return &handle->view;
}

static int array_set(lua_State *L)
{
    tz_array *array = check_writable(L, "array:set");
    const int64_t i = element_index(L, array, "array:set", lua_gettop(L) - 2);
    store(L, array, i, lua_gettop(L), "array:set");
    return 0;
}

/* array:min and array:max: the data of a row is its name. */
static int array_extreme(lua_State *L)
{
    const char *what = tz_api_data(L);
    const tz_array *array = &tz_array_check(L, 1, what)->view;
    push_element(L, array, tz_array_extreme(array, strcmp(what, "array:max") == 0), what);
    return 1;
}

static int array_sum(lua_State *L)
{
    const tz_array *array = &tz_array_check(L, 1, "array:sum")->view;
    const int64_t count = tz_shape_count(array->dims, array->shape);
    int64_t exact;
    if (array->dtype != TZ_DTYPE_F32 && array->dtype != TZ_DTYPE_F64) {
        if (!tz_array_sum_integer(array, &exact))
            tz_raise(L, "array:sum: the sum does not fit an integer of 64 bits");
        lua_pushinteger(L, exact);
        return 1;
    }
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += tz_array_get(array, i);
    lua_pushnumber(L, sum);
    return 1;
}

static const tz_format *find_format(lua_State *L, const char *name)
{
    char endings[256];
    const tz_format *format = tz_format_of_file(name, TZ_TO_SAVE);
    if (!format)
        tz_raise(L, "array:save: '%.100s' must end in %s", name,
                 tz_format_endings(TZ_TO_SAVE, 0, endings));
    return format;
}

/* array:save(name): a file in the run folder. */
static int array_save(lua_State *L)
{
    const tz_array_handle *handle = tz_array_check(L, 1, "array:save");
    const char *name = tz_text_check(L, 2, "array:save", "name");
    tz_context *context = tz_context_get(L);
    const tz_format *format = find_format(L, name);
    if (tz_folder_check_name(name, tz_fault(L)) != TZ_OK ||
        (format->check && format->check(format, tz_fault(L)) != TZ_OK))
        tz_raise_error(L, "array:save", tz_fault(L));
    if (context->options->check) {
        tz_context_print(context, "  writes %s\n", name);
        return 0;
    }
    char path[PATH_MAX], data[256] = "";
    tz_status status = tz_handle_open_file(context, name, path, sizeof path, tz_fault(L));
    if (status == TZ_OK)
        status = tz_format_save(format, path, &handle->view, "data",
                                handle->rule[0] ? handle->rule : NULL, data, tz_fault(L));
    if (data[0])
        tz_record_file(context->files.record, data);
    tz_try(L, "array:save", status);
    tz_record_file(context->files.record, name);
    return 0;
}

#define OF_ARRAY(name, expression) TZ_GETTER(array_##name, void, tz_array_handle, expression)
OF_ARRAY(shape, tz_cell_integers(r->view.dims, r->view.shape));
OF_ARRAY(dims, tz_cell_integer(r->view.dims));
OF_ARRAY(dtype, tz_cell_text(tz_dtype_name(r->view.dtype)));
OF_ARRAY(count, tz_cell_integer(tz_shape_count(r->view.dims, r->view.shape)));
OF_ARRAY(rule, tz_cell_text(r->rule[0] ? r->rule : NULL));
OF_ARRAY(generation, tz_cell_integer(r->generation));

static const tz_sheet_column array_members[] = {
    {.key = "shape", .get = array_shape},           {.key = "dims", .get = array_dims},
    {.key = "dtype", .get = array_dtype},           TZ_MEMBER("source", tz_array_handle, source),
    {.key = "count", .get = array_count},           {.key = "rule", .get = array_rule},
    {.key = "generation", .get = array_generation}, {.key = NULL}};

static void check_member(lua_State *L, const char *key)
{
    if (strcmp(key, "source") != 0) /* which a closed one has, too */
        tz_array_check_open(L, 1, "array");
}

/* array[i], from 1. */
static void push_at(lua_State *L)
{
    const tz_array *array = &tz_array_check(L, 1, "array")->view;
    const int64_t count = tz_shape_count(array->dims, array->shape);
    if (lua_tointeger(L, 2) == count + 1) /* where ipairs() ends */
        lua_pushnil(L);
    else
        push_element(L, array, tz_integer_check(L, 2, "array[i]", "i", 1, count) - 1, "array[i]");
}

static int array_set_at(lua_State *L)
{
    tz_array *array = check_writable(L, "array[i] = value");
    if (lua_type(L, 2) != LUA_TNUMBER)
        tz_raise(L, "array[i] = value: 'i' must be a number from 1, not %s", tz_kind_text(L, 2));
    const int64_t count = tz_shape_count(array->dims, array->shape);
    store(L, array, tz_integer_check(L, 2, "array[i] = value", "i", 1, count) - 1, 3,
          "array[i] = value");
    return 0;
}

static int array_length(lua_State *L)
{
    const tz_array *array = &tz_array_check_open(L, 1, "#")->view;
    lua_pushinteger(L, tz_shape_count(array->dims, array->shape));
    return 1;
}

static int array_tostring(lua_State *L)
{
    const tz_array_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_ARRAY);
    const tz_array *array = &handle->view;
    if (!handle->memory) {
        lua_pushfstring(L, "array (%s, closed)", handle->source);
        return 1;
    }
    char shape[TZ_SHAPE_TEXT_SIZE];
    lua_pushfstring(L, "array (%s, %s, %s)", tz_shape_text(shape, array->dims, array->shape),
                    tz_dtype_name(array->dtype), handle->source);
    return 1;
}

/* ---- tz.array -------------------------------------------------------------------------------- */

static void fill_from_function(lua_State *L, tz_array *array, int function)
{
    int64_t i = 0;
    for (int64_t z = 0; z < array->shape[2]; z++)
        for (int64_t y = 0; y < array->shape[1]; y++)
            for (int64_t x = 0; x < array->shape[0]; x++, i++) {
                lua_pushvalue(L, function);
                lua_pushinteger(L, x);
                lua_pushinteger(L, y);
                lua_pushinteger(L, z);
                lua_call(L, 3, 1);
                store(L, array, i, -1, "tz.array: 'fill'");
                lua_pop(L, 1);
            }
}

/* The extents of a table: of tables of tables, the innermost one along x. Raises if they are more
 * than three axes. */
static int table_shape(lua_State *L, int table, const char *what, int64_t shape[TZ_AXES])
{
    int64_t found[TZ_AXES + 1];
    int dims = 0;
    lua_pushvalue(L, table);
    while (lua_istable(L, -1)) {
        found[dims] = (int64_t)lua_rawlen(L, -1);
        if (++dims > TZ_AXES)
            tz_raise(L, "%s has tables in tables in tables in tables: an array has at most 3 axes",
                     what);
        lua_rawgeti(L, -1, 1);
        lua_remove(L, -2);
    }
    lua_pop(L, 1);
    for (int axis = 0; axis < TZ_AXES; axis++)
        shape[axis] = axis < dims ? found[dims - 1 - axis] : 1;
    return dims;
}

/* Store the numbers of the table on the top of the stack, which has `depth` axes. */
static void fill_from_tables(lua_State *L, tz_array *array, int depth, const int64_t *shape,
                             int64_t *next, const char *what)
{
    const int64_t count = (int64_t)lua_rawlen(L, -1);
    if (count != shape[depth - 1])
        tz_raise(L, "%s: a table along %c holds %lld, the first one %lld", what, "xyz"[depth - 1],
                 (long long)count, (long long)shape[depth - 1]);
    for (int64_t i = 0; i < count; i++) {
        lua_rawgeti(L, -1, i + 1);
        if (depth == 1)
            store(L, array, (*next)++, -1, what);
        else if (lua_istable(L, -1))
            fill_from_tables(L, array, depth - 1, shape, next, what);
        else
            tz_raise(L, "%s: holds %s between tables", what, tz_kind_text(L, -1));
        lua_pop(L, 1);
    }
}

static void fill_from_list(lua_State *L, tz_array *array, int list)
{
    static const char what[] = "tz.array: 'data'";
    int64_t shape[TZ_AXES], next = 0;
    char has[TZ_SHAPE_TEXT_SIZE], needs[TZ_SHAPE_TEXT_SIZE];
    const int64_t count = tz_shape_count(array->dims, array->shape);
    const int dims = table_shape(L, list, what, shape);
    if (dims == 1 && shape[0] != count)
        tz_raise(L, "%s holds %lld numbers, the shape needs %lld", what, (long long)shape[0],
                 (long long)count);
    if (dims > 1 && (dims != array->dims || memcmp(shape, array->shape, sizeof shape) != 0))
        tz_raise(L, "%s holds %s numbers, the shape needs %s: the innermost tables lie along x",
                 what, tz_shape_text(has, dims, shape),
                 tz_shape_text(needs, array->dims, array->shape));
    lua_pushvalue(L, list);
    fill_from_tables(L, array, dims, shape, &next, what);
    lua_pop(L, 1);
}

/* Element i gets the number that cell i of a field would get. */
static void fill_from_random(lua_State *L, tz_array *array, const tz_random_value *value)
{
    const tz_random *random = &value->random;
    const bool is_integer = array->dtype != TZ_DTYPE_F32 && array->dtype != TZ_DTYPE_F64;
    for (int end = 0; value->has_range && end < 2; end++) {
        const double bound = end == 0 ? random->low : random->high;
        if (tz_dtype_fault(array->dtype, bound))
            refuse_number(L, array, bound, "tz.array: 'fill': 'range'");
        if (is_integer && tz_dtype_fault(TZ_DTYPE_I32, bound))
            tz_raise(L, "tz.array: 'fill': the integers of a 'range' must fit 32 bits");
    }
    for (int64_t i = 0, n = tz_shape_count(array->dims, array->shape); i < n; i++) {
        const double unit = (double)(tz_random_bits(random->seed, 0, i) >> 11) * 0x1p-53;
        const double number = value->has_density ? unit < random->density
                              : is_integer       ? tz_random_int(random, 0, i)
                                           : random->low + unit * (random->high - random->low);
        tz_array_set(array, i, number);
    }
}

static TZ_KEY_NAMES_OF(dtype_names, tz_dtype_name, TZ_DTYPE_COUNT)

    static const tz_key array_options[] = {
        {"shape", "{nx[, ny[, nz]]}", "that of `data`", "extents, x first"},
        {"dtype", "text", "\"float64\"", "%s", dtype_names},
        {"fill", "number, function(x, y, z) or tz.random", "0", "the value of every element"},
        {"data", "list of numbers, or lists of lists", "",
         "elements, x fastest, in place of `fill`; or rows, `{ { 1, 2 }, { 3, 4 } }`, or planes of "
         "rows"},
        {NULL, NULL, NULL, NULL}};

static int array_new(lua_State *L)
{
    tz_options_take(L, "tz.array", array_options, NULL);
    int64_t shape[TZ_AXES] = {1, 1, 1};
    int dims = tz_key_integers(L, 1, "tz.array", "shape", TZ_AXES, 1, shape);
    int dtype;
    tz_key_choice(L, 1, "tz.array", "dtype", &dtype);
    const int data_type = tz_table_get(L, 1, "data");
    const bool fills = tz_key_push(L, 1, "fill");
    const int fill_type = lua_type(L, 3);
    if (data_type != LUA_TNIL && data_type != LUA_TTABLE)
        tz_raise(L, "tz.array: 'data' must be a list of numbers, not %s", tz_kind_text(L, 2));
    const tz_random_value *random = luaL_testudata(L, 3, TZ_TYPE_RANDOM);
    if (fill_type != LUA_TNUMBER && fill_type != LUA_TFUNCTION && !random)
        tz_raise(L, "tz.array: 'fill' must be a number, a function(x, y, z) or tz.random, not %s",
                 tz_kind_text(L, 3));
    if (data_type != LUA_TNIL && fills)
        tz_raise(L, "tz.array: give 'data' or 'fill', not both");
    if (dims == 0 && data_type == LUA_TTABLE)
        dims = table_shape(L, 2, "tz.array: 'data'", shape);
    if (dims == 0)
        tz_raise(L, "tz.array: 'shape' is missing: {nx[, ny[, nz]]}");
    tz_array_handle *handle = tz_array_push(L, "array");
    tz_array *array = NULL;
    tz_try(L, "tz.array", tz_array_create(&array, (tz_dtype)dtype, dims, shape, tz_fault(L)));
    tz_array_own(handle, array);
    if (data_type == LUA_TTABLE)
        fill_from_list(L, array, 2);
    else if (fill_type == LUA_TFUNCTION)
        fill_from_function(L, array, 3);
    else if (random)
        fill_from_random(L, array, random);
    else if (fills || lua_tonumber(L, 3) != 0) /* an array begins with zeros */
        for (int64_t i = 0, n = tz_shape_count(dims, shape); i < n; i++)
            store(L, array, i, 3, "tz.array: 'fill'");
    return 1;
}

/* The option that takes the place of the file's rule, in its normal form; false: there is none. */
static bool get_rule(lua_State *L, char text[TZ_RLE_RULE_SIZE])
{
    const char *given = NULL;
    tz_rle_rule rule;
    if (!tz_key_text(L, 2, "tz.read", "rule", &given))
        return false;
    if (strcmp(given, "none") == 0)
        return true;
    tz_try(L, "tz.read", tz_rle_rule_parse(given, "rule", &rule, tz_fault(L)));
    if (rule.copies > 1)
        tz_raise(L, "tz.read: 'rule' may have a torus, ':T64,32', or a plane, ':P64,32'; those "
                    "that are joined otherwise are read of the file");
    tz_rle_rule_format(&rule, text);
    return true;
}

static TZ_KEY_NAMES(channel_names, [TZ_PNG_GREY] = "grey", [TZ_PNG_RED] = "r", [TZ_PNG_GREEN] = "g",
                    [TZ_PNG_BLUE] = "b", [TZ_PNG_ALPHA] = "a")

    static const char *type_name(int i)
{
    return i < TZ_DTYPE_COUNT ? tz_dtype_name((tz_dtype)i) : i == TZ_DTYPE_COUNT ? "float16" : NULL;
}

static TZ_KEY_NAMES(up_names, "down", "up") static TZ_KEY_NAMES(
    endian_names, "little",
    "big") static TZ_KEY_NAMES(fit_names, [TZ_FIT_NONE] = "no", [TZ_FIT_CROP] = "crop",
                               [TZ_FIT_PAD] = "pad", [TZ_FIT_SCALE] = "scale")

    static const tz_key read_options[] = {
        {"at", "{x[, y[, z]]}", "",
         "the cell of the grid that gets the first element; without it the shape must be the "
         "grid's or the box's"},
        {"fit", "text", "\"no\"",
         "%s: another shape than that of the grid or the box is an error; the middle of what is "
         "larger is taken; what is smaller lies in the middle; each cell takes the nearest element",
         fit_names},
        {"shape", "{nx[, ny[, nz]]}", "",
         "the extents: text files need them, others must have them"},
        {"type", "text", "", "the file holds raw numbers of that type, without a header: %s",
         type_name},
        {"offset", "integer", "",
         "of raw numbers: bytes before the first one, as of a header; more may follow the last "
         "one. Files with the ending of a format, such as .npy, need it",
         .most = INFINITY},
        {"endian", "text", "that of this machine", "of raw numbers: %s", endian_names},
        {"order", "text", "x, then y and z",
         "of text and raw numbers: the axes, the fastest first. `\"C\"` is `\"xyz\"`, `\"F\"` is "
         "`\"zyx\"`: what NumPy's `tofile` writes of an array `a[z, y, x]` in C or Fortran order. "
         "A Fortran program's `a(x, y, z)` is `\"xyz\"`, Rodinia's 3-D chips are `\"zxy\"`"},
        {"skip", "integer", "0", "of text: lines at the beginning to leave out", .most = INFINITY},
        {"field", "text", "the only one",
         "of .npz, .vti and .h5: the array's name, in .h5 also `\"group/name\"`"},
        {"channel", "text", "\"grey\"", "of .png: %s. `\"grey\"` is the brightness of colours",
         channel_names},
        {"y", "text", "\"down\"", "%s: which edge the file's first row is", up_names},
        {"rule", "text", "the file's",
         "of patterns: replaces the rule that the file names; `\"none\"`: the cells alone, for a "
         "stencil without a rule"},
        {NULL, NULL, NULL, NULL}};

/* What the brightness of a picture does not tell. */
static void warn_of_lost(lua_State *L, const char *name, const tz_png_lost *lost)
{
    if (lost->clear > 0)
        tz_context_note(
            tz_context_get(L), TZ_NOTE_WARNING,
            "tz.read: %.300s: %lld pixels are not opaque, which its numbers do not tell: "
            "channel = \"a\" reads that, \"grey\" only the brightness",
            name, (long long)lost->clear);
    if (lost->coloured > 0)
        tz_context_note(tz_context_get(L), TZ_NOTE_WARNING,
                        "tz.read: %.300s: %lld pixels are coloured, and become their brightness: "
                        "channel = \"r\", \"g\" or \"b\" reads one colour, \"grey\" the brightness",
                        name, (long long)lost->coloured);
}

/* What the script wants of a file. */
typedef struct request {
    tz_format_reading reading;
    int64_t shape[TZ_AXES], at[TZ_AXES];
    char order[TZ_AXES + 1], rule[TZ_RLE_RULE_SIZE];
    int at_axes, fit, up;
    bool is_raw, has_channel;
    tz_npy_facts facts; /* of raw numbers */
} request;

/* "C", "F" or axes, as axes of `dims`. */
static void get_order(lua_State *L, request *r)
{
    const char *order = NULL;
    const int dims = r->reading.dims;
    if (!tz_key_text(L, 2, "tz.read", "order", &order))
        return;
    if (dims == 0)
        tz_raise(L, "tz.read: 'order' needs a 'shape'");
    r->reading.order = order;
    for (int k = 0; k < dims; k++)
        r->order[k] = (char)(order[0] == 'C' ? 'x' + k : 'x' + dims - 1 - k);
    if (strcmp(order, "C") == 0 || strcmp(order, "F") == 0)
        r->reading.order = r->order;
}

static void get_request(lua_State *L, request *r)
{
    int type = 0, endian = 0, channel = TZ_PNG_GREY;
    tz_keys_take(L, 2, "tz.read", read_options, false);
    r->at_axes = tz_key_integers(L, 2, "tz.read", "at", TZ_AXES, 0, r->at);
    tz_key_choice(L, 2, "tz.read", "fit", &r->fit);
    if (r->at_axes > 0 && r->fit != TZ_FIT_NONE)
        tz_raise(L, "tz.read: give 'at' or 'fit', not both");
    r->reading.dims = tz_key_integers(L, 2, "tz.read", "shape", TZ_AXES, 1, r->shape);
    r->is_raw = tz_key_choice(L, 2, "tz.read", "type", &type);
    r->facts = (tz_npy_facts){.half = type == TZ_DTYPE_COUNT, .data_offset = -1};
    r->facts.dtype = r->facts.half ? TZ_DTYPE_F32 : (tz_dtype)type;
    const bool placed = tz_key_integer(L, 2, "tz.read", "offset", &r->facts.data_offset);
    const bool ordered = tz_key_choice(L, 2, "tz.read", "endian", &endian);
    const int here = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 1;
    r->facts.swapped = ordered && endian != here;
    if (!r->is_raw && (placed || ordered))
        tz_raise(L, "tz.read: '%s' is for raw numbers: give their 'type', too",
                 placed ? "offset" : "endian");
    get_order(L, r);
    tz_key_integer(L, 2, "tz.read", "skip", &r->reading.skip);
    tz_key_text(L, 2, "tz.read", "field", &r->reading.field);
    tz_key_choice(L, 2, "tz.read", "y", &r->up);
    r->has_channel = tz_key_choice(L, 2, "tz.read", "channel", &channel);
    r->reading.channel = (tz_png_channel)channel;
    r->reading.rule_replaced = get_rule(L, r->rule);
}

/* Raises if an option is not for files of a format. */
static void check_options(lua_State *L, const request *r, const tz_format *format, const char *path)
{
    const struct {
        const char *key;
        bool given;
        unsigned reads;
    } options[] = {{"rule", r->reading.rule_replaced, TZ_READS_RULE},
                   {"order", r->reading.order, TZ_READS_ORDER},
                   {"skip", r->reading.skip > 0, TZ_READS_SKIP},
                   {"field", r->reading.field, TZ_READS_FIELD},
                   {"channel", r->has_channel, TZ_READS_CHANNEL}};
    char endings[256];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].given || (format && (format->reads & options[i].reads)) ||
            (!format && options[i].reads == TZ_READS_ORDER))
            continue;
        if (!format)
            tz_raise(L, "tz.read: '%s' is not for raw numbers", options[i].key);
        tz_raise(L, "tz.read: '%s' is for %s%s, not for %.300s", options[i].key,
                 options[i].reads == TZ_READS_RULE ? "Life patterns: " : "",
                 tz_format_endings(TZ_TO_READ, options[i].reads, endings), path);
    }
}

/* Raw numbers: with x as the fastest axis or the slowest one they are those of .npy files. */
static tz_status read_raw(request *r, const char *path, tz_error *error)
{
    tz_npy_file *file;
    const char *order = r->reading.order;
    r->facts.dims = r->reading.dims;
    memcpy(r->facts.shape, r->shape, sizeof r->shape);
    r->facts.fortran = order && (strcmp(order, "yx") == 0 || strcmp(order, "zyx") == 0);
    tz_status status = tz_npy_open_bare(&file, path, &r->facts, error);
    if (status != TZ_OK)
        return status;
    if (!order || r->facts.fortran)
        return tz_npy_take(file, &r->reading, error);
    status = tz_npy_read_all(file, &r->reading.array, error);
    tz_npy_close(file);
    return status == TZ_OK ? tz_array_reorder(&r->reading.array, order, error) : status;
}

static int value_read(lua_State *L)
{
    const char *name = tz_text_check(L, 1, "tz.read", "path");
    char path[PATH_MAX];
    request r = {.shape = {1, 1, 1}};
    const tz_format *format = NULL;
    tz_format_reading *reading = &r.reading;
    reading->shape = r.shape;
    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        tz_options_check(L, 2, "tz.read");
        get_request(L, &r);
    }
    tz_path_resolve(L, name, path, sizeof path);
    tz_array_handle *handle = tz_array_push(L, name);
    if (r.is_raw && r.facts.data_offset < 0 && tz_format_of_packed(path))
        tz_raise(L,
                 "tz.read: %.300s has a format that is read without 'type'; leave it out, or give "
                 "offset = 0, too, if its bytes are raw numbers",
                 name);
    if (!r.is_raw)
        tz_try(L, "tz.read", tz_format_to_read(path, &format, tz_fault(L)));
    check_options(L, &r, format, path);
    tz_status status =
        format ? format->read(path, reading, tz_fault(L)) : read_raw(&r, path, tz_fault(L));
    if (status == TZ_OK && r.up && reading->file) {
        tz_npy_file *file = reading->file;
        reading->file = NULL;
        status = tz_npy_take_turned(file, reading, tz_fault(L));
    } else if (status == TZ_OK && r.up) {
        tz_array_turn_rows(reading->array);
    }
    if (reading->array)
        tz_array_own(handle, reading->array);
    if (status == TZ_OK && reading->file) {
        const tz_npy_facts *facts = tz_npy_file_facts(reading->file);
        handle->memory->file = reading->file;
        handle->view = (tz_array){.dtype = facts->dtype, .dims = facts->dims};
        memcpy(handle->view.shape, facts->shape, sizeof handle->view.shape);
    }
    snprintf(handle->rule, sizeof handle->rule, "%s", reading->rule);
    handle->claims_rule = reading->has_rule;
    handle->generation = reading->generation;
    tz_try(L, "tz.read", status);
    if (reading->is_cut)
        tz_context_note(tz_context_get(L), TZ_NOTE_WARNING,
                        "tz.read: %.300s has no '!' at its end: it may be cut off", name);
    if (reading->copies > 1)
        tz_context_note(tz_context_get(L), TZ_NOTE_LOG,
                        "tz.read: %.300s: the torus %s covers its universe, and has %lld copies "
                        "of the pattern",
                        name, strchr(handle->rule, ':') + 1, (long long)reading->copies);
    if (!r.has_channel)
        warn_of_lost(L, name, &reading->lost);
    if (reading->dims > 0 && format && !(format->reads & TZ_READS_ORDER) &&
        (reading->dims != handle->view.dims ||
         memcmp(r.shape, handle->view.shape, sizeof r.shape) != 0)) {
        char has[TZ_SHAPE_TEXT_SIZE];
        tz_raise(L, "tz.read: the shape of %.300s is not the given 'shape' but %s", path,
                 tz_shape_text(has, handle->view.dims, handle->view.shape));
    }
    if (r.rule[0]) {
        snprintf(handle->rule, sizeof handle->rule, "%s", r.rule);
        handle->claims_rule = true;
    }
    tz_api_input(L, path);
    handle->at_axes = r.at_axes;
    handle->fit = (tz_fit)r.fit;
    memcpy(handle->at, r.at, sizeof r.at);
    return 1;
}

/* ---- tz.random ------------------------------------------------------------------------------- */

static const tz_key random_options[] = {
    {"seed", "integer", NULL, "the same seed gives the same numbers on every machine"},
    {"range", "{low, high}", "{0, 1}",
     "real fields: low <= value < high; integers: both ends included"},
    {"density", "number", "0.5", "of bits: the share that is 1", .least = 0, .most = 1},
    {NULL, NULL, NULL, NULL}};

static int value_random(lua_State *L)
{
    tz_options_take(L, "tz.random", random_options, NULL);
    int64_t seed = 0;
    tz_random_value value = {.has_range = false};
    if (!tz_key_integer(L, 1, "tz.random", "seed", &seed))
        tz_raise(L, "tz.random: 'seed' is missing; give an integer, so that every run draws the "
                    "same numbers");
    value.random.seed = (uint64_t)seed;
    value.has_range =
        tz_key_range(L, 1, "tz.random", "range", true, &value.random.low, &value.random.high);
    value.has_density = tz_key_number(L, 1, "tz.random", "density", &value.random.density);
    if (!isfinite(value.random.high - value.random.low))
        tz_raise(L, "tz.random: 'range' is wider than a number can say");
    if (value.has_range && value.has_density)
        tz_raise(L, "tz.random: give 'range' or 'density', not both");
    tz_random_value *handle = lua_newuserdatauv(L, sizeof *handle, 0);
    *handle = value;
    luaL_setmetatable(L, TZ_TYPE_RANDOM);
    return 1;
}

static int random_tostring(lua_State *L)
{
    const tz_random_value *value = luaL_checkudata(L, 1, TZ_TYPE_RANDOM);
    lua_pushfstring(L, "random (seed %I)", (LUAI_UACINT)(int64_t)value->random.seed);
    return 1;
}

/* ---- For module.c ---------------------------------------------------------------------------- */

static const tz_api_function array_methods[] = {
    TZ_API("array:get(x[, y[, z]])", array_get, "One element; coordinates count from 0."),
    TZ_API("array:set(x[, y[, z]], value)", array_set, "Changes one element."),
    TZ_API("array:min()", array_extreme, "The least element that is not NaN.", .data = "array:min"),
    TZ_API("array:max()", array_extreme, "The largest element that is not NaN.",
           .data = "array:max"),
    TZ_API("array:sum()", array_sum,
           "The sum of all elements: of integers exact, else in double precision."),
    TZ_API("array:save(name)", array_save,
           "Writes the array to a file in the run folder, in the format that its name ends "
           "with (see Formats).",
           .recall = TZ_RECALL_GIVE),
    TZ_API("array:close()", array_close,
           "Frees the memory now. Otherwise that happens when the array is collected."),
    TZ_API_END};
static const luaL_Reg array_events[] = {
    {"__close", array_close},       {"__gc", array_gc},
    {"__len", array_length},        {"__newindex", array_set_at},
    {"__tostring", array_tostring}, {NULL, NULL}};
const tz_api_class tz_array_class = {.type = TZ_TYPE_ARRAY,
                                     .events = array_events,
                                     .methods =
                                         (const tz_api_function *const[]){array_methods, NULL},
                                     .what = "array",
                                     .one = "an array",
                                     .members = array_members,
                                     .at = push_at,
                                     .check = check_member};

static const luaL_Reg random_events[] = {{"__tostring", random_tostring}, {NULL, NULL}};
const tz_api_class tz_random_class = {.type = TZ_TYPE_RANDOM, .events = random_events};

const tz_api_function tz_array_functions[] = {
    TZ_API("tz.array(options)", array_new,
           "An array: a value of fields, a mask, or data for `tz.picture`. `array[i]` (from 1) and "
           "`#array` see its elements in a row; `array.dims`, `array.shape` and `array.dtype` "
           "describe it.",
           .options = array_options),
    TZ_API("tz.random(options)", value_random,
           "Random values of a field. A cell's number depends on the seed and its place alone.",
           .options = random_options),
    TZ_API("tz.read(path[, options])", value_read,
           "An array from a file (see Formats). A relative path begins in the script's folder.",
           .options = read_options, .recall = TZ_RECALL_CALL),
    TZ_API_END};
