/* Plugins found on disk and opened with dlopen. Refused ones are kept with their reason. */
#ifndef TZ_CORE_STENCIL_REGISTRY_H
#define TZ_CORE_STENCIL_REGISTRY_H

#include "base/error.h"
#include <trapeze/plugin.h>

typedef struct tz_registry tz_registry;

typedef struct tz_registry_entry {
    const char *path;        /* borrowed from the registry */
    const tz_plugin *plugin; /* NULL when refused; a zero-filled copy of the plugin's struct */
    tz_error error;          /* why, when refused */
} tz_registry_entry;

/* Open every *.so of each folder, in name order; a folder that does not exist is skipped. A plugin
 * that is refused is no error here: its entry says why. Errors: TZ_MEMORY. */
tz_status tz_registry_create(tz_registry **out, const char *const *folders, size_t folders_count,
                             tz_error *error);
void tz_registry_destroy(tz_registry *registry); /* closes the plugins; NULL is fine */

size_t tz_registry_count(const tz_registry *registry);
const tz_registry_entry *tz_registry_get(const tz_registry *registry, size_t index);

/* The stencil with that id, and its plugin (`plugin` may be NULL). TZ_UNKNOWN names the nearest
 * known id, or the refused file of that name and its reason. Borrowed from the registry. */
tz_status tz_registry_find(const tz_registry *registry, const char *id, const tz_stencil **stencil,
                           const tz_plugin **plugin, tz_error *error);

/* Names for messages and tables: "real", "state", "clamp", … */
const char *tz_role_name(tz_role role);
const char *tz_type_name(tz_type type);
const char *tz_boundary_name(tz_boundary boundary);

/* 0..n, or -1 when no boundary has that name. */
int tz_boundary_find(const char *name);

/* Cells by which the ghost zone grows per iteration on each side: the sum of the passes' radii. */
int tz_stencil_reach(const tz_stencil *stencil);
/* Largest pass radius; 1 if the stencil has TZ_REAL fields or constants. */
int tz_stencil_radius(const tz_stencil *stencil);
int tz_stencil_has_real(const tz_stencil *stencil);

/* Does a cell update read neighbours that are off centre along two axes (a box, not a star)? Found
 * by watching one update; a hint for choosing between equivalent kernels. */
bool tz_stencil_reads_diagonals(const tz_stencil *stencil);
/* Index of a field or parameter by name, or -1. */
int tz_stencil_field_index(const tz_stencil *stencil, const char *name);
int tz_stencil_param_index(const tz_stencil *stencil, const char *name);

#endif
