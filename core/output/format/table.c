/* Tables of outputs, whose rows writer.c adds: CSV files and HotSpot's; and arrays as CSV. */
#include "output/format/table.h"

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "output/format/format.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FLUSH_BYTES = 1 << 16 };

struct tz_table {
    char path[PATH_MAX];
    int file;
    tz_table_style style;
    size_t columns;
    char **titles;  /* of a .steady file that has no row yet; owned */
    tz_buffer text; /* not yet in the file */
    struct timespec flushed;
    bool broken; /* a write failed: nothing more is written */
};

static void put_cell(tz_buffer *text, tz_table_style style, const char *cell)
{
    if (style != TZ_TABLE_CSV || !strpbrk(cell, ",\"\r\n")) {
        tz_buffer_put(text, cell, strlen(cell));
        return;
    }
    tz_buffer_put(text, "\"", 1);
    for (; *cell != '\0'; cell++) {
        if (*cell == '"')
            tz_buffer_put(text, "\"", 1);
        tz_buffer_put(text, cell, 1);
    }
    tz_buffer_put(text, "\"", 1);
}

/* Append a line, or nothing on failure. */
static tz_status append_row(tz_table *table, const char *const *cells, tz_error *error)
{
    tz_buffer *text = &table->text;
    const size_t before = text->length;
    for (size_t i = 0; i < table->columns; i++) {
        if (table->style == TZ_TABLE_STEADY)
            put_cell(text, table->style, table->titles[i]);
        if (i > 0 || table->style == TZ_TABLE_STEADY)
            tz_buffer_put(text, table->style == TZ_TABLE_CSV ? "," : "\t", 1);
        put_cell(text, table->style, cells[i]);
        if (table->style == TZ_TABLE_STEADY || i + 1 == table->columns)
            tz_buffer_put(text, "\n", 1);
    }
    if (!text->failed)
        return TZ_OK;
    text->failed = false;
    text->length = before;
    return tz_error_set(error, TZ_MEMORY, table->path, "not enough memory for a table row");
}

tz_status tz_table_flush(tz_table *table, tz_error *error)
{
    if (table->broken)
        return tz_error_set(error, TZ_IO, table->path, "the table could not be written");
    const off_t start = lseek(table->file, 0, SEEK_END);
    size_t done =
        start < 0 ? 0 : tz_file_put(table->file, table->text.text, table->text.length, start);
    if (done < table->text.length) {
        const int reason = errno;
        /* Keep the complete lines, drop the one that was cut. */
        while (done > 0 && table->text.text[done - 1] != '\n')
            done--;
        table->broken = true;
        if (start >= 0 && ftruncate(table->file, start + (off_t)done) != 0)
            return tz_error_set_errno(error, errno, table->path,
                                      "cannot remove a partial line from the table");
        return tz_error_set_errno(error, reason, table->path, "cannot write the table");
    }
    table->text.length = 0;
    clock_gettime(CLOCK_MONOTONIC, &table->flushed);
    return TZ_OK;
}

static tz_table *allocate(const char *path, tz_table_style style, size_t columns)
{
    tz_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    snprintf(table->path, sizeof table->path, "%s", path);
    table->style = style;
    table->columns = columns;
    return table;
}

static void clear_titles(tz_table *table)
{
    for (size_t i = 0; table->titles && i < table->columns; i++)
        free(table->titles[i]);
    free(table->titles);
    table->titles = NULL;
}

/* Those of a .steady file stand beside the values. */
static tz_status keep_titles(tz_table *table, const char *const *titles, tz_error *error)
{
    table->titles = calloc(table->columns, sizeof *table->titles);
    for (size_t i = 0; i < table->columns; i++)
        if (!table->titles || !(table->titles[i] = strdup(titles[i])))
            return tz_error_set(error, TZ_MEMORY, table->path, "not enough memory for a table");
    return TZ_OK;
}

tz_status tz_table_create(tz_table **out, const char *path, tz_table_style style, size_t columns,
                          const char *const *titles, tz_error *error)
{
    tz_table *table = allocate(path, style, columns);
    if (!table)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a table");
    table->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (table->file < 0) {
        tz_error_set_errno(error, errno, path, "cannot create the table");
        free(table);
        return TZ_IO;
    }
    tz_status status = style == TZ_TABLE_STEADY ? keep_titles(table, titles, error)
                                                : append_row(table, titles, error);
    if (status == TZ_OK)
        status = tz_table_flush(table, error);
    if (status != TZ_OK) {
        tz_table_close(table, NULL);
        return status;
    }
    *out = table;
    return TZ_OK;
}

tz_status tz_table_open(tz_table **out, const char *path, tz_table_style style, size_t columns,
                        int64_t bytes, tz_error *error)
{
    tz_table *table = allocate(path, style, columns);
    if (!table)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a table");
    tz_status status = tz_file_go_on(path, "table", bytes, &table->file, error);
    if (status == TZ_OK && ftruncate(table->file, (off_t)bytes) != 0)
        status = tz_error_set_errno(error, errno, path, "cannot cut the table");
    if (status) {
        if (table->file >= 0)
            close(table->file);
        free(table);
        return status;
    }
    *out = table;
    return TZ_OK;
}

tz_status tz_table_sync(tz_table *table, int64_t *bytes, tz_error *error)
{
    const tz_status status = tz_table_flush(table, error);
    if (status)
        return status;
    *bytes = (int64_t)lseek(table->file, 0, SEEK_END);
    return fsync(table->file) == 0 && *bytes >= 0
               ? TZ_OK
               : tz_error_set_errno(error, errno, table->path, "cannot sync the table");
}

tz_status tz_table_add(tz_table *table, const char *const *cells, tz_error *error)
{
    if (table->style == TZ_TABLE_STEADY && !table->titles)
        return tz_error_set(error, TZ_RANGE, table->path,
                            "has its temperatures already: give another state another 'name'");
    const tz_status status = append_row(table, cells, error);
    if (status != TZ_OK)
        return status;
    if (table->style == TZ_TABLE_STEADY)
        clear_titles(table);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (table->text.length >= FLUSH_BYTES || now.tv_sec - table->flushed.tv_sec >= 1)
        return tz_table_flush(table, error);
    return TZ_OK;
}

tz_status tz_table_close(tz_table *table, tz_error *error)
{
    if (!table)
        return TZ_OK;
    tz_status status = TZ_OK;
    if (!table->broken && table->text.length > 0)
        status = tz_table_flush(table, error);
    if (close(table->file) != 0 && status == TZ_OK)
        status = tz_error_set_errno(error, errno, table->path, "cannot close the table");
    clear_titles(table);
    free(table->text.text);
    free(table);
    return status;
}

const tz_format tz_format_table = {
    .name = "table",
    .content = TZ_CONTENT_TABLE,
    .suffix = ".csv",
    .doc = "A CSV file with a line for each call. Columns are a list of titles (see Columns), "
           "floorplans (maximum and mean of each unit) and functions.",
};

/* The units of floorplans alone, as HotSpot's program writes them. */
const tz_format tz_format_ttrace = {
    .name = "ttrace",
    .content = TZ_CONTENT_TABLE,
    .table_style = TZ_TABLE_TRACE,
    .suffix = ".ttrace",
    .doc = "HotSpot's temperature trace: a line of unit names, then a line with the mean of each "
           "unit for each call. Takes a list of floorplans, such as `powered` of `tz.chip`.",
};

const tz_format tz_format_steady = {
    .name = "steady",
    .content = TZ_CONTENT_TABLE,
    .table_style = TZ_TABLE_STEADY,
    .suffix = ".steady",
    .doc = "HotSpot's file of one state: a line with name and mean of each unit. Takes a list of "
           "floorplans, such as `plans` of `tz.chip`.",
};

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Numbers with commas: a line for each row along x, a blank line between planes. They read back as
 * the same values. */
typedef struct place {
    int64_t at, nx, plane; /* the next element; elements of a row and of a plane */
} place;

static tz_status encode(void *state, FILE *stream, const char *path, const tz_array *cells,
                        tz_error *error)
{
    (void)path;
    (void)error;
    place *p = state;
    const int64_t count = cells->shape[0];
    const bool real = cells->dtype == TZ_DTYPE_F32 || cells->dtype == TZ_DTYPE_F64;
    for (int64_t i = 0; i < count; i++, p->at++) {
        char text[TZ_NUMBER_SIZE];
        int64_t integer;
        if (p->at > 0)
            fputs(p->at % p->plane == 0 ? "\n\n" : p->at % p->nx == 0 ? "\n" : ",", stream);
        if (cells->dtype == TZ_DTYPE_U64)
            fprintf(stream, "%llu", ((const unsigned long long *)cells->data)[i]);
        else if (!real && tz_array_get_integer(cells, i, &integer))
            fprintf(stream, "%lld", (long long)integer);
        else {
            const double value = tz_array_get(cells, i);
            fputs(value == value ? tz_number_format(text, value) : "nan", stream);
        }
    }
    return TZ_OK;
}

static void finish(void *state, FILE *stream)
{
    (void)state;
    fputc('\n', stream);
}

static tz_status begin(tz_grid_file **out, const char *path, const tz_grid *grid, tz_error *error)
{
    static const tz_grid_encoder form = {encode, finish};
    *out = NULL;
    place *p = malloc(sizeof *p);
    if (!p)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to write the array");
    *p = (place){0, grid->shape[0], grid->shape[0] * grid->shape[1]};
    const tz_status status = tz__grid_file_open(out, path, grid, error);
    if (status != TZ_OK) {
        free(p);
        return status;
    }
    (*out)->encoder = &form;
    (*out)->state = p;
    return status;
}

const tz_format tz_format_csv = {
    .name = "csv",
    .content = TZ_CONTENT_ARRAY,
    .suffix = ".csv",
    .begin = begin,
    .read_doc = "lines of numbers, which are rows along x, with commas, semicolons, tabs or blanks "
                "between them; blank lines between planes; lines without numbers at the beginning "
                "are titles",
    .reads = TZ_READS_ORDER | TZ_READS_SKIP,
    .read = tz_csv_read};
