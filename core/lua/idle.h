/* Warnings of scripts and runs that do nothing. */
#ifndef TZ_CORE_LUA_IDLE_H
#define TZ_CORE_LUA_IDLE_H

#include "lua/handle.h"

/* The fields before the first run of a simulation. */
typedef struct tz_idle {
    bool watched; /* all state fields are one value each, and only they decide what the run does */
    double values[TZ_FIELDS_MAX];
} tz_idle;

/* Before a run, which is `first`, and after it. Errors of reading are no warning: the run finds
 * them. */
void tz_idle_begin(tz_idle *idle, const tz_simulation_handle *handle, bool first);
void tz_idle_end(const tz_idle *idle, const tz_simulation_handle *handle, int64_t steps);

/* At the end of a script that did not fail: it ran no step, and asked nothing either. */
void tz_idle_script(tz_context *context);

#endif
