/* The plugins of some folders, opened with dlopen. Those that are refused stay listed, with the
 * reason. */
#ifndef TZ_CORE_STENCIL_REGISTRY_H
#define TZ_CORE_STENCIL_REGISTRY_H

#include "base/error.h"
#include "stencil/stencil.h"

typedef struct tz_registry tz_registry;

typedef struct tz_registry_entry {
    const char *path;        /* borrowed from the registry */
    const tz_plugin *plugin; /* NULL when refused; a copy: what an older plugin lacks is zero */
    tz_error error;          /* why, when refused */
} tz_registry_entry;

/* Open every *.so of each folder, in the order of names. A folder that does not exist is skipped; a
 * plugin that is refused is not an error. Errors: TZ_MEMORY. */
tz_status tz_registry_create(tz_registry **out, const char *const *folders, size_t folders_count,
                             tz_error *error);
/* Closes the plugins. NULL is fine. */
void tz_registry_destroy(tz_registry *registry);

size_t tz_registry_count(const tz_registry *registry);
/* index < tz_registry_count(). Borrowed from the registry. */
const tz_registry_entry *tz_registry_get(const tz_registry *registry, size_t index);

/* The stencil with that id, and its plugin (`plugin` may be NULL); both are borrowed from the
 * registry. Errors: TZ_PLUGIN with the reason if the file of that name was refused; TZ_UNKNOWN,
 * with the nearest known id. */
tz_status tz_registry_find(const tz_registry *registry, const char *id, const tz_stencil **stencil,
                           const tz_plugin **plugin, tz_error *error);

#endif
