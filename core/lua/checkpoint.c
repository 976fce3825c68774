#include "lua/checkpoint.h"

#include "lua/api.h"
#include "lua/checkpoint_parts.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "lua/recall.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct tz_checkpoints {
    bool on, stopped; /* stopped: the one after a signal is written */
    double began_s;   /* when the run began, on the clock */
    double interval_s, due_s;
    int64_t number; /* of the last one */
    int slot;       /* of the next one */
    bool told;      /* that no more can be written */
    tz_written written;
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

/* ---- Writing --------------------------------------------------------------------------------- */

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
    status = tz__checkpoint_gather(context, w, error);
    if (status) {
        tz__checkpoint_release(w);
        return status;
    }
    *out = w;
    return TZ_OK;
}

static void set_alarm(const tz_context *context);

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
    c->number++;
    c->slot = 1 - c->slot;
    status = TZ_OK;
    if (!freeze(context, w) || wait) {
        status = tz__checkpoint_write(w, error);
        tz__checkpoint_release(w);
    } else {
        const tz_job job = {tz__checkpoint_write, tz__checkpoint_release, w};
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
    const bool stop = tz_interrupt_signal() != 0;
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
    tz_error error;
    if (!c || !c->on || c->stopped || context->recall.in_policy)
        return;
    c->stopped = true;
    const tz_status status = tz_checkpoint_now(context, true, &error);
    tz_interrupt_grace(false);
    if (status)
        tz_raise_error(L, NULL, &error);
    tz_raise(L, "interrupted");
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

void tz_checkpoints_go_on(tz_context *context, int64_t number, int slot)
{
    tz_checkpoints *c = context->checkpoints;
    c->number = number;
    c->slot = slot;
    c->written.count++;
    c->due_s = tz_machine_clock_s() + c->interval_s;
}

bool tz_checkpoints_written(const tz_context *context)
{
    return context->checkpoints && context->checkpoints->written.count > 0;
}

/* ---- tz.checkpoint --------------------------------------------------------------------------- */

static int value_checkpoint(lua_State *L)
{
    lua_newuserdatauv(L, 1, 0);
    luaL_setmetatable(L, TZ_TYPE_CHECKPOINT);
    return 1;
}

static int checkpoint_tostring(lua_State *L)
{
    lua_pushliteral(L, "checkpoint");
    return 1;
}

void tz_checkpoint_register(lua_State *L)
{
    static const tz_api_function none[] = {TZ_API_END};
    static const tz_api_function functions[] = {
        TZ_API("tz.checkpoint()", value_checkpoint,
               "For `sim:every` and `sim:write`: a checkpoint of all simulations, from which "
               "`trapeze resume` goes on. `sim:every(\"10 min\", tz.checkpoint())` counts minutes "
               "of the clock on the wall."),
        TZ_API_END};
    tz_metatable_create(L, TZ_TYPE_CHECKPOINT, none, NULL, NULL, checkpoint_tostring);
    tz_api_add(L, functions);
}
