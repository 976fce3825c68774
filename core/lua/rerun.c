/* Records how a run went, and replays it from the journal. Called by running.c: tz_rerun in place
 * of the stages, the tz_rerun_note functions while a run computes. */
#include "lua/rerun.h"

#include "lua/policy.h"
#include "lua/resume.h"
#include <stdlib.h>

void tz_rerun_note_event(tz_binding *binding, int64_t step)
{
    uint32_t index = 0;
    tz_bytes bytes = {.data = NULL};
    for (const tz_binding *b = binding->handle->bindings; b != binding; b = b->next)
        index++;
    tz_bytes_put_u32(&bytes, index);
    tz_bytes_put_i64(&bytes, step);
    tz_recall_add(binding->handle->context, TZ_ENTRY_FIRE, &bytes);
    free(bytes.data);
}

void tz_rerun_note_end(tz_context *context, const tz_active_run *run, tz_status status,
                       const tz_error *error)
{
    const tz_run_result *result = &run->course.result;
    tz_bytes bytes = {.data = NULL};
    tz_bytes_put_u32(&bytes, (uint32_t)status);
    tz_bytes_put_i64(&bytes, tz_simulation_step(run->handle->simulation));
    tz_bytes_put_i64(&bytes, result->steps);
    tz_bytes_put_i64(&bytes, result->stages);
    tz_bytes_put_u32(&bytes, (uint32_t)result->status);
    tz_bytes_put_double(&bytes, result->residual);
    tz_bytes_put_double(&bytes, result->update);
    tz_bytes_put_double(&bytes, result->seconds);
    tz_bytes_put_double(&bytes, result->energy_j);
    tz_bytes_put_text(&bytes, status ? error->place : "");
    tz_bytes_put_text(&bytes, status ? error->message : "");
    tz_bytes_put_text(&bytes, run->handle->failure);
    tz_recall_add(context, TZ_ENTRY_END, &bytes);
    free(bytes.data);
}

static void read_end(tz_active_run *run, tz_reading *reading, tz_status *status, tz_error *error)
{
    tz_run_result *result = &run->course.result;
    tz_simulation_handle *handle = run->handle;
    *status = (tz_status)tz_reading_u32(reading);
    tz_simulation_set_step(handle->simulation, tz_reading_i64(reading));
    *result = (tz_run_result){.steps = tz_reading_i64(reading)};
    result->stages = tz_reading_i64(reading);
    result->status = (tz_run_status)(tz_reading_u32(reading) % (TZ_RUN_INCONSISTENT + 1));
    result->residual = tz_reading_double(reading);
    result->update = tz_reading_double(reading);
    result->seconds = tz_reading_double(reading);
    result->energy_j = tz_reading_double(reading);
    error->code = *status;
    tz_reading_text(reading, error->place, sizeof error->place);
    tz_reading_text(reading, error->message, sizeof error->message);
    tz_reading_text(reading, handle->failure, sizeof handle->failure);
    tz_simulation_set_last_run(handle->simulation, result);
}

static tz_status fire_again(tz_simulation_handle *handle, tz_reading *reading,
                            tz_status (*call)(tz_binding *binding, tz_error *error),
                            tz_error *error)
{
    uint32_t index = tz_reading_u32(reading);
    const int64_t step = tz_reading_i64(reading);
    tz_binding *binding = handle->bindings;
    for (; binding && index > 0; index--)
        binding = binding->next;
    if (!binding || reading->failed || !tz_binding_is_regular(binding))
        return tz_error_set(error, TZ_SCRIPT, NULL,
                            "the run called another function before the checkpoint");
    tz_simulation_set_step(handle->simulation, step);
    return call(binding, error);
}

bool tz_rerun(lua_State *L, tz_active_run *run,
              tz_status (*call)(tz_binding *binding, tz_error *error), tz_status *status,
              tz_error *error)
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
            *status = fire_again(run->handle, &reading, call, error);
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
