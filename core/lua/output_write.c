/* Writing a bound output for the step that the simulation is at. */
#include "lua/handle.h"

#include "lua/frame.h"
#include "output/format/npy.h"
#include "output/format/number.h"
#include "output/format/rle.h"
#include "output/format/vti.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tz_binding_pattern(const tz_binding *binding, char *text, size_t size)
{
    if (binding->output == NULL)
        snprintf(text, size, "%s", binding->stem);
    else if (binding->output->kind == TZ_OUTPUT_TABLE)
        snprintf(text, size, "%s.csv", binding->stem);
    else
        snprintf(text, size, "%s-NNNNNN%s", binding->stem, tz_output_suffix(binding->output->kind));
}

/* "temperature-000100.png", with "-r2" before the number after one rewind. */
static tz_status make_path(const tz_binding *binding, int64_t step, char *path, size_t size,
                           tz_error *error)
{
    char name[240], again[24] = "";
    if (binding->handle->rewinds > 0)
        snprintf(again, sizeof again, "-r%d", binding->handle->rewinds + 1);
    snprintf(name, sizeof name, "%s%s-%06lld%s", binding->stem, again, (long long)step,
             tz_output_suffix(binding->output->kind));
    return tz_folder_join(binding->handle->context->folder, name, path, size, error);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static void describe(tz_frame *frame, const tz_binding *binding, int64_t step)
{
    const tz_simulation_handle *handle = binding->handle;
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    char grid[80], low[TZ_NUMBER_SIZE], high[TZ_NUMBER_SIZE];
    size_t used = 0;
    for (int axis = 0; axis < stencil->dims; axis++)
        used += (size_t)snprintf(grid + used, sizeof grid - used, "%s%lld", axis > 0 ? " x " : "",
                                 (long long)extent[axis]);
    tz_frame_note(frame, "Software", "Trapeze %s", TZ_VERSION);
    tz_frame_note(frame, "Scenario", "%s", handle->context->name);
    tz_frame_note(frame, "Simulation", "%s", handle->name);
    tz_frame_note(frame, "Stencil", "%s", stencil->id);
    tz_frame_note(frame, "Grid", "%s", grid);
    tz_frame_note(frame, "Step", "%lld", (long long)step);
    tz_frame_note(frame, "Field", "%s", stencil->fields[binding->field].name);
    if (frame->look.unit[0] != '\0')
        tz_frame_note(frame, "Unit", "%s", frame->look.unit);
    tz_frame_note(frame, "Range", "%s %s", tz_number_format(low, frame->look.low),
                  tz_number_format(high, frame->look.high));
    tz_frame_note(frame, "Map", "%s", frame->look.bits == 16 ? "gray, 16 bit" : frame->look.map);
    if (stencil->dims == 3 && binding->output->has_slice)
        tz_frame_note(frame, "Slice", "z = %lld", (long long)binding->output->slice);
}

/* Fill in what the script left open: the stencil's own picture if it is of this field. */
static tz_status resolve_look(const tz_binding *binding, const tz_simulation *source, tz_look *look,
                              tz_error *error)
{
    const tz_stencil *stencil = tz_handle_stencil(binding->handle);
    const tz_field *about = &stencil->fields[binding->field];
    const tz_picture *own = &stencil->picture;
    const bool is_own = own->field != NULL && strcmp(own->field, about->name) == 0;
    if (look->map[0] == '\0')
        snprintf(look->map, sizeof look->map, "%s",
                 is_own && own->map != NULL ? own->map
                 : about->type == TZ_BITS   ? "gray"
                                            : "viridis");
    if (!look->has_unit && about->unit != NULL)
        snprintf(look->unit, sizeof look->unit, "%s", about->unit);
    if (look->range == TZ_RANGE_FIXED)
        return TZ_OK;
    if (look->range == TZ_RANGE_PICTURE && is_own && own->low < own->high) {
        look->low = own->low;
        look->high = own->high;
    } else if (look->range == TZ_RANGE_PICTURE && about->type == TZ_BITS) {
        look->low = 0;
        look->high = 1;
    } else {
        tz_reduction facts;
        const tz_status status = tz_simulation_reduce(source, binding->field, &facts, error);
        if (status != TZ_OK)
            return status;
        look->low = isfinite(facts.min) ? facts.min : 0;
        look->high = isfinite(facts.max) ? facts.max : 0;
    }
    return TZ_OK;
}

static tz_status write_picture(const tz_binding *binding, const tz_simulation *source,
                               tz_error *error)
{
    const int64_t step = tz_simulation_step(source);
    tz_frame *frame = NULL;
    tz_status status = tz_frame_create(&frame, &binding->output->look, error);
    if (status == TZ_OK)
        status = make_path(binding, step, frame->path, sizeof frame->path, error);
    if (status == TZ_OK)
        status = resolve_look(binding, source, &frame->look, error);
    if (status == TZ_OK)
        status = tz_frame_read(frame, source, binding->field,
                               binding->output->has_slice ? binding->output->slice : -1, error);
    if (status != TZ_OK) {
        tz_frame_destroy(frame);
        return status;
    }
    describe(frame, binding, step);
    return tz_frame_submit(frame, binding->handle->context, error);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* What takes the cells of a field in grid order, piece by piece. */
typedef tz_status tz_piece_fn(void *writer, size_t which, const void *cells, int64_t count,
                              tz_error *error);

/* Hand a field over in pieces of a few MiB: a copy of a large one may not fit beside it. */
static tz_status write_pieces(const tz_simulation *simulation, int field, tz_piece_fn *piece,
                              void *writer, size_t which, tz_error *error)
{
    enum { PIECE_CELLS = 1 << 20 };
    const int64_t *extent = tz_simulation_extent(simulation);
    const int64_t width = extent[0] < PIECE_CELLS ? extent[0] : PIECE_CELLS;
    const int64_t rows = width < extent[0] || PIECE_CELLS / width < 1 ? 1 : PIECE_CELLS / width;
    char *cells = malloc((size_t)(width * rows) * sizeof(double));
    if (cells == NULL)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to write a field");
    tz_status status = TZ_OK;
    for (int64_t z = 0; z < extent[2]; z++)
        for (int64_t y = 0; y < extent[1]; y += rows)
            for (int64_t x = 0; status == TZ_OK && x < extent[0]; x += width) {
                const tz_box box = {{x, y, z},
                                    {x + width < extent[0] ? x + width : extent[0],
                                     y + rows < extent[1] ? y + rows : extent[1], z + 1}};
                status = tz_simulation_read_cells(simulation, field, &box, cells, error);
                if (status == TZ_OK)
                    status = piece(writer, which, cells,
                                   (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]), error);
            }
    free(cells);
    return status;
}

static tz_status npy_piece(void *writer, size_t which, const void *cells, int64_t count,
                           tz_error *error)
{
    (void)which;
    return tz_npy_write_rows(writer, cells, count, error);
}

static tz_status write_npy(const tz_binding *binding, const tz_simulation *simulation,
                           const char *path, tz_error *error)
{
    tz_npy_writer *writer = NULL;
    tz_status status = tz_npy_write_begin(
        &writer, path, tz_simulation_dtype(simulation, binding->field),
        tz_handle_stencil(binding->handle)->dims, tz_simulation_extent(simulation), false, error);
    if (status != TZ_OK)
        return status;
    status = write_pieces(simulation, binding->field, npy_piece, writer, 0, error);
    if (status == TZ_OK)
        return tz_npy_write_commit(writer, error);
    tz_npy_write_abort(writer);
    return status;
}

/* The stencil's rule, or NULL if it has none. */
static const char *find_rule(const tz_simulation *simulation)
{
    const int i = tz_stencil_param_of_role(tz_simulation_stencil(simulation), TZ_PARAM_ROLE_RULE);
    return i < 0 ? NULL : tz_simulation_params(simulation)[i].text;
}

static tz_status write_rle(const tz_binding *binding, const tz_simulation *source, const char *path,
                           tz_error *error)
{
    tz_array *array = NULL;
    char comment[160];
    snprintf(comment, sizeof comment, "%s, step %lld, by Trapeze %s",
             binding->handle->context->name, (long long)tz_simulation_step(source), TZ_VERSION);
    tz_status status = tz_simulation_read_array(source, binding->field, &array, error);
    if (status == TZ_OK)
        status = tz_rle_write(path, array, find_rule(source), comment, false, error);
    tz_array_destroy(array);
    return status;
}

static tz_status vti_piece(void *writer, size_t which, const void *cells, int64_t count,
                           tz_error *error)
{
    return tz_vti_write_slab(writer, which, cells, count, error);
}

static tz_status write_vti(const tz_binding *binding, const tz_simulation *source, const char *path,
                           tz_error *error)
{
    const tz_output *output = binding->output;
    const tz_stencil *stencil = tz_simulation_stencil(source);
    tz_vti_grid grid = {.dims = stencil->dims};
    tz_vti_field fields[TZ_OUTPUT_FIELDS_MAX];
    int indices[TZ_OUTPUT_FIELDS_MAX] = {binding->field};
    const size_t count = output->fields_count > 0 ? output->fields_count : 1;
    memcpy(grid.shape, tz_simulation_extent(source), sizeof grid.shape);
    for (size_t i = 0; i < count; i++) {
        if (output->fields_count > 0)
            indices[i] = tz_stencil_field_index(stencil, output->fields[i]);
        fields[i] = (tz_vti_field){.name = stencil->fields[indices[i]].name,
                                   .dtype = tz_simulation_dtype(source, indices[i])};
    }
    tz_vti_writer *writer = NULL;
    tz_status status = tz_vti_write_begin(&writer, path, &grid, fields, count, false, error);
    if (status != TZ_OK)
        return status;
    for (size_t i = 0; status == TZ_OK && i < count; i++)
        status = write_pieces(source, indices[i], vti_piece, writer, i, error);
    if (status == TZ_OK)
        return tz_vti_write_commit(writer, error);
    tz_vti_write_abort(writer);
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

enum { CELL_SIZE = 64 };

static void format_number(char cell[CELL_SIZE], double value)
{
    char number[TZ_NUMBER_SIZE];
    if (isnan(value))
        snprintf(cell, CELL_SIZE, "nan");
    else
        snprintf(cell, CELL_SIZE, "%s", tz_number_format(number, value));
}

/* Call the function of column i; its result as a text. */
static void call_column(lua_State *L, tz_binding *binding, int handle_index, size_t i,
                        char cell[CELL_SIZE])
{
    lua_getiuservalue(L, handle_index, 1);
    lua_rawgeti(L, -1, binding->reference);
    lua_getiuservalue(L, -1, 1);
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    lua_pushvalue(L, handle_index);
    lua_call(L, 1, 1);
    if (lua_isinteger(L, -1))
        snprintf(cell, CELL_SIZE, "%lld", (long long)lua_tointeger(L, -1));
    else if (lua_type(L, -1) == LUA_TNUMBER)
        format_number(cell, lua_tonumber(L, -1));
    else
        snprintf(cell, CELL_SIZE, "%.60s", luaL_tolstring(L, -1, NULL));
}

/* The text of a column that no function gives. `facts` holds what is `known` of fields already. */
static tz_status fill_column(const tz_binding *binding, const tz_simulation *source,
                             const tz_column *column, tz_reduction *facts, bool *known,
                             char cell[CELL_SIZE], tz_error *error)
{
    if (column->kind == TZ_COLUMN_STEP) {
        snprintf(cell, CELL_SIZE, "%lld", (long long)tz_simulation_step(source));
        return TZ_OK;
    }
    if (column->kind == TZ_COLUMN_RESIDUAL) {
        format_number(cell, tz_simulation_residual(source));
        return TZ_OK;
    }
    const int field = column->field[0] != '\0'
                          ? tz_stencil_field_index(tz_simulation_stencil(source), column->field)
                          : binding->field;
    if (!known[field]) {
        const tz_status status = tz_simulation_reduce(source, field, &facts[field], error);
        if (status != TZ_OK)
            return status;
    }
    known[field] = true;
    const tz_reduction *f = &facts[field];
    switch (column->kind) {
    case TZ_COLUMN_MIN:
        format_number(cell, f->min);
        break;
    case TZ_COLUMN_MAX:
        format_number(cell, f->max);
        break;
    case TZ_COLUMN_SUM:
        format_number(cell, f->sum);
        break;
    case TZ_COLUMN_MEAN:
        format_number(cell, f->sum / (double)tz_simulation_cells(source));
        break;
    case TZ_COLUMN_POPULATION:
        snprintf(cell, CELL_SIZE, "%lld", (long long)f->population);
        break;
    default:
        snprintf(cell, CELL_SIZE, "%016llx", (unsigned long long)f->hash);
    }
    return TZ_OK;
}

static tz_status add_row(tz_binding *binding, char texts[][CELL_SIZE], tz_error *error)
{
    const tz_output *output = binding->output;
    const char *cells[TZ_COLUMNS_MAX], *titles[TZ_COLUMNS_MAX];
    for (size_t i = 0; i < output->columns_count; i++) {
        cells[i] = texts[i];
        titles[i] = output->columns[i].title;
    }
    tz_status status = TZ_OK;
    if (binding->table == NULL) {
        char path[PATH_MAX], name[200];
        tz_binding_pattern(binding, name, sizeof name);
        status = tz_folder_join(binding->handle->context->folder, name, path, sizeof path, error);
        if (status == TZ_OK)
            status = tz_table_create(&binding->table, path, output->columns_count, titles, error);
    }
    return status == TZ_OK ? tz_table_add(binding->table, cells, error) : status;
}

/* L NULL: there are no functions. */
static tz_status write_row(lua_State *L, tz_binding *binding, const tz_simulation *source,
                           int handle_index, tz_error *error)
{
    char texts[TZ_COLUMNS_MAX][CELL_SIZE];
    tz_reduction facts[TZ_FIELDS_MAX];
    bool known[TZ_FIELDS_MAX] = {false};
    tz_status status = TZ_OK;
    for (size_t i = 0; status == TZ_OK && i < binding->output->columns_count; i++) {
        const tz_column *column = &binding->output->columns[i];
        if (column->kind == TZ_COLUMN_FUNCTION) {
            const int top = lua_gettop(L);
            call_column(L, binding, handle_index, i, texts[i]);
            lua_settop(L, top);
        } else {
            status = fill_column(binding, source, column, facts, known, texts[i], error);
        }
    }
    return status == TZ_OK ? add_row(binding, texts, error) : status;
}

/* ---- All of them ----------------------------------------------------------------------------- */

bool tz_binding_is_plain(const tz_binding *binding)
{
    if (binding->output == NULL)
        return false;
    for (size_t i = 0; i < binding->output->columns_count; i++)
        if (binding->output->columns[i].kind == TZ_COLUMN_FUNCTION)
            return false;
    return true;
}

tz_status tz_binding_write_from(tz_binding *binding, const tz_simulation *source, tz_error *error)
{
    char path[PATH_MAX];
    if (binding->output->kind == TZ_OUTPUT_TABLE)
        return write_row(NULL, binding, source, 0, error);
    const tz_status status =
        make_path(binding, tz_simulation_step(source), path, sizeof path, error);
    if (status != TZ_OK)
        return status;
    switch (binding->output->kind) {
    case TZ_OUTPUT_PNG:
        return write_picture(binding, source, error);
    case TZ_OUTPUT_NPY:
        return write_npy(binding, source, path, error);
    case TZ_OUTPUT_RLE:
        return write_rle(binding, source, path, error);
    default:
        return write_vti(binding, source, path, error);
    }
}

void tz_binding_write(lua_State *L, tz_binding *binding, int handle_index)
{
    const tz_simulation *simulation = binding->handle->simulation;
    tz_error error;
    tz_status status = TZ_OK;
    if (binding->output == NULL) {
        lua_getiuservalue(L, handle_index, 1);
        lua_rawgeti(L, -1, binding->reference);
        lua_pushvalue(L, handle_index);
        lua_call(L, 1, 0);
        lua_pop(L, 1);
    } else if (binding->output->kind == TZ_OUTPUT_TABLE) {
        status = write_row(L, binding, simulation, handle_index, &error);
    } else {
        status = tz_binding_write_from(binding, simulation, &error);
    }
    if (status != TZ_OK)
        tz_raise_error(L, NULL, &error);
    binding->last_step = tz_simulation_step(simulation);
    binding->count++;
}
