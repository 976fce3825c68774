/* A backend holds the fields of a simulation and advances them. It is one constant table of
 * functions, tz_backend; this page says what each of them must do. To add a backend, write the
 * table and list it in tz_backends (backend.c).
 *
 * Lifetime of a state: create(), then the functions with a `state` in any order, then destroy().
 * One thread at a time calls them. [any thread] marks functions without a state, which several
 * threads may call at once.
 *
 * Values that stages compute must have the bits of the reference backend, for any plan.
 *
 * REQUIRED members are never NULL. OPTIONAL ones may be, with the meaning that is given. Functions
 * that can fail return a tz_status and set the error (which may be NULL); outputs are then
 * undefined unless the text says otherwise. Where no errors are named: TZ_MEMORY and TZ_BACKEND. */
#ifndef TZ_CORE_BACKEND_BACKEND_H
#define TZ_CORE_BACKEND_BACKEND_H

#include "model/device.h"
#include "model/work.h"
#include "stencil/problem.h"

typedef struct tz_streamed_source tz_streamed_source; /* stencil/streamed_source.h */

/* ---- What the functions are told, and what they tell ----------------------------------------- */

/* What plans depend on of a GPU; 0: not known. */
typedef struct tz_limits {
    int multiprocessors;
    int shared_bytes; /* shared memory that a block may have, at most */
} tz_limits;

/* A device of this machine, as its backend knows it. */
typedef struct tz_device_identity {
    char name[128];   /* as its maker writes it: a record's title */
    int units;        /* multiprocessors of a GPU; cores of a CPU that this process may use */
    int vector_bytes; /* of row functions on a CPU; 0 for a GPU */
    tz_limits limits; /* of a GPU */
    char key[256];    /* differs between devices on which the best plans may differ */
} tz_device_identity;

/* Where plans are to run: this machine or another one. */
typedef struct tz_place {
    const tz_model_device *device; /* its record, borrowed; NULL: none */
    int threads;                   /* of a CPU; for a GPU of this machine, those that may compile */
    tz_limits limits;              /* from the device itself; zeros: it is not there */
} tz_place;

/* The limits to plan with, each from the device itself, else its record, else an H200's. */
tz_limits tz_place_limits(const tz_place *place);

/* How much tz_backend.work may do. */
typedef enum tz_effort {
    TZ_EFFORT_KNOWN,  /* use what is compiled; for the rest set only `kind` and `estimated` */
    TZ_EFFORT_CACHED, /* use what is compiled, estimate the rest and set `estimated` */
    TZ_EFFORT_COMPILE /* compile what is missing */
} tz_effort;

/* The kernel of a plan on its device. */
typedef struct tz_kernel_facts {
    int registers;           /* of a thread */
    int local_bytes;         /* of a thread: spilt registers */
    int warps, warps_max;    /* on a multiprocessor at once, and how many it can hold */
    double copy_bytes_per_s; /* of a copy in the device's memory, now; bytes read and written */
    char device[128];
} tz_kernel_facts;

/* A device's clock, and whether it is lowered to limit power or heat. */
typedef struct tz_clock_facts {
    double hz;
    bool for_power, for_heat;
} tz_clock_facts;

/* What a state is created with; all pointers are borrowed for its lifetime. */
typedef struct tz_backend_context {
    const tz_problem *problem;
    /* For each field; NULL for one that is not streamed or has no source yet. */
    const tz_streamed_source *const *streamed;
    int threads;
    int device; /* number of the GPU; others ignore it */
    bool sync;  /* wait after each stage, so that an error is found at its stage */
} tz_backend_context;

/* ---- The table ------------------------------------------------------------------------------- */

typedef struct tz_backend {
    const char *name; /* REQUIRED: for --backend */
    const char *doc;  /* REQUIRED: a few words */
    bool is_gpu;      /* its devices are GPUs, counted from 0; else the one device is the CPU */
    bool serial;      /* it uses one thread, whatever is asked for */

    /* REQUIRED [any thread]. The device of that number. TZ_BACKEND, and zeros, if there is none. */
    tz_status (*identify)(int device, tz_device_identity *out, tz_error *error);
    /* OPTIONAL [any thread]. Whether it can run on this machine; "auto" asks. Must be quick. NULL:
     * it always can. */
    int (*available)(void);

    /* ---- Plans ---- */

    /* REQUIRED [any thread]. The name of a family by its index from 0; NULL past the last. Static. */
    const char *(*family)(int index);
    /* REQUIRED [any thread]. Check a plan and complete it: members that are zero are chosen.
     * TZ_RANGE (the height is too large, with the largest that fits), TZ_UNKNOWN,
     * TZ_UNSUPPORTED. */
    tz_status (*plan)(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                      tz_error *error);
    /* REQUIRED [any thread]. Host memory that create() and any stage of this plan allocate, in
     * bytes. */
    int64_t (*bytes)(const tz_problem *problem, const tz_place *place, const tz_plan *plan);
    /* OPTIONAL [any thread]. Plans that are admissible and not clearly worse than another, at most
     * `max`, their number in *count. Members that `given` sets are kept, as in plan(). Compiles
     * nothing. NULL: there is only the plan that plan() makes. */
    tz_status (*candidates)(const tz_problem *problem, const tz_place *place, const tz_plan *given,
                            tz_plan *plans, int max, int *count, tz_error *error);
    /* OPTIONAL [any thread]. The work of a stage of a complete plan, for performance models.
     * TZ_UNSUPPORTED says what is missing (a compiler, a disassembler). NULL: not known. */
    tz_status (*work)(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                      tz_effort effort, tz_model_work *out, tz_error *error);

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
    /* REQUIRED. Set all elements of a field to one value. A static field may then need no
     * memory. */
    tz_status (*fill)(void *state, int field, const void *element, tz_error *error);

    /* ---- Stages ---- */

    /* REQUIRED. Advance by `height` iterations, the first of which is number `step`. `height` is at
     * most the larger of plan->height (one stage) and plan->launch_iterations (several). After
     * TZ_RANGE, TZ_UNSUPPORTED or TZ_MEMORY the fields are as they were, and the caller may try
     * another plan. After other errors they are undefined. */
    tz_status (*stage)(void *state, const tz_plan *plan, int height, int64_t step, tz_error *error);
    /* OPTIONAL. Wait for all stages. Errors of stages since the last call may only show here. NULL:
     * a stage is done when stage() returns. */
    tz_status (*wait)(void *state, tz_error *error);

    /* ---- Numbers of fields, after all stages so far ---- */

    /* REQUIRED. */
    tz_status (*reduce)(const void *state, int field, tz_reduction *out, tz_error *error);
    /* REQUIRED. Whether no state field has a NaN or an infinity; costs less than reduce(). */
    tz_status (*all_finite)(const void *state, bool *finite, tz_error *error);
    /* REQUIRED. After a stage of height 1 the largest |new - old| of all cells of all state fields;
     * otherwise NAN. */
    tz_status (*update_norm)(const void *state, double *norm, tz_error *error);
    /* OPTIONAL. Plane z of a field averaged down to nx x ny values (base/average.h). NULL: the
     * caller loads the cells and averages them. */
    tz_status (*shrink)(const void *state, int field, int64_t z, int nx, int ny, double *values,
                        tz_error *error);

    /* ---- Snapshots ---- */

    /* OPTIONAL. A snapshot of the state fields of the mask, after all stages so far, and of all
     * static fields. One other thread may read it with the functions of `frozen` while stages go
     * on; frozen->destroy() releases it. If too many are held, waits, or without `wait` sets *out
     * to NULL. TZ_UNSUPPORTED, without a message: this run has no snapshots. NULL: there are
     * none. */
    tz_status (*freeze)(void *state, uint32_t fields, bool wait, void **out, tz_error *error);
    /* REQUIRED with freeze: a table with destroy, load, reduce, all_finite and shrink only. */
    const struct tz_backend *frozen;

    /* ---- Facts about the device, for measurements ---- */

    /* OPTIONAL. The kernel of a plan; may compile it. */
    tz_status (*facts)(void *state, const tz_plan *plan, tz_kernel_facts *out, tz_error *error);
    /* OPTIONAL. Joules that the device has used since some moment. TZ_UNSUPPORTED: not known. */
    tz_status (*energy)(void *state, double *joules, tz_error *error);
    /* OPTIONAL. The clock now; call it soon after a stage. TZ_UNSUPPORTED: not known. */
    tz_status (*clock)(void *state, tz_clock_facts *out, tz_error *error);
} tz_backend;

extern const tz_backend tz_backend_reference;
extern const tz_backend tz_backend_cpu;
extern const tz_backend tz_backend_cuda;

/* All backends, NULL-terminated, in the order that "auto" tries them. */
extern const tz_backend *const tz_backends[];

/* For plan() of a backend with one family: TZ_UNKNOWN if another family is given, TZ_UNSUPPORTED if
 * a knob of GPU families is. */
tz_status tz_backend_check_plan(const tz_plan *given, const char *backend, const char *family,
                                tz_error *error);

/* The name of a family of any backend. TZ_UNKNOWN names the nearest. */
tz_status tz_backend_check_family(const char *name, tz_error *error);

/* The backend that predicts and runs plans on GPUs, or on CPUs. */
const tz_backend *tz_backend_of_kind(bool is_gpu);

/* By name; "auto" or NULL: the first that can run here. TZ_UNKNOWN lists the known names. */
tz_status tz_backend_find(const char *name, const tz_backend **out, tz_error *error);

#endif
