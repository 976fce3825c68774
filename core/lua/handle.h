/* The userdata behind tz.simulation, and the list of those that are open. */
#ifndef TZ_CORE_LUA_HANDLE_H
#define TZ_CORE_LUA_HANDLE_H

#include "lua/array.h"
#include "lua/context.h"
#include "output/recording.h"
#include "output/writer.h"
#include "sim/simulated_time.h"

#define TZ_TYPE_SIMULATION "trapeze.simulation"

/* An output or a function that a simulation writes or calls. Owned by the handle's list. */
typedef struct tz_binding {
    struct tz_binding *next;
    struct tz_simulation_handle *handle;
    lua_Integer reference; /* of the output or function, in the handle's user value */
    tz_interval every;     /* zeros: by sim:write alone */
    enum {
        TZ_BINDING_OUTPUT,
        TZ_BINDING_FUNCTION,
        TZ_BINDING_CHECKPOINT,
        TZ_BINDING_UNTIL /* the condition that ends a run, during it */
    } kind;
    char function[160]; /* "function at FILE:LINE"; "checkpoint"; "": an output */
    tz_writer writer;   /* of an output; a function uses last_step and count alone */
} tz_binding;

static inline bool tz_binding_is_regular(const tz_binding *binding)
{
    return binding->every.steps > 0 || binding->every.time > 0;
}

/* Its one user value is a table that keeps what the simulation needs alive: outputs and functions
 * under 1, 2, … */
typedef struct tz_simulation_handle {
    tz_simulation *simulation; /* NULL once closed */
    tz_context *context;
    struct tz_simulation_handle *next, **link; /* in context->open */
    size_t index;
    char name[64];   /* given, or "sim1", "sim2", … */
    char prefix[80]; /* of its files: "" or "NAME-" */
    const char *plugin_path;
    const char *definition; /* the cell text of a stencil of tz.stencil; NULL: of a plugin */
    tz_binding *bindings;
    tz_recording *recordings; /* of its receivers, in their order */
    /* that its streamed fields read, shared; NULL: none */
    tz_array_memory *streamed[TZ_FIELDS_MAX];
    lua_State *L;     /* the thread that called run; NULL when it does not run */
    uint32_t missing; /* fields that a run needs and nobody has set: a bit for each */
    bool fired_zero;  /* in check mode: outputs of step 0 are counted */
    int rewinds;
    bool begun;            /* it has run, or taken the fields of another run */
    bool kept;             /* not closed at the checkpoint that the run goes on from */
    char failure[2600];    /* of Lua code called during run */
    double seconds_before; /* spent in stages before the present call of run */
} tz_simulation_handle;

/* The open simulation at a stack index. Raises on another type and on a closed one. */
tz_simulation_handle *tz_handle_check(lua_State *L, int index, const char *what);
/* The same for a function that changes it. Raises when another function of it has not returned: a
 * run that calls an output, sim:set that calls a function, … */
tz_simulation_handle *tz_handle_check_idle(lua_State *L, int index, const char *what);

/* Is this check mode, in which nothing is computed? */
bool tz_handle_is_dry(const tz_simulation_handle *handle);
const tz_stencil *tz_handle_stencil(const tz_simulation_handle *handle);

/* Index of the field named at a stack index (none or nil: the first state field). Raises with the
 * nearest name. */
int tz_handle_field(lua_State *L, int index, const tz_simulation_handle *handle, const char *what);
/* The same, and raises when the field is streamed: those cannot be read. */
int tz_handle_kept_field(lua_State *L, int index, const tz_simulation_handle *handle,
                         const char *what);

/* The time at a stack index, in the unit of the simulation's time step: a number in that unit, or a
 * text with a unit of its own, "2 ms". It is finite and not negative. Raises "what: 'name' …", also
 * if the stencil has no time step. */
double tz_handle_time(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                      const char *name);

/* The file, files or function of a binding: "temperature-NNNNNN.png". */
void tz_binding_pattern(const tz_binding *binding, char *text, size_t size);

/* Add a new simulation to the open ones and to the record. `name` "" gives it a number. */
void tz_handle_open(tz_simulation_handle *handle, const char *name);
/* Finish its outputs, record it, free it; no function may use it. Returns the first error of an
 * output, but does all of it in any case. Does nothing when closed. */
tz_status tz_handle_close(tz_simulation_handle *handle, tz_error *error);

/* Put everything about it into the record, as it is now. */
void tz_handle_record(const tz_simulation_handle *handle);

/* From within a run: call function(argument, simulation) in Lua, where `argument` is a light
 * userdata. The message of an error goes to handle->failure. TZ_SCRIPT, TZ_MEMORY. */
tz_status tz_handle_call(tz_simulation_handle *handle, lua_CFunction function, void *argument,
                         tz_error *error);

/* Make the run folder, unless it is there, and write a run.json with all open simulations. For
 * every function that writes a file; not in check mode. */
tz_status tz_handle_open_folder(tz_context *context, tz_error *error);
/* The same, and the path of a file in it. */
tz_status tz_handle_open_file(tz_context *context, const char *name, char *path, size_t size,
                              tz_error *error);

/* Move what receivers have recorded out of memory: where it is much, or all, for a checkpoint. */
tz_status tz_recordings_keep(tz_simulation_handle *handle, bool all, tz_error *error);

/* ---- A run in which nothing happens -------------------------------------------------------- */

/* The fields before the first run of a simulation. Errors of reading are no warning: the run finds
 * them. */
typedef struct tz_idle {
    /* All state fields are one value each, and only they decide what the run does. */
    bool watched;
    double values[TZ_FIELDS_MAX];
} tz_idle;
void tz_idle_begin(tz_idle *before, const tz_simulation_handle *handle, bool first);
/* After so many steps: a warning if no field has a start. */
void tz_idle_end(const tz_idle *before, const tz_simulation_handle *handle, int64_t steps);

/* ---- Outputs and functions of a simulation: binding.c ---------------------------------------- */

/* A userdata of this type is a tz_output. Its user values keep what it has of the script. */
#define TZ_TYPE_OUTPUT "trapeze.output"
enum {
    TZ_OUTPUT_COLUMNS = 1, /* of a table: functions, under the numbers of their columns from 1 */
    TZ_OUTPUT_OUTLINE = 1, /* of a picture: a floorplan, or nil */
    TZ_OUTPUT_CAPTION,     /* of a picture: the function that makes captions, or nil */
    TZ_OUTPUT_PATH,        /* of a picture: the memory of its path, or nil */
    TZ_OUTPUT_VALUES = TZ_OUTPUT_PATH
};

/* Write a bound output, or call a bound function, for the simulation's present step. The simulation
 * is at a stack index. Raises. */
void tz_binding_write(lua_State *L, tz_binding *binding, int handle_index);

/* For the time of a run: the function at a stack index says every so many iterations whether it
 * ends. The binding is the last one. Raises. */
void tz_binding_until(lua_State *L, tz_simulation_handle *handle, int handle_index, int index,
                      int64_t every);
void tz_binding_until_ended(lua_State *L, tz_simulation_handle *handle, int handle_index);

/* Is it a table that what its simulation records fills, a row for each step? */
static inline bool tz_binding_listens(const tz_binding *binding)
{
    return binding->writer.probes && binding->every.steps == 1;
}
/* Write the rows that have come in for such a table; for other bindings nothing. */
tz_status tz_binding_take(tz_binding *binding, tz_error *error);
/* Let another thread write an output for the snapshot's step. */
tz_status tz_binding_write_later(tz_binding *binding, tz_snapshot *snapshot, tz_error *error);

/* Does it call a function of the script? */
bool tz_binding_calls_lua(const tz_binding *binding);

/* Is the file of that step written? Tables and functions are never done. */
bool tz_binding_is_done(const tz_binding *binding, int64_t step);

#endif
