/* Descriptions of outputs: which files a simulation writes and what they hold. writer.h writes
 * them. */
#ifndef TZ_CORE_OUTPUT_OUTPUT_H
#define TZ_CORE_OUTPUT_OUTPUT_H

#include "base/error.h"
#include "output/format/format.h"
#include "output/frame/frame.h"
#include "output/frame/plane.h"
#include "sim/simulation.h"

/* The name of a table without one. */
#define TZ_TABLE_STEM "table"

/* What a column of a table shows. TZ_COLUMN_MIN to TZ_COLUMN_PROBE read a field. */
typedef enum tz_column_kind {
    TZ_COLUMN_STEP,
    TZ_COLUMN_TIME,
    TZ_COLUMN_RESIDUAL,
    TZ_COLUMN_MIN,
    TZ_COLUMN_MAX,
    TZ_COLUMN_SUM,
    TZ_COLUMN_MEAN,
    TZ_COLUMN_POPULATION,
    TZ_COLUMN_HASH,
    TZ_COLUMN_PROBE,   /* one cell */
    TZ_COLUMN_FUNCTION /* a text that the caller makes */
} tz_column_kind;

enum { TZ_COLUMNS_MAX = 256, TZ_OUTPUT_FIELDS_MAX = TZ_FIELDS_MAX };

typedef struct tz_column {
    tz_column_kind kind;
    char title[96];
    char field[64]; /* "": the first state field */
    int at_count;   /* of a probe: coordinates */
    int64_t at[TZ_AXES];
} tz_column;

typedef struct tz_output {
    const tz_format *format;
    /* Files are NAME-000100.png, a table is NAME.csv, a movie NAME.png; "": by content. */
    char name[64];
    size_t fields_count;
    char fields[TZ_OUTPUT_FIELDS_MAX][64]; /* if 0: the stencil's picture or first state field */
    tz_look look;                          /* of a picture or movie */
    double fps;                            /* of a movie: frames per second */
    /* Of a file with a geometry: the widths of a cell, one for each axis or one for all (0 of
     * them: the stencil's), and the place of the grid's corner (0: zeros). */
    int spacing_count, origin_count;
    double spacing[TZ_AXES], origin[TZ_AXES];
    bool has_slice; /* if false, a picture of a 3-D field is a montage of slices */
    tz_slice slice; /* of a montage its axis alone counts */
    size_t columns_count;
    tz_column columns[]; /* of a table */
} tz_output;

/* A word that outputs know, and a phrase about it. */
typedef struct tz_output_word {
    const char *name, *doc;
} tz_output_word;

/* The words of columns, by kind; ends with a name NULL. */
extern const tz_output_word tz_column_words[];
/* A column from its title: "step", "time", "residual", or "min", "max", "sum", "mean",
 * "population" and "hash", alone or with a field: "max(temperature)"; or "probe(temperature, 3,
 * 4)". TZ_RANGE (too long), TZ_FORMAT, TZ_UNKNOWN with the nearest name. */
tz_status tz_column_parse(const char *title, tz_column *out, tz_error *error);

/* The first state field. */
int tz_output_default_field(const tz_stencil *stencil);
/* A field's index by its name. TZ_UNKNOWN with the nearest name. */
tz_status tz_output_find_field(const tz_stencil *stencil, const char *name, int *out,
                               tz_error *error);

/* Check that a simulation has the output's fields and slice. *field becomes the field that it
 * shows. TZ_UNKNOWN, TZ_RANGE, TZ_UNSUPPORTED. */
tz_status tz_output_check(const tz_output *output, const tz_simulation *simulation, int *field,
                          tz_error *error);

/* The rule of a simulation whose stencil has one, as RLE files have it: with ":T64,32" on a torus,
 * ":P64,32" if the cells around `field` are dead. "": no rule. Returns `text`. */
const char *tz_output_rule(const tz_simulation *simulation, int field, char text[TZ_RLE_RULE_SIZE]);

/* The universe of a 2-D grid along an axis, as RLE files have it: 'T', a torus, if its sides wrap;
 * 'P' if they have the value 0; else 0. */
char tz_output_universe(const tz_simulation *simulation, int field, int axis);

/* The grid that a file of the output holds now: `fields` and `rule` are the caller's, and
 * borrowed by the grid. A time is in seconds, if its unit is one of time. */
void tz_output_describe(const tz_output *output, const tz_simulation *source, int field,
                        tz_grid *grid, tz_grid_field fields[TZ_OUTPUT_FIELDS_MAX],
                        char rule[TZ_RLE_RULE_SIZE]);

/* Check a caption that a picture of a simulation gets: its placeholders, and that there is a time
 * step for {time}. TZ_UNKNOWN, TZ_FORMAT, TZ_UNSUPPORTED. */
tz_status tz_output_check_caption(const char *caption, const tz_simulation *simulation,
                                  tz_error *error);

/* Must the caller supply texts: a caption, or cells of a table that a script computes? */
bool tz_output_needs_texts(const tz_output *output);
/* Is one of its columns of that kind? */
bool tz_output_has_column(const tz_output *output, tz_column_kind kind);

/* ---- Captions -------------------------------------------------------------------------------- */
/* With placeholders: {step}, {time}, {field} and {simulation} become what a picture shows. "{{" and
 * "}}" stand for a brace. */

enum { TZ_CAPTION_SIZE = 512 };

/* The placeholders; ends with a name NULL. */
extern const tz_output_word tz_caption_words[];

/* Check the placeholders of a caption. TZ_UNKNOWN with the nearest name; TZ_FORMAT: a brace that is
 * not closed. */
tz_status tz_caption_check(const char *caption, tz_error *error);
/* Has a caption that passed the check this placeholder? */
bool tz_caption_has(const char *caption, const char *placeholder);

/* Take the braces of a caption that shows no simulation. TZ_UNSUPPORTED: it has a placeholder. */
tz_status tz_caption_fill_none(char out[TZ_CAPTION_SIZE], const char *caption, tz_error *error);
/* Fill the placeholders of a caption that passed the check: with the present step and time of
 * `source`, which has a time step if the caption has {time}; with the names of a field and of a
 * simulation. What does not fit is cut off. */
void tz_caption_fill(char out[TZ_CAPTION_SIZE], const char *caption, const tz_simulation *source,
                     const char *field, const char *simulation);

#endif
