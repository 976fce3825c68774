/* Opens a run folder, picks its newest whole checkpoint and restores simulations, outputs and runs
 * from it. Called by script.c at the start and the end, and by rerun.c and api.c where the journal
 * ends. */
#include "lua/resume.h"

#include "base/file.h"
#include "base/json_values.h"
#include "lua/checkpoint.h"
#include "lua/recall.h"
#include "output/folder.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tz_resume {
    tz_checkpoint_reader *reader;
    int slot;
};

/* ---- The checkpoint -------------------------------------------------------------------------- */

static tz_status open_journal(tz_context *context, const json_t *facts, tz_error *error)
{
    char path[PATH_MAX + 32];
    bool failed = false;
    const int64_t bytes = tz_json_get_integer(facts, "journal_bytes", 0, INT64_MAX / 4, &failed);
    const uint64_t sum = strtoull(tz_json_get_text(facts, "journal_sum", &failed), NULL, 16);
    tz_checkpoints_path(context->options->resume, "journal", path, sizeof path);
    if (failed)
        return tz_error_set(error, TZ_FORMAT, path, "the checkpoint does not name its journal");
    context->recall.end = bytes;
    tz_journal_destroy(context->recall.journal);
    context->recall.journal = NULL;
    return tz_journal_open(&context->recall.journal, path, bytes, sum, error);
}

static tz_status try_slot(tz_context *context, int slot, tz_error *error)
{
    char path[PATH_MAX + 32];
    tz_resume *resume = context->resume;
    tz_checkpoints_file(context->options->resume, slot, path, sizeof path);
    tz_checkpoint_close(resume->reader);
    resume->reader = NULL;
    resume->slot = slot;
    const tz_status status = tz_checkpoint_open(&resume->reader, path, true, error);
    return status ? status : open_journal(context, tz_checkpoint_facts(resume->reader), error);
}

/* The newest whole one. An older one is taken with a warning. */
static tz_status choose(tz_context *context, tz_error *error)
{
    int slots[TZ_CHECKPOINT_SLOTS];
    tz_error why = {0};
    char text[2100];
    const int count = tz_checkpoints_list(context->options->resume, slots, &why);
    tz_status status = TZ_IO;
    int tried = 0;
    for (; tried < count && status; tried++) {
        status = try_slot(context, slots[tried], error);
        if (status)
            why = *error;
    }
    if (count == 0)
        return why.code ? (*error = why, why.code)
                        : tz_error_set(error, TZ_IO, context->options->resume,
                                       "there is no checkpoint: begin the run again with trapeze "
                                       "run");
    if (status || !why.code)
        return status;
    /* Of one whose head is damaged nobody knows whether it is the older. */
    tz_error_format(&why, text, sizeof text);
    tz_context_note(context, TZ_NOTE_WARNING,
                    "%s; the run goes on from %scheckpoint/%d, number %lld of the run", text,
                    tried > 1 ? "the older checkpoint, " : "", context->resume->slot + 1,
                    (long long)json_integer_value(
                        json_object_get(tz_checkpoint_facts(context->resume->reader), "number")));
    return TZ_OK;
}

static tz_status check_origin(const tz_context *context, const json_t *facts, tz_error *error)
{
    bool failed = false;
    char hash[32];
    const char *version = tz_json_get_text(facts, "trapeze", &failed);
    snprintf(hash, sizeof hash, "%016" PRIx64, tz_file_sum(0, context->text, context->bytes));
    if (strcmp(version, TZ_VERSION) != 0)
        return tz_error_set(error, TZ_RANGE, context->options->resume,
                            "the run was begun by Trapeze %s, and this is %s: its results could "
                            "differ; go on with that version",
                            version, TZ_VERSION);
    if (strcmp(hash, tz_json_get_text(facts, "scenario_hash", &failed)) != 0)
        return tz_error_set(error, TZ_RANGE, context->options->resume,
                            "its scenario.lua is not the script that was run: a run goes on with "
                            "the same script; give another one to trapeze run");
    return failed ? tz_error_set(error, TZ_FORMAT, context->options->resume,
                                 "the checkpoint does not say what it belongs to")
                  : TZ_OK;
}

/* Frames that were written before, and are gone. */
static void look_for_files(tz_context *context)
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

tz_status tz_resume_open(tz_context *context, tz_error *error)
{
    context->resume = calloc(1, sizeof *context->resume);
    if (!context->resume)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to go on with a run");
    tz_status status = tz_run_files_reopen(&context->files, context->options->resume,
                                           context->machine.cores, error);
    if (!status)
        status = choose(context, error);
    if (!status)
        status = check_origin(context, tz_checkpoint_facts(context->resume->reader), error);
    if (status)
        return status;
    snprintf(context->result->folder, sizeof context->result->folder, "%s",
             context->options->resume);
    look_for_files(context);
    context->recall.mode = TZ_RECALL_REPLAYS; /* nothing is said from here on */
    return TZ_OK;
}

void tz_resume_close(tz_context *context)
{
    if (!context->resume)
        return;
    tz_checkpoint_close(context->resume->reader);
    free(context->resume);
    context->resume = NULL;
}

/* ---- Going on -------------------------------------------------------------------------------- */

static tz_simulation_handle *find_handle(const tz_context *context, int64_t index)
{
    tz_simulation_handle *handle = context->open;
    while (handle && (int64_t)handle->index != index)
        handle = handle->next;
    return handle;
}

static tz_status restore_outputs(tz_simulation_handle *handle, const json_t *list, tz_error *error)
{
    size_t i = 0;
    for (tz_binding *b = handle->bindings; b; b = b->next, i++) {
        const json_t *entry = json_array_get(list, i);
        char pattern[200];
        bool failed = false;
        tz_binding_pattern(b, pattern, sizeof pattern);
        const char *was = tz_json_get_text(entry, "pattern", &failed);
        const int64_t last_step = tz_json_get_integer(entry, "last_step", -1, INT64_MAX, &failed);
        const int64_t count = tz_json_get_integer(entry, "count", 0, INT64_MAX, &failed);
        const int64_t bytes = tz_json_get_integer(entry, "bytes", -1, INT64_MAX, &failed);
        b->writer.low = tz_json_get_double(entry, "low", &failed);
        b->writer.high = tz_json_get_double(entry, "high", &failed);
        if (failed || strcmp(pattern, was) != 0)
            return tz_error_set(error, TZ_RANGE, NULL,
                                "the script writes %s now, and had written %s before the "
                                "checkpoint",
                                pattern, was[0] ? was : "nothing");
        const bool has_file = b->kind == TZ_BINDING_OUTPUT && bytes >= 0;
        const tz_status status =
            tz_writer_go_on(&b->writer, last_step, count, has_file ? bytes : -1, error);
        if (status)
            return status;
    }
    return i == json_array_size(list)
               ? TZ_OK
               : tz_error_set(error, TZ_RANGE, NULL,
                              "the script has made %zu outputs, and had made %zu before the "
                              "checkpoint",
                              i, json_array_size(list));
}

static tz_status restore_simulation(tz_context *context, const json_t *entry, tz_error *error)
{
    bool failed = false;
    char prefix[32];
    const int64_t index = tz_json_get_integer(entry, "index", 0, INT64_MAX, &failed);
    tz_simulation_handle *handle = failed ? NULL : find_handle(context, index);
    if (!handle) /* the collector took it earlier than before: its record is whole */
        return failed ? tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint is damaged") : TZ_OK;
    handle->kept = true;
    snprintf(prefix, sizeof prefix, "%zu/", handle->index);
    tz_status status =
        tz_simulation_check_identity(handle->simulation, json_object_get(entry, "identity"), error);
    if (!status)
        status = tz_simulation_restore(handle->simulation, json_object_get(entry, "progress"),
                                       context->resume->reader, prefix, error);
    if (!status)
        status = restore_outputs(handle, json_object_get(entry, "outputs"), error);
    if (!status)
        return TZ_OK;
    char text[2100];
    tz_error_format(error, text, sizeof text);
    return tz_error_set(error, status, handle->name, "%s", text);
}

static tz_status restore_sample(tz_checkpoint_reader *reader, tz_course *at, size_t number,
                                tz_error *error)
{
    char name[64];
    at->sample = NULL;
    if (at->sample_count == 0)
        return TZ_OK;
    snprintf(name, sizeof name, "run %zu/sample", number);
    const tz_checkpoint_array *array = tz_checkpoint_find(reader, name);
    const size_t bytes = at->sample_count * sizeof(double);
    if (!array || array->bytes != (int64_t)bytes)
        return tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint's run is damaged");
    at->sample = malloc(bytes);
    return at->sample ? tz_checkpoint_read(reader, array, 0, at->sample, bytes, error)
                      : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a sample");
}

/* Where the runs are; the innermost is the last one. */
static tz_status restore_runs(tz_context *context, const json_t *list, tz_error *error)
{
    size_t number = json_array_size(list), here = 0;
    for (const tz_active_run *r = context->runs; r; r = r->next)
        here++;
    if (here != number)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "the script is in %zu calls of sim:run, and was in %zu at the "
                            "checkpoint",
                            here, number);
    for (tz_active_run *r = context->runs; r; r = r->next) {
        const json_t *entry = json_array_get(list, --number);
        bool failed = false;
        const int64_t index = tz_json_get_integer(entry, "simulation", 0, INT64_MAX, &failed);
        if (failed || index != (int64_t)r->handle->index)
            return tz_error_set(error, TZ_RANGE, NULL,
                                "the script runs another simulation than at the checkpoint");
        tz_status status = tz_course_from_json(json_object_get(entry, "position"),
                                               &r->course.wanted, &r->course, error);
        if (!status)
            status = restore_sample(context->resume->reader, &r->course, number, error);
        if (status)
            return status;
    }
    return TZ_OK;
}

static tz_status restore(tz_context *context, tz_error *error)
{
    const json_t *facts = tz_checkpoint_facts(context->resume->reader);
    const json_t *simulations = json_object_get(facts, "simulations"), *entry;
    size_t i;
    bool failed = false;
    const int64_t made = tz_json_get_integer(facts, "simulations_made", 0, INT64_MAX, &failed);
    if (failed || made != (int64_t)context->simulations)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "the script has made %zu simulations, and had made %lld at the "
                            "checkpoint",
                            context->simulations, (long long)made);
    tz_status status = restore_runs(context, json_object_get(facts, "runs"), error);
    for (tz_simulation_handle *h = context->open; h; h = h->next)
        h->kept = false;
    json_array_foreach(simulations, i, entry)
    {
        if (!status)
            status = restore_simulation(context, entry, error);
    }
    if (!status && !tz_record_replace(context->files.record, json_object_get(facts, "record")))
        status = tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint's record is damaged");
    return status;
}

/* The files change only here. */
static tz_status go_on(tz_context *context, tz_error *error)
{
    const json_t *facts = tz_checkpoint_facts(context->resume->reader);
    bool failed = false;
    const int64_t number = tz_json_get_integer(facts, "number", 0, INT64_MAX, &failed);
    const int64_t log = tz_json_get_integer(facts, "log_bytes", 0, INT64_MAX, &failed);
    tz_journal_skip(context->recall.journal); /* the checkpoint's own entry */
    tz_folder *folder = context->files.folder;
    const tz_status status = tz_journal_go_on(context->recall.journal, error);
    if (status)
        return status;
    context->recall.mode = TZ_RECALL_RECORDS;
    tz_checkpoints_go_on(context, number, 1 - context->resume->slot);
    if (log < tz_folder_log_bytes(folder))
        tz_folder_cut_log(folder, log);
    char line[200];
    snprintf(line, sizeof line, "goes on from checkpoint %lld of %.60s", (long long)number,
             tz_json_get_text(facts, "written", &failed));
    tz_context_note(context, TZ_NOTE_LOG, "%s", line);
    tz_checkpoint_close(context->resume->reader);
    context->resume->reader = NULL;
    return tz_run_files_write_record(&context->files, "running", NULL, error);
}

static tz_status load(tz_context *context, tz_error *error)
{
    const tz_status status = restore(context, error);
    return status ? status : go_on(context, error);
}

tz_status tz_resume_load(lua_State *L, tz_error *error)
{
    tz_error why;
    char text[900];
    if (load(tz_context_get(L), &why) == TZ_OK)
        return TZ_OK;
    tz_error_format(&why, text, sizeof text);
    return tz_recall_break(L, error, "the run cannot go on from its checkpoint: %s", text);
}

void tz_resume_here(lua_State *L)
{
    tz_error error;
    if (tz_resume_load(L, &error) != TZ_OK)
        tz_recall_refuse(L, "%s", error.message);
}

tz_status tz_resume_at_end(lua_State *L, tz_error *error)
{
    tz_context *context = tz_context_get(L);
    tz_journal_entry entry;
    if (!tz_recall_replays(context))
        return TZ_OK;
    if (tz_recall_peek(context, &entry))
        return tz_error_set(error, TZ_SCRIPT, NULL,
                            "the script ended before it came to the checkpoint: a run can only go "
                            "on if its script does the same again");
    return load(context, error);
}
