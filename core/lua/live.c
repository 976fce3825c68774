#include "lua/live.h"

#include "base/machine.h"
#include "lua/checkpoint.h"
#include "lua/interrupt.h"
#include "lua/live_impl.h"
#include <stdlib.h>

tz_status tz_live_view_open(tz_context *context, tz_error *error)
{
    const tz_script_options *options = context->options;
    if (!options->serve || options->check)
        return TZ_OK;
    tz_live_view *view = calloc(1, sizeof *view);
    json_t *messages = json_array();
    tz_status status =
        view && messages
            ? tz_live_open(&view->server, options->serve_address, options->serve_port, error)
            : tz_error_set(error, TZ_MEMORY, "--serve", "not enough memory for the live view");
    if (status != TZ_OK) {
        json_decref(messages);
        free(view);
        return status;
    }
    view->messages = messages;
    view->paused = options->serve_paused;
    view->frame_step = -1;
    context->view = view;
    if (options->sink.serves)
        options->sink.serves(options->sink.context, tz_live_url(view->server));
    return TZ_OK;
}

void tz_live_view_close(tz_context *context, tz_status status, const tz_error *error)
{
    tz_live_view *view = context->view;
    if (!view)
        return;
    char failure[2100] = "";
    if (status != TZ_OK)
        tz_error_format(error, failure, sizeof failure);
    tz_live_close(view->server, tz__view_last_state(view, context,
                                                    status == TZ_INTERRUPTED     ? "interrupted"
                                                    : status != TZ_OK            ? "failed"
                                                    : context->result->stagnated ? "stagnated"
                                                                                 : "done",
                                                    failure));
    json_decref(view->messages);
    free(view);
    context->view = NULL;
}

bool tz_live_view_wants(const tz_simulation_handle *handle)
{
    const tz_live_view *view = handle->context->view;
    return view && (view->paused || tz_live_wants(view->server));
}

/* Count the time since the last pause. */
static void watch_clock(tz_live_view *view)
{
    const double now = tz_machine_clock_s();
    view->run_s += now - view->begun_s;
    view->begun_s = now;
}

void tz_live_view_begin_run(tz_simulation_handle *handle)
{
    tz_live_view *view = handle->context->view;
    if (!view)
        return;
    view->run_s = 0;
    view->begun_s = tz_machine_clock_s();
    view->run_from = tz_simulation_step(handle->simulation);
    view->frame_step = -1;
}

/* A pause can last for days: with checkpoints it has one, of what was done until a second ago. */
static tz_status keep(tz_live_view *view, tz_simulation_handle *handle, tz_error *error)
{
    static const double quiet_s = 1.0;
    const int64_t step = tz_simulation_step(handle->simulation);
    view->is_kept = view->is_kept && view->kept_step == step;
    if (view->is_kept || !tz_checkpoints_on(handle->context) ||
        tz_machine_clock_s() < view->changed_s + quiet_s)
        return TZ_OK;
    view->is_kept = true;
    view->kept_step = step;
    return tz_checkpoint_now(handle->context, true, error);
}

tz_status tz_live_view_attend(tz_simulation_handle *handle, int64_t *most, tz_error *error)
{
    enum { LOOKS = 20 };
    const tz_simulation *simulation = handle->simulation;
    tz_live_view *view = handle->context->view;
    /* Outputs that other threads write read the fields and parameters. */
    tz_status status = tz_run_files_settle(&handle->context->files, error);
    if (status != TZ_OK)
        return status;
    watch_clock(view);
    for (;;) {
        const bool stands = view->paused && view->step_to <= tz_simulation_step(simulation);
        json_t *command = tz_live_take(view->server, stands ? 1.0 / LOOKS : 0);
        view->asks |= tz_live_asks(view->server);
        const bool did = command != NULL;
        if (command)
            tz__view_do(view, handle, command);
        json_decref(command);
        if (did) {
            view->is_kept = false;
            view->changed_s = tz_machine_clock_s();
            continue; /* all that wait, before anything is shown */
        }
        if (stands && tz_interrupt_signal() == 0)
            status = keep(view, handle, error);
        if (status != TZ_OK)
            return status;
        if (view->asks)
            tz__view_publish(view, handle, view->paused ? "paused" : "running");
        if (!stands || tz_interrupt_signal() != 0)
            break;
    }
    view->begun_s = tz_machine_clock_s();
    tz_live_rest(view->server);
    if (view->paused && view->step_to > tz_simulation_step(simulation))
        *most = view->step_to - tz_simulation_step(simulation);
    return TZ_OK;
}

void tz_live_view_end_run(tz_simulation_handle *handle)
{
    tz_live_view *view = handle->context->view;
    if (!view || !tz_live_wants(view->server))
        return;
    view->next_frame_s = view->next_tables_s = 0;
    tz__view_publish(view, handle, "running");
}
