/* The header of a .npy file. Internal to npy.c. */
#ifndef TZ_CORE_OUTPUT_FORMAT_NPY_HEADER_H
#define TZ_CORE_OUTPUT_FORMAT_NPY_HEADER_H

#include "base/array.h"
#include <stdio.h>

typedef struct tz__npy_header {
    tz_dtype dtype;    /* of the result: f2 gives F32 */
    size_t item_bytes; /* of one stored element */
    bool half, swapped, fortran;
    int dims;
    int64_t numpy_shape[TZ_DIMS_MAX]; /* as written: slowest first in C order */
    int64_t shape[TZ_DIMS_MAX];       /* x first; unused axes are 1 */
    int64_t count;                    /* elements */
    int64_t data_offset;              /* bytes */
} tz__npy_header;

/* Read and check the header of an open file, and that the file has as much data as it states.
 * Leaves the stream at the first element. */
tz_status tz__npy_header_read(FILE *stream, const char *path, tz__npy_header *header,
                              tz_error *error);

/* A version 1.0 header, magic included, padded to a multiple of 64 bytes; its size. */
size_t tz__npy_header_write(char text[256], tz_dtype dtype, int dims, const int64_t *shape);

#endif
