/* The state of the cuda backend, and its functions that only read fields or refine them. The table
 * is in cuda.c. */
#ifndef TZ_CORE_BACKEND_CUDA_STATE_H
#define TZ_CORE_BACKEND_CUDA_STATE_H

#include "backend/backend.h"
#include "backend/cuda/driver/energy.h"
#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"
#include "backend/cuda/points.h"
#include "backend/cuda/reduce.h"
#include "backend/cuda/slabs.h"
#include "backend/cuda/snapshot.h"
#include "backend/cuda/spectral/jump.h"
#include "backend/cuda/update.h"
#include "backend/host/slab.h"

enum {
    TZ_CUDA_KERNELS_MAX = 8, /* loaded at once: of plans and of their remainders */
    /* Shapes that are kept for spans of a slab. Each stage between two exchanges has its own, and
     * it takes 50 us to make one: as long as a stage of a small slab. */
    TZ_CUDA_SPANS_MAX = 256
};

/* Many stages as one graph: launches of one kernel that alternate between the two copies of the
 * fields. The host needs some microseconds for a launch, and hardly more for a graph of
 * launches. */
/* Stages of a graph. The number is even, so that results end in the copy that they started from. */
enum { TZ_CUDA_REPLAY_STAGES = 16 };

/* Zero-initialise. */
typedef struct tz_cuda_replay {
    tz_cuda_graph *graph;
    char arguments[2][TZ_CUDA_ARGUMENTS_MAX]; /* which the graph passes */
} tz_cuda_replay;

/* A loaded kernel. */
typedef struct tz_cuda_compiled {
    tz_plan plan;
    const tz_cuda_family *family;
    tz_slot constants[TZ_CONSTANTS_MAX]; /* the text contains the integer ones */
    uint64_t points;                     /* the fields with points that it is for; 0: none */
    tz_cuda_kernel kernel;
    tz_cuda_shape shape;
    tz_cuda_shape spans[TZ_CUDA_SPANS_MAX]; /* of a slab; those with high == 0 are free */
    int spans_next, spans_last;             /* that is made next; that was used last */
    int blocks;                             /* of a multiprocessor at once */
    tz_cu_pointer scratch;                  /* shape.scratch_bytes of device memory */
    int64_t used;                           /* number of the last stage that used it */
    tz_cuda_replay replays[2]; /* stages that begin with copy 0 and copy 1 of the fields */
} tz_cuda_compiled;

typedef struct tz_cuda_state {
    tz_backend_context context;
    tz_cuda *cuda;
    /* A static field has only the first. With one copy (tz_cuda_pairs of family.h) both are one
     * array; a field that takes over another one's values and that one have two in turns. */
    tz_cu_pointer copy[TZ_FIELDS_MAX][2];
    tz_cuda_phase phase; /* of pairs of fields; between two calls they are in order */
    bool pairs;
    int current[TZ_FIELDS_MAX];          /* the copy that holds the field now */
    tz_cuda_slabs *slabs[TZ_FIELDS_MAX]; /* of streamed fields */
    tz_cuda_energy *energy;              /* NULL: unavailable, */
    tz_error no_energy;                  /* for this reason */
    tz_cuda_event *mark;                 /* recorded some stages ago: hold_back waits for it */
    int unmarked;                        /* stages launched since then */
    tz_cuda_event *offered, *copied;     /* of slabs: others may copy; this one has copied */
    tz_cuda_event *given, *taken;        /* the same, for slabs of other processes */
    /* Of slabs: after a stage that has computed its ends first, in a queue of their own, how many
     * elements of each end were complete at `offered`. Both 0: the default queue has all. */
    int64_t early[2];
    tz_cuda_queue *first;
    tz_cuda_event *begun, *ready;
    tz_cuda_compiled kernels[TZ_CUDA_KERNELS_MAX];
    int kernels_count;
    double set_up_s; /* that stages have waited for these kernels */
    int64_t stages;
    tz_cuda_reducer *reducer;
    tz_cuda_updater *updater;
    tz_cuda_refiner refiner;
    tz_cuda_jumper *jumper; /* made by the first jump */
    bool unnoted;           /* cells were stored since the last stage */
    bool norm_known;        /* the two copies of a field differ by one stage */
    /* Aliasing of arrays in the last stage, tz_cuda_handed() of each field: the array of field t
     * after it is the one that field handed[t] had before it. -1: an array of its own. */
    int handed[TZ_FIELDS_MAX];
    tz_cuda_staging *staging;     /* of store, load and fill */
    tz_cuda_snapshots *snapshots; /* created by the first snapshot */
    tz_cuda_points points;
    bool replays;           /* stages may go into graphs */
    tz_cuda_queue *scratch; /* for recording graphs */
} tz_cuda_state;

/* Functions of tz_backend. */
tz_status tz_cuda_state_reduce(const void *any, int field, tz_reduce_sums *sums, tz_error *error);
tz_status tz_cuda_state_all_finite(const void *any, bool *finite, tz_error *error);
tz_status tz_cuda_state_update_norm(const void *any, double *norm, tz_error *error);
tz_status tz_cuda_state_update(void *any, int64_t step, tz_update_sums *sums, tz_error *error);
tz_status tz_cuda_state_refine(void *any, void *any_correction, int64_t step, tz_update_sums *sums,
                               tz_error *error);
tz_status tz_cuda_state_jump(void *any, const tz_linear *linear, int64_t steps, void *source,
                             tz_jump_facts *facts, tz_error *error);
tz_status tz_cuda_state_shrink(const void *any, int field, int64_t z, int nx, int ny,
                               double *values, tz_error *error);

/* tz_slab_functions.stage, in cuda.c. */
tz_status tz_cuda_state_stage(void *any, const tz_plan *plan, int height, int64_t step,
                              const tz_slab_span *span, tz_error *error);
/* After a stage of a family, the other copies are current. That of a field that takes over another
 * one's values is the copy from which the stage read the other one (tz_cuda_handed()). */
void tz_cuda_state_swap(tz_cuda_state *state, const tz_cuda_family *family);
/* Before stages of a family: notes for the norm which fields they leave to others. False: none. */
bool tz_cuda_state_note_handed(tz_cuda_state *state, const tz_cuda_family *family);
/* After other changes of fields than stages: all work is in the default queue. */
void tz_cuda_state_touch(tz_cuda_state *state);
/* The queue of exchanges: that of the ends if they are computed first, else the default queue. */
tz_cuda_queue *tz_cuda_state_queue(const tz_cuda_state *state);

/* tz_backend.slab */
extern const tz_slab_functions tz_cuda_slab_functions;
/* Copies between states of two processes of one machine, in links.c: through device memory that
 * they share, or through pinned host memory. */
extern const tz_slab_links tz_cuda_links;
extern const tz_slab_host tz_cuda_through_host;

#endif
