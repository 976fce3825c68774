/* The reference of scenarios, docs/scenario.md, made of the tables with which functions, options,
 * columns and captions are registered. */
#ifndef TZ_CORE_LUA_MANUAL_H
#define TZ_CORE_LUA_MANUAL_H

#include "base/error.h"
#include <stdio.h>

/* Write the reference as Markdown, or the section of the function `name` ("tz.png", "sim:run";
 * NULL: all). Errors: TZ_MEMORY; TZ_UNKNOWN: no such function, with the nearest; TZ_FORMAT names a
 * function or option without documentation. Errors of `out` are the caller's to check. */
tz_status tz_manual_write(FILE *out, const char *name, tz_error *error);

#endif
