/* Takes a stencil's description over from a plugin: copies it, since an older plugin's structs are
 * shorter than this engine's, and checks it. */
#ifndef TZ_CORE_STENCIL_DESCRIPTION_H
#define TZ_CORE_STENCIL_DESCRIPTION_H

#include "base/error.h"
#include <trapeze/plugin.h>

/* Copy `theirs` and its arrays; what they lack is zero. Texts and functions stay the plugin's.
 * `path`: the plugin's file, for messages. Errors: TZ_PLUGIN (`out` is then empty), TZ_MEMORY. */
tz_status tz_description_take(tz_stencil *out, const tz_stencil *theirs, const char *path,
                              tz_error *error);
void tz_description_clear(tz_stencil *stencil);

#endif
