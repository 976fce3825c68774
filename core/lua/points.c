/* Receivers and sources: sim:receivers, sim:sources, and what receivers have recorded. simulation.c
 * and module.c register them. */
#include "lua/module.h"

#include "lua/api.h"
#include "lua/array.h"
#include "lua/handle.h"
#include "lua/keys.h"
#include "lua/problem.h"
#include "lua/recall.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TZ_TYPE_RECEIVERS "trapeze.receivers"

/* Its user value is the simulation. */
typedef struct receivers {
    tz_simulation_handle *handle;
    tz_recording *recording; /* the handle's */
} receivers;

/* ---- Lists of numbers ------------------------------------------------------------------------ */

/* Numbers of a script, in a userdata of its stack. */
typedef struct numbers {
    double *at;
    int64_t count, width; /* rows, and numbers of each */
} numbers;

static void push_array(lua_State *L, int index, const char *what, const char *key, int64_t width,
                       numbers *out)
{
    const tz_array *array = &tz_array_check(L, index, what)->view;
    const int64_t count = tz_shape_count(array->dims, array->shape);
    if (array->dims > 2 || (array->dims == 2 && array->shape[0] != width) ||
        (array->dims == 1 && width != 1 && count != width))
        tz_raise(L, "%s: the array '%s' must have rows of %lld number%s: shape { %lld, n }", what,
                 key, (long long)width, width == 1 ? "" : "s", (long long)width);
    out->at = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *out->at, 0);
    out->count = count / width;
    for (int64_t i = 0; i < count; i++)
        out->at[i] = tz_array_get(array, i);
}

/* The number on the top of the stack, which is popped. */
static double take_number(lua_State *L, const char *what, const char *key, lua_Integer row)
{
    if (lua_type(L, -1) != LUA_TNUMBER)
        tz_raise(L, "%s: row %lld of '%s' must have numbers, not %s", what, (long long)row, key,
                 tz_kind_text(L, -1));
    const double value = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return value;
}

/* Push the numbers of the value at `index`: an array, or a table of rows; of rows of one number,
 * also of numbers. */
static void push_numbers(lua_State *L, int index, const char *what, const char *key, int64_t width,
                         numbers *out)
{
    *out = (numbers){.width = width};
    if (luaL_testudata(L, index, TZ_TYPE_ARRAY)) {
        push_array(L, index, what, key, width, out);
        return;
    }
    if (!lua_istable(L, index))
        tz_raise_kind(L, index, what, key, "an array or a table of rows");
    out->count = (int64_t)lua_rawlen(L, index);
    out->at = lua_newuserdatauv(L, (size_t)(out->count * width + 1) * sizeof *out->at, 0);
    for (lua_Integer i = 1; i <= out->count; i++) {
        lua_rawgeti(L, index, i);
        if (width == 1 && lua_type(L, -1) == LUA_TNUMBER) {
            out->at[i - 1] = take_number(L, what, key, i);
            continue;
        }
        if (!lua_istable(L, -1) || (int64_t)lua_rawlen(L, -1) != width)
            tz_raise(L, "%s: row %lld of '%s' must be a table of %lld number%s", what, (long long)i,
                     key, (long long)width, width == 1 ? "" : "s");
        for (int64_t k = 0; k < width; k++) {
            lua_rawgeti(L, -1, k + 1);
            out->at[(i - 1) * width + k] = take_number(L, what, key, i);
        }
        lua_pop(L, 1);
    }
}

/* ---- Options --------------------------------------------------------------------------------- */

static TZ_KEY_NAMES(interpolation_names, "grid", "linear", "sinc")

#define POINTS_OPTIONS                                                                             \
    {"field", "text", "the first state field", "a state field, of receivers also a derived one"},  \
        {"points", "array or table", NULL,                                                         \
         "in cells from 0: `{ { x, y, z }, … }`, or an array of rows"},                            \
    {                                                                                              \
        "interpolate", "text", "\"grid\"",                                                         \
            "how a value between cells is made of cells: %s. `\"grid\"`: points are cells; "       \
            "`\"linear\"`: of the two beside it along each axis; `\"sinc\"`: of eight, by a sinc " \
            "with a Kaiser window",                                                                \
            interpolation_names                                                                    \
    }

    static const tz_key receivers_options[] = {
        POINTS_OPTIONS,
        {"every", "integer", "1", "record after steps that are multiples of it", .least = 1,
         .most = INFINITY},
        {"file", "text", "none",
         "a file of the run folder, `.npy`, `.csv` or `.h5`, written at the end: a row for each "
         "step, a column for each point"},
        {NULL}};

static const tz_key sources_options[] = {
    POINTS_OPTIONS,
    {"values", "array, table or text", NULL,
     "what the coming iterations add: a row for each step, a number for each point; or a formula "
     "of `step`, parameters and the time `t`"},
    {"scale", "number or text", "1", "a factor; `\"volume\"`: one over the volume of a cell"},
    {NULL}};

/* Leaves the numbers on the stack. */
static void read_points(lua_State *L, const tz_simulation_handle *handle, const char *what,
                        tz_points_config *config)
{
    numbers points;
    int how = 0;
    tz_table_get(L, 2, "field");
    const int field = tz_handle_kept_field(L, lua_gettop(L), handle, what);
    tz_key_choice(L, 2, what, "interpolate", &how);
    if (tz_table_get(L, 2, "points") == LUA_TNIL)
        tz_raise(L, "%s: 'points' is missing: points = { { x, y }, … }", what);
    push_numbers(L, lua_gettop(L), what, "points", tz_handle_stencil(handle)->dims, &points);
    *config = (tz_points_config){.field = field,
                                 .count = (size_t)points.count,
                                 .at = points.at,
                                 .interpolation = (tz_interpolation)how};
    if (points.count == 0)
        tz_raise(L, "%s: there are no points", what);
}

/* ---- Sources --------------------------------------------------------------------------------- */

static double read_scale(lua_State *L, const tz_simulation_handle *handle, const char *what)
{
    double spacing[TZ_AXES], scale = 1;
    const int dims = tz_handle_stencil(handle)->dims;
    const int type = tz_table_get(L, 2, "scale");
    if (type == LUA_TNUMBER)
        scale = lua_tonumber(L, -1);
    else if (type == LUA_TSTRING && strcmp(lua_tostring(L, -1), "volume") == 0) {
        if (!tz_simulation_spacing(handle->simulation, spacing))
            tz_raise(L,
                     "%s: scale = \"volume\": %s does not say how large cells are: give a number",
                     what, tz_handle_stencil(handle)->id);
        for (int axis = 0; axis < dims; axis++)
            scale /= spacing[axis];
    } else if (type != LUA_TNIL) {
        tz_raise_kind(L, -1, what, "scale", "a number or \"volume\"");
    }
    if (!isfinite(scale))
        tz_raise(L, "%s: 'scale' is %g", what, scale);
    return scale;
}

static void read_values(lua_State *L, tz_simulation_handle *handle, const char *what, size_t points,
                        tz_source_config *source)
{
    const int type = tz_table_get(L, 2, "values"), index = lua_gettop(L);
    if (type == LUA_TNIL)
        tz_raise(L, "%s: 'values' is missing: an array of steps x points, or a formula", what);
    if (type == LUA_TSTRING) {
        source->value = tz_scalar_value;
        source->context = tz_formula_push(L, what, tz_handle_stencil(handle), "values", true);
        lua_getiuservalue(L, 1, 1); /* it lives as long as the simulation */
        lua_pushvalue(L, -2);
        luaL_ref(L, -2);
        return;
    }
    numbers values;
    push_numbers(L, index, what, "values", (int64_t)points, &values);
    if (values.count == 0)
        tz_raise(L, "%s: 'values' has no steps", what);
    const size_t bytes = (size_t)values.count * points * sizeof *values.at;
    source->values = malloc(bytes);
    if (!source->values)
        tz_raise(L, "%s: not enough memory for %zu bytes of values", what, bytes);
    memcpy(source->values, values.at, bytes);
    source->steps = values.count;
}

static int method_sources(lua_State *L)
{
    static const char what[] = "sim:sources";
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, what);
    tz_source_config source = {.scale = 1};
    tz_points_config points;
    tz_options_check(L, 2, what);
    tz_keys_take(L, 2, what, sources_options, false);
    read_points(L, handle, what, &points);
    source.scale = read_scale(L, handle, what);
    luaL_checkstack(L, 16, what);
    read_values(L, handle, what, points.count, &source); /* nothing raises after it */
    const tz_status status =
        tz_simulation_add_sources(handle->simulation, &points, &source, tz_fault(L));
    tz_try(L, what, status);
    return 0;
}

/* ---- Receivers ------------------------------------------------------------------------------- */

/* The name of a file that no other receivers write. */
static void check_file(lua_State *L, const tz_context *context, const char *what, const char *file)
{
    const tz_format *format;
    tz_try(L, what, tz_recording_format(file, &format, tz_fault(L)));
    tz_try(L, what, tz_folder_check_name(file, tz_fault(L)));
    for (const tz_simulation_handle *h = context->open; h; h = h->next)
        for (const tz_recording *r = h->recordings; r; r = r->next)
            if (strcmp(r->file, file) == 0)
                tz_raise(L, "%s: other receivers write '%s'", what, file);
}

static int method_receivers(lua_State *L)
{
    static const char what[] = "sim:receivers";
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, what);
    tz_points_config points;
    const char *file = NULL;
    int64_t every = 1;
    int number = 1;
    tz_options_check(L, 2, what);
    tz_keys_take(L, 2, what, receivers_options, false);
    read_points(L, handle, what, &points);
    tz_key_integer(L, 2, what, "every", &every);
    if (tz_key_text(L, 2, what, "file", &file))
        check_file(L, handle->context, what, file);
    receivers *made = lua_newuserdatauv(L, sizeof *made, 1);
    *made = (receivers){.handle = handle};
    luaL_setmetatable(L, TZ_TYPE_RECEIVERS);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    tz_recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        tz_raise(L, "%s: not enough memory", what);
    const tz_status status = tz_simulation_add_receivers(handle->simulation, &points, every,
                                                         &recording->receivers, tz_fault(L));
    if (status) {
        free(recording);
        tz_raise_error(L, what, tz_fault(L));
    }
    tz_recording **last = &handle->recordings;
    for (; *last; last = &(*last)->next)
        number++;
    *last = made->recording = recording;
    snprintf(recording->file, sizeof recording->file, "%s", file ? file : "");
    snprintf(recording->part, sizeof recording->part, TZ_RECORDING_PREFIX "%zu-%d",
             handle->index + 1, number);
    if (file && tz_handle_is_dry(handle))
        tz_context_print(handle->context, "  writes %s\n", file);
    return 1;
}

static receivers *check_receivers(lua_State *L, const char *what)
{
    receivers *r = luaL_checkudata(L, 1, TZ_TYPE_RECEIVERS);
    if (!r->handle->simulation)
        tz_raise(L, "%s: the simulation is closed", what);
    tz_try(L, what, tz_simulation_receive(r->handle->simulation, tz_fault(L)));
    return r;
}

static int receivers_save(lua_State *L)
{
    static const char what[] = "receivers:save";
    receivers *r = check_receivers(L, what);
    const char *name = tz_text_check(L, 2, what, "name");
    tz_context *context = r->handle->context;
    char path[PATH_MAX];
    check_file(L, context, what, name);
    if (context->options->check) {
        tz_context_print(context, "  writes %s\n", name);
        return 0;
    }
    if (tz_recording_rows(r->recording) == 0)
        tz_raise(L, "%s: nothing has been recorded yet", what);
    tz_status status = tz_handle_open_file(context, name, path, sizeof path, tz_fault(L));
    if (!status)
        status = tz_recording_write(r->recording, path, tz_fault(L));
    tz_try(L, what, status);
    tz_record_file(context->files.record, name);
    return 0;
}

static int receivers_array(lua_State *L)
{
    static const char what[] = "receivers:array";
    receivers *r = check_receivers(L, what);
    const int64_t count = (int64_t)tz_receivers_get(r->recording->receivers).count;
    const int64_t rows = tz_recording_rows(r->recording);
    tz_array *array;
    if (rows == 0)
        tz_raise(L, "%s: nothing has been recorded yet", what);
    tz_array_handle *handle = tz_array_push(L, "receivers");
    tz_try(L, what,
           tz_array_create(&array, TZ_DTYPE_F64, 2, (const int64_t[]){count, rows}, tz_fault(L)));
    tz_array_own(handle, array);
    tz_try(L, what, tz_recording_read(r->recording, 0, rows, array->data, tz_fault(L)));
    return 1;
}

TZ_GETTER(receivers_count, void, receivers,
          tz_cell_integer((int64_t)tz_receivers_get(r->recording->receivers).count));
TZ_GETTER(receivers_rows, void, receivers, tz_cell_integer(tz_recording_rows(r->recording)));

static const tz_sheet_column receivers_members[] = {{.key = "count", .get = receivers_count},
                                                    {.key = "rows", .get = receivers_rows},
                                                    {.key = NULL}};

static void check_member(lua_State *L, const char *key)
{
    (void)key;
    check_receivers(L, "receivers");
}

static const tz_api_function receivers_methods[] = {
    TZ_API("receivers:array()", receivers_array,
           "What was recorded so far, as an array: a row for each step, a number for each point.",
           .recall = TZ_RECALL_GIVE),
    TZ_API("receivers:save(name)", receivers_save,
           "Writes it to a file in the run folder: `.npy`, `.csv` or `.h5`.",
           .recall = TZ_RECALL_GIVE),
    TZ_API_END};
const tz_api_class tz_receivers_class = {
    .type = TZ_TYPE_RECEIVERS,
    .methods = (const tz_api_function *const[]){receivers_methods, NULL},
    .what = "receivers",
    .one = "receivers",
    .members = receivers_members,
    .check = check_member,
    .differing = (const char *const[]){"rows", NULL}};

const tz_api_function tz_points_methods[] = {
    TZ_API("sim:receivers(options)", method_receivers,
           "Points at which a field is recorded after each iteration ([points.md](points.md)). "
           "Returns receivers, with the members `count`, of points, and `rows`, of recorded steps.",
           .options = receivers_options, .recall = TZ_RECALL_CALL),
    TZ_API("sim:sources(options)", method_sources,
           "Points at which each iteration adds a value to a field, after its update, in the order "
           "of the list.",
           .options = sources_options, .recall = TZ_RECALL_CALL),
    TZ_API_END};
