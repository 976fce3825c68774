/* Families: ways to execute a stage on a GPU. A family completes plans, emits their device text and
 * chooses how the kernel is launched.
 *
 * A new family needs a folder here, a line below and a line in the table of family.c. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_FAMILY_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_FAMILY_H

#include "backend/backend.h"
#include "backend/cuda/driver/driver.h"
#include "backend/cuda/family/text.h"

enum {
    TZ_CUDA_GEOMETRY = 6,
    TZ_CUDA_PACKET_BYTES = 16, /* the most that a lane moves at once */
    TZ_CUDA_SECTOR_BYTES = 32, /* what the second-level cache is asked for */
    TZ_CUDA_LINE_BYTES = 128   /* what it has room for: 4 sectors */
};

typedef struct tz_cuda_shape {
    int grid[TZ_AXES];
    int threads; /* of a block */
    int shared_bytes;
    int geometry[TZ_CUDA_GEOMETRY]; /* tz_arguments.geometry */
    int64_t scratch_bytes; /* the kernel's own device memory, zero before its first launch */
    bool cooperative;      /* all blocks run on the GPU at once */
    int64_t low, high; /* elements along the last axis of a slab that the launch computes; 0: all */
} tz_cuda_shape;

typedef struct tz_cuda_planner tz_cuda_planner; /* work.h */

typedef struct tz_cuda_family {
    const char *name;
    const char *doc;
    /* A stage of fewer iterations than the plan's height needs a kernel of its own. */
    bool exact;
    /* A launch may run several stages: up to plan->launch_iterations iterations. */
    bool spans;
    /* A launch computes all of a slab, not a span of it. */
    bool whole;
    bool hands; /* its kernels leave fields to tz_cuda_handed() */
    int warps;  /* of a block, if the plan does not say */
    /* OPTIONAL. Why the family cannot take this stencil; NULL: it can. */
    const char *(*refuses)(const tz_problem *problem);
    /* Chooses all numbers of a plan that are 0, and checks it. TZ_RANGE or TZ_UNSUPPORTED with the
     * reason. */
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
    /* How the kernel is launched for `length` elements along the last axis; the kernel itself is that
     * of the whole problem. `blocks` run on a multiprocessor at once; 0: unknown. */
    tz_status (*shape)(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                       int blocks, int64_t length, tz_cuda_shape *shape, tz_error *error);
    const tz_cuda_planner *planner;
} tz_cuda_family;

extern const tz_cuda_family tz_cuda_family_tile;
extern const tz_cuda_family tz_cuda_family_line;   /* stream, 1-D */
extern const tz_cuda_family tz_cuda_family_rows;   /* stream, 2-D */
extern const tz_cuda_family tz_cuda_family_planes; /* stream, 3-D */
extern const tz_cuda_family tz_cuda_family_resident;
extern const tz_cuda_family tz_cuda_family_direct; /* 3-D */
extern const tz_cuda_family tz_cuda_family_block;

/* The family of a name for a problem ("stream" is a different family in each dimension). The message
 * of TZ_UNKNOWN lists the known names. */
tz_status tz_cuda_family_find(const char *name, const tz_problem *problem,
                              const tz_cuda_family **out, tz_error *error);

/* The other field whose array before a stage of the family is the array of `field` after it: the kernel
 * does not store `field`, which takes over the other one's values (tz_stencil_takes()). -1: it does. */
int tz_cuda_handed(const tz_cuda_family *family, const tz_problem *problem, int field);

/* Threads of a block. */
int tz_cuda_threads(const tz_cuda_family *family, const tz_plan *plan);

/* Why a family cannot take this stencil; NULL: it can. */
const char *tz_cuda_refusal(const tz_cuda_family *family, const tz_problem *problem);

/* The families in order of preference; false after the last. *out is NULL if a family has no version
 * for that many dimensions. */
bool tz_cuda_family_at(int index, int dims, const tz_cuda_family **out);
/* tz_backend.family. */
const char *tz_cuda_family_name(int index);

/* How far a pass reads state fields, and how far an iteration does. A mirror repeats cells as far
 * inside the grid as the read is outside: they must be there even where a tile ends, so with a mirror
 * on one side of an axis the reach to its other side is at least as large. */
tz_reach tz_cuda_pass_reach(const tz_problem *problem, const tz_pass *pass);
tz_reach tz_cuda_reach(const tz_problem *problem);

/* Elements from one row to the next in device memory. */
int64_t tz_cuda_pitch(const tz_problem *problem);
/* The fields of which a lane with so many elements has several packets. A mask. */
uint32_t tz_cuda_fields_of_packets(const tz_problem *problem, int vector);
/* Bytes of a field in device memory, and the place of a box of elements in it. */
size_t tz_cuda_field_bytes(const tz_problem *problem, int field);
tz_cuda_box tz_cuda_box_of(const tz_problem *problem, int field, const tz_box *box);

/* Completes a plan. If it names no family, chooses one. */
tz_status tz_cuda_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                       tz_error *error);

/* The length of the chunks that `length` elements along the last axis are cut into, one for a block:
 * short ones begin more often, each with `before` more steps, long ones leave multiprocessors idle in the
 * last round. A block does its steps in groups; `at_once` blocks run at a time. */
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

/* ---- Text and arguments of a plan ------------------------------------------------------------ */

/* Texts that sources include, by name. */
extern const tz_cuda_header tz_cuda_headers[];
extern const size_t tz_cuda_headers_count;
#define TZ_CUDA_ENTRY "tz_stage"

/* The source of a plan (malloc'd). Errors: TZ_MEMORY. */
tz_status tz_cuda_source(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         char **source, tz_error *error);

/* The arguments of a launch: tz_arguments of kernels/cuda/common.cuh. */
size_t tz_cuda_arguments_size(const tz_problem *problem);
enum { TZ_CUDA_ARGUMENTS_MAX = TZ_FIELDS_MAX * (16 + 8 * TZ_SIDES) + TZ_CONSTANTS_MAX * 16 + 96 };
/* Boundary values of a field in the arguments: 1 if those of all fixed sides are the same for each
 * field, else TZ_SIDES. */
int tz_cuda_edges(const tz_problem *problem);
/* The constants that the arguments have room for. */
int tz_cuda_arguments_constants(const tz_stencil *stencil);
/* The values of constants that vary, of all iterations of a launch, for which they have room: what
 * makes a driver's limit for arguments full. 0: none varies. */
int tz_cuda_varying_slots(const tz_problem *problem);
/* Errors: those of tz_problem_constants_at(); TZ_BACKEND if the iterations have no room. */
tz_status tz_cuda_arguments_fill(const tz_problem *problem, const tz_cuda_shape *shape, int height,
                                 int64_t step, const tz_cu_pointer *in, const tz_cu_pointer *out,
                                 tz_cu_pointer scratch, void *arguments, tz_error *error);

#endif
