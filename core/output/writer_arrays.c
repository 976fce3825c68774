/* The files of outputs that hold numbers: writer.c writes them here. */
#include "output/writer_arrays.h"

#include "base/shared_file.h"
#include "sim/fields.h"
#include "sim/own.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Write a field in pieces of a MiB or two: memory may not hold a copy of a large one. A piece is a
 * part of a row, or rows, or planes. All ranks read all pieces; one that does not write has `file`
 * NULL. */
static tz_status write_pieces(const tz_ranks *ranks, const tz_simulation *simulation, int field,
                              tz_grid_file *file, size_t which, tz_error *error)
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
    status = tz_ranks_agree_status(ranks, status, error);
    tz_status written = TZ_OK;
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
                if (status == TZ_OK && written == TZ_OK && file)
                    written = tz_grid_file_write(file, which, cells, count, error);
                if (!ranks) /* others still wait for the next piece */
                    status = status == TZ_OK ? written : status;
            }
    free(cells);
    return tz_ranks_agree_status(ranks, status == TZ_OK ? written : status, error);
}

/* Each rank writes its own cells of a file that rank 0 has begun. */
static tz_status write_own(const tz_simulation *simulation, int field, const tz_box *own,
                           int64_t offset, tz_shared_file *shared, tz_error *error)
{
    enum { PIECE_CELLS = 1 << 18 };
    const int64_t *n = tz_simulation_extent(simulation);
    const size_t size = tz_dtype_size(tz_simulation_dtype(simulation, field));
    int64_t length[TZ_AXES], room = PIECE_CELLS;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        length[axis] = n[axis] < room ? n[axis] : room;
        room = n[axis] <= room ? room / n[axis] : 1;
    }
    void *cells = malloc((size_t)(length[0] * length[1] * length[2]) * size);
    tz_status status =
        cells ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to write a field");
    for (int64_t z = own->low[2]; z < own->high[2]; z += length[2])
        for (int64_t y = own->low[1]; y < own->high[1]; y += length[1])
            for (int64_t x = own->low[0]; !status && x < own->high[0]; x += length[0]) {
                tz_box box = {{x, y, z}, {x + length[0], y + length[1], z + length[2]}};
                size_t bytes = size;
                for (int axis = 0; axis < TZ_AXES; axis++) {
                    if (box.high[axis] > own->high[axis])
                        box.high[axis] = own->high[axis];
                    bytes *= (size_t)(box.high[axis] - box.low[axis]);
                }
                status = tz_simulation_read_own(simulation, field, &box, cells, error);
                if (!status)
                    status = tz_shared_file_write(
                        shared, offset + ((z * n[1] + y) * n[0] + x) * (int64_t)size, cells, bytes,
                        error);
            }
    free(cells);
    return status;
}

/* Each rank writes its cells of a field. False: the ranks do not see the folder, or cannot read
 * their cells of this field alone, or the format does not keep them as they are. */
static bool find_own(const tz_run_files *files, const tz_simulation *source, int field,
                     tz_grid_file *file, size_t which, tz_box *own, tz_atomic_file **whole,
                     int64_t *offset)
{
    const int64_t *n = tz_simulation_extent(source);
    const int axis = tz_simulation_stencil(source)->dims - 1;
    int64_t plain = 1;
    *own = (tz_box){{0, 0, 0}, {n[0], n[1], n[2]}};
    *whole = NULL;
    if (!files->shared || !tz_simulation_own(source, field, &own->low[axis], &own->high[axis]))
        return false;
    if (file) {
        *whole = tz_grid_file_share(file, which, offset);
        plain = *whole != NULL;
    }
    tz_ranks_agree(files->ranks, &plain, sizeof plain);
    tz_ranks_agree(files->ranks, offset, sizeof *offset);
    return plain;
}

static tz_status write_field(const tz_run_files *files, const tz_simulation *source, int field,
                             tz_grid_file *file, size_t which, tz_error *error)
{
    tz_box own;
    tz_atomic_file *whole;
    tz_shared_file *shared = NULL;
    int64_t offset = 0;
    if (!find_own(files, source, field, file, which, &own, &whole, &offset))
        return write_pieces(files->ranks, source, field, file, which, error);
    tz_status status = tz_shared_file_open(&shared, whole, files->ranks, error);
    if (status)
        return status;
    status = write_own(source, field, &own, offset, shared, error);
    return tz_shared_file_close(shared, files->ranks, status, error);
}

tz_status tz__write_array(const tz_output *output, const tz_run_files *files, int field,
                          const tz_simulation *source, const char *path, const char *list,
                          tz_error *error)
{
    const tz_format *format = output->format;
    char comment[160], rule[TZ_RLE_RULE_SIZE];
    tz_grid_field described[TZ_OUTPUT_FIELDS_MAX];
    tz_grid grid;
    tz_grid_file *file = NULL;
    tz_status status = TZ_OK;
    tz_output_describe(output, source, field, &grid, described, rule);
    snprintf(comment, sizeof comment, "%s, step %lld, by Trapeze %s", files->scenario,
             (long long)tz_simulation_step(source), TZ_VERSION);
    grid.comment = comment;
    if (tz_ranks_leads(files->ranks))
        status = format->begin(&file, path, &grid, error);
    status = tz_ranks_agree_status(files->ranks, status, error);
    for (size_t i = 0; status == TZ_OK && i < grid.fields_count; i++)
        status =
            write_field(files, source,
                        tz_stencil_field_index(tz_simulation_stencil(source), grid.fields[i].name),
                        file, i, error);
    if (status == TZ_OK && file) {
        status = tz_grid_file_commit(file, error);
        file = NULL;
        if (status == TZ_OK && list[0])
            status = format->list(list, strrchr(path, '/') + 1, &grid, error);
    }
    tz_grid_file_abort(file);
    return status;
}
