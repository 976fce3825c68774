/* What a live view shows. */
#include "base/json_values.h"
#include "base/machine.h"
#include "base/number.h"
#include "lua/checkpoint.h"
#include "lua/live_impl.h"
#include "output/report/contents.h"
#include "sim/fields.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 8, TABLE_BYTES = 256 << 10 };

/* Of the time, what frames and tables may take while somebody looks: one part in so many. */
static const double share = 8;
/* Seconds between two frames, and between two looks at the tables, at least. */
static const double frame_s = 0.04, tables_s = 0.5;

void tz__view_say(tz_live_view *view, bool bad, const char *format, ...)
{
    char line[1200];
    bool failed = false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    json_t *message = json_object();
    tz_json_put_integer(message, "number", ++view->messages_count, &failed);
    tz_json_put_text(message, "text", line, &failed);
    tz_json_put(message, "bad", json_boolean(bad), &failed);
    json_array_append_new(view->messages, message);
    if (json_array_size(view->messages) > MESSAGES)
        json_array_remove(view->messages, 0);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static bool is_picture(const tz_binding *binding)
{
    return binding->kind == TZ_BINDING_OUTPUT &&
           tz_format_is_picture(binding->writer.output->format);
}

size_t tz__view_pictures(const tz_simulation_handle *handle)
{
    size_t count = 0;
    for (const tz_binding *b = handle->bindings; b; b = b->next)
        count += is_picture(b);
    return count > 0 ? count : 1;
}

tz_output *tz__view_picture(const tz_simulation_handle *handle, size_t index, int *field,
                            const tz_writer **of)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const tz_picture *own = &stencil->picture;
    tz_output *output = calloc(1, sizeof *output);
    *of = NULL;
    for (const tz_binding *b = handle->bindings; b && !*of; b = b->next)
        if (is_picture(b) && index-- == 0)
            *of = &b->writer;
    if (output && *of) {
        *output = *(*of)->output; /* without columns: it has none */
        *field = (*of)->field;
        if (output->look.told) { /* by a function of the script, which is not called here */
            output->look.told = false;
            snprintf(output->look.caption, sizeof output->look.caption, "step {step}");
        }
    } else if (output) {
        *field = own->field ? tz_stencil_field_index(stencil, own->field)
                            : tz_output_default_field(stencil);
        output->look.bar = true;
        output->fields_count = 1;
        snprintf(output->fields[0], sizeof output->fields[0], "%s", stencil->fields[*field].name);
    }
    if (output)
        output->format = tz_format_find("png");
    return output;
}

bool tz__view_can_paint(const tz_simulation_handle *handle, const tz_output *output, int field)
{
    const tz_field *about = &tz_handle_stencil(handle)->fields[field];
    return tz_handle_stencil(handle)->dims == 2 && !output->look.isometric &&
           (about->role == TZ_STATE || about->role == TZ_STATIC) &&
           !tz_simulation_is_mixed(handle->simulation);
}

static tz_status put_frame(tz_live_view *view, const tz_simulation_handle *handle, tz_error *error)
{
    int field;
    const tz_writer *of;
    tz_frame *frame = NULL;
    tz_output *output = tz__view_picture(handle, view->picture, &field, &of);
    if (!output)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a frame");
    tz_writer writer = {.output = output,
                        .files = &handle->context->files,
                        .simulation = handle->name,
                        .field = field,
                        .low = of ? of->low : 0,
                        .high = of ? of->high : 0};
    const tz_status status = tz_writer_frame(&frame, &writer, handle->simulation, error);
    if (status == TZ_OK) {
        view->low = frame->look.low;
        view->high = frame->look.high;
    }
    if (status == TZ_OK)
        tz_live_put_frame(view->server, frame, ++view->frames_count);
    free(output);
    return status;
}

static void put_pictures(const tz_live_view *view, const tz_simulation_handle *handle,
                         json_t *state, bool *failed)
{
    int field;
    const tz_writer *of;
    json_t *list = json_array();
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const size_t count = tz__view_pictures(handle);
    for (size_t i = 0; i < count; i++) {
        tz_output *output = tz__view_picture(handle, i, &field, &of);
        json_t *entry = json_object();
        *failed |= !output;
        if (output) {
            tz_json_put_text(entry, "name", of ? of->stem : stencil->fields[field].name, failed);
            tz_json_put_text(entry, "field", stencil->fields[field].name, failed);
            tz_json_put_text(entry, "unit",
                             stencil->fields[field].unit ? stencil->fields[field].unit : "",
                             failed);
            tz_json_put(entry, "bits", json_boolean(tz_type_is_bits(stencil->fields[field].type)),
                        failed);
            tz_json_put(entry, "paint", json_boolean(tz__view_can_paint(handle, output, field)),
                        failed);
        }
        *failed |= json_array_append_new(list, entry) != 0;
        free(output);
    }
    tz_json_put(state, "pictures", list, failed);
    tz_json_put(state, "low", json_real(isfinite(view->low) ? view->low : 0), failed);
    tz_json_put(state, "high", json_real(isfinite(view->high) ? view->high : 0), failed);
    tz_json_put_integer(state, "picture", (int64_t)view->picture, failed);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static tz_status put_tables(tz_live_view *view, const tz_simulation_handle *handle, tz_error *error)
{
    tz_paths notes = {0};
    json_t *list = NULL, *record = json_object(), *simulations = json_array(),
           *simulation = json_object(), *outputs = json_object();
    bool failed = false;
    tz_status status = TZ_OK;
    /* A table is shown once it has a row. */
    for (const tz_binding *b = handle->bindings; status == TZ_OK && b; b = b->next) {
        char name[TZ_WRITER_FILE_SIZE];
        if (!b->writer.table)
            continue;
        status = tz_table_flush(b->writer.table, error);
        tz_writer_file(&b->writer, 0, name);
        tz_json_put(outputs, name, json_object(), &failed);
    }
    tz_json_put(simulation, "outputs", outputs, &failed);
    failed |= json_array_append_new(simulations, simulation) != 0;
    tz_json_put(record, "simulations", simulations, &failed);
    if (status == TZ_OK && failed)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a table");
    if (status == TZ_OK && handle->context->files.folder)
        status = tz_report_tables(tz_folder_path(handle->context->files.folder), record,
                                  TABLE_BYTES, &notes, &list, error);
    if (status == TZ_OK && list)
        tz_live_put_tables(view->server, json_dumps(list, JSON_COMPACT));
    tz_paths_clear(&notes);
    json_decref(list);
    json_decref(record);
    return status;
}

/* ---- The state ------------------------------------------------------------------------------- */

static json_t *begin_state(const tz_live_view *view, const tz_context *context, const char *status,
                           bool *failed)
{
    json_t *state = json_object(), *record = tz_record_copy(context->files.record);
    tz_json_put_text(state, "status", status, failed);
    tz_json_put_text(state, "scenario", context->name, failed);
    tz_json_put_text(state, "trapeze", TZ_VERSION, failed);
    tz_json_put_integer(state, "frame", view->frames_count, failed);
    tz_json_put(state, "messages", json_copy(view->messages), failed);
    tz_json_put(state, "simulations", json_incref(json_object_get(record, "simulations")), failed);
    json_decref(record);
    return state;
}

static void put_run(const tz_live_view *view, const tz_simulation_handle *handle, json_t *state,
                    bool *failed)
{
    const tz_active_run *active = handle->context->runs;
    const int64_t step = tz_simulation_step(handle->simulation);
    tz_json_put_integer(state, "simulation", (int64_t)handle->index, failed);
    tz_json_put_integer(state, "step", step, failed);
    if (!active || active->handle != handle)
        return;
    const tz_course *at = &active->course;
    tz_json_put_integer(state, "done", step - at->start, failed);
    tz_json_put_integer(state, "total", at->end < 0 ? -1 : at->end - at->start, failed);
    tz_json_put_integer(state, "timed", step - view->run_from, failed);
    tz_json_put(state, "seconds", json_real(view->run_s), failed);
}

/* What a reader may change. */
static void put_choices(const tz_simulation_handle *handle, json_t *state, bool *failed)
{
    static const char *const types[] = {[TZ_PARAM_REAL] = "number",
                                        [TZ_PARAM_INTEGER] = "number",
                                        [TZ_PARAM_FLAG] = "flag",
                                        [TZ_PARAM_TEXT] = "text",
                                        [TZ_PARAM_CHOICE] = "text"};
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const tz_param *time_step = tz_simulation_time_step(handle->simulation);
    json_t *list = json_object();
    for (int i = 0; i < stencil->params_count; i++)
        if (&stencil->params[i] != time_step && !tz_simulation_is_mixed(handle->simulation))
            tz_json_put_text(list, stencil->params[i].name, types[stencil->params[i].type], failed);
    tz_json_put(state, "changeable", list, failed);
}

void tz__view_publish(tz_live_view *view, tz_simulation_handle *handle, const char *status)
{
    tz_error error;
    bool failed = false;
    const double begin = tz_machine_clock_s();
    const int64_t step = tz_simulation_step(handle->simulation);
    if (view->frame_step == step && view->next_tables_s > begin && begin < view->next_frame_s)
        return; /* nothing can be new; the page asks again */
    tz_status good = TZ_OK;
    if (view->picture >= tz__view_pictures(handle))
        view->picture = 0;
    if (good == TZ_OK && begin >= view->next_frame_s && view->frame_step != step) {
        good = put_frame(view, handle, &error);
        view->frame_step = step;
        view->next_frame_s = begin + frame_s + share * (tz_machine_clock_s() - begin);
    }
    const double between = tz_machine_clock_s();
    if (good == TZ_OK && between >= view->next_tables_s) {
        good = put_tables(view, handle, &error);
        view->next_tables_s = between + tables_s + share * (tz_machine_clock_s() - between);
    }
    if (good != TZ_OK)
        tz__view_say(view, true, "%s", error.message);
    tz_handle_record(handle);
    json_t *state = begin_state(view, handle->context, status, &failed);
    put_run(view, handle, state, &failed);
    tz_json_put(
        state, "plan",
        tz_plan_to_json(tz_simulation_plan(handle->simulation), tz_handle_stencil(handle)->dims),
        &failed);
    put_pictures(view, handle, state, &failed);
    put_choices(handle, state, &failed);
    if (!failed)
        tz_live_put_state(view->server, json_dumps(state, JSON_COMPACT));
    json_decref(state);
    view->asks = false;
}

char *tz__view_last_state(tz_live_view *view, tz_context *context, const char *status,
                          const char *failure)
{
    bool failed = false;
    json_t *state = begin_state(view, context, status, &failed);
    tz_json_put_text(state, "failure", failure, &failed);
    char *text = failed ? NULL : json_dumps(state, JSON_COMPACT);
    json_decref(state);
    return text;
}
