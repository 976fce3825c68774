#include "output/field_files.h"

#include "output/format/npy.h"
#include "output/format/rle.h"
#include "output/format/vti.h"
#include "sim/fields.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the next `count` cells of field number `which` of a file, in grid order. */
typedef tz_status tz_piece_fn(void *writer, size_t which, const void *cells, int64_t count,
                              tz_error *error);

/* Hand a field over in pieces of a few MiB: memory may not hold a copy of a large one. */
static tz_status write_pieces(const tz_simulation *simulation, int field, tz_piece_fn *piece,
                              void *writer, size_t which, tz_error *error)
{
    enum { PIECE_CELLS = 1 << 20 };
    const int64_t *extent = tz_simulation_extent(simulation);
    const int64_t width = extent[0] < PIECE_CELLS ? extent[0] : PIECE_CELLS;
    const int64_t rows = width < extent[0] || PIECE_CELLS / width < 1 ? 1 : PIECE_CELLS / width;
    char *cells = malloc((size_t)(width * rows) * sizeof(double));
    if (!cells)
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

tz_status tz_field_write_npy(const tz_simulation *source, int field, const char *path,
                             tz_error *error)
{
    tz_npy_writer *writer = NULL;
    tz_status status = tz_npy_write_begin(&writer, path, tz_simulation_dtype(source, field),
                                          tz_simulation_stencil(source)->dims,
                                          tz_simulation_extent(source), false, error);
    if (status != TZ_OK)
        return status;
    status = write_pieces(source, field, npy_piece, writer, 0, error);
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

tz_status tz_field_write_rle(const tz_simulation *source, int field, const char *comment,
                             const char *path, tz_error *error)
{
    tz_array *array = NULL;
    tz_status status = tz_simulation_read_array(source, field, &array, error);
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

tz_status tz_field_write_vti(const tz_simulation *source, const int *fields, size_t count,
                             const char *path, tz_error *error)
{
    const tz_stencil *stencil = tz_simulation_stencil(source);
    tz_vti_grid grid = {.dims = stencil->dims};
    tz_vti_field described[TZ_FIELDS_MAX];
    memcpy(grid.shape, tz_simulation_extent(source), sizeof grid.shape);
    for (size_t i = 0; i < count; i++)
        described[i] = (tz_vti_field){.name = stencil->fields[fields[i]].name,
                                      .dtype = tz_simulation_dtype(source, fields[i])};
    tz_vti_writer *writer = NULL;
    tz_status status = tz_vti_write_begin(&writer, path, &grid, described, count, false, error);
    if (status != TZ_OK)
        return status;
    for (size_t i = 0; status == TZ_OK && i < count; i++)
        status = write_pieces(source, fields[i], vti_piece, writer, i, error);
    if (status == TZ_OK)
        return tz_vti_write_commit(writer, error);
    tz_vti_write_abort(writer);
    return status;
}
