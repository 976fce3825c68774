/* The files of a writer that hold numbers. Internal to writer.c. */
#ifndef TZ_CORE_OUTPUT_WRITER_ARRAYS_H
#define TZ_CORE_OUTPUT_WRITER_ARRAYS_H

#include "output/writer.h"

/* Write the fields of `source` to a file at `path`, and add it to the list of its series, if it has
 * one. Memory holds a MiB or two of them at a time. */
tz_status tz__writer_write_array(const tz_writer *writer, const tz_simulation *source,
                                 const char *path, tz_error *error);

#endif
