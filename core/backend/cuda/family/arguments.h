/* Fields in device memory, the shape of a launch, and its arguments: tz_arguments of
 * kernels/cuda/common.cuh. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_ARGUMENTS_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_ARGUMENTS_H

#include "backend/cuda/driver/driver.h"
#include "stencil/problem.h"

enum {
    TZ_CUDA_GEOMETRY = 6,
    TZ_CUDA_PASS = 5,          /* the geometry of launches of a pass */
    TZ_CUDA_PHASE = 4,         /* and of pairs of fields: a tz_cuda_phase */
    TZ_CUDA_PACKET_BYTES = 16, /* the most that a lane moves at once */
    TZ_CUDA_SECTOR_BYTES = 32, /* what the second-level cache is asked for */
    TZ_CUDA_LINE_BYTES = 128   /* what it has room for: 4 sectors */
};

/* Of pairs of fields (family.h): where a launch finds them and leaves them. */
typedef enum tz_cuda_phase {
    TZ_CUDA_IN_ORDER,  /* finds each field in its own array, leaves it in its partner's */
    TZ_CUDA_EXCHANGED, /* the other way round */
    TZ_CUDA_SETTLES    /* moves them from their partners' arrays to their own; no iteration */
} tz_cuda_phase;

typedef struct tz_cuda_shape {
    int grid[TZ_AXES];
    int threads; /* of a block */
    int shared_bytes;
    int geometry[TZ_CUDA_GEOMETRY]; /* tz_arguments.geometry */
    int64_t scratch_bytes; /* the kernel's own device memory, zero before its first launch */
    bool cooperative;      /* all blocks run on the GPU at once */
    int64_t low, high; /* elements along the last axis of a slab that the launch computes; 0: all */
} tz_cuda_shape;

/* ---- Fields ---------------------------------------------------------------------------------- */

/* Elements from one row to the next in device memory. */
int64_t tz_cuda_pitch(const tz_problem *problem);
/* The fields with that role. A mask. */
uint32_t tz_cuda_fields_of_role(const tz_problem *problem, tz_role role);
/* The fields of which a lane with so many elements has several packets. A mask. */
uint32_t tz_cuda_fields_of_packets(const tz_problem *problem, int vector);
/* The fewest elements that a lane can copy to shared memory of each field: 4 bytes. */
int tz_cuda_vector_least(const tz_problem *problem);
/* Registers that a value of a field takes. */
int tz_cuda_value_words(const tz_problem *problem, int field);
/* Bytes of a field in device memory, and the place of a box of elements in it. */
size_t tz_cuda_field_bytes(const tz_problem *problem, int field);
tz_cuda_box tz_cuda_box_of(const tz_problem *problem, int field, const tz_box *box);

/* ---- The launches of a stage ----------------------------------------------------------------- */

/* A launch: all of a stage, or one pass of an iteration. */
typedef struct tz_cuda_turn {
    int first, height; /* iterations of the stage */
    int pass;          /* -1: all */
    bool ends;         /* the last one of an iteration: the fields' copies change places */
} tz_cuda_turn;

/* The arrays that hold a field: its value before an iteration, after it, and between two passes
 * that write it. */
typedef enum tz_cuda_copy { TZ_CUDA_NOW, TZ_CUDA_NEXT, TZ_CUDA_BETWEEN } tz_cuda_copy;

/* Which of them a pass (or -1) reads and writes. */
tz_cuda_copy tz_cuda_reads(const tz_problem *problem, int pass, int field);
tz_cuda_copy tz_cuda_writes(const tz_problem *problem, int pass, int field);
/* The byte in scratch memory at which a field's array between passes begins; of the number of
 * fields, the bytes of all. */
size_t tz_cuda_between(const tz_problem *problem, int field);

/* ---- Arguments ------------------------------------------------------------------------------- */

size_t tz_cuda_arguments_size(const tz_problem *problem);
/* Of a problem with points, the last bytes of the arguments: kernels that do not use them have no
 * room for them. */
typedef struct tz_cuda_point_arguments {
    tz_cu_pointer lists, values, records;
    int64_t values_row, records_row; /* bytes to the next iteration */
    /* Along the last axis: where any lie that are added, and recorded. */
    int32_t low[2], span[2];
    int32_t slot, unused;
} tz_cuda_point_arguments;
#define TZ_CUDA_NO_POINTS ((tz_cuda_point_arguments){.low = {INT32_MAX, INT32_MAX}})
enum { TZ_CUDA_ARGUMENTS_MAX = TZ_FIELDS_MAX * (16 + 8 * TZ_SIDES) + TZ_CONSTANTS_MAX * 16 + 160 };
/* Boundary values of a field in the arguments: 1 if those of all fixed sides are the same for each
 * field, else TZ_SIDES. */
int tz_cuda_edges(const tz_problem *problem);
/* The constants that the arguments have room for. */
int tz_cuda_arguments_constants(const tz_stencil *stencil);
/* The values of constants that vary, of all iterations of a launch, for which they have room: what
 * makes a driver's limit for arguments full. 0: none varies. */
int tz_cuda_varying_slots(const tz_problem *problem);
/* The most iterations of a launch. */
int tz_cuda_iterations_max(const tz_problem *problem);
/* Errors: those of tz_problem_constants_at(); TZ_BACKEND if the iterations have no room. */
tz_status tz_cuda_arguments_fill(const tz_problem *problem, const tz_cuda_shape *shape, int height,
                                 int64_t step, const tz_cu_pointer *in, const tz_cu_pointer *out,
                                 tz_cu_pointer scratch, void *arguments, tz_error *error);

#endif
