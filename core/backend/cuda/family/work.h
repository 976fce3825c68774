/* The work of a plan's kernel in a stage, from its machine code and its geometry (model/work.h).
 *
 * Only the planner needs it; a run with a fixed plan does not. Each family has a tz_cuda_planner.
 * The functions at the end are shared by families. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_WORK_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_WORK_H

#include "backend/cuda/family/family.h"
#include "backend/cuda/sass/mix.h"

/* A step of a family's main loop: the instructions of its warps inside the grid (`inner`), at the
 * grid's ends along the streamed axis (`end`) and at its sides (`side`).
 *
 * In the resident family, `end` is an exchange. In the tile family of model/papers, a step is one
 * element of a thread, and `end` and `side_end` are the other instructions of a pass, of inner and
 * of border blocks. */
typedef struct tz_cuda_steps {
    tz_work_part inner, end, side; /* of these: step, once, chain, clocks, text_bytes */
    /* Planes: steps that store nothing; at the ends, steps whose passes are all skipped. */
    tz_work_part inner_idle, end_idle, side_idle;
    tz_work_part side_end;    /* tiles */
    tz_work_part load, store; /* tiles: an element into and out of shared memory */
    double skipped;           /* tiles: instructions of a step in which no lane computes */
    int registers, local_bytes, shared_bytes; /* static */
} tz_cuda_steps;

/* How a family's lanes access shared memory. */
typedef struct tz_cuda_lanes {
    double conflict; /* passes of an access of 16 bytes a lane, relative to one without conflicts */
    double stored;   /* share of the lanes that store their results */
} tz_cuda_lanes;

/* The loops of a compiled kernel that are its family's steps, the cheapest step first. */
typedef struct tz_cuda_code {
    const tz_problem *problem;
    const tz_limits *limits;
    const tz_plan *plan;
    const tz_cuda_mix *mix;
    tz_cuda_lanes lanes;
    int count;
    int at[8];       /* a loop of the mix */
    double steps[8]; /* steps of one iteration of that loop */
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

/* A plan whose kernel is not compiled. */
typedef struct tz_cuda_draft {
    const tz_problem *problem;
    const tz_limits *limits;
    const tz_plan *plan;
} tz_cuda_draft;

/* What its geometry tells of a step of a lane. */
typedef struct tz_cuda_estimate {
    double updates;    /* of elements, all passes of an iteration */
    tz_work_mix step;  /* instructions, without those of updates */
    double wavefronts; /* passes through shared memory */
    double unroll;     /* steps of a loop body */
    double waits;      /* for loads that are not ahead */
    double held;       /* updates of which intermediate results stay for the next step */
    int registers;
} tz_cuda_estimate;

/* The list that tz_backend.candidates fills. */
typedef struct tz_cuda_plans {
    const tz_problem *problem;
    const tz_limits *limits;
    const tz_plan *given;
    const tz_cuda_family *family;
    tz_plan *plans;
    int max, count;
} tz_cuda_plans;

/* A family's part of the planner. */
struct tz_cuda_planner {
    /* OPTIONAL. The default is 1 for both. */
    tz_cuda_lanes (*lanes)(const tz_problem *problem, const tz_plan *plan);
    /* Steps of one iteration of a compiled loop; 0: the loop is not a main loop of the family. */
    double (*steps)(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                    const tz_cuda_loop *loop);
    /* OPTIONAL. Updates of cells, one after the other in the code of a step. By default those of a
     * lane's columns at all heights; 1 without columns. */
    double (*updates)(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan);
    /* OPTIONAL. Fills `inner.step`, without operations of cells, and registers of `out` from the
     * plan's geometry. */
    void (*estimate)(const tz_cuda_draft *draft, tz_cuda_estimate *out);
    /* Fills the parts of `out` from the loops of `code`, which has at least one. */
    void (*parts)(const tz_cuda_code *code, tz_cuda_steps *out);
    /* Adds parts, ghost bytes, redundancy and exchanges to the common numbers in `out`. */
    void (*work)(const tz_cuda_job *job, tz_model_work *out);
    /* Adds the family's candidates. */
    void (*candidates)(tz_cuda_plans *plans);
    /* OPTIONAL. tz_backend.shorten */
    bool (*shorten)(const tz_problem *problem, double *bytes, tz_plan *plan);
};

/* ---- The planner ----------------------------------------------------------------------------- */

/* The steps of a plan's kernel, from the cache. A kernel that the cache lacks is compiled if
 * `compile`; else *found is false. TZ_UNSUPPORTED: the main loop is not found. */
tz_status tz_cuda_steps_get(tz_cuda_steps *out, bool *found, const tz_cuda_family *family,
                            const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                            bool compile, tz_error *error);
/* Estimates a plan's steps from the operations of a cell, which the base family's kernel tells:
 * that one is compiled if the cache lacks it. A family without estimates compiles the plan. */
tz_status tz_cuda_steps_estimate(tz_cuda_steps *out, const tz_cuda_family *family,
                                 const tz_problem *problem, const tz_place *place,
                                 const tz_plan *plan, tz_error *error);
/* Lowers the estimated registers of `out` to the number that the plan's blocks leave a thread. The
 * compiler spills the rest. */
void tz_cuda_estimate_registers(const tz_model_device *device, const tz_plan *plan,
                                tz_model_work *out);

/* tz_backend.work */
tz_status tz_cuda_work(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                       tz_effort effort, tz_model_work *out, tz_error *error);
/* tz_backend.candidates */
tz_status tz_cuda_candidates(const tz_problem *problem, const tz_place *place, const tz_plan *given,
                             tz_plan *plans, int max, int *count, tz_error *error);

/* tz_backend.shorten */
bool tz_cuda_shorten(const tz_problem *problem, const tz_place *place, double *bytes,
                     tz_plan *plan);

/* ---- For families ---------------------------------------------------------------------------- */

/* Completes a plan of the family from `given` and these numbers; 0: the family's choice. Makes no
 * plan (*made is false) if `given` has a different number. False: the family refuses the plan. */
bool tz_cuda_plans_make(const tz_cuda_plans *plans, int height, int vector, int warps, tz_plan *out,
                        bool *made);
/* Adds a complete plan, unless the list has it. */
void tz_cuda_plans_keep(tz_cuda_plans *plans, const tz_plan *plan);
/* Makes and keeps a plan. */
bool tz_cuda_plans_add(tz_cuda_plans *plans, int height, int vector, int warps);
/* For stream families: adds heights up to `most`, a selection if they are many, each with the
 * family's choice of vector and warps and with `others` (0: the family's choice). */
typedef struct tz_cuda_variant {
    int vector, warps;
} tz_cuda_variant;
void tz_cuda_plans_add_heights(tz_cuda_plans *plans, int most, const tz_cuda_variant *others,
                               int others_count);

/* Fills a part from one step of a loop. `all`: the executed share of the instructions that are not
 * on the loop's way. */
void tz_cuda_take_loop(tz_work_part *part, const tz_cuda_loop *loop, double steps, double all,
                       tz_cuda_lanes lanes);
/* Takes `inner` from the cheapest loop, `end` from the most expensive one and `side` from the
 * second of three. `diverged`: the share of other paths that lanes at a border take. */
void tz_cuda_take_ends(const tz_cuda_code *code, double diverged, tz_cuda_steps *out);
/* The loops of the sides and of the ends, as indices of code->at. */
int tz_cuda_side_of(const tz_cuda_code *code);
int tz_cuda_end_of(const tz_cuda_code *code);
int tz_cuda_outermost(const tz_cuda_mix *mix, int loop);
/* Steps of one iteration of a loop whose lanes store `vector` elements of each field of the mask in
 * a step, in packets of 16 bytes. 0: it does not store. */
double tz_cuda_stored_steps(const tz_problem *problem, uint32_t fields, int vector,
                            const tz_cuda_loop *loop);
/* How many fields the passes write. */
double tz_cuda_written_count(const tz_problem *problem);

/* Adds a part of `warps` warps that run `code` for `steps` steps each. NULL if it is empty. */
tz_work_part *tz_cuda_add_part(tz_model_work *out, const char *name, const tz_work_part *code,
                               double warps, double steps);
/* Makes a share of a part's steps those of another part. `warps`: the share of its warps that have
 * such steps, and fetch their code. */
void tz_cuda_mix_steps(tz_work_part *part, const tz_work_part *other, double share, double warps);

/* Computed elements, `elements_a_step` for each step of a warp, relative to the useful ones. */
double tz_cuda_count_redundancy(const tz_model_work *out, double elements_a_step, double useful);
/* Bytes that are loaded more than once: a warp loads `loaded_a_step` in each step, and for `ahead`
 * more steps. `far_share` of the bytes read are loaded again much later. */
void tz_cuda_count_ghosts(tz_model_work *out, double loaded_a_step, double ahead, double far_share);
/* Bytes of those of these fields that are written. Lanes store their packets one after the
 * other. */
void tz_cuda_count_pairs(const tz_problem *problem, tz_model_work *out, uint32_t fields);
/* Bytes of loads of these fields, whose packets share L2 sectors with another request. */
void tz_cuda_count_halves(const tz_problem *problem, tz_model_work *out, uint32_t fields);

/* Bytes of one element of the grid. */
typedef struct tz_cuda_bytes {
    double state;   /* fields of that role */
    double written; /* state fields that a pass writes */
    double fixed;   /* static fields */
    double streamed;
} tz_cuda_bytes;
tz_cuda_bytes tz_cuda_bytes_of(const tz_problem *problem);
double tz_cuda_elements_of(const tz_problem *problem);

#endif
