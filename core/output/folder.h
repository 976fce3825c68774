/* The folder of one run: frames, tables, run.json, a copy of the scenario and the log. */
#ifndef TZ_CORE_OUTPUT_FOLDER_H
#define TZ_CORE_OUTPUT_FOLDER_H

#include "base/error.h"

typedef struct tz_folder tz_folder;

/* Make the folder. `wanted` NULL: "runs/NAME-NNN" below the working folder, the first number that
 * is free (two runs that start at once get two folders); else `wanted` itself, which must not exist
 * or be empty. Copies the scenario's bytes to scenario.lua and opens log.txt.
 * Errors: TZ_IO with the path as place. End with tz_folder_destroy. */
tz_status tz_folder_create(tz_folder **out, const char *wanted, const char *name,
                           const char *scenario, size_t scenario_bytes, tz_error *error);
void tz_folder_destroy(tz_folder *folder); /* closes the log; NULL is fine */

const char *tz_folder_path(const tz_folder *folder);

/* "FOLDER/name" into `text`. TZ_RANGE when `name` is empty, too long, starts with '.', or holds a
 * '/' or a control character: outputs lie in the folder itself. */
tz_status tz_folder_join(const tz_folder *folder, const char *name, char *text, size_t size,
                         tz_error *error);
/* The same test without a folder. */
tz_status tz_folder_check_name(const char *name, tz_error *error);

/* Append one line to log.txt (a failure to write is not reported). */
void tz_folder_log(tz_folder *folder, const char *line);

#endif
