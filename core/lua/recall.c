#include "lua/recall.h"

#include "base/file.h"
#include "lua/checkpoint.h"
#include "lua/interrupt.h"
#include "lua/resume.h"
#include "sim/checkpoint_file.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which call it is ------------------------------------------------------------------------ */

typedef struct call_id {
    uint32_t name, line, arguments; /* hashes, and the script's line */
} call_id;

static uint32_t hash_bytes(uint32_t hash, const void *data, size_t count)
{
    const unsigned char *from = data;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ from[i]) * UINT32_C(0x01000193);
    return hash;
}

static uint32_t hash_name(const char *name)
{
    return hash_bytes(UINT32_C(0x811c9dc5), name, strcspn(name, "("));
}

/* The line of the script that calls. */
static int line_of(lua_State *L, char *file, size_t size)
{
    lua_Debug caller;
    if (size > 0)
        snprintf(file, size, "the script");
    for (int level = 0; lua_getstack(L, level, &caller); level++) {
        lua_getinfo(L, "Sl", &caller);
        if (caller.currentline > 0) {
            if (size > 0)
                snprintf(file, size, "%s", caller.short_src);
            return caller.currentline;
        }
    }
    return 0;
}

/* Numbers, texts and booleans count; of others, what they are. */
static uint32_t hash_arguments(lua_State *L)
{
    uint32_t hash = UINT32_C(0x811c9dc5);
    for (int i = 1; i <= lua_gettop(L); i++) {
        const int type = lua_type(L, i);
        hash = hash_bytes(hash, &type, sizeof type);
        if (type == LUA_TSTRING) {
            size_t length;
            const char *text = lua_tolstring(L, i, &length);
            hash = hash_bytes(hash, text, length);
        } else if (type == LUA_TNUMBER) {
            const lua_Number number = lua_tonumber(L, i);
            hash = hash_bytes(hash, &number, sizeof number);
        } else if (type == LUA_TBOOLEAN) {
            const int value = lua_toboolean(L, i);
            hash = hash_bytes(hash, &value, sizeof value);
        }
    }
    return hash;
}

static call_id identify(lua_State *L, const char *name)
{
    return (call_id){hash_name(name), (uint32_t)line_of(L, NULL, 0), hash_arguments(L)};
}

/* What a journal's name was, as far as it can be told. */
static void name_of(lua_State *L, uint32_t hash, char *text, size_t size)
{
    const tz_api_function *const *rows = tz_api_rows(L);
    snprintf(text, size, "something else");
    for (; *rows; rows++)
        if (hash_name((*rows)->signature) == hash)
            snprintf(text, size, "%.*s", (int)strcspn((*rows)->signature, "("), (*rows)->signature);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static void break_replay(lua_State *L, const char *text)
{
    tz_recall *recall = &tz_context_get(L)->recall;
    char file[120];
    const int line = line_of(L, file, sizeof file);
    if (recall->mode != TZ_RECALL_BROKEN)
        snprintf(recall->why, sizeof recall->why, "%s:%d: %s", file, line, text);
    recall->mode = TZ_RECALL_BROKEN;
}

tz_status tz_recall_break(lua_State *L, tz_error *error, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    break_replay(L, text);
    return tz_error_set(error, TZ_SCRIPT, NULL, "%s", text);
}

noreturn void tz_recall_refuse(lua_State *L, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    break_replay(L, text);
    lua_pushstring(L, tz_context_get(L)->recall.why);
    lua_error(L);
    abort();
}

void tz_recall_taint(lua_State *L, const char *what)
{
    tz_recall *recall = &tz_context_get(L)->recall;
    char file[120];
    if (recall->mode != TZ_RECALL_RECORDS || recall->tainted)
        return;
    const int line = line_of(L, file, sizeof file);
    recall->tainted = true;
    snprintf(recall->why, sizeof recall->why, "%s:%d: %s", file, line, what);
}

/* ---- Entries --------------------------------------------------------------------------------- */

void tz_recall_add(tz_context *context, tz_entry_kind kind, const tz_bytes *bytes)
{
    if (tz_recall_records(context))
        tz_journal_add(context->recall.journal, kind, bytes->data, bytes->used);
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

static call_id read_id(tz_reading *reading)
{
    call_id id;
    id.name = tz_reading_u32(reading);
    id.line = tz_reading_u32(reading);
    id.arguments = tz_reading_u32(reading);
    return id;
}

static void put_id(tz_bytes *bytes, const call_id *id)
{
    tz_bytes_put_u32(bytes, id->name);
    tz_bytes_put_u32(bytes, id->line);
    tz_bytes_put_u32(bytes, id->arguments);
}

/* Take the entry of this very call. */
static void take_same(lua_State *L, tz_entry_kind kind, const char *name, const call_id *id,
                      tz_reading *reading)
{
    char short_name[80], other[80];
    snprintf(short_name, sizeof short_name, "%.*s", (int)strcspn(name, "("), name);
    tz_recall_take(L, kind, short_name, reading);
    const call_id was = read_id(reading);
    if (was.name != id->name) {
        name_of(L, was.name, other, sizeof other);
        tz_recall_refuse(L,
                         "the script calls %s here, and called %s in line %u before the "
                         "checkpoint: a run can only go on if its script does the same again",
                         short_name, other, was.line);
    }
    if (was.line != id->line)
        tz_recall_refuse(L,
                         "the script calls %s here, and did so in line %u before the checkpoint: a "
                         "run can only go on if its script does the same again",
                         short_name, was.line);
    if (was.arguments != id->arguments)
        tz_recall_refuse(L,
                         "the script gives other arguments to %s than before the checkpoint: a run "
                         "can only go on if its script does the same again",
                         short_name);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

void tz_recall_point(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    tz_journal_entry entry;
    if (context->recall.mode == TZ_RECALL_BROKEN)
        tz_recall_refuse(L, "%s", "");
    if (tz_recall_replays(context)) {
        if (!tz_recall_peek(context, &entry) && tz_recall_replays(context))
            tz_resume_here(L);
    } else if (tz_recall_records(context) && tz_interrupt_signal() != 0) {
        tz_checkpoint_at_signal(L);
    }
}

/* Record the results of a call that has returned, or the message of its error. */
static void add_results(lua_State *L, const char *name, const call_id *id, bool good, int results)
{
    tz_context *context = tz_context_get(L);
    tz_bytes bytes = {.data = NULL};
    const unsigned char is_good = good;
    const int first = lua_gettop(L) - results + 1;
    const size_t large = tz_values_array_bytes(L, first, results);
    if (large <= TZ_VALUES_ARRAY_BYTES_MAX && large > tz_journal_room(context->recall.journal)) {
        tz_journal_add(context->recall.journal, TZ_ENTRY_RESULT, NULL, large); /* fails */
        return;
    }
    put_id(&bytes, id);
    tz_bytes_put(&bytes, &is_good, 1);
    const char *why = tz_values_put(L, first, results, &bytes);
    if (why) {
        char text[200];
        snprintf(text, sizeof text, "%.*s gave %s, which the journal does not keep",
                 (int)strcspn(name, "("), name, why);
        tz_recall_taint(L, text);
    } else {
        tz_recall_add(context, TZ_ENTRY_RESULT, &bytes);
    }
    free(bytes.data);
}

/* Push what the call gave before the checkpoint, or raise its error. */
static int give_results(lua_State *L, const char *name, const call_id *id)
{
    tz_reading reading;
    unsigned char good = 0;
    take_same(L, TZ_ENTRY_RESULT, name, id, &reading);
    tz_reading_get(&reading, &good, 1);
    const int results = tz_values_push(L, &reading);
    if (results < 0 || (!good && results != 1))
        tz_recall_refuse(L, "the journal is damaged");
    return good ? results : lua_error(L);
}

/* Make the call, with its arguments moved to a stack of its own: here nothing then holds what it works
 * on (guard.h). */
static int call_and_record(lua_State *L, const tz_api_function *function, const call_id *id)
{
    lua_pushcfunction(L, function->call);
    lua_insert(L, 1);
    const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    if (status == LUA_ERRMEM || (status != LUA_OK && tz_interrupt_signal() != 0))
        return lua_error(L);
    add_results(L, function->signature, id, status == LUA_OK, lua_gettop(L));
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

int tz_recall_call(lua_State *L, const tz_api_function *function)
{
    tz_context *context = tz_context_get(L);
    tz_recall_point(L);
    if (tz_recall_records(context) && tz_journal_room(context->recall.journal) == 0)
        return function->call(L); /* there will be no checkpoint any more */
    const call_id id = identify(L, function->signature);
    const bool replays = tz_recall_replays(context);
    if (function->recall == TZ_RECALL_CALL || function->recall == TZ_RECALL_OWN) {
        tz_bytes bytes = {.data = NULL};
        tz_reading reading;
        put_id(&bytes, &id);
        tz_recall_add(context, TZ_ENTRY_CALL, &bytes);
        free(bytes.data);
        if (replays)
            take_same(L, TZ_ENTRY_CALL, function->signature, &id, &reading);
        return function->call(L);
    }
    if (!replays)
        return call_and_record(L, function, &id);
    if (function->recall == TZ_RECALL_BOTH) {
        lua_pushcfunction(L, function->call);
        lua_insert(L, 1);
        lua_call(L, lua_gettop(L) - 1, 0);
    }
    lua_settop(L, 0);
    return give_results(L, function->signature, &id);
}

/* ---- Values ---------------------------------------------------------------------------------- */

void tz_recall_exchange(lua_State *L, const char *what)
{
    tz_context *context = tz_context_get(L);
    if (context->recall.mode == TZ_RECALL_OFF)
        return;
    tz_recall_point(L);
    const call_id id = {hash_name(what), (uint32_t)line_of(L, NULL, 0), 0};
    if (tz_recall_records(context)) {
        tz_bytes bytes = {.data = NULL};
        put_id(&bytes, &id);
        const char *why = tz_values_put(L, lua_gettop(L), 1, &bytes);
        if (why)
            tz_recall_taint(L, what);
        else
            tz_recall_add(context, TZ_ENTRY_VALUE, &bytes);
        free(bytes.data);
        return;
    }
    tz_reading reading;
    take_same(L, TZ_ENTRY_VALUE, what, &id, &reading);
    lua_pop(L, 1);
    if (tz_values_push(L, &reading) != 1)
        tz_recall_refuse(L, "the journal is damaged");
}

/* Upvalue 1 is the function, 2 its name. */
static int exchanged(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    tz_recall_exchange(L, lua_tostring(L, lua_upvalueindex(2)));
    return 1;
}

void tz_recall_wrap(lua_State *L, const char *what)
{
    lua_pushstring(L, what);
    lua_pushcclosure(L, exchanged, 2);
}

static int tainted(lua_State *L)
{
    char text[120];
    snprintf(text, sizeof text, "the script uses %s, which cannot be replayed",
             lua_tostring(L, lua_upvalueindex(2)));
    if (tz_recall_replays(tz_context_get(L)))
        tz_recall_refuse(L, "%s", text);
    tz_recall_taint(L, text);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

void tz_recall_taint_wrap(lua_State *L, const char *what)
{
    lua_pushstring(L, what);
    lua_pushcclosure(L, tainted, 2);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A hash of the size and of pieces that are spread over the file: all of a short one. */
static uint64_t hash_file(const char *path)
{
    enum { PIECES = 256, PIECE_BYTES = 1 << 16 };
    uint64_t sum = 0;
    FILE *file = fopen(path, "rbe");
    char *room = malloc(PIECE_BYTES);
    if (file && room && fseeko(file, 0, SEEK_END) == 0) {
        const int64_t size = (int64_t)ftello(file), step = size / PIECES / 8 * 8;
        const int64_t stride = step > PIECE_BYTES ? step : PIECE_BYTES;
        sum = (uint64_t)size;
        for (int64_t at = 0; at < size; at += stride) {
            fseeko(file, (off_t)at, SEEK_SET);
            sum += tz_file_sum(at, room, fread(room, 1, PIECE_BYTES, file));
        }
    }
    free(room);
    if (file)
        fclose(file);
    return sum;
}

void tz_recall_input(lua_State *L, const char *path)
{
    tz_context *context = tz_context_get(L);
    if (!tz_recall_records(context) && !tz_recall_replays(context))
        return;
    const int64_t hash = (int64_t)hash_file(path);
    tz_recall_point(L);
    if (tz_recall_records(context)) {
        tz_bytes bytes = {.data = NULL};
        tz_bytes_put_i64(&bytes, hash);
        tz_recall_add(context, TZ_ENTRY_INPUT, &bytes);
        free(bytes.data);
        return;
    }
    tz_reading reading;
    tz_recall_take(L, TZ_ENTRY_INPUT, path, &reading);
    if (tz_reading_i64(&reading) != hash)
        tz_recall_refuse(L, "%.400s is not the file that the run has read: its content has changed",
                         path);
}

void tz_recall_file(tz_context *context, const char *name)
{
    if (!tz_recall_records(context))
        return;
    tz_journal_add(context->recall.journal, TZ_ENTRY_FILE, name, strlen(name));
}
