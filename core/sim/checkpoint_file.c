/* Writer and reader of checkpoint files. Called by checkpoint.c for fields, by core/lua for whole
 * files, and by core/output and core/cli to look into one. */
#include "sim/checkpoint_file.h"

#include "base/atomic.h"
#include "base/file.h"
#include "base/json.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_BYTES = 64,            /* the first line */
    ALIGNMENT = 4096,           /* of arrays */
    HEADER_BYTES_MAX = 1 << 28, /* of the JSON */
    PIECE_BYTES = 1 << 20       /* read at once */
};

static const char title[] = TZ_CHECKPOINT_TITLE;

static int64_t align(int64_t offset)
{
    return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The offset of the checksums, after the arrays, which get their offsets. -1: too large. */
static int64_t lay_out(int64_t header_bytes, tz_checkpoint_array *arrays, size_t count)
{
    int64_t offset = LINE_BYTES + header_bytes;
    for (size_t i = 0; i < count; i++) {
        offset = align(offset);
        if (arrays[i].bytes < 0 || arrays[i].bytes > INT64_MAX / 4 - offset)
            return -1;
        arrays[i].offset = offset;
        offset += arrays[i].bytes;
    }
    return align(offset);
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct tz_checkpoint_writer {
    tz_atomic_file *file;
    size_t count;
    int64_t sums_offset;
    tz_checkpoint_array *arrays;
    uint64_t *sums;
};

static void free_writer(tz_checkpoint_writer *writer)
{
    if (!writer)
        return;
    free(writer->arrays);
    free(writer->sums);
    free(writer);
}

/* The JSON of a file, malloc'd; NULL: not enough memory. */
static char *header_text(const json_t *facts, const tz_checkpoint_array *arrays, size_t count)
{
    json_t *root = json_object(), *list = json_array();
    int failed = !root || !list;
    for (size_t i = 0; !failed && i < count; i++)
        failed |= json_array_append_new(list, json_pack("{s:s, s:I}", "name", arrays[i].name,
                                                        "bytes", (json_int_t)arrays[i].bytes));
    failed |= json_object_set(root, "facts", (json_t *)facts);
    failed |= json_object_set(root, "arrays", list);
    char *text = failed ? NULL : json_dumps(root, JSON_COMPACT);
    json_decref(list);
    json_decref(root);
    return text;
}

static tz_status write_header(tz_checkpoint_writer *writer, const char *text, tz_error *error)
{
    char line[LINE_BYTES + 1];
    const size_t bytes = strlen(text);
    snprintf(line, sizeof line, "%s %20zu %016" PRIx64 "     \n", title, bytes,
             tz_file_sum(0, text, bytes));
    const tz_status status = tz_atomic_write(writer->file, line, LINE_BYTES, error);
    return status ? status : tz_atomic_write(writer->file, text, bytes, error);
}

tz_status tz_checkpoint_begin(tz_checkpoint_writer **out, const char *path, const json_t *facts,
                              const tz_checkpoint_array *arrays, size_t count, tz_error *error)
{
    *out = NULL;
    tz_checkpoint_writer *writer = calloc(1, sizeof *writer);
    char *text = header_text(facts, arrays, count);
    tz_status status = TZ_OK;
    if (writer) {
        writer->count = count;
        writer->arrays = calloc(count + 1, sizeof *writer->arrays);
        writer->sums = calloc(count + 1, sizeof *writer->sums);
    }
    if (!writer || !text || !writer->arrays || !writer->sums)
        status = tz_error_set(error, TZ_MEMORY, path, "not enough memory for a checkpoint");
    if (!status) {
        if (count > 0)
            memcpy(writer->arrays, arrays, count * sizeof *arrays);
        writer->sums_offset = lay_out((int64_t)strlen(text), writer->arrays, count);
        status = writer->sums_offset < 0 || strlen(text) > HEADER_BYTES_MAX
                     ? tz_error_set(error, TZ_RANGE, path, "the checkpoint is too large")
                     : tz_atomic_open(&writer->file, path, true, error);
    }
    if (!status) {
        /* The sum that covers the whole file begins with that of the header. */
        writer->sums[count] = tz_file_sum(0, text, strlen(text));
        status = write_header(writer, text, error);
        if (status)
            tz_atomic_abort(writer->file);
    }
    free(text);
    if (status)
        free_writer(writer);
    else
        *out = writer;
    return status;
}

static tz_status write_at(tz_checkpoint_writer *writer, int64_t offset, const void *data,
                          size_t bytes, tz_error *error)
{
    if (fseeko(tz_atomic_stream(writer->file), (off_t)offset, SEEK_SET) != 0)
        return tz_error_set_errno(error, errno, tz_atomic_path(writer->file), "cannot write");
    return tz_atomic_write(writer->file, data, bytes, error);
}

tz_status tz_checkpoint_write(tz_checkpoint_writer *writer, size_t array, int64_t offset,
                              const void *data, size_t bytes, tz_error *error)
{
    writer->sums[array] += tz_file_sum(offset, data, bytes);
    return write_at(writer, writer->arrays[array].offset + offset, data, bytes, error);
}

tz_status tz_checkpoint_place(tz_checkpoint_writer *writer, size_t array, const char **path,
                              int64_t *offset, tz_error *error)
{
    *path = tz_atomic_name(writer->file, error);
    *offset = writer->arrays[array].offset;
    if (*path && fflush(tz_atomic_stream(writer->file)) != 0)
        return tz_error_set_errno(error, errno, tz_atomic_path(writer->file), "cannot write");
    return *path ? TZ_OK : TZ_IO;
}

void tz_checkpoint_add_sum(tz_checkpoint_writer *writer, size_t array, uint64_t sum)
{
    writer->sums[array] += sum;
}

tz_status tz_checkpoint_commit(tz_checkpoint_writer *writer, tz_error *error)
{
    const size_t bytes = writer->count * sizeof *writer->sums;
    writer->sums[writer->count] += tz_file_sum(8, writer->sums, bytes);
    tz_status status =
        write_at(writer, writer->sums_offset, writer->sums, bytes + sizeof *writer->sums, error);
    status = tz_atomic_end(writer->file, status, error);
    free_writer(writer);
    return status;
}

void tz_checkpoint_abort(tz_checkpoint_writer *writer)
{
    if (writer)
        tz_atomic_abort(writer->file);
    free_writer(writer);
}

/* ---- Reading --------------------------------------------------------------------------------- */

struct tz_checkpoint_reader {
    const char *path;
    int file;
    json_t *root;
    size_t count;
    tz_checkpoint_array *arrays;
    char name[];
};

static tz_status damaged(const tz_checkpoint_reader *reader, const char *what, tz_error *error)
{
    return tz_error_set(error, TZ_FORMAT, reader->path, "the checkpoint is damaged: %s", what);
}

static tz_status read_at(const tz_checkpoint_reader *reader, int64_t offset, void *data,
                         size_t bytes, tz_error *error)
{
    if (tz_file_get(reader->file, data, bytes, offset) == bytes)
        return TZ_OK;
    return errno ? tz_error_set_errno(error, errno, reader->path, "cannot read")
                 : damaged(reader, "it is cut short", error);
}

/* The length of the JSON and its checksum, from the first line. */
static tz_status read_line(const tz_checkpoint_reader *reader, int64_t file_bytes,
                           int64_t *header_bytes, uint64_t *sum, tz_error *error)
{
    char line[LINE_BYTES + 1], again[LINE_BYTES + 1];
    if (file_bytes < LINE_BYTES)
        return damaged(reader, "it is cut short", error);
    const tz_status status = read_at(reader, 0, line, LINE_BYTES, error);
    if (status)
        return status;
    line[LINE_BYTES] = '\0';
    const size_t length = strlen(title);
    if (strncmp(line, "trapeze checkpoint ", 19) == 0 && strncmp(line, title, length) != 0)
        return tz_error_set(error, TZ_FORMAT, reader->path,
                            "the checkpoint has a format that this version does not know");
    *header_bytes = strtoll(line + length, NULL, 10);
    *sum = strtoull(line + length + 22, NULL, 16);
    snprintf(again, sizeof again, "%s %20lld %016" PRIx64 "     \n", title,
             (long long)*header_bytes, *sum);
    if (strcmp(line, again) != 0 || *header_bytes < 2 || *header_bytes > HEADER_BYTES_MAX ||
        *header_bytes > file_bytes - LINE_BYTES)
        return damaged(reader, "its first line", error);
    return TZ_OK;
}

static tz_status read_arrays(tz_checkpoint_reader *reader, tz_error *error)
{
    const json_t *list = json_object_get(reader->root, "arrays");
    reader->count = json_array_size(list);
    if (!json_is_array(list) || !json_object_get(reader->root, "facts") ||
        reader->count > TZ_CHECKPOINT_ARRAYS_MAX)
        return damaged(reader, "its list of arrays", error);
    reader->arrays = calloc(reader->count + 1, sizeof *reader->arrays);
    if (!reader->arrays)
        return tz_error_set(error, TZ_MEMORY, reader->path, "not enough memory for a checkpoint");
    for (size_t i = 0; i < reader->count; i++) {
        const json_t *entry = json_array_get(list, i), *bytes = json_object_get(entry, "bytes");
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (!name || strlen(name) >= TZ_CHECKPOINT_NAME_SIZE || !json_is_integer(bytes))
            return damaged(reader, "its list of arrays", error);
        strcpy(reader->arrays[i].name, name);
        reader->arrays[i].bytes = json_integer_value(bytes);
    }
    return TZ_OK;
}

static tz_status read_header(tz_checkpoint_reader *reader, int64_t bytes, uint64_t sum,
                             tz_error *error)
{
    char *text = malloc((size_t)bytes + 1);
    if (!text)
        return tz_error_set(error, TZ_MEMORY, reader->path, "not enough memory for a checkpoint");
    tz_status status = read_at(reader, LINE_BYTES, text, (size_t)bytes, error);
    if (!status && tz_file_sum(0, text, (size_t)bytes) != sum)
        status = damaged(reader, "the checksum of its facts is wrong", error);
    if (!status)
        status = tz_json_read(reader->path, text, (size_t)bytes, &reader->root, error);
    free(text);
    return status ? status : read_arrays(reader, error);
}

/* The checksum of an array as it is in the file. */
static tz_status sum_array(const tz_checkpoint_reader *reader, const tz_checkpoint_array *array,
                           char *room, uint64_t *sum, tz_error *error)
{
    *sum = 0;
    for (int64_t done = 0; done < array->bytes; done += PIECE_BYTES) {
        const int64_t left = array->bytes - done;
        const size_t bytes = (size_t)(left < PIECE_BYTES ? left : PIECE_BYTES);
        const tz_status status = read_at(reader, array->offset + done, room, bytes, error);
        if (status)
            return status;
        *sum += tz_file_sum(done, room, bytes);
    }
    return TZ_OK;
}

static tz_status check_sums(const tz_checkpoint_reader *reader, int64_t sums_offset, uint64_t first,
                            bool all, tz_error *error)
{
    const size_t bytes = (reader->count + 1) * sizeof(uint64_t);
    uint64_t *sums = calloc(1, bytes);
    char *room = malloc(PIECE_BYTES);
    tz_status status = sums && room ? read_at(reader, sums_offset, sums, bytes, error)
                                    : tz_error_set(error, TZ_MEMORY, reader->path,
                                                   "not enough memory for a checkpoint");
    if (!status && sums[reader->count] != first + tz_file_sum(8, sums, bytes - sizeof *sums))
        status = damaged(reader, "its checksums", error);
    for (size_t i = 0; !status && all && i < reader->count; i++) {
        uint64_t sum = 0;
        status = sum_array(reader, &reader->arrays[i], room, &sum, error);
        if (!status && sum != sums[i]) {
            char what[TZ_CHECKPOINT_NAME_SIZE + 40];
            snprintf(what, sizeof what, "the checksum of %s is wrong", reader->arrays[i].name);
            status = damaged(reader, what, error);
        }
    }
    free(room);
    free(sums);
    return status;
}

tz_status tz_checkpoint_open(tz_checkpoint_reader **out, const char *path, bool all,
                             tz_error *error)
{
    *out = NULL;
    tz_checkpoint_reader *reader = calloc(1, sizeof *reader + strlen(path) + 1);
    if (!reader)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a checkpoint");
    strcpy(reader->name, path);
    reader->path = reader->name;
    size_t file_bytes = 0;
    int64_t header_bytes = 0;
    uint64_t sum = 0;
    tz_status status = tz_file_open(path, &reader->file, &file_bytes, error);
    if (!status)
        status = read_line(reader, (int64_t)file_bytes, &header_bytes, &sum, error);
    if (!status)
        status = read_header(reader, header_bytes, sum, error);
    if (!status) {
        const int64_t sums_offset = lay_out(header_bytes, reader->arrays, reader->count);
        const int64_t sums_bytes = (int64_t)((reader->count + 1) * sizeof sum);
        status = sums_offset < 0 || sums_offset + sums_bytes != (int64_t)file_bytes
                     ? damaged(reader, "its size is not that of its arrays", error)
                     : check_sums(reader, sums_offset, sum, all, error);
    }
    if (status)
        tz_checkpoint_close(reader);
    else
        *out = reader;
    return status;
}

void tz_checkpoint_close(tz_checkpoint_reader *reader)
{
    if (!reader)
        return;
    if (reader->file >= 0)
        close(reader->file);
    json_decref(reader->root);
    free(reader->arrays);
    free(reader);
}

const json_t *tz_checkpoint_facts(const tz_checkpoint_reader *reader)
{
    return json_object_get(reader->root, "facts");
}

const char *tz_checkpoint_path(const tz_checkpoint_reader *reader)
{
    return reader->path;
}

size_t tz_checkpoint_arrays(const tz_checkpoint_reader *reader, const tz_checkpoint_array **out)
{
    *out = reader->arrays;
    return reader->count;
}

const tz_checkpoint_array *tz_checkpoint_find(const tz_checkpoint_reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->count; i++)
        if (strcmp(reader->arrays[i].name, name) == 0)
            return &reader->arrays[i];
    return NULL;
}

tz_status tz_checkpoint_read(tz_checkpoint_reader *reader, const tz_checkpoint_array *array,
                             int64_t offset, void *data, size_t bytes, tz_error *error)
{
    if (offset < 0 || (int64_t)bytes > array->bytes || offset > array->bytes - (int64_t)bytes)
        return tz_error_set(error, TZ_RANGE, reader->path, "%s holds %" PRId64 " bytes",
                            array->name, array->bytes);
    return read_at(reader, array->offset + offset, data, bytes, error);
}
