/* A table of numbers as CSV, row by row. Rows gather in memory and go to the file whole, so that a
 * reader, or a crash, never meets half a line. */
#ifndef TZ_CORE_OUTPUT_TABLE_H
#define TZ_CORE_OUTPUT_TABLE_H

#include "base/error.h"
#include <stdint.h>

typedef struct tz_table tz_table;

/* Create the file (it must not exist) and write the header line. Titles that hold a comma, a quote
 * or a line break are quoted. Errors: TZ_IO, TZ_MEMORY. */
tz_status tz_table_create(tz_table **out, const char *path, size_t columns,
                          const char *const *titles, tz_error *error);

/* One row: `cells` are ready-made texts, quoted where they need it. Flushed when a second has
 * passed since the last time or the buffer is full. */
tz_status tz_table_add(tz_table *table, const char *const *cells, tz_error *error);

tz_status tz_table_flush(tz_table *table, tz_error *error);

/* Flush and close; frees the table in any case. NULL is fine. */
tz_status tz_table_close(tz_table *table, tz_error *error);

#endif
