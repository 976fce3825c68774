/* Files that hold fields of a grid, written in pieces, and lists of such files. A format places
 * each field in the file as one block of bytes, x fastest, in the machine's byte order, or
 * encodes it. */
#ifndef TZ_CORE_OUTPUT_FORMAT_GRID_FILE_H
#define TZ_CORE_OUTPUT_FORMAT_GRID_FILE_H

#include "base/array.h"
#include "output/format/life_rule.h"
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
    /* Of a Life pattern: its rule, and lines about it; NULL: none. */
    const char *rule, *comment;
} tz_grid;

/* A grid of cells of size 1 at the origin, without a step, a time or fields. */
tz_grid tz_grid_of(int dims, const int64_t *shape);

/* What a viewer takes for the time of a grid with a step: the time or, if that is unknown, the
 * step. */
double tz_grid_when(const tz_grid *grid);

/* The name of an element's type in VTK's files: "Float32". */
const char *tz_vtk_type(tz_dtype dtype);

typedef struct tz_grid_file tz_grid_file;

/* Each format has a function that begins a file. It appears at commit (base/atomic.h); `path`
 * must not exist. Errors: TZ_USAGE (no fields, no name, equal names), TZ_RANGE (shape), TZ_IO,
 * TZ_MEMORY.
 *
 * The next `count` elements of field k, row 0 of each plane first; fields may be interleaved
 * piece by piece. TZ_SHAPE if they are too many. */
tz_status tz_grid_file_write(tz_grid_file *file, size_t k, const void *data, int64_t count,
                             tz_error *error);
/* The file, and the offset of the elements of field k, for writing them in another way. NULL if
 * they are encoded or their rows are turned. */
struct tz_atomic_file *tz_grid_file_share(tz_grid_file *file, size_t k, int64_t *offset);
/* It has been written so. */
void tz_grid_file_shared(tz_grid_file *file, size_t k);
/* Frees the file in any case. TZ_SHAPE if elements are missing. */
tz_status tz_grid_file_commit(tz_grid_file *file, tz_error *error);
void tz_grid_file_abort(tz_grid_file *file); /* NULL is fine */

/* ---- For formats ----------------------------------------------------------------------------- */

/* How a format encodes the elements of its only field, with a state of its own. */
typedef struct tz_grid_encoder {
    tz_status (*encode)(void *state, FILE *stream, const char *path, const tz_array *cells,
                        tz_error *error);
    /* Write what is behind the last one. */
    void (*finish)(void *state, FILE *stream);
} tz_grid_encoder;

typedef struct tz_grid_column {
    int64_t offset;  /* of its first element, in bytes from the file's start */
    int64_t written; /* elements */
    size_t item_bytes;
} tz_grid_column;

struct tz_grid_file {
    struct tz_atomic_file *file;
    int64_t count;  /* elements a field */
    int64_t nx, ny; /* of planes whose rows are turned; ny 1: none are */
    int64_t at;     /* the stream's position; -1: unknown */
    /* Set by formats: what commit writes after the last field (borrowed; NULL: nothing), the
     * encoder (NULL: elements are blocks of bytes), and its state, from malloc(), which the file
     * owns. */
    const char *end;
    const tz_grid_encoder *encoder;
    void *state;
    tz_dtype dtype; /* of the first field */
    size_t columns_count;
    tz_grid_column columns[]; /* a format sets the offsets */
};

/* Open a file whose fields follow each other from byte 0 on. */
tz_status tz__grid_file_open(tz_grid_file **out, const char *path, const tz_grid *grid,
                             tz_error *error);
FILE *tz__grid_file_stream(tz_grid_file *file);
/* The bytes of field k. */
int64_t tz__grid_file_bytes(const tz_grid_file *file, size_t k);
/* Write bytes anywhere. */
tz_status tz__grid_file_put(tz_grid_file *file, int64_t offset, const void *data, size_t bytes,
                            tz_error *error);

/* ---- Lists ------------------------------------------------------------------------------------
 * Lists of the frames of a run in a text file, which viewers open: .pvd and .xdmf.
 *
 * The file is replaced by a whole one for each frame that is added (base/atomic.h): it is valid at
 * any moment, and after a run that was killed it lists what is there. */

/* What stands before and after all entries: lines. */
typedef struct tz_series_frame {
    const char *head, *tail;
} tz_series_frame;

/* An entry in the making: lines, the first of which begins as that of no other entry. */
typedef struct tz_series_entry {
    FILE *stream;
    char *text;
    size_t bytes;
    size_t mark; /* so many bytes are what no other entry begins with */
} tz_series_entry;

/* Begin an entry, to be written to its stream. TZ_MEMORY. */
tz_status tz_series_begin(tz_series_entry *entry, tz_error *error);
/* What is written so far is its mark. */
void tz_series_mark(tz_series_entry *entry);
/* Add the entry to the list at `path`, and free it in any case. If an entry with its mark is
 * there, that one and those after it are dropped: a run that goes on from an earlier step writes
 * its frames again. Errors: TZ_FORMAT (a file of that name has another head or tail), TZ_IO,
 * TZ_MEMORY. */
tz_status tz_series_add(const char *path, const tz_series_frame *frame, tz_series_entry *entry,
                        tz_error *error);

/* ---- What readers of any format give --------------------------------------------------------- */

/* What of a pixel becomes a number. */
typedef enum tz_png_channel {
    TZ_PNG_GREY, /* of colours luma (Rec. 601): (299 R + 587 G + 114 B) / 1000, rounded */
    TZ_PNG_RED,  /* of gray: that */
    TZ_PNG_GREEN,
    TZ_PNG_BLUE,
    TZ_PNG_ALPHA /* 0: transparent */
} tz_png_channel;

/* What TZ_PNG_GREY does not tell. */
typedef struct tz_png_lost {
    int64_t coloured; /* pixels whose red, green and blue differ */
    int64_t clear;    /* pixels that are not opaque */
} tz_png_lost;

/* What tz.read wants of a file, and what it gets. */
struct tz_npy_file;
typedef struct tz_format_reading {
    int dims; /* of text; 0: all numbers in a row, or what lines of a table say */
    const int64_t *shape;
    const char *order; /* of text; NULL: x, y, z */
    int64_t skip;      /* of text: lines at its beginning that are left out */
    const char *field; /* NULL: the only one of the file */
    tz_png_channel channel;
    bool rule_replaced; /* the rule of the file is not wanted, and may be any */
    /* The result: owned by the caller; one of them is NULL. */
    tz_array *array;
    struct tz_npy_file *file;
    char rule[TZ_RLE_RULE_SIZE]; /* of a pattern */
    bool has_rule, is_cut;       /* the file names it; its end is missing, perhaps */
    int64_t generation;          /* that the file names, or 0 */
    int64_t copies;              /* of the pattern, in the torus that covers its universe */
    tz_png_lost lost;
} tz_format_reading;

/* Options of tz.read. */
enum {
    TZ_READS_RULE = 1,
    TZ_READS_ORDER = 2,
    TZ_READS_CHANNEL = 4,
    TZ_READS_FIELD = 8,
    TZ_READS_SKIP = 16
};

#endif
