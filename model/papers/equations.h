/* Models of papers: the time of a plan from facts of a stencil on a grid.
 *
 *     facts  (the stencil on a grid)  \
 *     device (a record, device.h)      > model -> prediction: time, components, what limits it
 *     plan   (block, height, sync)    /
 */
#ifndef TZ_MODEL_PAPERS_EQUATIONS_H
#define TZ_MODEL_PAPERS_EQUATIONS_H

#include "model/model.h"

enum { TZ_MODEL_HEIGHT_MAX = 4096 /* where no halo bounds the height */ };

/* What a model knows about a stencil on a grid. Axis 0 is x, the fastest in memory; entries of
 * axes beyond `dims` are ignored. An element is what a kernel computes at once: a cell, or a word
 * of 32 cells where a field holds bits; extents, halos and blocks count elements. */
typedef struct tz_model_facts {
    char name[TZ_MODEL_NAME_SIZE];
    int dims;                     /* 1 to 3 */
    double extent[TZ_MODEL_AXES]; /* elements, at least 1 */
    /* elements that an iteration reads beyond a tile, both sides together: 2 * radius, summed over
     * the passes */
    double halo_width[TZ_MODEL_AXES];
    double element_bytes;     /* of one field: 4, 8, … */
    double cells_per_element; /* 1, or 32 for bits; 0 means 1 */
    int state_fields;         /* loaded and stored once a stage; at least 1 */
    int static_fields;        /* loaded once a stage */
    double streamed_fields;   /* elements loaded for every update: PathFinder's weights */
    /* One update of one element. 0: not known; models note what they take then. */
    double ops_per_update;   /* arithmetic */
    double reads_per_update; /* elements of neighbourhoods */
    double insts_per_update; /* all instructions of a thread, as profiled or as compiled */
    double insts_per_setup;  /* the same, once an element and stage: indices, edges */
    bool bank_conflicts_known;
    double bank_conflict_rate; /* conflicts in shared memory for each warp instruction */
} tz_model_facts;

typedef enum tz_model_sync {
    TZ_MODEL_SYNC_LAUNCH, /* a kernel ends and the next starts */
    TZ_MODEL_SYNC_FENCE   /* grid synchronisation inside one launch (memory fence) */
} tz_model_sync;

/* How the stencil is executed. All zero: the model chooses. */
typedef struct tz_model_plan {
    /* elements of a block at the start of a trapezoid, ghost zone included; 0: the model chooses */
    double block[TZ_MODEL_AXES];
    int height; /* 0: the model chooses */
    tz_model_sync sync;
    const void *own; /* what only the model itself knows, for one that needs it */
} tz_model_plan;

typedef struct tz_equations {
    tz_model model;
    /* The greatest height that `plan` allows. */
    tz_status (*height_max)(const tz_model_facts *facts, const tz_model_device *device,
                            const tz_model_plan *plan, int *height, tz_error *error);
    /* One prediction, for plan->height >= 1. Fills everything but `model`; the limit may be left
     * to tz_model_limit_find(). */
    tz_status (*predict)(const tz_model_facts *facts, const tz_model_device *device,
                         const tz_model_plan *plan, tz_model_prediction *out, tz_error *error);
} tz_equations;

/* The greatest height that the plan's block allows. Errors: those of tz_model_predict(). */
tz_status tz_model_height_max(const tz_equations *model, const tz_model_facts *facts,
                              const tz_model_device *device, const tz_model_plan *plan, int *height,
                              tz_error *error);

/* The time of `plan`. With plan->height 0, the time at the best height: every height from 1 to the
 * greatest is tried, and of equals the lowest counts. Errors: TZ_UNSUPPORTED (the record lacks a
 * number or the facts a count that the model needs), TZ_RANGE (facts out of range, or a height
 * whose ghost zone leaves nothing of the block; the message names the greatest height). */
tz_status tz_model_predict(const tz_equations *model, const tz_model_facts *facts,
                           const tz_model_device *device, const tz_model_plan *plan,
                           tz_model_prediction *out, tz_error *error);

#endif
