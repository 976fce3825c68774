/* Files of receivers, and the hidden file of their rows. Called by lua/points.c and
 * lua/checkpoint.c. */
#include "output/recording.h"

#include "base/minmax.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 4 << 20 };

tz_status tz_recording_format(const char *name, const tz_format **out, tz_error *error)
{
    const size_t length = strlen(name);
    char known[128] = "";
    for (int i = 0; tz_formats[i]; i++) {
        const tz_format *format = tz_formats[i];
        const size_t end = strlen(format->suffix);
        if (!format->begin || format->fits) /* formats of a kind of grid */
            continue;
        if (strlen(known) + end + 2 < sizeof known)
            strcat(strcat(known, known[0] ? ", " : ""), format->suffix);
        if (length > end && strcmp(name + length - end, format->suffix) == 0) {
            *out = format;
            return format->check ? format->check(format, error) : TZ_OK;
        }
    }
    return tz_error_set(error, TZ_UNKNOWN, "file", "'%.100s' must end in one of %s", name, known);
}

static tz_received in_memory(const tz_recording *r)
{
    return tz_receivers_get(r->receivers);
}

static size_t row_bytes(const tz_recording *r)
{
    return in_memory(r).count * sizeof(double);
}

static tz_status io_error(const tz_recording *r, tz_error *error)
{
    return tz_error_set(error, TZ_IO, r->part, "%s", strerror(errno ? errno : EIO));
}

static void part_path(const tz_recording *r, const tz_run_files *files, char path[PATH_MAX + 80])
{
    tz_checkpoints_path(tz_folder_path(files->folder), r->part, path, PATH_MAX + 80);
}

int64_t tz_recording_rows(const tz_recording *r)
{
    return r->kept + in_memory(r).rows;
}

tz_status tz_recording_read(tz_recording *r, int64_t first, int64_t rows, double *values,
                            tz_error *error)
{
    const tz_received memory = in_memory(r);
    const int64_t stored = first < r->kept ? tz_min(rows, r->kept - first) : 0;
    errno = 0;
    if (stored > 0 && (fseeko(r->stream, (off_t)((size_t)first * row_bytes(r)), SEEK_SET) != 0 ||
                       fread(values, row_bytes(r), (size_t)stored, r->stream) != (size_t)stored))
        return io_error(r, error);
    if (rows > stored)
        memcpy(values + stored * (int64_t)memory.count,
               memory.values + (first + stored - r->kept) * (int64_t)memory.count,
               (size_t)(rows - stored) * row_bytes(r));
    return TZ_OK;
}

tz_status tz_recording_keep(tz_recording *r, const tz_run_files *files, size_t most, bool sync,
                            tz_error *error)
{
    const tz_received memory = in_memory(r);
    const size_t rows = (size_t)memory.rows;
    if (rows * row_bytes(r) <= most && !(sync && r->stream))
        return TZ_OK;
    errno = 0;
    if (!r->stream) {
        char path[PATH_MAX + 80];
        const tz_status made = tz_checkpoints_make(tz_folder_path(files->folder), error);
        if (made)
            return made;
        part_path(r, files, path);
        r->stream = fopen(path, "w+b");
        if (!r->stream)
            return io_error(r, error);
    }
    if (fseeko(r->stream, (off_t)((size_t)r->kept * row_bytes(r)), SEEK_SET) != 0 ||
        (rows > 0 && fwrite(memory.values, row_bytes(r), rows, r->stream) != rows) ||
        fflush(r->stream) != 0 || (sync && fsync(fileno(r->stream)) != 0))
        return io_error(r, error);
    r->needed |= sync;
    r->kept += memory.rows;
    tz_receivers_drop(r->receivers, memory.rows);
    return TZ_OK;
}

tz_status tz_recording_go_on(tz_recording *r, const tz_run_files *files, int64_t rows,
                             tz_error *error)
{
    char path[PATH_MAX + 80];
    if (rows == 0)
        return TZ_OK;
    part_path(r, files, path);
    errno = 0;
    r->stream = fopen(path, "r+b");
    if (!r->stream || fseeko(r->stream, 0, SEEK_END) != 0)
        return io_error(r, error);
    if (ftello(r->stream) < (off_t)((size_t)rows * row_bytes(r)))
        return tz_error_set(error, TZ_FORMAT, r->part, "the receivers' values are cut off");
    r->kept = rows;
    r->needed = true;
    return TZ_OK;
}

static tz_status write_rows(tz_recording *r, tz_grid_file *file, double *room, int64_t at_once,
                            tz_error *error)
{
    const int64_t all = tz_recording_rows(r), count = (int64_t)in_memory(r).count;
    tz_status status = TZ_OK;
    for (int64_t k = 0; k < all && !status; k += at_once) {
        const int64_t rows = tz_min(at_once, all - k);
        status = tz_recording_read(r, k, rows, room, error);
        if (!status)
            status = tz_grid_file_write(file, 0, room, rows * count, error);
    }
    return status;
}

tz_status tz_recording_write(tz_recording *r, const char *path, tz_error *error)
{
    const int64_t shape[] = {(int64_t)in_memory(r).count, tz_recording_rows(r), 1};
    const tz_grid_field field = {.name = "data", .dtype = TZ_DTYPE_F64};
    const int64_t at_once = tz_max(1, PIECE_BYTES / (int64_t)row_bytes(r));
    const tz_format *format;
    tz_grid grid = tz_grid_of(2, shape);
    tz_grid_file *file = NULL;
    grid.fields = &field;
    grid.fields_count = 1;
    tz_status status = tz_recording_format(path, &format, error);
    if (status || shape[1] == 0)
        return status;
    double *room = malloc((size_t)at_once * row_bytes(r));
    if (!room)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a file");
    status = format->begin(&file, path, &grid, error);
    if (!status) {
        status = write_rows(r, file, room, at_once, error);
        if (!status)
            status = tz_grid_file_commit(file, error);
        else
            tz_grid_file_abort(file);
    }
    free(room);
    return status;
}

void tz_recording_close(tz_recording *r, const tz_run_files *files)
{
    char path[PATH_MAX + 80];
    if (r->stream)
        fclose(r->stream);
    if (r->stream && !r->needed) {
        part_path(r, files, path);
        unlink(path);
        rmdir(tz_checkpoints_path(tz_folder_path(files->folder), "", path, sizeof path));
    }
    free(r);
}
