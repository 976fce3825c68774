/* The files that `trapeze new` writes. */
#ifndef TZ_CORE_CLI_NEW_FILES_H
#define TZ_CORE_CLI_NEW_FILES_H

#include "define/definition.h"

typedef struct tz_new_files {
    const char *name; /* of the folder, the plugin and the stencil */
    const tz_defined_source *source;
    const char *scenario; /* the text of NAME.lua */
} tz_new_files;

/* The stencil of a new plugin that is made of nothing. Borrowed. */
const tz_definition *tz_new_definition(void);

/* The text of NAME.lua: for that stencil, or of a scenario whose tz.stencil the plugin replaces.
 * `from` is its path, `text` what it holds, `stencil` the name of the stencil in it (NULL: it defines
 * only one). malloc'd, NULL without memory. */
char *tz_new_scenario(const char *name);
char *tz_new_scenario_from(const char *name, const char *from, const char *text,
                           const char *stencil);

/* Make the folder NAME in the working folder with all files. TZ_IO, TZ_MEMORY; then nothing is left.
 * Nothing that exists is overwritten. */
tz_status tz_new_write(const tz_new_files *files, tz_error *error);

#endif
