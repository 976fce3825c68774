/* Where things are kept that can be made again: compiled kernels, measured plans. */
#ifndef TZ_CORE_BASE_CACHE_FOLDER_H
#define TZ_CORE_BASE_CACHE_FOLDER_H

#include <stdbool.h>

/* $TRAPEZE_CACHE ("" for none), else $XDG_CACHE_HOME/trapeze, else ~/.cache/trapeze; malloc'd, need
 * not exist. NULL when there is none: *wanted says whether one was. */
char *tz_cache_folder(bool *wanted);

#endif
