/* Families: ways to execute a stage on a GPU. A family completes plans, emits their device text and
 * chooses how the kernel is launched.
 *
 * A new family is a folder here, texts in kernels/cuda, and a row of the table in family.c. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_FAMILY_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_FAMILY_H

#include "backend/backend.h"
#include "backend/cuda/family/arguments.h"
#include "backend/cuda/family/text.h"

typedef struct tz_cuda_planner tz_cuda_planner; /* work.h */

enum { TZ_CUDA_OWN_KNOBS = 2 };

typedef struct tz_cuda_family {
    /* Of plans. Versions for other dimensions may have the same name. */
    const char *name;
    const char *doc;
    int dims_low, dims_high; /* of the grids that it takes */
    int height_max;          /* of a plan; 0: the family checks it */
    int64_t tile_max;        /* along an axis; 0: any */
    bool named;              /* only for plans that name it */
    /* OPTIONAL. Knobs of plans that not all families have. */
    const char *own[TZ_CUDA_OWN_KNOBS];
    /* Why it takes no stencils of bits, of several passes, with streamed fields; NULL: it does. */
    const char *no_bits, *no_passes, *no_streamed;
    /* A stage of fewer iterations than the plan's height needs a kernel of its own. */
    bool exact;
    /* A launch may run several stages: up to plan->launch_iterations iterations. */
    bool spans;
    /* A launch computes all of a slab, not a span of it. */
    bool whole;
    /* A launch is one pass of an iteration, its number in geometry[TZ_CUDA_PASS]. */
    bool apart;
    /* OPTIONAL, if `apart`: does a launch compute all passes of this stencil? */
    bool (*fuses)(const tz_problem *problem);
    bool points; /* it takes problems with points: at each level, or, if `apart`, after a launch */
    bool stored; /* it takes fields that are stored otherwise than computed (stencil/stored.h) */
    bool hands;  /* its kernels leave fields to tz_cuda_handed() */
    bool once;   /* it takes problems with one copy of each field, */
    /* OPTIONAL. and those with pairs of fields: makes the shape of all elements that of
     * TZ_CUDA_SETTLES. */
    void (*settle)(const tz_problem *problem, tz_cuda_shape *shape);
    int warps; /* of a block, if the plan does not say */
    /* OPTIONAL. Why it cannot take a stencil for other reasons; NULL: it can. */
    const char *(*refuses)(const tz_problem *problem);
    /* Chooses all numbers of a plan that are 0, and checks it. TZ_RANGE or TZ_UNSUPPORTED with the
     * reason. May say in plan->why how. */
    tz_status (*plan)(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                      tz_error *error);
    /* OPTIONAL. If this is the best family for a plan that names none, completes the plan and
     * returns true; else the plan is undefined. */
    bool (*claims)(const tz_problem *problem, const tz_limits *limits, tz_plan *plan);
    /* Emits the device text: one kernel, tz_stage(const tz_arguments). */
    void (*emit)(tz_cuda_text *text, const tz_problem *problem, const tz_limits *limits,
                 const tz_plan *plan);
    /* The dynamic shared memory of a block. */
    int (*shared_bytes)(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan);
    /* How the kernel is launched for `length` elements along the last axis; the kernel itself is
     * that of the whole problem. `blocks` run on a multiprocessor at once; 0: unknown. */
    tz_status (*shape)(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                       int blocks, int64_t length, tz_cuda_shape *shape, tz_error *error);
    const tz_cuda_planner *planner;
} tz_cuda_family;

/* The family of a name for a problem ("stream" is a different family in each dimension). The
 * message of TZ_UNKNOWN lists the known names. */
tz_status tz_cuda_family_find(const char *name, const tz_problem *problem,
                              const tz_cuda_family **out, tz_error *error);

/* Aliasing of arrays: `field` takes over the values of another field (tz_stencil_takes()), so that
 * field's array before a stage can be the array of `field` after it. Its index; -1: there is
 * none. */
int tz_cuda_taken(const tz_problem *problem, int field);
/* The same where the family's kernels make use of it: they do not store `field`. */
int tz_cuda_handed(const tz_cuda_family *family, const tz_problem *problem, int field);

/* ---- One copy of each state field (tz_problem.one_copy) ----
 *
 * A launch may write a field's array where only the cell itself reads it: its own element, or that
 * of the field that it takes over. Fields that are read at one place each form pairs, those read at
 * opposite places: of a cell's reads at (r, -r), no other cell reads the same elements. In turns,
 * an iteration stores each value in the element of its partner that it has read, where the next one
 * reads no element but the cell's own; that one stores each value in its own field's element. */

typedef struct tz_cuda_pairs {
    int count;                          /* of fields with a partner */
    int partner[TZ_FIELDS_MAX];         /* -1: none; itself: read at the cell */
    int offset[TZ_FIELDS_MAX][TZ_AXES]; /* where a field with a partner is read */
} tz_cuda_pairs;

/* Which fields have partners: none, unless the problem has one copy. Returns why it cannot have
 * that; NULL: it can. */
const char *tz_cuda_pairs_find(const tz_problem *problem, tz_cuda_pairs *out);

/* The launches of a stage, and one of them. */
int tz_cuda_turns(const tz_cuda_family *family, const tz_problem *problem, int height);
tz_cuda_turn tz_cuda_turn_of(const tz_cuda_family *family, const tz_problem *problem, int height,
                             int number);
/* Can a stage leave out a part of a slab? */
bool tz_cuda_in_spans(const tz_cuda_family *family, const tz_problem *problem, int height);

/* Threads of a block. */
int tz_cuda_threads(const tz_cuda_family *family, const tz_plan *plan);

/* Why a family cannot take this stencil; NULL: it can. */
const char *tz_cuda_refusal(const tz_cuda_family *family, const tz_problem *problem);

/* Families of model/papers, NULL-terminated, and what to say where they are left out
 * (core/papers.c). */
extern const tz_cuda_family *const tz_cuda_families_added[];
extern const char tz_cuda_families_left_out[];

/* The families in order of preference, then those added; false after the last. *out is NULL if a
 * family takes no grids of that many dimensions. */
bool tz_cuda_family_at(int index, int dims, const tz_cuda_family **out);
/* tz_backend.family: each name once. */
const char *tz_cuda_family_name(int index);

/* How far a pass reads state fields, and how far an iteration does. A mirror repeats cells as far
 * inside the grid as the read is outside: they must be there even where a tile ends, so with a
 * mirror on one side of an axis the reach to its other side is at least as large. */
tz_reach tz_cuda_pass_reach(const tz_problem *problem, const tz_pass *pass);
tz_reach tz_cuda_reach(const tz_problem *problem);

/* Completes a plan. If it names no family, chooses one. */
tz_status tz_cuda_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                       tz_error *error);

/* The length of the chunks that `length` elements along the last axis are cut into, one for a
 * block: short ones begin more often, each with `before` more steps, long ones leave
 * multiprocessors idle in the last round. A block does its steps in groups; `at_once` blocks run at
 * a time. */
int64_t tz_cuda_choose_chunk(int64_t length, int64_t tiles, int64_t at_once, int64_t before,
                             int64_t group);

/* How a family's kernel is launched for all elements. */
tz_status tz_cuda_shape_all(const tz_cuda_family *family, const tz_problem *problem,
                            const tz_limits *limits, const tz_plan *plan, int blocks,
                            tz_cuda_shape *shape, tz_error *error);
/* The same for elements `low` to `high` along the last axis of a slab. */
tz_status tz_cuda_shape_span(const tz_cuda_family *family, const tz_problem *problem,
                             const tz_limits *limits, const tz_plan *plan, int blocks, int64_t low,
                             int64_t high, tz_cuda_shape *shape, tz_error *error);

/* ---- The text of a plan ------------------------------------------------------------ */

/* Texts that sources include, by name. */
extern const tz_cuda_header tz_cuda_headers[];
extern const size_t tz_cuda_headers_count;
/* Loads a kernel of a text that may include these, unless it is loaded: as tz_cuda_load(). */
tz_status tz_cuda_need_kernel(tz_cuda *cuda, tz_cuda_kernel *kernel, const char *source,
                              const char *function, tz_error *error);
/* Loads a kernel of a text, which is freed. */
tz_status tz_cuda_load_text(tz_cuda *cuda, tz_cuda_kernel *out, tz_cuda_text *text,
                            const char *function, tz_error *error);
#define TZ_CUDA_ENTRY "tz_stage"
#define TZ_CUDA_BASE "direct" /* tz_backend.base_family */

/* The source of a plan (malloc'd). Errors: TZ_MEMORY. */
tz_status tz_cuda_source(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         char **source, tz_error *error);

#endif
