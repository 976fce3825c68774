#include "base/cache_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *tz_cache_folder(bool *wanted)
{
    char *folder = NULL;
    const char *own = getenv("TRAPEZE_CACHE");
    *wanted = !own || *own;
    if (own)
        return *own ? strdup(own) : NULL;
    const char *shared = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = -1;
    if (shared && *shared == '/') /* the XDG specification says to ignore relative paths */
        length = asprintf(&folder, "%s/trapeze", shared);
    else if (home && *home)
        length = asprintf(&folder, "%s/.cache/trapeze", home);
    return length < 0 ? NULL : folder;
}
