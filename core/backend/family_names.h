/* The names of the families of all backends. */
#ifndef TZ_CORE_BACKEND_FAMILY_NAMES_H
#define TZ_CORE_BACKEND_FAMILY_NAMES_H

#include "base/error.h"
#include <stddef.h>

enum { TZ_FAMILIES_MAX = 16 };

/* Each name once, in the order of the backends. Returns how many. The names are static. */
size_t tz_family_names(const char *names[TZ_FAMILIES_MAX]);

/* TZ_UNKNOWN, with the nearest name: no backend has that family. */
tz_status tz_family_check(const char *name, tz_error *error);

#endif
