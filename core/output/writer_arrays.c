#include "output/writer_arrays.h"

#include "output/format/duration.h"
#include "output/format/hdf5.h"
#include "output/format/npy.h"
#include "output/format/vti.h"
#include "output/format/xdmf.h"
#include "sim/fields.h"
#include "sim/geometry.h"
#include "sim/simulated_time.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the next `count` cells of field number `which` of a file, in grid order. */
typedef tz_status tz_piece_fn(void *writer, size_t which, const void *cells, int64_t count,
                              tz_error *error);

/* Write a field in pieces of a MiB or two: memory may not hold a copy of a large one. A piece is a
 * part of a row, or rows, or planes. */
static tz_status write_pieces(const tz_simulation *simulation, int field, tz_piece_fn *piece,
                              void *file, size_t which, tz_error *error)
{
    enum { PIECE_CELLS = 1 << 18 };
    const int64_t *n = tz_simulation_extent(simulation);
    int64_t length[TZ_AXES], room = PIECE_CELLS;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        length[axis] = n[axis] < room ? n[axis] : room;
        room = n[axis] <= room ? room / n[axis] : 1;
    }
    char *cells = malloc((size_t)(length[0] * length[1] * length[2]) *
                         tz_dtype_size(tz_simulation_dtype(simulation, field)));
    tz_status status =
        cells ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to write a field");
    for (int64_t z = 0; z < n[2]; z += length[2])
        for (int64_t y = 0; y < n[1]; y += length[1])
            for (int64_t x = 0; status == TZ_OK && x < n[0]; x += length[0]) {
                const int64_t at[] = {x, y, z};
                tz_box box;
                int64_t count = 1;
                for (int axis = 0; axis < TZ_AXES; axis++) {
                    box.low[axis] = at[axis];
                    box.high[axis] =
                        n[axis] - at[axis] < length[axis] ? n[axis] : at[axis] + length[axis];
                    count *= box.high[axis] - box.low[axis];
                }
                status = tz_simulation_read_cells(simulation, field, &box, cells, error);
                if (status == TZ_OK)
                    status = piece(file, which, cells, count, error);
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

/* Processes that hold parts of the grid write them. TZ_UNSUPPORTED: they cannot. */
static tz_status write_parts(const tz_writer *writer, const tz_simulation *source,
                             tz_npy_writer *file, tz_error *error)
{
    int64_t offset = 0;
    tz_atomic_file *whole = tz_npy_write_file(file, &offset);
    if (!tz_simulation_is_parted(source, writer->field))
        return TZ_UNSUPPORTED;
    const char *name = tz_atomic_name(whole, error);
    if (!name)
        return TZ_IO;
    if (fflush(tz_atomic_stream(whole)) != 0)
        return tz_error_set_errno(error, errno, tz_atomic_path(whole), "cannot write");
    const tz_status status =
        tz_simulation_write_file(source, writer->field, name, offset, error);
    if (status == TZ_OK)
        tz_npy_write_skip(file);
    return status;
}

static tz_status write_npy(const tz_writer *writer, const tz_simulation *source, const char *path,
                           tz_error *error)
{
    tz_npy_writer *file = NULL;
    tz_status status = tz_npy_write_begin(
        &file, path, tz_simulation_dtype(source, writer->field),
        tz_simulation_stencil(source)->dims, tz_simulation_extent(source), error);
    if (status == TZ_OK)
        status = write_parts(writer, source, file, error);
    if (status == TZ_UNSUPPORTED)
        status = write_pieces(source, writer->field, npy_piece, file, 0, error);
    if (status == TZ_OK) {
        status = tz_npy_write_commit(file, error);
        file = NULL;
    }
    tz_npy_write_abort(file);
    return status;
}

typedef struct rle_pieces {
    tz_rle_writer *file;
    tz_dtype dtype;
} rle_pieces;

static tz_status rle_piece(void *writer, size_t which, const void *cells, int64_t count,
                           tz_error *error)
{
    (void)which;
    const rle_pieces *to = writer;
    const tz_array piece = {
        .dtype = to->dtype, .dims = 1, .shape = {count, 1, 1}, .data = (void *)cells};
    return tz_rle_write_cells(to->file, &piece, error);
}

static tz_status write_rle(const tz_writer *writer, const tz_simulation *source, const char *path,
                           tz_error *error)
{
    char comment[160], rule[TZ_RLE_RULE_SIZE];
    const int64_t *extent = tz_simulation_extent(source);
    rle_pieces to = {.dtype = tz_simulation_dtype(source, writer->field)};
    snprintf(comment, sizeof comment, "%s, step %lld, by Trapeze %s", writer->files->scenario,
             (long long)tz_simulation_step(source), TZ_VERSION);
    tz_output_rule(source, writer->field, rule);
    tz_status status = tz_rle_write_begin(&to.file, path, extent[0], extent[1],
                                          rule[0] ? rule : NULL, comment, error);
    if (status == TZ_OK)
        status = write_pieces(source, writer->field, rle_piece, &to, 0, error);
    if (status == TZ_OK) {
        status = tz_rle_write_commit(to.file, error);
        to.file = NULL;
    }
    tz_rle_write_abort(to.file);
    return status;
}

/* ---- Files with a geometry ------------------------------------------------------------------- */

/* The simulation's grid as the output shows it, without fields. A time in seconds, if its unit is
 * one of time. */
static tz_grid describe_grid(const tz_output *output, const tz_simulation *source)
{
    const tz_stencil *stencil = tz_simulation_stencil(source);
    tz_grid grid = tz_grid_of(stencil->dims, tz_simulation_extent(source));
    const tz_param *step = tz_simulation_time_step(source);
    tz_simulation_spacing(source, grid.spacing);
    for (int axis = 0; axis < stencil->dims; axis++) {
        if (output->spacing_count > 0)
            grid.spacing[axis] = output->spacing[output->spacing_count > 1 ? axis : 0];
        if (output->origin_count > 0)
            grid.origin[axis] = output->origin[axis];
    }
    grid.y_up = tz_look_y_up(&output->look, tz_simulation_y_up(source));
    grid.has_step = true;
    grid.step = tz_simulation_step(source);
    if (step)
        grid.time = tz_duration_seconds(tz_simulation_time(source), step->unit, &grid.time_unit);
    return grid;
}

static tz_status grid_piece(void *writer, size_t which, const void *cells, int64_t count,
                            tz_error *error)
{
    return tz_grid_file_write(writer, which, cells, count, error);
}

static tz_status begin_grid(tz_grid_file **out, tz_output_kind kind, const char *path,
                            const tz_grid *grid, tz_error *error)
{
    switch (kind) {
    case TZ_OUTPUT_XDMF:
        return tz_raw_begin(out, path, grid, error);
    case TZ_OUTPUT_HDF5:
        return tz_hdf5_begin(out, path, grid, error);
    default:
        return tz_vti_begin(out, path, grid, error);
    }
}

static tz_status add_to_series(const tz_writer *writer, const char *path, const tz_grid *grid,
                               tz_error *error)
{
    char list[TZ_WRITER_STEM_SIZE + 40], list_path[PATH_MAX];
    const char *name = strrchr(path, '/') + 1;
    tz_writer_series(writer, list, sizeof list);
    const tz_status status =
        tz_folder_join(writer->files->folder, list, list_path, sizeof list_path, error);
    if (status != TZ_OK)
        return status;
    return writer->output->kind == TZ_OUTPUT_VTI ? tz_pvd_add(list_path, name, grid, error)
                                                 : tz_xdmf_add(list_path, name, grid, error);
}

static tz_status write_grid(const tz_writer *writer, const tz_simulation *source, const char *path,
                            tz_error *error)
{
    const tz_output *output = writer->output;
    const tz_stencil *stencil = tz_simulation_stencil(source);
    int fields[TZ_OUTPUT_FIELDS_MAX] = {writer->field};
    tz_grid_field described[TZ_OUTPUT_FIELDS_MAX];
    tz_grid grid = describe_grid(output, source);
    grid.fields = described;
    grid.fields_count = output->fields_count > 0 ? output->fields_count : 1;
    for (size_t i = 0; i < output->fields_count; i++)
        fields[i] = tz_stencil_field_index(stencil, output->fields[i]);
    for (size_t i = 0; i < grid.fields_count; i++)
        described[i] = (tz_grid_field){.name = stencil->fields[fields[i]].name,
                                       .unit = stencil->fields[fields[i]].unit,
                                       .dtype = tz_simulation_dtype(source, fields[i])};
    tz_grid_file *file = NULL;
    tz_status status = begin_grid(&file, output->kind, path, &grid, error);
    for (size_t i = 0; status == TZ_OK && i < grid.fields_count; i++)
        status = write_pieces(source, fields[i], grid_piece, file, i, error);
    if (status == TZ_OK) {
        status = tz_grid_file_commit(file, error);
        file = NULL;
        if (status == TZ_OK)
            status = add_to_series(writer, path, &grid, error);
    }
    tz_grid_file_abort(file);
    return status;
}

tz_status tz__writer_write_array(const tz_writer *writer, const tz_simulation *source,
                                 const char *path, tz_error *error)
{
    switch (writer->output->kind) {
    case TZ_OUTPUT_NPY:
        return write_npy(writer, source, path, error);
    case TZ_OUTPUT_RLE:
        return write_rle(writer, source, path, error);
    default:
        return write_grid(writer, source, path, error);
    }
}
