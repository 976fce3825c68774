/* The source of a stencil that a scenario defines, compiled and loaded. */
#ifndef TZ_CORE_DEFINE_PLUGIN_H
#define TZ_CORE_DEFINE_PLUGIN_H

#include "define/source.h"
#include "stencil/registry.h"

/* Compile the source of the stencil `id`, load it and put it into the registry. `from` says in
 * messages where it is defined. `stopped` (may be NULL) is asked while the compiler runs: not 0
 * ends it. What was compiled is kept in the folder `stencils` of the cache, which nobody else may
 * write.
 *
 * Errors: TZ_UNSUPPORTED without a compiler or headers; TZ_PLUGIN if it does not compile, or is
 * refused as any plugin; TZ_IO, also if the cache's folder is open to others; TZ_INTERRUPTED;
 * TZ_MEMORY. */
tz_status tz_define_plugin(tz_registry *registry, const char *id, const tz_defined_source *source,
                           const char *from, int (*stopped)(void), tz_error *error);

/* For doctor: the compiler, its version, the headers and the cache, in lines; or what is missing.
 * Returns the number of problems; a compiler is optional. */
int tz_define_describe(char *text, size_t size);

#endif
