/* What a run holds for its readers. Pictures: which there are, and which a report has room for.
 * Texts: tables, the log, the scenario. */
#ifndef TZ_CORE_OUTPUT_REPORT_CONTENTS_H
#define TZ_CORE_OUTPUT_REPORT_CONTENTS_H

#include "base/paths.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t; /* jansson.h */

typedef struct tz_report_picture {
    char *name; /* of the file, owned */
    size_t bytes;
    int64_t step; /* -1: its name has none */
    int series;   /* its place in tz_report_pictures.series */
    bool kept;    /* there is room for it */
} tz_report_picture;

typedef struct tz_report_series {
    /* "temperature" of "temperature-000100.png"; of a single picture its file's. Owned. */
    char *name;
    int simulation; /* -1: of none */
} tz_report_series;

/* Zero-initialise; release with tz_report_pictures_clear. */
typedef struct tz_report_pictures {
    tz_report_series *series;
    size_t series_count;
    tz_report_picture *items; /* by series, then by step */
    size_t count;
    size_t every; /* of each series, every so-many-th and the last are kept */
} tz_report_pictures;

/* Find the pictures that the record `run` names in the folder, and mark those that `limit` bytes
 * have room for. Those that are missing or no PNG are left out; a line for each is added to
 * `notes`. TZ_IO (the folder cannot be read), TZ_MEMORY. */
tz_status tz_report_pictures_find(tz_report_pictures *pictures, const char *folder,
                                  const struct json_t *run, size_t limit, tz_paths *notes,
                                  tz_error *error);
void tz_report_pictures_clear(tz_report_pictures *pictures);

/* FOLDER/name as a JSON string, or, of more than `limit` bytes, its end: whole lines, and *cut is
 * true. Bytes that are not UTF-8 become '?'. TZ_IO, TZ_MEMORY. */
tz_status tz_report_text(const char *folder, const char *name, size_t limit, struct json_t **out,
                         bool *cut, tz_error *error);

/* A list of {"name", "simulation", "every", "text"} of the tables that the record `run` names.
 * "every" is 2 if only every second row is there, so that the text has at most `limit` bytes. A
 * table that cannot be read is left out; a line for it is added to `notes`. TZ_MEMORY. */
tz_status tz_report_tables(const char *folder, const struct json_t *run, size_t limit,
                           tz_paths *notes, struct json_t **out, tz_error *error);

#endif
