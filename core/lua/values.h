/* Lua's values as bytes: what calls gave to a script, in its journal. */
#ifndef TZ_CORE_LUA_VALUES_H
#define TZ_CORE_LUA_VALUES_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. Begin with zeros; release `data` with free(). */
typedef struct tz_bytes {
    unsigned char *data;
    size_t used, size;
    bool failed; /* no memory */
} tz_bytes;

void tz_bytes_put(tz_bytes *bytes, const void *data, size_t count);
void tz_bytes_put_u32(tz_bytes *bytes, uint32_t value);
void tz_bytes_put_i64(tz_bytes *bytes, int64_t value);
void tz_bytes_put_double(tz_bytes *bytes, double value);
void tz_bytes_put_text(tz_bytes *bytes, const char *text); /* with its length */

/* Bytes that are read. After a failure all values are 0 or "". */
typedef struct tz_reading {
    const unsigned char *at, *end;
    bool failed; /* they end too early, or are no values */
} tz_reading;

void tz_reading_get(tz_reading *reading, void *data, size_t count);
uint32_t tz_reading_u32(tz_reading *reading);
int64_t tz_reading_i64(tz_reading *reading);
double tz_reading_double(tz_reading *reading);
/* Cut to `size`, always terminated. */
void tz_reading_text(tz_reading *reading, char *text, size_t size);

/* Arrays of more bytes than this are not kept. */
enum { TZ_VALUES_ARRAY_BYTES_MAX = 256 << 20 };

/* The bytes of the arrays among `count` values from stack index `first` on, without those in
 * tables. */
size_t tz_values_array_bytes(lua_State *L, int first, int count);

/* Add `count` values from stack index `first` on: nil, booleans, numbers, texts, arrays, and plain
 * tables of these. NULL, or why they cannot be kept (static). */
const char *tz_values_put(lua_State *L, int first, int count, tz_bytes *bytes);
/* Push the values that were put. Returns their number; -1: the bytes are damaged. Raises when
 * memory runs out. */
int tz_values_push(lua_State *L, tz_reading *reading);

#endif
