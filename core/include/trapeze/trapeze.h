/* trapeze/trapeze.h: Trapeze as a library (link with -ltrapeze).
 *
 * A session holds plugins, stencils and simulations. Options are JSON with the keys of scenarios:
 * what `trapeze manual` and docs/scenario.md say of tz.stencil, tz.simulation, sim:run and the
 * others holds here, with the same messages. Cells are passed as memory.
 *
 *     tz_session *session;
 *     tz_sim *sim;
 *     tz_error error;
 *     tz_session_create(&session, NULL, &error);
 *     tz_sim_create(&sim, session, "{\"plugin\": \"life\", \"grid\": [256, 256]}", &error);
 *     tz_sim_set(sim, "alive", NULL, &start, &error);
 *     tz_sim_advance(sim, 1000, &error);
 *     tz_sim_get(sim, "alive", NULL, &result, &error);
 *     tz_session_destroy(session);
 *
 * ERRORS    A function that can fail returns a tz_status. If that is not TZ_OK it has filled
 *           `error`, which may be NULL, and otherwise changed nothing unless its text says so.
 *           Outputs are then undefined. The message is one line; that of a formula has two more,
 *           which show where. TZ_USAGE: an argument or a key is refused, with the nearest
 *           known name, or is NULL; TZ_MEMORY. Other statuses are named at the functions.
 * THREADS   One thread at a time uses a session and what belongs to it; it need not be the same
 *           one each time. Several sessions may be used at once. Functions marked [any thread] may
 *           be called at any time, those marked [signal] also in a signal handler.
 * PROCESS   The library prints nothing, ends no process, and changes neither the environment nor
 *           the working folder. It handles no signal. It begins child processes, and waits for
 *           them: compilers, and one that tries the functions of a plugin when a session uses it
 *           for the first time: docs/library.md. It reads the variables of docs/environment.md,
 *           such as TRAPEZE_CACHE, the folder of compiled code and plans.
 * TEXTS     UTF-8, with a zero at the end. A text that a function gives is borrowed: valid until
 *           the next call with the same session.
 * AXES      x comes first and is the fastest in memory, as grid = [nx, ny, nz] has it. A C array
 *           a[ny][nx], or one of numpy of shape (ny, nx), has shape {nx, ny} here.
 * UNITS     Those of the stencil's parameters: time is in the unit of its time step. Seconds are
 *           those of the clock. */
#ifndef TRAPEZE_TRAPEZE_H
#define TRAPEZE_TRAPEZE_H

#include <stdint.h>
#include <trapeze/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TZ_PUBLIC __attribute__((visibility("default")))

typedef struct tz_session tz_session;
typedef struct tz_sim tz_sim;

/* The version of the library, "0.2.0". Static. [any thread] */
TZ_PUBLIC const char *tz_version(void);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Elements in memory. */
typedef struct tz_memory {
    void *data;
    /* numpy's code without byte order: "b1" (0 or 1), "i1", "u1", "i2", "u2", "i4", "u4", "i8",
     * "u8", "f4", "f8"; the library also gives "f2" (IEEE half) in raw views. Native byte order. */
    const char *dtype;
    int32_t dims;   /* 1 to 3 */
    int32_t device; /* TZ_HOST, or the number of the CUDA device that has the memory */
    int64_t shape[3];
    /* bytes between two elements along each axis; all 0: x fastest, without gaps. One of 0 beside
     * others repeats elements of memory that is read; memory that is written may share no bytes. */
    int64_t strides[3];
} tz_memory;

enum { TZ_HOST = -1 };

/* ---- Sessions -------------------------------------------------------------------------------- */

enum { TZ_LOG = 0, TZ_WARNING = 1 };

/* Where a run is. */
typedef struct tz_turn {
    const char *name;    /* of the simulation, borrowed for the call */
    int64_t done, total; /* iterations of this run; total -1: not known */
    int64_t step;        /* of the simulation */
    double seconds;      /* in stages of this run */
} tz_turn;

/* Set struct_size to sizeof(tz_session_options), all else may be zero. Borrowed for the call of
 * tz_session_create(), the callbacks and `user` for the life of the session. */
typedef struct tz_session_options {
    uint64_t struct_size;
    /* Folders with plugins, or plugins (.so), before those of $TRAPEZE_PLUGIN_PATH and Trapeze's
     * own. */
    const char *const *plugins;
    uint64_t plugins_count;
    void *user;
    /* OPTIONAL. A line of the log or a warning, without a newline, borrowed for the call. Called in
     * the thread that uses the session, within a call. It must not use the session. */
    void (*message)(void *user, int level, const char *text);
    /* OPTIONAL. Called between two stages of a run, at most 20 times a second. Not 0: the run ends
     * with TZ_INTERRUPTED. It must not use the session. */
    int (*turn)(void *user, const tz_turn *turn);
} tz_session_options;

/* Open a session; `options` may be NULL. The caller destroys it. Errors: TZ_IO. A plugin that is
 * refused is an error where it is used. Takes some milliseconds. */
TZ_PUBLIC tz_status tz_session_create(tz_session **out, const tz_session_options *options,
                                      tz_error *error);
/* Free a session and all that belongs to it, simulations too. NULL is fine. Not within a
 * callback. */
TZ_PUBLIC void tz_session_destroy(tz_session *session);

/* Replace the callback `turn`; NULL: none. Not within a callback. */
TZ_PUBLIC void tz_session_set_turn(tz_session *session,
                                   int (*turn)(void *user, const tz_turn *turn));
/* End what the session is doing: a run after its stage, a search or a compilation soon. That call
 * then returns TZ_INTERRUPTED, with fields as they are after the last stage. Does nothing if the
 * session is idle: each call begins anew. [any thread] [signal] */
TZ_PUBLIC void tz_session_cancel(tz_session *session);

/* Call a function of scenarios: "tz.predict", "tz.tune", "tz.stencil", "tz.backends", …
 *
 * `arguments`: a JSON list with its arguments; NULL: none; anything else is the only argument.
 * `result` (may be NULL) gets what it returns as JSON: one value, a list of several, or "null".
 *
 * JSON says what scenarios say, and three things more, each an object with one key:
 *   {"tz.NAME": ARGUMENTS}   what that function returns: {"tz.circle": {"centre": [5, 5], …}}
 *   {"tz.memory": "NAME"}    an array of tz_session_give(), wherever a scenario takes an array
 *   {"tz.object": N}         a value that has no JSON: a stencil, a floorplan, receivers, an array
 * In results, values without JSON are {"tz.object": N, "type": …}, which tz_object_call() and
 * arguments take; numbers that are not finite are the texts "nan", "inf" and "-inf". Arguments may
 * not nest deeper than 100.
 *
 * Functions that write files of a run's folder are not part of the library; docs/library.md lists
 * what is missing, and why. Errors: those of the function. */
TZ_PUBLIC tz_status tz_session_call(tz_session *session, const char *function,
                                    const char *arguments, const char **result, tz_error *error);

/* Define a stencil from formulas, as tz.stencil does: "{\"dims\": 2, \"fields\": [\"t\"], …}".
 * *id is its name, which "plugin" of simulations and predictions takes; an equal definition has the
 * same one. */
TZ_PUBLIC tz_status tz_session_define(tz_session *session, const char *definition, const char **id,
                                      tz_error *error);

/* Predict plans, and measure them, as tz.predict and tz.tune do. */
TZ_PUBLIC tz_status tz_session_predict(tz_session *session, const char *options,
                                       const char **result, tz_error *error);
TZ_PUBLIC tz_status tz_session_tune(tz_session *session, const char *options, const char **result,
                                    tz_error *error);

/* Describe a stencil as JSON, as `trapeze plugins --json` does: {"id", "doc", "dims", "radius",
 * "fields": [{"name", "role", "type", "unit", "doc", "required", "default"}], "parameters":
 * [{"name", "type", "unit", "doc", "default", "min", "max"}], …}. `id` NULL: a list of these, for
 * all stencils that the session knows. TZ_UNKNOWN, TZ_PLUGIN. */
TZ_PUBLIC tz_status tz_session_describe(tz_session *session, const char *id, const char **result,
                                        tz_error *error);

/* Name a copy of some memory of the host, for {"tz.memory": NAME}; in place of an earlier one of
 * that name. `memory` NULL: forget the name. TZ_TYPE, TZ_SHAPE. */
TZ_PUBLIC tz_status tz_session_give(tz_session *session, const char *name, const tz_memory *memory,
                                    tz_error *error);

/* ---- Objects --------------------------------------------------------------------------------- */

/* Call a method: of receivers (receivers:array()), stencils, floorplans, arrays, simulations. As
 * tz_session_call(). */
TZ_PUBLIC tz_status tz_object_call(tz_session *session, int64_t object, const char *method,
                                   const char *arguments, const char **result, tz_error *error);
/* The elements of an object that is an array, as they are in memory: read only, borrowed until the
 * object is released. TZ_TYPE: it is none. */
TZ_PUBLIC tz_status tz_object_array(tz_session *session, int64_t object, tz_memory *out,
                                    tz_error *error);
/* Forget an object: its number is not used again. Others may still use what it was. Unknown numbers
 * are ignored. */
TZ_PUBLIC void tz_object_release(tz_session *session, int64_t object);

/* ---- Simulations ----------------------------------------------------------------------------- */

/* Make a simulation: `options` are those of tz.simulation. Errors: TZ_UNKNOWN, TZ_SHAPE, TZ_RANGE,
 * TZ_UNSTABLE, TZ_UNSUPPORTED, TZ_BACKEND. The caller destroys it, before the session or with
 * it. */
TZ_PUBLIC tz_status tz_sim_create(tz_sim **out, tz_session *session, const char *options,
                                  tz_error *error);
/* Free it, and end its views. NULL is fine. */
TZ_PUBLIC void tz_sim_destroy(tz_sim *sim);

/* Call a method of simulations, "run", "jump", "params", "histogram", …, with arguments and result
 * as in tz_session_call(). "picture" draws it: {"file": "a.png"} and other keys of tz.picture; the
 * file is a path, and must not be there. */
TZ_PUBLIC tz_status tz_sim_call(tz_sim *sim, const char *method, const char *arguments,
                                const char **result, tz_error *error);

/* Facts about a simulation. */
typedef struct tz_sim_facts {
    int64_t step;      /* iterations so far */
    double time;       /* in the unit of its time step; NAN: it has none */
    double seconds;    /* in stages so far */
    int64_t grid[3];   /* unused axes are 1 */
    int64_t cells;     /* of the grid */
    int64_t bytes;     /* of its fields and work space, about */
    int32_t dims;      /* 1 to 3 */
    int32_t threads;   /* that it uses */
    int32_t height;    /* of its plan now */
    char backend[16];  /* "cpu", "cuda", "reference" */
    char precision[8]; /* "single", "double", "none" */
    char name[64];     /* in messages */
    char plugin[64];   /* the stencil's name, cut */
} tz_sim_facts;

/* Never fails; takes no time to speak of. */
TZ_PUBLIC void tz_sim_get_facts(const tz_sim *sim, tz_sim_facts *out);

/* ---- Fields ---------------------------------------------------------------------------------- */

/* Set the cells of a field from memory of the host: the box that begins at cell `at` and has the
 * memory's shape; `at` NULL: all cells. Values are converted to the field's type, and refused
 * (nothing is then changed) if it cannot hold them: TZ_TYPE, TZ_RANGE (not finite, or not inside
 * the grid), TZ_SHAPE, TZ_UNKNOWN (no such field). Ends views. */
TZ_PUBLIC tz_status tz_sim_set(tz_sim *sim, const char *field, const int64_t *at,
                               const tz_memory *memory, tz_error *error);
/* Copy the cells of a box into memory of the host, likewise. Values are converted to the memory's
 * type; TZ_TYPE if it cannot hold one (real values become integers only if they are some). A
 * derived field is computed. Errors: those of tz_sim_set(), TZ_BACKEND. */
TZ_PUBLIC tz_status tz_sim_get(const tz_sim *sim, const char *field, const int64_t *at,
                               const tz_memory *memory, tz_error *error);
/* The type and shape of a field's values, for tz_sim_get(); data and strides are 0. A streamed
 * field has those of a slab. */
TZ_PUBLIC tz_status tz_sim_layout(const tz_sim *sim, const char *field, tz_memory *out,
                                  tz_error *error);

/* A view is memory of the simulation itself, read only, borrowed. It ends (its cells are no longer
 * the field's, or are freed) at the next call of a function that is not marked "keeps views", and
 * when the simulation is destroyed: then tz_sim_generation() is another number than before. */
enum {
    /* Memory as it is, though it holds other numbers than the values: half precision ("f2"),
     * differences from an origin, words of 32 bits ("u4": with W words in a row, bit b of word i is
     * column b * W + i). */
    TZ_VIEW_RAW = 1
};
typedef struct tz_sim_cells {
    tz_memory memory;
    double origin, scale; /* of a raw view: a value is origin + scale * element; mostly 0 and 1 */
    uint64_t generation;
} tz_sim_cells;

/* View a field where memory holds all of its values as they are: on one device, without an origin,
 * not packed. After it the device has done all stages. TZ_UNSUPPORTED: there is no such memory, use
 * tz_sim_get(). Keeps views. */
TZ_PUBLIC tz_status tz_sim_view(tz_sim *sim, const char *field, int flags, tz_sim_cells *out,
                                tz_error *error);
/* Changes whenever views end. It takes no time to speak of. Keeps views. */
TZ_PUBLIC uint64_t tz_sim_generation(const tz_sim *sim);

/* For tensors of DLPack over a view: a `deleter` that stores 1 to the int32_t at `manager_ctx`, and
 * does nothing else. `tensor` is a DLManagedTensor or a DLManagedTensorVersioned of version 1.
 * [any thread] [signal] */
TZ_PUBLIC void tz_sim_view_done(void *tensor);

/* Numbers about a field's values, as sim:min, sim:sum, … give them; the hash is of what memory
 * holds. */
typedef struct tz_sim_numbers {
    double min, max, sum, mean;
    int64_t population; /* cells that are not 0 */
    uint64_t hash;      /* the same on every backend and plan */
} tz_sim_numbers;
/* Keeps views. TZ_UNKNOWN, TZ_UNSUPPORTED (streamed fields), TZ_BACKEND. */
TZ_PUBLIC tz_status tz_sim_reduce(const tz_sim *sim, const char *field, tz_sim_numbers *out,
                                  tz_error *error);
/* The largest change of a cell in the next iteration, as sim:residual. Keeps views. */
TZ_PUBLIC tz_status tz_sim_residual(tz_sim *sim, double *out, tz_error *error);

/* ---- Parameters ------------------------------------------------------------------------------ */

/* The value of a parameter, in its unit. TZ_UNKNOWN. Keeps views. */
TZ_PUBLIC tz_status tz_sim_param(const tz_sim *sim, const char *name, double *out, tz_error *error);
/* Change a parameter; "params" of tz_sim_call() changes several at once. TZ_UNKNOWN, TZ_RANGE,
 * TZ_UNSTABLE. */
TZ_PUBLIC tz_status tz_sim_set_param(tz_sim *sim, const char *name, double value, tz_error *error);

/* ---- Running --------------------------------------------------------------------------------- */

/* Compute so many iterations (0 is fine). TZ_DIVERGED, TZ_BACKEND, TZ_RANGE (a streamed field
 * ends), TZ_INTERRUPTED. After an error fields are those of the step that tz_sim_get_facts() says,
 * if the backend has not failed. */
TZ_PUBLIC tz_status tz_sim_advance(tz_sim *sim, int64_t steps, tz_error *error);
/* Run until something holds: the options and the result are those of sim:run, sim:jump and
 * sim:steady; `options` may also be a number of steps, "1000". sim:steady's result is the list
 * [residual, table]. Errors: those of tz_sim_advance(), TZ_UNSUPPORTED. */
TZ_PUBLIC tz_status tz_sim_run(tz_sim *sim, const char *options, const char **result,
                               tz_error *error);
TZ_PUBLIC tz_status tz_sim_jump(tz_sim *sim, const char *options, const char **result,
                                tz_error *error);
TZ_PUBLIC tz_status tz_sim_steady(tz_sim *sim, const char *options, const char **result,
                                  tz_error *error);

/* Sources and receivers, with the options of sim:sources and sim:receivers; *receivers is an object
 * with the methods of receivers, such as "array". */
TZ_PUBLIC tz_status tz_sim_sources(tz_sim *sim, const char *options, tz_error *error);
TZ_PUBLIC tz_status tz_sim_receivers(tz_sim *sim, const char *options, int64_t *receivers,
                                     tz_error *error);

/* ---- Checkpoints ----------------------------------------------------------------------------- */

/* Write fields, parameters, step and time into a file, in place of the one that is there; it
 * appears whole or not at all. TZ_IO. Keeps views. */
TZ_PUBLIC tz_status tz_sim_checkpoint(tz_sim *sim, const char *path, tz_error *error);
/* Bring a simulation of the same stencil, grid, precision, boundaries and parameters to where
 * tz_sim_checkpoint() was called: it goes on with the same bits, on any backend, plan and number of
 * threads. TZ_RANGE names what differs; TZ_FORMAT (damaged), TZ_IO. If the error is TZ_IO or
 * TZ_BACKEND fields are undefined. */
TZ_PUBLIC tz_status tz_sim_resume(tz_sim *sim, const char *path, tz_error *error);

/* ---- Scenarios ------------------------------------------------------------------------------- */

/* Run a scenario file, as `trapeze run` does, with a folder of its own. `options` (may be NULL) is
 * an object with any of "set" ({NAME: VALUE}), and what `trapeze run --help` says of "backend",
 * "check", "checkpoint" ("10min" or seconds), "device", "devices", "from", "height", "out",
 * "policy", "report", "threads" and "unsafe". "resume": the folder of such a run, with a
 * checkpoint, which goes on with the same script and "set"; one that is cancelled writes its last.
 * The result is {"folder", "steps", "seconds", "ending", "stagnated", "can_go_on", "printed"}: what
 * the script printed. Lines of its log go to `message`. Errors: TZ_SCRIPT (the message begins with
 * the script's line), TZ_EXPECT, TZ_IO, TZ_INTERRUPTED. */
TZ_PUBLIC tz_status tz_session_scenario(tz_session *session, const char *path, const char *options,
                                        const char **result, tz_error *error);

#ifdef __cplusplus
}
#endif

#endif
