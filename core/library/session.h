/* The inside of the library <trapeze/trapeze.h>: sessions, and how calls reach the functions of
 * scenarios. */
#ifndef TZ_CORE_LIBRARY_SESSION_H
#define TZ_CORE_LIBRARY_SESSION_H

#include "base/array.h"
#include "base/paths.h"
#include "lua/handle.h"
#include <jansson.h>
#include <trapeze/trapeze.h>

struct tz_session {
    tz_script_options options;
    tz_script_result result;
    tz_context context;
    lua_State *L;
    tz_registry *registry;
    tz_paths folders; /* of its plugins */
    atomic_bool cancelled;
    tz_session_options callbacks;
    double turned_s;           /* when `turn` was called last, on the clock */
    tz_sim *sims;              /* a list */
    int64_t objects;           /* the number of the last one */
    char *text;                /* the last result, owned; NULL: none */
    json_t *given;             /* the arguments of a call, while it lasts; owned */
    json_t *made;              /* its result; owned */
    struct scenario *scenario; /* that runs; NULL: none */
};

struct tz_sim {
    tz_session *session;
    tz_sim *next, **link;         /* in session->sims */
    tz_simulation_handle *handle; /* kept alive by the registry of Lua, */
    int reference;                /* under this */
    uint64_t generation;
};

/* TZ_USAGE: a pointer that a program gave is NULL. */
tz_status tz__check_given(const void *pointer, const char *what, tz_error *error);

/* ---- Protected calls: session.c -------------------------------------------------------------- */

/* Call a function of C with a light userdata; what it raises becomes an error. */
tz_status tz__session_protect(tz_session *session, lua_CFunction function, void *argument,
                              tz_error *error);

/* What a call of a scenario's function is made of. */
typedef struct tz__call {
    tz_session *session;
    tz_sim *sim;          /* of its method, or NULL */
    int64_t object;       /* the same; 0: a function of the module */
    const char *function; /* "run", "tz.predict" */
    const char *text;     /* its arguments; NULL: none */
    bool wants;           /* its result */
    /* Called with the results on the stack, from index 1 on, in place of making JSON of them; may
     * raise. */
    void (*take)(lua_State *L, void *into);
    void *into;
} tz__call;
/* Make it. *result may be NULL. */
tz_status tz__session_make(tz__call *call, const char **result, tz_error *error);

/* session->made as text. TZ_MEMORY. */
tz_status tz__session_write(tz_session *session, const char **result, tz_error *error);

/* ---- JSON and values: values.c --------------------------------------------------------------- */

/* Push a value. Raises. */
void tz__value_push(lua_State *L, tz_session *session, const json_t *value);
/* Push the arguments of a list, or one, and return how many. */
int tz__values_push(lua_State *L, tz_session *session, const json_t *value);
/* The JSON of the values on the stack from `first` on: one, or a list; null: there are none. Raises
 * what registering an object raises, and leaves parts to session->made then. */
void tz__values_take(lua_State *L, tz_session *session, int first);

/* Tables in the registry of Lua, under the addresses of these. */
extern const char tz__memory_key, tz__objects_key, tz__stencils_key;

/* ---- Memory: memory.c ------------------------------------------------------------------------ */

/* Memory of the host as an array that is read: *alias refers to it where it can be used as it is;
 * else *copy is one, which the caller destroys. Both have x first. TZ_TYPE, TZ_SHAPE, TZ_MEMORY. */
tz_status tz__memory_read(const tz_memory *memory, tz_array *alias, tz_array **copy,
                          tz_error *error);
/* Memory of the host: its type, and whether it has no gaps. TZ_TYPE, TZ_SHAPE. */
tz_status tz__memory_check(const tz_memory *memory, tz_dtype *dtype, bool *dense, tz_error *error);
/* TZ_SHAPE: elements of so many bytes with these strides share some. */
tz_status tz__memory_check_apart(const tz_memory *memory, size_t size, tz_error *error);
/* Write an array of the memory's shape. TZ_TYPE: a number does not fit. */
tz_status tz__memory_write(const tz_memory *memory, const tz_array *array, tz_error *error);
/* Describe an array. */
tz_memory tz__memory_of(const tz_array *array);

#endif
