/* Values with their keys: what goes into an object of JSON or a table of Lua. */
#ifndef TZ_CORE_BASE_NAMED_H
#define TZ_CORE_BASE_NAMED_H

#include <stdint.h>

typedef struct tz_named_double {
    const char *key;
    double value;
} tz_named_double;

typedef struct tz_named_integer {
    const char *key;
    int64_t value;
} tz_named_integer;

#endif
