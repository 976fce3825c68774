/* The userdata of arrays, which tz.array, tz.read, sim:array and sim:slabs return, and of random
 * numbers. */
#ifndef TZ_CORE_LUA_ARRAY_H
#define TZ_CORE_LUA_ARRAY_H

#include "output/format/format.h"
#include "output/format/npy.h"
#include "sim/simulation.h"
#include <lua.h>

#define TZ_TYPE_ARRAY "trapeze.array"

/* The elements of an array: a userdata's, shared with each simulation that streams from it. */
typedef struct tz_array_memory {
    int users;
    tz_array *owned;   /* NULL: a large file */
    tz_npy_file *file; /* of which nothing is in memory until tz_array_check; else NULL */
    tz_npy_mapping map;
} tz_array_memory;

/* One user more, who ends with tz_array_memory_release; the last one frees it. NULL is fine. */
tz_array_memory *tz_array_memory_share(tz_array_memory *memory);
void tz_array_memory_release(tz_array_memory *memory);

/* A userdata. `view` describes the elements; its data is NULL as long as they are in a file. */
typedef struct tz_array_handle {
    tz_array_memory *memory; /* NULL once closed */
    tz_array view;
    char source[256]; /* a file's path as the script gave it, a field's name, or "array" */
    char rule[TZ_RLE_RULE_SIZE]; /* of a Life pattern, else "" */
    bool claims_rule;            /* a file says so: the simulation must have that rule */
    int64_t generation;          /* of the pattern, as its file says, or 0 */
    int at_axes; /* numbers of `at`, which is where a field takes it; 0: not given */
    int64_t at[TZ_AXES];
    tz_fit fit;                                          /* how it gets another shape */
    enum { TZ_ROWS_ANY, TZ_ROWS_DOWN, TZ_ROWS_UP } rows; /* row 0: a chip's upper or lower edge */
} tz_array_handle;

/* Push an empty handle; raises when memory does not suffice. Fill it with tz_array_own, which
 * cannot fail. */
tz_array_handle *tz_array_push(lua_State *L, const char *source);
void tz_array_own(tz_array_handle *handle, tz_array *array);
/* The array at a stack index, for its shape and type, or to be read piece by piece. Raises on
 * another type and on a closed one. */
tz_array_handle *tz_array_check_open(lua_State *L, int index, const char *what);
/* The same with its elements: a large file is mapped, or read if its bytes are in another order.
 * Raises also if that fails. */
tz_array_handle *tz_array_check(lua_State *L, int index, const char *what);
/* A userdata: the random numbers of tz.random. */
#define TZ_TYPE_RANDOM "trapeze.random"
typedef struct tz_random_value {
    tz_random random;
    bool has_range, has_density; /* which of them the script gave */
} tz_random_value;

/* Raise if the array's place has another number of axes than a grid of `dims`. */
void tz_array_check_at(lua_State *L, const tz_array_handle *handle, int dims, const char *what);

#endif
