/* A look at a plugin's file before it is loaded. */
#ifndef TZ_CORE_STENCIL_PLUGIN_FILE_H
#define TZ_CORE_STENCIL_PLUGIN_FILE_H

#include "base/error.h"

/* Is this a complete shared library for this machine?
 *
 * dlopen() trusts a file: one that was cut off ends the process with SIGBUS, a pipe makes it wait
 * for ever, wrong headers make it write where it must not. This reads the headers alone: the kind
 * of machine, the segments and the sections. All must lie within the file and agree with each
 * other. It cannot see damage inside the code. TZ_PLUGIN with the path as place and a message that
 * says what to do. */
tz_status tz_plugin_file_check(const char *path, tz_error *error);

#endif
