/* tz.picture: one picture of an array or of a simulation's field. Registered by module.c; called by
 * scripts. */
#include "lua/module.h"

#include "lua/api.h"
#include "lua/array.h"
#include "lua/floorplan.h"
#include "lua/handle.h"
#include "lua/keys.h"
#include "lua/output.h"
#include "output/output.h"
#include "sim/simulation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "tz.picture";

/* Fill the placeholders of a caption for the simulation on the top of the stack. */
static void fill_caption(lua_State *L, tz_look *look)
{
    const tz_simulation_handle *handle = tz_handle_check(L, -1, what);
    char filled[TZ_CAPTION_SIZE];
    if (tz_caption_has(look->caption, "time") && !tz_simulation_time_step(handle->simulation))
        tz_raise(L, "%s: {time} in a caption needs a time step, and %s has none", what,
                 tz_handle_stencil(handle)->id);
    lua_getfield(L, 1, "field");
    const int field = tz_handle_field(L, -1, handle, what);
    lua_pop(L, 1);
    tz_caption_fill(filled, look->caption, handle->simulation,
                    tz_handle_stencil(handle)->fields[field].name, handle->name);
    memcpy(look->caption, filled, sizeof filled);
}

/* An array has no step and no time. */
static void forbid_placeholders(lua_State *L, tz_look *look)
{
    char filled[TZ_CAPTION_SIZE];
    tz_error error;
    if (tz_caption_fill_none(filled, look->caption, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    memcpy(look->caption, filled, sizeof filled);
}

/* The arguments of tz.picture. */
typedef struct request {
    const char *file;
    tz_look look;
    tz_slice slice; /* at -1: all of 3-D data, as a montage */
    const tz_array_handle *data;
    double spacing[TZ_AXES]; /* of the simulation that is drawn */
    const char *unit;        /* NULL: not known */
    bool y_up;               /* of that simulation */
} request;

/* The array of data = array, or of data = sim and field = name. Leaves its handle on the top. */
static const tz_array_handle *get_data(lua_State *L, request *r)
{
    tz_look *look = &r->look;
    tz_table_get(L, 1, "data");
    if (luaL_testudata(L, -1, TZ_TYPE_SIMULATION)) {
        fill_caption(L, look);
        const tz_simulation *simulation = tz_handle_check(L, -1, what)->simulation;
        tz_simulation_spacing(simulation, r->spacing);
        r->unit = tz_simulation_spacing_unit(simulation);
        r->y_up = tz_simulation_y_up(simulation);
        if (tz_table_get(L, 1, "outline") != LUA_TNIL)
            tz_floorplan_check_chip(L, -1, tz_handle_check(L, -2, what), what);
        lua_pop(L, 1);
        lua_getfield(L, -1, "array");
        lua_insert(L, -2);
        tz_table_get(L, 1, "field");
        lua_call(L, 2, 1);
    } else if (lua_isnil(L, -1)) {
        tz_raise(L, "%s: 'data' is missing: an array or a simulation", what);
    } else {
        forbid_placeholders(L, look);
        if (tz_table_get(L, 1, "field") != LUA_TNIL)
            tz_raise(L, "%s: 'field' goes with a simulation as 'data'", what);
        lua_pop(L, 1);
    }
    return tz_array_check(L, -1, "tz.picture: 'data'");
}

static void set_range(tz_look *look, const tz_array *array)
{
    if (look->range == TZ_RANGE_FIXED)
        return;
    const tz_range range = tz_range_of(array);
    tz_look_take_range(look, range.lo, range.hi);
}

static const tz_key picture_options[] = {
    TZ_LOOK_OPTIONS,
    {"caption", "text", "\"\"",
     "a line above; of a simulation, words in braces are filled in (see Captions)"},
    {"data", "array or simulation", NULL, "what is drawn"},
    {"field", "text", "the stencil's picture", "of a simulation: the field"},
    {"file", "text", NULL, "a name that ends with `.png`, in the run folder"},
    {"slice", "integer or table", "",
     "of 3-D data: only the plane z, or `{ x = 3 }` or `{ y = 3 }`, across which z points up",
     .most = INFINITY},
    {"montage", "boolean or text", "without `slice`",
     "of 3-D data: all planes side by side; %s: those across that axis", tz_montage_names},
    {NULL, NULL, NULL, NULL}};

/* Read the table at index 1. Leaves on the stack what the request borrows. */
static void get_request(lua_State *L, request *r)
{
    if (!lua_istable(L, 1))
        tz_raise(L, "%s: needs a table: tz.picture { data = …, file = \"NAME.png\" }", what);
    lua_settop(L, 1);
    tz_keys_take(L, 1, what, picture_options, false);
    *r = (request){.look = {.bits = 8}, .slice = {.axis = 2, .at = -1}};
    tz_look_get(L, 1, what, &r->look);
    if (r->look.told)
        tz_raise(L, "%s: 'caption' must be a text: call the function for it", what);
    r->file = tz_key_file(L, 1, what, NULL);
    r->data = get_data(L, r);
    const tz_array *array = &r->data->view;
    const bool sliced = tz_slice_get(L, 1, what, &r->slice);
    const bool montage = tz_montage_get(L, 1, what, &r->slice.axis);
    if (montage && sliced)
        tz_raise(L, "%s: give 'slice' or 'montage', not both", what);
    if ((sliced || montage) && array->dims < 3)
        tz_raise(L, "%s: '%s' is for 3-D data", what, sliced ? "slice" : "montage");
    if (sliced && r->slice.at >= array->shape[r->slice.axis])
        tz_raise(L, "%s: slice %lld is outside the data (%c is 0 to %lld)", what,
                 (long long)r->slice.at, "xyz"[r->slice.axis],
                 (long long)array -> shape[r->slice.axis] - 1);
    if (r->look.overlay.outlines_count > 0 && r->slice.axis != 2)
        tz_raise(L, "%s: 'outline' is for slices across z, not across %c", what,
                 "xyz"[r->slice.axis]);
    if (r->look.isometric && (array->dims < 3 || sliced || montage))
        tz_raise(L, "%s: 'view' is for 3-D data, without 'slice' and 'montage'", what);
    if (r->look.axes && array->dims == 3 && !sliced)
        tz_raise(L, "%s: 'axes' is for one plane: give 'slice'", what);
    if (r->look.spacing_count > 1 && r->look.spacing_count != array->dims)
        tz_raise(L, "%s: 'spacing' of the axes has %d numbers, the data %d ax%s", what,
                 r->look.spacing_count, array->dims, array->dims == 1 ? "is" : "es");
    tz_path_get(L, 1, what, &r->look);
    tz_error error;
    if (r->look.overlay.path_count > 0 && array->dims != 2)
        tz_raise(L, "%s: 'path' is for 2-D data", what);
    if (tz_overlay_check_path(&r->look.overlay, array->shape[0], array->shape[1], &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    if (!r->look.map[0])
        snprintf(r->look.map, sizeof r->look.map, "viridis");
}

static int picture(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    tz_frame *frame = NULL;
    request r;
    tz_error error;
    get_request(L, &r);
    if (context->options->check) {
        tz_context_print(context, "  writes %s\n", r.file);
        return 0;
    }
    set_range(&r.look, &r.data->view);
    tz_status status = tz_frame_create(&frame, &r.look, &error);
    if (status == TZ_OK)
        frame->draw = tz_format_of_file(r.file, TZ_TO_DRAW)->draw;
    if (status == TZ_OK)
        status = tz_handle_open_file(context, r.file, frame->path, sizeof frame->path, &error);
    if (status == TZ_OK)
        status = tz_frame_read_array(frame, &r.data->view, r.slice, &error);
    if (status != TZ_OK) {
        tz_frame_destroy(frame);
        tz_raise_error(L, what, &error);
    }
    tz_frame_set_axes(frame, r.data->view.dims, r.data->view.shape, r.slice.axis, r.spacing, r.unit,
                      r.y_up);
    tz_frame_note(frame, "Software", "Trapeze %s", TZ_VERSION);
    tz_frame_note(frame, "Scenario", "%s", context->name);
    tz_frame_note(frame, "Source", "%s", r.data->source);
    tz_frame_note_look(frame);
    if (tz_run_files_draw(&context->files, frame, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    tz_record_file(context->files.record, r.file);
    return 0;
}

void tz_picture_register(lua_State *L)
{
    static const tz_api_function functions[] = {
        TZ_API("tz.picture(options)", picture,
               "Writes one picture of an array or of a simulation now.", .options = picture_options,
               .recall = TZ_RECALL_GIVE),
        TZ_API_END};
    tz_api_add(L, functions);
}
