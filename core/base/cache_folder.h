/* The folder for compiled kernels and measured plans. It can be deleted at any time. */
#ifndef TZ_CORE_BASE_CACHE_FOLDER_H
#define TZ_CORE_BASE_CACHE_FOLDER_H

#include <stdbool.h>

/* The path of the folder, which need not exist; release it with free(). The first of:
 *
 *   $TRAPEZE_CACHE            "" means: no cache
 *   $XDG_CACHE_HOME/trapeze   if it is an absolute path
 *   $HOME/.cache/trapeze
 *
 * NULL if there is none. *wanted is then false if the user wants no cache. */
char *tz_cache_folder(bool *wanted);

#endif
