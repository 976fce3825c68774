/* Outputs that do not hold a run up: on backends that can keep the fields of a step, a worker reads
 * them from there and writes files while the run goes on. One worker, in the order of the events;
 * pictures go on to the worker that draws them. */
#include "lua/handle.h"

#include "output/frame/queue.h"
#include "sim/snapshot.h"
#include <stdlib.h>

typedef struct job {
    tz_binding *binding;
    tz_snapshot *snapshot;
} job;

static tz_status write(void *data, tz_error *error)
{
    const job *j = data;
    const tz_status status = tz_snapshot_check(j->snapshot, error);
    return status != TZ_OK
               ? status
               : tz_binding_write_from(j->binding, tz_snapshot_simulation(j->snapshot), error);
}

static void release(void *data)
{
    job *j = data;
    tz_snapshot_release(j->snapshot);
    free(j);
}

static tz_status take_over(void *context, tz_snapshot *snapshot, tz_error *error)
{
    tz_binding *binding = context;
    const int64_t step = tz_simulation_step(tz_snapshot_simulation(snapshot));
    if (binding->output->kind != TZ_OUTPUT_TABLE && binding->last_step == step)
        return TZ_OK; /* written by hand just before the run */
    job *j = malloc(sizeof *j);
    if (j == NULL)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for an output");
    *j = (job){binding, snapshot};
    tz_snapshot_hold(snapshot);
    binding->last_step = step;
    binding->count++;
    const tz_frame_job pushed = {write, release, j};
    return tz_frame_queue_push(binding->handle->context->later, &pushed, error);
}

/* State fields that an output reads. */
static uint32_t fields_of(const tz_binding *binding)
{
    const tz_output *output = binding->output;
    const tz_stencil *stencil = tz_handle_stencil(binding->handle);
    uint32_t fields = output->kind == TZ_OUTPUT_TABLE ? 0 : 1u << binding->field;
    for (size_t i = 0; i < output->fields_count; i++)
        fields |= 1u << tz_stencil_field_index(stencil, output->fields[i]);
    for (size_t i = 0; i < output->columns_count; i++)
        if (output->columns[i].kind > TZ_COLUMN_RESIDUAL)
            fields |= 1u << (output->columns[i].field[0] != '\0'
                                 ? tz_stencil_field_index(stencil, output->columns[i].field)
                                 : binding->field);
    return fields;
}

void tz_later_bind(tz_event *event, tz_binding *binding)
{
    if (!tz_binding_is_plain(binding))
        return;
    event->later = take_over;
    event->fields = fields_of(binding);
}

tz_status tz_later_settle(tz_context *context, tz_error *error)
{
    return context->later == NULL ? TZ_OK : tz_frame_queue_settle(context->later, error);
}

static tz_status settle(void *context, tz_error *error)
{
    return tz_later_settle(((tz_simulation_handle *)context)->context, error);
}

static void refused(void *context, const tz_error *why)
{
    const tz_simulation_handle *handle = context;
    tz_context_note(handle->context, TZ_NOTE_LOG, "%s: the run waits for its outputs: %s",
                    handle->name, why->message);
}

void tz_later_run(tz_run *run, tz_simulation_handle *handle)
{
    run->settle = settle;
    run->refused = refused;
    run->later_context = handle;
}
