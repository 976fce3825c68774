/* A script's log lines, notes, printed text and tracebacks. Called by all of core/lua; scenario.c
 * and handle.c install tz_context_traceback for calls of Lua code. */
#include "lua/context.h"

#include "base/cache.h"
#include "base/text.h"
#include "lua/interrupt.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keep a line until the folder is made. */
static void keep_early(tz_context *context, const char *line)
{
    enum { EARLY_BYTES_MAX = 1 << 20 };
    const size_t length = strlen(line);
    char *grown = context->early_bytes + length < EARLY_BYTES_MAX
                      ? realloc(context->early, context->early_bytes + length + 2)
                      : NULL;
    if (!grown) {
        context->early_lost++;
        return;
    }
    context->early = grown;
    memcpy(grown + context->early_bytes, line, length);
    memcpy(grown + context->early_bytes + length, "\n", 2);
    context->early_bytes += length + 1;
}

void tz_context_log_early(tz_context *context)
{
    char lost[80];
    if (context->early) {
        context->early[context->early_bytes - 1] = '\0'; /* the last line gets its end again */
        tz_folder_log(context->files.folder, context->early);
    }
    snprintf(lost, sizeof lost, "(%lld more lines, for which there was no room)",
             (long long)context->early_lost);
    if (context->early_lost > 0)
        tz_folder_log(context->files.folder, lost);
    free(context->early);
    context->early = NULL;
    context->early_bytes = 0;
    context->early_lost = 0;
}

/* A replay says nothing again that was said before. */
static bool is_silent(const tz_context *context)
{
    return context->recall.mode == TZ_RECALL_REPLAYS;
}

static void log_line(tz_context *context, const char *line)
{
    /* The log of a run that goes on stays as it is until it does. */
    if (context->resume && context->recall.mode != TZ_RECALL_RECORDS)
        return;
    if (context->files.folder)
        tz_folder_log(context->files.folder, line);
    else
        keep_early(context, line);
}

void tz_context_log(tz_context *context, const char *line)
{
    const tz_script_sink *sink = &context->options->sink;
    if (is_silent(context))
        return;
    char *const copy = strdup(line), none[] = "(a line for which there was no memory)";
    char *const fit = copy ? copy : none;
    tz_text_printable(fit);
    context->has_said = true;
    log_line(context, fit);
    if (sink->note)
        sink->note(sink->context, TZ_NOTE_LOG, fit);
    free(copy);
}

void tz_context_note(tz_context *context, tz_note note, const char *format, ...)
{
    char line[2200];
    const tz_script_sink *sink = &context->options->sink;
    va_list arguments;
    if (is_silent(context))
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    tz_text_printable(line);
    char logged[2240];
    snprintf(logged, sizeof logged, "%s%s", note == TZ_NOTE_WARNING ? "warning: " : "", line);
    log_line(context, logged);
    if (sink->note)
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
    if (sink->print)
        sink->print(sink->context, text, strlen(text));
}

void tz_context_pass_warnings(tz_context *context)
{
    char text[1100];
    if (tz_cache_take_warning(text, sizeof text))
        tz_context_note(context, TZ_NOTE_WARNING, "%s", text);
}

bool tz_context_stops(const tz_context *context)
{
    const atomic_bool *cancelled = context->options->cancelled;
    return tz_interrupt_signal() != 0 || (cancelled && atomic_load(cancelled));
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Does the call stack hold a function of the script besides its main chunk? */
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
    return context->refusal[0] &&
           strncmp(message, context->refusal, sizeof context->refusal - 1) == 0;
}

bool tz_context_is_expectation(const tz_context *context, const char *message)
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
    if (strncmp(message, context->traced, sizeof context->traced - 1) == 0 && context->traced[0])
        return 1; /* raised in an output, whose handler kept the traceback */
    char *traceback = context->result->traceback;
    snprintf(context->traced, sizeof context->traced, "%s", message);
    traceback[0] = '\0';
    if (tz_context_stops(context) || tz_context_is_expectation(context, message) ||
        (is_refusal(context, message) && !is_deep(L)))
        return 1;
    luaL_traceback(L, L, NULL, 1);
    snprintf(traceback, sizeof context->result->traceback, "%s", lua_tostring(L, -1));
    lua_settop(L, 1);
    return 1;
}
