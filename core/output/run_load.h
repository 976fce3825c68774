/* Reading run.json, which run_record.h writes. */
#ifndef TZ_CORE_OUTPUT_RUN_LOAD_H
#define TZ_CORE_OUTPUT_RUN_LOAD_H

#include "base/error.h"

struct json_t; /* jansson.h */

/* Read FOLDER/run.json; release it with json_decref(). TZ_IO: the folder has none. TZ_FORMAT,
 * TZ_RANGE, TZ_MEMORY. */
tz_status tz_run_load_record(const char *folder, struct json_t **out, tz_error *error);

#endif
