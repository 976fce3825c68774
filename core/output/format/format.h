/* The formats of files. One is a row, `const tz_format tz_format_NAME`, in a file of this folder,
 * and a word of TZ_FORMATS below. Everything else asks the table: outputs of scripts, array:save,
 * tz.read, the manual, `trapeze info`, `export`, `doctor`, and reports. */
#ifndef TZ_CORE_OUTPUT_FORMAT_FORMAT_H
#define TZ_CORE_OUTPUT_FORMAT_FORMAT_H

#include "base/facts.h"
#include "output/format/grid_file.h"
#include "output/frame/image.h"
#include <stdio.h>

/* In the order of the manual. Text is last: it is what any other file is read as. */
#define TZ_FORMATS(X)                                                                              \
    X(png)                                                                                         \
    X(svg)                                                                                         \
    X(pdf)                                                                                         \
    X(npy)                                                                                         \
    X(npz)                                                                                         \
    X(rle)                                                                                         \
    X(vti)                                                                                         \
    X(xdmf)                                                                                        \
    X(hdf5)                                                                                        \
    X(table)                                                                                       \
    X(ttrace)                                                                                      \
    X(steady)                                                                                      \
    X(movie)                                                                                       \
    X(gif)                                                                                         \
    X(mp4)                                                                                         \
    X(webm)                                                                                        \
    X(csv)                                                                                         \
    X(cells)                                                                                       \
    X(macrocell)                                                                                   \
    X(life)                                                                                        \
    X(text)

/* What an output shows. It decides the options of its function in scripts. */
typedef enum tz_content {
    TZ_CONTENT_NONE,    /* not a format of outputs */
    TZ_CONTENT_PICTURE, /* a field in colours, a file for each step */
    TZ_CONTENT_ARRAY,   /* the numbers of a field, a file for each step */
    TZ_CONTENT_GRID,    /* the numbers of fields with their geometry, a file for each step */
    TZ_CONTENT_TABLE,   /* a row for each step, in one file */
    TZ_CONTENT_MOVIE,   /* a frame for each step, in one file */
    TZ_CONTENTS
} tz_content;

/* ---- Reading --------------------------------------------------------------------------------- */

/* Numbers as plain text: decimal, between white space; '#' starts a comment that runs to the end of
 * its line. An array of float64 of that shape; `dims` 0: a 1-D array of all numbers, at least one.
 * TZ_IO, TZ_MEMORY; TZ_FORMAT (a token is no finite number; place: FILE:LINE); TZ_SHAPE. */
tz_status tz_text_read(const char *path, int dims, const int64_t *shape, tz_array **out,
                       tz_error *error);

/* Numbers in lines, with ',', ';', tabs or blanks between them: what tz_format_csv reads. Lines
 * without numbers at the beginning are left out. A line is a row along x; blank lines are between
 * planes. */
tz_status tz_csv_read(const char *path, tz_format_reading *reading, tz_error *error);

/* ---- Movies ---------------------------------------------------------------------------------- */

/* The file of a movie: a format has a struct of its own that begins with it. */
typedef struct tz_movie_file {
    const struct tz_format *format;
} tz_movie_file;

typedef struct tz_movie_start {
    const char *path; /* where no file may be */
    double fps;
    const tz_image *first;
    const tz_image_note *notes;
    size_t notes_count;
} tz_movie_start;

/* How a table looks: with commas and quotes; as HotSpot's .ttrace, with tabs; or as its .steady, a
 * title, a tab and a value on each line, for one row. */
typedef enum tz_table_style { TZ_TABLE_CSV, TZ_TABLE_TRACE, TZ_TABLE_STEADY } tz_table_style;

/* ---- The table ------------------------------------------------------------------------------- */

typedef struct tz_format {
    /* Of its function tz.NAME, of `export --to NAME`, and in run.json. */
    const char *name;
    tz_content content;
    tz_table_style table_style; /* of tables; those that are not CSV have floorplans alone */
    /* Of its files. */
    const char *suffix;
    /* What the manual says about tz.NAME; NULL: there is no such function. */
    const char *doc;
    /* Is the library or program there that it needs? NULL: it needs none. TZ_UNSUPPORTED. */
    tz_status (*check)(const struct tz_format *format, tz_error *error);
    /* For `trapeze doctor`: a line about that library. False: it is missing. May be NULL. */
    bool (*describe)(char *text, size_t size);
    /* What `doctor` says is missing then, and the package to install. */
    const char *part, *package;

    /* REQUIRED of arrays and grids: begin a file, as grid_file.h says. */
    tz_status (*begin)(tz_grid_file **out, const char *path, const tz_grid *grid, tz_error *error);
    /* Can an output with these fields be written? NULL: any. */
    tz_status (*fits)(const tz_grid *grid, tz_error *error);
    /* The file that lists those of a run; NULL: there is none. */
    const char *list_suffix;
    /* REQUIRED with it: add a file that lies beside the list. */
    tz_status (*list)(const char *path, const char *name, const tz_grid *grid, tz_error *error);
    /* A file is nothing without a list: an array is saved as both, by the list's name. */
    bool needs_list;
    /* REQUIRED of pictures. `vectors`: of such that record (tz_image_record). */
    tz_image_write *draw;
    bool vectors;
    const char *terminal; /* of gnuplot, for plots; NULL: pngcairo */
    /* Is the file complete? Reports show pictures that have this. *bytes becomes its size. */
    tz_status (*whole)(const char *path, size_t *bytes, tz_error *error);
    /* REQUIRED of movies, one thread at a time. `begin` writes the first frame, `add` one of the
     * same size. `end` frees the file in any case. */
    tz_status (*film)(tz_movie_file **out, const tz_movie_start *start, tz_error *error);
    tz_status (*film_add)(tz_movie_file *file, const tz_image *frame, tz_error *error);
    tz_status (*film_end)(tz_movie_file *file, tz_error *error);
    /* Have it on the disk; *bytes becomes its size, with which a run goes on with it. NULL: it
     * cannot. */
    tz_status (*film_sync)(tz_movie_file *file, int64_t *bytes, tz_error *error);
    tz_status (*film_go_on)(tz_movie_file **out, const char *path, double fps, int64_t bytes,
                            tz_error *error);

    /* What a file holds, for the manual of tz.read; NULL: it does not read it. */
    const char *read_doc;
    /* A file that begins so is of this format, whatever its name; may be NULL. */
    const char *magic;
    unsigned reads; /* TZ_READS_… */
    tz_status (*read)(const char *path, tz_format_reading *reading, tz_error *error);
    /* For `trapeze info`: what a file holds. NULL: it does not know it. */
    tz_status (*info)(const char *path, tz_facts *out, tz_error *error);
} tz_format;

#define TZ__FORMAT_EXTERN(NAME) extern const tz_format tz_format_##NAME;
TZ_FORMATS(TZ__FORMAT_EXTERN)
#undef TZ__FORMAT_EXTERN

/* All formats; ends with NULL. */
extern const tz_format *const tz_formats[];

/* What a file may be wanted for. */
typedef enum tz_format_use {
    TZ_TO_SAVE,
    TZ_TO_READ,
    TZ_TO_SHOW,
    TZ_TO_DRAW,
    TZ_TO_FILM,
    TZ_TO_REPORT
} tz_format_use;

/* The format of a file by the end of its name, in lower or, for reading, any case. NULL: none. */
const tz_format *tz_format_of_file(const char *name, tz_format_use use);
/* The format that reads files with that ending, also behind it ".gz"; NULL: none. */
const tz_format *tz_format_of_packed(const char *path);
/* The same for reading, by the first bytes where the name does not say; else text. A name may end
 * with .gz behind that. TZ_FORMAT: its first bytes are those of something else, which the message
 * names; TZ_IO, TZ_RANGE. */
tz_status tz_format_to_read(const char *path, const tz_format **out, tz_error *error);
/* The format with that name that outputs or saved arrays have; NULL: none. */
const tz_format *tz_format_find(const char *name);
/* The end of a file's name that is wanted for `use`; NULL: not of this format. */
const char *tz_format_ending(const tz_format *format, tz_format_use use);

/* ".npy, .rle or .vti": the endings for a use; of TZ_TO_READ those whose `reads` have a bit of
 * `mask`. */
const char *tz_format_endings(tz_format_use use, unsigned mask, char text[256]);
/* "npy, rle or csv": the names of formats for saved arrays. Returns `text`. */
const char *tz_format_names(char text[256]);

bool tz_format_is_one_file(const tz_format *format); /* that grows: a table or a movie */
bool tz_format_is_picture(const tz_format *format);  /* shows a field in colours */

/* Write an array as the field `field` of the file `path`; `rule`: of tz_grid. If the format needs
 * a list, `path` is the list's, and data[] becomes the name of the file beside it, else ""; it
 * may be NULL for other formats. Errors: of tz_grid_file. */
tz_status tz_format_save(const tz_format *format, const char *path, const tz_array *array,
                         const char *field, const char *rule, char data[256], tz_error *error);

#endif
