/* NumPy's .npy files: read at once, in pieces, or mapped.
 *
 * Source: numpy.lib.format, versions 1.0, 2.0 and 3.0. Shapes here are x first: a C-order file of
 * shape (ny, nx) is shape {nx, ny}. The readers take b1, i1-i8, u1-u8, f2 (as float32), f4 and f8
 * of either byte order, C or Fortran order, 1 to 3 dimensions.
 * Errors of every reader: TZ_IO, TZ_MEMORY, TZ_FORMAT (not .npy, malformed header, truncated,
 * over-long), TZ_TYPE (dtype not numeric or complex), TZ_SHAPE (0-d, more than 3-d, empty).
 * Place: the file. */
#ifndef TZ_CORE_OUTPUT_FORMAT_NPY_H
#define TZ_CORE_OUTPUT_FORMAT_NPY_H

#include "output/format/grid_file.h"
#include <stdio.h>

/* The facts of a header, for `trapeze info`. */
typedef struct tz_npy_facts {
    tz_dtype dtype;             /* as tz_npy_read would give it */
    bool half;                  /* stored as f2 */
    bool swapped;               /* stored in the other byte order */
    bool fortran;               /* stored in Fortran order */
    int dims;                   /* 1 to 3 */
    int64_t shape[TZ_DIMS_MAX]; /* x first; unused axes are 1 */
    int64_t data_offset;        /* of the first element, in bytes */
    int64_t count;              /* elements */
    size_t item_bytes;          /* of one stored element */
} tz_npy_facts;

/* Read a file as an array: native byte order, x fastest. Free with tz_array_destroy. */
tz_status tz_npy_read(const char *path, tz_array **out, tz_error *error);

/* ---- Large files ----------------------------------------------------------------------------- */

/* A file that is open to be read in pieces, mapped or read at once. Nothing of its data is in
 * memory before that. Replacing it by another one of that name changes nothing. */
typedef struct tz_npy_file tz_npy_file;

tz_status tz_npy_open(tz_npy_file **out, const char *path, tz_error *error);
/* The same of bytes `begin` to `end` of a stream, which is closed in any case. */
tz_status tz_npy_open_part(tz_npy_file **out, FILE *stream, const char *path, int64_t begin,
                           int64_t end, tz_error *error);
/* A file of numbers without a header, by its facts: dtype, half, swapped, fortran, dims (0: all of
 * the file, in a row), shape, data_offset (-1: the numbers are the file; else more may follow).
 * TZ_SHAPE: the file has not so many. */
tz_status tz_npy_open_bare(tz_npy_file **out, const char *path, const tz_npy_facts *facts,
                           tz_error *error);
void tz_npy_close(tz_npy_file *file); /* NULL is fine */
const tz_npy_facts *tz_npy_file_facts(const tz_npy_file *file);

/* A box of the array, of 2 MiB at most. */
typedef struct tz_npy_piece {
    int64_t at[TZ_DIMS_MAX]; /* its first element */
    tz_array cells;          /* data: the file's, until its next piece is read */
} tz_npy_piece;

/* Pieces cover the array, each is read at once, and they come in the order of the file. `shape` is
 * the array's or, of a 1-D array, another one of as many elements. */
int64_t tz_npy_pieces(const tz_npy_file *file, int dims, const int64_t *shape);
/* Piece k, counted from 0. TZ_IO, TZ_MEMORY, TZ_FORMAT (the file is shorter now). */
tz_status tz_npy_read_piece(tz_npy_file *file, int dims, const int64_t *shape, int64_t k,
                            tz_npy_piece *out, tz_error *error);
/* As tz_npy_read. */
tz_status tz_npy_read_all(tz_npy_file *file, tz_array **out, tz_error *error);

/* A file mapped read-only: pages come as they are touched. */
typedef struct tz_npy_mapping {
    const void *data; /* owned by the map; aligned for the type only */
    void *base;       /* private */
    size_t bytes;     /* private */
} tz_npy_mapping;

/* TZ_UNSUPPORTED when the bytes cannot be used as they are (other byte order, Fortran order, f2):
 * read the file instead. End with tz_npy_unmap. The file must not shrink meanwhile. */
tz_status tz_npy_map(const tz_npy_file *file, tz_npy_mapping *out, tz_error *error);
void tz_npy_unmap(tz_npy_mapping *map); /* a zeroed map is fine */

/* The result of a reader is what a file holds, which is closed, unless the array is large and stays
 * in it. */
tz_status tz_npy_take(tz_npy_file *file, tz_format_reading *reading, tz_error *error);
/* The same with the rows of each plane from the last to the first. */
tz_status tz_npy_take_turned(tz_npy_file *file, tz_format_reading *reading, tz_error *error);

#endif
