/* Arguments of Lua functions: errors that name the script's line, tables of named options; and the
 * values that they return.
 *
 * Every function here may raise, which is a longjmp: call it before you acquire anything. */
#ifndef TZ_CORE_LUA_KEYS_H
#define TZ_CORE_LUA_KEYS_H

#include "base/array.h"
#include "base/sheet.h"
#include "output/format/format.h"
#include <lauxlib.h>
#include <lua.h>
#include <math.h> /* INFINITY */
#include <stdnoreturn.h>

/* Raise "script.lua:12: message": the line is that of the nearest Lua code on the call stack. */
noreturn void tz_raise(lua_State *L, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same from an error record; `what` (may be NULL) goes in front. */
noreturn void tz_raise_error(lua_State *L, const char *what, const tz_error *error);
/* Room for the error of a call, which is raised before another call is made. */
tz_error *tz_fault(lua_State *L);
/* The same if a call has failed with tz_fault(L). */
void tz_try(lua_State *L, const char *what, tz_status status);

/* The line of the script that calls, or 0; `file` gets its name, unless `size` is 0. */
int tz_script_line(lua_State *L, char *file, size_t size);
/* "function at FILE:LINE" of the function at a stack index. */
void tz_function_text(lua_State *L, int index, char *text, size_t size);

/* Raise "what: 'key' must be `wanted`, not a number": what is at the stack index. */
noreturn void tz_raise_kind(lua_State *L, int index, const char *what, const char *key,
                            const char *wanted);

/* What is at a stack index, for messages: "a number", "nil", "no value". Static. */
const char *tz_kind_text(lua_State *L, int index);

/* Rows of tz_key leave out the members that they have no use for. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* A key of a table of options, or of a table that a function returns. docs/scenario.md is made of
 * these: all texts are Markdown. Lists end with a key NULL.
 *
 * The readers below take default, limits and names from the row, so that the page cannot say
 * others. A default that another file has is put into the row by TZ_KEY_VALUE of its macro. */
typedef struct tz_key {
    const char *key;
    const char *type; /* "number", "text", "{low, high}" */
    /* the value where a script gives none: a value of Lua, which the readers then give; or words;
     * NULL: it must be given, or the doc says it; "" for keys of a result */
    const char *otherwise;
    const char *doc;             /* a phrase; "%s" in it are the names */
    const char *(*names)(int i); /* of a text: the i-th that it may be, NULL after the last */
    /* Limits, included, of numbers, of each integer of a list or, where the doc says so, of how
     * many it has; both 0: none; INFINITY: as large as can be counted. */
    double least, most;
    const struct tz_key *inner; /* keys of a table that it may be, or of the tables in it */
    const struct tz_key *all;   /* not a key, but all of this list */
} tz_key;

/* The i-th key of a list, with those of the lists in it; NULL after the last. */
const tz_key *tz_key_at(const tz_key *keys, size_t i);

/* Define a function, perhaps a static one, that gives these names. */
#define TZ_KEY_NAMES(FUNCTION, ...)                                                                \
    const char *FUNCTION(int i)                                                                    \
    {                                                                                              \
        static const char *const names[] = {__VA_ARGS__, NULL};                                    \
        return names[i];                                                                           \
    }
/* A function that gives NAME(0) to NAME(COUNT - 1). */
#define TZ_KEY_NAMES_OF(FUNCTION, NAME, COUNT)                                                     \
    const char *FUNCTION(int i)                                                                    \
    {                                                                                              \
        return i < (COUNT) ? NAME(i) : NULL;                                                       \
    }
/* The value of a macro as a text. */
#define TZ_KEY_VALUE(MACRO) TZ__KEY_VALUE(MACRO)
#define TZ__KEY_VALUE(VALUE) #VALUE

/* tz_keys_check with the keys of a list, which the readers of the copy then use. */
void tz_keys_take(lua_State *L, int index, const char *what, const tz_key *options, bool list);

/* Raise if the table at `index` has a metatable or an unknown key, with the nearest known one.
 * `list`: elements 1, 2, … are allowed. Replaces it on the stack by a copy, which no script can
 * change: read options from that, and keep it on the stack as long as their texts are used. A table
 * within it is checked in the same way, and then put back into the copy. */
void tz_keys_check(lua_State *L, int index, const char *what, const char *const *keys, size_t n,
                   bool list);

/* The same with any keys. */
void tz_table_copy(lua_State *L, int index, const char *what);
/* Push the value of a key, without metamethods. Returns its type. */
int tz_table_get(lua_State *L, int index, const char *key);

/* The only argument as options that tz_keys_take has taken. Raises unless it is a table, such as
 * `example` (NULL: none). */
void tz_options_take(lua_State *L, const char *what, const tz_key *options, const char *example);
/* Raise unless there is a table of options at `index`. */
void tz_options_check(lua_State *L, int index, const char *what);
/* The length of the list on the top of the stack, which is of `key`. Raise if it is not what is
 * `wanted`, "a list of numbers", or has other keys than 1, 2, … without gaps. */
size_t tz_list_check(lua_State *L, const char *what, const char *key, const char *wanted);

/* Options of the table at `index`, which tz_keys_take has put there. Return false when the key is
 * absent; *out is then the default of the row, or as it was if that has none. Raise an error that
 * names `what` and the key when type or range are wrong. Texts are borrowed from the table or
 * static. */
bool tz_key_number(lua_State *L, int index, const char *what, const char *key, double *out);
bool tz_key_integer(lua_State *L, int index, const char *what, const char *key, int64_t *out);
bool tz_key_text(lua_State *L, int index, const char *what, const char *key, const char **out);
/* The index of a text among the names of the row. Raises with the nearest name. */
bool tz_key_choice(lua_State *L, int index, const char *what, const char *key, int *out);
/* Push the value of a key, or the default of its row, or nil. Returns whether the key is there. */
bool tz_key_push(lua_State *L, int index, const char *key);
/* The option `file`, which must be there: the name of a picture in the run folder, of that format
 * if it is not NULL. Borrowed. */
const char *tz_key_file(lua_State *L, int index, const char *what, const tz_format *only);
bool tz_key_flag(lua_State *L, int index, const char *what, const char *key, bool *out);
/* {low, high}, both finite, low < high (or <= if `equal`). */
bool tz_key_range(lua_State *L, int index, const char *what, const char *key, bool equal,
                  double *low, double *high);
/* A number or a list of 1 to 3, each finite and above `above`; returns how many, 0 when absent. */
int tz_key_vector(lua_State *L, int index, const char *what, const char *key, double above,
                  double out[3]);
/* A list of 1 to `most` integers (or one bare integer); returns how many, 0 when absent. */
int tz_key_integers(lua_State *L, int index, const char *what, const char *key, int most,
                    int64_t low, int64_t *out);
/* Copy a text option into a fixed buffer; too long is an error. */
bool tz_key_copy(lua_State *L, int index, const char *what, const char *key, char *out,
                 size_t size);

/* The number at a stack index as an integer. Raises "what: 'name' must be …". */
int64_t tz_integer_check(lua_State *L, int index, const char *what, const char *name, int64_t low,
                         int64_t high);

/* The text at a stack index, borrowed. Raises "what: 'name' must be …" on another type and on a
 * zero byte, which would end it for C. */
const char *tz_text_check(lua_State *L, int index, const char *what, const char *name);

/* Raise "what has no 'key'" with the nearest of `names` and of the keys of the table at `index`. */
noreturn void tz_raise_missing(lua_State *L, const char *what, const char *key, int index,
                               const char *const *names, size_t n);

/* Resolve a path that a script gives: a relative one begins in the script's folder. Raises when the
 * result is too long. */
void tz_path_resolve(lua_State *L, const char *path, char *text, size_t size);

/* ---- Values that functions return ------------------------------------------------------------ */

/* Set a key of the table on the top of the stack. A text that is NULL sets nil. */
void tz_set_number(lua_State *L, const char *key, double value);
void tz_set_integer(lua_State *L, const char *key, int64_t value);
void tz_set_text(lua_State *L, const char *key, const char *value);
void tz_set_flag(lua_State *L, const char *key, bool value);

/* Set the keys of a row of a sheet in the table on the top of the stack. */
void tz_set_row(lua_State *L, const tz_sheet_column *columns, const void *context, const void *row);
/* Push a value. */
void tz_push_cell(lua_State *L, const tz_cell *cell);
/* Push a list of tables, one a row. */
void tz_push_sheet(lua_State *L, const tz_sheet *sheet);
/* Push a list of integers. */
void tz_push_integers(lua_State *L, int64_t count, const int64_t *values);
/* Push a userdata of zeros, whose contents `release` frees: its __gc. No script gets it. */
void *tz_push_owned(lua_State *L, size_t size, lua_CFunction release);
/* Push all arguments as one text, as print() shows them, with `between` between two of them. */
void tz_push_line(lua_State *L, char between);

#endif
