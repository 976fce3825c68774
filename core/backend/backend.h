/* A backend holds the fields of a simulation and advances them. It is one constant table of
 * functions, tz_backend. This header says what each function must do. To add a backend, write the
 * table and add it to tz_backends (backend.c).
 *
 * Lifetime of a state: create(), then the functions with a `state` in any order, then destroy().
 * One thread at a time calls these functions. Several threads may call functions marked [any
 * thread] at the same time; these have no state.
 *
 * With any plan, stages must compute the same bits as the reference backend.
 *
 * REQUIRED members are never NULL. DEFAULT members are never NULL, either: a backend that does not
 * have them itself takes those of backend/host/defaults.h. OPTIONAL members may be NULL, with the
 * meaning that is given. Functions that can fail fill `error`, which may be NULL; outputs are then
 * undefined unless the text says otherwise. A function without a list of errors may return
 * TZ_MEMORY and TZ_BACKEND. */
#ifndef TZ_CORE_BACKEND_BACKEND_H
#define TZ_CORE_BACKEND_BACKEND_H

#include "backend/place.h"
#include "backend/spectral.h"
#include "base/error.h"
#include "model/work.h"
#include <stddef.h>

struct tz_reduce_sums; /* backend/host/reduce.h */
struct tz_update_sums;

/* ---- The table ------------------------------------------------------------------------------- */

typedef struct tz_backend {
    const char *name; /* REQUIRED: for --backend */
    const char *doc;  /* REQUIRED: a few words */
    bool is_gpu;      /* the devices are GPUs, numbered from 0; else the CPU */
    bool serial;      /* always uses one thread */
    bool rows;        /* computes by the row functions of plugins, which may be compiled later */

    /* REQUIRED [any thread]. The device with that number. If it does not exist: TZ_BACKEND and
     * zeros. */
    tz_status (*identify)(int device, tz_device_identity *out, tz_error *error);
    /* OPTIONAL [any thread]. Whether it can run on this machine; quick. NULL: it always can. */
    int (*available)(void);
    /* OPTIONAL [any thread]. Whether its driver is installed; instant, and opens no device. NULL:
     * it needs none. */
    int (*installed)(void);

    /* ---- Plans ---- */
    /* REQUIRED [any thread]. The name of a family by its index from 0; NULL past the last.
     * Static. */
    const char *(*family)(int index);
    /* OPTIONAL. The family of plans of height 1 that take any stencil and compile at once: a run
     * starts with one. NULL: plans need no compiler. */
    const char *base_family;
    /* REQUIRED [any thread]. Check a plan and choose the members that are zero. Errors: TZ_RANGE if
     * the height is too large (the message has the largest that fits), TZ_UNKNOWN,
     * TZ_UNSUPPORTED. */
    tz_status (*plan)(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                      tz_error *error);
    /* REQUIRED [any thread]. Bytes of host memory that create() and a stage of this plan
     * allocate. */
    int64_t (*bytes)(const tz_problem *problem, const tz_place *place, const tz_plan *plan);
    /* OPTIONAL [any thread]. Admissible plans that are not clearly worse than another: at most
     * `max`, and their number in *count. Keeps the members that `given` sets, as plan() does.
     * Compiles nothing. NULL: the plan of plan() is the only one. */
    tz_status (*candidates)(const tz_problem *problem, const tz_place *place, const tz_plan *given,
                            tz_plan *plans, int max, int *count, tz_error *error);
    /* OPTIONAL [any thread]. The work of a stage of a complete plan, for performance models.
     * TZ_UNSUPPORTED says what is missing (a compiler, a disassembler). NULL: not known. */
    tz_status (*work)(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                      tz_effort effort, tz_model_work *out, tz_error *error);

    /* OPTIONAL [any thread]. Compile the kernel of a complete plan for that device, so that its
     * first stage finds it in the cache; without a plan those of reductions. Errors: those of
     * compiling. NULL: nothing needs a compiler. */
    tz_status (*prepare)(const tz_problem *problem, const tz_place *place, int device,
                         const tz_plan *plan, tz_error *error);

    /* OPTIONAL [any thread]. Gives a complete plan another kernel, with shorter code, if the code
     * of its loop is *bytes long, which is more than an instruction cache keeps, and if that costs
     * little. *bytes is then the expected length. False: nothing has changed. */
    bool (*shorten)(const tz_problem *problem, const tz_place *place, double *bytes, tz_plan *plan);

    /* ---- A state and its fields ---- */
    /* REQUIRED. Fields are zero at first. */
    tz_status (*create)(void **state, const tz_backend_context *context, tz_error *error);
    void (*destroy)(void *state); /* REQUIRED; NULL is fine */
    /* REQUIRED. Copy the elements of a box (words for bits) into a field, or out of it: x fastest,
     * in the field's own type. */
    tz_status (*store)(void *state, int field, const tz_box *box, const void *elements,
                       tz_error *error);
    tz_status (*load)(const void *state, int field, const tz_box *box, void *elements,
                      tz_error *error);
    /* OPTIONAL. The memory of a field, after all stages so far. NULL: it is not in one piece. */
    tz_field_memory (*memory)(const void *state, int field);
    /* DEFAULT. Set all elements of a field to one value. */
    tz_status (*fill)(void *state, int field, const void *element, tz_error *error);

    /* ---- Stages ---- */
    /* REQUIRED. Advance by `height` iterations, the first of which is number `step`. `height` is at
     * most the larger of plan->height (one stage) and plan->launch_iterations (several). After
     * TZ_RANGE, TZ_UNSUPPORTED or TZ_MEMORY the fields are as they were, and the caller may try
     * another plan. After other errors they are undefined. */
    tz_status (*stage)(void *state, const tz_plan *plan, int height, int64_t step, tz_error *error);
    /* Do stages add and record at problem->points? A plan that cannot is refused:
     * TZ_UNSUPPORTED. */
    bool points;
    /* OPTIONAL. Wait for all stages, so that what they record is in problem->points->values.
     * NULL: it is when stage() returns. */
    tz_status (*recorded)(void *state, tz_error *error);
    /* OPTIONAL. Seconds that stage() has spent so far on kernels that it had to compile or read
     * from the cache; the device had no work then. NULL: none. */
    double (*set_up_s)(const void *state);
    tz_jump_function *jump; /* OPTIONAL: many iterations at once (backend/spectral.h) */
    /* OPTIONAL [any thread]. Name and version of the library that jump() needs. TZ_UNSUPPORTED,
     * with what to install: it is not there, and core/jump does the work in host memory. NULL:
     * jump() needs none. */
    tz_status (*jump_library)(char *text, size_t size, tz_error *error);
    /* OPTIONAL. Wait for all stages, and return the errors of stages since the last call. NULL: a
     * stage is done when stage() returns. */
    tz_status (*wait)(void *state, tz_error *error);

    /* ---- Reductions of fields, after all stages so far ---- */
    /* Those with sums add the state's own cells to numbers of the whole grid, of which a slab has
     * a part: tz_backend_reduce(), tz_backend_update() and tz_backend_refine() begin and end them
     * (backend/host/reduce.h). */
    /* DEFAULT. */
    tz_status (*reduce)(const void *state, int field, struct tz_reduce_sums *sums, tz_error *error);
    /* DEFAULT. Whether no state field has a NaN or an infinity; costs less than reduce(). */
    tz_status (*all_finite)(const void *state, bool *finite, tz_error *error);
    /* REQUIRED. The largest |new - old| of all cells of all state fields, between now and before
     * the last stage: at most the iterations of the last stage(), and one if that had height 1. NAN
     * without a stage, or if cells were stored since. */
    tz_status (*update_norm)(const void *state, double *norm, tz_error *error);
    /* DEFAULT. What iteration number `step` would change, computed in double from the fields as
     * they are. Not for a stencil with streamed fields. */
    tz_status (*update)(void *state, int64_t step, struct tz_update_sums *sums, tz_error *error);
    /* DEFAULT. For mixed precision: `correction` is a state of tz_problem_correction(). Adds its
     * solution to that of `state` and sets it to zero, then does what update() does, and makes the
     * residual of `state` the source of `correction`. Waits for both. Slabs need current ghost
     * zones of the correction; that of its source is undefined then. */
    tz_status (*refine)(void *state, void *correction, int64_t step, struct tz_update_sums *sums,
                        tz_error *error);
    /* OPTIONAL: for states that hold a slab of a larger grid (backend/host/slab.h). NULL: none
     * can. */
    const struct tz_slab_functions *slab;
    /* OPTIONAL. Plane z of a field averaged down to nx x ny values (base/average.h). NULL: the
     * caller loads the cells and averages them. */
    tz_status (*shrink)(const void *state, int field, int64_t z, int nx, int ny, double *values,
                        tz_error *error);

    /* ---- Snapshots ---- */
    /* OPTIONAL. A snapshot of the state fields in the mask, after all stages so far, and of all
     * static fields. While stages go on, one other thread may read it with the functions of
     * `frozen`; frozen->destroy() releases it. If too many snapshots exist, this waits with `wait`,
     * and sets *out to NULL without. TZ_UNSUPPORTED, without a message: not possible in this run.
     * NULL: never possible. */
    tz_status (*freeze)(void *state, uint32_t fields, bool wait, void **out, tz_error *error);
    /* REQUIRED with freeze: a table with destroy, load, reduce, all_finite and shrink only. */
    const struct tz_backend *frozen;

    /* ---- For measurements ---- */
    /* OPTIONAL. Facts about the kernel of a plan; may compile it. */
    tz_status (*facts)(void *state, const tz_plan *plan, tz_kernel_facts *out, tz_error *error);
    /* OPTIONAL. Joules that the device has used since some moment. TZ_UNSUPPORTED: not known. */
    tz_status (*energy)(void *state, double *joules, tz_error *error);
    /* OPTIONAL. The clock now; call it soon after a stage. TZ_UNSUPPORTED: not known. */
    tz_status (*clock)(void *state, tz_clock_facts *out, tz_error *error);
} tz_backend;

extern const tz_backend tz_backend_reference;
extern const tz_backend tz_backend_cpu;
extern const tz_backend tz_backend_cuda;

/* All backends, NULL-terminated, in the order in which "auto" tries them. */
extern const tz_backend *const tz_backends[];

/* For plan() of a backend without knobs. Errors: TZ_UNKNOWN if a family is given that it does not
 * have, TZ_UNSUPPORTED if a knob is. */
tz_status tz_backend_check_plan(const tz_plan *given, const tz_backend *backend, tz_error *error);

/* tz_backend.identify of the backends on the CPU; never fails. */
tz_status tz_host_identify(int device, tz_device_identity *out, tz_error *error);

/* The backend that predicts and runs plans on GPUs, or on CPUs. */
const tz_backend *tz_backend_of_kind(bool is_gpu);

/* The backend of that name; "auto" or NULL: the first that can run here. Errors: TZ_UNKNOWN, with
 * the nearest known name. */
tz_status tz_backend_find(const char *name, const tz_backend **out, tz_error *error);

/* ---- Names of families ----------------------------------------------------------------------- */

enum { TZ_FAMILIES_MAX = 16 };

/* Each name once, in the order of the backends. Returns how many. The names are static. */
size_t tz_family_names(const char *names[TZ_FAMILIES_MAX]);

/* TZ_UNKNOWN, with the nearest name: no backend has that family. */
tz_status tz_family_check(const char *name, tz_error *error);

#endif
