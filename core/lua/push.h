/* Values that Lua functions return: tables and lines of text. */
#ifndef TZ_CORE_LUA_PUSH_H
#define TZ_CORE_LUA_PUSH_H

#include "base/named.h"
#include "base/sheet.h"
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

/* Set a key of the table on the top of the stack. A text that is NULL sets nil. */
void tz_set_number(lua_State *L, const char *key, double value);
void tz_set_integer(lua_State *L, const char *key, int64_t value);
void tz_set_text(lua_State *L, const char *key, const char *value);
void tz_set_flag(lua_State *L, const char *key, bool value);
void tz_set_numbers(lua_State *L, const tz_named_double *values, size_t count);

/* Set the keys of a row of a sheet in the table on the top of the stack. */
void tz_set_row(lua_State *L, const tz_sheet_column *columns, const void *context, const void *row);
/* Push a list of tables, one a row. */
void tz_push_sheet(lua_State *L, const tz_sheet *sheet);
/* Push a list of integers. */
void tz_push_integers(lua_State *L, int count, const int64_t *values);
/* Push all arguments as one text, as print() shows them, with `between` between two of them. */
void tz_push_line(lua_State *L, char between);

#endif
