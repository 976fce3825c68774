/* Methods of simulations that advance them: sim:run, sim:stop and sim:jump. The loop of a run
 * writes the outputs that are due. simulation.c registers the methods. */
#include "lua/module.h"

#include "base/number.h"
#include "lua/api.h"
#include "lua/checkpoint.h"
#include "lua/handle.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/live.h"
#include "lua/policy.h"
#include "lua/recall.h"
#include "sim/fields.h"
#include "sim/run.h"
#include "sim/snapshot.h"
#include "sim/solve.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Protected: argument 1 is the binding, 2 the simulation. */
static int write_protected(lua_State *L)
{
    tz_binding_write(L, lua_touserdata(L, 1), 2);
    return 0;
}

/* ---- The journal of a run -------------------------------------------------------------------- */

static void note_event(const tz_binding *binding, int64_t step)
{
    uint32_t index = 0;
    for (const tz_binding *b = binding->handle->bindings; b != binding; b = b->next)
        index++;
    const tz_clock clock = tz_simulation_clock(binding->handle->simulation);
    tz_recall_put(binding->handle->context, TZ_ENTRY_FIRE, "uididd", index, step, clock.dt,
                  clock.since, clock.time, clock.rest);
}

static void note_end(const tz_active_run *run, tz_status status, const tz_error *error)
{
    const tz_run_result *r = &run->course.result;
    const tz_simulation_handle *handle = run->handle;
    const tz_clock clock = tz_simulation_clock(handle->simulation);
    tz_recall_put(handle->context, TZ_ENTRY_END, "uiiiuddddssssdddidd", (uint32_t)status,
                  tz_simulation_step(handle->simulation), r->steps, r->stages, (uint32_t)r->status,
                  r->residual, r->update, r->seconds, r->energy_j, status ? error->place : "",
                  status ? error->message : "", handle->failure, r->why, r->dt_least, r->dt_most,
                  clock.dt, clock.since, clock.time, clock.rest);
}

/* That of the journal. Its time step is one that the simulation has had. */
static void set_clock(tz_simulation *simulation, const tz_clock *clock)
{
    tz_error ignored;
    if (clock->dt > 0)
        tz_simulation_set_clock(simulation, clock, &ignored);
}

static void read_end(tz_active_run *run, tz_reading *reading, tz_status *status, tz_error *error)
{
    tz_run_result r = {.steps = 0};
    tz_clock clock = {.dt = 0};
    tz_simulation_handle *handle = run->handle;
    uint32_t ended, code;
    int64_t step;
    tz_reading_unpack(reading, "uiiiuddddssssdddidd", &code, &step, &r.steps, &r.stages, &ended,
                      &r.residual, &r.update, &r.seconds, &r.energy_j, error->place,
                      sizeof error->place, error->message, sizeof error->message, handle->failure,
                      sizeof handle->failure, r.why, sizeof r.why, &r.dt_least, &r.dt_most,
                      &clock.dt, &clock.since, &clock.time, &clock.rest);
    *status = error->code = (tz_status)code;
    r.status = (tz_run_status)(ended % (TZ_RUN_STATUS_LAST + 1));
    run->course.result = r;
    tz_simulation_set_step(handle->simulation, step);
    set_clock(handle->simulation, &clock);
    tz_simulation_set_last_run(handle->simulation, &r);
}

static tz_status fire_again(tz_simulation_handle *handle, tz_reading *reading, tz_error *error)
{
    uint32_t index;
    int64_t step;
    tz_clock clock = {.dt = 0};
    tz_binding *binding = handle->bindings;
    tz_reading_unpack(reading, "uididd", &index, &step, &clock.dt, &clock.since, &clock.time,
                      &clock.rest);
    for (; binding && index > 0; index--)
        binding = binding->next;
    if (!binding || reading->failed || !tz_binding_is_regular(binding))
        return tz_error_set(error, TZ_SCRIPT, NULL,
                            "the run called another function before the checkpoint");
    tz_simulation_set_step(handle->simulation, step);
    set_clock(handle->simulation, &clock);
    return tz_handle_call(handle, write_protected, binding, error);
}

/* Go through what the run did before. True: it ended in the journal; *status and `error` are its
 * result. False: the journal ends within the run, which goes on from run->course; *status is that
 * of the last function that it called. */
static bool replay(lua_State *L, tz_active_run *run, tz_status *status, tz_error *error)
{
    tz_context *context = run->handle->context;
    for (;;) {
        tz_journal_entry entry;
        if (!tz_recall_peek(context, &entry)) {
            *status = tz_resume_load(L, error);
            return *status != TZ_OK;
        }
        tz_reading reading = {entry.data, entry.data + entry.bytes, false};
        tz_recall_skip(context);
        if (entry.kind == TZ_ENTRY_END) {
            read_end(run, &reading, status, error);
            return true;
        }
        if (entry.kind == TZ_ENTRY_FIRE) {
            *status = fire_again(run->handle, &reading, error);
        } else if (entry.kind == TZ_ENTRY_POLICY) {
            *status = tz_policy_ask_again(run->handle, &reading, error);
        } else {
            *status = tz_recall_break(L, error,
                                      "the script runs a simulation here, and did something else "
                                      "before the checkpoint: a run can only go on if its script "
                                      "does the same again");
            return true;
        }
        if (!tz_recall_replays(context)) /* the function has come to the checkpoint, or is broken */
            return context->recall.mode == TZ_RECALL_BROKEN;
    }
}

/* ---- Outputs that are due -------------------------------------------------------------------- */

/* Does what the run records fill a table? Jumps record nothing. */
static bool listens(const tz_active_run *run, const tz_binding *binding)
{
    return tz_binding_listens(binding) && !run->course.wanted.jumps;
}

/* What the run records has the rows of later steps than 0. */
static bool is_due(const tz_active_run *run, const tz_binding *binding)
{
    const tz_simulation *simulation = binding->handle->simulation;
    if (binding->kind == TZ_BINDING_UNTIL) /* also at both ends of the run */
        return binding->writer.last_step != tz_simulation_step(simulation) &&
               (tz_simulation_step(simulation) == run->course.start ||
                tz_simulation_step(simulation) == run->course.end ||
                tz_interval_is_due(&binding->every, simulation, tz_simulation_step(simulation)));
    return tz_binding_is_regular(binding) &&
           !(listens(run, binding) && tz_simulation_step(simulation) > 0) &&
           tz_interval_is_due(&binding->every, simulation, tz_simulation_step(simulation));
}

/* The next step at which something is due. */
static int64_t next_due(const tz_active_run *run)
{
    const tz_simulation_handle *handle = run->handle;
    const int64_t step = tz_simulation_step(handle->simulation);
    int64_t due = INT64_MAX;
    for (const tz_binding *b = handle->bindings; b; b = b->next) {
        const int64_t next = tz_binding_is_regular(b) && !listens(run, b)
                                 ? tz_interval_next(&b->every, handle->simulation, step)
                                 : INT64_MAX;
        due = next < due ? next : due;
    }
    return due;
}

/* May another thread write it while the run goes on? */
static bool is_written_later(const tz_binding *binding)
{
    return binding->kind == TZ_BINDING_OUTPUT && !tz_output_needs_texts(binding->writer.output) &&
           !binding->writer.probes;
}

/* Wait for what other threads write. */
static tz_status settle(tz_active_run *run, tz_error *error)
{
    if (!run->unsettled)
        return TZ_OK;
    run->unsettled = false;
    return tz_run_files_settle(&run->handle->context->files, error);
}

static tz_status write_at_once(tz_active_run *run, tz_binding *binding, tz_error *error)
{
    tz_simulation *simulation = run->handle->simulation;
    tz_status status = tz_run_wait(simulation, &run->course, error);
    if (!status)
        status = settle(run, error);
    if (!status)
        status = tz_simulation_check_finite(simulation, error);
    if (status)
        return status;
    run->unsettled = true; /* it may be a checkpoint, which others write */
    if (tz_binding_is_done(binding, tz_simulation_step(simulation)))
        return TZ_OK; /* sim:write wrote it just before the run */
    if (tz_binding_calls_lua(binding))
        note_event(binding, tz_simulation_step(simulation));
    return tz_handle_call(run->handle, write_protected, binding, error);
}

/* A snapshot of this step for what is written later; NULL: it is written at once. */
static tz_status freeze(tz_active_run *run, tz_snapshot **out, tz_error *error)
{
    const tz_simulation_handle *handle = run->handle;
    tz_simulation *simulation = handle->simulation;
    uint32_t fields = 0;
    tz_error why = {0};
    *out = NULL;
    if (run->refused)
        return TZ_OK;
    for (const tz_binding *b = handle->bindings; b; b = b->next)
        if (is_written_later(b) && is_due(run, b))
            fields |= tz_writer_fields(&b->writer, tz_handle_stencil(handle));
    tz_status status = tz_snapshot_take(simulation, fields, false, out, &why);
    if (!status && !*out) {
        /* Outputs take longer than stages. The wait for a free snapshot is no part of the stages'
         * time, so that ends here. */
        status = tz_run_wait(simulation, &run->course, &why);
        if (!status)
            status = tz_snapshot_take(simulation, fields, true, out, &why);
    }
    if (status && status != TZ_UNSUPPORTED && status != TZ_MEMORY)
        *error = why;
    if (status != TZ_UNSUPPORTED && status != TZ_MEMORY)
        return status;
    run->refused = true;
    if (status == TZ_MEMORY)
        tz_context_note(handle->context, TZ_NOTE_LOG, "%s: the run waits for its outputs: %s",
                        handle->name, why.message);
    return TZ_OK;
}

/* Write what is due at this step, from a binding on: the index counts the regular ones. */
static tz_status write_from(tz_active_run *run, int64_t first, tz_error *error)
{
    tz_snapshot *snapshot = NULL;
    tz_status status = TZ_OK;
    int64_t index = -1;
    for (tz_binding *b = run->handle->bindings; !status && b; b = b->next) {
        index += tz_binding_is_regular(b);
        if (!is_due(run, b) || index < first)
            continue;
        run->course.firing = index;
        const bool later = is_written_later(b);
        if (later && !snapshot)
            status = freeze(run, &snapshot, error);
        if (!status && later && snapshot) {
            run->unsettled = true;
            status = tz_binding_write_later(b, snapshot, error);
        } else if (!status) {
            status = write_at_once(run, b, error);
        }
    }
    run->course.firing = -1;
    tz_snapshot_release(snapshot);
    return status;
}

/* The rows of tables that what was recorded fills. */
static tz_status take_rows(const tz_simulation_handle *handle, tz_error *error)
{
    tz_status status = TZ_OK;
    for (tz_binding *b = handle->bindings; b && !status; b = b->next)
        if (b->writer.probes) {
            status = tz_simulation_receive(handle->simulation, error);
            if (!status)
                status = tz_binding_take(b, error);
        }
    return status;
}

static tz_status write_due(tz_active_run *run, tz_error *error)
{
    const tz_simulation_handle *handle = run->handle;
    tz_status status = take_rows(handle, error);
    for (const tz_binding *b = handle->bindings; !status && b; b = b->next)
        if (b->kind == TZ_BINDING_OUTPUT && is_due(run, b) &&
            tz_output_has_column(b->writer.output, TZ_COLUMN_RESIDUAL))
            status = tz_run_measure(handle->simulation, &run->course, &(tz_update){0}, error);
    return status ? status : write_from(run, 0, error);
}

/* ---- Between two calls of the backend -------------------------------------------------------- */

static void report(const tz_simulation_handle *handle, int64_t done, int64_t total, bool last)
{
    const tz_script_sink *sink = &handle->context->options->sink;
    const tz_simulation *simulation = handle->simulation;
    if (!sink->progress)
        return;
    const tz_script_progress progress = {.name = handle->name,
                                         .done = done,
                                         .total = total,
                                         .step = tz_simulation_step(simulation),
                                         .cells = tz_simulation_cells(simulation),
                                         .seconds = tz_simulation_seconds(simulation) -
                                                    handle->seconds_before,
                                         .last = last};
    sink->progress(sink->context, &progress);
}

/* The steps that have just been computed. With checkpoints, a signal ends the run at a pause. */
static tz_status tell_progress(const tz_active_run *run, tz_error *error)
{
    const tz_simulation_handle *handle = run->handle;
    const tz_course *course = &run->course;
    const tz_status status = tz_recordings_keep(run->handle, false, error);
    if (status)
        return status;
    tz_context_pass_warnings(handle->context);
    report(handle, course->result.steps, course->end < 0 ? -1 : course->end - course->start, false);
    if (!tz_context_stops(handle->context) || tz_checkpoints_on(handle->context))
        return TZ_OK;
    return tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted at step %lld",
                        (long long)tz_simulation_step(handle->simulation));
}

static void pass_warning(tz_active_run *run)
{
    if (run->course.warning[0])
        tz_context_note(run->handle->context, TZ_NOTE_WARNING, "%s: %s", run->handle->name,
                        run->course.warning);
    run->course.warning[0] = '\0';
}

/* Somebody may look, and a checkpoint may be written. */
static tz_status pause_run(tz_active_run *run, int64_t *most, tz_error *error)
{
    tz_simulation_handle *handle = run->handle;
    *most = 0;
    if (tz_live_view_wants(handle)) {
        tz_status status = tz_run_wait(handle->simulation, &run->course, error);
        if (!status)
            status = tz_live_view_attend(handle, most, error);
        if (status)
            return status;
    }
    run->unsettled = true; /* another thread may write it */
    return tz_checkpoint_pause(handle->context, handle->simulation, error);
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* From where the run is to its end. */
static tz_status advance(tz_active_run *run, tz_error *error)
{
    tz_simulation_handle *handle = run->handle;
    tz_course *course = &run->course;
    tz_until until = {.step = 0};
    tz_stop stop = TZ_STOP_DUE;
    tz_status status = TZ_OK;
    while (!status && stop != TZ_STOP_END) {
        const int64_t before = course->result.steps;
        if (until.step <= tz_simulation_step(handle->simulation))
            until.step = next_due(run);
        status = tz_simulation_advance(handle->simulation, course, &until, &stop, error);
        pass_warning(run);
        if (!status && course->result.steps > before)
            status = tell_progress(run, error);
        if (!status && stop == TZ_STOP_PAUSE)
            status = pause_run(run, &until.most, error);
        else if (!status && stop == TZ_STOP_ASKS)
            status = tz_policy_ask(handle, error);
        else if (!status && stop == TZ_STOP_DUE)
            status = write_due(run, error);
        else if (!status && stop == TZ_STOP_ADAPTED)
            until.step = 0;
    }
    return status;
}

/* The condition of a new run may hold already. */
static tz_status ask_first(tz_active_run *run, tz_error *error)
{
    tz_status status = TZ_OK;
    int64_t index = -1;
    for (tz_binding *b = run->handle->bindings; b && !status; b = b->next) {
        index += tz_binding_is_regular(b);
        if (b->kind != TZ_BINDING_UNTIL)
            continue;
        run->course.firing = index;
        status = write_at_once(run, b, error);
        run->course.firing = -1;
    }
    return status;
}

/* A new run, or one that goes on from a checkpoint, where `failed` is the error of the function
 * that was called then; NULL: none. Waits for all outputs, also after a failure: the first error
 * counts. */
static tz_status compute(tz_active_run *run, bool resumes, const tz_error *failed, tz_error *error)
{
    tz_simulation *simulation = run->handle->simulation;
    tz_course *course = &run->course;
    tz_status status = TZ_OK;
    tz_error first;
    if (failed) {
        *error = *failed;
        status = failed->code;
    } else if (!resumes) {
        status = tz_simulation_begin(simulation, &course->wanted, course, error);
        pass_warning(run);
        if (!status)
            status = ask_first(run, error);
    } else if (course->firing >= 0) {
        status = write_from(run, course->firing + 1, error);
    }
    if (!status)
        status = advance(run, error);
    const tz_status taken = take_rows(run->handle, status ? &first : error);
    if (!status)
        status = taken;
    const tz_status settled = settle(run, &first);
    if (settled && (!status || status == TZ_DIVERGED)) {
        status = settled;
        *error = first;
    }
    return tz_simulation_end(simulation, course, status, error);
}

/* ---- sim:run --------------------------------------------------------------------------------- */

static const char *name_of(const tz_run *run)
{
    return run->jumps && run->implicit_order == 0 ? "sim:jump" : "sim:run";
}

/* The steps up to until_time, if the table at index 2 has that. */
static bool get_until_time(lua_State *L, const tz_simulation_handle *handle, const char *what,
                           int64_t *steps)
{
    char place[40];
    int64_t end = 0;
    lua_pushliteral(L, "until_time");
    const bool given = lua_rawget(L, 2) != LUA_TNIL;
    if (given) {
        const double time = tz_handle_time(L, -1, handle, what, "until_time");
        snprintf(place, sizeof place, "%s: 'until_time'", what);
        tz_try(L, place, tz_simulation_step_at(handle->simulation, time, &end, tz_fault(L)));
        *steps = end - tz_simulation_step(handle->simulation);
    }
    lua_pop(L, 1);
    return given;
}

/* Iterations between two calls of `until_true`, and between two choices of the time step. */
#define UNTIL_EVERY 64
#define ADAPT_EVERY 4

static TZ_KEY_NAMES(adaptive_names, "adaptive")

    static TZ_KEY_NAMES(implicit_names, "solver", "direct")

        static const tz_key run_options[] = {
            {"steps", "integer", "", "iterations", .most = INFINITY},
            {"until_time", "number or text", "",
             "the simulated time at which the run ends, `\"2 ms\"`; a number is in the unit of the "
             "time "
             "step"},
            {"until_residual", "number", "", "the residual at which it ends"},
            {"until_update", "number", "", "the change of an iteration at which it ends"},
            {"until_true", "function", "",
             "a function(sim): the run ends where it returns true, asked every `check_every` "
             "iterations"},
            {"max_steps", "integer", "no limit", "with until_true, until_residual or until_update",
             .most = INFINITY},
            {"check_every", "integer",
             TZ_KEY_VALUE(TZ_CHECK_FIRST) " to " TZ_KEY_VALUE(
                 TZ_CHECK_LAST) ", then 1/" TZ_KEY_VALUE(TZ_CHECK_SHARE) " of those so far",
             "iterations between two checks; with `until_true` " TZ_KEY_VALUE(
                 UNTIL_EVERY) ", with `dt` " TZ_KEY_VALUE(ADAPT_EVERY),
             .least = 1, .most = INFINITY},
            {"accept_stagnation", "boolean", "false",
             "a run whose precision ends first is no failure"},
            {"dt", "text", "",
             "%s: the time step is chosen every `check_every` iterations, by `tolerance` or the "
             "stencil's output `largest_dt` ([time steps](time-steps.md))",
             adaptive_names},
            {"tolerance", "number", "",
             "with `dt`: by how much one step and two half ones may differ in any cell"},
            {"implicit", "number or text", "",
             "the time step of implicit steps ([steady states](steady.md#implicit-steps)), with "
             "`until_time` or `steps`"},
            {"order", "integer", "2", "of implicit steps: 1, backward Euler, or 2", .least = 1,
             .most = 2},
            {"by", "text", "\"solver\"", "%s, how they are solved: the last one by libumfpack",
             implicit_names},
            {NULL, NULL, NULL, NULL}};

/* Without the first one, of a run that has not ended. */
static const char *status_names(int i)
{
    return i < TZ_RUN_STATUS_LAST ? tz_run_status_name((tz_run_status)(i + 1)) : NULL;
}

static const tz_key run_result[] = {
    {"status", "text", "", "%s", status_names},
    {"steps", "integer", "", "iterations of this call"},
    {"stages", "integer", "", ""},
    {"seconds", "number", "", "spent in stages, without what a GPU's kernels take to compile"},
    {"residual", "number", "", "at the last check; NaN if there was none"},
    {"update", "number", "", "the same of the change of an iteration"},
    {"why", "text", "", "the reason, of status `\"until\"` and `\"stopped\"`"},
    {"converged", "boolean", "", ""},
    {"gcells_per_s", "number", "", "useful cell updates"},
    {"energy_j", "number", "", "of the GPU, where it counts it"},
    {NULL, NULL, NULL, NULL}};

/* The options of a time step that adapts. */
static void get_adaptive(lua_State *L, const tz_simulation_handle *handle, tz_run *run,
                         bool has_every)
{
    const char *what = "sim:run";
    tz_adaptive *a = &run->adaptive;
    int adaptive = 0;
    if (tz_table_get(L, 2, "dt") == LUA_TNUMBER)
        tz_raise(L, "%s: 'dt' is \"adaptive\" here; sim:params { %s = %.6g } sets the time step",
                 what,
                 tz_simulation_time_step(handle->simulation)
                     ? tz_simulation_time_step(handle->simulation)->name
                     : "dt",
                 lua_tonumber(L, -1));
    lua_pop(L, 1);
    a->on = tz_key_choice(L, 2, what, "dt", &adaptive);
    if (tz_key_number(L, 2, what, "tolerance", &a->tolerance) && !a->on)
        tz_raise(L, "%s: 'tolerance' goes with dt = \"adaptive\"", what);
    if (!a->on)
        return;
    if (tz_table_get(L, 2, "tolerance") != LUA_TNIL && !(a->tolerance > 0))
        tz_raise(L, "%s: 'tolerance' must be above 0", what);
    if (!isnan(run->until_residual))
        tz_raise(L, "%s: dt = \"adaptive\" goes with 'until_time', 'steps' or 'until_true'", what);
    if (tz_table_get(L, 2, "implicit") != LUA_TNIL)
        tz_raise(L, "%s: give 'implicit' or dt = \"adaptive\", not both", what);
    lua_pop(L, 1);
    a->until = NAN;
    if (tz_table_get(L, 2, "until_time") != LUA_TNIL)
        a->until = tz_handle_time(L, -1, handle, what, "until_time");
    lua_pop(L, 2);
    a->every = has_every ? run->check_every : ADAPT_EVERY;
    tz_try(L, what, tz_simulation_check_adaptive(handle->simulation, a, tz_fault(L)));
}

/* The options of implicit steps: a run by jumps of so many iterations. */
static void get_implicit(lua_State *L, const tz_simulation_handle *handle, tz_run *run)
{
    const char *what = "sim:run";
    int64_t order = 2;
    int by = 0;
    const bool has_order = tz_key_integer(L, 2, what, "order", &order);
    const bool has_by = tz_key_choice(L, 2, what, "by", &by);
    lua_pushliteral(L, "implicit");
    if (lua_rawget(L, 2) != LUA_TNIL) {
        tz_try(L, what, tz_simulation_check_implicit(handle->simulation, tz_fault(L)));
        const double step = tz_handle_time(L, -1, handle, what, "implicit");
        const double count = rint(step / tz_simulation_dt(handle->simulation));
        if (!(step > 0.0) || !(count < (double)(INT64_MAX / 4)))
            tz_raise(L, "%s: 'implicit' must be a time above 0", what);
        if (!isnan(run->until_residual) || run->until_called)
            tz_raise(L,
                     "%s: 'implicit' goes with 'until_time' or 'steps'; sim:steady finds steady "
                     "states",
                     what);
        run->jumps = true;
        run->jumps_most = count > 1.0 ? (int64_t)count : 1;
        run->implicit_order = (int)order;
        run->implicit_direct = by == 1;
    } else if (has_order || has_by) {
        tz_raise(L, "%s: '%s' goes with 'implicit'", what, has_order ? "order" : "by");
    }
    lua_pop(L, 1);
}

/* Push the function `until_true` of the table at index 2, or nil. */
static bool push_until(lua_State *L, tz_run *run)
{
    const char *what = "sim:run";
    run->until_called = tz_table_get(L, 2, "until_true") != LUA_TNIL;
    if (!run->until_called)
        return false;
    if (lua_type(L, -1) != LUA_TFUNCTION)
        tz_raise_kind(L, -1, what, "until_true",
                      "a function(sim) that returns true or false, such as "
                      "function(sim) return sim:max(\"u\") > 1 end");
    if (run->check_every == 0)
        run->check_every = UNTIL_EVERY;
    return true;
}

/* The argument at index 2: a number of steps; { steps = n } or { until_time = t }, perhaps with
 * implicit = dt and order = n; or { until_residual = r or until_update = r, max_steps = n,
 * check_every = n, accept_stagnation = true }. */
static void get_run(lua_State *L, const tz_simulation_handle *handle, tz_run *run, bool *accepts)
{
    const char *what = "sim:run";
    *accepts = false;
    *run = (tz_run){.steps = -1, .until_residual = NAN};
    if (lua_type(L, 2) == LUA_TNUMBER) {
        run->steps = tz_integer_check(L, 2, what, "steps", 0, INT64_MAX / 4);
        return;
    }
    if (!lua_istable(L, 2))
        tz_raise(L,
                 "%s: needs a number of steps, { steps = n }, { until_time = \"2 ms\" } or "
                 "{ until_residual = r, max_steps = n }",
                 what);
    tz_keys_take(L, 2, what, run_options, false);
    const bool has_steps = tz_key_integer(L, 2, what, "steps", &run->steps);
    const bool has_time = get_until_time(L, handle, what, &run->steps);
    const bool has_every = tz_key_integer(L, 2, what, "check_every", &run->check_every);
    const bool residual = tz_key_number(L, 2, what, "until_residual", &run->until_residual);
    run->until_is_update = tz_key_number(L, 2, what, "until_update", &run->until_residual);
    if (residual && run->until_is_update)
        tz_raise(L, "%s: give 'until_residual' or 'until_update', not both", what);
    const bool called = push_until(L, run);
    const bool until = residual || run->until_is_update;
    int64_t most = -1;
    const bool has_most = tz_key_integer(L, 2, what, "max_steps", &most);
    if (has_steps + has_time + until + called != 1)
        tz_raise(L,
                 "%s: give 'steps' or 'until_time' or 'until_residual' or 'until_update' or "
                 "'until_true' (the last three with 'max_steps'); sim:stop() in a function of "
                 "sim:every ends any run",
                 what);
    const bool has_accepts = tz_key_flag(L, 2, what, "accept_stagnation", accepts);
    if (!until && has_accepts)
        tz_raise(L, "%s: 'accept_stagnation' goes with 'until_residual' or 'until_update'", what);
    get_adaptive(L, handle, run, has_every);
    if (!until && !called && (has_most || (has_every && !run->adaptive.on)))
        tz_raise(L,
                 "%s: 'max_steps' and 'check_every' go with 'until_true', 'until_residual' or "
                 "'until_update'%s",
                 what, has_most ? "" : ", and the latter with dt = \"adaptive\"");
    if (residual && tz_stencil_has_residual(tz_handle_stencil(handle), tz_fault(L)))
        tz_raise_error(L, what, tz_fault(L));
    if (until && run->until_residual < 0)
        tz_raise(L, "%s: '%s' must not be negative", what,
                 run->until_is_update ? "until_update" : "until_residual");
    if (has_most)
        run->steps = most;
    get_implicit(L, handle, run);
}

static const tz_key jump_options[] = {
    {"steps", "integer", "", "iterations", .most = INFINITY},
    {"until_time", "number or text", "", "the simulated time at which it ends, as in sim:run"},
    {"every", "integer", "no limit", "iterations of one jump at most", .least = 1,
     .most = INFINITY},
    {NULL, NULL, NULL, NULL}};

static const tz_key jump_result[] = {{"status", "text", "", "`\"done\"`"},
                                     {"steps", "integer", "", "iterations of this call"},
                                     {"seconds", "number", "", "spent in jumps"},
                                     {NULL, NULL, NULL, NULL}};

/* The argument at index 2: a number of steps, { steps = n } or { until_time = t }, with every =
 * m. */
static void get_jump(lua_State *L, const tz_simulation_handle *handle, tz_run *run)
{
    const char *what = "sim:jump";
    *run = (tz_run){.steps = -1, .until_residual = NAN, .jumps = true};
    if (lua_type(L, 2) == LUA_TNUMBER) {
        run->steps = tz_integer_check(L, 2, what, "steps", 0, INT64_MAX / 4);
    } else if (!lua_istable(L, 2)) {
        tz_raise(L, "%s: needs a number of steps, { steps = n } or { until_time = \"2 ms\" }",
                 what);
    } else {
        tz_keys_take(L, 2, what, jump_options, false);
        const bool has_steps = tz_key_integer(L, 2, what, "steps", &run->steps);
        const bool has_time = get_until_time(L, handle, what, &run->steps);
        tz_key_integer(L, 2, what, "every", &run->jumps_most);
        if (has_steps + has_time != 1)
            tz_raise(L, "%s: give 'steps' or 'until_time'", what);
    }
    tz_try(L, what, tz_simulation_check_jump(handle->simulation, tz_fault(L)));
}

/* Steps are counted in doubles, too. */
static void check_end(lua_State *L, const tz_simulation_handle *handle, const tz_run *run)
{
    const int64_t last = INT64_C(1) << 53, step = tz_simulation_step(handle->simulation);
    if (run->steps > last - step)
        tz_raise(L, "%s: the run would end after step %lld, the last one that is counted",
                 name_of(run), (long long)last);
}

/* Is a field still to be set? */
static void check_fields(lua_State *L, const tz_simulation_handle *handle, const char *what)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const int field = __builtin_ffs((int)handle->missing) - 1;
    if (field >= 0)
        tz_raise(L, "%s: %s needs the field %s, which is not set: %s", what, stencil->id,
                 stencil->fields[field].name, stencil->fields[field].doc);
}

/* In check mode: print what a run would write. */
static void run_dry(tz_simulation_handle *handle, const tz_run *run)
{
    tz_context *context = handle->context;
    const int64_t from = tz_simulation_step(handle->simulation),
                  steps = run->steps < 0 ? 0 : run->steps;
    if (run->until_called)
        tz_context_print(context,
                         "  %s: runs until a function is true, which is called every %lld "
                         "steps%s\n",
                         handle->name, (long long)run->check_every,
                         run->steps < 0 ? "" : ", or to its most steps");
    else if (isnan(run->until_residual))
        tz_context_print(context, "  %s: %s %lld steps from step %lld\n", handle->name,
                         run->jumps && run->implicit_order == 0 ? "jumps" : "runs",
                         (long long)steps, (long long)from);
    else if (run->steps < 0)
        tz_context_print(context, "  %s: runs until the %s is <= %g\n", handle->name,
                         run->until_is_update ? "update" : "residual", run->until_residual);
    else
        tz_context_print(context, "  %s: runs until the %s is <= %g, at most %lld steps\n",
                         handle->name, run->until_is_update ? "update" : "residual",
                         run->until_residual, (long long)steps);
    for (tz_binding *b = handle->bindings; b; b = b->next) {
        if (!tz_binding_is_regular(b))
            continue;
        int64_t count = tz_interval_count(&b->every, handle->simulation, from, from + steps);
        if (from == 0 && !handle->fired_zero)
            count++;
        b->writer.count += count;
        char pattern[200], every[TZ_DURATION_SIZE];
        tz_binding_pattern(b, pattern, sizeof pattern);
        if (b->every.time > 0)
            tz_duration_text(every, b->every.time,
                             tz_simulation_time_step(handle->simulation)->unit);
        else
            snprintf(every, sizeof every, "%lld", (long long)b->every.steps);
        tz_context_print(context, "    every %s: %s, %s%lld %s\n", every, pattern,
                         isnan(run->until_residual) ? "" : "at most ", (long long)count,
                         b->kind != TZ_BINDING_OUTPUT                            ? "calls"
                         : b->writer.output->format->content == TZ_CONTENT_TABLE ? "rows"
                         : b->writer.output->format->content == TZ_CONTENT_MOVIE ? "frames"
                                                                                 : "files");
    }
    handle->fired_zero = true;
    tz_simulation_skip(handle->simulation, steps);
}

static void push_result(lua_State *L, const tz_run *run, const tz_run_result *result, int64_t cells)
{
    lua_createtable(L, 0, 8);
    tz_set_text(L, "status", tz_run_status_name(result->status));
    tz_set_integer(L, "steps", result->steps);
    tz_set_number(L, "seconds", result->seconds);
    if (run->jumps)
        return;
    tz_set_integer(L, "stages", result->stages);
    tz_set_number(L, "residual", result->residual);
    tz_set_number(L, "update", result->update);
    if (result->why[0])
        tz_set_text(L, "why", result->why);
    tz_set_flag(L, "converged", result->status == TZ_RUN_CONVERGED);
    tz_set_number(
        L, "gcells_per_s",
        result->seconds > 0 ? 1e-9 * (double)result->steps * (double)cells / result->seconds : 0);
    if (!isnan(result->energy_j))
        tz_set_number(L, "energy_j", result->energy_j);
}

static void flush_tables(lua_State *L, const tz_simulation_handle *handle)
{
    tz_status status = TZ_OK;
    for (const tz_binding *b = handle->bindings; status == TZ_OK && b; b = b->next)
        if (b->writer.table)
            status = tz_table_flush(b->writer.table, tz_fault(L));
    tz_try(L, NULL, status);
}

/* The script has ended a run, or could have. */
static void tell_called(const tz_simulation_handle *handle, const tz_run_result *result)
{
    tz_script_result *script = handle->context->result;
    const long long step = (long long)tz_simulation_step(handle->simulation);
    if (!result->why[0])
        snprintf(script->ending, sizeof script->ending, "max_steps: until_true never was");
    else
        snprintf(script->ending, sizeof script->ending, "%s at step %lld: %.160s",
                 tz_run_status_name(result->status), step, result->why);
    tz_context_note(handle->context, TZ_NOTE_LOG, "%s: %s", handle->name, script->ending);
}

/* What a run with a limit came to, for the summary. A stagnation that the script does not accept
 * is a warning, too, and the exit code. */
static void tell_end(const tz_simulation_handle *handle, const tz_run *run,
                     const tz_run_result *result, bool accepts)
{
    tz_script_result *script = handle->context->result;
    const bool stagnated = result->status == TZ_RUN_STAGNATED;
    const bool is_update = run->until_is_update && !stagnated;
    const char *what = is_update ? "update" : "residual";
    const double value = is_update ? result->update : result->residual;
    if (stagnated)
        snprintf(script->ending, sizeof script->ending,
                 "stagnated at %s %.3g (%s precision ends here)", what, value,
                 tz_simulation_precision(handle->simulation));
    else
        snprintf(script->ending, sizeof script->ending, "%s: %s %.3g",
                 tz_run_status_name(result->status), what, value);
    if (!stagnated || accepts)
        return;
    script->stagnated = true;
    tz_context_note(handle->context, TZ_NOTE_WARNING,
                    "%s: %s at step %lld: use a larger limit%s, or accept_stagnation = true in "
                    "sim:run",
                    handle->name, script->ending, (long long)tz_simulation_step(handle->simulation),
                    strcmp(tz_simulation_precision(handle->simulation), "single") == 0
                        ? ", precision = \"double\""
                        : "");
}

/* After a run: pass its warning on, end the progress line, raise its error. */
static void conclude(lua_State *L, const tz_simulation_handle *handle, const tz_run *run,
                     const tz_run_result *result, tz_status status, const tz_error *error)
{
    const tz_simulation *simulation = handle->simulation;
    tz_policy_warn(handle);
    report(handle, result->steps, isnan(run->until_residual) ? run->steps : result->steps, true);
    if (status != TZ_OK && tz_context_stops(handle->context))
        tz_raise(L, "interrupted at step %lld", (long long)tz_simulation_step(simulation));
    if (status == TZ_SCRIPT && handle->failure[0]) {
        lua_pushstring(L, handle->failure); /* it names its line already */
        lua_error(L);
    }
    if (status != TZ_OK)
        tz_raise_error(L, name_of(run), error);
}

/* Run, or go through what a run did before, up to a checkpoint. */
static tz_status run_or_replay(lua_State *L, tz_active_run *run, tz_error *error)
{
    tz_simulation_handle *handle = run->handle;
    tz_context *context = handle->context;
    const bool resumes = tz_recall_replays(context);
    tz_status status = TZ_OK;
    tz_error failed;
    bool ended = false;
    tz_checkpoint_forget_end(context);
    run->next = context->runs;
    context->runs = run;
    handle->L = L;
    tz_live_view_begin_run(handle);
    if (resumes)
        ended = replay(L, run, &status, error);
    const bool fails = !ended && status;
    if (fails)
        failed = *error;
    const bool promised = !ended && tz_checkpoints_on(context);
    if (promised)
        tz_interrupt_promise_begin();
    tz_idle before;
    tz_idle_begin(&before, handle,
                  !resumes && handle->rewinds == 0 && tz_simulation_step(handle->simulation) == 0);
    if (!ended)
        status = compute(run, resumes, fails ? &failed : NULL, error);
    if (promised)
        tz_interrupt_promise_end();
    if (!status)
        tz_idle_end(&before, handle, run->course.result.steps);
    if (!status && !ended)
        tz_checkpoint_run_ends(context);
    context->ran = context->ran || ended || run->course.result.steps > 0;
    tz_live_view_end_run(handle);
    handle->L = NULL;
    context->runs = run->next;
    if (!ended)
        note_end(run, status, error);
    return status;
}

/* Do a run and push its result. `accepts`: a stagnation. */
static int carry_out(lua_State *L, tz_simulation_handle *handle, const tz_run *wanted, bool accepts)
{
    tz_active_run run = {
        .handle = handle,
        .course = {.wanted = *wanted,
                   .result = {.residual = NAN, .update = NAN, .status = TZ_RUN_DONE}}};
    const tz_run_result *result = &run.course.result;
    check_end(L, handle, wanted);
    check_fields(L, handle, name_of(wanted));
    if (tz_handle_is_dry(handle)) {
        run_dry(handle, wanted);
        run.course.result.steps = wanted->steps < 0 ? 0 : wanted->steps;
        push_result(L, wanted, result, 0);
        return 1;
    }
    if (!handle->context->options->library)
        tz_try(L, name_of(wanted), tz_handle_open_folder(handle->context, tz_fault(L)));
    handle->failure[0] = '\0';
    /* Jumps compute no single updates: progress has no rate of them. */
    handle->seconds_before = wanted->jumps ? INFINITY : tz_simulation_seconds(handle->simulation);
    tz_error error;
    if (wanted->until_called)
        tz_binding_until(L, handle, 1, 3, wanted->check_every);
    const tz_status status = run_or_replay(L, &run, &error);
    tz_binding_until_ended(L, handle, 1);
    conclude(L, handle, wanted, result, status, &error);
    if (wanted->until_called || result->why[0])
        tell_called(handle, result);
    else if (!isnan(wanted->until_residual))
        tell_end(handle, wanted, result, accepts);
    flush_tables(L, handle);
    push_result(L, wanted, result, tz_simulation_cells(handle->simulation));
    return 1;
}

static int method_run(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:run");
    tz_run run;
    bool accepts;
    lua_settop(L, 2);
    tz_try(L, "sim:run", tz_from_begin(handle, tz_fault(L)));
    get_run(L, handle, &run, &accepts);
    return carry_out(L, handle, &run, accepts);
}

/* sim:stop([reason]): in a function that a run calls. */
static int method_stop(lua_State *L)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:stop");
    char why[TZ_RUN_WHY_SIZE], file[LUA_IDSIZE];
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        const int line = tz_script_line(L, file, sizeof file);
        snprintf(why, sizeof why, "sim:stop at %s:%d", file, line);
    } else {
        snprintf(why, sizeof why, "%s", tz_text_check(L, 2, "sim:stop", "reason"));
    }
    if (tz_handle_is_dry(handle))
        return 0;
    tz_active_run *run = tz_active_run_of(handle);
    if (!run || handle->context->recall.in_policy)
        tz_raise(L,
                 "sim:stop: %s: it ends a run of the same simulation, from a function of sim:every "
                 "or of an output",
                 run ? "a policy cannot end a run" : "no run is under way");
    tz_simulation_stop(&run->course, TZ_RUN_STOPPED, why);
    return 0;
}

static int method_jump(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:jump");
    tz_run run;
    lua_settop(L, 2);
    tz_try(L, "sim:jump", tz_from_begin(handle, tz_fault(L)));
    get_jump(L, handle, &run);
    return carry_out(L, handle, &run, false);
}

const tz_api_function tz_running_methods[] = {
    TZ_API("sim:run(steps or options)", method_run,
           "Advances the simulation: a number of iterations, or until something holds.",
           .options = run_options, .result = run_result, .recall = TZ_RECALL_OWN),
    TZ_API("sim:stop([reason])", method_stop,
           "In a function that `sim:run` calls: the run ends at this iteration, after all that is "
           "due there. Its status is `\"stopped\"`, and `why` the reason.",
           .recall = TZ_RECALL_CALL),
    TZ_API("sim:jump(steps or options)", method_jump,
           "Advances the simulation by many iterations at once, in the frequency domain "
           "([jumps](jump.md)): for a linear update with constant coefficients. Any other update "
           "is refused, with the reason. Outputs that are due in between have their turn. It "
           "rounds once and has other bits than `sim:run`. Needs libfftw3 on a CPU and cuFFT on a "
           "GPU, which `trapeze doctor` looks for.",
           .options = jump_options, .result = jump_result, .recall = TZ_RECALL_OWN),
    TZ_API_END};
