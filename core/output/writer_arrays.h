/* The files of outputs that hold numbers. Internal to writer.c. */
#ifndef TZ_CORE_OUTPUT_WRITER_ARRAYS_H
#define TZ_CORE_OUTPUT_WRITER_ARRAYS_H

#include "output/output.h"
#include "output/run_files.h"

/* Write the output's fields, or `field`, of `source` to a file at `path`, and add it to the list at
 * `list` unless that is "". Memory holds a MiB or two of them at a time. */
tz_status tz__write_array(const tz_output *output, const tz_run_files *files, int field,
                          const tz_simulation *source, const char *path, const char *list,
                          tz_error *error);

#endif
