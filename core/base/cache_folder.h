/* The folder for what can be made again: compiled kernels, measured plans. */
#ifndef TZ_CORE_BASE_CACHE_FOLDER_H
#define TZ_CORE_BASE_CACHE_FOLDER_H

#include <stdbool.h>

/* Its path, malloc'd; the folder need not exist. The first of:
 *
 *   $TRAPEZE_CACHE            "" means: no cache
 *   $XDG_CACHE_HOME/trapeze   if it is an absolute path
 *   $HOME/.cache/trapeze
 *
 * NULL if there is none. *wanted is then false if the user wants no cache. */
char *tz_cache_folder(bool *wanted);

#endif
