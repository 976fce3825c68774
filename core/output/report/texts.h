/* The texts of a run that a report holds: tables, the log, the scenario. */
#ifndef TZ_CORE_OUTPUT_REPORT_TEXTS_H
#define TZ_CORE_OUTPUT_REPORT_TEXTS_H

#include "base/paths.h"
#include <stdbool.h>

struct json_t; /* jansson.h */

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
