/* Lua source as tokens, as far as is needed to see which functions of the module it names. */
#ifndef TZ_CORE_LUA_TOKENS_H
#define TZ_CORE_LUA_TOKENS_H

#include <stddef.h>

/* The line, from 1, on which a text first names `function` of the module: NAME.function, where the
 * text has NAME = require "trapeze". 0: nowhere. Comments and strings do not count. */
int tz_tokens_find(const char *text, size_t bytes, const char *function);

#endif
