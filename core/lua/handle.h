/* The userdata behind tz.simulation, and the outputs bound to it. */
#ifndef TZ_CORE_LUA_HANDLE_H
#define TZ_CORE_LUA_HANDLE_H

#include "lua/context.h"
#include "lua/keys.h"
#include "lua/output.h"
#include "output/table.h"
#include "sim/simulation.h"

#define TZ_TYPE_SIMULATION "trapeze.simulation"

/* An output or a function that one simulation writes. Owned by the handle's list. */
typedef struct tz_binding {
    struct tz_binding *next;
    struct tz_simulation_handle *handle;
    const tz_output *output; /* NULL: a Lua function; kept alive by the handle's user value */
    lua_Integer reference;   /* of the output or function, in the handle's user value */
    int64_t every;           /* 0: only by sim:write */
    int field;               /* of a picture or array */
    char stem[160];          /* files are STEM-000100.png; of a table: STEM.csv */
    int64_t last_step;       /* written for; -1: none */
    int64_t count;           /* files or rows written (to be written, in check mode) */
    tz_table *table;
} tz_binding;

/* Its one user value is a table: references to outputs under 1, 2, …, and the arrays that feed
 * streamed fields under the field's name. */
typedef struct tz_simulation_handle {
    tz_simulation *simulation; /* NULL once closed */
    tz_context *context;
    struct tz_simulation_handle *next, **link; /* in context->open */
    size_t index;
    char name[64];   /* given, or "sim1", "sim2", … */
    char prefix[80]; /* of its files: "" or "NAME-" */
    const char *plugin_path;
    tz_binding *bindings;
    lua_State *L;     /* the thread that called run; NULL when it does not run */
    int64_t dry_step; /* what sim.step says in check mode */
    bool fired_zero;  /* in check mode: outputs of step 0 are counted */
    int rewinds;
    char failure[2600]; /* of Lua code called during run */
    int64_t run_before; /* steps done before the present call of run */
    double seconds_before;
} tz_simulation_handle;

/* The open simulation at a stack index. Raises on another type and on a closed one. */
tz_simulation_handle *tz_handle_check(lua_State *L, int index, const char *what);
/* The same, and raises if it is in the middle of a run. */
tz_simulation_handle *tz_handle_check_idle(lua_State *L, int index, const char *what);
bool tz_handle_is_dry(const tz_simulation_handle *handle);
const tz_stencil *tz_handle_stencil(const tz_simulation_handle *handle);
int64_t tz_handle_step(const tz_simulation_handle *handle);

/* Index of the field named at a stack index (none or nil: the first state field). Raises with the
 * nearest name. */
int tz_handle_field(lua_State *L, int index, const tz_simulation_handle *handle, const char *what);
int tz_handle_field_named(lua_State *L, const tz_simulation_handle *handle, const char *what,
                          const char *name);

/* Close tables, note the simulation in the record, free it. The first error of a table, if any;
 * done in any case. Idempotent. */
tz_status tz_handle_close(tz_simulation_handle *handle, tz_error *error);
/* Note everything in the record as it stands. */
void tz_handle_record(tz_simulation_handle *handle);

/* ---- fields.c: give a field (or a box of it) the Lua value at `index`. Raises. ---- */
void tz_field_assign(lua_State *L, int handle_index, tz_simulation_handle *handle, int field,
                     const tz_box *box, int index, const char *what);
/* {x={lo,hi}, y=…}: half open, missing axes whole; raises when outside the grid. */
void tz_box_check(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                  tz_box *box);
/* Parameters of the table at `index` into `out` (at most `most`), in alphabetical order; texts are
 * borrowed from the table. Raises on values of a wrong type. */
size_t tz_assignments_get(lua_State *L, int index, const char *what, tz_assignment *out,
                          size_t most);

/* ---- later.c: outputs written beside the run ---- */
/* Completes events and a run for a handle: those that can are written from snapshots. */
void tz_later_bind(tz_event *event, tz_binding *binding);
void tz_later_run(tz_run *run, tz_simulation_handle *handle);
/* All that was begun is done; the first error of it. */
tz_status tz_later_settle(tz_context *context, tz_error *error);

/* ---- methods.c and running.c: functions for the method table ---- */
void tz_methods_add(lua_State *L);
void tz_running_add(lua_State *L);

/* ---- output_write.c: write a bound output for the simulation's present step. Raises. ---- */
void tz_binding_write(lua_State *L, tz_binding *binding, int handle_index);
/* The same for a simulation or a snapshot of it, without Lua: not for functions, nor for tables
 * with columns that are. [any thread, one at a time] */
tz_status tz_binding_write_from(tz_binding *binding, const tz_simulation *source, tz_error *error);
/* Has it no Lua function? */
bool tz_binding_is_plain(const tz_binding *binding);
/* The file or pattern that it writes: "temperature-NNNNNN.png". */
void tz_binding_pattern(const tz_binding *binding, char *text, size_t size);

#endif
