/* What a plan's kernel does in a stage, from its machine code and its geometry (model/work.h).
 *
 * Only the planner needs this: a run with a fixed plan does without. Each family answers through
 * its tz_cuda_planner; the functions at the end are what those share. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_WORK_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_WORK_H

#include "backend/cuda/family/family.h"
#include "backend/cuda/sass/mix.h"

/* A step of a family's main loop: what its warps execute inside the grid (`inner`), at the grid's
 * ends along the streamed axis (`end`) and at its sides (`side`).
 *
 * Resident grids: `end` is an exchange. Tiles: a step is one element of a thread; `end` and
 * `side_end` are what inner and border blocks do once a pass besides. */
typedef struct tz_cuda_steps {
    tz_work_part inner, end, side; /* of these: step, once, chain, clocks, text_bytes */
    tz_work_part inner_idle, end_idle, side_idle; /* planes: steps with nothing to store; at the
                                                   * ends: none of whose passes is wanted */
    tz_work_part side_end;                        /* tiles */
    tz_work_part load, store; /* tiles: an element into and out of shared memory */
    double skipped;           /* tiles: instructions of a step in which no lane computes */
    int registers, local_bytes, shared_bytes; /* static */
} tz_cuda_steps;

/* How a family's lanes access shared memory. */
typedef struct tz_cuda_lanes {
    double conflict; /* passes of an access of 16 bytes a lane, against those without conflicts */
    double stored;   /* share of the lanes that store what they computed */
} tz_cuda_lanes;

/* The loops of a compiled kernel that are its family's steps, the cheapest step first. */
typedef struct tz_cuda_code {
    const tz_problem *problem;
    const tz_limits *limits;
    const tz_plan *plan;
    const tz_cuda_mix *mix;
    tz_cuda_lanes lanes;
    int count;
    int at[8];       /* loop of the mix */
    double steps[8]; /* that one iteration of it advances */
} tz_cuda_code;

/* A plan's geometry and the counts of its kernel. */
typedef struct tz_cuda_job {
    const tz_problem *problem;
    const tz_limits *limits;
    const tz_plan *plan;
    const tz_cuda_shape *shape;
    const tz_cuda_steps *steps;
    int blocks; /* of a multiprocessor at once */
} tz_cuda_job;

/* Plans in the making, for tz_backend.candidates. */
typedef struct tz_cuda_plans {
    const tz_problem *problem;
    const tz_limits *limits;
    const tz_plan *given;
    const tz_cuda_family *family;
    tz_plan *plans;
    int max, count;
} tz_cuda_plans;

/* What the planner asks of a family. */
struct tz_cuda_planner {
    /* Vector and warps follow from the height: a plan of another height chooses them anew. */
    bool refits;
    /* OPTIONAL: 1 and 1 where it is NULL. */
    tz_cuda_lanes (*lanes)(const tz_problem *problem, const tz_plan *plan);
    /* How many steps one iteration of a compiled loop advances; 0: it is none of the family's. */
    double (*steps)(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                    const tz_cuda_loop *loop);
    /* The parts of `out` from the loops of `code`, of which there is one at least. */
    void (*parts)(const tz_cuda_code *code, tz_cuda_steps *out);
    /* Parts, ghost bytes, redundancy and exchanges of `out`, whose common numbers are there. */
    void (*work)(const tz_cuda_job *job, tz_model_work *out);
    /* Adds the heights and shapes that are worth considering. */
    void (*candidates)(tz_cuda_plans *plans);
};

/* ---- The planner ----------------------------------------------------------------------------- */

/* The steps of a plan's kernel, from the cache. A kernel that the cache lacks is compiled if
 * `compile`; else *found is false. TZ_UNSUPPORTED: the main loop is not found. */
tz_status tz_cuda_steps_get(tz_cuda_steps *out, bool *found, const tz_cuda_family *family,
                            const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                            bool compile, tz_error *error);
/* An estimate of a plan's steps, from two heights whose kernels are in the cache, one on each side
 * of the plan's where possible; else from small heights, compiled now. */
tz_status tz_cuda_steps_estimate(tz_cuda_steps *out, const tz_cuda_family *family,
                                 const tz_problem *problem, const tz_place *place,
                                 const tz_plan *plan, tz_error *error);
/* The plan with another height; what does not follow from the height is kept. False: there is
 * none. */
bool tz_cuda_plan_with_height(const tz_problem *problem, const tz_limits *limits,
                              const tz_plan *plan, int height, tz_plan *out);
/* Lowers the estimated registers of `out` to what the blocks of the plan leave a thread: a compiler
 * spills the rest. */
void tz_cuda_estimate_registers(const tz_model_device *device, const tz_plan *plan,
                                tz_model_work *out);

/* For tz_backend: what a complete plan does. */
tz_status tz_cuda_work(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                       tz_effort effort, tz_model_work *out, tz_error *error);
/* For tz_backend: plans worth considering. */
tz_status tz_cuda_candidates(const tz_problem *problem, const tz_place *place, const tz_plan *given,
                             tz_plan *plans, int max, int *count, tz_error *error);

/* ---- For families ---------------------------------------------------------------------------- */

/* Completes a plan of the family with what `given` names and these; 0: the family's choice. False:
 * the family does not take it. Where another value is given, nothing is made: *made. */
bool tz_cuda_plans_make(const tz_cuda_plans *plans, int height, int vector, int warps, tz_plan *out,
                        bool *made);
/* Adds a complete plan that is not there yet. */
void tz_cuda_plans_keep(tz_cuda_plans *plans, const tz_plan *plan);
/* Both. */
bool tz_cuda_plans_add(tz_cuda_plans *plans, int height, int vector, int warps);
/* Stream families: all heights up to `most`, or fewer where they are many, each with its own
 * choices and with those of `others` (vector and warps, 0: chosen). */
typedef struct tz_cuda_variant {
    int vector, warps;
} tz_cuda_variant;
void tz_cuda_plans_add_heights(tz_cuda_plans *plans, int most, const tz_cuda_variant *others,
                               int others_count);

/* One step of a loop as a part. `all`: share of the instructions beside the way through the loop
 * that are executed too. */
void tz_cuda_take_loop(tz_work_part *part, const tz_cuda_loop *loop, double steps, double all,
                       tz_cuda_lanes lanes);
/* `inner` from the cheapest loop, `end` from the dearest and `side` from the second of three.
 * `diverged`: share of the other ways that lanes at a border take. */
void tz_cuda_take_ends(const tz_cuda_code *code, double diverged, tz_cuda_steps *out);
/* The loop of those that is the sides', and that of the ends, as indices of code->at. */
int tz_cuda_side_of(const tz_cuda_code *code);
int tz_cuda_end_of(const tz_cuda_code *code);
int tz_cuda_outermost(const tz_cuda_mix *mix, int loop);

/* A part of `warps` warps that run `code` for `steps` steps each; NULL where that is nothing. */
tz_work_part *tz_cuda_add_part(tz_model_work *out, const char *name, const tz_work_part *code,
                               double warps, double steps);
/* A share of a part's steps is of another kind. */
void tz_cuda_mix_steps(tz_work_part *part, const tz_work_part *other, double share);

/* Elements that all parts' steps compute, `elements_a_step` a warp, against the useful ones. */
double tz_cuda_count_redundancy(const tz_model_work *out, double elements_a_step, double useful);
/* Bytes that are loaded more than once: `loaded_a_step` in each step of a warp and for each of the
 * steps that are loaded ahead. `far_share`: of the bytes read, those loaded again much later. */
void tz_cuda_count_ghosts(tz_model_work *out, double loaded_a_step, double ahead, double far_share);
/* Rows that are written in pieces which share bursts of memory, or by lanes with two packets. */
void tz_cuda_count_torn(tz_model_work *out, double strip_bytes, double lane_bytes);
/* Loads whose packets share sectors of L2 with another request. `apart`: a lane's packets lie side
 * by side. */
void tz_cuda_count_halves(const tz_problem *problem, tz_model_work *out, double useful,
                          double ghost, int vector, bool apart);

/* Bytes of one element of the grid. */
typedef struct tz_cuda_bytes {
    double state;   /* fields of that role */
    double written; /* those of them that are written */
    double fixed;   /* static fields */
    double streamed;
} tz_cuda_bytes;
tz_cuda_bytes tz_cuda_bytes_of(const tz_problem *problem);
double tz_cuda_elements_of(const tz_problem *problem);

#endif
