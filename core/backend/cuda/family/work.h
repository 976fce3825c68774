/* What a plan's kernel does in a stage, from its machine code and its geometry (model/work.h). */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_WORK_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_WORK_H

#include "backend/backend.h"
#include "backend/cuda/family/family.h"
#include "backend/cuda/sass/mix.h"

/* A step of a family's main loop: what its warps execute where they see no border, where the
 * grid's ends along the streamed axis are, and where its sides are; of grids that stay on chip
 * `end` is an exchange. Of tiles a step is of one element a thread; `end` and `side_end` are what
 * inner and side blocks do once a pass besides. */
typedef struct tz_cuda_steps {
    tz_work_part inner, end, side; /* of these: step, once, chain, clocks, text_bytes */
    tz_work_part inner_idle, end_idle, side_idle; /* planes: steps with nothing to store, or (ends)
                                                   * none of whose passes is wanted */
    tz_work_part side_end;                        /* tiles */
    tz_work_part load, store; /* tiles: an element in and out of shared memory */
    double skipped;           /* tiles: instructions of a step where no lane has anything to do */
    double exchange;          /* resident: instructions of an exchange of a warp */
    int registers, local_bytes, shared_bytes; /* static */
} tz_cuda_steps;

/* What is asked of a family: its plan's geometry and the counts of its kernel. */
typedef struct tz_cuda_job {
    const tz_problem *problem;
    const tz_plan *plan;
    const tz_cuda_shape *shape;
    const tz_cuda_steps *steps;
    const tz_limits *limits;
    int blocks; /* of a multiprocessor at once */
} tz_cuda_job;

/* The steps of a family in a kernel's mix. TZ_UNSUPPORTED: the loop is not found. */
tz_status tz_cuda_steps_find(tz_cuda_steps *out, const tz_cuda_family *family,
                             const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan, const tz_cuda_mix *mix, tz_error *error);
/* Those of a plan's kernel, from the cache; where it is not there, compiled, or else not *found. */
tz_status tz_cuda_steps_get(tz_cuda_steps *out, bool *found, const tz_cuda_family *family,
                            const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                            bool compile, tz_error *error);
/* The plan with another height, all that does not follow from the height kept. False: there is
 * none. */
bool tz_cuda_plan_with_height(const tz_problem *problem, const tz_limits *limits,
                              const tz_plan *plan, int height, tz_plan *out);
/* Those that it may have, from two heights whose kernels are in the cache, on both sides of the
 * plan's if there are such; else from small heights, compiled now. */
tz_status tz_cuda_steps_estimate(tz_cuda_steps *out, const tz_cuda_family *family,
                                 const tz_problem *problem, const tz_place *place,
                                 const tz_plan *plan, tz_error *error);
/* Kernels name the threads of a block and how many blocks are to be on a multiprocessor at once:
 * no compiler gives one more registers than that leaves, it spills them. So does the guess. */
void tz_cuda_estimate_registers(const tz_model_device *device, const tz_plan *plan,
                                tz_model_work *out);
/* Parts, ghost bytes, redundancy and meetings of `out`, whose common numbers are there. */
void tz_cuda_work_line(const tz_cuda_job *job, tz_model_work *out);
void tz_cuda_work_rows(const tz_cuda_job *job, tz_model_work *out);
void tz_cuda_work_planes(const tz_cuda_job *job, tz_model_work *out);
void tz_cuda_work_tile(const tz_cuda_job *job, tz_model_work *out);
void tz_cuda_work_resident(const tz_cuda_job *job, tz_model_work *out);

/* For tz_backend: what a complete plan does. */
tz_status tz_cuda_work(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                       tz_effort effort, tz_model_work *out, tz_error *error);
/* For tz_backend: plans worth considering. */
tz_status tz_cuda_candidates(const tz_problem *problem, const tz_place *place, const tz_plan *given,
                             tz_plan *plans, int max, int *count, tz_error *error);

/* Bytes of the state fields (of those that are written alone), static and streamed fields, of one
 * element of the grid. */
typedef struct tz_cuda_bytes {
    double state, written, fixed, streamed;
} tz_cuda_bytes;
tz_cuda_bytes tz_cuda_bytes_of(const tz_problem *problem);

#endif
