/* The folders of plugins, device records, benchmarks and the cache. All but the cache are found
 * relative to the running executable, or to libtrapeze.so: in an installation, or in the source and
 * build trees. */
#ifndef TZ_CORE_BASE_PATHS_H
#define TZ_CORE_BASE_PATHS_H

#include "base/error.h"

/* A growing list of owned strings. Zero-initialise; release with tz_paths_clear. */
typedef struct tz_paths {
    size_t count;
    char **items;
} tz_paths;

/* Append a copy of `text`. TZ_MEMORY. */
tz_status tz_paths_add(tz_paths *paths, const char *text, tz_error *error);
void tz_paths_clear(tz_paths *paths);

/* Append the plugin folders in the order of search: those in $TRAPEZE_PLUGIN_PATH, separated by
 * colons, then Trapeze's own. TZ_MEMORY. */
tz_status tz_paths_add_plugins(tz_paths *paths, tz_error *error);

/* Append a folder of the data that come with Trapeze, if it exists: `name` in an installation, or
 * else `source` in the source tree as seen from the build tree. TZ_MEMORY. */
tz_status tz_paths_add_data(tz_paths *paths, const char *name, const char *source, tz_error *error);

/* Append the folder with the public headers, that which holds trapeze/plugin.h, if it is there.
 * TZ_MEMORY. */
tz_status tz_paths_add_headers(tz_paths *paths, tz_error *error);

/* Write the path of the program `name` into `path`, of PATH_MAX bytes: itself if it has a slash,
 * else the first in the folders of $PATH. False if there is none that this process may execute. */
bool tz_program_find(const char *name, char *path);
/* The same without the path. */
bool tz_program_exists(const char *name);

/* Write the folder part of a path into `text`: "." if it has none. Cut to `size`, always
 * terminated. */
void tz_path_folder(const char *path, char *text, size_t size);

/* Write the folder above that of the running executable or library: where it is installed, or the
 * build tree. "" if it is not known. */
void tz_path_prefix(char *text, size_t size);

/* Write the path of the file that `code`, a function's address, was loaded from: a shared library,
 * or the running executable. "" if it is not known. */
void tz_path_of_code(const void *code, char *text, size_t size);

/* The path of the folder for compiled code and measured plans, which need not exist and can be
 * deleted at any time. Release it with free(). The first of:
 *
 *   $TRAPEZE_CACHE            "" means: no cache
 *   $XDG_CACHE_HOME/trapeze   if it is an absolute path
 *   $HOME/.cache/trapeze
 *
 * NULL if there is none. *wanted is then false if the user wants no cache. */
char *tz_cache_folder(bool *wanted);

#endif
