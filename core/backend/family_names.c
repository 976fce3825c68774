/* Collects family names from the tables of backends. Called by core/cli for help texts, and by
 * core/cli, core/lua and core/predict to check a name that a user gave. */
#include "backend/family_names.h"

#include "backend/backend.h"
#include "base/names.h"
#include <string.h>

/* Of earlier versions; backends take them as others. */
static const char *const former[] = {"skew"};

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

size_t tz_family_names(const char *names[TZ_FAMILIES_MAX])
{
    size_t count = 0;
    const char *family;
    for (const tz_backend *const *backend = tz_backends; *backend; backend++)
        for (int i = 0; (family = (*backend)->family(i)) && count < TZ_FAMILIES_MAX; i++)
            if (!is_among(family, names, count))
                names[count++] = family;
    return count;
}

tz_status tz_family_check(const char *name, tz_error *error)
{
    const char *names[TZ_FAMILIES_MAX];
    const size_t count = tz_family_names(names);
    char hint[128];
    if (is_among(name, names, count) || is_among(name, former, 1))
        return TZ_OK;
    return tz_error_set(error, TZ_UNKNOWN, "family", "unknown family '%.40s'%s", name,
                        tz_names_hint(hint, sizeof hint, name, names, count));
}
