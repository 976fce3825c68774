/* Reading JSON. jansson makes and writes it; its own reader ends a process whose memory runs
 * out. */
#ifndef TZ_CORE_BASE_JSON_H
#define TZ_CORE_BASE_JSON_H

#include "base/error.h"

struct json_t; /* jansson.h */

/* Read a text of that many bytes, one value with white space around it; release it with
 * json_decref(). Control characters other than newline and tab, and bytes that are not UTF-8,
 * become '?'. Errors: TZ_FORMAT with PATH:LINE as place (also for more than 100 lists and objects
 * inside one another, and for numbers that are too large), TZ_MEMORY. */
tz_status tz_json_read(const char *path, const char *text, size_t bytes, struct json_t **out,
                       tz_error *error);

#endif
