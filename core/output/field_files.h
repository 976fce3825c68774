/* Fields of a simulation as files: NumPy arrays, Life patterns, VTK images.
 *
 * `source` is a simulation or a snapshot's. `path` must not exist; the file appears whole or not at
 * all. Errors: TZ_IO, TZ_MEMORY, TZ_SHAPE, TZ_TYPE and those of reading the field. [any thread] */
#ifndef TZ_CORE_OUTPUT_FIELD_FILES_H
#define TZ_CORE_OUTPUT_FIELD_FILES_H

#include "sim/simulation.h"

tz_status tz_field_write_npy(const tz_simulation *source, int field, const char *path,
                             tz_error *error);
/* `comment` becomes a line of the file. The rule is the stencil's, if it has one. */
tz_status tz_field_write_rle(const tz_simulation *source, int field, const char *comment,
                             const char *path, tz_error *error);
/* 1 to TZ_FIELDS_MAX fields in one file. */
tz_status tz_field_write_vti(const tz_simulation *source, const int *fields, size_t count,
                             const char *path, tz_error *error);

#endif
