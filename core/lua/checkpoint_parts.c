#include "lua/checkpoint_parts.h"

#include "base/file.h"
#include "base/json_values.h"
#include "lua/recall.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Writing --------------------------------------------------------------------------------- */

void tz__checkpoint_release(void *data)
{
    writing *w = data;
    for (size_t i = 0; i < w->sources_count; i++) {
        tz_snapshot_release(w->sources[i].snapshot);
        free(w->sources[i].files);
    }
    for (size_t i = 0; i < w->samples_count; i++)
        free(w->samples[i].values);
    json_decref(w->facts);
    free(w->sources);
    free(w->samples);
    free(w->arrays);
    free(w);
}

/* What tables and movies have, which is on the disk before the checkpoint is. */
static tz_status sync_files(writing *w, tz_error *error)
{
    bool failed = false;
    for (size_t i = 0; i < w->sources_count; i++)
        for (size_t k = 0; k < w->sources[i].outputs; k++) {
            int64_t bytes = -1;
            const growing *file = &w->sources[i].files[k];
            tz_status status = TZ_OK;
            if (file->table)
                status = tz_table_sync(file->table, &bytes, error);
            else if (file->movie)
                status = tz_movie_sync(file->movie, &bytes, error);
            if (status)
                return status;
            tz_json_put_integer(json_array_get(w->sources[i].facts, k), "bytes", bytes, &failed);
        }
    return failed ? tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a checkpoint")
                  : TZ_OK;
}

static tz_status save_fields(const writing *w, tz_checkpoint_writer *file, tz_error *error)
{
    tz_status status = TZ_OK;
    for (size_t i = 0; !status && i < w->sources_count; i++) {
        const source *s = &w->sources[i];
        status =
            tz_simulation_save(s->snapshot ? tz_snapshot_simulation(s->snapshot) : s->simulation,
                               file, s->first, error);
    }
    return status;
}

static tz_status write_file(writing *w, tz_error *error)
{
    tz_checkpoint_writer *file = NULL;
    tz_status status = tz_journal_sync(w->journal, error);
    if (!status)
        status = tz_checkpoint_begin(&file, w->path, w->facts, w->arrays, w->arrays_count, error);
    if (status)
        return status;
    status = save_fields(w, file, error);
    for (size_t i = 0; !status && i < w->samples_count; i++)
        status = tz_checkpoint_write(file, w->samples[i].array, 0, w->samples[i].values,
                                     w->samples[i].count * sizeof(double), error);
    if (!status)
        return tz_checkpoint_commit(file, error);
    tz_checkpoint_abort(file);
    return status;
}

tz_status tz__checkpoint_write(void *data, tz_error *error)
{
    writing *w = data;
    tz_error why = {0};
    tz_status status = tz_job_queue_settle(w->files->pictures, error);
    if (!status)
        status = sync_files(w, error);
    if (status)
        return status;
    const tz_status written = write_file(w, &why);
    pthread_mutex_lock(&w->result->lock);
    if (written) {
        w->result->failure = why;
    } else {
        w->result->count++;
        w->result->cost_s = tz_machine_clock_s() - w->began_s;
    }
    pthread_mutex_unlock(&w->result->lock);
    return TZ_OK;
}

/* ---- What it says ---------------------------------------------------------------------------- */

static json_t *outputs_of(const tz_simulation_handle *handle, source *s, bool *failed)
{
    json_t *list = json_array();
    for (const tz_binding *b = handle->bindings; b; b = b->next)
        s->outputs++;
    s->files = calloc(s->outputs + 1, sizeof *s->files);
    *failed |= !s->files;
    size_t i = 0;
    for (const tz_binding *b = handle->bindings; b && !*failed; b = b->next) {
        char pattern[200];
        json_t *entry = json_object();
        tz_binding_pattern(b, pattern, sizeof pattern);
        tz_json_put_text(entry, "pattern", pattern, failed);
        tz_json_put_integer(entry, "count", b->writer.count, failed);
        tz_json_put_integer(entry, "last_step", b->writer.last_step, failed);
        tz_json_put_double(entry, "low", b->writer.low, failed);
        tz_json_put_double(entry, "high", b->writer.high, failed);
        *failed |= json_array_append_new(list, entry) != 0;
        s->files[i++] = (growing){b->writer.table, b->writer.movie};
    }
    s->facts = list;
    return list;
}

static void prefix_of(const tz_simulation_handle *handle, char prefix[32])
{
    snprintf(prefix, 32, "%zu/", handle->index);
}

/* Add the arrays of a simulation to the list. */
static bool add_arrays(writing *w, const tz_simulation_handle *handle, source *s)
{
    char prefix[32];
    prefix_of(handle, prefix);
    const size_t count = tz_simulation_arrays(handle->simulation, prefix, NULL, 0);
    tz_checkpoint_array *grown =
        realloc(w->arrays, (w->arrays_count + count + 1) * sizeof *w->arrays);
    if (!grown)
        return false;
    w->arrays = grown;
    s->first = w->arrays_count;
    w->arrays_count +=
        tz_simulation_arrays(handle->simulation, prefix, w->arrays + w->arrays_count, count);
    return true;
}

static json_t *simulations_of(const tz_context *context, writing *w, bool *failed)
{
    json_t *list = json_array();
    size_t count = 0;
    for (const tz_simulation_handle *h = context->open; h; h = h->next)
        count++;
    w->sources = calloc(count + 1, sizeof *w->sources);
    *failed |= !w->sources;
    for (const tz_simulation_handle *h = context->open; h && !*failed; h = h->next) {
        source *s = &w->sources[w->sources_count++];
        *s = (source){.simulation = h->simulation};
        json_t *entry = json_object();
        tz_json_put_integer(entry, "index", (int64_t)h->index, failed);
        tz_json_put_text(entry, "name", h->name, failed);
        tz_json_put(entry, "identity", tz_simulation_identity(h->simulation), failed);
        tz_json_put(entry, "progress", tz_simulation_progress(h->simulation), failed);
        tz_json_put(entry, "outputs", outputs_of(h, s, failed), failed);
        *failed |= json_array_append_new(list, entry) != 0 || !add_arrays(w, h, s);
    }
    return list;
}

/* Keep a copy of the sample of a run. */
static void add_sample(writing *w, const tz_course *at, size_t number, bool *failed)
{
    tz_checkpoint_array *arrays = realloc(w->arrays, (w->arrays_count + 1) * sizeof *arrays);
    sample *samples = realloc(w->samples, (w->samples_count + 1) * sizeof *samples);
    w->arrays = arrays ? arrays : w->arrays;
    w->samples = samples ? samples : w->samples;
    const size_t bytes = at->sample_count * sizeof(double);
    double *copy = arrays && samples ? malloc(bytes + 1) : NULL;
    if (!copy) {
        *failed = true;
        return;
    }
    memcpy(copy, at->sample, bytes);
    w->samples[w->samples_count++] = (sample){copy, at->sample_count, w->arrays_count};
    tz_checkpoint_array *array = &w->arrays[w->arrays_count++];
    snprintf(array->name, sizeof array->name, "run %zu/sample", number);
    array->bytes = (int64_t)bytes;
}

/* The runs, the outermost first. */
static json_t *runs_of(const tz_context *context, writing *w, bool *failed)
{
    json_t *list = json_array();
    size_t count = 0;
    for (const tz_active_run *r = context->runs; r; r = r->next)
        count++;
    for (const tz_active_run *r = context->runs; r; r = r->next) {
        json_t *entry = json_object();
        tz_json_put_integer(entry, "simulation", (int64_t)r->handle->index, failed);
        tz_json_put(entry, "position", tz_course_to_json(&r->course), failed);
        *failed |= json_array_insert_new(list, 0, entry) != 0;
        count--;
        if (r->course.sample)
            add_sample(w, &r->course, count, failed);
    }
    return list;
}

static json_t *texts(int count, const char *const *items, bool *failed)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        *failed |= json_array_append_new(list, json_string(items[i])) != 0;
    return list;
}

/* What does not change from checkpoint to checkpoint. */
static void put_origin(const tz_context *context, json_t *facts, bool *failed)
{
    const tz_script_options *options = context->options;
    char here[PATH_MAX] = "", hash[32], date[40];
    const time_t now = time(NULL);
    struct tm parts;
    if (!getcwd(here, sizeof here))
        *failed = true;
    snprintf(hash, sizeof hash, "%016" PRIx64, tz_file_sum(0, context->text, context->bytes));
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &parts));
    tz_json_put_text(facts, "trapeze", TZ_VERSION, failed);
    tz_json_put_text(facts, "written", date, failed);
    tz_json_put_text(facts, "scenario", options->path, failed);
    tz_json_put_text(facts, "scenario_hash", hash, failed);
    tz_json_put_text(facts, "folder", here, failed);
    tz_json_put(facts, "arguments", texts(options->arguments_count, options->arguments, failed),
                failed);
}

tz_status tz__checkpoint_gather(tz_context *context, writing *w, tz_error *error)
{
    json_t *facts = w->facts = json_object();
    bool failed = !facts;
    int64_t bytes = 0;
    uint64_t sum = 0;
    char text[32];
    tz_bytes number = {.data = NULL};
    tz_bytes_put_i64(&number, w->number);
    tz_recall_add(context, TZ_ENTRY_CHECKPOINT, &number);
    free(number.data);
    const tz_status flushed = tz_journal_flush(context->recall.journal, &bytes, &sum, error);
    if (flushed)
        return flushed;
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    tz_json_put_integer(facts, "number", w->number, &failed);
    put_origin(context, facts, &failed);
    tz_json_put_integer(facts, "journal_bytes", bytes, &failed);
    tz_json_put_text(facts, "journal_sum", text, &failed);
    tz_json_put_integer(facts, "log_bytes", tz_folder_log_bytes(context->files.folder), &failed);
    tz_json_put_integer(facts, "simulations_made", (int64_t)context->simulations, &failed);
    tz_json_put(facts, "simulations", simulations_of(context, w, &failed), &failed);
    tz_json_put(facts, "runs", runs_of(context, w, &failed), &failed);
    for (const tz_simulation_handle *h = context->open; h; h = h->next)
        tz_handle_record(h);
    tz_json_put(facts, "record", tz_record_copy(context->files.record), &failed);
    return failed ? tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a checkpoint")
                  : TZ_OK;
}
