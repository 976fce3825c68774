/* Tables within the options of tz.stencil, read while a definition is made: definition.c. Texts that
 * it points to are kept alive in a table on the stack. All functions may raise. */
#ifndef TZ_CORE_LUA_DEFINITION_KEYS_H
#define TZ_CORE_LUA_DEFINITION_KEYS_H

#include "define/definition.h"
#include "lua/keys.h"

/* Keys of a field and of a parameter, and the roles in the order of the names of the latter. */
extern const tz_key tz_field_options[], tz_param_options[];
enum { TZ_DEFINITION_PARAM_ROLES = 5 };
extern const tz_param_role tz_definition_param_roles[TZ_DEFINITION_PARAM_ROLES];

/* The stack while a definition is read: the options, what is kept alive, the definition. */
enum { TZ_DEFINITION_OPTIONS = 1, TZ_DEFINITION_KEPT = 2, TZ_DEFINITION_VALUE = 3 };

/* Keep the value on the top of the stack alive, and pop it. */
void tz_definition_keep(lua_State *L);

/* Push the table of a key of the table at `index`, or return false. */
bool tz_definition_push(lua_State *L, int index, const char *who, const char *key);

/* The text of a key, kept; NULL without the key. */
const char *tz_definition_text(lua_State *L, int index, const char *who, const char *key);

/* The formula on the top of the stack, kept; pops it. A number is a formula, too. */
tz_defined_text tz_definition_formula(lua_State *L, const char *who, const char *name);

/* The formula of a key of the options, kept; without text if there is none. */
tz_defined_text tz_definition_option(lua_State *L, const char *key);

/* The names that are keys of the table on the top of the stack, in natural order (f2 before f10),
 * kept. Its elements 1, 2, … are left alone if `list`, else refused. Returns how many. */
int tz_definition_names(lua_State *L, const char *who, const char **names, int most, bool list);

#endif
