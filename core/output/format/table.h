/* A table as a CSV file, row by row. Rows are collected in memory and written in blocks of complete
 * lines, so that a reader, even after a crash, finds no partial line. */
#ifndef TZ_CORE_OUTPUT_FORMAT_TABLE_H
#define TZ_CORE_OUTPUT_FORMAT_TABLE_H

#include "output/format/format.h"

typedef struct tz_table tz_table;

/* Create the file (it must not exist) and write the header line. Errors: TZ_IO, TZ_MEMORY. */
tz_status tz_table_create(tz_table **out, const char *path, tz_table_style style, size_t columns,
                          const char *const *titles, tz_error *error);

/* Go on with a file: cut it to its first `bytes` and add rows after them. TZ_IO: it is missing or
 * shorter; TZ_MEMORY. */
tz_status tz_table_open(tz_table **out, const char *path, tz_table_style style, size_t columns,
                        int64_t bytes, tz_error *error);

/* Add a row. `cells` are texts, one a column. Writes to the file once a second and when 64 KiB have
 * collected. TZ_IO, TZ_MEMORY; TZ_RANGE: a .steady file has its row. */
tz_status tz_table_add(tz_table *table, const char *const *cells, tz_error *error);

tz_status tz_table_flush(tz_table *table, tz_error *error);

/* Flush, and have it written to the disk. *bytes becomes its size. TZ_IO. */
tz_status tz_table_sync(tz_table *table, int64_t *bytes, tz_error *error);

/* Flush and close. Frees the table in any case. NULL is fine. */
tz_status tz_table_close(tz_table *table, tz_error *error);

#endif
