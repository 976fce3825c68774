/* Functions that scripts call: each is registered with its arguments, and refuses more of them.
 * What they give is recorded, or replayed (recall.h). */
#ifndef TZ_CORE_LUA_API_H
#define TZ_CORE_LUA_API_H

#include "lua/keys.h"

/* What a call does in a run that goes on from a checkpoint, while it is replayed. */
typedef enum tz_api_recall {
    /* it is made again: it depends on its arguments alone, and changes no simulation */
    TZ_RECALL_PURE,
    TZ_RECALL_CALL, /* it is made again, at its place in the journal: it changes a simulation */
    TZ_RECALL_GIVE, /* not made: the journal gives what it gave */
    TZ_RECALL_BOTH, /* made again, and the journal gives what it gave */
    TZ_RECALL_OWN   /* made again, at its place; what depends on fields it does itself */
} tz_api_recall;

/* `signature` is what the manual and messages say: "sim:set(field, value[, box])" is the method
 * `set` of a simulation with at most three arguments besides itself, "tz.log(...)" takes any
 * number. Fewer arguments than the signature has are the function's to refuse. */
typedef struct tz_api_function {
    const char *signature;
    lua_CFunction call;
    const char *doc;       /* sentences of Markdown for docs/scenario.md */
    const tz_key *options; /* of its table of options; NULL: it has none */
    tz_api_recall recall;
    bool keeps;   /* with TZ_RECALL_CALL: cells, parameters, step and time stay as they are */
    bool changes; /* with TZ_RECALL_GIVE: they do not */
    const tz_key *result; /* keys of the table that it returns; NULL: its doc says it */
    const void *data;     /* of functions that share their code: tz_api_data */
} tz_api_function;

/* A row: signature, function, doc, then `.options =` and `.result =` where it has them. */
#define TZ_API(SIGNATURE, CALL, ...)                                                               \
    {                                                                                              \
        .signature = (SIGNATURE), .call = (CALL), .doc = __VA_ARGS__                               \
    }
#define TZ_API_END                                                                                 \
    {                                                                                              \
        .signature = NULL                                                                          \
    }

/* A kind of userdata, as scripts see it. */
typedef struct tz_api_class {
    const char *type;       /* of its metatable, which is hidden from scripts */
    const luaL_Reg *events; /* metamethods but for __index; ends with zeros, NULL: none */
    const tz_api_function *const *methods; /* lists of them; ends with NULL, NULL: none */
    const char *what, *one;                /* for messages: "sim", "a simulation" */
    /* What can be read: the userdata is the row; NULL: nothing. */
    const tz_sheet_column *members;
    void (*check)(lua_State *L, const char *key); /* raises if that cannot be read now; or NULL */
    void (*at)(lua_State *L); /* pushes the element whose number is at index 2; NULL: has none */
    const char *const *differing; /* members that differ from run to run; ends with NULL; or NULL */
} tz_api_class;

/* Add the functions, up to one without a signature, to the table on the top of the stack. Rows are
 * borrowed for the life of the state. */
void tz_api_add(lua_State *L, const tz_api_function *functions);
/* Make its metatable. Leaves the stack as it was. */
void tz_api_add_class(lua_State *L, const tz_api_class *class);

/* What the row of the function that runs has as its data. */
const void *tz_api_data(lua_State *L);

/* All rows added to a state so far, in order; ends with NULL. Borrowed from the state. */
const tz_api_function *const *tz_api_rows(lua_State *L);

/* ---- What differs from run to run ------------------------------------------------------------ */

/* The value on the top of the stack differs from run to run: it is recorded, or replaced by the one
 * of the journal. `what` names it. */
void tz_api_exchange(lua_State *L, const char *what);
/* Replace the function on the top of the stack by one whose result is exchanged. */
void tz_api_wrap(lua_State *L, const char *what);
/* Replace the function on the top of the stack by one after which no checkpoint is written, because
 * it cannot be replayed. */
void tz_api_taint_wrap(lua_State *L, const char *what);
/* A file that the script reads: it must be the same when the run goes on. */
void tz_api_input(lua_State *L, const char *path);

#endif
