/* What the pieces of the Lua binding share: one context a script, reached from any lua_State. */
#ifndef TZ_CORE_LUA_CONTEXT_H
#define TZ_CORE_LUA_CONTEXT_H

#include "lua/script.h"
#include "output/folder.h"
#include "output/run_record.h"
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

struct tz_simulation_handle;
struct tz_frame_queue;

typedef struct tz_context {
    const tz_script_options *options;
    tz_script_result *result;
    tz_machine machine;
    char *text; /* the scenario, owned */
    size_t bytes;
    char name[96]; /* of the scenario: its file name without ".lua" */
    char folder_of_script[PATH_MAX];
    tz_record *record;
    tz_folder *folder;                 /* NULL until something is written or run */
    struct tz_frame_queue *queue;      /* likewise: pictures are drawn there */
    struct tz_frame_queue *later;      /* likewise: outputs of snapshots are read there */
    struct tz_simulation_handle *open; /* those that are not closed: a list */
    size_t simulations;                /* made so far */
    bool *sets_read;                   /* which --set names the script has read */
    tz_paths read_names;               /* every name that it has read of tz.args */
    bool expect_said;                  /* --check has said that expectations are skipped */
    char warning[1024];                /* pieces of a line of warn() */
    char refusal[2600];                /* the last error that the binding itself raised */
    char traced[2600];                 /* the error that result->traceback belongs to */
} tz_context;

/* The context of a state: kept in the state's extra space, which new threads inherit. */
static inline tz_context *tz_context_get(lua_State *L)
{
    return *(tz_context **)lua_getextraspace(L);
}

/* ---- script.c ---- */
/* Make the run folder, its record and its queue unless they are there. Not in check mode. */
tz_status tz_context_open_folder(tz_context *context, tz_error *error);
/* A message handler for lua_pcall: makes the error a string and keeps the traceback. */
int tz_context_traceback(lua_State *L);
void tz_context_note(tz_context *context, tz_note note, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tz_context_print(tz_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What the libraries below have to warn of, and could not say themselves. */
void tz_context_pass_warnings(tz_context *context);

/* ---- sandbox.c ---- */
/* Open the libraries a scenario may use, and `require`. May raise. */
void tz_sandbox_open(lua_State *L, bool unsafe);
/* ---- coroutines.c ---- */
/* Replace coroutine.resume and wrap by ones that Ctrl-C can reach. The library is on the top. */
void tz_coroutines_patch(lua_State *L);
/* ---- module.c ---- */
/* Pushes the module that require "trapeze" gives. */
int tz_module_open(lua_State *L);

/* ---- pieces of the module: each adds its functions to the table on the top of the stack ---- */
void tz_array_register(lua_State *L);
void tz_values_register(lua_State *L);
void tz_simulation_register(lua_State *L);
void tz_output_register(lua_State *L);
void tz_picture_register(lua_State *L);
void tz_predict_register(lua_State *L);
void tz_plot_register(lua_State *L);

/* Make the metatable `type`: methods, __gc and __close = `close`, hidden from scripts. `index`
 * NULL: the methods table itself is __index; else a function that is given it as upvalue. Leaves
 * nothing. */
void tz_metatable_create(lua_State *L, const char *type, const luaL_Reg *methods,
                         lua_CFunction close, lua_CFunction index, lua_CFunction tostring);

#endif
