/* tz.read, tz.random and tz.floorplan: where a field's values come from. */
#include "lua/values.h"

#include "base/names.h"
#include "lua/context.h"
#include "output/format/png_read.h"
#include "output/format/rle.h"
#include "output/format/text.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Files above this are mapped rather than read. */
enum { MAP_BYTES = 64 << 20 };

void tz_value_path(lua_State *L, const char *path, char *text, size_t size)
{
    const char *folder = tz_context_get(L)->folder_of_script;
    int length;
    if (path[0] == '/' || strcmp(folder, ".") == 0)
        length = snprintf(text, size, "%s", path);
    else
        length = snprintf(text, size, "%s/%s", folder, path);
    if (length < 0 || (size_t)length >= size)
        tz_raise(L, "the path '%.100s…' is too long", path);
}

/* ---- tz.read --------------------------------------------------------------------------------- */

typedef enum file_kind { KIND_NPY, KIND_PNG, KIND_RLE, KIND_TEXT } file_kind;

static file_kind find_kind(const char *path)
{
    static const struct {
        const char *suffix;
        file_kind kind;
    } known[] = {{".npy", KIND_NPY}, {".png", KIND_PNG}, {".rle", KIND_RLE}, {".txt", KIND_TEXT}};
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix != NULL && i < sizeof known / sizeof known[0]; i++)
        if (strcasecmp(suffix, known[i].suffix) == 0)
            return known[i].kind;
    /* An unfamiliar name: ask the first bytes. */
    unsigned char magic[8] = {0};
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return KIND_TEXT; /* whose reader reports what is wrong */
    const size_t got = fread(magic, 1, sizeof magic, file);
    fclose(file);
    if (got >= 6 && memcmp(magic, "\x93NUMPY", 6) == 0)
        return KIND_NPY;
    return got == 8 && memcmp(magic, "\x89PNG\r\n\x1a\n", 8) == 0 ? KIND_PNG : KIND_TEXT;
}

static tz_status read_npy(tz_array_handle *handle, const char *path, tz_array **array,
                          tz_error *error)
{
    struct stat facts;
    if (stat(path, &facts) == 0 && facts.st_size >= MAP_BYTES) {
        const tz_status status = tz_npy_map(path, &handle->map, error);
        if (status == TZ_OK) {
            handle->view.dtype = handle->map.dtype;
            handle->view.dims = handle->map.dims;
            memcpy(handle->view.shape, handle->map.shape, sizeof handle->view.shape);
            handle->view.data = (void *)handle->map.data;
            return TZ_OK;
        }
        if (status != TZ_UNSUPPORTED)
            return status;
    }
    return tz_npy_read(path, array, error);
}

static tz_status read_rle(tz_array_handle *handle, const char *path, tz_array **array,
                          tz_error *error)
{
    tz_life_pattern pattern;
    memset(&pattern, 0, sizeof pattern);
    const tz_status status = tz_rle_read(path, &pattern, error);
    if (status == TZ_OK) {
        *array = pattern.cells;
        pattern.cells = NULL;
        snprintf(handle->rule, sizeof handle->rule, "%s", pattern.rule);
    }
    tz_life_pattern_clear(&pattern);
    return status;
}

static int value_read(lua_State *L)
{
    static const char *const keys[] = {"at", "shape"};
    const char *name = luaL_checkstring(L, 1);
    char path[PATH_MAX];
    int64_t at[TZ_AXES] = {0, 0, 0}, shape[TZ_AXES] = {1, 1, 1};
    bool has_at = false;
    int dims = 0;
    lua_settop(L, 2);
    if (strlen(name) != lua_rawlen(L, 1))
        tz_raise(L, "tz.read: the path holds a zero byte");
    if (!lua_isnil(L, 2)) {
        luaL_checktype(L, 2, LUA_TTABLE);
        tz_keys_check(L, 2, "tz.read", keys, 2, false);
        has_at = tz_key_integers(L, 2, "tz.read", "at", TZ_AXES, 0, at) > 0;
        dims = tz_key_integers(L, 2, "tz.read", "shape", TZ_AXES, 1, shape);
    }
    tz_value_path(L, name, path, sizeof path);
    tz_array_handle *handle = tz_array_push(L, name);
    tz_array *array = NULL;
    tz_error error;
    tz_status status = TZ_OK;
    switch (find_kind(path)) {
    case KIND_NPY:
        status = read_npy(handle, path, &array, &error);
        break;
    case KIND_PNG:
        status = tz_png_read(path, &array, &error);
        break;
    case KIND_RLE:
        status = read_rle(handle, path, &array, &error);
        break;
    case KIND_TEXT:
        status = dims > 0 ? tz_text_read_grid(path, dims, shape, &array, &error)
                          : tz_text_read(path, 0, &array, &error);
        dims = 0;
        break;
    }
    if (status != TZ_OK)
        tz_raise_error(L, "tz.read", &error);
    if (array != NULL)
        tz_array_own(handle, array);
    if (dims > 0 &&
        (dims != handle->view.dims || memcmp(shape, handle->view.shape, sizeof shape) != 0))
        tz_raise(L, "tz.read: %.300s has another shape than the 'shape' asked for", path);
    handle->has_at = has_at;
    memcpy(handle->at, at, sizeof at);
    return 1;
}

/* ---- tz.random ------------------------------------------------------------------------------- */

static int value_random(lua_State *L)
{
    static const char *const keys[] = {"seed", "range", "density"};
    luaL_checktype(L, 1, LUA_TTABLE);
    tz_keys_check(L, 1, "tz.random", keys, 3, false);
    int64_t seed = 0;
    tz_random_value value = {.random = {.low = 0, .high = 1, .density = 0.5}};
    if (!tz_key_integer(L, 1, "tz.random", "seed", INT64_MIN, INT64_MAX, &seed))
        tz_raise(L,
                 "tz.random: 'seed' is missing; give a whole number, so that a rerun is the same");
    value.random.seed = (uint64_t)seed;
    value.has_range =
        tz_key_range(L, 1, "tz.random", "range", true, &value.random.low, &value.random.high);
    value.has_density = tz_key_number(L, 1, "tz.random", "density", &value.random.density);
    if (value.has_range && value.has_density)
        tz_raise(L, "tz.random: give 'range' or 'density', not both");
    if (!(value.random.density >= 0 && value.random.density <= 1))
        tz_raise(L, "tz.random: 'density' must be from 0 to 1");
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

/* ---- tz.floorplan ---------------------------------------------------------------------------- */

static int floorplan_close(lua_State *L)
{
    tz_floorplan_value *value = luaL_checkudata(L, 1, TZ_TYPE_FLOORPLAN);
    tz_floorplan_clear(&value->plan);
    tz_ptrace_clear(&value->trace);
    memset(&value->plan, 0, sizeof value->plan);
    memset(&value->trace, 0, sizeof value->trace);
    return 0;
}

/* plan.units: {name=, width_m=, …}; plan.samples; plan.width_m, plan.height_m. */
static int floorplan_index(lua_State *L)
{
    const tz_floorplan_value *value = luaL_checkudata(L, 1, TZ_TYPE_FLOORPLAN);
    const char *key = luaL_checkstring(L, 2);
    lua_pushvalue(L, 2);
    if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    if (strcmp(key, "samples") == 0) {
        lua_pushinteger(L, (lua_Integer)value->trace.sample_count);
    } else if (strcmp(key, "width_m") == 0) {
        lua_pushnumber(L, value->plan.width_m);
    } else if (strcmp(key, "height_m") == 0) {
        lua_pushnumber(L, value->plan.height_m);
    } else if (strcmp(key, "units") == 0) {
        lua_createtable(L, (int)value->plan.unit_count, 0);
        for (size_t i = 0; i < value->plan.unit_count; i++) {
            const tz_floorplan_unit *unit = &value->plan.units[i];
            lua_createtable(L, 0, 5);
            lua_pushstring(L, unit->name);
            lua_setfield(L, -2, "name");
            lua_pushnumber(L, unit->width_m);
            lua_setfield(L, -2, "width_m");
            lua_pushnumber(L, unit->height_m);
            lua_setfield(L, -2, "height_m");
            lua_pushnumber(L, unit->left_m);
            lua_setfield(L, -2, "left_m");
            lua_pushnumber(L, unit->bottom_m);
            lua_setfield(L, -2, "bottom_m");
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
    } else {
        static const char *const known[] = {"units", "samples", "width_m", "height_m", "close"};
        char hint[256];
        tz_raise(L, "floorplan: has no '%.60s'%s", key,
                 tz_names_hint(hint, sizeof hint, key, known, 5));
    }
    return 1;
}

static int value_floorplan(lua_State *L)
{
    static const char *const keys[] = {"flp", "ptrace", "row", "width_m", "height_m"};
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    tz_keys_check(L, 1, "tz.floorplan", keys, 5, false);
    const char *flp = NULL, *ptrace = NULL;
    char plan_path[PATH_MAX], trace_path[PATH_MAX];
    if (!tz_key_text(L, 1, "tz.floorplan", "flp", &flp) ||
        !tz_key_text(L, 1, "tz.floorplan", "ptrace", &ptrace))
        tz_raise(L, "tz.floorplan: wants flp = \"FILE.flp\" and ptrace = \"FILE.ptrace\"");
    int64_t row = 0;
    const bool has_row = tz_key_integer(L, 1, "tz.floorplan", "row", 1, INT64_MAX, &row);
    double width_m = 0, height_m = 0;
    tz_key_number(L, 1, "tz.floorplan", "width_m", &width_m);
    tz_key_number(L, 1, "tz.floorplan", "height_m", &height_m);
    if (width_m < 0 || height_m < 0 || (width_m > 0) != (height_m > 0))
        tz_raise(L, "tz.floorplan: 'width_m' and 'height_m' go together and must be positive");
    tz_value_path(L, flp, plan_path, sizeof plan_path);
    tz_value_path(L, ptrace, trace_path, sizeof trace_path);
    tz_floorplan_value *value = lua_newuserdatauv(L, sizeof *value, 0);
    memset(value, 0, sizeof *value);
    luaL_setmetatable(L, TZ_TYPE_FLOORPLAN);
    value->row = has_row ? row - 1 : -1;
    value->width_m = width_m;
    value->height_m = height_m;
    tz_error error;
    if (tz_floorplan_read(plan_path, &value->plan, &error) != TZ_OK ||
        tz_ptrace_read(trace_path, &value->trace, &error) != TZ_OK)
        tz_raise_error(L, "tz.floorplan", &error);
    if (has_row && row > (int64_t)value->trace.sample_count)
        tz_raise(L, "tz.floorplan: 'row' is %lld, %.300s has %zu sample%s", (long long)row,
                 trace_path, value->trace.sample_count, value->trace.sample_count == 1 ? "" : "s");
    return 1;
}

void tz_values_register(lua_State *L)
{
    static const luaL_Reg none[] = {{NULL, NULL}};
    static const luaL_Reg plan_methods[] = {{"close", floorplan_close}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"read", value_read},
                                         {"random", value_random},
                                         {"floorplan", value_floorplan},
                                         {NULL, NULL}};
    tz_metatable_create(L, TZ_TYPE_RANDOM, none, NULL, NULL, random_tostring);
    tz_metatable_create(L, TZ_TYPE_FLOORPLAN, plan_methods, floorplan_close, floorplan_index, NULL);
    luaL_setfuncs(L, functions, 0);
}
