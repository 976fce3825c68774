/* Checkpoints: what one says, the job that writes it, when it is due; and going on from one. Called
 * by running.c, scenario.c, and api.c where a replay ends. */
#include "lua/checkpoint.h"

#include "base/file.h"
#include "base/json.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/recall.h"
#include "output/folder.h"
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What became of checkpoints that were written, perhaps by another thread. */
typedef struct tz_written {
    pthread_mutex_t lock; /* for all others */
    double cost_s;        /* of the last one that was written */
    tz_error failure;     /* of one; code TZ_OK: none, or told */
    int64_t count;
} tz_written;

/* The file of an output that grows, borrowed; at most one of them is not NULL. */
typedef struct growing {
    tz_table *table;
    tz_movie *movie;
} growing;

/* A simulation, or the copy of its fields. */
typedef struct source {
    const tz_simulation *simulation;
    tz_snapshot *snapshot; /* NULL: the simulation itself */
    size_t first;          /* number of its first array */
    growing *files;        /* of its outputs; owned */
    size_t outputs;
    json_t *facts; /* of the outputs, borrowed from all facts */
} source;

typedef struct sample {
    double *values; /* owned */
    size_t count, array;
} sample;

/* All that another thread needs. */
typedef struct writing {
    tz_written *result; /* borrowed */
    int64_t number;
    const tz_run_files *files;
    const tz_journal *journal;
    char path[PATH_MAX + 32];
    json_t *facts;
    source *sources;
    size_t sources_count;
    sample *samples;
    size_t samples_count;
    tz_checkpoint_array *arrays;
    size_t arrays_count;
    double began_s;
} writing;

/* ---- Writing --------------------------------------------------------------------------------- */

static void release(void *data)
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

static tz_status write_checkpoint(void *data, tz_error *error)
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

/* The rows that the receivers of a simulation have in their hidden files. */
static json_t *receivers_of(const tz_simulation_handle *handle, bool *failed)
{
    json_t *list = json_array();
    for (const tz_recording *r = handle->recordings; r; r = r->next)
        *failed |= json_array_append_new(list, json_integer(r->kept)) != 0;
    return list;
}

static char *prefix_of(const tz_simulation_handle *handle, char prefix[32])
{
    snprintf(prefix, 32, "%zu/", handle->index);
    return prefix;
}

/* Add the arrays of a simulation to the list. */
static bool add_arrays(writing *w, const tz_simulation_handle *handle, source *s)
{
    char text[32];
    const char *prefix = prefix_of(handle, text);
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
        tz_json_put(entry, "receivers", receivers_of(h, failed), failed);
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

static tz_status gather(tz_context *context, writing *w, tz_error *error)
{
    json_t *facts = w->facts = json_object();
    const tz_active_run *run = context->runs;
    bool failed = !facts;
    int64_t bytes = 0;
    uint64_t sum = 0;
    char text[32];
    tz_recall_put(context, TZ_ENTRY_CHECKPOINT, "i", w->number);
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
    tz_json_put(facts, "ended", json_boolean(run && run->course.result.status), &failed);
    for (const tz_simulation_handle *h = context->open; h; h = h->next)
        tz_handle_record(h);
    tz_json_put(facts, "record", tz_record_copy(context->files.record), &failed);
    return failed ? tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a checkpoint")
                  : TZ_OK;
}

struct tz_checkpoints {
    bool on, stopped; /* stopped: the one after a signal is written */
    double began_s;   /* when the run began, on the clock */
    double interval_s, due_s;
    int64_t number; /* of the last one */
    int slot;       /* of the next one */
    bool told;      /* that no more can be written */
    tz_written written;
    writing *end; /* of the end of the last run, if nothing has changed since; owned */
};

/* Copies of all fields, so that another thread can write them. False: not possible. */
static bool freeze(tz_context *context, writing *w)
{
    size_t i = 0;
    for (tz_simulation_handle *h = context->open; h; h = h->next, i++) {
        tz_error ignored;
        if (tz_simulation_freeze(h->simulation, &w->sources[i].snapshot, &ignored) != TZ_OK ||
            !w->sources[i].snapshot)
            return false;
    }
    return true;
}

/* ---- Preparing ------------------------------------------------------------------------------- */

static void warn_about(tz_context *context, const tz_error *why)
{
    char text[2100];
    tz_error_format(why, text, sizeof text);
    tz_context_note(context, TZ_NOTE_WARNING, "no checkpoint was written: %s", text);
}

/* Faults of checkpoints that other threads have written. */
static void tell_failure(tz_context *context)
{
    tz_checkpoints *c = context->checkpoints;
    pthread_mutex_lock(&c->written.lock);
    const tz_error why = c->written.failure;
    c->written.failure.code = TZ_OK;
    pthread_mutex_unlock(&c->written.lock);
    if (why.code)
        warn_about(context, &why);
}

/* Is it possible at all? Tells it once if not. */
static bool is_possible(tz_context *context, tz_error *why)
{
    tz_checkpoints *c = context->checkpoints;
    const tz_recall *recall = &context->recall;
    tz_status status = TZ_OK;
    if (recall->tainted)
        status = tz_error_set(why, TZ_UNSUPPORTED, NULL,
                              "%s: the run cannot go on from after this line, and older "
                              "checkpoints are kept",
                              recall->why);
    else
        status = tz_journal_check(recall->journal, why);
    if (status && !c->told)
        warn_about(context, why);
    c->told = c->told || status;
    return !status;
}

static tz_status open_journal(tz_context *context, tz_error *error)
{
    char path[PATH_MAX + 32];
    const char *folder = tz_folder_path(context->files.folder);
    const tz_status status = tz_checkpoints_make(folder, error);
    return status ? status
                  : tz_journal_attach(context->recall.journal,
                                      tz_checkpoints_path(folder, "journal", path, sizeof path),
                                      error);
}

/* Everything up to the moment when another thread could take over. */
static tz_status prepare(tz_context *context, writing **out, tz_error *error)
{
    tz_checkpoints *c = context->checkpoints;
    tz_status status = tz_handle_open_folder(context, error);
    if (!status)
        status = open_journal(context, error);
    for (tz_simulation_handle *h = context->open; h && !status; h = h->next)
        status = tz_recordings_keep(h, true, error);
    if (status)
        return status;
    writing *w = calloc(1, sizeof *w);
    if (!w)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a checkpoint");
    *w = (writing){.result = &c->written,
                   .number = c->number + 1,
                   .files = &context->files,
                   .journal = context->recall.journal,
                   .began_s = tz_machine_clock_s()};
    tz_checkpoints_file(context->result->folder, c->slot, w->path, sizeof w->path);
    status = gather(context, w, error);
    if (status) {
        release(w);
        return status;
    }
    *out = w;
    return TZ_OK;
}

static void set_alarm(const tz_context *context);

/* The next checkpoint has another number, and is the other file. */
static void take_slot(tz_checkpoints *c)
{
    c->number++;
    c->slot = 1 - c->slot;
}

static tz_status write_now(tz_context *context, bool wait, tz_error *error)
{
    tz_checkpoints *c = context->checkpoints;
    tz_error why = {0};
    writing *w = NULL;
    if (!tz_recall_records(context) || !is_possible(context, &why))
        return TZ_OK;
    tell_failure(context);
    tz_status status = tz_run_files_settle(&context->files, error); /* the one before */
    if (status)
        return status;
    status = prepare(context, &w, &why);
    if (status) {
        warn_about(context, &why);
        c->due_s = tz_machine_clock_s() + c->interval_s;
        return TZ_OK;
    }
    take_slot(c);
    status = TZ_OK;
    if (!freeze(context, w) || wait) {
        status = write_checkpoint(w, error);
        release(w);
    } else {
        const tz_job job = {write_checkpoint, release, w};
        status = tz_job_queue_push(context->files.snapshots, &job, error);
    }
    for (const tz_simulation_handle *h = context->open; h; h = h->next)
        tz_simulation_forget_watch(h->simulation);
    if (!status)
        status = tz_run_files_write_record(&context->files, "running", NULL, error);
    tell_failure(context);
    c->due_s = tz_machine_clock_s() + c->interval_s;
    set_alarm(context);
    return status;
}

tz_status tz_checkpoint_now(tz_context *context, bool wait, tz_error *error)
{
    tz_interrupt_promise_begin();
    const tz_status status = write_now(context, wait, error);
    tz_interrupt_promise_end();
    return status;
}

tz_status tz_checkpoint_pause(tz_context *context, tz_simulation *simulation, tz_error *error)
{
    tz_checkpoints *c = context->checkpoints;
    const bool stop = tz_context_stops(context);
    tz_status status = TZ_OK;
    if (!c || !c->on || c->stopped || !tz_recall_records(context))
        return TZ_OK;
    tell_failure(context);
    if (stop || (c->interval_s > 0 && tz_machine_clock_s() >= c->due_s))
        status = tz_checkpoint_now(context, stop, error);
    if (!stop || status)
        return status;
    c->stopped = true;
    tz_interrupt_grace(false);
    return tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted at step %lld",
                        (long long)tz_simulation_step(simulation));
}

void tz_checkpoint_at_signal(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    tz_checkpoints *c = context->checkpoints;
    if (!c || !c->on || c->stopped || context->recall.in_policy)
        return;
    c->stopped = true;
    const tz_status status = tz_checkpoint_now(context, true, tz_fault(L));
    tz_interrupt_grace(false);
    if (status)
        tz_raise_error(L, NULL, tz_fault(L));
    tz_raise(L, "interrupted");
}

/* ---- The last one ---------------------------------------------------------------------------- */

/* The script's end is where it is needed, but a run goes on from within its last sim:run. So facts
 * are kept at the end of each run, and fields are written with them if it was the last. */
void tz_checkpoint_run_ends(tz_context *context)
{
    tz_checkpoints *c = context->checkpoints;
    tz_error why = {0};
    tz_checkpoint_forget_end(context);
    if (!tz_checkpoints_on(context) || context->runs->next || !tz_recall_records(context) ||
        !is_possible(context, &why))
        return;
    if (prepare(context, &c->end, &why) != TZ_OK) {
        c->end = NULL;
        warn_about(context, &why);
    }
}

void tz_checkpoint_forget_end(tz_context *context)
{
    tz_checkpoints *c = context->checkpoints;
    if (c && c->end)
        release(c->end);
    if (c)
        c->end = NULL;
}

/* Are all simulations open, and tables and movies as long as they were? */
static bool end_holds(const tz_context *context, const writing *w)
{
    size_t i = 0;
    for (const tz_simulation_handle *h = context->open; h; h = h->next, i++) {
        if (i >= w->sources_count || w->sources[i].simulation != h->simulation)
            return false;
        const source *s = &w->sources[i];
        size_t k = 0;
        for (const tz_binding *b = h->bindings; b && k < s->outputs; b = b->next, k++) {
            const json_t *count = json_object_get(json_array_get(s->facts, k), "count");
            if ((b->writer.table || b->writer.movie) &&
                json_integer_value(count) != b->writer.count)
                return false;
        }
    }
    return i == w->sources_count;
}

static tz_status write_end(tz_context *context, tz_error *error)
{
    tz_checkpoints *c = context->checkpoints;
    writing *w = c->end;
    bool failed = false;
    w->number = c->number + 1;
    tz_json_put_integer(w->facts, "number", w->number, &failed);
    tz_checkpoints_file(context->result->folder, c->slot, w->path, sizeof w->path);
    take_slot(c);
    return failed ? tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a checkpoint")
                  : write_checkpoint(w, error);
}

tz_status tz_checkpoint_last(tz_context *context, tz_error *error)
{
    tz_checkpoints *c = context->checkpoints;
    char path[PATH_MAX + 32];
    if (!tz_checkpoints_on(context) || !tz_recall_records(context) || !context->open)
        return TZ_OK;
    tz_status status = tz_run_files_settle(&context->files, error);
    const int64_t before = c->written.count;
    if (!status)
        status = c->end && end_holds(context, c->end) ? write_end(context, error)
                                                      : write_now(context, true, error);
    tz_checkpoint_forget_end(context);
    tell_failure(context);
    if (c->written.count > before) /* the one before it is no longer needed */
        unlink(tz_checkpoints_file(context->result->folder, c->slot, path, sizeof path));
    return status;
}

/* ---- When ------------------------------------------------------------------------------------ */

/* --walltime: stop so early that a checkpoint can still be written. */
static void set_alarm(const tz_context *context)
{
    tz_checkpoints *c = context->checkpoints;
    const double limit = context->options->walltime_s;
    if (limit <= 0)
        return;
    double cost = 0;
    for (const tz_simulation_handle *h = context->open; h; h = h->next)
        cost += (double)tz_simulation_bytes(h->simulation) / 200e6;
    pthread_mutex_lock(&c->written.lock);
    cost = c->written.count > 0 ? c->written.cost_s : cost;
    pthread_mutex_unlock(&c->written.lock);
    const double early = fmin(0.25 * limit, fmax(0.02 * limit, 1 + 3 * cost));
    tz_interrupt_alarm(fmax(c->began_s + limit - early - tz_machine_clock_s(), 1e-3));
}

tz_status tz_checkpoints_begin(tz_context *context, tz_error *error)
{
    tz_checkpoints *c = calloc(1, sizeof *c);
    if (!c)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for checkpoints");
    pthread_mutex_init(&c->written.lock, NULL);
    c->began_s = tz_machine_clock_s();
    context->checkpoints = c;
    if (context->options->checkpoint_s > 0 || context->options->walltime_s > 0)
        tz_checkpoints_every(context, context->options->checkpoint_s);
    set_alarm(context);
    return TZ_OK;
}

void tz_checkpoints_end(tz_context *context)
{
    tz_checkpoints *c = context->checkpoints;
    if (!c)
        return;
    tz_interrupt_alarm(0);
    tz_interrupt_grace(false);
    tz_checkpoint_forget_end(context);
    pthread_mutex_destroy(&c->written.lock);
    free(c);
    context->checkpoints = NULL;
}

bool tz_checkpoints_on(const tz_context *context)
{
    return context->checkpoints && context->checkpoints->on && !context->checkpoints->stopped;
}

void tz_checkpoints_every(tz_context *context, double interval_s)
{
    tz_checkpoints *c = context->checkpoints;
    if (!c)
        return;
    c->on = true;
    /* --checkpoint replaces what the script says. */
    c->interval_s = context->options->checkpoint_s > 0 ? context->options->checkpoint_s
                    : interval_s > 0                   ? interval_s
                                                       : c->interval_s;
    c->due_s = tz_machine_clock_s() + c->interval_s;
    tz_interrupt_grace(true);
}

bool tz_checkpoints_written(const tz_context *context)
{
    return context->checkpoints && context->checkpoints->written.count > 0;
}

struct tz_resume {
    tz_checkpoint_reader *reader;
    int slot;
};

/* ---- Choosing a checkpoint to go on from ----------------------------------------------------- */

static tz_status open_old_journal(tz_context *context, const json_t *facts, tz_error *error)
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
    return status ? status : open_old_journal(context, tz_checkpoint_facts(resume->reader), error);
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
                            "was begun by Trapeze %s, and this is %s: go on with that version, or "
                            "begin with its fields: trapeze run FILE.lua --from RUNDIR",
                            version, TZ_VERSION);
    if (strcmp(hash, tz_json_get_text(facts, "scenario_hash", &failed)) != 0)
        return tz_error_set(error, TZ_RANGE, context->options->resume,
                            "its scenario.lua is not the script that was run: a run goes on with "
                            "the same script; give another one to trapeze run");
    return failed ? tz_error_set(error, TZ_FORMAT, context->options->resume,
                                 "the checkpoint does not say what it belongs to")
                  : TZ_OK;
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
    tz_recall_look_for_files(context);
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

static tz_status restore_receivers(tz_simulation_handle *handle, const json_t *list,
                                   tz_error *error)
{
    tz_status status = TZ_OK;
    size_t i = 0;
    for (tz_recording *r = handle->recordings; r && !status; r = r->next, i++)
        status = tz_recording_go_on(r, &handle->context->files,
                                    json_integer_value(json_array_get(list, i)), error);
    if (!status && i != json_array_size(list))
        status = tz_error_set(error, TZ_RANGE, NULL,
                              "the script has made %zu receivers, and had made %zu before the "
                              "checkpoint",
                              i, json_array_size(list));
    return status;
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
    tz_status status =
        tz_simulation_check_identity(handle->simulation, json_object_get(entry, "identity"), error);
    if (!status)
        status = tz_simulation_restore(handle->simulation, json_object_get(entry, "progress"),
                                       context->resume->reader, prefix_of(handle, prefix), error);
    if (!status)
        status = restore_outputs(handle, json_object_get(entry, "outputs"), error);
    if (!status)
        status = restore_receivers(handle, json_object_get(entry, "receivers"), error);
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
    return status ? status : tz_resume_extend(context, facts, error);
}

/* The files change only here. */
static tz_status go_on(tz_context *context, tz_error *error)
{
    const json_t *facts = tz_checkpoint_facts(context->resume->reader);
    bool failed = false;
    const int64_t number = tz_json_get_integer(facts, "number", 0, INT64_MAX, &failed);
    const int64_t log = tz_json_get_integer(facts, "log_bytes", 0, INT64_MAX, &failed);
    tz_checkpoints *c = context->checkpoints;
    tz_journal_skip(context->recall.journal); /* the checkpoint's own entry */
    tz_folder *folder = context->files.folder;
    const tz_status status = tz_journal_go_on(context->recall.journal, error);
    if (status)
        return status;
    context->recall.mode = TZ_RECALL_RECORDS;
    c->number = number;
    c->slot = 1 - context->resume->slot;
    c->written.count++;
    c->due_s = tz_machine_clock_s() + c->interval_s;
    if (log < tz_folder_log_bytes(folder))
        tz_folder_cut_log(folder, log);
    const char *until = context->options->until;
    tz_context_note(context, TZ_NOTE_LOG, "goes on from checkpoint %lld of %.60s%s%.60s",
                    (long long)number, tz_json_get_text(facts, "written", &failed),
                    until ? ", until " : "", until ? until : "");
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
    if (tz_resume_load(L, tz_fault(L)) != TZ_OK)
        tz_recall_refuse(L, "%s", tz_fault(L)->message);
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
