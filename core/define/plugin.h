/* A stencil that a scenario defines, in the registry, and what compiles it. */
#ifndef TZ_CORE_DEFINE_PLUGIN_H
#define TZ_CORE_DEFINE_PLUGIN_H

#include "define/source.h"
#include "stencil/registry.h"

/* Put the stencil `id` into the registry, which takes its texts and what is in memory. Its row
 * functions are compiled when tz_stencil_compile() is called; with a raw text at once. What was
 * compiled is kept in the folder `stencils` of the cache, which nobody else may write. `from` says
 * in messages where it is defined. `cancel` (may be NULL) is asked while the compiler of a
 * raw text runs: not 0 ends it.
 *
 * Errors: TZ_PLUGIN if it is refused as any plugin; TZ_MEMORY. Of a raw text's compilation, too:
 * TZ_UNSUPPORTED without a compiler or headers; TZ_PLUGIN if it does not compile; TZ_IO, also if
 * the cache's folder is open to others; TZ_INTERRUPTED. */
tz_status tz_define_plugin(tz_registry *registry, const char *id, tz_defined_source *source,
                           const char *from, const tz_cancel *cancel, tz_error *error);

/* Put a stencil into the registry whose definition another process has sent, the bytes of
 * tz_late_rows.definition, which are used up. Errors: TZ_PLUGIN, TZ_MEMORY. */
tz_status tz_define_again(tz_registry *registry, void *bytes, const char *from, tz_error *error);

/* For doctor: the compiler, its version, the headers and the cache, in lines; or what is missing.
 * Returns the number of problems; a compiler is optional. */
int tz_define_describe(char *text, size_t size);

#endif
