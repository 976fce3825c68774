/* Entries of the journal: values of C and Lua as bytes; and failures of a replay. Calls, runs,
 * outputs and checkpoints use it. */
#include "lua/recall.h"

#include "lua/array.h"
#include "lua/keys.h"
#include <lauxlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Failures -------------------------------------------------------------------------------- */

static const char *break_replay(lua_State *L, tz_error *error, const char *format, va_list values)
{
    tz_recall *recall = &tz_context_get(L)->recall;
    char file[120];
    const int line = tz_script_line(L, file, sizeof file);
    tz_error_set_v(error, TZ_SCRIPT, NULL, format, values);
    if (recall->mode != TZ_RECALL_BROKEN)
        snprintf(recall->why, sizeof recall->why, "%s:%d: %.1000s", file, line, error->message);
    recall->mode = TZ_RECALL_BROKEN;
    return recall->why;
}

tz_status tz_recall_break(lua_State *L, tz_error *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    break_replay(L, error, format, values);
    va_end(values);
    return TZ_SCRIPT;
}

noreturn void tz_recall_refuse(lua_State *L, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const char *why = break_replay(L, tz_fault(L), format, values);
    va_end(values);
    lua_pushstring(L, why);
    lua_error(L);
    abort();
}

void tz_recall_taint(lua_State *L, const char *what)
{
    tz_recall *recall = &tz_context_get(L)->recall;
    char file[120];
    if (recall->mode != TZ_RECALL_RECORDS || recall->tainted)
        return;
    const int line = tz_script_line(L, file, sizeof file);
    recall->tainted = true;
    snprintf(recall->why, sizeof recall->why, "%s:%d: %s", file, line, what);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

enum { DEPTH_MAX = 64, COUNT_MAX = 1 << 20 };

enum { NIL, NO, YES, INTEGER, NUMBER, TEXT, TABLE, ARRAY };

static void put_u32(tz_buffer *bytes, uint32_t value)
{
    tz_buffer_put(bytes, &value, sizeof value);
}

static void put_text(tz_buffer *bytes, const char *text)
{
    const uint32_t length = (uint32_t)strlen(text);
    put_u32(bytes, length);
    tz_buffer_put(bytes, text, length);
}

static void pack(tz_buffer *bytes, const char *format, va_list values)
{
    const int64_t *items;
    for (; *format; format++)
        switch (*format) {
        case 'u':
            put_u32(bytes, va_arg(values, uint32_t));
            break;
        case 'i':
            tz_buffer_put(bytes, &(int64_t){va_arg(values, int64_t)}, sizeof(int64_t));
            break;
        case 'd':
            tz_buffer_put(bytes, &(double){va_arg(values, double)}, sizeof(double));
            break;
        case 'I':
            items = va_arg(values, const int64_t *);
            tz_buffer_put(bytes, items, (size_t)va_arg(values, int) * sizeof *items);
            break;
        default:
            put_text(bytes, va_arg(values, const char *));
        }
}

void tz_reading_get(tz_reading *reading, void *data, size_t count)
{
    if (reading->failed || (size_t)(reading->end - reading->at) < count) {
        reading->failed = true;
        memset(data, 0, count);
        return;
    }
    memcpy(data, reading->at, count);
    reading->at += count;
}

static uint32_t get_u32(tz_reading *reading)
{
    uint32_t value;
    tz_reading_get(reading, &value, sizeof value);
    return value;
}

static void get_text(tz_reading *reading, char *text, size_t size)
{
    const uint32_t length = get_u32(reading);
    text[0] = '\0';
    if (reading->failed || (size_t)(reading->end - reading->at) < length) {
        reading->failed = true;
        return;
    }
    snprintf(text, size, "%.*s", (int)(length < size ? length : size - 1),
             (const char *)reading->at);
    reading->at += length;
}

void tz_reading_unpack(tz_reading *reading, const char *format, ...)
{
    va_list values;
    int64_t *items;
    char *text;
    va_start(values, format);
    for (; *format; format++)
        switch (*format) {
        case 'u':
            tz_reading_get(reading, va_arg(values, uint32_t *), sizeof(uint32_t));
            break;
        case 'i':
            tz_reading_get(reading, va_arg(values, int64_t *), sizeof(int64_t));
            break;
        case 'd':
            tz_reading_get(reading, va_arg(values, double *), sizeof(double));
            break;
        case 'I':
            items = va_arg(values, int64_t *);
            tz_reading_get(reading, items, (size_t)va_arg(values, int) * sizeof *items);
            break;
        default:
            text = va_arg(values, char *);
            get_text(reading, text, va_arg(values, size_t));
        }
    va_end(values);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void put_kind(tz_buffer *bytes, unsigned char kind)
{
    tz_buffer_put(bytes, &kind, 1);
}

static const char *put_array(const tz_array_handle *handle, tz_buffer *bytes)
{
    const tz_array *array = &handle->view;
    if (!array->data)
        return "a closed array";
    const size_t count = (size_t)tz_shape_count(array->dims, array->shape);
    const size_t size = count * tz_dtype_size(array->dtype);
    if (size > TZ_VALUES_ARRAY_BYTES_MAX)
        return "an array of more than 256 MiB";
    put_kind(bytes, ARRAY);
    put_u32(bytes, (uint32_t)array->dtype);
    put_u32(bytes, (uint32_t)array->dims);
    for (int axis = 0; axis < TZ_AXES; axis++)
        tz_buffer_put(bytes, &array->shape[axis], sizeof array->shape[axis]);
    put_text(bytes, handle->source);
    put_text(bytes, handle->rule);
    tz_buffer_put(bytes, array->data, size);
    return NULL;
}

size_t tz_values_array_bytes(lua_State *L, int first, int count)
{
    size_t bytes = 0;
    for (int i = first; i < first + count; i++) {
        const tz_array_handle *handle = luaL_testudata(L, i, TZ_TYPE_ARRAY);
        if (handle && handle->view.data)
            bytes += (size_t)tz_shape_count(handle->view.dims, handle->view.shape) *
                     tz_dtype_size(handle->view.dtype);
    }
    return bytes;
}

static const char *put_value(lua_State *L, int index, tz_buffer *bytes, int depth);

static const char *put_table(lua_State *L, int index, tz_buffer *bytes, int depth)
{
    uint32_t count = 0;
    put_kind(bytes, TABLE);
    const size_t place = bytes->length;
    put_u32(bytes, 0);
    if (depth > DEPTH_MAX || !lua_checkstack(L, 4))
        return "a table in too many tables";
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        const int top = lua_gettop(L);
        const char *why = put_value(L, top - 1, bytes, depth);
        why = why ? why : put_value(L, top, bytes, depth);
        if (why) {
            lua_pop(L, 2);
            return why;
        }
        lua_pop(L, 1);
        count++;
    }
    if (!bytes->failed)
        memcpy(bytes->text + place, &count, sizeof count);
    return NULL;
}

static const char *put_value(lua_State *L, int index, tz_buffer *bytes, int depth)
{
    const tz_array_handle *array;
    size_t length;
    switch (lua_type(L, index)) {
    case LUA_TNIL:
        put_kind(bytes, NIL);
        return NULL;
    case LUA_TBOOLEAN:
        put_kind(bytes, lua_toboolean(L, index) ? YES : NO);
        return NULL;
    case LUA_TNUMBER:
        put_kind(bytes, lua_isinteger(L, index) ? INTEGER : NUMBER);
        if (lua_isinteger(L, index))
            tz_buffer_put(bytes, &(lua_Integer){lua_tointeger(L, index)}, sizeof(lua_Integer));
        else
            tz_buffer_put(bytes, &(lua_Number){lua_tonumber(L, index)}, sizeof(lua_Number));
        return NULL;
    case LUA_TSTRING: {
        const char *text = lua_tolstring(L, index, &length);
        if (length > UINT32_MAX / 2)
            return "a very long text";
        put_kind(bytes, TEXT);
        put_u32(bytes, (uint32_t)length);
        tz_buffer_put(bytes, text, length);
        return NULL;
    }
    case LUA_TTABLE:
        return put_table(L, index, bytes, depth + 1);
    default:
        array = luaL_testudata(L, index, TZ_TYPE_ARRAY);
        return array ? put_array(array, bytes) : "a value that is no number, text, table or array";
    }
}

const char *tz_values_put(lua_State *L, int first, int count, tz_buffer *bytes)
{
    const char *why = NULL;
    put_u32(bytes, (uint32_t)count);
    for (int i = 0; !why && i < count; i++)
        why = put_value(L, first + i, bytes, 0);
    return why ? why : bytes->failed ? "more than memory holds" : NULL;
}

static bool push_array(lua_State *L, tz_reading *reading)
{
    int64_t shape[TZ_AXES];
    const uint32_t dtype = get_u32(reading), dims = get_u32(reading);
    bool good = dtype < TZ_DTYPE_COUNT && dims >= 1 && dims <= TZ_AXES;
    int64_t count = 1;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        tz_reading_get(reading, &shape[axis], sizeof shape[axis]);
        good = good && shape[axis] >= 1 && shape[axis] <= TZ_VALUES_ARRAY_BYTES_MAX / count &&
               (axis < (int)dims || shape[axis] == 1);
        count *= good ? shape[axis] : 1;
    }
    if (!good || reading->failed)
        return false;
    tz_array_handle *handle = tz_array_push(L, "");
    tz_array *array = NULL;
    get_text(reading, handle->source, sizeof handle->source);
    get_text(reading, handle->rule, sizeof handle->rule);
    if (reading->failed ||
        tz_array_create(&array, (tz_dtype)dtype, (int)dims, shape, tz_fault(L)) != TZ_OK)
        return false;
    tz_array_own(handle, array);
    tz_reading_get(reading, array->data, (size_t)count * tz_dtype_size(array->dtype));
    return !reading->failed;
}

static bool push_value(lua_State *L, tz_reading *reading, int depth)
{
    unsigned char kind = 0;
    tz_reading_get(reading, &kind, 1);
    if (reading->failed || depth > DEPTH_MAX + 1)
        return false;
    luaL_checkstack(L, 4, "values");
    if (kind == NIL) {
        lua_pushnil(L);
    } else if (kind == YES || kind == NO) {
        lua_pushboolean(L, kind == YES);
    } else if (kind == INTEGER) {
        lua_Integer integer;
        tz_reading_get(reading, &integer, sizeof integer);
        lua_pushinteger(L, integer);
    } else if (kind == NUMBER) {
        lua_Number number;
        tz_reading_get(reading, &number, sizeof number);
        lua_pushnumber(L, number);
    } else if (kind == TEXT) {
        const uint32_t length = get_u32(reading);
        if (reading->failed || (size_t)(reading->end - reading->at) < length)
            return false;
        lua_pushlstring(L, (const char *)reading->at, length);
        reading->at += length;
    } else if (kind == TABLE) {
        lua_newtable(L);
        for (uint32_t i = get_u32(reading); i > 0; i--) {
            if (!push_value(L, reading, depth + 1) || lua_isnil(L, -1) ||
                (lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) != lua_tonumber(L, -1)) ||
                !push_value(L, reading, depth + 1))
                return false;
            lua_rawset(L, -3);
        }
    } else {
        return kind == ARRAY && push_array(L, reading);
    }
    return !reading->failed;
}

int tz_values_push(lua_State *L, tz_reading *reading)
{
    const uint32_t count = get_u32(reading);
    if (reading->failed || count > COUNT_MAX)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        if (!push_value(L, reading, 0))
            return -1;
    return (int)count;
}

/* ---- Entries --------------------------------------------------------------------------------- */

void tz_recall_put(tz_context *context, tz_entry_kind kind, const char *format, ...)
{
    tz_buffer bytes = {.text = NULL};
    va_list values;
    va_start(values, format);
    pack(&bytes, format, values);
    va_end(values);
    tz_recall_add(context, kind, &bytes);
    free(bytes.text);
}

void tz_recall_add(tz_context *context, tz_entry_kind kind, const tz_buffer *bytes)
{
    if (tz_recall_records(context))
        tz_journal_add(context->recall.journal, kind, bytes->text, bytes->length);
}

bool tz_recall_peek(tz_context *context, tz_journal_entry *entry)
{
    tz_recall *recall = &context->recall;
    while (tz_recall_replays(context) && tz_journal_peek(recall->journal, entry)) {
        if (entry->end >= recall->end)
            return false; /* the checkpoint itself */
        if (entry->kind != TZ_ENTRY_FILE && entry->kind != TZ_ENTRY_CHECKPOINT)
            return true;
        tz_journal_skip(recall->journal);
    }
    return false;
}

void tz_recall_skip(tz_context *context)
{
    tz_journal_skip(context->recall.journal);
}

void tz_recall_take(lua_State *L, tz_entry_kind kind, const char *what, tz_reading *reading)
{
    tz_context *context = tz_context_get(L);
    tz_journal_entry entry;
    if (!tz_recall_peek(context, &entry) || entry.kind != kind)
        tz_recall_refuse(
            L,
            "the script calls %s here, and did something else before the checkpoint: a "
            "run can only go on if its script does the same again",
            what);
    *reading = (tz_reading){entry.data, entry.data + entry.bytes, false};
    tz_recall_skip(context);
}

void tz_recall_file(tz_context *context, const char *name)
{
    if (!tz_recall_records(context))
        return;
    tz_journal_add(context->recall.journal, TZ_ENTRY_FILE, name, strlen(name));
}

void tz_recall_look_for_files(tz_context *context)
{
    const tz_journal *journal = context->recall.journal;
    const char *folder = context->options->resume;
    char first[128] = "", path[PATH_MAX + 160];
    int64_t missing = 0;
    tz_journal_reader reader = {.journal = journal};
    tz_journal_entry entry;
    while (tz_journal_next(&reader, &entry)) {
        if (entry.kind != TZ_ENTRY_FILE || entry.bytes > 120)
            continue;
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)entry.bytes, (const char *)entry.data);
        if (access(path, F_OK) == 0)
            continue;
        if (missing++ == 0)
            snprintf(first, sizeof first, "%.*s", (int)entry.bytes, (const char *)entry.data);
    }
    if (missing > 0)
        tz_context_note(context, TZ_NOTE_WARNING,
                        "%lld file%s that the run wrote before the checkpoint %s gone, for example "
                        "%s: a run that goes on does not write them again",
                        (long long)missing, missing == 1 ? "" : "s", missing == 1 ? "is" : "are",
                        first);
}
