/* Files that hold fields on a regular grid, written in pieces: .vti (vti.h), the raw numbers of an
 * .xdmf (xdmf.h), .h5 (hdf5.h). What is common to them: each field is one block of bytes, x fastest,
 * in the machine's byte order. */
#ifndef TZ_CORE_OUTPUT_FORMAT_GRID_FILE_H
#define TZ_CORE_OUTPUT_FORMAT_GRID_FILE_H

#include "base/array.h"
#include <stdio.h>

typedef struct tz_grid_field {
    const char *name; /* UTF-8 */
    const char *unit; /* NULL or "": none */
    tz_dtype dtype;   /* bool is written as bytes */
} tz_grid_field;

/* What a file shows. Fields are values of cells: a cell reaches from one point to the next. */
typedef struct tz_grid {
    int dims;                                         /* 1 to 3 */
    int64_t shape[TZ_DIMS_MAX];                       /* cells, x first */
    double spacing[TZ_DIMS_MAX], origin[TZ_DIMS_MAX]; /* of a cell; of the first cell's corner */
    bool y_up; /* rows are written from the last to the first */
    bool has_step;
    int64_t step;
    double time;           /* NAN: unknown */
    const char *time_unit; /* "" if there is none */
    size_t fields_count;
    const tz_grid_field *fields;
} tz_grid;

/* A grid of cells of size 1 at the origin, without a step, a time or fields. */
tz_grid tz_grid_of(int dims, const int64_t *shape);

/* What a viewer takes for the time of a grid with a step: the time or, if that is unknown, the
 * step. */
double tz_grid_when(const tz_grid *grid);

/* The name of an element's type in VTK's files: "Float32". */
const char *tz_vtk_type(tz_dtype dtype);

typedef struct tz_grid_file tz_grid_file;

/* Each format has a function that begins a file. It appears at commit (base/atomic.h); `path` must
 * not exist. Errors: TZ_USAGE (no fields, no name, equal names), TZ_RANGE (shape), TZ_IO, TZ_MEMORY.
 *
 * The next `count` elements of field k, row 0 of each plane first; fields may be interleaved piece by piece. TZ_SHAPE if they
 * are too many. */
tz_status tz_grid_file_write(tz_grid_file *file, size_t k, const void *data, int64_t count,
                             tz_error *error);
/* Frees the file in any case. TZ_SHAPE if elements are missing. */
tz_status tz_grid_file_commit(tz_grid_file *file, tz_error *error);
void tz_grid_file_abort(tz_grid_file *file); /* NULL is fine */

/* ---- For formats ----------------------------------------------------------------------------- */

/* Open a file whose fields follow each other from byte 0 on. */
tz_status tz__grid_file_open(tz_grid_file **out, const char *path, const tz_grid *grid,
                             tz_error *error);
FILE *tz__grid_file_stream(tz_grid_file *file);
/* As tz_atomic_name. */
const char *tz__grid_file_name(tz_grid_file *file, tz_error *error);
/* The bytes of field k. */
int64_t tz__grid_file_bytes(const tz_grid_file *file, size_t k);
/* The elements of field k begin at that byte. */
void tz__grid_file_place(tz_grid_file *file, size_t k, int64_t offset);
/* Write bytes anywhere. */
tz_status tz__grid_file_put(tz_grid_file *file, int64_t offset, const void *data, size_t bytes,
                            tz_error *error);
/* Commit writes this text after the last field. Borrowed. */
void tz__grid_file_end(tz_grid_file *file, const char *text);

/* Write a text of XML, escaped; control characters become blanks. */
void tz__xml_put(FILE *stream, const char *text);

#endif
