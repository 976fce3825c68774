/* The reference of scenarios, docs/scenario.md, made of the tables with which functions, options,
 * columns and captions are registered. */
#ifndef TZ_CORE_LUA_MANUAL_H
#define TZ_CORE_LUA_MANUAL_H

#include "base/error.h"
#include <stdio.h>

/* Write the reference as Markdown. Errors: TZ_MEMORY; TZ_FORMAT names a function or option without
 * documentation. Errors of `out` are the caller's to check. */
tz_status tz_manual_write(FILE *out, tz_error *error);

#endif
