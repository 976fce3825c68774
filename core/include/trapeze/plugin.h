/* trapeze/plugin.h: the ABI between Trapeze and a stencil plugin.
 *
 * A plugin is a shared object with one exported function, tz_plugin_entry(), which returns a
 * constant description: its stencils, and for each stencil the fields, parameters,
 * boundaries and passes. The engine does everything else: memory, tiles, ghost zones, threads and
 * boundaries. A plugin is never linked against the executable. Everything in it except the entry
 * is static.
 *
 * Grids are given x first: extent[0] = nx varies fastest in memory.
 *
 * A description must have the REQUIRED members. OPTIONAL members that it omits are zero. Texts and
 * arrays must not change until the plugin is unloaded.
 *
 * The engine makes calls marked [main] on the thread that runs the scenario, one at a time and
 * never during a stage. No callback may print, exit, or change signals or the floating-point
 * environment.
 *
 * Versions. The engine accepts a plugin that was built with other headers if the major number of
 * their ABI is equal to the engine's, and the minor number is not higher. A new minor number adds
 * members at the end of structs. Members that an older plugin lacks are zero. The sizes and strides
 * in a description say how long its structs are: TZ_PLUGIN_HEADER and TZ_STENCIL_HEADER
 * (<trapeze/describe.h>) set them.
 *
 *   2.0  the first of this major number
 *   2.1  tz_pass.together
 *   2.2  tz_pass.in_place
 *   2.3  tz_stencil.check_run, tz_field.excludes
 *   2.4  `engine` in tz_stencil and tz_pass, and in what functions get: the engine's own
 *   2.5  tz_pass.slabs
 *   2.6  with slabs, `rows` of a span counts groups of rows in 2-D. The functions of in_place of
 *        plugins for 2.5 are not used
 *   2.7  tz_field.excludes 2, tz_stencil.inner */
#ifndef TRAPEZE_PLUGIN_H
#define TRAPEZE_PLUGIN_H

#include <trapeze/callbacks.h>
#include <trapeze/describe.h>
#include <trapeze/kernels.h>
#include <trapeze/params.h>
#include <trapeze/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TZ_ABI_MAJOR 2u
#define TZ_ABI_MINOR 7u

typedef struct tz_field {
    const char *name; /* REQUIRED: also its name in the cell update, as it is or as tz_NAME_ */
    tz_role role;
    tz_type type;
    /* of a static or streamed field: the largest distance at which it is read, 0 to TZ_RADIUS_MAX.
     * 0 for a state field: its radius is the pass's */
    int radius;
    const char *unit;      /* REQUIRED; "" if there is none */
    const char *doc;       /* REQUIRED: one sentence */
    int required;          /* 1: a scenario must set it; 0: without that, all cells are `initial` */
    double initial;        /* OPTIONAL */
    double boundary_value; /* OPTIONAL: the default past fixed sides */
    /* OPTIONAL, of one static field of TZ_INT. 1: the residual leaves out cells where it is not 0;
     * TZ_EXCLUDES_OUTSIDE (types.h): it is the domain */
    int excludes;
} tz_field;

/* One sweep over the grid. An iteration does all passes of a stencil, in order. TZ_PASS() sets the
 * members that <trapeze/rows.h> generates: all but name, writes and text_defines. The engine holds
 * the text's lists against the tables of the stencil. */
typedef struct tz_pass {
    const char *name; /* REQUIRED */
    /* REQUIRED: bit f is set if the pass writes field f, in every cell: state fields in
     * tz_stencil.passes, derived fields in tz_stencil.outputs */
    uint32_t writes;
    int dims;                  /* of the text */
    int radius;                /* no field is read farther away on an axis: 0 to TZ_RADIUS_MAX */
    const tz_kernels *kernels; /* REQUIRED */
    const char *text;          /* REQUIRED: the source of the cell update, for GPUs */
    const char *text_file;     /* REQUIRED: its file name, for the compiler's messages */
    const char *text_cell;     /* REQUIRED: the name of its TZ_CELL in the text */
    const char *text_defines;  /* OPTIONAL: macros that the text needs, "NAME=1 OTHER=2" */
    int fields_count;          /* the text's TZ_FIELDS */
    const tz_entry *fields;
    int constants_count; /* the text's TZ_CONSTANTS */
    const tz_entry *constants;
    /* OPTIONAL: the text's TZ_READS. State fields that it does not list are read up to `radius`
     * away on each axis, others up to their own radius. An output with an entry reads no field
     * without one */
    int reads_count;
    const tz_reads *reads;
    int8_t takes[TZ_FIELDS_MAX]; /* OPTIONAL: TZ_TAKES(); 1 + g at f: f becomes what g was */
    /* OPTIONAL: row functions of several slabs at once (<trapeze/kernels.h>); `cell` is not read.
     * `together` is of plugins before 2.5 */
    const tz_kernels *together, *in_place;
    const void *engine; /* 0: the engine's own */
    int slabs;          /* OPTIONAL: that a function of in_place computes, 2 to 4 */
} tz_pass;

typedef struct tz_constant {
    const char *name; /* REQUIRED */
    tz_type type;     /* TZ_REAL or TZ_INT; TZ_INT also for a tz_word in the cell update */
    /* OPTIONAL. 1: it has a value for each iteration, from at_step() or from the scenario */
    int varies;
} tz_constant;

/* An analysis that scripts call as sim:analyse("name"). */
typedef struct tz_method {
    const char *name; /* REQUIRED */
    const char *doc;  /* REQUIRED: one sentence */
    /* REQUIRED. [main] Returns 0, or -1 with access->message. Must free what it allocates. */
    int (*call)(const tz_access *access);
} tz_method;

/* The content of a frame if the scenario does not choose it. */
typedef struct tz_picture {
    const char *field; /* OPTIONAL: not a streamed one; by default the first state field */
    const char *map;   /* OPTIONAL: a colour map (`trapeze info` lists them) */
    double low, high;  /* OPTIONAL: the values at the map's ends; by default the field's extremes */
} tz_picture;

/* What precision "mixed" needs. The stencil has one pass, which writes `solution` only. What an
 * iteration adds to a cell is a linear function of the values of `solution`, of its boundary value
 * and of the cell's own `source`. The same iteration from zero, with a boundary value of zero and
 * the residual as the source, then computes the correction of a solution. derive() sets
 * setup->source_per_update. */
typedef struct tz_refinement {
    int solution; /* the state field, TZ_REAL */
    int source;   /* a static field, TZ_REAL */
} tz_refinement;

typedef struct tz_stencil {
    uint32_t struct_size; /* REQUIRED: TZ_STENCIL_HEADER */
    const char *id;   /* REQUIRED: the name in scenarios; stencils of all plugins differ in it */
    const char *doc;  /* REQUIRED: one sentence */
    int dims;         /* REQUIRED: 1 to 3 */
    int fields_count; /* REQUIRED: in the order of TZ_FIELDS, derived fields last */
    const tz_field *fields;
    int params_count; /* OPTIONAL: up to TZ_PARAMS_MAX */
    const tz_param *params;
    int constants_count; /* OPTIONAL: up to TZ_CONSTANTS_MAX, in the order of TZ_CONSTANTS */
    const tz_constant *constants;
    int passes_count; /* REQUIRED: 1 to TZ_PASSES_MAX */
    const tz_pass *passes;
    uint32_t boundaries;  /* REQUIRED: TZ_ALLOW() of each boundary that may be chosen */
    tz_boundary boundary; /* the default; must be allowed */
    tz_picture picture;   /* OPTIONAL */
    /* Computes the constants from the parameters. REQUIRED if there are constants. [main] The
     * engine calls it when it loads the plugin (then for a small grid and the default parameters),
     * when it creates a simulation, when a scenario sets a parameter, and for predictions; with
     * single precision a second time each, for the constants of double precision with which
     * residuals are computed. Returns 0, or TZ_REFUSED or TZ_DIVERGES with setup->message. */
    int (*derive)(tz_setup *setup);
    int methods_count; /* OPTIONAL */
    const tz_method *methods;
    const tz_refinement *refinement; /* OPTIONAL */
    /* OPTIONAL: passes that compute derived fields, each in one of them, from state and static
     * fields as memory holds them. Not with streamed fields */
    int outputs_count;
    const tz_pass *outputs;
    /* Writes the constants that vary, as they are in iteration `step` (0 is the first of a run).
     * The other members are as derive() left them. REQUIRED if there are any, unless every scenario
     * must give them. Any thread; pure. Returns 0, or TZ_REFUSED with setup->message. */
    int (*at_step)(const tz_setup *setup, int64_t step, double *constants);
    /* REQUIRED: TZ_STENCIL_HEADER. Bytes from one element of an array to the next. */
    uint32_t fields_stride, params_stride, constants_stride, passes_stride, methods_stride,
        outputs_stride;
    /* OPTIONAL: time steps that an iteration advances; 0 counts as 1. The simulated time of an
     * iteration is so often the parameter with the role TZ_PARAM_ROLE_TIME_STEP */
    int steps;
    /* OPTIONAL. [main] Compares fields with parameters. The engine calls it when the first run
     * begins, and when one begins after a change of the parameters, of a static field or of the
     * step count, or with until_residual. Returns 0; TZ_WARNS, TZ_NO_SOLUTION, TZ_REFUSED or
     * TZ_DIVERGES with facts->message. */
    int (*check_run)(const tz_run_facts *facts);
    const void *engine;   /* 0: the engine's own */
    const tz_pass *inner; /* OPTIONAL: the passes where all that a cell reads is in the domain */
} tz_stencil;

typedef struct tz_plugin {
    uint32_t abi_major, abi_minor; /* REQUIRED: TZ_PLUGIN_HEADER */
    uint32_t struct_size;          /* REQUIRED: TZ_PLUGIN_HEADER */
    const char *id;                /* REQUIRED */
    const char *version;           /* REQUIRED */
    const char *doc;               /* REQUIRED: one sentence */
    int stencils_count;            /* REQUIRED: 1 or more */
    const tz_stencil *const *stencils;
    /* OPTIONAL. [main] Once after loading, before any other call. Returns 0, or -1 with one line in
     * `message`: the plugin is then refused. */
    int (*init)(char *message, size_t message_size);
    /* OPTIONAL. [main] Once before unloading; not if init() failed. */
    void (*finish)(void);
} tz_plugin;

/* [main] Once, when the plugin is loaded. */
typedef const tz_plugin *tz_plugin_entry_fn(void);

#define TZ_PLUGIN_ENTRY_NAME "tz_plugin_entry"
#ifdef __cplusplus
}
#endif
#endif
