/* Values that a script hands to fields: arrays, random numbers, floorplans. */
#ifndef TZ_CORE_LUA_VALUES_H
#define TZ_CORE_LUA_VALUES_H

#include "lua/keys.h"
#include "output/format/floorplan.h"
#include "output/format/npy.h"
#include "sim/simulation.h"

#define TZ_TYPE_ARRAY "trapeze.array"
#define TZ_TYPE_RANDOM "trapeze.random"
#define TZ_TYPE_FLOORPLAN "trapeze.floorplan"

/* A userdata. `view` is what it holds, memory of its own or a mapped file; no data once closed. */
typedef struct tz_array_handle {
    tz_array *owned;
    tz_npy_mapping map;
    tz_array view;
    char source[256]; /* a file's path as the script gave it, or "array" */
    char rule[160];   /* of a Life pattern, else "" */
    bool has_at;
    int64_t at[TZ_AXES];
    bool pinned; /* a simulation streams from it: close() leaves the memory to the collector */
} tz_array_handle;

/* Push an empty handle; fill it with tz_array_own, which cannot fail. */
tz_array_handle *tz_array_push(lua_State *L, const char *source);
void tz_array_own(tz_array_handle *handle, tz_array *array);
/* The open array at a stack index; raises on another type or a closed one. */
tz_array_handle *tz_array_check(lua_State *L, int index, const char *what);

typedef struct tz_random_value {
    tz_random random;
    bool has_range, has_density;
} tz_random_value;

typedef struct tz_floorplan_value {
    tz_floorplan plan;
    tz_ptrace trace;
    int64_t row;              /* of the trace; -1: the mean */
    double width_m, height_m; /* of the chip; 0: the stencil's, else the plan's */
} tz_floorplan_value;

/* A path of tz.read: the script's folder in front unless absolute. */
void tz_value_path(lua_State *L, const char *path, char *text, size_t size);

#endif
