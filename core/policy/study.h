/* Studies: a stencil on a grid, the device that is asked about, and the backend that would run it.
 */
#ifndef TZ_CORE_POLICY_STUDY_H
#define TZ_CORE_POLICY_STUDY_H

#include "model/record.h"
#include "sim/backend.h"

typedef struct tz_study_config {
    /* Registry, stencil, grid, precision, boundary, parameters, threads; backend (NULL or "auto":
     * what the device is for) and ordinal of the GPU. The plan is not looked at. */
    const tz_simulation_config *simulation;
    const char *device; /* a record's name or file; NULL: this machine's */
    /* Time does not depend on stability: let a time step pass that would diverge, if the stencil
     * has a flag "allow_unstable". */
    bool let_unstable;
} tz_study_config;

typedef struct tz_study {
    tz_problem problem;
    const tz_plugin *plugin;
    const tz_backend *backend;
    tz_model_device device;
    tz_place place;     /* points to the device above */
    bool is_gpu;        /* the device is */
    bool is_here;       /* it is this machine's: plans can be measured */
    bool let_unstable;  /* and it was needed */
    char grid[80];      /* "8192 x 8192" */
    char precision[16]; /* "single", "double", "bits", "integers" */
    char boundary[64];  /* "clamp", or one an axis: "periodic, clamp" */
} tz_study;

/* Errors: those of tz_simulation_create() on stencil, grid and parameters; TZ_UNKNOWN (device);
 * TZ_UNSUPPORTED (a backend that cannot run on the device, no record of this machine). */
tz_status tz_study_create(tz_study **out, const tz_study_config *config, tz_error *error);
void tz_study_destroy(tz_study *study); /* NULL is fine */

#endif
