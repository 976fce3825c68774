/* Writes one output of one simulation: a file a step, a row of its table, or a frame of its
 * movie. */
#ifndef TZ_CORE_OUTPUT_WRITER_H
#define TZ_CORE_OUTPUT_WRITER_H

#include "output/format/table.h"
#include "output/movie.h"
#include "output/output.h"
#include "output/run_files.h"
#include "sim/points.h"
#include "sim/snapshot.h"

enum { TZ_WRITER_STEM_SIZE = 160, TZ_WRITER_FILE_SIZE = 240, TZ_CELL_SIZE = 64 };

typedef struct tz_writer {
    const tz_output *output;   /* borrowed */
    const tz_run_files *files; /* borrowed; open before anything is written */
    const char *simulation;    /* its name, borrowed */
    int field;                 /* of a picture or array */
    int rewinds;               /* of the simulation; part of file names if not 0 */
    /* Files are STEM-000100.png, a table is STEM.csv, a movie STEM.png. */
    char stem[TZ_WRITER_STEM_SIZE];
    int64_t last_step;   /* the last one written; -1: none */
    int64_t count;       /* files, rows or frames written */
    tz_table *table;     /* owned; made with the first row */
    tz_movie *movie;     /* owned; made with the first frame */
    int64_t first_frame; /* of the present file of a movie; part of its name if not 0 */
    double low, high;    /* of a movie: the range of its first frame; equal: not known yet */
    const char *caption; /* of the next picture, if the caller makes it; borrowed */
    /* Of a table that tz_writer_take() writes: for each column its receivers, which are the
     * simulation's; NULL for others. Owned; NULL: it is another output. */
    tz_receivers **probes;
} tz_writer;

/* The texts of a table's row, one a column. */
typedef struct tz_writer_row {
    char cells[TZ_COLUMNS_MAX][TZ_CELL_SIZE];
} tz_writer_row;

/* A writer of `output` for a simulation called `name`, whose files' names begin with `prefix`. The
 * errors are those of tz_output_check. End with tz_writer_close. */
tz_status tz_writer_open(tz_writer *writer, const tz_output *output, const tz_run_files *files,
                         const tz_simulation *simulation, const char *name, const char *prefix,
                         tz_error *error);
/* If it is a table of steps, times and probes alone, and the simulation can record at points, let
 * it do so from now on: tz_writer_take() writes the rows of all iterations. */
tz_status tz_writer_listen(tz_writer *writer, tz_simulation *simulation, tz_error *error);
/* The rows that receivers have; `drop`: they are not wanted. */
tz_status tz_writer_take(tz_writer *writer, const tz_simulation *simulation, bool drop,
                         tz_error *error);
/* Close the table or movie, if there is one. */
tz_status tz_writer_close(tz_writer *writer, tz_error *error);

/* What is worth a line now that all is written: values outside the range that a movie's first
 * frame gave. False: nothing. *warns: it is a warning. */
bool tz_writer_note(const tz_writer *writer, char *text, size_t size, bool *warns);

/* The file or files that it writes: "temperature-NNNNNN.png", "table.csv". */
void tz_writer_pattern(const tz_writer *writer, char *text, size_t size);
/* The file that lists them: "hotspot.pvd"; after one rewind "hotspot-r2.pvd". False: there is
 * none. */
bool tz_writer_series(const tz_writer *writer, char *text, size_t size);

/* The file of that step; of a table or movie, its file. */
void tz_writer_file(const tz_writer *writer, int64_t step, char name[TZ_WRITER_FILE_SIZE]);

/* Go on where a checkpoint was written: with the step of the last file, how many there were, and
 * the bytes of its table or movie, which is cut there; -1: it has none. Movies of other formats
 * go on with a new file. For a movie the caller sets `low` and `high`. Errors: tz_table_open,
 * tz_movie_open. */
tz_status tz_writer_go_on(tz_writer *writer, int64_t last_step, int64_t count, int64_t bytes,
                          tz_error *error);

/* Is the file or frame of that step written? A table takes any number of rows a step. */
bool tz_writer_is_done(const tz_writer *writer, int64_t step);

/* Write the file or row for the step that `source`, a simulation or a snapshot's, is at. The
 * output must have no TZ_COLUMN_FUNCTION; if the caller makes its caption, writer->caption has
 * it. The caller then calls tz_writer_count, in its own thread. Errors: TZ_IO, TZ_MEMORY and
 * those of reading fields. [any thread, one at a time] */
tz_status tz_writer_write(tz_writer *writer, const tz_simulation *source, tz_error *error);

/* The frame that a picture or movie has of the step that `source` is at, not drawn yet. End with
 * tz_frame_destroy. Errors: as tz_writer_write. */
tz_status tz_writer_frame(tz_frame **out, tz_writer *writer, const tz_simulation *source,
                          tz_error *error);

/* For a table with TZ_COLUMN_FUNCTION: tz_writer_fill fills in the other columns, the caller fills
 * in these, tz_writer_add adds the row. tz_writer_number formats a cell. */
tz_status tz_writer_fill(const tz_writer *writer, const tz_simulation *source, tz_writer_row *row,
                         tz_error *error);
tz_status tz_writer_add(tz_writer *writer, const tz_writer_row *row, tz_error *error);
void tz_writer_number(char cell[TZ_CELL_SIZE], double value);

/* Count a file, row or frame, of that step. */
void tz_writer_count(tz_writer *writer, int64_t step);

/* Let another thread write the snapshot's step, and count it now. Holds the snapshot until it is
 * written. The caller must make no texts of the output (tz_output_needs_texts). Does nothing if the
 * step is done. The error may be that of an earlier output. */
tz_status tz_writer_write_later(tz_writer *writer, tz_snapshot *snapshot, tz_error *error);
/* The fields that a snapshot must keep for that, as a mask. */
uint32_t tz_writer_fields(const tz_writer *writer, const tz_stencil *stencil);

#endif
