/* Copies a stencil's description from a plugin, whose structs may be shorter than this engine's,
 * and checks it, also against what its texts say of themselves. */
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

/* ---- What a text says of itself -------------------------------------------------------------- */

/* Held against the tables of its stencil. */

/* The pass (or output) has the dimensions of the stencil. It lists all fields and constants, in the
 * order of the tables and with their types and names, all as they are or as tz_NAME_: row functions
 * find them by number, GPUs by name. What it says of reads is within its radius. TZ_PLUGIN: the
 * message is one line, about the first difference. The stencil's fields and constants have names.
 * */
tz_status tz_text_lists_check(const tz_stencil *stencil, const tz_pass *pass, const char *path,
                              tz_error *error);

/* The name of a field (a derived one, too) or constant in the texts of a stencil's passes. */
const char *tz_text_field(const tz_stencil *stencil, int field);
const char *tz_text_constant(const tz_stencil *stencil, int constant);

#endif
