/* Readers of options by key and type, errors with the script's line, and tables that functions
 * return. Called by the files of core/lua that define functions for scripts. */
#include "lua/keys.h"

#include "base/names.h"
#include "base/number.h"
#include "lua/context.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tz_script_line(lua_State *L, char *file, size_t size)
{
    lua_Debug record;
    if (size > 0)
        snprintf(file, size, "the script");
    for (int level = 0; lua_getstack(L, level, &record); level++) {
        lua_getinfo(L, "Sl", &record);
        if (record.currentline > 0) {
            if (size > 0)
                snprintf(file, size, "%s", record.short_src);
            return record.currentline;
        }
    }
    return 0;
}

void tz_function_text(lua_State *L, int index, char *text, size_t size)
{
    lua_Debug about;
    lua_pushvalue(L, index);
    lua_getinfo(L, ">S", &about);
    snprintf(text, size, "function at %.90s:%d", about.short_src, about.linedefined);
}

static noreturn void raise_text(lua_State *L, tz_status code, const char *text)
{
    char file[LUA_IDSIZE];
    const int line = tz_script_line(L, file, sizeof file);
    if (line > 0)
        lua_pushfstring(L, "%s:%d: %s", file, line, text);
    else
        lua_pushstring(L, text);
    /* Kept to distinguish it from an error that the script itself caused: context.h. */
    tz_context *context = tz_context_get(L);
    snprintf(context->refusal, sizeof context->refusal, "%s", lua_tostring(L, -1));
    context->raised = code;
    lua_error(L);
    abort();
}

noreturn void tz_raise(lua_State *L, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    raise_text(L, TZ_USAGE, text);
}

noreturn void tz_raise_error(lua_State *L, const char *what, const tz_error *error)
{
    char text[2560], inner[2100];
    tz_error_format(error, inner, sizeof inner);
    snprintf(text, sizeof text, "%s%s%s", what ? what : "", what ? ": " : "", inner);
    raise_text(L, error->code, text);
}

tz_error *tz_fault(lua_State *L)
{
    return &tz_context_get(L)->fault;
}

void tz_try(lua_State *L, const char *what, tz_status status)
{
    if (status != TZ_OK)
        tz_raise_error(L, what, tz_fault(L));
}

const char *tz_kind_text(lua_State *L, int index)
{
    static const char *const kinds[] = {[LUA_TNIL] = "nil",
                                        [LUA_TBOOLEAN] = "a boolean",
                                        [LUA_TLIGHTUSERDATA] = "a userdata",
                                        [LUA_TNUMBER] = "a number",
                                        [LUA_TSTRING] = "a string",
                                        [LUA_TTABLE] = "a table",
                                        [LUA_TFUNCTION] = "a function",
                                        [LUA_TUSERDATA] = "a userdata",
                                        [LUA_TTHREAD] = "a thread"};
    const int type = lua_type(L, index);
    return type == LUA_TNONE ? "no value" : kinds[type];
}

noreturn void tz_raise_kind(lua_State *L, int index, const char *what, const char *key,
                            const char *wanted)
{
    tz_raise(L, "%s: '%.60s' must be %s, not %s", what, key, wanted, tz_kind_text(L, index));
}

static noreturn void raise_unknown(lua_State *L, const char *what, const char *key,
                                   const char *const *keys, size_t n)
{
    char hint[512];
    tz_raise(L, "%s: unknown key '%.60s'%s", what, key,
             tz_names_hint(hint, sizeof hint, key, keys, n));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const tz_key *key_at(const tz_key *keys, size_t *left)
{
    const tz_key *found = NULL;
    for (; !found && (keys->key || keys->all); keys++) {
        if (keys->all)
            found = key_at(keys->all, left);
        else if ((*left)-- == 0)
            found = keys;
    }
    return found;
}

const tz_key *tz_key_at(const tz_key *keys, size_t i)
{
    return key_at(keys, &i);
}

/* Where the metatable of a copy of options keeps the rows of its keys. */
static const char rows_key;

/* The rows of the options at `index`, NULL: none. */
static const tz_key *rows_of(lua_State *L, int index)
{
    const tz_key *rows = NULL;
    if (lua_getmetatable(L, index)) {
        lua_rawgetp(L, -1, &rows_key);
        rows = lua_touserdata(L, -1);
        lua_pop(L, 2);
    }
    return rows;
}

static const tz_key *row_of(lua_State *L, int index, const char *key)
{
    const tz_key *rows = rows_of(L, index), *row = NULL;
    for (size_t i = 0; rows && (row = tz_key_at(rows, i)) && strcmp(row->key, key) != 0;)
        i++;
    return row;
}

/* Push the number, text, boolean or flat table of these that `text` is in Lua, or nil: it is words.
 * Lua's own parser refuses where calls are nested deeply. */
static void push_literal(lua_State *L, const char *text, size_t length)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)length, text);
    if (length >= sizeof copy) {
        lua_pushnil(L);
    } else if (length > 1 && copy[0] == '"' && strchr(copy + 1, '"') == copy + length - 1) {
        lua_pushlstring(L, copy + 1, length - 2);
    } else if (strcmp(copy, "true") == 0 || strcmp(copy, "false") == 0) {
        lua_pushboolean(L, copy[0] == 't');
    } else if (length > 1 && copy[0] == '{' && copy[length - 1] == '}') {
        lua_newtable(L);
        for (const char *at = copy + 1; at < copy + length - 1;) {
            const size_t size = strcspn(at, ",}"), name = strcspn(at, " =,}");
            const bool named = strncmp(at + name, " = ", 3) == 0;
            push_literal(L, at + (named ? name + 3 : 0), size - (named ? name + 3 : 0));
            if (named)
                lua_pushlstring(L, at, name);
            else
                lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -2) + 1);
            lua_insert(L, -2);
            lua_rawset(L, -3);
            at += size + 1;
            at += strspn(at, " ");
        }
    } else if (lua_stringtonumber(L, copy) == 0) {
        lua_pushnil(L);
    }
}

static void push_default(lua_State *L, const tz_key *row)
{
    const char *text = row && row->otherwise ? row->otherwise : "";
    push_literal(L, text, strlen(text));
}

static void refuse_metatable(lua_State *L, int index, const char *what)
{
    if (!rows_of(L, index) && lua_getmetatable(L, index))
        tz_raise(L, "%s: needs a plain table, not one with a metatable", what);
}

/* The stack ends with a table, a key and a value: set the value, which is popped. */
static void copy_element(lua_State *L)
{
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
}

void tz_table_copy(lua_State *L, int index, const char *what)
{
    index = lua_absindex(L, index);
    refuse_metatable(L, index, what);
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, index) != 0)
        copy_element(L);
    lua_replace(L, index);
}

int tz_table_get(lua_State *L, int index, const char *key)
{
    index = lua_absindex(L, index);
    lua_pushstring(L, key);
    return lua_rawget(L, index);
}

void tz_keys_check(lua_State *L, int index, const char *what, const char *const *keys, size_t n,
                   bool list)
{
    index = lua_absindex(L, index);
    refuse_metatable(L, index, what);
    const lua_Integer length = (lua_Integer)lua_rawlen(L, index);
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            const char *key = tz_text_check(L, -2, what, "key");
            bool known = false;
            for (size_t i = 0; !known && i < n; i++)
                known = strcmp(key, keys[i]) == 0;
            if (!known)
                raise_unknown(L, what, key, keys, n);
        } else if (!list) {
            tz_raise(L, "%s: needs named options such as %s = …, not a list element", what,
                     n > 0 ? keys[0] : "name");
        } else if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 ||
                   lua_tointeger(L, -2) > length) {
            tz_raise(L, "%s: a list must have the indices 1, 2, … without gaps", what);
        }
        copy_element(L);
    }
    lua_replace(L, index);
}

void tz_keys_take(lua_State *L, int index, const char *what, const tz_key *options, bool list)
{
    enum { MOST = 64 };
    const char *keys[MOST];
    size_t n = 0;
    for (const tz_key *row; n < MOST && (row = tz_key_at(options, n)); n++)
        keys[n] = row->key;
    index = lua_absindex(L, index);
    tz_keys_check(L, index, what, keys, n, list);
    lua_createtable(L, 0, 1);
    lua_pushlightuserdata(L, (void *)options);
    lua_rawsetp(L, -2, &rows_key);
    lua_setmetatable(L, index);
}

void tz_options_take(lua_State *L, const char *what, const tz_key *options, const char *example)
{
    if (example && !lua_istable(L, 1))
        tz_raise(L, "%s: needs a table: %s", what, example);
    tz_options_check(L, 1, what);
    lua_settop(L, 1);
    tz_keys_take(L, 1, what, options, false);
}

void tz_options_check(lua_State *L, int index, const char *what)
{
    if (!lua_istable(L, index))
        tz_raise(L, "%s: needs a table of options, not %s", what, tz_kind_text(L, index));
}

size_t tz_list_check(lua_State *L, const char *what, const char *key, const char *wanted)
{
    if (!lua_istable(L, -1))
        tz_raise_kind(L, -1, what, key, wanted);
    const lua_Unsigned length = lua_rawlen(L, -1);
    lua_Unsigned count = 0;
    lua_pushnil(L);
    for (; lua_next(L, -2) != 0; lua_pop(L, 1)) {
        if (!lua_isinteger(L, -2))
            tz_raise(L, "%s: '%s' must be a plain list; '%.60s' is no index", what, key,
                     lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : luaL_typename(L, -2));
        count++;
    }
    if (count != length)
        tz_raise(L, "%s: '%s' must be a list without gaps", what, key);
    return length;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

noreturn void tz_raise_missing(lua_State *L, const char *what, const char *key, int index,
                               const char *const *names, size_t n)
{
    enum { MOST = 64 };
    const char *known[MOST];
    size_t count = 0;
    luaL_checktype(L, index, LUA_TTABLE);
    for (; count < n; count++)
        known[count] = names[count];
    lua_pushnil(L);
    while (count < MOST && lua_next(L, index) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING)
            known[count++] = lua_tostring(L, -1);
    }
    qsort(known, count, sizeof *known, compare_names); /* Lua's order changes from run to run */
    char hint[512];
    tz_raise(L, "%s has no '%.60s'%s", what, key,
             tz_names_hint(hint, sizeof hint, key, known, count));
}

/* ---- Readers --------------------------------------------------------------------------------- */

bool tz_key_push(lua_State *L, int index, const char *key)
{
    index = lua_absindex(L, index);
    if (tz_table_get(L, index, key) != LUA_TNIL)
        return true;
    const tz_key *row = row_of(L, index, key);
    lua_pop(L, 1);
    push_default(L, row);
    return false;
}

/* Push the value or the default of a key; pushes nothing, and returns false, if there is
 * neither. */
static bool get(lua_State *L, int index, const char *key, bool *given)
{
    *given = tz_key_push(L, index, key);
    if (!lua_isnil(L, -1))
        return true;
    lua_pop(L, 1);
    return false;
}

bool tz_key_number(lua_State *L, int index, const char *what, const char *key, double *out)
{
    index = lua_absindex(L, index);
    bool given;
    if (!get(L, index, key, &given))
        return false;
    const tz_key *row = row_of(L, index, key);
    if (lua_type(L, -1) != LUA_TNUMBER)
        tz_raise_kind(L, -1, what, key, "a number");
    const double value = lua_tonumber(L, -1);
    if (!isfinite(value))
        tz_raise(L, "%s: '%s' must be a finite number", what, key);
    if (row && row->least < row->most && !(value >= row->least && value <= row->most))
        tz_raise(
            L, isinf(row->most) ? "%s: '%s' must be %g or more" : "%s: '%s' must be from %g to %g",
            what, key, row->least, row->most);
    *out = value;
    lua_pop(L, 1);
    return given;
}

int64_t tz_integer_check(lua_State *L, int index, const char *what, const char *name, int64_t low,
                         int64_t high)
{
    int is_integer = 0;
    if (lua_type(L, index) != LUA_TNUMBER)
        tz_raise_kind(L, index, what, name, "an integer");
    const int64_t value = lua_tointegerx(L, index, &is_integer);
    if (!is_integer) {
        char number[TZ_NUMBER_SIZE];
        tz_raise(L, "%s: '%s' must be an integer, not %s", what, name,
                 tz_number_format(number, lua_tonumber(L, index)));
    }
    if (value < low && high >= INT64_MAX / 4)
        tz_raise(L, "%s: '%s' must be at least %lld, not %lld", what, name, (long long)low,
                 (long long)value);
    if (value < low || value > high)
        tz_raise(L, "%s: '%s' must be from %lld to %lld, not %lld", what, name, (long long)low,
                 (long long)high, (long long)value);
    return value;
}

bool tz_key_integer(lua_State *L, int index, const char *what, const char *key, int64_t *out)
{
    index = lua_absindex(L, index);
    bool given;
    if (!get(L, index, key, &given))
        return false;
    const tz_key *row = row_of(L, index, key);
    const bool limited = row && row->least < row->most;
    *out = tz_integer_check(L, -1, what, key, limited ? (int64_t)row->least : INT64_MIN,
                            !limited           ? INT64_MAX
                            : isinf(row->most) ? INT64_MAX / 4
                                               : (int64_t)row->most);
    lua_pop(L, 1);
    return given;
}

const char *tz_text_check(lua_State *L, int index, const char *what, const char *name)
{
    if (lua_type(L, index) != LUA_TSTRING)
        tz_raise_kind(L, index, what, name, "a string");
    const char *text = lua_tostring(L, index);
    if (strlen(text) != lua_rawlen(L, index))
        tz_raise(L, "%s: '%s' holds a zero byte", what, name);
    return text;
}

bool tz_key_text(lua_State *L, int index, const char *what, const char *key, const char **out)
{
    index = lua_absindex(L, index);
    bool given;
    if (!get(L, index, key, &given))
        return false;
    *out = tz_text_check(L, -1, what, key);
    if (!given && lua_getmetatable(L, index)) { /* which keeps the default */
        lua_pushvalue(L, -2);
        lua_setfield(L, -2, key);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return given;
}

bool tz_key_choice(lua_State *L, int index, const char *what, const char *key, int *out)
{
    index = lua_absindex(L, index);
    enum { MOST = 32 };
    const char *names[MOST];
    char hint[256];
    bool given;
    const tz_key *row = row_of(L, index, key);
    if (!get(L, index, key, &given))
        return false;
    const char *name = tz_text_check(L, -1, what, key);
    size_t n = 0;
    for (const char *next; n < MOST && (next = row->names((int)n)); n++) {
        names[n] = next;
        if (strcmp(name, next) == 0) {
            *out = (int)n;
            lua_pop(L, 1);
            return given;
        }
    }
    tz_raise(L, "%s: unknown %s '%.40s'%s", what, key, name,
             tz_names_hint(hint, sizeof hint, name, names, n));
}

const char *tz_key_file(lua_State *L, int index, const char *what, const tz_format *only)
{
    const char *file = NULL;
    char endings[256];
    if (!tz_key_text(L, index, what, "file", &file))
        tz_raise(L, "%s: 'file' is missing: \"NAME.png\"", what);
    const tz_format *format = tz_format_of_file(file, TZ_TO_DRAW);
    if (!format || (only && format != only))
        tz_raise(L, "%s: 'file' must end in %s", what,
                 only ? only->suffix : tz_format_endings(TZ_TO_DRAW, 0, endings));
    if (!tz_context_get(L)->options->library) /* where it is a path of the program's */
        tz_try(L, what, tz_folder_check_name(file, tz_fault(L)));
    return file;
}

bool tz_key_copy(lua_State *L, int index, const char *what, const char *key, char *out, size_t size)
{
    const char *text = NULL;
    if (!tz_key_text(L, index, what, key, &text))
        return false;
    if (strlen(text) >= size)
        tz_raise(L, "%s: '%s' is longer than %zu characters", what, key, size - 1);
    memcpy(out, text, strlen(text) + 1);
    return true;
}

bool tz_key_flag(lua_State *L, int index, const char *what, const char *key, bool *out)
{
    bool given;
    if (!get(L, index, key, &given))
        return false;
    if (!lua_isboolean(L, -1))
        tz_raise_kind(L, -1, what, key, "true or false");
    *out = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return given;
}

bool tz_key_range(lua_State *L, int index, const char *what, const char *key, bool equal,
                  double *low, double *high)
{
    bool given;
    if (!get(L, index, key, &given))
        return false;
    double pair[2];
    bool ok = lua_istable(L, -1) && tz_list_check(L, what, key, "a list") == 2;
    for (int i = 0; ok && i < 2; i++) {
        ok = lua_rawgeti(L, -1, i + 1) == LUA_TNUMBER && isfinite(lua_tonumber(L, -1));
        pair[i] = ok ? lua_tonumber(L, -1) : 0;
        lua_pop(L, 1);
    }
    if (!ok)
        tz_raise(L, "%s: '%s' must be two finite numbers {low, high}", what, key);
    if (pair[0] > pair[1] || (!equal && pair[0] == pair[1]))
        tz_raise(L, "%s: '%s' must be {low, high} with low %s high", what, key, equal ? "<=" : "<");
    lua_pop(L, 1);
    *low = pair[0];
    *high = pair[1];
    return given;
}

int tz_key_vector(lua_State *L, int index, const char *what, const char *key, double above,
                  double out[3])
{
    const int type = tz_table_get(L, index, key);
    size_t count = type == LUA_TNIL ? 0 : 1;
    if (type == LUA_TTABLE) {
        count = tz_list_check(L, what, key, "a list of numbers");
        if (count < 1 || count > 3)
            tz_raise(L, "%s: '%s' must hold 1 to %d numbers, not %zu", what, key, 3, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (type == LUA_TTABLE)
            lua_rawgeti(L, -1, (lua_Integer)i + 1);
        else
            lua_pushvalue(L, -1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            tz_raise_kind(L, -1, what, key, "a number or a list of numbers");
        out[i] = lua_tonumber(L, -1);
        if (!isfinite(out[i]) || out[i] <= above)
            tz_raise(L, "%s: '%s' must be finite%s", what, key, above < 0 ? "" : " and above 0");
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return (int)count;
}

int tz_key_integers(lua_State *L, int index, const char *what, const char *key, int most,
                    int64_t low, int64_t *out)
{
    bool given;
    if (!get(L, index, key, &given))
        return 0;
    if (lua_type(L, -1) == LUA_TNUMBER) {
        out[0] = tz_integer_check(L, -1, what, key, low, INT64_MAX);
        lua_pop(L, 1);
        return 1;
    }
    const size_t count = tz_list_check(L, what, key, "a list of integers");
    if (count < 1 || count > (size_t)most)
        tz_raise(L, "%s: '%s' must hold 1 to %d numbers, not %zu", what, key, most, count);
    for (size_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.40s[%zu]", key, i + 1);
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        out[i] = tz_integer_check(L, -1, what, name, low, INT64_MAX);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return (int)count;
}

void tz_path_resolve(lua_State *L, const char *path, char *text, size_t size)
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

/* ---- Tables for scripts ---------------------------------------------------------------------- */

void tz_set_number(lua_State *L, const char *key, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

void tz_set_integer(lua_State *L, const char *key, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

void tz_set_text(lua_State *L, const char *key, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

void tz_set_flag(lua_State *L, const char *key, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

void tz_push_integers(lua_State *L, int64_t count, const int64_t *values)
{
    lua_createtable(L, count < INT_MAX ? (int)count : INT_MAX, 0);
    for (int64_t i = 0; i < count; i++) {
        lua_pushinteger(L, values[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static void push_texts(lua_State *L, const tz_cell *cell)
{
    lua_createtable(L, cell->count, 0);
    for (int i = 0; i < cell->count; i++) {
        lua_pushstring(L, tz_cell_item(cell, i));
        lua_rawseti(L, -2, i + 1);
    }
}

static void push_named(lua_State *L, const tz_cell *cell)
{
    lua_createtable(L, 0, cell->count);
    for (int i = 0; i < cell->count; i++) {
        double value;
        const char *name = tz_cell_name(cell, i, &value);
        tz_set_number(L, name, value);
    }
}

void tz_push_cell(lua_State *L, const tz_cell *cell)
{
    switch (cell->kind) {
    case TZ_CELL_NONE:
    case TZ_CELL_NULL:
        lua_pushnil(L);
        return;
    case TZ_CELL_FLAG:
        lua_pushboolean(L, cell->flag);
        return;
    case TZ_CELL_INTEGER:
        lua_pushinteger(L, cell->integer);
        return;
    case TZ_CELL_REAL:
        lua_pushnumber(L, cell->real);
        return;
    case TZ_CELL_TEXT:
        lua_pushstring(L, cell->text);
        return;
    case TZ_CELL_MADE:
        lua_pushstring(L, cell->made);
        return;
    case TZ_CELL_INTEGERS:
        tz_push_integers(L, cell->count, cell->integers);
        return;
    case TZ_CELL_TEXTS:
        push_texts(L, cell);
        return;
    case TZ_CELL_NAMED:
        push_named(L, cell);
        return;
    case TZ_CELL_ROW:
        lua_newtable(L);
        tz_set_row(L, cell->sheet.columns, cell->sheet.context, cell->sheet.rows);
        return;
    case TZ_CELL_ROWS:
        tz_push_sheet(L, &cell->sheet);
        return;
    }
}

void tz_set_row(lua_State *L, const tz_sheet_column *columns, const void *context, const void *row)
{
    for (const tz_sheet_column *column = columns; !tz_sheet_column_is_last(column); column++) {
        const bool merged = column->part && !column->key;
        if (!merged && !tz_sheet_column_is_in(column, TZ_IN_LUA))
            continue;
        const tz_cell cell = tz_sheet_column_cell(column, context, row);
        if (merged && cell.kind == TZ_CELL_ROW) {
            tz_set_row(L, column->part, cell.sheet.context, cell.sheet.rows);
        } else if (!merged && cell.kind > TZ_CELL_NULL) {
            tz_push_cell(L, &cell);
            lua_setfield(L, -2, column->key);
        }
    }
}

void tz_push_sheet(lua_State *L, const tz_sheet *sheet)
{
    luaL_checkstack(L, 8, NULL);
    lua_createtable(L, sheet->count, 0);
    for (int i = 0; i < sheet->count; i++) {
        lua_newtable(L);
        tz_set_row(L, sheet->columns, sheet->context, tz_sheet_row(sheet, i));
        lua_rawseti(L, -2, i + 1);
    }
}

void *tz_push_owned(lua_State *L, size_t size, lua_CFunction release)
{
    void *made = memset(lua_newuserdatauv(L, size, 0), 0, size);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, release);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    return made;
}

void tz_push_line(lua_State *L, char between)
{
    luaL_Buffer line;
    const int n = lua_gettop(L);
    luaL_buffinit(L, &line);
    for (int i = 1; i <= n; i++) {
        if (i > 1)
            luaL_addchar(&line, between);
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
}
