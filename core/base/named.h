/* Numbers with their keys: what goes into a table of Lua. */
#ifndef TZ_CORE_BASE_NAMED_H
#define TZ_CORE_BASE_NAMED_H

typedef struct tz_named_double {
    const char *key;
    double value;
} tz_named_double;

#endif
