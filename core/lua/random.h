/* tz.random: random numbers for fields and arrays. */
#ifndef TZ_CORE_LUA_RANDOM_H
#define TZ_CORE_LUA_RANDOM_H

#include "sim/simulation.h"
#include <lua.h>

#define TZ_TYPE_RANDOM "trapeze.random"

/* A userdata. */
typedef struct tz_random_value {
    tz_random random;
    bool has_range, has_density; /* which of them the script gave */
} tz_random_value;

#endif
