/* Arguments and results of backends: devices, places to run plans, facts about kernels. Included by
 * backend/backend.h. */
#ifndef TZ_CORE_BACKEND_PLACE_H
#define TZ_CORE_BACKEND_PLACE_H

#include "base/cancel.h"
#include "base/threads.h"
#include "model/device.h"
#include "model/exchange.h"
#include "stencil/problem.h"

typedef struct tz_streamed_source tz_streamed_source; /* stencil/streamed_source.h */

/* Properties of a GPU on which plans depend; 0: not known. */
typedef struct tz_limits {
    int multiprocessors;
    int shared_bytes; /* the most shared memory of a block */
} tz_limits;

/* A device of this machine, as its backend knows it. */
typedef struct tz_device_identity {
    char name[128];   /* the maker's name, which is the title of its record */
    int units;        /* multiprocessors of a GPU; cores of a CPU that this process may use */
    int vector_bytes; /* of row functions on a CPU; 0 for a GPU */
    tz_limits limits;
    char key[256]; /* devices with the same key have the same best plans */
} tz_device_identity;

struct tz_backend; /* backend/backend.h */

/* The devices that hold a grid in slabs, in the order of the slabs. A device may hold several. */
enum { TZ_DEVICES_MAX = 64 };

/* How their shares of the grid were found. */
typedef enum tz_shares {
    TZ_SHARES_EQUAL,     /* the devices are alike */
    TZ_SHARES_GIVEN,     /* the user gave some */
    TZ_SHARES_PREDICTED, /* by the predicted speed of the stencil */
    TZ_SHARES_UNKNOWN,   /* equal, since there is no prediction for one of them */
    TZ_SHARES_THIN       /* equal: slabs by speed have too little room for ghost zones */
} tz_shares;
/* Lower case, for people and run.json. */
const char *tz_shares_text(tz_shares how);

typedef struct tz_devices {
    int count;
    int rank;    /* of this process (base/ranks.h); 0 if it is alone */
    bool shared; /* there are ranks that drive the same GPU */
    struct {
        int rank;     /* of the process that drives it; those of a rank follow each other */
        int device;   /* number of the GPU; the backends on the CPU ignore it */
        int threads;  /* of a CPU */
        double share; /* of the grid, compared with the others; over 0 */
        bool given;   /* the user chose the share */
    } of[TZ_DEVICES_MAX];
    bool apart; /* of CPUs: each slab has a machine of its own */
    tz_shares how;
    const struct tz_backend *inner; /* that holds the slabs: tz_slabs_backend() sets it */
} tz_devices;

/* Does this process drive device i? */
static inline bool tz_devices_are_own(const tz_devices *devices, int i)
{
    return devices->of[i].rank == devices->rank;
}

/* A place to run plans: a device of this machine or another one. */
typedef struct tz_place {
    const tz_model_device *device; /* its record, borrowed; NULL: none */
    int threads;                   /* of a CPU; for a GPU, threads that may compile kernels */
    tz_limits limits;              /* as the device reports them; zeros if it is absent */
    /* For the backends of backend/slabs: borrowed; each is like `device`. */
    const tz_devices *devices;
    const tz_link *link; /* for these: what joins the devices, borrowed; NULL: the record's */
    tz_cancel cancel;    /* ends compilations */
    /* Told by any thread, one at a time, when a plan of a prediction is compiled; NULL: nobody. */
    void (*compiled)(void *told);
    void *told;
    bool absent; /* the record is of no device of this machine: nothing can be timed on it */
} tz_place;

/* The limits to plan with. Each comes from the device, or else its record, or else an H200. */
tz_limits tz_place_limits(const tz_place *place);

/* How much tz_backend.work may do. */
typedef enum tz_effort {
    TZ_EFFORT_KNOWN,    /* without a compiled kernel, set only `kind` and `estimated` */
    TZ_EFFORT_ESTIMATE, /* estimate the work and set `estimated`, whatever is compiled */
    TZ_EFFORT_CACHED,   /* without a compiled kernel, estimate the work and set `estimated` */
    TZ_EFFORT_COMPILE   /* without a compiled kernel, compile it */
} tz_effort;

/* The kernel of a plan on its device. */
typedef struct tz_kernel_facts {
    int registers;           /* of a thread */
    int local_bytes;         /* of a thread, for spilt registers */
    int warps, warps_max;    /* resident on a multiprocessor: of this kernel, and at most */
    double copy_bytes_per_s; /* measured now in the device's memory: bytes read and written */
    char device[128];
} tz_kernel_facts;

/* A device's clock, and whether it is lowered to limit power or heat. */
typedef struct tz_clock_facts {
    double hz;
    bool for_power, for_heat;
} tz_clock_facts;

/* Where a state keeps a field: until the state is changed. */
typedef struct tz_field_memory {
    void *first;              /* its first element; of a GPU, an address there */
    int64_t strides[TZ_AXES]; /* bytes from element to element; all 0: there is one for all */
} tz_field_memory;

/* The arguments of create(). All pointers are borrowed for the lifetime of the state. */
typedef struct tz_backend_context {
    const tz_problem *problem;
    /* One for each field; NULL if the field is not streamed or has no source yet. */
    const tz_streamed_source *const *streamed;
    tz_threads *threads;  /* of a CPU; for a GPU, what prepares data for it; NULL: the caller */
    int device;           /* number of the GPU; the backends on the CPU ignore it */
    bool sync;            /* wait after each stage, so that errors name the right stage */
    int (*overdue)(void); /* asked while a kernel compiles: not 0 ends that; NULL: nothing does */
    const atomic_bool *cancelled; /* true: as if `overdue` said so; NULL: never */
    const tz_devices *devices;    /* for the backends of backend/slabs: not NULL there */
    /* for these: the iterations that ghost zones are made for; larger ones come later */
    int exchange;
    /* For these, and for the states of their slabs: those of the devices (base/ranks.h). NULL:
     * alone. */
    const struct tz_ranks *ranks;
    /* For other ranks: the file of the stencil's plugin, and the first plan. */
    const char *plugin;
    const tz_plan *plan;
} tz_backend_context;

#endif
