/* Models: the time of a plan, predicted from its work (work.h) and the record of a device.
 *
 * A model is a pure function over plain structs: it runs nothing and opens no file or device, so it
 * also predicts for devices that are not there. roofs.h has the one of plans; those of papers
 * predict from facts of a stencil (papers/equations.h). */
#ifndef TZ_MODEL_MODEL_H
#define TZ_MODEL_MODEL_H

#include "model/device.h"
#include "model/work.h"

enum {
    TZ_MODEL_AXES = 3,
    TZ_MODEL_COMPONENTS_MAX = 12,
    TZ_MODEL_DETAILS_MAX = 16,
    TZ_MODEL_NOTES_MAX = 10,
    TZ_MODEL_NOTE_SIZE = 200
};

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
} tz_model;

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
