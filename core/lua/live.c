/* The live view of a script: publishes state, frames and tables, and does what pages want. sim:run
 * asks it between stages. */
#include "lua/live.h"

#include "base/json.h"
#include "base/machine.h"
#include "base/number.h"
#include "lua/checkpoint.h"
#include "lua/interrupt.h"
#include "output/live/server.h"
#include "output/report/contents.h"
#include "sim/fields.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tz_live_view {
    tz_live *server;
    bool paused;
    bool asks;        /* a page waits for a new state */
    int64_t step_to;  /* while paused: run up to this step */
    size_t picture;   /* the chosen one of the pictures of a simulation */
    json_t *messages; /* the last ones: {"number", "text", "bad"}; owned */
    int64_t messages_count, frames_count, notes_count;
    double next_frame_s, next_tables_s; /* on the clock */
    int64_t frame_step;                 /* of the last frame; -1: it shows other cells by now */
    double low, high;                   /* its range */
    double run_s;                       /* of the present run, without pauses */
    double begun_s;                     /* on the clock, when it began or went on */
    int64_t run_from;                   /* the step at which that time began */
    bool is_kept;                       /* while paused: a checkpoint has what there is */
    int64_t kept_step;
    double changed_s; /* on the clock: the last command */
} tz_live_view;

enum { MESSAGES = 8, TABLE_BYTES = 256 << 10 };

/* Of the time, what frames and tables may take while somebody looks: one part in so many. */
static const double share = 8;
/* Seconds between two frames, and between two looks at the tables, at least. */
static const double frame_s = 0.04, tables_s = 0.5;

static void say(tz_live_view *view, bool bad, const char *format, ...)
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

static size_t count_pictures(const tz_simulation_handle *handle)
{
    size_t count = 0;
    for (const tz_binding *b = handle->bindings; b; b = b->next)
        count += is_picture(b);
    return count > 0 ? count : 1;
}

/* A picture of a simulation: `of` writes it to files; NULL: nobody does, it is the stencil's. */
typedef struct shown_picture {
    tz_output output;
    const tz_writer *of;
    int field;
    const tz_field *about;
} shown_picture;

static void find_picture(const tz_simulation_handle *handle, size_t index, shown_picture *out)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const char *own = stencil->picture.field;
    *out = (shown_picture){.of = NULL};
    for (const tz_binding *b = handle->bindings; b && !out->of; b = b->next)
        if (is_picture(b) && index-- == 0)
            out->of = &b->writer;
    tz_output *output = &out->output;
    if (out->of) {
        *output = *out->of->output; /* without columns: it has none */
        out->field = out->of->field;
    } else {
        out->field = own ? tz_stencil_field_index(stencil, own) : tz_output_default_field(stencil);
        output->look.bar = true;
        output->fields_count = 1;
        snprintf(output->fields[0], sizeof output->fields[0], "%s",
                 stencil->fields[out->field].name);
    }
    if (output->look.told) { /* by a function of the script, which is not called here */
        output->look.told = false;
        snprintf(output->look.caption, sizeof output->look.caption, "step {step}");
    }
    output->format = tz_format_find("png");
    out->about = &stencil->fields[out->field];
}

static bool can_paint(const tz_simulation_handle *handle, const shown_picture *shown)
{
    const tz_field *about = shown->about;
    return tz_handle_stencil(handle)->dims == 2 && !shown->output.look.isometric &&
           (about->role == TZ_STATE || about->role == TZ_STATIC) &&
           !tz_simulation_is_mixed(handle->simulation);
}

static tz_status put_frame(tz_live_view *view, const tz_simulation_handle *handle, tz_error *error)
{
    shown_picture shown;
    tz_frame *frame = NULL;
    find_picture(handle, view->picture, &shown);
    tz_writer writer = {.output = &shown.output,
                        .files = &handle->context->files,
                        .simulation = handle->name,
                        .field = shown.field,
                        .low = shown.of ? shown.of->low : 0,
                        .high = shown.of ? shown.of->high : 0};
    const tz_status status = tz_writer_frame(&frame, &writer, handle->simulation, error);
    if (status)
        return status;
    view->low = frame->look.low;
    view->high = frame->look.high;
    tz_live_put_frame(view->server, frame, ++view->frames_count);
    return TZ_OK;
}

static void put_pictures(const tz_live_view *view, const tz_simulation_handle *handle,
                         json_t *state, bool *failed)
{
    json_t *list = json_array();
    const size_t count = count_pictures(handle);
    for (size_t i = 0; i < count; i++) {
        shown_picture shown;
        json_t *entry = json_object();
        find_picture(handle, i, &shown);
        const tz_field *about = shown.about;
        tz_json_put_text(entry, "name", shown.of ? shown.of->stem : about->name, failed);
        tz_json_put_text(entry, "field", about->name, failed);
        tz_json_put_text(entry, "unit", about->unit ? about->unit : "", failed);
        tz_json_put(entry, "bits", json_boolean(tz_type_is_bits(about->type)), failed);
        tz_json_put(entry, "paint", json_boolean(can_paint(handle, &shown)), failed);
        *failed |= json_array_append_new(list, entry) != 0;
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

static void publish(tz_live_view *view, tz_simulation_handle *handle, const char *status)
{
    tz_error error;
    bool failed = false;
    const double begin = tz_machine_clock_s();
    const int64_t step = tz_simulation_step(handle->simulation);
    if (view->frame_step == step && view->next_tables_s > begin && begin < view->next_frame_s)
        return; /* nothing can be new; the page asks again */
    tz_status good = TZ_OK;
    if (view->picture >= count_pictures(handle))
        view->picture = 0;
    if (begin >= view->next_frame_s && view->frame_step != step) {
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
        say(view, true, "%s", error.message);
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

static char *last_state(tz_live_view *view, tz_context *context, const char *status,
                        const char *failure)
{
    bool failed = false;
    json_t *state = begin_state(view, context, status, &failed);
    tz_json_put_text(state, "failure", failure, &failed);
    char *text = failed ? NULL : json_dumps(state, JSON_COMPACT);
    json_decref(state);
    return text;
}

enum { BOXES_MAX = 4096, NOTES_MAX = 10000 };

/* A note of what was done, at the present step. Takes `facts`; NULL: there are none. */
static void note(const tz_simulation_handle *handle, const char *what, json_t *facts)
{
    bool failed = false;
    tz_live_view *view = handle->context->view;
    json_t *entry = json_object();
    if (++view->notes_count > NOTES_MAX) {
        json_decref(entry);
        json_decref(facts);
        return;
    }
    if (view->notes_count == NOTES_MAX)
        what = "more than can be noted";
    tz_json_put_integer(entry, "step", tz_simulation_step(handle->simulation), &failed);
    tz_json_put_integer(entry, "simulation", (int64_t)handle->index, &failed);
    tz_json_put_text(entry, "what", what, &failed);
    if (facts)
        json_object_update(entry, facts);
    json_decref(facts);
    tz_record_intervention(handle->context->files.record, entry);
}

/* ---- Pause and step -------------------------------------------------------------------------- */

static void do_pause(tz_live_view *view, tz_simulation_handle *handle, const json_t *command)
{
    (void)command;
    view->step_to = 0;
    if (!view->paused)
        note(handle, "pause", NULL);
    view->paused = true;
}

static void do_run(tz_live_view *view, tz_simulation_handle *handle, const json_t *command)
{
    (void)command;
    if (view->paused)
        note(handle, "go on", NULL);
    view->paused = false;
    view->step_to = 0;
}

static void do_step(tz_live_view *view, tz_simulation_handle *handle, const json_t *command)
{
    const json_t *given = json_object_get(command, "steps");
    const int64_t steps = json_is_integer(given) ? json_integer_value(given) : 0;
    if (steps < 1 || steps > INT64_C(1) << 40) {
        say(view, true, "step: give a number of iterations, 1 or more");
        return;
    }
    view->paused = true;
    view->step_to = tz_simulation_step(handle->simulation) + steps;
    note(handle, "step", json_pack("{s:I}", "steps", (json_int_t)steps));
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* A value as a page gives it: a text. */
static bool parse(const tz_param *param, const char *text, tz_assignment *out)
{
    *out = (tz_assignment){.name = param->name};
    if (param->type == TZ_PARAM_TEXT || param->type == TZ_PARAM_CHOICE) {
        out->text = text;
        return true;
    }
    if (param->type == TZ_PARAM_FLAG) {
        out->number = strcmp(text, "true") == 0;
        return out->number != 0 || strcmp(text, "false") == 0;
    }
    return tz_number_parse(text, strlen(text), &out->number) && isfinite(out->number) &&
           (param->type == TZ_PARAM_REAL || out->number == nearbyint(out->number));
}

/* The present value, as an assignment. */
static tz_assignment present(const tz_simulation *simulation, const tz_param *param, char *text,
                             size_t size)
{
    const int i = tz_stencil_param_index(tz_simulation_stencil(simulation), param->name);
    const tz_value *value = &tz_simulation_params(simulation)[i];
    tz_assignment now = {.name = param->name, .number = value->number};
    if (param->type == TZ_PARAM_TEXT || param->type == TZ_PARAM_CHOICE) {
        snprintf(text, size, "%s", value->text);
        now.text = text;
    }
    return now;
}

/* Set it; if the time step followed, take it back. NULL: it is set. */
static const char *set(tz_simulation *simulation, const tz_param *param, const tz_assignment *value,
                       tz_error *error)
{
    char text[4096];
    const bool timed = tz_simulation_time_step(simulation) != NULL;
    const tz_assignment before = present(simulation, param, text, sizeof text);
    const double dt = timed ? tz_simulation_dt(simulation) : 0;
    if (tz_simulation_set_params(simulation, 1, value, error) != TZ_OK)
        return error->message;
    if (!timed || tz_simulation_dt(simulation) == dt)
        return NULL;
    return tz_simulation_set_params(simulation, 1, &before, error) == TZ_OK
               ? "the time step would change with it, which a run cannot do"
               : error->message;
}

static void do_set(tz_live_view *view, tz_simulation_handle *handle, const json_t *command)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const char *name = json_string_value(json_object_get(command, "name"));
    const char *text = json_string_value(json_object_get(command, "value"));
    const int i = name ? tz_stencil_param_index(stencil, name) : -1;
    tz_assignment value;
    tz_error error;
    if (i < 0 || !text || strlen(text) >= 1024) {
        say(view, true, "set: %s has no such parameter, or the value is missing", stencil->id);
        return;
    }
    const tz_param *param = &stencil->params[i];
    const char *why = NULL;
    if (tz_simulation_is_mixed(handle->simulation))
        why = "in mixed precision nothing changes during a run";
    else if (param == tz_simulation_time_step(handle->simulation))
        why = "the time step cannot change during a run, whose end and outputs depend on it";
    else if (!parse(param, text, &value))
        why = param->type == TZ_PARAM_FLAG      ? "it is true or false"
              : param->type == TZ_PARAM_INTEGER ? "it is an integer"
                                                : "it is a number";
    else
        why = set(handle->simulation, param, &value, &error);
    if (why) {
        say(view, true, "%s = %s: %s", name, text, why);
        return;
    }
    note(handle, "parameter", json_pack("{s:s,s:s}", "name", name, "value", text));
    say(view, false, "%s = %s from step %lld on", name, text,
        (long long)tz_simulation_step(handle->simulation));
    /* A checkpoint could not be gone on from: the script alone does not have this value. */
    tz_recall *recall = &handle->context->recall;
    if (!recall->tainted)
        snprintf(recall->why, sizeof recall->why, "the live view changed the parameter %s", name);
    recall->tainted = true;
    view->frame_step = -1;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* [x0, y0, x1, y1], half open, within the grid. */
static bool read_box(const json_t *given, const int64_t *extent, tz_box *box)
{
    int64_t at[4];
    if (json_array_size(given) != 4)
        return false;
    for (size_t k = 0; k < 4; k++) {
        const json_t *number = json_array_get(given, k);
        if (!json_is_integer(number))
            return false;
        at[k] = json_integer_value(number);
    }
    *box = (tz_box){{at[0], at[1], 0}, {at[2], at[3], 1}};
    for (int axis = 0; axis < 2; axis++)
        if (box->low[axis] < 0 || box->low[axis] >= box->high[axis] ||
            box->high[axis] > extent[axis])
            return false;
    return true;
}

static void do_paint(tz_live_view *view, tz_simulation_handle *handle, const json_t *command)
{
    shown_picture shown;
    tz_error error;
    tz_box box;
    json_t *boxes = json_object_get(command, "boxes"), *given = json_object_get(command, "value");
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    const char *name = json_string_value(json_object_get(command, "field"));
    const char *why = NULL;
    find_picture(handle, view->picture, &shown);
    if (!can_paint(handle, &shown))
        why = "cells of this picture cannot be painted: that needs a 2-D picture of a field";
    else if (!name || strcmp(name, shown.about->name) != 0)
        why = "another field is shown now";
    else if (!json_is_number(given) || json_array_size(boxes) < 1 ||
             json_array_size(boxes) > BOXES_MAX)
        why = "needs a value and 1 to 4096 boxes";
    else if (tz_simulation_check_value(handle->simulation, shown.field, json_number_value(given),
                                       &error) != TZ_OK)
        why = error.message;
    for (size_t i = 0; !why && i < json_array_size(boxes); i++)
        if (!read_box(json_array_get(boxes, i), extent, &box))
            why = "a box is [x0, y0, x1, y1], half open, within the grid";
    for (size_t i = 0; !why && i < json_array_size(boxes); i++) {
        read_box(json_array_get(boxes, i), extent, &box);
        if (tz_simulation_fill(handle->simulation, shown.field, &box, json_number_value(given),
                               &error) != TZ_OK)
            why = error.message;
    }
    if (why) {
        say(view, true, "paint: %s", why);
        return;
    }
    note(handle, "paint",
         json_pack("{s:s,s:O,s:O}", "field", name, "value", given, "boxes", boxes));
    view->frame_step = -1;
    view->next_frame_s = 0;
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static tz_status write(tz_output *output, const tz_simulation_handle *handle, char *name,
                       tz_error *error)
{
    tz_writer writer;
    tz_context *context = handle->context;
    snprintf(output->name, sizeof output->name, "snapshot");
    tz_status status = tz_writer_open(&writer, output, &context->files, handle->simulation,
                                      handle->name, handle->prefix, error);
    if (status != TZ_OK)
        return status;
    writer.rewinds = handle->rewinds;
    status = tz_writer_write(&writer, handle->simulation, error);
    tz_writer_file(&writer, tz_simulation_step(handle->simulation), name);
    if (status == TZ_OK)
        tz_record_file(context->files.record, name);
    return status;
}

/* The picture that is shown, and the numbers behind it. */
static void do_snapshot(tz_live_view *view, tz_simulation_handle *handle, const json_t *command)
{
    (void)command;
    shown_picture shown;
    tz_error error;
    char picture[TZ_WRITER_FILE_SIZE], array[TZ_WRITER_FILE_SIZE];
    find_picture(handle, view->picture, &shown);
    tz_output numbers = {.format = tz_format_find("npy"), .fields_count = 1};
    snprintf(numbers.fields[0], sizeof numbers.fields[0], "%s", shown.about->name);
    tz_status status = write(&numbers, handle, array, &error);
    if (status == TZ_OK)
        status = write(&shown.output, handle, picture, &error);
    if (status != TZ_OK) {
        say(view, true, "snapshot: %s%s%s", error.place, error.place[0] ? ": " : "", error.message);
        return;
    }
    note(handle, "snapshot", json_pack("{s:[s,s]}", "files", picture, array));
    say(view, false, "snapshot: %s and %s", picture, array);
}

static void do_picture(tz_live_view *view, tz_simulation_handle *handle, const json_t *command)
{
    const json_t *given = json_object_get(command, "picture");
    const int64_t index = json_is_integer(given) ? json_integer_value(given) : -1;
    if (index < 0 || (size_t)index >= count_pictures(handle)) {
        say(view, true, "there is no such picture");
        return;
    }
    view->picture = (size_t)index;
    view->frame_step = -1;
    view->next_frame_s = 0;
}

static void do_command(tz_live_view *view, tz_simulation_handle *handle, const json_t *command)
{
    static const struct {
        const char *name;
        void (*act)(tz_live_view *view, tz_simulation_handle *handle, const json_t *command);
    } commands[] = {{"pause", do_pause},    {"run", do_run},     {"step", do_step},
                    {"set", do_set},        {"paint", do_paint}, {"snapshot", do_snapshot},
                    {"picture", do_picture}};
    const char *what = json_string_value(json_object_get(command, "do"));
    view->asks = true;
    for (size_t i = 0; what && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(what, commands[i].name) == 0) {
            commands[i].act(view, handle, command);
            return;
        }
    say(view, true, "'%.40s' is no command", what ? what : "");
}

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
        options->sink.serves(options->sink.context, tz_live_url(view->server),
                             tz_live_look_url(view->server));
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
    tz_live_close(view->server, last_state(view, context,
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
            do_command(view, handle, command);
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
            publish(view, handle, view->paused ? "paused" : "running");
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
    publish(view, handle, "running");
}
