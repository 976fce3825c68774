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
#include <string.h>

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

static int array_set(lua_State *L)
{
    tz_array_handle *handle = tz_array_check_open(L, 1, "array:set");
    if (!handle->memory->owned || handle->memory->users > 1)
        tz_raise(L,
                 "array:set: the array (%.200s) is read-only: it is a large file or feeds a "
                 "simulation",
                 handle->source);
    const int64_t i = element_index(L, &handle->view, "array:set", lua_gettop(L) - 2);
    store(L, &handle->view, i, lua_gettop(L), "array:set");
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
OF_ARRAY(dtype, tz_cell_text(tz_dtype_name(r->view.dtype)));
OF_ARRAY(count, tz_cell_integer(tz_shape_count(r->view.dims, r->view.shape)));
OF_ARRAY(rule, tz_cell_text(r->rule[0] ? r->rule : NULL));

static const tz_sheet_column array_members[] = {
    {.key = "shape", .get = array_shape},         {.key = "dtype", .get = array_dtype},
    TZ_MEMBER("source", tz_array_handle, source), {.key = "count", .get = array_count},
    {.key = "rule", .get = array_rule},           {.key = NULL}};

static void check_member(lua_State *L, const char *key)
{
    if (strcmp(key, "source") != 0) /* which a closed one has, too */
        tz_array_check_open(L, 1, "array");
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

static void fill_from_list(lua_State *L, tz_array *array, int list)
{
    const int64_t count = tz_shape_count(array->dims, array->shape);
    if ((int64_t)lua_rawlen(L, list) != count)
        tz_raise(L, "tz.array: 'data' holds %lld numbers, the shape needs %lld",
                 (long long)lua_rawlen(L, list), (long long)count);
    for (int64_t i = 0; i < count; i++) {
        lua_rawgeti(L, list, i + 1);
        store(L, array, i, -1, "tz.array: 'data'");
        lua_pop(L, 1);
    }
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
        {"shape", "{nx[, ny[, nz]]}", NULL, "extents, x first"},
        {"dtype", "text", "\"float64\"", "%s", dtype_names},
        {"fill", "number, function(x, y, z) or tz.random", "0", "the value of every element"},
        {"data", "list of numbers", "", "elements in order, x fastest, in place of `fill`"},
        {NULL, NULL, NULL, NULL}};

static int array_new(lua_State *L)
{
    tz_options_take(L, "tz.array", array_options, NULL);
    int64_t shape[TZ_AXES] = {1, 1, 1};
    const int dims = tz_key_integers(L, 1, "tz.array", "shape", TZ_AXES, 1, shape);
    if (dims == 0)
        tz_raise(L, "tz.array: 'shape' is missing: {nx[, ny[, nz]]}");
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

/* The option that takes the place of the file's rule, in its normal form. */
static void get_rule(lua_State *L, char text[TZ_RLE_RULE_SIZE])
{
    const char *given = NULL;
    tz_rle_rule rule;
    if (!tz_key_text(L, 2, "tz.read", "rule", &given))
        return;
    tz_try(L, "tz.read", tz_rle_rule_parse(given, "rule", &rule, tz_fault(L)));
    tz_rle_rule_format(&rule, text);
}

static TZ_KEY_NAMES(channel_names, [TZ_PNG_GREY] = "grey", [TZ_PNG_RED] = "r", [TZ_PNG_GREEN] = "g",
                    [TZ_PNG_BLUE] = "b", [TZ_PNG_ALPHA] = "a")

    static const tz_key read_options[] = {
        {"at", "{x[, y[, z]]}", "",
         "the cell of the grid that gets the first element; without it the shape must be the "
         "grid's or the box's"},
        {"shape", "{nx[, ny[, nz]]}", "",
         "the extents: text files need them, others must have them"},
        {"order", "text", "x, then y and z",
         "of text: the axes of its numbers, that of the fastest first. No file says it, and "
         "another order "
         "has as many numbers. In Rodinia's files of 3-D chips layers are the fastest: `\"zxy\"`"},
        {"channel", "text", "\"grey\"",
         "of .png: %s. `\"grey\"` is the brightness of colours; a warning tells of colours or of "
         "transparent pixels where this is not given",
         channel_names},
        {"rule", "text", "the file's", "of .rle: replaces the rule that the file names"},
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

static int value_read(lua_State *L)
{
    const char *name = tz_text_check(L, 1, "tz.read", "path");
    char path[PATH_MAX];
    int64_t at[TZ_AXES] = {0, 0, 0}, shape[TZ_AXES] = {1, 1, 1};
    char rule[TZ_RLE_RULE_SIZE] = "";
    int dims = 0, at_axes = 0, channel = TZ_PNG_GREY;
    bool has_channel = false;
    tz_format_reading reading = {.shape = shape};
    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        tz_options_check(L, 2, "tz.read");
        tz_keys_take(L, 2, "tz.read", read_options, false);
        at_axes = tz_key_integers(L, 2, "tz.read", "at", TZ_AXES, 0, at);
        dims = tz_key_integers(L, 2, "tz.read", "shape", TZ_AXES, 1, shape);
        tz_key_text(L, 2, "tz.read", "order", &reading.order);
        has_channel = tz_key_choice(L, 2, "tz.read", "channel", &channel);
        get_rule(L, rule);
    }
    tz_path_resolve(L, name, path, sizeof path);
    tz_array_handle *handle = tz_array_push(L, name);
    const tz_format *format = tz_format_to_read(path);
    char endings[256];
    if (rule[0] && !(format->reads & TZ_READS_RULE))
        tz_raise(L, "tz.read: 'rule' is for Life patterns (%s), not for %.300s",
                 tz_format_endings(TZ_TO_READ, TZ_READS_RULE, endings), path);
    const bool ordered = format->reads & TZ_READS_ORDER;
    if (reading.order && (!ordered || dims == 0))
        tz_raise(L, "tz.read: 'order' is for text with a 'shape'%s%.300s",
                 ordered ? "" : ", not for ", ordered ? "" : path);
    if (has_channel && !(format->reads & TZ_READS_CHANNEL))
        tz_raise(L, "tz.read: 'channel' is for %s, not for %.300s",
                 tz_format_endings(TZ_TO_READ, TZ_READS_CHANNEL, endings), path);
    reading.dims = dims;
    reading.channel = (tz_png_channel)channel;
    const tz_status status = format->read(path, &reading, tz_fault(L));
    if (reading.array)
        tz_array_own(handle, reading.array);
    if (status == TZ_OK && reading.file) {
        const tz_npy_facts *facts = tz_npy_file_facts(reading.file);
        handle->memory->file = reading.file;
        handle->view = (tz_array){.dtype = facts->dtype, .dims = facts->dims};
        memcpy(handle->view.shape, facts->shape, sizeof handle->view.shape);
    }
    snprintf(handle->rule, sizeof handle->rule, "%s", reading.rule);
    handle->claims_rule = reading.has_rule;
    tz_try(L, "tz.read", status);
    if (!has_channel)
        warn_of_lost(L, name, &reading.lost);
    if (dims > 0 && !ordered &&
        (dims != handle->view.dims || memcmp(shape, handle->view.shape, sizeof shape) != 0))
        tz_raise(L, "tz.read: the shape of %.300s is not the given 'shape'", path);
    if (rule[0]) {
        snprintf(handle->rule, sizeof handle->rule, "%s", rule);
        handle->claims_rule = true;
    }
    tz_api_input(L, path);
    handle->at_axes = at_axes;
    memcpy(handle->at, at, sizeof at);
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
    TZ_API("array:sum()", array_sum, "The sum of all elements, in double precision."),
    TZ_API("array:save(name)", array_save,
           "Writes the array to a file in the run folder, in the format that its name ends "
           "with (see Formats).",
           .recall = TZ_RECALL_GIVE),
    TZ_API("array:close()", array_close,
           "Frees the memory now. Otherwise that happens when the array is collected."),
    TZ_API_END};
static const luaL_Reg array_events[] = {{"__close", array_close},
                                        {"__gc", array_gc},
                                        {"__len", array_length},
                                        {"__tostring", array_tostring},
                                        {NULL, NULL}};
const tz_api_class tz_array_class = {.type = TZ_TYPE_ARRAY,
                                     .events = array_events,
                                     .methods =
                                         (const tz_api_function *const[]){array_methods, NULL},
                                     .what = "array",
                                     .one = "an array",
                                     .members = array_members,
                                     .check = check_member};

static const luaL_Reg random_events[] = {{"__tostring", random_tostring}, {NULL, NULL}};
const tz_api_class tz_random_class = {.type = TZ_TYPE_RANDOM, .events = random_events};

const tz_api_function tz_array_functions[] = {
    TZ_API("tz.array(options)", array_new,
           "An array in memory: a value of fields, a mask, or data for `tz.picture`. `array[i]` "
           "(from 1) and `#array` see its elements in a row; `array.dims`, `array.shape` and "
           "`array.dtype` describe it.",
           .options = array_options),
    TZ_API("tz.random(options)", value_random,
           "Random values of a field. A cell's number depends on the seed and its place alone.",
           .options = random_options),
    TZ_API("tz.read(path[, options])", value_read,
           "An array from a file (see Formats). A relative path begins in the script's folder.",
           .options = read_options, .recall = TZ_RECALL_CALL),
    TZ_API_END};
