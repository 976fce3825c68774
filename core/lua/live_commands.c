/* What the page of a live view may do: each is noted in run.json. */
#include "base/json_values.h"
#include "base/number.h"
#include "lua/checkpoint.h"
#include "lua/live_impl.h"
#include "sim/fields.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void do_pause(tz_live_view *view, tz_simulation_handle *handle)
{
    view->step_to = 0;
    if (!view->paused)
        note(handle, "pause", NULL);
    view->paused = true;
}

static void do_run(tz_live_view *view, tz_simulation_handle *handle)
{
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
        tz__view_say(view, true, "step: give a number of iterations, 1 or more");
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
        tz__view_say(view, true, "set: %s has no such parameter, or the value is missing",
                     stencil->id);
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
        tz__view_say(view, true, "%s = %s: %s", name, text, why);
        return;
    }
    note(handle, "parameter", json_pack("{s:s,s:s}", "name", name, "value", text));
    tz__view_say(view, false, "%s = %s from step %lld on", name, text,
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
    int field;
    const tz_writer *of;
    tz_error error;
    tz_box box;
    json_t *boxes = json_object_get(command, "boxes"), *given = json_object_get(command, "value");
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    const char *name = json_string_value(json_object_get(command, "field"));
    tz_output *output = tz__view_picture(handle, view->picture, &field, &of);
    const char *shown = tz_handle_stencil(handle)->fields[field].name;
    const char *why = NULL;
    if (!output)
        why = "not enough memory";
    else if (!tz__view_can_paint(handle, output, field))
        why = "cells of this picture cannot be painted: that needs a 2-D picture of a field";
    else if (!name || strcmp(name, shown) != 0)
        why = "another field is shown now";
    else if (!json_is_number(given) || json_array_size(boxes) < 1 ||
             json_array_size(boxes) > BOXES_MAX)
        why = "needs a value and 1 to 4096 boxes";
    else if (tz_simulation_check_value(handle->simulation, field, json_number_value(given),
                                       &error) != TZ_OK)
        why = error.message;
    for (size_t i = 0; !why && i < json_array_size(boxes); i++)
        if (!read_box(json_array_get(boxes, i), extent, &box))
            why = "a box is [x0, y0, x1, y1], half open, within the grid";
    free(output);
    for (size_t i = 0; !why && i < json_array_size(boxes); i++) {
        read_box(json_array_get(boxes, i), extent, &box);
        if (tz_simulation_fill(handle->simulation, field, &box, json_number_value(given), &error) !=
            TZ_OK)
            why = error.message;
    }
    if (why) {
        tz__view_say(view, true, "paint: %s", why);
        return;
    }
    note(handle, "paint",
         json_pack("{s:s,s:O,s:O}", "field", shown, "value", given, "boxes", boxes));
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
static void do_snapshot(tz_live_view *view, tz_simulation_handle *handle)
{
    int field;
    const tz_writer *of;
    tz_error error;
    char picture[TZ_WRITER_FILE_SIZE], array[TZ_WRITER_FILE_SIZE];
    tz_output *output = tz__view_picture(handle, view->picture, &field, &of);
    if (!output) {
        tz__view_say(view, true, "snapshot: not enough memory");
        return;
    }
    tz_output numbers = {.format = tz_format_find("npy"), .fields_count = 1};
    snprintf(numbers.fields[0], sizeof numbers.fields[0], "%s",
             tz_handle_stencil(handle)->fields[field].name);
    tz_status status = write(&numbers, handle, array, &error);
    if (status == TZ_OK)
        status = write(output, handle, picture, &error);
    free(output);
    if (status != TZ_OK) {
        tz__view_say(view, true, "snapshot: %s%s%s", error.place, error.place[0] ? ": " : "",
                     error.message);
        return;
    }
    note(handle, "snapshot", json_pack("{s:[s,s]}", "files", picture, array));
    tz__view_say(view, false, "snapshot: %s and %s", picture, array);
}

static void do_picture(tz_live_view *view, const tz_simulation_handle *handle,
                       const json_t *command)
{
    const json_t *given = json_object_get(command, "picture");
    const int64_t index = json_is_integer(given) ? json_integer_value(given) : -1;
    if (index < 0 || (size_t)index >= tz__view_pictures(handle)) {
        tz__view_say(view, true, "there is no such picture");
        return;
    }
    view->picture = (size_t)index;
    view->frame_step = -1;
    view->next_frame_s = 0;
}

void tz__view_do(tz_live_view *view, tz_simulation_handle *handle, const json_t *command)
{
    const char *what = json_string_value(json_object_get(command, "do"));
    view->asks = true;
    if (!what)
        what = "";
    if (strcmp(what, "pause") == 0)
        do_pause(view, handle);
    else if (strcmp(what, "run") == 0)
        do_run(view, handle);
    else if (strcmp(what, "step") == 0)
        do_step(view, handle, command);
    else if (strcmp(what, "set") == 0)
        do_set(view, handle, command);
    else if (strcmp(what, "paint") == 0)
        do_paint(view, handle, command);
    else if (strcmp(what, "snapshot") == 0)
        do_snapshot(view, handle);
    else if (strcmp(what, "picture") == 0)
        do_picture(view, handle, command);
    else
        tz__view_say(view, true, "'%.40s' is no command", what);
}
