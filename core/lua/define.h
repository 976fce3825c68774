/* tz.stencil: the definition that a script gives, as the plain data that core/define makes a plugin
 * of (definition.c), and the userdata of a stencil (define.c). */
#ifndef TZ_CORE_LUA_DEFINE_H
#define TZ_CORE_LUA_DEFINE_H

#include "define/definition.h"
#include "lua/context.h"
#include "lua/keys.h"
#include "sim/simulation.h"

#define TZ_TYPE_STENCIL "trapeze.stencil"

/* The id of the stencil at a stack index, borrowed from the userdata; NULL if it is none. */
const char *tz_stencil_id(lua_State *L, int index);
/* Has the stencil of that id, if a script has defined it, `outside` for a side of the axis? */
bool tz_stencil_has_sides(lua_State *L, const char *id, int axis);

/* Free the list of the stencils that the script has defined. */
void tz_defined_clear(tz_context *context);

/* ---- Definitions: definition.c --------------------------------------------------------------- */

enum {
    TZ_DEFINITION_SIDE = 2 * TZ_RADIUS_MAX + 1,
    TZ_DEFINITION_CELLS = TZ_DEFINITION_SIDE * TZ_DEFINITION_SIDE * TZ_DEFINITION_SIDE,
    TZ_DEFINITION_SCALARS = 64
};

/* A definition and all that it points to. Texts are those of Lua. */
typedef struct tz_definition_value {
    tz_definition definition;
    bool has_name;
    char name[48];
    tz_defined_field fields[TZ_FIELDS_MAX];
    unsigned temporaries; /* a bit for each of the fields, before they are in order */
    tz_defined_param params[TZ_PARAMS_MAX];
    tz_defined_formula scalars[TZ_DEFINITION_SCALARS];
    bool random; /* a formula has random numbers */
    bool timed;  /* a formula may have `t` */
    tz_defined_outside outsides[TZ_FIELDS_MAX * (TZ_SIDES + 1)];
    tz_defined_formula parts[TZ_PARTS_MAX];
    tz_defined_pass passes[TZ_PASSES_MAX];
    tz_defined_formula updates[TZ_PASSES_MAX][TZ_FIELDS_MAX], outputs[TZ_FIELDS_MAX];
    tz_defined_coefficients coefficients;
    double values[TZ_DEFINITION_CELLS];
    const char *cells[TZ_DEFINITION_CELLS];
} tz_definition_value;

/* The keys of the table. */
extern const tz_key tz_definition_options[];

/* The stack while a definition is read: the options, which also keep its texts alive, and it. */
enum { TZ_STACK_OPTIONS = 1, TZ_STACK_VALUE = 2 };

/* Push the table of a key; false: there is none. */
bool tz_definition_table(lua_State *L, int index, const char *who, const char *key);
/* The formula on the top of the stack, which it pops. */
tz_defined_text tz_definition_formula(lua_State *L, const char *who, const char *name);
/* The keys of the table on the top of the stack that are names, in alphabetical order, and how
 * many. `list`: it may also have elements. */
int tz_definition_names(lua_State *L, const char *who, const char **names, int most, bool list);

/* The text of a key, kept alive by the options; NULL: none. */
const char *tz_definition_text(lua_State *L, int index, const char *who, const char *key);
/* The field of that name; NULL: none. */
tz_defined_field *tz_definition_field(tz_definition_value *v, const char *name);
/* One field more. Raises if its name is taken. */
void tz_definition_add(lua_State *L, tz_definition_value *v, tz_defined_field field);

/* Read `domain`, `outside` and `edge`: outside.c. */
void tz_definition_domain(lua_State *L, tz_definition_value *v);
void tz_definition_outside(lua_State *L, tz_definition_value *v);
void tz_definition_edge(lua_State *L, tz_definition_value *v);

/* The keys that go with augment = "auto" alone. */
enum { TZ_WITH_AUTO = 3 };
extern const char *const tz_with_auto[TZ_WITH_AUTO];

/* Read the table at index 1, whose copy takes its place and keeps the texts alive. Pushes a
 * userdata, which it returns. Its id is "stencil" if the table has no name. Raises errors
 * that begin with "tz.stencil". `unsafe`: a cell text written by hand is allowed. */
tz_definition_value *tz_definition_read(lua_State *L, bool unsafe);

/* ---- The key `storage` of options: how fields lie in memory ---------------------------------- */

/* The user value of a stencil's userdata with what tz_storage_push() gave for it. */
enum { TZ_STENCIL_STORAGE = 1 };

/* The names; NULL past the last. */
const char *tz_storage_names(int i);
/* The keys of a table that gives the storage of a field. */
extern const tz_key tz_storage_options[];

/* Push what `storage` of the table at `index` says, as a userdata; nil if there is no such key.
 * Names are borrowed from the stencil. Raises errors that begin with `what`. */
void tz_storage_push(lua_State *L, int index, const char *what, const tz_stencil *stencil);

/* Read the storage of the options at `index`, or else that of the stencil that is their `plugin`,
 * into `config`. It lives as long as the options. Raises as tz_storage_push(). */
void tz_storage_read(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                     tz_simulation_config *config);

#endif
