/* What scripts call: arguments are counted, results are recorded or replayed. All files that
 * register functions use it. */
#include "lua/api.h"

#include "base/file.h"
#include "lua/checkpoint.h"
#include "lua/guard.h"
#include "lua/interrupt.h"
#include "lua/recall.h"
#include <limits.h>
#include <stdbool.h>
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
    return (call_id){hash_name(name), (uint32_t)tz_script_line(L, NULL, 0), hash_arguments(L)};
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

/* Take the entry of this very call. */
static void take_same(lua_State *L, tz_entry_kind kind, const char *name, const call_id *id,
                      tz_reading *reading)
{
    char short_name[80], other[80];
    snprintf(short_name, sizeof short_name, "%.*s", (int)strcspn(name, "("), name);
    tz_recall_take(L, kind, short_name, reading);
    call_id was;
    tz_reading_get(reading, &was, sizeof was);
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

/* A place between two calls: here a checkpoint may have been written, and is written after a
 * signal. In a replay that has come to its checkpoint, the run goes on from there. */
static void recall_point(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    tz_journal_entry entry;
    if (context->recall.mode == TZ_RECALL_BROKEN)
        tz_recall_refuse(L, "%s", "");
    if (tz_recall_replays(context)) {
        if (!tz_recall_peek(context, &entry) && tz_recall_replays(context))
            tz_resume_here(L);
    } else if (tz_recall_records(context) && tz_context_stops(context)) {
        tz_checkpoint_at_signal(L);
    }
}

/* Record the results of a call that has returned, or the message of its error. */
static void add_results(lua_State *L, const char *name, const call_id *id, bool good, int results)
{
    tz_context *context = tz_context_get(L);
    tz_buffer bytes = {.text = NULL};
    const unsigned char is_good = good;
    const int first = lua_gettop(L) - results + 1;
    const size_t large = tz_values_array_bytes(L, first, results);
    if (large <= TZ_VALUES_ARRAY_BYTES_MAX && large > tz_journal_room(context->recall.journal)) {
        tz_journal_add(context->recall.journal, TZ_ENTRY_RESULT, NULL, large); /* fails */
        return;
    }
    tz_buffer_put(&bytes, id, sizeof *id);
    tz_buffer_put(&bytes, &is_good, 1);
    const char *why = tz_values_put(L, first, results, &bytes);
    if (why) {
        char text[200];
        snprintf(text, sizeof text, "%.*s gave %s, which the journal does not keep",
                 (int)strcspn(name, "("), name, why);
        tz_recall_taint(L, text);
    } else {
        tz_recall_add(context, TZ_ENTRY_RESULT, &bytes);
    }
    free(bytes.text);
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

/* Its row is upvalue 1, as that of checked() is: tz_api_data. */
static void push_call(lua_State *L, const tz_api_function *function)
{
    lua_pushlightuserdata(L, (void *)function);
    lua_pushcclosure(L, function->call, 1);
}

/* Make the call, with its arguments moved to a stack of its own: here nothing then holds what it
 * works on (guard.h). */
static int call_and_record(lua_State *L, const tz_api_function *function, const call_id *id)
{
    push_call(L, function);
    lua_insert(L, 1);
    const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    if (status == LUA_ERRMEM || (status != LUA_OK && tz_interrupt_signal() != 0))
        return lua_error(L);
    add_results(L, function->signature, id, status == LUA_OK, lua_gettop(L));
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* Call a function with all arguments on the stack, as its member `recall` says. */
static int recall_call(lua_State *L, const tz_api_function *function)
{
    tz_context *context = tz_context_get(L);
    recall_point(L);
    if (tz_recall_records(context) && tz_journal_room(context->recall.journal) == 0)
        return function->call(L); /* there will be no checkpoint any more */
    const call_id id = identify(L, function->signature);
    const bool replays = tz_recall_replays(context);
    if (function->recall == TZ_RECALL_CALL || function->recall == TZ_RECALL_OWN) {
        tz_reading reading;
        tz_recall_put(context, TZ_ENTRY_CALL, "uuu", id.name, id.line, id.arguments);
        if (replays)
            take_same(L, TZ_ENTRY_CALL, function->signature, &id, &reading);
        if (function->recall == TZ_RECALL_CALL && !function->keeps &&
            luaL_testudata(L, 1, TZ_TYPE_SIMULATION))
            tz_checkpoint_forget_end(context);
        return function->call(L);
    }
    if (!replays)
        return call_and_record(L, function, &id);
    if (function->recall == TZ_RECALL_BOTH) {
        push_call(L, function);
        lua_insert(L, 1);
        lua_call(L, lua_gettop(L) - 1, 0);
    }
    lua_settop(L, 0);
    return give_results(L, function->signature, &id);
}

/* ---- Values ---------------------------------------------------------------------------------- */

void tz_api_exchange(lua_State *L, const char *what)
{
    tz_context *context = tz_context_get(L);
    if (context->recall.mode == TZ_RECALL_OFF)
        return;
    recall_point(L);
    const call_id id = {hash_name(what), (uint32_t)tz_script_line(L, NULL, 0), 0};
    if (tz_recall_records(context)) {
        tz_buffer bytes = {.text = NULL};
        tz_buffer_put(&bytes, &id, sizeof id);
        const char *why = tz_values_put(L, lua_gettop(L), 1, &bytes);
        if (why)
            tz_recall_taint(L, what);
        else
            tz_recall_add(context, TZ_ENTRY_VALUE, &bytes);
        free(bytes.text);
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
    tz_api_exchange(L, lua_tostring(L, lua_upvalueindex(2)));
    return 1;
}

void tz_api_wrap(lua_State *L, const char *what)
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

void tz_api_taint_wrap(lua_State *L, const char *what)
{
    lua_pushstring(L, what);
    lua_pushcclosure(L, tainted, 2);
}

/* ---- Files that are read --------------------------------------------------------------------- */

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

void tz_api_input(lua_State *L, const char *path)
{
    tz_context *context = tz_context_get(L);
    const tz_script_sink *sink = &context->options->sink;
    if (sink->input)
        sink->input(sink->context, path);
    if (!tz_recall_records(context) && !tz_recall_replays(context))
        return;
    const int64_t hash = (int64_t)hash_file(path);
    recall_point(L);
    tz_recall_put(context, TZ_ENTRY_INPUT, "i", hash);
    if (tz_recall_records(context))
        return;
    tz_reading reading;
    int64_t was;
    tz_recall_take(L, TZ_ENTRY_INPUT, path, &reading);
    tz_reading_unpack(&reading, "i", &was);
    if (was != hash)
        tz_recall_refuse(L, "%.400s is not the file that the run has read: its content has changed",
                         path);
}

/* ---- Functions and metatables ---------------------------------------------------------------- */

/* The most arguments of a signature, without the object of a method. */
static int count_arguments(const char *signature)
{
    const char *list = strchr(signature, '(') + 1;
    if (strstr(list, "..."))
        return INT_MAX - 1;
    int count = *list != ')';
    for (const char *c = list; *c != '\0'; c++)
        count += *c == ',';
    return count;
}

static bool is_method(const char *signature)
{
    return memchr(signature, ':', strcspn(signature, "(")) != NULL;
}

/* What scripts call: upvalue 1 is the row, 2 the most arguments that it takes. */
static int checked(lua_State *L)
{
    const tz_api_function *function = lua_touserdata(L, lua_upvalueindex(1));
    const int most = (int)lua_tointeger(L, lua_upvalueindex(2));
    tz_guard_stack(L);
    if (lua_gettop(L) > most) {
        const char *signature = function->signature;
        tz_raise(L, "%.*s: unexpected argument %d (%s); it is %s", (int)strcspn(signature, "("),
                 signature, most + 1 - is_method(signature), tz_kind_text(L, most + 1), signature);
    }
    const bool asks = function->recall == TZ_RECALL_BOTH && lua_gettop(L) == 1;
    if (asks || function->recall == TZ_RECALL_GIVE)
        tz_context_get(L)->asked = true;
    return function->recall == TZ_RECALL_PURE || tz_context_get(L)->recall.mode == TZ_RECALL_OFF
               ? function->call(L)
               : recall_call(L, function);
}

const void *tz_api_data(lua_State *L)
{
    return ((const tz_api_function *)lua_touserdata(L, lua_upvalueindex(1)))->data;
}

/* Where the registry keeps the rows: a userdata of pointers. */
static const char rows_key;

const tz_api_function *const *tz_api_rows(lua_State *L)
{
    static const tz_api_function *const none = NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &rows_key);
    const tz_api_function *const *rows = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return rows ? rows : &none;
}

static void remember(lua_State *L, const tz_api_function *functions)
{
    const tz_api_function *const *old = tz_api_rows(L);
    size_t before = 0, more = 0;
    while (old[before])
        before++;
    while (functions[more].signature)
        more++;
    const tz_api_function **rows =
        lua_newuserdatauv(L, (before + more + 1) * sizeof(const tz_api_function *), 0);
    for (size_t i = 0; i < before; i++)
        rows[i] = old[i];
    for (size_t i = 0; i < more; i++)
        rows[before + i] = &functions[i];
    rows[before + more] = NULL;
    lua_rawsetp(L, LUA_REGISTRYINDEX, &rows_key);
}

void tz_api_add(lua_State *L, const tz_api_function *functions)
{
    remember(L, functions);
    for (const tz_api_function *f = functions; f->signature; f++) {
        const char *name = f->signature + strcspn(f->signature, ".:") + 1;
        lua_pushlstring(L, name, strcspn(name, "("));
        lua_pushlightuserdata(L, (void *)f);
        lua_pushinteger(L, count_arguments(f->signature) + is_method(f->signature));
        lua_pushcclosure(L, checked, 2);
        lua_rawset(L, -3);
    }
}

static void push_member(lua_State *L, const tz_api_class *class, const tz_sheet_column *member)
{
    char what[64];
    if (class->check)
        class->check(L, member->key);
    const tz_cell cell = tz_sheet_column_cell(member, NULL, luaL_checkudata(L, 1, class->type));
    tz_push_cell(L, &cell);
    snprintf(what, sizeof what, "%s.%s", class->what, member->key);
    for (const char *const *key = class->differing; key && *key; key++)
        if (strcmp(*key, member->key) == 0)
            tz_api_exchange(L, what);
}

/* Upvalue 1 is the table of methods, 2 the class. */
static int index_class(lua_State *L)
{
    enum { MOST = 16 };
    const tz_api_class *class = lua_touserdata(L, lua_upvalueindex(2));
    if (class->at && lua_type(L, 2) == LUA_TNUMBER) {
        class->at(L);
        return 1;
    }
    const char *key = tz_text_check(L, 2, class->what, "key"), *names[MOST];
    size_t count = 0;
    lua_pushvalue(L, 2);
    if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    for (const tz_sheet_column *m = class->members; !tz_sheet_column_is_last(m); m++) {
        if (strcmp(key, m->key) == 0) {
            push_member(L, class, m);
            return 1;
        }
        names[count++] = m->key;
    }
    tz_raise_missing(L, class->one, key, lua_upvalueindex(1), names, count);
}

void tz_api_add_class(lua_State *L, const tz_api_class *class)
{
    luaL_newmetatable(L, class->type);
    if (class->events)
        luaL_setfuncs(L, class->events, 0);
    lua_newtable(L);
    for (size_t i = 0; class->methods && class->methods[i]; i++)
        tz_api_add(L, class->methods[i]);
    if (class->members) {
        lua_pushlightuserdata(L, (void *)class);
        lua_pushcclosure(L, index_class, 2);
    }
    lua_setfield(L, -2, "__index");
    lua_pushstring(L, class->type);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
