/* Assigns Lua values to fields, for tz.simulation (simulation.c) and sim:set, and gives
 * numbers of regions of them: sim:units, sim:profile, sim:histogram. output.c and simulation.c
 * take regions. */
#include "lua/fields.h"
#include "base/names.h"
#include "base/number.h"

#include "lua/api.h"
#include "lua/array.h"
#include "lua/floorplan.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "output/output.h"
#include "sim/fields.h"
#include "sim/numbers.h"
#include "sim/simulation.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Cells that a function fills before they are written to the field. */
enum { CHUNK_CELLS = 1 << 16 };

/* What an assignment works on. */
typedef struct target {
    lua_State *L;
    tz_simulation_handle *handle;
    const tz_field *about;
    int field;
    const tz_box *box; /* never NULL */
    bool all;          /* the box is the grid */
    const char *what;
} target;

static void must(const target *t, tz_status status)
{
    tz_try(t->L, t->what, status);
}

static tz_box grid_box(const tz_simulation_handle *handle)
{
    tz_box box = {{0}, {0}};
    memcpy(box.high, tz_simulation_extent(handle->simulation), sizeof box.high);
    return box;
}

void tz_box_check(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                  tz_box *box)
{
    static const char *const axes[] = {"x", "y", "z"};
    const int dims = tz_handle_stencil(handle)->dims;
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    *box = grid_box(handle);
    if (lua_isnoneornil(L, index))
        return;
    if (!lua_istable(L, index))
        tz_raise(L, "%s: the box must be {x = {low, high}, …}, not %s", what,
                 tz_kind_text(L, index));
    tz_keys_check(L, index, what, axes, (size_t)dims, false);
    for (int axis = 0; axis < dims; axis++) {
        int64_t pair[2];
        const int got = tz_key_integers(L, index, what, axes[axis], 2, 0, pair);
        if (got == 0)
            continue;
        if (got != 2 || pair[0] >= pair[1] || pair[1] > extent[axis])
            tz_raise(L, "%s: the box's %s must be {low, high} with 0 <= low < high <= %lld", what,
                     axes[axis], (long long)extent[axis]);
        box->low[axis] = pair[0];
        box->high[axis] = pair[1];
    }
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* The number that the function at `index` returns for a cell. Raises when it is not finite. */
static double call_for_cell(const target *t, int index, int64_t x, int64_t y, int64_t z)
{
    lua_State *L = t->L;
    lua_pushvalue(L, index);
    lua_pushinteger(L, x);
    lua_pushinteger(L, y);
    lua_pushinteger(L, z);
    lua_call(L, 3, 1);
    double value = 0;
    if (lua_isboolean(L, -1))
        value = lua_toboolean(L, -1);
    else if (lua_type(L, -1) == LUA_TNUMBER)
        value = lua_tonumber(L, -1);
    else
        tz_raise(L, "%s: the function returned %s, not a number, for cell (%lld, %lld, %lld)",
                 t->what, tz_kind_text(L, -1), (long long)x, (long long)y, (long long)z);
    if (!isfinite(value))
        tz_raise(L, "%s: the function returned %s for cell (%lld, %lld, %lld)", t->what,
                 isnan(value) ? "NaN" : "an infinity", (long long)x, (long long)y, (long long)z);
    lua_pop(L, 1);
    return value;
}

/* For check mode, in which nothing is stored. */
static void check_value(const target *t, double value)
{
    must(t, tz_simulation_check_value(t->handle->simulation, t->field, value, tz_fault(t->L)));
}

static void fill_piece(const target *t, int index, const tz_box *piece, double *values)
{
    int64_t i = 0;
    for (int64_t y = piece->low[1]; y < piece->high[1]; y++)
        for (int64_t x = piece->low[0]; x < piece->high[0]; x++)
            values[i++] = call_for_cell(t, index, x, y, piece->low[2]);
    must(t, tz_simulation_write(t->handle->simulation, t->field, piece, values, "function",
                                tz_fault(t->L)));
}

static void assign_function(const target *t, int index)
{
    const tz_box *box = t->box;
    if (tz_handle_is_dry(t->handle)) {
        check_value(t, call_for_cell(t, index, box->low[0], box->low[1], box->low[2]));
        return;
    }
    const int64_t nx = box->high[0] - box->low[0], ny = box->high[1] - box->low[1];
    const int64_t columns = nx < CHUNK_CELLS ? nx : CHUNK_CELLS;
    int64_t rows = columns < nx ? 1 : CHUNK_CELLS / nx;
    rows = rows > ny ? ny : rows;
    double *values = lua_newuserdatauv(t->L, (size_t)(columns * rows) * sizeof *values, 0);
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y += rows)
            for (int64_t x = box->low[0]; x < box->high[0]; x += columns) {
                const tz_box piece = {{x, y, z},
                                      {x + columns < box->high[0] ? x + columns : box->high[0],
                                       y + rows < box->high[1] ? y + rows : box->high[1], z + 1}};
                fill_piece(t, index, &piece, values);
            }
    lua_pop(t->L, 1);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Has the array the box's shape? A 1-D array needs only as many numbers. */
static bool fits(const tz_array *array, int dims, const int64_t *wanted)
{
    if (array->dims == 1)
        return array->shape[0] == wanted[0] * wanted[1] * wanted[2];
    return array->dims == dims && memcmp(array->shape, wanted, sizeof array->shape) == 0;
}

/* Is the simulation's grid what the rule says? */
static bool is_universe(const target *t, const tz_rle_rule *rule)
{
    const tz_simulation *simulation = t->handle->simulation;
    const int64_t *extent = tz_simulation_extent(simulation),
                  wanted[] = {rule->width, rule->height};
    for (int axis = 0; axis < 2 && rule->universe; axis++)
        if (wanted[axis] > 0 && (wanted[axis] != extent[axis] ||
                                 tz_output_universe(simulation, t->field, axis) != rule->universe))
            return false;
    return true;
}

static noreturn void refuse_universe(const target *t, const tz_array_handle *source,
                                     const tz_rle_rule *rule)
{
    const char *kind = rule->universe == 'T' ? "torus" : "plane";
    const char *side = rule->universe == 'T' ? "periodic" : "fixed";
    if (rule->width > 0 && rule->height > 0)
        tz_raise(t->L,
                 "%s: %.250s is a pattern on a %s of %lld x %lld cells (%.100s): give the "
                 "simulation grid = { %lld, %lld } and boundary = \"%s\", or tz.read a 'rule' "
                 "without ':%c…'",
                 t->what, source->source, kind, (long long)rule->width, (long long)rule->height,
                 source->rule, (long long)rule->width, (long long)rule->height, side,
                 rule->universe);
    const char axis = rule->width > 0 ? 'x' : 'y';
    tz_raise(t->L,
             "%s: %.250s is a pattern on a %s that is endless along %c (%.100s): give the "
             "simulation %lld cells along %c, boundary = { %c = \"%s\" }, and room along %c, or "
             "tz.read a 'rule' without ':%c…'",
             t->what, source->source, kind, 'x' + 'y' - axis, source->rule,
             (long long)(axis == 'x' ? rule->width : rule->height), axis, axis, side,
             'x' + 'y' - axis, rule->universe);
}

/* With B0 cells far from the pattern come alive, too, which those behind a side do not. */
static void check_empty_plane(const target *t, const tz_array_handle *source,
                              const tz_rle_rule *rule)
{
    const tz_simulation *simulation = t->handle->simulation;
    const bool is_endless = !rule->universe || rule->width == 0 || rule->height == 0;
    if ((rule->life.map[0] & 1) && is_endless &&
        (tz_output_universe(simulation, t->field, 0) != 'T' ||
         tz_output_universe(simulation, t->field, 1) != 'T'))
        tz_raise(t->L,
                 "%s: %.250s is a pattern of rule %.100s on an endless plane, whose empty part "
                 "comes alive (B0): give the simulation boundary = \"periodic\", and room",
                 t->what, source->source, source->rule);
}

/* A pattern's file names its rule. The simulation must have it, or takes it before its first step
 * if the script gave none. */
static void check_rule(const target *t, const tz_array_handle *source)
{
    tz_simulation *simulation = t->handle->simulation;
    const int param = tz_stencil_param_of_role(tz_handle_stencil(t->handle), TZ_PARAM_ROLE_RULE);
    tz_rle_rule rule, present;
    if (!source->claims_rule || param < 0)
        return;
    must(t, tz_rle_rule_parse(source->rule, source->source, &rule, tz_fault(t->L)));
    if (!is_universe(t, &rule))
        refuse_universe(t, source, &rule);
    check_empty_plane(t, source, &rule);
    const tz_param *about = &tz_handle_stencil(t->handle)->params[param];
    const tz_value *value = &tz_simulation_params(simulation)[param];
    const bool same = tz_rle_rule_parse(value->text, NULL, &present, NULL) == TZ_OK &&
                      tz_rle_rule_is_same(&present, &rule);
    char text[TZ_RLE_RULE_SIZE];
    rule.universe = 0;
    tz_rle_rule_format(&rule, text);
    if (!value->given && tz_simulation_step(simulation) == 0) {
        const tz_assignment taken = {.name = about->name, .text = text};
        must(t, tz_simulation_set_params(simulation, 1, &taken, tz_fault(t->L)));
        if (!same)
            tz_context_note(t->handle->context, TZ_NOTE_LOG, "%s: %s = %s, from %s",
                            t->handle->name, about->name, text, source->source);
    } else if (!same) {
        tz_raise(t->L,
                 "%s: %.250s is a pattern of rule %s, and the simulation's is %s: give it params = "
                 "{ %s = \"%s\" }, or tz.read { rule = \"%s\" }",
                 t->what, source->source, text, value->text, about->name, text, value->text);
    }
}

/* Check the pieces of a large file, or write them, from cell `at` on. */
static tz_status go_through(const target *t, tz_npy_file *file, const tz_array *shaped,
                            const int64_t *at, const char *place, bool write, tz_error *error)
{
    const int64_t pieces = tz_npy_pieces(file, shaped->dims, shaped->shape);
    tz_status status = TZ_OK;
    for (int64_t k = 0; status == TZ_OK && k < pieces; k++) {
        tz_npy_piece piece;
        status = tz_npy_read_piece(file, shaped->dims, shaped->shape, k, &piece, error);
        for (int axis = 0; axis < TZ_AXES; axis++)
            piece.at[axis] += at[axis];
        if (status == TZ_OK)
            status = write ? tz_simulation_write_array(t->handle->simulation, t->field,
                                                       &piece.cells, piece.at, place, error)
                           : tz_simulation_check_array(t->handle->simulation, t->field,
                                                       &piece.cells, piece.at, place, error);
    }
    return status;
}

/* The array has another shape than the box, and no `fit`: raises, and says how it would fit. */
static noreturn void refuse_shape(const target *t, const tz_array_handle *source,
                                  const int64_t *wanted)
{
    const int dims = tz_handle_stencil(t->handle)->dims;
    const tz_array *array = &source->view;
    char has[TZ_SHAPE_TEXT_SIZE], needs[TZ_SHAPE_TEXT_SIZE], way[160] = "";
    bool larger = true, smaller = true;
    for (int axis = 0; axis < dims; axis++) {
        larger = larger && array->shape[axis] >= wanted[axis];
        smaller = smaller && array->shape[axis] <= wanted[axis];
    }
    if (array->dims == dims)
        snprintf(way, sizeof way, ": tz.read's fit = %s\"scale\" makes it fit%s",
                 larger    ? "\"crop\" or "
                 : smaller ? "\"pad\" or "
                           : "",
                 smaller ? ", 'at' places it" : "");
    tz_raise(t->L, "%s: %.250s has %s numbers, the %s needs %s%s", t->what, source->source,
             tz_shape_text(has, array->dims, array->shape), t->all ? "grid" : "box",
             tz_shape_text(needs, dims, wanted), way);
}

/* Push the array at `index`, or a copy that fits the box; `at` becomes the cell that gets its first
 * element. */
static tz_array_handle *push_fitted(const target *t, int index, const int64_t *wanted, int64_t *at)
{
    tz_array_handle *source = tz_array_check_open(t->L, index, t->what);
    const int dims = tz_handle_stencil(t->handle)->dims;
    const tz_fit fit = source->fit;
    const int64_t *n = source->view.shape;
    tz_array *array = NULL;
    lua_pushvalue(t->L, index);
    if (source->at_axes > 0 || fits(&source->view, dims, wanted))
        return source;
    if (fit == TZ_FIT_NONE || source->view.dims != dims)
        refuse_shape(t, source, wanted);
    for (int axis = 0; axis < dims && fit != TZ_FIT_SCALE; axis++)
        if (fit == TZ_FIT_CROP ? n[axis] < wanted[axis] : n[axis] > wanted[axis])
            refuse_shape(t, source, wanted);
    if (fit == TZ_FIT_PAD) {
        for (int axis = 0; axis < TZ_AXES; axis++)
            at[axis] += (wanted[axis] - n[axis]) / 2;
        return source;
    }
    tz_array_check(t->L, index, t->what);
    tz_array_handle *copy = tz_array_push(t->L, source->source);
    must(t, tz_array_fit(&source->view, fit, wanted, &array, tz_fault(t->L)));
    tz_array_own(copy, array);
    memcpy(copy->rule, source->rule, sizeof copy->rule);
    copy->claims_rule = source->claims_rule;
    lua_replace(t->L, -2);
    return copy;
}

static void assign_array(const target *t, int index)
{
    tz_simulation *simulation = t->handle->simulation;
    const int dims = tz_handle_stencil(t->handle)->dims;
    const bool dry = tz_handle_is_dry(t->handle);
    const tz_array_handle *source = tz_array_check_open(t->L, index, t->what);
    int64_t wanted[TZ_AXES], at[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++) {
        wanted[axis] = t->box->high[axis] - t->box->low[axis];
        at[axis] = source->at_axes > 0 ? source->at[axis] : t->box->low[axis];
    }
    if (source->at_axes > 0 && !t->all)
        tz_raise(t->L, "%s: give a box, or a place with 'at', not both", t->what);
    tz_array_check_at(t->L, source, dims, t->what);
    if (source->rows && (source->rows == TZ_ROWS_UP) != tz_simulation_rows_up(simulation))
        tz_raise(t->L,
                 "%s: the rows of the array of tz.chip are in the other order: give tz.chip "
                 "the 'y' of tz.simulation",
                 t->what);
    if (source->rows == TZ_ROWS_DOWN)
        tz_simulation_set_y_up(simulation);
    source = push_fitted(t, index, wanted, at);
    check_rule(t, source);
    tz_npy_file *file = source->memory->file;
    tz_array shaped = source->view;
    if (source->at_axes == 0 && fits(&shaped, dims, wanted)) { /* or a row of a box's numbers */
        shaped.dims = dims;
        memcpy(shaped.shape, wanted, sizeof wanted);
    }
    /* All numbers are checked before the first is stored: a refused file changes nothing. */
    tz_status status = TZ_OK;
    if (file)
        status = go_through(t, file, &shaped, at, source->source, false, tz_fault(t->L));
    else if (dry)
        status = tz_simulation_check_array(simulation, t->field, &shaped, at, source->source,
                                           tz_fault(t->L));
    if (status == TZ_OK && !dry)
        status = file ? go_through(t, file, &shaped, at, source->source, true, tz_fault(t->L))
                      : tz_simulation_write_array(simulation, t->field, &shaped, at, source->source,
                                                  tz_fault(t->L));
    must(t, status);
    lua_pop(t->L, 1);
}

/* ---- Floorplans ------------------------------------------------------------------------------ */

static void assign_floorplan(const target *t, const tz_floorplan_value *value)
{
    const int dims = tz_handle_stencil(t->handle)->dims;
    if (value->trace.sample_count == 0)
        tz_raise(t->L, "%s: the floorplan %.300s has no powers: give tz.floorplan a 'ptrace'",
                 t->what, value->plan.path);
    if (value->row < 0 && value->trace.sample_count > 1)
        tz_context_note(t->handle->context, TZ_NOTE_LOG,
                        "%s: the powers are the mean of the %zu rows of %.300s; 'row' of "
                        "tz.floorplan takes one of them",
                        t->what, value->trace.sample_count, value->trace.path);
    if (value->trace.unit_count > value->plan.unit_count && !value->prefix[0])
        tz_context_note(t->handle->context, TZ_NOTE_LOG,
                        "%s: %zu units of %.300s are not in %.300s, so their power is not there",
                        t->what, value->trace.unit_count - value->plan.unit_count,
                        value->trace.path, value->plan.path);
    const bool rows_up = tz_simulation_rows_up(t->handle->simulation);
    if (!rows_up)
        tz_simulation_set_y_up(t->handle->simulation);
    tz_floorplan_place place = value->place;
    if (!t->all)
        place.box = *t->box;
    tz_floorplan_chip(t->L, t->handle, &value->plan, t->what, &place);
    const tz_box *box = &place.box;
    const int64_t nx = box->high[0] - box->low[0], ny = box->high[1] - box->low[1];
    double *powers_w = lua_newuserdatauv(t->L, value->plan.unit_count * sizeof *powers_w, 0);
    tz_status status = TZ_OK;
    tz_floorplan_powers(t->L, t->what, value, powers_w);
    for (size_t i = 0; i < value->plan.unit_count; i++)
        powers_w[i] /= (double)(box->high[2] - box->low[2]);
    const bool dry = tz_handle_is_dry(t->handle); /* a row shows whether the plan fits */
    const int64_t rows = dry || nx >= CHUNK_CELLS ? 1 : CHUNK_CELLS / nx;
    for (int64_t y = 0; status == TZ_OK && y < (dry ? 1 : ny); y += rows) {
        const int64_t end = y + rows < ny ? y + rows : ny;
        tz_array *array = NULL;
        status = tz_floorplan_rasterise_rows(&value->plan, powers_w, nx, ny, place.width_m,
                                             place.height_m, rows_up ? ny - end : y,
                                             rows_up ? ny - y : end, &array, tz_fault(t->L));
        if (array && rows_up)
            tz_array_turn_rows(array);
        if (array)
            array->dims = dims;
        for (int64_t z = box->low[2]; status == TZ_OK && !dry && z < box->high[2]; z++) {
            const int64_t at[TZ_AXES] = {box->low[0], box->low[1] + y, z};
            status = tz_simulation_write_array(t->handle->simulation, t->field, array, at,
                                               value->plan.path, tz_fault(t->L));
        }
        tz_array_destroy(array);
    }
    must(t, status);
    lua_pop(t->L, 1);
}

/* ---- Streamed fields ------------------------------------------------------------------------- */

/* Push the array if its elements are int32, else a copy whose elements are. */
static tz_array_handle *push_int32(const target *t, int index)
{
    tz_array_handle *source = tz_array_check(t->L, index, t->what);
    if (source->view.dtype == TZ_DTYPE_I32) {
        lua_pushvalue(t->L, index);
        return source;
    }
    const int64_t count = tz_shape_count(source->view.dims, source->view.shape);
    tz_array_handle *copy = tz_array_push(t->L, source->source);
    tz_array *array = NULL;
    must(t, tz_array_create(&array, TZ_DTYPE_I32, source->view.dims, source->view.shape,
                            tz_fault(t->L)));
    tz_array_own(copy, array);
    for (int64_t i = 0; i < count; i++) {
        const double value = tz_array_get(&source->view, i);
        if (tz_dtype_fault(TZ_DTYPE_I32, value))
            tz_raise(t->L, "%s: %.250s: element %lld is %.17g, which is not a 32-bit integer",
                     t->what, source->source, (long long)i, value);
        ((int32_t *)array->data)[i] = (int32_t)value;
    }
    return copy;
}

/* Give back the array that the field reads no longer. */
static void stop_streaming(const target *t)
{
    tz_array_memory_release(t->handle->streamed[t->field]);
    t->handle->streamed[t->field] = NULL;
}

static void stream_array(const target *t, int index)
{
    lua_State *L = t->L;
    const int dims = tz_handle_stencil(t->handle)->dims;
    const int64_t *extent = tz_simulation_extent(t->handle->simulation);
    tz_array_handle *rows = push_int32(t, index);
    const tz_array *array = &rows->view;
    bool ok = array->dims == dims + 1;
    for (int axis = 0; ok && axis < dims; axis++)
        ok = array->shape[axis] == extent[axis];
    if (!ok) {
        char has[TZ_SHAPE_TEXT_SIZE], needs[TZ_SHAPE_TEXT_SIZE];
        tz_raise(L, "%s: %.250s has %s numbers; a streamed field needs %s x slabs", t->what,
                 rows->source, tz_shape_text(has, array->dims, array->shape),
                 tz_shape_text(needs, dims, extent));
    }
    if (!tz_handle_is_dry(t->handle)) {
        must(t, tz_simulation_streamed_array(t->handle->simulation, t->field, array->data,
                                             array->shape[dims], tz_fault(t->L)));
        stop_streaming(t);
        t->handle->streamed[t->field] = tz_array_memory_share(rows->memory);
    }
    lua_pop(L, 1);
}

/* ---- Random numbers -------------------------------------------------------------------------- */

static void assign_random(const target *t, const tz_random_value *value)
{
    const tz_type type = t->about->type;
    if (tz_type_is_bits(type) && value->has_range)
        tz_raise(t->L, "%s: holds 0 and 1; give tz.random a 'density', not a 'range'", t->what);
    if (!tz_type_is_bits(type) && value->has_density)
        tz_raise(t->L, "%s: holds numbers; give tz.random a 'range', not a 'density'", t->what);
    if (tz_type_is_integer(type) && !value->has_range)
        tz_raise(t->L, "%s: holds integers; give tz.random a 'range' {low, high}", t->what);
    if (tz_type_is_integer(type) && (value->random.low != floor(value->random.low) ||
                                     value->random.high != floor(value->random.high)))
        tz_raise(t->L, "%s: holds integers; the bounds of 'range' must be integers, too", t->what);
    const bool dry = tz_handle_is_dry(t->handle);
    const tz_status status =
        dry ? tz_simulation_check_random(t->handle->simulation, t->field, &value->random,
                                         tz_fault(t->L))
        : t->about->role == TZ_STREAMED
            ? tz_simulation_streamed_random(t->handle->simulation, t->field, &value->random,
                                            tz_fault(t->L))
            : tz_simulation_fill_random(t->handle->simulation, t->field, t->box, &value->random,
                                        tz_fault(t->L));
    must(t, status);
    if (!dry && t->about->role == TZ_STREAMED)
        stop_streaming(t);
}

/* ---- Any value ------------------------------------------------------------------------------- */

static void assign_number(const target *t, double value)
{
    if (!isfinite(value))
        tz_raise(t->L, "%s: must be a finite number, not %s", t->what,
                 isnan(value) ? "NaN" : "an infinity");
    if (tz_handle_is_dry(t->handle))
        check_value(t, value);
    else
        must(t, tz_simulation_fill(t->handle->simulation, t->field, t->box, value, tz_fault(t->L)));
}

/* Record where the values came from. */
static void record_source(const target *t, int index)
{
    char source[320];
    const uint64_t *seed = NULL;
    lua_State *L = t->L;
    const tz_array_handle *array = luaL_testudata(L, index, TZ_TYPE_ARRAY);
    const tz_random_value *random = luaL_testudata(L, index, TZ_TYPE_RANDOM);
    const tz_floorplan_value *plan = luaL_testudata(L, index, TZ_TYPE_FLOORPLAN);
    if (array) {
        snprintf(source, sizeof source, "%s", array->source);
    } else if (random) {
        const tz_random *r = &random->random;
        char low[TZ_NUMBER_SIZE], high[TZ_NUMBER_SIZE];
        if (tz_type_is_bits(t->about->type))
            snprintf(source, sizeof source, "random, density %s",
                     tz_number_format(low, (double)r->density));
        else
            snprintf(source, sizeof source, "random, %s to %s", tz_number_format(low, r->low),
                     tz_number_format(high, r->high));
        seed = &r->seed;
    } else if (plan) {
        snprintf(source, sizeof source, "%.150s with %.150s", plan->plan.path, plan->trace.path);
    } else if (lua_isfunction(L, index)) {
        tz_function_text(L, index, source, sizeof source);
    } else {
        snprintf(source, sizeof source, "%s", luaL_tolstring(L, index, NULL));
        lua_pop(L, 1);
    }
    t->handle->missing &= ~(1u << t->field);
    if (t->handle->kept)
        tz_record_source(t->handle->context->files.record, t->handle->index, t->about->name, source,
                         seed, !t->all);
}

void tz_field_assign(lua_State *L, tz_simulation_handle *handle, int field, const tz_box *box,
                     int index, const char *what)
{
    const tz_box grid = grid_box(handle);
    index = lua_absindex(L, index);
    const target t = {.L = L,
                      .handle = handle,
                      .about = &tz_handle_stencil(handle)->fields[field],
                      .field = field,
                      .box = box ? box : &grid,
                      .all = !box || memcmp(box, &grid, sizeof grid) == 0,
                      .what = what};
    const bool streamed = t.about->role == TZ_STREAMED;
    if (t.about->role == TZ_DERIVED)
        tz_raise(L, "%s: is derived: it is computed from others and cannot be set", what);
    if (streamed && !t.all)
        tz_raise(L, "%s: a streamed field takes no box; assign all of it", what);
    const tz_array_handle *array = luaL_testudata(L, index, TZ_TYPE_ARRAY);
    const tz_random_value *random = luaL_testudata(L, index, TZ_TYPE_RANDOM);
    const tz_floorplan_value *plan = luaL_testudata(L, index, TZ_TYPE_FLOORPLAN);
    const int type = lua_type(L, index);
    if (random)
        assign_random(&t, random);
    else if (array && streamed)
        stream_array(&t, index);
    else if (streamed)
        tz_raise(L, "%s: a streamed field needs tz.random or an array, not %s", what,
                 tz_kind_text(L, index));
    else if (array)
        assign_array(&t, index);
    else if (plan)
        assign_floorplan(&t, tz_floorplan_check(L, index, what));
    else if (type == LUA_TNUMBER)
        assign_number(&t, lua_tonumber(L, index));
    else if (type == LUA_TBOOLEAN)
        assign_number(&t, lua_toboolean(L, index));
    else if (type == LUA_TFUNCTION)
        assign_function(&t, index);
    else
        tz_raise(L,
                 "%s: needs a number, a function(x, y, z), tz.read, tz.random, tz.array or "
                 "tz.floorplan, not %s",
                 what, tz_kind_text(L, index));
    record_source(&t, index);
}

/* ---- Regions --------------------------------------------------------------------------------- */

/* The cells of an array that selects: all of the grid, or those at its place. */
static void get_mask(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                     tz_region *region)
{
    const tz_array_handle *source = tz_array_check(L, index, what);
    const tz_array *array = &source->view;
    const int dims = tz_handle_stencil(handle)->dims;
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    bool fits = true;
    tz_array_check_at(L, source, dims, what);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        if (source->at_axes > 0) {
            region->box.low[axis] = axis < dims ? source->at[axis] : 0;
            if (__builtin_add_overflow(region->box.low[axis], array->shape[axis],
                                       &region->box.high[axis]))
                fits = false;
        }
        fits = fits && region->box.high[axis] <= extent[axis] &&
               region->box.high[axis] - region->box.low[axis] == array->shape[axis];
    }
    if (!fits) {
        char has[TZ_SHAPE_TEXT_SIZE], needs[TZ_SHAPE_TEXT_SIZE];
        tz_raise(L, "%s: the mask %.250s has %s elements%s, the grid %s", what, source->source,
                 tz_shape_text(has, array->dims, array->shape),
                 source->at_axes > 0 ? " at its place" : "", tz_shape_text(needs, dims, extent));
    }
    region->mask = array;
}

static int mask_field(lua_State *L, int index, const tz_simulation_handle *handle, const char *what)
{
    const int field = tz_handle_field(L, index, handle, what);
    const tz_field *about = &tz_handle_stencil(handle)->fields[field];
    if (about->role == TZ_STREAMED)
        tz_raise(L, "%s: the mask '%s' is streamed and not kept", what, about->name);
    return field;
}

/* The region at a stack index; the grid for nil. Borrows the array. Raises. */
static void get_region(lua_State *L, int index, const tz_simulation_handle *handle,
                       const char *what, tz_region *region)
{
    *region = (tz_region){.box = grid_box(handle), .mask_field = -1};
    if (lua_isnoneornil(L, index))
        return;
    const tz_unit_value *unit = luaL_testudata(L, index, TZ_TYPE_UNIT);
    if (lua_istable(L, index))
        tz_box_check(L, index, handle, what, &region->box);
    else if (lua_type(L, index) == LUA_TSTRING)
        region->mask_field = mask_field(L, index, handle, what);
    else if (luaL_testudata(L, index, TZ_TYPE_ARRAY))
        get_mask(L, index, handle, what, region);
    else if (unit)
        tz_floorplan_box(L, handle, unit, what, &region->box);
    else
        tz_raise(L,
                 "%s: the region must be a box {x = {low, high}, …}, a mask (a field's name or an "
                 "array) or a unit (plan:unit \"NAME\"), not %s",
                 what, tz_kind_text(L, index));
}

static void reduce_region(lua_State *L, const tz_simulation_handle *handle, int field,
                          const tz_region *region, const char *what, tz_region_facts *facts)
{
    *facts = (tz_region_facts){.cells = 1};
    if (!tz_handle_is_dry(handle))
        tz_try(L, what,
               tz_simulation_reduce_region(handle->simulation, field, region, facts, tz_fault(L)));
}

tz_region_facts tz_region_reduce(lua_State *L, int index, const tz_simulation_handle *handle,
                                 int field, const char *what)
{
    tz_region region;
    tz_region_facts facts;
    get_region(L, index, handle, what, &region);
    reduce_region(L, handle, field, &region, what, &facts);
    return facts;
}

/* ---- Units ----------------------------------------------------------------------------------- */

static void reduce_unit(lua_State *L, const tz_simulation_handle *handle, int field,
                        const tz_unit_value *unit, const char *what, tz_region_facts *facts)
{
    tz_region region = {.mask_field = -1};
    tz_floorplan_box(L, handle, unit, what, &region.box);
    reduce_region(L, handle, field, &region, what, facts);
}

static int column(lua_State *L)
{
    const char *what = "tz.table";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const tz_unit_value *unit = lua_touserdata(L, lua_upvalueindex(1));
    const tz_map_mode map = (tz_map_mode)lua_tointeger(L, lua_upvalueindex(2));
    tz_region region = {.mask_field = -1};
    tz_region_facts facts;
    tz_floorplan_box(L, handle, unit, what, &region.box);
    for (int axis = 0; axis < 2 && map == TZ_MAP_CENTER; axis++) {
        int64_t *low = &region.box.low[axis], *high = &region.box.high[axis];
        const int64_t sum = *low + *high;
        *low = (sum - 1) / 2;
        *high = sum / 2 + 1;
    }
    reduce_region(L, handle, tz_output_default_field(tz_handle_stencil(handle)), &region, what,
                  &facts);
    lua_pushnumber(L, map == TZ_MAP_MAX   ? facts.max
                      : map == TZ_MAP_MIN ? facts.min
                                          : facts.sum / (double)facts.cells);
    return 1;
}

void tz_region_push_column(lua_State *L, int index, tz_map_mode map)
{
    lua_pushvalue(L, index);
    lua_pushinteger(L, map);
    lua_pushcclosure(L, column, 2);
}

static int masked_column(lua_State *L)
{
    const char *what = "tz.table";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const int field = tz_handle_kept_field(L, lua_upvalueindex(1), handle, what);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushnumber(L, tz_region_reduce(L, lua_gettop(L), handle, field, what).sum);
    return 1;
}

bool tz_region_push_sum(lua_State *L, const char *title)
{
    const char *names[TZ_COLUMN_FUNCTION], *open = strchr(title, '(');
    const size_t length = strlen(title), inside = open ? (size_t)(open - title) + 1 : 0;
    for (int i = 0; i < TZ_COLUMN_FUNCTION; i++)
        names[i] = tz_column_words[i].name;
    if (inside > 1 && title[length - 1] == ')') {
        const char *field = lua_pushlstring(L, title, inside - 1);
        lua_pushlstring(L, title + inside, length - inside - 1);
        lua_pushcclosure(L, masked_column, 2);
        if (!tz_names_nearest(field, names, TZ_COLUMN_FUNCTION))
            return true;
        lua_pop(L, 1);
    }
    lua_pushnil(L);
    return false;
}

/* sim:units(floorplan[, field]): {NAME = {max =, mean =}, …} */
static int method_units(lua_State *L)
{
    const char *what = "sim:units";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const tz_floorplan_value *value = tz_floorplan_check(L, 2, what);
    const int field = tz_handle_kept_field(L, 3, handle, what);
    lua_createtable(L, 0, (int)value->plan.unit_count);
    for (size_t i = 0; i < value->plan.unit_count; i++) {
        tz_unit_value unit;
        tz_region_facts facts;
        tz_floorplan_unit_get(value, i, &unit);
        reduce_unit(L, handle, field, &unit, what, &facts);
        lua_createtable(L, 0, 2);
        tz_set_number(L, "max", facts.max);
        tz_set_number(L, "mean", facts.sum / (double)facts.cells);
        lua_setfield(L, -2, unit.unit.name);
    }
    return 1;
}

enum { POINTS_MAX = 1 << 16, BINS_MAX = 1 << 16 };

/* ---- Samples --------------------------------------------------------------------------------- */

static void push_numbers(lua_State *L, const char *key, const double *values, int count)
{
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushnumber(L, values[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, key);
}

/* The point {x, y, z} at a stack index, within the grid. */
static void get_end(lua_State *L, int index, const tz_simulation_handle *handle, const char *name,
                    double out[TZ_AXES])
{
    const char *what = "sim:profile";
    const int dims = tz_handle_stencil(handle)->dims;
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    if (!lua_istable(L, index) || (int)lua_rawlen(L, index) != dims)
        tz_raise(L, "%s: '%s' must be a point of %d number%s, such as { %s }", what, name, dims,
                 dims == 1 ? "" : "s",
                 dims == 1   ? "0"
                 : dims == 2 ? "0, 0"
                             : "0, 0, 0");
    for (int a = 0; a < TZ_AXES; a++) {
        out[a] = 0;
        if (a >= dims)
            continue;
        if (lua_rawgeti(L, index, a + 1) != LUA_TNUMBER)
            tz_raise(L, "%s: '%s' must hold numbers, not %s", what, name, tz_kind_text(L, -1));
        out[a] = lua_tonumber(L, -1);
        if (!(out[a] >= 0 && out[a] <= (double)(extent[a] - 1)))
            tz_raise(L, "%s: %c of '%s' must be from 0 to %lld, not %g", what, "xyz"[a], name,
                     (long long)extent[a] - 1, out[a]);
        lua_pop(L, 1);
    }
}

static const tz_key profile_result[] = {
    {"x", "list of numbers", "", "distances from the first point, in cells"},
    {"y", "list of numbers", "", "the values there"},
    {NULL, NULL, NULL, NULL}};

/* sim:profile(field, from, to[, points]) */
static int method_profile(lua_State *L)
{
    const char *what = "sim:profile";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    double from[TZ_AXES], to[TZ_AXES], far = 0, square = 0;
    lua_settop(L, 5);
    tz_text_check(L, 2, what, "field");
    const int field = tz_handle_kept_field(L, 2, handle, what);
    get_end(L, 3, handle, "from", from);
    get_end(L, 4, handle, "to", to);
    for (int a = 0; a < TZ_AXES; a++) {
        far = fmax(far, fabs(to[a] - from[a]));
        square += (to[a] - from[a]) * (to[a] - from[a]);
    }
    /* A point for each cell along the axis that the line follows most. */
    int count = (int)fmin(ceil(far) + 1, POINTS_MAX);
    if (!lua_isnil(L, 5))
        count = (int)tz_integer_check(L, 5, what, "points", 2, POINTS_MAX);
    double *values = lua_newuserdatauv(L, 2 * (size_t)count * sizeof *values, 0);
    memset(values, 0, 2 * (size_t)count * sizeof *values);
    for (int i = 0; i < count; i++)
        values[count + i] = count > 1 ? sqrt(square) * i / (count - 1) : 0;
    if (!tz_handle_is_dry(handle))
        tz_try(
            L, what,
            tz_simulation_profile(handle->simulation, field, from, to, count, values, tz_fault(L)));
    lua_createtable(L, 0, 2);
    push_numbers(L, "x", values + count, count);
    push_numbers(L, "y", values, count);
    return 1;
}

static const tz_key histogram_options[] = {
    {"bins", "integer", "50", "how many", .least = 1, .most = BINS_MAX},
    {"range", "{low, high}", "the field's extremes", "where the first begins and the last ends"},
    {NULL, NULL, NULL, NULL}};

static const tz_key histogram_result[] = {
    {"x", "list of numbers", "", "the middles of the bins"},
    {"y", "list of integers", "", "how many cells' values are in each"},
    {"below", "integer", "", "cells below the range"},
    {"above", "integer", "", "cells above it"},
    {"other", "integer", "", "cells that are NaN or infinite"},
    {NULL, NULL, NULL, NULL}};

/* The range of the options, or the extremes of the field. */
static void get_range(lua_State *L, const tz_simulation_handle *handle, int field, tz_histogram *h)
{
    const char *what = "sim:histogram";
    tz_reduction facts = {.min = 0};
    if (tz_key_range(L, 3, what, "range", false, &h->low, &h->high))
        return;
    if (!tz_handle_is_dry(handle))
        tz_try(L, what, tz_simulation_reduce(handle->simulation, field, &facts, tz_fault(L)));
    h->low = isfinite(facts.min) ? facts.min : 0;
    h->high = isfinite(facts.max) ? facts.max : 0;
    if (h->low < h->high)
        return;
    /* All cells are equal: they are in the middle. */
    const double room = fmax(0.5, fabs(h->low) * 1e-6);
    h->low -= room;
    h->high += room;
}

/* sim:histogram([field[, options]]) */
static int method_histogram(lua_State *L)
{
    const char *what = "sim:histogram";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    int64_t bins;
    tz_histogram h = {.low = 0};
    lua_settop(L, 3);
    const int field = tz_handle_kept_field(L, 2, handle, what);
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    tz_options_check(L, 3, what);
    tz_keys_take(L, 3, what, histogram_options, false);
    tz_key_integer(L, 3, what, "bins", &bins);
    get_range(L, handle, field, &h);
    if (!isfinite(h.high - h.low))
        tz_raise(L, "%s: the range from %g to %g is too wide", what, h.low, h.high);
    h.bins = (int)bins;
    h.counts = lua_newuserdatauv(L, (size_t)bins * sizeof *h.counts, 0);
    memset(h.counts, 0, (size_t)bins * sizeof *h.counts);
    if (!tz_handle_is_dry(handle))
        tz_try(L, what, tz_simulation_histogram(handle->simulation, field, &h, tz_fault(L)));
    double *middles = lua_newuserdatauv(L, (size_t)bins * sizeof *middles, 0);
    for (int i = 0; i < h.bins; i++)
        middles[i] = h.low + (h.high - h.low) * (i + 0.5) / h.bins;
    lua_createtable(L, 0, 5);
    push_numbers(L, "x", middles, h.bins);
    tz_push_integers(L, h.bins, h.counts);
    lua_setfield(L, -2, "y");
    tz_set_integer(L, "below", h.below);
    tz_set_integer(L, "above", h.above);
    tz_set_integer(L, "other", h.other);
    return 1;
}

const tz_api_function tz_region_methods[] = {
    TZ_API("sim:units(floorplan[, field])", method_units,
           "A table of each unit's `max` and `mean`, by the unit's name.",
           .recall = TZ_RECALL_GIVE),

    TZ_API("sim:profile(field, from, to[, points])", method_profile,
           "The values along a line between two points such as `{ 0, 12.5 }`, interpolated "
           "linearly; whole numbers are the middles of cells. Without `points` there is one for "
           "each cell of the axis that the line follows most. A series of `tz.plot`.",
           .recall = TZ_RECALL_GIVE, .result = profile_result),
    TZ_API("sim:histogram([field[, options]])", method_histogram,
           "How many cells have values in each of a row of equal intervals: "
           "`{ x = h.x, y = h.y, style = \"bars\" }` is a series of `tz.plot`.",
           .recall = TZ_RECALL_GIVE, .options = histogram_options, .result = histogram_result),
    TZ_API_END};
