/* Files of fields, and lists of files: what the formats of arrays have in common. */
#include "output/format/grid_file.h"

#include "base/atomic.h"
#include "base/file.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tz_grid tz_grid_of(int dims, const int64_t *shape)
{
    tz_grid grid = {.dims = dims, .spacing = {1, 1, 1}, .time = NAN, .time_unit = ""};
    for (int d = 0; d < TZ_DIMS_MAX; d++)
        grid.shape[d] = d < dims ? shape[d] : 1;
    return grid;
}

double tz_grid_when(const tz_grid *grid)
{
    return isnan(grid->time) ? (double)grid->step : grid->time;
}

const char *tz_vtk_type(tz_dtype dtype)
{
    static const char *const names[] = {"UInt8",  "Int8",  "UInt8",  "Int16",   "UInt16", "Int32",
                                        "UInt32", "Int64", "UInt64", "Float32", "Float64"};
    return names[dtype];
}

static tz_status check(const char *path, const tz_grid *grid, tz_error *error)
{
    const tz_grid_field *fields = grid->fields;
    if (grid->dims < 1 || grid->dims > TZ_DIMS_MAX || tz_shape_count(grid->dims, grid->shape) < 0)
        return tz_error_set(error, TZ_RANGE, path, "cannot write a grid of this shape");
    if (grid->fields_count == 0)
        return tz_error_set(error, TZ_USAGE, path, "the file needs at least one field");
    for (size_t k = 0; k < grid->fields_count; k++) {
        if (!fields[k].name || !fields[k].name[0])
            return tz_error_set(error, TZ_USAGE, path, "field %zu has no name", k);
        for (size_t j = 0; j < k; j++)
            if (strcmp(fields[j].name, fields[k].name) == 0)
                return tz_error_set(error, TZ_USAGE, path, "two fields are named '%s'",
                                    fields[k].name);
    }
    return TZ_OK;
}

tz_status tz__grid_file_open(tz_grid_file **out, const char *path, const tz_grid *grid,
                             tz_error *error)
{
    *out = NULL;
    tz_status status = check(path, grid, error);
    if (status != TZ_OK)
        return status;
    tz_grid_file *file = calloc(1, sizeof *file + grid->fields_count * sizeof *file->columns);
    if (!file)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to write the fields");
    status = tz_atomic_open(&file->file, path, false, error);
    if (status != TZ_OK) {
        free(file);
        return status;
    }
    file->count = tz_shape_count(grid->dims, grid->shape);
    file->nx = grid->shape[0];
    file->ny = grid->y_up && grid->dims > 1 ? grid->shape[1] : 1;
    file->at = -1;
    file->dtype = grid->fields[0].dtype;
    file->columns_count = grid->fields_count;
    int64_t offset = 0;
    for (size_t k = 0; k < grid->fields_count; k++) {
        file->columns[k].item_bytes = tz_dtype_size(grid->fields[k].dtype);
        file->columns[k].offset = offset;
        offset += tz__grid_file_bytes(file, k);
    }
    *out = file;
    return TZ_OK;
}

FILE *tz__grid_file_stream(tz_grid_file *file)
{
    file->at = -1;
    return tz_atomic_stream(file->file);
}

int64_t tz__grid_file_bytes(const tz_grid_file *file, size_t k)
{
    return file->count * (int64_t)file->columns[k].item_bytes;
}

tz_atomic_file *tz_grid_file_share(tz_grid_file *file, size_t k, int64_t *offset)
{
    *offset = file->columns[k].offset;
    if (file->encoder || file->ny > 1)
        return NULL;
    return file->file;
}

void tz_grid_file_shared(tz_grid_file *file, size_t k)
{
    file->columns[k].written = file->count;
}

tz_status tz__grid_file_put(tz_grid_file *file, int64_t offset, const void *data, size_t bytes,
                            tz_error *error)
{
    if (file->at != offset && fseeko(tz_atomic_stream(file->file), (off_t)offset, SEEK_SET) != 0)
        return tz_error_set_errno(error, errno, tz_atomic_path(file->file), "cannot write");
    file->at = offset + (int64_t)bytes;
    return tz_atomic_write(file->file, data, bytes, error);
}

tz_status tz_grid_file_write(tz_grid_file *file, size_t k, const void *data, int64_t count,
                             tz_error *error)
{
    tz_grid_column *c = &file->columns[k];
    if (k >= file->columns_count || count < 0 || count > file->count - c->written)
        return tz_error_set(error, TZ_SHAPE, tz_atomic_path(file->file),
                            "more elements than field %zu holds (%" PRId64 ")", k, file->count);
    tz_status status = TZ_OK;
    const char *next = data;
    if (file->encoder) {
        const tz_array cells = {
            .dtype = file->dtype, .dims = 1, .shape = {count, 1, 1}, .data = (void *)data};
        c->written += count;
        return file->encoder->encode(file->state, tz_atomic_stream(file->file),
                                     tz_atomic_path(file->file), &cells, error);
    }
    while (!status && count > 0) { /* a row, if rows are turned, else all */
        const int64_t y = c->written / file->nx % file->ny, from = c->written % file->nx;
        const int64_t left = file->ny > 1 ? file->nx - from : count;
        const int64_t n = left < count ? left : count;
        const int64_t place = c->written + (file->ny - 1 - 2 * y) * (file->ny > 1 ? file->nx : 0);
        const size_t bytes = (size_t)n * c->item_bytes;
        status =
            tz__grid_file_put(file, c->offset + place * (int64_t)c->item_bytes, next, bytes, error);
        c->written += n;
        count -= n;
        next += bytes;
    }
    return status;
}

tz_status tz_grid_file_commit(tz_grid_file *file, tz_error *error)
{
    tz_status status = TZ_OK;
    int64_t end = 0;
    for (size_t k = 0; k < file->columns_count && status == TZ_OK; k++) {
        const tz_grid_column *c = &file->columns[k];
        if (c->written != file->count)
            status = tz_error_set(error, TZ_SHAPE, tz_atomic_path(file->file),
                                  "field %zu has %" PRId64 " elements, the grid needs %" PRId64, k,
                                  c->written, file->count);
        if (c->offset + tz__grid_file_bytes(file, k) > end)
            end = c->offset + tz__grid_file_bytes(file, k);
    }
    if (status == TZ_OK && file->encoder)
        file->encoder->finish(file->state, tz_atomic_stream(file->file));
    else if (status == TZ_OK && file->end)
        status = tz__grid_file_put(file, end, file->end, strlen(file->end), error);
    status = tz_atomic_end(file->file, status, error);
    free(file->state);
    free(file);
    return status;
}

void tz_grid_file_abort(tz_grid_file *file)
{
    if (!file)
        return;
    tz_atomic_abort(file->file);
    free(file->state);
    free(file);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

enum { LONGEST = 1 << 30 };

tz_status tz_series_begin(tz_series_entry *entry, tz_error *error)
{
    *entry = (tz_series_entry){.mark = 0};
    entry->stream = open_memstream(&entry->text, &entry->bytes);
    return entry->stream
               ? TZ_OK
               : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to list a frame");
}

void tz_series_mark(tz_series_entry *entry)
{
    fflush(entry->stream);
    entry->mark = entry->bytes;
}

/* The bytes of a list to keep: up to the entry with the mark, or to the tail. -1: it is no such
 * list. */
static int64_t find_end(const char *text, size_t bytes, const tz_series_frame *frame,
                        const tz_series_entry *entry)
{
    const size_t head = strlen(frame->head), tail = strlen(frame->tail);
    if (bytes < head + tail || memcmp(text, frame->head, head) != 0 ||
        memcmp(text + bytes - tail, frame->tail, tail) != 0)
        return -1;
    const char *found = memmem(text + head, bytes - tail - head, entry->text, entry->mark);
    return found ? found - text : (int64_t)(bytes - tail);
}

static tz_status write_list(const char *path, const char *kept, size_t bytes,
                            const tz_series_entry *entry, const char *tail, tz_error *error)
{
    tz_atomic_file *file;
    tz_status status = tz_atomic_open(&file, path, true, error);
    if (status != TZ_OK)
        return status;
    status = tz_atomic_write(file, kept, bytes, error);
    if (status == TZ_OK)
        status = tz_atomic_write(file, entry->text, entry->bytes, error);
    if (status == TZ_OK)
        status = tz_atomic_write(file, tail, strlen(tail), error);
    return tz_atomic_end(file, status, error);
}

tz_status tz_series_add(const char *path, const tz_series_frame *frame, tz_series_entry *entry,
                        tz_error *error)
{
    char *text = NULL;
    const char *kept = frame->head;
    size_t bytes = 0;
    int64_t end = (int64_t)strlen(frame->head);
    tz_status status = TZ_OK;
    if (fclose(entry->stream) != 0)
        status = tz_error_set(error, TZ_MEMORY, path, "not enough memory to list a frame");
    if (status == TZ_OK && access(path, F_OK) == 0) {
        status = tz_file_read(path, LONGEST, &text, &bytes, error);
        kept = text;
        end = status == TZ_OK ? find_end(text, bytes, frame, entry) : 0;
        if (end < 0)
            status = tz_error_set(error, TZ_FORMAT, path,
                                  "is not the list of frames that this run writes: another program "
                                  "has changed it");
    }
    if (status == TZ_OK)
        status = write_list(path, kept, (size_t)end, entry, frame->tail, error);
    free(text);
    free(entry->text);
    return status;
}
