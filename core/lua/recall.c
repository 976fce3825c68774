/* Entries of the journal, and failures of a replay. Calls, runs, outputs and checkpoints use it. */
#include "lua/recall.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Failures -------------------------------------------------------------------------------- */

int tz_recall_line(lua_State *L, char *file, size_t size)
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

static void break_replay(lua_State *L, const char *text)
{
    tz_recall *recall = &tz_context_get(L)->recall;
    char file[120];
    const int line = tz_recall_line(L, file, sizeof file);
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
    const int line = tz_recall_line(L, file, sizeof file);
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

void tz_recall_file(tz_context *context, const char *name)
{
    if (!tz_recall_records(context))
        return;
    tz_journal_add(context->recall.journal, TZ_ENTRY_FILE, name, strlen(name));
}
