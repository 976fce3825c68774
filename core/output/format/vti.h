/* ParaView's ImageData (.vti): named cell data on a regular grid, for ParaView and VisIt.
 *
 * XML with the numbers appended raw, little-endian, each array after a UInt64 byte count. Cells run
 * x fastest, in the order of the arrays; VTK's y axis points up, so row 0 is at the bottom there. A
 * 2-D grid has no thickness there ("0 nx 0 ny 0 0").
 * Source: "VTK File Formats", XML, ImageData. */
#ifndef TZ_CORE_OUTPUT_FORMAT_VTI_H
#define TZ_CORE_OUTPUT_FORMAT_VTI_H

#include "base/array.h"

typedef struct tz_vti_field {
    const char *name; /* UTF-8, escaped as needed */
    tz_dtype dtype;   /* bool is written as UInt8 */
} tz_vti_field;

typedef struct tz_vti_writer tz_vti_writer;

/* A grid of 1 to 3 axes, x first, with cells of size 1. The file appears at commit
 * (base/atomic.h); `path` must not exist. Errors: TZ_USAGE (no fields, no name, equal names),
 * TZ_RANGE (shape), TZ_IO, TZ_MEMORY. */
tz_status tz_vti_write_begin(tz_vti_writer **out, const char *path, int dims, const int64_t *shape,
                             const tz_vti_field *fields, size_t field_count, tz_error *error);
/* The next `count` elements of field k; fields may be interleaved slab by slab. TZ_SHAPE if they
 * are too many. */
tz_status tz_vti_write_slab(tz_vti_writer *writer, size_t k, const void *data, int64_t count,
                            tz_error *error);
/* Frees the writer in any case. TZ_SHAPE if elements are missing. */
tz_status tz_vti_write_commit(tz_vti_writer *writer, tz_error *error);
void tz_vti_write_abort(tz_vti_writer *writer); /* NULL is fine */

#endif
