/* Where plugins, device records and benchmarks are, seen from the running executable. */
#ifndef TZ_CORE_BASE_PATHS_H
#define TZ_CORE_BASE_PATHS_H

#include "base/error.h"

/* A growing list of owned strings. Zero-initialise; release with tz_paths_clear. */
typedef struct tz_paths {
    size_t count;
    char **items;
} tz_paths;

tz_status tz_paths_add(tz_paths *paths, const char *text, tz_error *error);
void tz_paths_clear(tz_paths *paths);

/* Append, in the order of search: each folder of the colon list $TRAPEZE_PLUGIN_PATH, then the
 * installed or build tree's own folder. Folders given with --plugins go in front, by the caller. */
tz_status tz_paths_add_plugins(tz_paths *paths, tz_error *error);

/* Append the folder of the device records that come with Trapeze, if it exists. */
tz_status tz_paths_add_devices(tz_paths *paths, tz_error *error);
/* The same of the papers' benchmarks. */
tz_status tz_paths_add_benchmarks(tz_paths *paths, tz_error *error);

/* The folder part of a path ("." if it has none) into `text`. */
void tz_path_folder(const char *path, char *text, size_t size);

#endif
