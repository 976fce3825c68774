/* A scenario from start to end: opens the Lua state, runs the script, closes what is open, and
 * writes run.json and the report. Called by core/cli to run scenarios, to sweep, and to read the
 * stencils that a script defines. */
#include "lua/script.h"

#include "base/file.h"
#include "base/names.h"
#include "lua/checkpoint.h"
#include "lua/define.h"
#include "lua/guard.h"
#include "lua/handle.h"
#include "lua/interrupt.h"
#include "lua/live.h"
#include "lua/module.h"
#include "lua/recall.h"
#include "output/folder.h"
#include "output/report/report.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_BYTES_MAX = 16 << 20 };

/* Lua's warn(): pieces of a line. A single piece that begins with "@" is a control message. */
static void on_warn(void *data, const char *piece, int to_be_continued)
{
    tz_context *context = data;
    if (context->warning[0] == '\0' && !to_be_continued && piece[0] == '@')
        return;
    const size_t used = strlen(context->warning);
    snprintf(context->warning + used, sizeof context->warning - used, "%s", piece);
    if (!to_be_continued) {
        context->printed = true;
        tz_context_note(context, TZ_NOTE_WARNING, "%s", context->warning);
        context->warning[0] = '\0';
    }
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static void set_name(tz_context *context, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
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

/* Protected: open the libraries, load the scenario and leave its function. Argument 1 is the
 * context. */
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
    if (bytes > 0 && text[0] == '#') { /* a line "#!/usr/bin/env …" becomes empty */
        const char *end = memchr(text, '\n', bytes);
        bytes = end ? bytes - (size_t)(end - text) : 0;
        text = end ? end : "";
    }
    lua_pushfstring(L, "@%s", context->options->path);
    if (luaL_loadbufferx(L, text, bytes, lua_tostring(L, -1), "t") != LUA_OK) {
        if (strstr(lua_tostring(L, -1), "near 'until'"))
            lua_pushliteral(L, ": until is a word of Lua; the option of sim:run is until_true");
        else
            lua_pushliteral(L, "");
        lua_concat(L, 2);
        return lua_error(L);
    }
    tz_plot_check(L, context->text, context->bytes);
    return 1;
}

/* A --set that the script never read is likely misspelt. After a failure it is reported only if it
 * resembles a name that the script did read. */
static void warn_unread(tz_context *context, bool failed)
{
    const tz_script_options *options = context->options;
    for (size_t i = 0; i < options->sets_count; i++) {
        if (context->sets_read[i])
            continue;
        char name[128], hint[512];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(options->sets[i], "="), options->sets[i]);
        const char *const *known = (const char *const *)context->read_names.items;
        if (failed && !tz_names_nearest(name, known, context->read_names.count))
            continue;
        tz_names_hint(hint, sizeof hint, name, known, context->read_names.count);
        char line[sizeof context->result->unread];
        snprintf(line, sizeof line, "--set %s: the script never reads tz.args.%s%s", name, name,
                 hint);
        tz_context_note(context, TZ_NOTE_WARNING, "%s", line);
        if (!context->result->unread[0])
            strcpy(context->result->unread, line);
    }
}

/* At the end of a script that did not fail: it ran no step, and asked nothing either. */
static void warn_idle(tz_context *context)
{
    const tz_script_options *options = context->options;
    const char *slash = strrchr(options->path, '/'), *file = slash ? slash + 1 : options->path;
    if (options->check || options->resume || options->unsafe || context->ran || context->asked)
        return;
    if (context->simulations > 0)
        tz_context_note(context, TZ_NOTE_WARNING,
                        "%s made a simulation but ran no step: call sim:run(100)", file);
    else if (!context->printed && !context->defined && !context->has_said && !context->reports)
        tz_context_note(context, TZ_NOTE_WARNING,
                        "%s made no simulation and printed nothing: make one with sim = "
                        "tz.simulation { plugin = ..., grid = ... } and call sim:run(100)",
                        file);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* 'NAME' after `before` in a message of Lua. False: it is another one. */
static bool get_name(const char *message, const char *before, char name[64])
{
    const char *at = strstr(message, before);
    if (!at)
        return false;
    at += strlen(before);
    snprintf(name, 64, "%.*s", (int)strcspn(at, "'"), at);
    return true;
}

/* What is behind a mistake that Lua itself finds; "": it does not know. */
static const char *explain(const tz_context *context, const char *message, char text[200])
{
    char name[64];
    text[0] = '\0';
    if (strstr(message, "a nil value (global 'tz')") ||
        strstr(message, "a nil value (global 'trapeze')"))
        snprintf(text, 200, ": begin the script with local tz = require \"trapeze\"");
    else if (get_name(message, "call a number value (method '", name) ||
             get_name(message, "call a string value (method '", name))
        snprintf(text, 200, ": sim.%s is a value%s", name,
                 strcmp(name, "step") == 0 ? "; sim:run(10) computes 10 steps" : "");
    else if (get_name(message, "a nil value (field '", name))
        for (size_t i = 0; i < context->read_names.count; i++)
            if (strcmp(context->read_names.items[i], name) == 0)
                snprintf(text, 200, ": give it with --set %s=VALUE, or write tz.args.%s or 1", name,
                         name);
    return text;
}

static tz_status set_script_error(lua_State *L, const tz_context *context, int status,
                                  tz_error *error)
{
    const char *message = lua_tostring(L, -1);
    if (!message)
        message = "unknown Lua error";
    const tz_status code = status == LUA_ERRMEM                          ? TZ_MEMORY
                           : tz_context_stops(context)                   ? TZ_INTERRUPTED
                           : tz_context_is_expectation(context, message) ? TZ_EXPECT
                                                                         : TZ_SCRIPT;
    char more[200];
    return tz_error_set(error, code, NULL, "%s%s", message, explain(context, message, more));
}

/* The program that runs the script has cancelled it. */
static void stop(lua_State *L, lua_Debug *record)
{
    (void)record;
    if (tz_context_stops(tz_context_get(L)))
        luaL_error(L, "interrupted");
}

static tz_status execute(lua_State *L, tz_context *context, tz_error *error)
{
    enum { INSTRUCTIONS = 10000 };
    lua_pushcfunction(L, tz_context_traceback);
    lua_pushcfunction(L, set_up);
    lua_pushlightuserdata(L, context);
    int status = lua_pcall(L, 1, 1, 0);
    if (status != LUA_OK)
        return set_script_error(L, context, status, error);
    tz_interrupt_watch(L);
    if (context->options->cancelled)
        lua_sethook(L, stop, LUA_MASKCOUNT, INSTRUCTIONS);
    status = lua_pcall(L, 0, 0, 1);
    tz_interrupt_watch(NULL);
    tz_sandbox_end(L);
    if (context->recall.mode == TZ_RECALL_BROKEN)
        return tz_error_set(error, TZ_SCRIPT, NULL, "%s", context->recall.why);
    if (status == LUA_OK)
        return tz_resume_at_end(L, error);
    return set_script_error(L, context, status, error);
}

static tz_status write_record(tz_context *context, tz_status status, const tz_error *why,
                              tz_error *error)
{
    char failure[2100];
    if (status == TZ_OK)
        return tz_run_files_write_record(
            &context->files, context->result->stagnated ? "stagnated" : "done", NULL, error);
    tz_error_format(why, failure, sizeof failure);
    tz_folder_log(context->files.folder, failure);
    if (context->result->traceback[0])
        tz_folder_log(context->files.folder, context->result->traceback);
    return tz_run_files_write_record(
        &context->files, status == TZ_INTERRUPTED ? "interrupted" : "failed", failure, error);
}

static bool wants_report(const tz_context *context)
{
    return (context->reports || context->options->report) && !context->options->check;
}

/* After the record, which it shows. */
static tz_status write_report(tz_context *context, tz_error *error)
{
    char path[PATH_MAX];
    tz_paths notes = {0};
    tz_status status =
        tz_folder_join(context->files.folder, TZ_REPORT_NAME, path, sizeof path, error);
    if (status == TZ_OK)
        status = tz_report_write(tz_folder_path(context->files.folder), path,
                                 TZ_REPORT_PICTURES_MIB, &notes, error);
    for (size_t i = 0; status == TZ_OK && i < notes.count; i++)
        tz_context_note(context, TZ_NOTE_WARNING, "%s: %s", TZ_REPORT_NAME, notes.items[i]);
    tz_paths_clear(&notes);
    return status;
}

/* What a script has logged goes to a folder even if it runs and writes nothing; so does a
 * report. */
static tz_status keep_log(tz_context *context, tz_status status, tz_error *error)
{
    tz_error later;
    const bool wanted = context->has_said || wants_report(context);
    if (!wanted || context->recall.mode != TZ_RECALL_RECORDS)
        return status;
    const tz_status opened = tz_handle_open_folder(context, status == TZ_OK ? error : &later);
    return status == TZ_OK ? opened : status;
}

/* Close what the script left open, wait for its files, write run.json. Returns the first error. */
static tz_status finish(tz_context *context, tz_status status, tz_error *error)
{
    tz_error later;
    tz_context_pass_warnings(context);
    status = keep_log(context, status, error);
    if (status == TZ_OK)
        status = tz_checkpoint_last(context, error);
    while (context->open) {
        const tz_status closed = tz_handle_close(context->open, status == TZ_OK ? error : &later);
        status = status == TZ_OK ? closed : status;
    }
    const tz_status finished =
        tz_run_files_finish(&context->files, status == TZ_OK ? error : &later);
    status = status == TZ_OK ? finished : status;
    if (status == TZ_OK)
        warn_idle(context);
    warn_unread(context, status != TZ_OK);
    /* A run that could not go on from its checkpoint is as it was. */
    if (context->recall.mode == TZ_RECALL_REPLAYS || context->recall.mode == TZ_RECALL_BROKEN)
        return status;
    if (context->files.folder && wants_report(context))
        tz_record_file(context->files.record, TZ_REPORT_NAME);
    const tz_status written =
        context->files.folder ? write_record(context, status, error, &later) : TZ_OK;
    if (status == TZ_OK && written != TZ_OK)
        *error = later;
    context->result->can_go_on = tz_checkpoints_written(context) && status != TZ_OK;
    const tz_script_sink *sink = &context->options->sink;
    if (sink->record && !context->options->check)
        sink->record(sink->context, context->files.record);
    if (status == TZ_OK && written == TZ_OK && context->files.folder &&
        context->recall.mode == TZ_RECALL_RECORDS && !tz_checkpoints_on(context))
        tz_checkpoints_remove(tz_folder_path(context->files.folder));
    const tz_status reported =
        context->files.folder && wants_report(context) ? write_report(context, &later) : TZ_OK;
    if (status == TZ_OK && written == TZ_OK && reported != TZ_OK)
        *error = later;
    return status ? status : written ? written : reported;
}

/* A run that goes on has its script in its folder. */
static tz_status read_script(tz_context *context, tz_error *error)
{
    char copy[PATH_MAX + 32];
    const tz_script_options *options = context->options;
    snprintf(copy, sizeof copy, "%s/scenario.lua", options->resume ? options->resume : "");
    return tz_file_read(options->resume ? copy : options->path, SCRIPT_BYTES_MAX, &context->text,
                        &context->bytes, error);
}

/* What a script needs before it can run. */
static tz_status prepare(tz_context *context, tz_error *error)
{
    const tz_script_options *options = context->options;
    tz_status status = read_script(context, error);
    if (status == TZ_OK)
        status = tz_record_create(&context->files.record, options->path, options->arguments_count,
                                  options->arguments, options->sets_count, options->sets,
                                  &context->machine, error);
    if (status == TZ_OK)
        context->sets_read = calloc(options->sets_count + 1, sizeof *context->sets_read);
    if (status == TZ_OK && !context->sets_read)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a scenario");
    return status;
}

/* What the script does is recorded, or replayed up to a checkpoint. */
static tz_status begin_journal(tz_context *context, tz_error *error)
{
    if (context->options->check)
        return TZ_OK;
    tz_status status = tz_checkpoints_begin(context, error);
    if (status == TZ_OK && context->options->resume) {
        status = tz_resume_open(context, error);
    } else if (status == TZ_OK) {
        context->recall.journal = tz_journal_create();
        context->recall.mode = TZ_RECALL_RECORDS;
        if (!context->recall.journal)
            status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the journal");
    }
    return status;
}

static void mark_interrupted(void *data)
{
    const tz_context *context = data;
    char path[PATH_MAX + 16];
    if (!context->files.folder)
        return;
    snprintf(path, sizeof path, "%s/run.json", tz_folder_path(context->files.folder));
    tz_record_mark_interrupted(path);
}

tz_status tz_script_run(const tz_script_options *options, tz_script_result *result, tz_error *error)
{
    tz_context context = {.options = options,
                          .result = result,
                          .stack = __builtin_frame_address(0),
                          .stack_bytes = tz_guard_stack_bytes()};
    lua_State *L = NULL;
    memset(result, 0, sizeof *result);
    set_name(&context, options->path);
    context.files.scenario = context.name;
    tz_machine_read(&context.machine);
    tz_status status = prepare(&context, error);
    if (status != TZ_OK)
        goto cleanup;
    L = luaL_newstate();
    if (!L) {
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a Lua state");
        goto cleanup;
    }
    *(tz_context **)lua_getextraspace(L) = &context;
    tz_interrupt_at_end(mark_interrupted, &context);
    lua_setwarnf(L, on_warn, &context);
    status = begin_journal(&context, error);
    if (status == TZ_OK)
        status = tz_live_view_open(&context, error);
    if (status != TZ_OK)
        goto cleanup;
    status = execute(L, &context, error);
    status = finish(&context, status, error);
    tz_live_view_close(&context, status, error);
    result->signal = status == TZ_INTERRUPTED ? tz_interrupt_signal() : 0;
cleanup:
    tz_interrupt_at_end(NULL, NULL);
    if (L)
        lua_close(L);
    tz_run_files_clear(&context.files);
    tz_checkpoints_end(&context);
    tz_resume_close(&context);
    tz_journal_destroy(context.recall.journal);
    tz_defined_clear(&context);
    tz_paths_clear(&context.read_names);
    free(context.sets_read);
    free(context.early);
    free(context.text);
    return status;
}
