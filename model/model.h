/* Models: the time of a plan, predicted from facts of the stencil and the record of a device.
 *
 * A model is a pure function over the plain structs below: it runs nothing and opens no file or
 * device, so it also predicts for devices that are not there. core/predict finds models by name.
 *
 *     facts  (the stencil on a grid)  \
 *     device (a record, device.h)      > model -> prediction: time, components, what limits it
 *     plan   (block, height, sync)    /
 */
#ifndef TZ_MODEL_MODEL_H
#define TZ_MODEL_MODEL_H

#include "model/device.h"
#include "model/work.h"

enum {
    TZ_MODEL_AXES = 3,
    TZ_MODEL_COMPONENTS_MAX = 12,
    TZ_MODEL_DETAILS_MAX = 16,
    TZ_MODEL_NOTES_MAX = 10,
    TZ_MODEL_NOTE_SIZE = 200,
    TZ_MODEL_HEIGHT_MAX = 4096 /* where no halo bounds the height */
};

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
    const tz_model_work *work; /* of the compiled kernel, for models that need it */
    const void *own;           /* what only the model itself knows, for one that needs it */
} tz_model_plan;

typedef enum tz_model_resource {
    TZ_MODEL_COMPUTATION,
    TZ_MODEL_MEMORY,
    TZ_MODEL_SYNCHRONISATION,
    TZ_MODEL_RESOURCES
} tz_model_resource;

typedef struct tz_model_component {
    const char *name; /* the model's own word: "load_sten" */
    const char *doc;
    tz_model_resource resource;
    double seconds; /* an iteration, on average */
} tz_model_component;

/* A number that explains the time without being part of it. */
typedef struct tz_model_detail {
    const char *name, *unit, *doc;
    double value;
} tz_model_detail;

/* Lines for the reader: assumptions, and limits of the model that the plan exceeds. */
typedef struct tz_model_notes {
    int count;
    char text[TZ_MODEL_NOTES_MAX][TZ_MODEL_NOTE_SIZE];
} tz_model_notes;

typedef struct tz_model_prediction {
    const char *model;           /* its name */
    double block[TZ_MODEL_AXES]; /* as predicted for; 1 on unused axes */
    int height, height_max;
    double time_s;      /* one iteration, on average over a stage */
    double stage_s;     /* `height` iterations */
    double cells_per_s; /* useful ones */
    /* A long run on a GPU whose record has energies (power.h); else 0. */
    double power_w, power_limit_w;    /* at the full clock; the card's limit */
    double sustained_hz, sustained_s; /* the clock within that limit; one iteration at that clock */
    int component_count;
    tz_model_component components[TZ_MODEL_COMPONENTS_MAX];
    int detail_count;
    tz_model_detail details[TZ_MODEL_DETAILS_MAX];
    tz_model_resource limit;
    char limit_text[TZ_MODEL_NOTE_SIZE]; /* "computation: 77 % of the time, most of it iter_comp" */
    tz_model_notes notes;
} tz_model_prediction;

typedef struct tz_model {
    const char *name;
    const char *doc;          /* one sentence */
    const char *source;       /* the paper */
    const char *const *needs; /* keys that a device record must have; NULL-terminated */
    /* The greatest height that `plan` allows. */
    tz_status (*height_max)(const tz_model_facts *facts, const tz_model_device *device,
                            const tz_model_plan *plan, int *height, tz_error *error);
    /* One prediction, for plan->height >= 1. Fills everything but `model`; the limit may be left
     * to tz_model_limit_find(). */
    tz_status (*predict)(const tz_model_facts *facts, const tz_model_device *device,
                         const tz_model_plan *plan, tz_model_prediction *out, tz_error *error);
} tz_model;

/* The greatest height that the plan's block allows. Errors: those of tz_model_predict(). */
tz_status tz_model_height_max(const tz_model *model, const tz_model_facts *facts,
                              const tz_model_device *device, const tz_model_plan *plan, int *height,
                              tz_error *error);

/* The time of `plan`. With plan->height 0, the time at the best height: every height from 1 to the
 * greatest is tried, and of equals the lowest counts. Errors: TZ_UNSUPPORTED (the record lacks a
 * number or the facts a count that the model needs), TZ_RANGE (facts out of range, or a height
 * whose ghost zone leaves nothing of the block; the message names the greatest height). */
tz_status tz_model_predict(const tz_model *model, const tz_model_facts *facts,
                           const tz_model_device *device, const tz_model_plan *plan,
                           tz_model_prediction *out, tz_error *error);

/* "computation", "memory", "synchronisation". Static. */
const char *tz_model_resource_text(tz_model_resource resource);

/* ---- For models ------------------------------------------------------------------------------ */

/* Append; more than there is room for is dropped. `notes` may be NULL. */
void tz_model_note(tz_model_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tz_model_component_add(tz_model_prediction *out, tz_model_resource resource, const char *name,
                            double seconds, const char *doc);
void tz_model_detail_add(tz_model_prediction *out, const char *name, double value, const char *unit,
                         const char *doc);

/* Fill `limit` with the resource that takes most time. Fill an empty `limit_text` with that
 * resource and its longest component. */
void tz_model_limit_find(tz_model_prediction *out);

/* TZ_UNSUPPORTED, with the key, if the record lacks one of `needs` (NULL-terminated). Assumed
 * numbers are noted. */
tz_status tz_model_device_check(const tz_model_device *device, const char *model,
                                const char *const *needs, tz_model_notes *notes, tz_error *error);

#endif
