#include "lua/script.h"

#include "backend/cuda/compile/compile.h"
#include "base/names.h"
#include "lua/context.h"
#include "lua/handle.h"
#include "lua/interrupt.h"
#include "output/format/number.h"
#include "output/frame/queue.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SCRIPT_BYTES_MAX = 16 << 20,
    FRAMES_WAITING = 8,
    OUTPUTS_WAITING = 64,
    CORES_OF_PAINTER = 4
};

/* ---- Words ----------------------------------------------------------------------------------- */

void tz_context_note(tz_context *context, tz_note note, const char *format, ...)
{
    char line[2200];
    const tz_script_sink *sink = &context->options->sink;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (context->folder != NULL) {
        char logged[2240];
        snprintf(logged, sizeof logged, "%s%s", note == TZ_NOTE_WARNING ? "warning: " : "", line);
        tz_folder_log(context->folder, logged);
    }
    if (sink->note != NULL)
        sink->note(sink->context, note, line);
}

void tz_context_print(tz_context *context, const char *format, ...)
{
    char text[2200];
    const tz_script_sink *sink = &context->options->sink;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (sink->print != NULL)
        sink->print(sink->context, text);
}

void tz_context_pass_warnings(tz_context *context)
{
    char text[1100];
    if (tz_cuda_cache_take_warning(text, sizeof text))
        tz_context_note(context, TZ_NOTE_WARNING, "%s", text);
}

/* Lua's warn(): pieces of a line; a lone piece "@…" is a control message. */
static void on_warn(void *data, const char *piece, int to_be_continued)
{
    tz_context *context = data;
    if (context->warning[0] == '\0' && !to_be_continued && piece[0] == '@')
        return;
    const size_t used = strlen(context->warning);
    snprintf(context->warning + used, sizeof context->warning - used, "%s", piece);
    if (!to_be_continued) {
        tz_context_note(context, TZ_NOTE_WARNING, "%s", context->warning);
        context->warning[0] = '\0';
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* More than the main chunk on the stack: functions of the script were at work. */
static bool is_deep(lua_State *L)
{
    lua_Debug record;
    for (int level = 1; lua_getstack(L, level, &record); level++) {
        lua_getinfo(L, "S", &record);
        if (strcmp(record.what, "Lua") == 0)
            return true;
    }
    return false;
}

/* Did the binding itself raise this message, rather than Lua or the script? */
static bool is_refusal(const tz_context *context, const char *message)
{
    return context->refusal[0] != '\0' &&
           strncmp(message, context->refusal, sizeof context->refusal - 1) == 0;
}

static bool is_expectation(const tz_context *context, const char *message)
{
    return is_refusal(context, message) && strstr(message, ": expectation failed: ") != NULL;
}

int tz_context_traceback(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    if (lua_type(L, 1) != LUA_TSTRING) {
        if (!luaL_callmeta(L, 1, "__tostring") || lua_type(L, -1) != LUA_TSTRING)
            lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
        lua_replace(L, 1);
        lua_settop(L, 1);
    }
    const char *message = lua_tostring(L, 1);
    if (strncmp(message, context->traced, sizeof context->traced - 1) == 0 &&
        context->traced[0] != '\0')
        return 1; /* passed on from an output; its traceback is kept already */
    char *traceback = context->result->traceback;
    snprintf(context->traced, sizeof context->traced, "%s", message);
    traceback[0] = '\0';
    if (tz_interrupt_signal() != 0 || is_expectation(context, message) ||
        (is_refusal(context, message) && !is_deep(L)))
        return 1;
    luaL_traceback(L, L, NULL, 1);
    snprintf(traceback, sizeof context->result->traceback, "%s", lua_tostring(L, -1));
    lua_settop(L, 1);
    return 1;
}

/* ---- The run folder -------------------------------------------------------------------------- */

static tz_status write_record(tz_context *context, const char *status, const char *failure,
                              tz_error *error)
{
    char path[PATH_MAX];
    const tz_status joined = tz_folder_join(context->folder, "run.json", path, sizeof path, error);
    return joined != TZ_OK ? joined
                           : tz_record_write(context->record, path, status, failure, error);
}

tz_status tz_context_open_folder(tz_context *context, tz_error *error)
{
    if (context->folder != NULL)
        return TZ_OK;
    tz_status status = tz_folder_create(&context->folder, context->options->out, context->name,
                                        context->text, context->bytes, error);
    if (status != TZ_OK)
        return status;
    snprintf(context->result->folder, sizeof context->result->folder, "%s",
             tz_folder_path(context->folder));
    /* Where cores are many, a picture or two may be drawn without being missed in the run. */
    status = tz_frame_queue_create(&context->queue, FRAMES_WAITING,
                                   context->machine.cores / CORES_OF_PAINTER, error);
    if (status == TZ_OK)
        status = tz_frame_queue_create(&context->later, OUTPUTS_WAITING, 1, error);
    if (status != TZ_OK)
        return status;
    /* So that even a run that is killed says what it was. */
    for (tz_simulation_handle *h = context->open; h != NULL; h = h->next)
        tz_handle_record(h);
    return write_record(context, "running", NULL, error);
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static void set_name(tz_context *context, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".lua") == 0)
        length -= 4;
    if (length >= sizeof context->name)
        length = sizeof context->name - 1;
    memcpy(context->name, base, length);
    context->name[length] = '\0';
    for (char *c = context->name; *c != '\0'; c++)
        if ((unsigned char)*c <= ' ' || *c == 127 || (c == context->name && *c == '.'))
            *c = '_';
    tz_path_folder(path, context->folder_of_script, sizeof context->folder_of_script);
}

/* Protected: opens the libraries, loads the scenario and leaves its function. Argument 1: context.
 */
static int set_up(lua_State *L)
{
    const tz_context *context = lua_touserdata(L, 1);
    tz_sandbox_open(L, context->options->unsafe);
    const char *text = context->text;
    size_t bytes = context->bytes;
    if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        bytes -= 3;
    }
    if (bytes > 0 && text[0] == '#') { /* #!/usr/bin/env …: the line stays, empty */
        const char *end = memchr(text, '\n', bytes);
        bytes = end != NULL ? bytes - (size_t)(end - text) : 0;
        text = end != NULL ? end : "";
    }
    lua_pushfstring(L, "@%s", context->options->path);
    if (luaL_loadbufferx(L, text, bytes, lua_tostring(L, -1), "t") != LUA_OK)
        return lua_error(L);
    return 1;
}

/* A --set that nobody read is likely misspelt. A script that failed may just not have come to it.
 */
static void warn_unread(tz_context *context, bool failed)
{
    const tz_script_options *options = context->options;
    for (size_t i = 0; i < options->sets_count; i++) {
        if (context->sets_read[i])
            continue;
        char name[128], hint[512];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(options->sets[i], "="), options->sets[i]);
        const char *const *known = (const char *const *)context->read_names.items;
        if (failed && tz_names_nearest(name, known, context->read_names.count) == NULL)
            continue;
        tz_names_hint(hint, sizeof hint, name, known, context->read_names.count);
        tz_context_note(context, TZ_NOTE_WARNING, "--set %s: the script never reads tz.args.%s%s",
                        name, name, hint);
    }
}

/* ---- Running --------------------------------------------------------------------------------- */

static tz_status set_script_error(lua_State *L, const tz_context *context, int status,
                                  tz_error *error)
{
    const char *message = lua_tostring(L, -1);
    if (message == NULL)
        message = "unknown Lua error";
    const tz_status code = status == LUA_ERRMEM               ? TZ_MEMORY
                           : tz_interrupt_signal() != 0       ? TZ_INTERRUPTED
                           : is_expectation(context, message) ? TZ_EXPECT
                                                              : TZ_SCRIPT;
    return tz_error_set(error, code, NULL, "%s", message);
}

static tz_status execute(lua_State *L, tz_context *context, tz_error *error)
{
    lua_pushcfunction(L, tz_context_traceback);
    lua_pushcfunction(L, set_up);
    lua_pushlightuserdata(L, context);
    int status = lua_pcall(L, 1, 1, 0);
    if (status != LUA_OK)
        return set_script_error(L, context, status, error);
    tz_interrupt_watch(L);
    status = lua_pcall(L, 0, 0, 1);
    tz_interrupt_watch(NULL);
    return status == LUA_OK ? TZ_OK : set_script_error(L, context, status, error);
}

/* Close what the script left open, wait for frames, write run.json. The first failure counts. */
static tz_status finish(tz_context *context, tz_status status, tz_error *error)
{
    tz_error later;
    tz_context_pass_warnings(context);
    while (context->open != NULL) {
        const tz_status closed = tz_handle_close(context->open, status == TZ_OK ? error : &later);
        status = status == TZ_OK ? closed : status;
    }
    if (context->folder == NULL)
        return status;
    /* Outputs hand pictures on: they come first. What they met, the simulations' end has told. */
    tz_frame_queue_destroy(context->later, &later);
    context->later = NULL;
    const tz_status flushed =
        tz_frame_queue_destroy(context->queue, status == TZ_OK ? error : &later);
    context->queue = NULL;
    status = status == TZ_OK ? flushed : status;
    warn_unread(context, status != TZ_OK);
    char failure[2100];
    if (status != TZ_OK) {
        tz_error_format(error, failure, sizeof failure);
        tz_folder_log(context->folder, failure);
        if (context->result->traceback[0] != '\0')
            tz_folder_log(context->folder, context->result->traceback);
    }
    const tz_status written =
        write_record(context,
                     status == TZ_OK            ? "done"
                     : status == TZ_INTERRUPTED ? "interrupted"
                                                : "failed",
                     status != TZ_OK ? failure : NULL, status == TZ_OK ? error : &later);
    return status == TZ_OK ? written : status;
}

tz_status tz_script_run(const tz_script_options *options, tz_script_result *result, tz_error *error)
{
    tz_context context = {.options = options, .result = result};
    lua_State *L = NULL;
    memset(result, 0, sizeof *result);
    set_name(&context, options->path);
    tz_machine_read(&context.machine);
    tz_status status =
        tz_file_slurp(options->path, SCRIPT_BYTES_MAX, &context.text, &context.bytes, error);
    if (status == TZ_OK)
        status = tz_record_create(&context.record, options->path, options->arguments_count,
                                  options->arguments, options->sets_count, options->sets,
                                  &context.machine, error);
    if (status != TZ_OK)
        goto cleanup;
    context.sets_read = calloc(options->sets_count + 1, sizeof *context.sets_read);
    L = luaL_newstate();
    if (context.sets_read == NULL || L == NULL) {
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a Lua state");
        goto cleanup;
    }
    *(tz_context **)lua_getextraspace(L) = &context;
    lua_setwarnf(L, on_warn, &context);
    status = execute(L, &context, error);
    status = finish(&context, status, error);
    if (context.folder == NULL)
        warn_unread(&context, status != TZ_OK);
    result->signal = status == TZ_INTERRUPTED ? tz_interrupt_signal() : 0;
cleanup:
    if (L != NULL)
        lua_close(L);
    tz_folder_destroy(context.folder);
    tz_record_destroy(context.record);
    tz_paths_clear(&context.read_names);
    free(context.sets_read);
    free(context.text);
    return status;
}
