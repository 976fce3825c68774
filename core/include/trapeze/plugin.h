/* trapeze/plugin.h: the ABI between Trapeze and a stencil plugin.
 *
 * A plugin is a shared object with one exported function, tz_plugin_entry, that returns a constant
 * description: which stencils it holds, and for each its fields, parameters, boundaries and passes.
 * The engine owns memory, tiles, ghost zones, threads and boundaries; the plugin owns arithmetic.
 *
 * Grids are given x first: extent[0] = nx varies fastest in memory. A plugin is never linked
 * against the executable and keeps everything but its entry static. */
#ifndef TRAPEZE_PLUGIN_H
#define TRAPEZE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Another major is refused, and so is a newer minor than the executable's. */
#define TZ_ABI_MAJOR 1u
#define TZ_ABI_MINOR 0u

enum {
    TZ_AXES = 3,
    TZ_FIELDS_MAX = 8,
    TZ_PASSES_MAX = 4,
    TZ_RADIUS_MAX = 8,
    TZ_CONSTANTS_MAX = 64,
    TZ_PARAMS_MAX = 32
};

typedef enum tz_role {
    TZ_STATE,   /* evolves: a pass may write it */
    TZ_STATIC,  /* read only, one value a cell */
    TZ_STREAMED /* read only, one grid-shaped slab an iteration (PathFinder's weight rows) */
} tz_role;

typedef enum tz_type {
    TZ_REAL, /* float or double, as the run's precision says; `real` in a cell update */
    TZ_INT,  /* int32_t; `int` in a cell update */
    TZ_BITS  /* one bit a cell, 32 cells a word; `tz_word` in a cell update.
              * Strided layout: with W = ceil(nx/32) words a row, bit b of word i is column b*W + i,
              * so the east and west neighbours of a word are whole words. */
} tz_type;

typedef enum tz_boundary {
    TZ_CLAMP,    /* a missing neighbour is the nearest cell inside (zero flux) */
    TZ_PERIODIC, /* the grid wraps around */
    TZ_FIXED,    /* cells outside hold the field's boundary value */
    TZ_MIRROR    /* reflection in the edge cell's centre: cell -k is cell k */
} tz_boundary;
#define TZ_ALLOW(boundary) (1u << (boundary))

typedef enum tz_precision { TZ_SINGLE, TZ_DOUBLE, TZ_PRECISIONS } tz_precision;

/* A constant as a cell update receives it: .f in single, .d in double precision, .i for integers.
 */
typedef union tz_slot {
    float f;
    double d;
    int64_t i;
} tz_slot;

/* ---- What a row function is given ------------------------------------------------------------ */

/* Cells to read: `at` is the first cell of the span in one row (2-D) or the first row of one
 * plane (3-D); consecutive rows of a plane are row_stride elements apart. */
typedef struct tz_view {
    const void *at;
    ptrdiff_t row_stride;
} tz_view;

typedef struct tz_target {
    void *at;
    ptrdiff_t row_stride;
} tz_target;

/* A span of `count` elements in x, on `rows` rows in y (1 unless the stencil is 3-D).
 * Elements are cells, or words for TZ_BITS fields. */
typedef struct tz_span {
    const tz_view *in;    /* [field * window + radius + d], window = 2*radius + 1; d is the offset
                           * in y (2-D) or z (3-D). A 1-D stencil has window 1. */
    const tz_target *out; /* [field]; only fields that the pass writes are valid */
    const tz_slot *constants;
    int64_t count;
    int64_t rows;
    int64_t x, y, z; /* coordinates of the first element in the grid */
    int64_t step;    /* iterations done before this one, since the run began */
} tz_span;

/* Advances one span. Pure: no state, no allocation, same bits for any split into spans. */
typedef void tz_row_fn(const tz_span *span);

/* One cell at a time through callbacks: what the reference backend calls. */
typedef struct tz_cell_access {
    const void *(*read)(const struct tz_cell_access *access, int field, int dx, int dy, int dz);
    void *(*write)(const struct tz_cell_access *access, int field);
    const tz_slot *constants;
    int64_t x, y, z;
    int64_t step;
} tz_cell_access;
typedef void tz_cell_fn(const tz_cell_access *access);

/* Instruction sets a row function is compiled for; the engine takes the best the machine has. */
typedef enum tz_isa { TZ_ISA_BASE, TZ_ISA_V3, TZ_ISA_V4, TZ_ISA_COUNT } tz_isa;

/* Made by <trapeze/rows.h>. A precision that is not compiled in is NULL. */
typedef struct tz_kernels {
    tz_row_fn *rows[TZ_PRECISIONS][TZ_ISA_COUNT];
    tz_cell_fn *cell[TZ_PRECISIONS];
} tz_kernels;

/* ---- What a plugin says of itself ------------------------------------------------------------ */

typedef enum tz_param_type {
    TZ_PARAM_REAL,
    TZ_PARAM_INTEGER,
    TZ_PARAM_FLAG,  /* true or false */
    TZ_PARAM_TEXT,  /* free text, checked by derive() */
    TZ_PARAM_CHOICE /* one of `choices` */
} tz_param_type;

typedef struct tz_param {
    const char *name;
    tz_param_type type;
    double value;        /* default of a number or flag; NAN: derive() fills it in */
    const char *text;    /* default of a text or choice */
    double min, max;     /* inclusive range of a number */
    const char *unit;    /* "" when there is none */
    const char *doc;     /* one sentence */
    const char *choices; /* "a|b|c" */
} tz_param;

typedef struct tz_field {
    const char *name;
    tz_role role;
    tz_type type;
    int radius; /* how far off centre a static or streamed field is read; 0 for state fields, whose
                 * radius is the pass's */
    const char *unit;
    const char *doc;
    int required;          /* 1: a scenario must give it; 0: `initial` otherwise */
    double initial;        /* value everywhere when the scenario gives none */
    double boundary_value; /* default outside the grid under TZ_FIXED */
} tz_field;

typedef struct tz_pass {
    const char *name;
    int radius;      /* 0 to TZ_RADIUS_MAX cells, in every axis the stencil has */
    uint32_t writes; /* bit f set: the pass writes state field f in every cell */
    const tz_kernels *kernels;
    const char *text; /* the cell update's source text, NUL-terminated */
    const char *text_file;
    const char *text_cell;    /* the TZ_CELL name in the text */
    const char *text_defines; /* "NAME=1 OTHER=2" that the text needs, or "" */
} tz_pass;

typedef struct tz_constant {
    const char *name;
    tz_type type; /* TZ_REAL or TZ_INT (also used for tz_word masks) */
} tz_constant;

/* A resolved parameter. */
typedef struct tz_value {
    double number;
    const char *text;
    int given; /* 1: the scenario set it */
} tz_value;

/* What derive() returns when it does not return 0. */
enum {
    TZ_REFUSED = -1, /* the parameters make no sense */
    TZ_DIVERGES = -2 /* they do, and the iteration would be unstable */
};

/* What derive() sees and fills. */
typedef struct tz_setup {
    uint32_t struct_size;
    int dims;
    int64_t extent[TZ_AXES]; /* cells; 1 on unused axes */
    tz_boundary boundary[TZ_AXES];
    tz_precision precision;
    tz_value *params;  /* one per tz_stencil.params; derived ones are written back */
    double *constants; /* one per tz_stencil.constants, in double; the engine rounds them once */
    double residual_per_update; /* residual = this times the max norm of an iteration's update */
    char *message;              /* on failure: one line that says what and what to do */
    size_t message_size;
} tz_setup;

/* What an analysis method may read (see tz_method). */
typedef struct tz_access {
    uint32_t struct_size;
    void *context;
    int64_t extent[TZ_AXES];
    tz_boundary boundary[TZ_AXES];
    int64_t step;
    /* Copy `count` cells of `field`, from (x, y, z), as doubles. For a streamed field, `step` says
     * which slab; otherwise it is ignored. Returns 0, or -1 when out of range. */
    int (*read)(void *context, int field, int64_t step, int64_t x, int64_t y, int64_t z,
                int64_t count, double *values);
    /* Hand results to the caller: copied. */
    void (*give_number)(void *context, const char *name, double value);
    void (*give_list)(void *context, const char *name, int64_t count, const int64_t *values);
    char *message;
    size_t message_size;
} tz_access;

/* An analysis that a stencil offers to scripts: sim:analyse("name"). Returns 0, or -1 and a
 * message. May allocate, must free. */
typedef struct tz_method {
    const char *name;
    const char *doc;
    int (*call)(const tz_access *access);
} tz_method;

typedef struct tz_picture {
    const char *field;
    const char *map;
    double low, high;
} tz_picture;

typedef struct tz_stencil {
    uint32_t struct_size;
    const char *id;  /* the name in scenarios */
    const char *doc; /* one sentence */
    int dims;        /* 1 to 3 */
    int fields_count;
    const tz_field *fields;
    int params_count;
    const tz_param *params;
    int constants_count;
    const tz_constant *constants;
    int passes_count;
    const tz_pass *passes;
    uint32_t boundaries; /* TZ_ALLOW() of each that is allowed */
    tz_boundary boundary;
    tz_picture picture; /* what a frame shows when a script does not say */
    /* Derive constants from parameters; 0, or TZ_REFUSED or TZ_DIVERGES with setup->message. NULL:
     * no constants. */
    int (*derive)(tz_setup *setup);
    int methods_count;
    const tz_method *methods;
} tz_stencil;

typedef struct tz_plugin {
    uint32_t abi_major, abi_minor;
    uint32_t struct_size;
    const char *id;
    const char *version;
    const char *doc;
    int stencils_count;
    const tz_stencil *const *stencils;
    /* Optional. Called once after loading: 0, or -1 with a message; finish() before unloading. */
    int (*init)(char *message, size_t message_size);
    void (*finish)(void);
} tz_plugin;

#define TZ_PLUGIN_HEADER                                                                           \
    .abi_major = TZ_ABI_MAJOR, .abi_minor = TZ_ABI_MINOR, .struct_size = sizeof(tz_plugin)

typedef const tz_plugin *tz_plugin_entry_fn(void);

#define TZ_PLUGIN_ENTRY_NAME "tz_plugin_entry"
/* Defines the entry: TZ_PLUGIN_ENTRY(&my_plugin) at file scope. */
#define TZ_PLUGIN_ENTRY(plugin_pointer)                                                            \
    __attribute__((visibility("default"))) const tz_plugin *tz_plugin_entry(void);                 \
    const tz_plugin *tz_plugin_entry(void)                                                         \
    {                                                                                              \
        return plugin_pointer;                                                                     \
    }

#ifdef __cplusplus
}
#endif
#endif
