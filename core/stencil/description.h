/* Copies a stencil's description from a plugin, whose structs may be shorter than this engine's,
 * and checks it. */
#ifndef TZ_CORE_STENCIL_DESCRIPTION_H
#define TZ_CORE_STENCIL_DESCRIPTION_H

#include "base/error.h"
#include <trapeze/plugin.h>

/* Copy `theirs` and its arrays. Members that an older plugin lacks become zero. Texts and functions
 * still belong to the plugin. `path`, the plugin's file, is for messages. Errors, after which `out`
 * is empty: TZ_PLUGIN, TZ_MEMORY. */
tz_status tz_description_take(tz_stencil *out, const tz_stencil *theirs, const char *path,
                              tz_error *error);
void tz_description_clear(tz_stencil *stencil);

#endif
