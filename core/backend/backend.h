/* Backends: what holds the fields and advances them. One table of functions each. */
#ifndef TZ_CORE_BACKEND_BACKEND_H
#define TZ_CORE_BACKEND_BACKEND_H

#include "model/device.h"
#include "model/work.h"
#include "stencil/problem.h"

typedef struct tz_streamed_source tz_streamed_source; /* stream_source.h */

/* A plan's kernel on its device. */
typedef struct tz_kernel_facts {
    int registers;           /* of a thread */
    int local_bytes;         /* of a thread: spilt registers */
    int warps, warps_max;    /* on a multiprocessor at once, and how many it can hold */
    double copy_bytes_per_s; /* measured now, device to device, bytes read and written */
    char device[128];
} tz_kernel_facts;

/* A device's clock at a moment, and what holds it back. */
typedef struct tz_clock_facts {
    double hz;
    bool for_power, for_heat;
} tz_clock_facts;

/* What plans depend on of a GPU; members that are 0 are not known. */
typedef struct tz_limits {
    int multiprocessors;
    int shared_bytes; /* shared memory that a block may have, at most */
} tz_limits;

/* Where plans are to run: this machine or another one. */
typedef struct tz_place {
    const tz_model_device *device; /* its record, borrowed; NULL: none */
    int threads;      /* of a CPU; and, of this machine, those that may compile for a GPU */
    tz_limits limits; /* as the device itself tells them; zeros: it is not there */
} tz_place;

/* The limits to plan with, each from the device itself, else its record, else an H200's. */
tz_limits tz_place_limits(const tz_place *place);

/* How much trouble tz_backend.work may take. */
typedef enum tz_effort {
    TZ_EFFORT_KNOWN,  /* what is compiled already; of the rest, `kind` and `estimated` */
    TZ_EFFORT_CACHED, /* what is compiled already; the rest is estimated and says so */
    TZ_EFFORT_COMPILE /* compile what is missing */
} tz_effort;

/* A device of this machine, as its backend names it. */
typedef struct tz_device_identity {
    char name[128];   /* as its maker writes it: a record's title */
    int units;        /* multiprocessors of a GPU; cores of a CPU that this process may use */
    int vector_bytes; /* of row functions on a CPU; 0 for a GPU */
    char key[256];    /* differs between devices on which the best plans may differ */
} tz_device_identity;

/* What a backend is created with; borrowed for its lifetime. */
typedef struct tz_backend_context {
    const tz_problem *problem;
    /* Per field; NULL for fields that are not streamed or have no source yet. */
    const tz_streamed_source *const *streams;
    int threads;
    int device; /* ordinal of the GPU, for backends that use one */
    bool sync;  /* wait after every stage: a fault is then told with its stage */
} tz_backend_context;

typedef struct tz_backend {
    const char *name;
    const char *doc;
    bool is_gpu; /* its devices are GPUs, counted from 0; else this machine's CPU is the only one */
    bool serial; /* one thread, whatever is asked for */
    /* Which device that is. TZ_BACKEND when it is not there. */
    tz_status (*identify)(int device, tz_device_identity *out, tz_error *error);
    /* Can it run on this machine? NULL: always. Cheap; "auto" asks. */
    int (*available)(void);
    /* What a device of this machine tells of its limits: zeros when it is not there. NULL: plans
     * depend on none. */
    tz_limits (*limits)(int device);
    /* Complete a plan (zeros mean: choose) and check it. TZ_RANGE: height too large, with the
     * largest that fits. */
    tz_status (*plan)(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                      tz_error *error);
    /* Bytes that create() and any stage of this plan take. */
    int64_t (*bytes)(const tz_problem *problem, const tz_place *place, const tz_plan *plan);
    tz_status (*create)(void **state, const tz_backend_context *context, tz_error *error);
    void (*destroy)(void *state);
    /* Copy a box of elements (words for bits) in or out, x fastest, in the field's own type. */
    tz_status (*store)(void *state, int field, const tz_box *box, const void *elements,
                       tz_error *error);
    tz_status (*load)(const void *state, int field, const tz_box *box, void *elements,
                      tz_error *error);
    /* Every element of a field. A static field may then take no memory. */
    tz_status (*fill)(void *state, int field, const void *element, tz_error *error);
    /* One stage: `height` iterations (at most plan->height) from iteration `step` on; or several
     * stages at once, up to plan->launch_iterations iterations. */
    tz_status (*stage)(void *state, const tz_plan *plan, int height, int64_t step, tz_error *error);
    tz_status (*reduce)(const void *state, int field, tz_reduction *out, tz_error *error);
    /* No NaN or infinity in any state field: cheaper than reduce(). */
    tz_status (*all_finite)(const void *state, bool *finite, tz_error *error);
    /* After a stage of height 1: max over cells and state fields of |new - old|; NAN if unknown. */
    tz_status (*update_norm)(const void *state, double *norm, tz_error *error);
    /* stage() may return before it is done; errors of stages since the last call may come here.
     * NULL: stages are done when they return. */
    tz_status (*wait)(void *state, tz_error *error);
    /* What runs a plan and where, for who measures. NULL: nothing to tell. */
    tz_status (*facts)(void *state, const tz_plan *plan, tz_kernel_facts *out, tz_error *error);
    /* Joules that the device has used since some moment. TZ_UNSUPPORTED says why they are not
     * known. NULL: never. */
    tz_status (*energy)(void *state, double *joules, tz_error *error);
    /* Its clock, soon after a stage. TZ_UNSUPPORTED says why it is not told. NULL: never. */
    tz_status (*clock)(void *state, tz_clock_facts *out, tz_error *error);
    /* Plane z of a field averaged down to nx x ny values (base/average.h). NULL: the caller loads
     * the cells and does it; worth having where fields are far away. */
    tz_status (*shrink)(const void *state, int field, int64_t z, int nx, int ny, double *values,
                        tz_error *error);
    /* The values that state fields of the mask will have after all stages so far, and static
     * fields, to be read with the functions of `frozen` by one other thread while stages go on;
     * destroy() of those lets go of them. *out NULL: too many are held (`wait`: waits instead).
     * TZ_MEMORY: no room. TZ_UNSUPPORTED, without a message: not in this run. NULL: never. */
    tz_status (*freeze)(void *state, uint32_t fields, bool wait, void **out, tz_error *error);
    const struct tz_backend *frozen; /* destroy, load, reduce, all_finite, shrink */
    /* Plans worth considering, at most `max` of them: every family, height and block shape that is
     * admissible and not plainly worse than another. What `given` names is kept, as in plan().
     * Nothing is compiled. NULL: plan()'s own choice is the only one. */
    tz_status (*candidates)(const tz_problem *problem, const tz_place *place, const tz_plan *given,
                            tz_plan *plans, int max, int *count, tz_error *error);
    /* What a complete plan does in a stage, for models. NULL: nobody can tell. TZ_UNSUPPORTED says
     * what is missing (a compiler, a disassembler). Several threads may ask at once. */
    tz_status (*work)(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                      tz_effort effort, tz_model_work *out, tz_error *error);
} tz_backend;

extern const tz_backend tz_backend_reference;
extern const tz_backend tz_backend_cpu;
extern const tz_backend tz_backend_cuda;
extern const tz_backend tz_backend_cuda_frozen; /* its .frozen */

/* All backends, NULL-terminated, in the order that "auto" tries them. */
extern const tz_backend *const tz_backends[];

/* For a plan function: refuses a given family that is not `family`, and what only GPU families that
 * stream take. */
tz_status tz_backend_check_plan(const tz_plan *given, const char *backend, const char *family,
                                tz_error *error);

/* The backend that predicts and runs plans on GPUs, or on CPUs. */
const tz_backend *tz_backend_of_kind(bool is_gpu);

/* By name; "auto" is the first that can run here. TZ_UNKNOWN names the known ones. */
tz_status tz_backend_find(const char *name, const tz_backend **out, tz_error *error);

#endif
