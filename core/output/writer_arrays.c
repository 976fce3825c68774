/* The files of outputs that hold numbers: writer.c writes them here. */
#include "output/writer_arrays.h"

#include "sim/fields.h"
#include "stencil/stencil.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Write a field in pieces of a MiB or two: memory may not hold a copy of a large one. A piece is a
 * part of a row, or rows, or planes. */
static tz_status write_pieces(const tz_simulation *simulation, int field, tz_grid_file *file,
                              size_t which, tz_error *error)
{
    enum { PIECE_CELLS = 1 << 18 };
    const int64_t *n = tz_simulation_extent(simulation);
    tz_box_parts p = {.whole = {{0}, {n[0], n[1], n[2]}}, .most = PIECE_CELLS};
    char *cells = malloc(PIECE_CELLS * tz_dtype_size(tz_simulation_dtype(simulation, field)));
    tz_status status =
        cells ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to write a field");
    while (status == TZ_OK && tz_box_next(&p)) {
        status = tz_simulation_read_cells(simulation, field, &p.part, cells, error);
        if (status == TZ_OK)
            status = tz_grid_file_write(file, which, cells, p.count, error);
    }
    free(cells);
    return status;
}

/* Processes that hold parts of the grid write them. TZ_UNSUPPORTED: they cannot, or the format does
 * not keep cells as they are. */
static tz_status write_parts(const tz_simulation *source, int field, tz_grid_file *file,
                             size_t which, tz_error *error)
{
    int64_t offset = 0;
    tz_atomic_file *whole =
        tz_simulation_is_parted(source, field) ? tz_grid_file_share(file, which, &offset) : NULL;
    const char *name = whole ? tz_atomic_name(whole, error) : NULL;
    if (!name)
        return whole ? TZ_IO : TZ_UNSUPPORTED;
    if (fflush(tz_atomic_stream(whole)) != 0)
        return tz_error_set_errno(error, errno, tz_atomic_path(whole), "cannot write");
    const tz_status status = tz_simulation_write_file(source, field, name, offset, error);
    if (status == TZ_OK)
        tz_grid_file_shared(file, which);
    return status;
}

static tz_status write_field(const tz_simulation *source, int field, tz_grid_file *file,
                             size_t which, tz_error *error)
{
    const tz_status status = write_parts(source, field, file, which, error);
    return status == TZ_UNSUPPORTED ? write_pieces(source, field, file, which, error) : status;
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
    tz_output_describe(output, source, field, &grid, described, rule);
    snprintf(comment, sizeof comment, "%s, step %lld, by Trapeze %s", files->scenario,
             (long long)tz_simulation_step(source), TZ_VERSION);
    grid.comment = comment;
    tz_status status = format->begin(&file, path, &grid, error);
    for (size_t i = 0; status == TZ_OK && i < grid.fields_count; i++)
        status = write_field(
            source, tz_stencil_field_index(tz_simulation_stencil(source), grid.fields[i].name),
            file, i, error);
    if (status == TZ_OK) {
        status = tz_grid_file_commit(file, error);
        file = NULL;
        if (status == TZ_OK && list[0])
            status = format->list(list, strrchr(path, '/') + 1, &grid, error);
    }
    tz_grid_file_abort(file);
    return status;
}
