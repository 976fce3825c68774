/* Workloads: a stencil on a grid, a device, and the backend that runs the stencil on such a
 * device. */
#ifndef TZ_CORE_PREDICT_WORKLOAD_H
#define TZ_CORE_PREDICT_WORKLOAD_H

#include "backend/backend.h"
#include "base/ranks.h"
#include "model/link.h"

/* A number of the device's record that a prediction replaces, as in a record. */
typedef struct tz_record_change {
    const char *key, *value;
} tz_record_change;

typedef struct tz_workload_config {
    /* Registry, stencil, grid, precision, boundary, parameters, threads, stopped; backend (NULL or
     * "auto": the one for the device) and ordinal of the GPU; the devices that hold slabs of the
     * grid, where a single number means so many like `device`, present or not. The plan is
     * ignored. */
    const tz_simulation_config *simulation;
    const char *device; /* a record's name or file; NULL: this machine's */
    const char *link;   /* what joins several devices: see tz_link_find() */
    /* of the record; the workload's device is then a made-up one */
    const tz_record_change *changes;
    size_t changes_count;
    /* Accept a time step that would diverge, if the stencil has a parameter of the role
     * TZ_PARAM_ROLE_ALLOW_UNSTABLE: the time of an iteration does not depend on stability. */
    bool let_unstable;
} tz_workload_config;

typedef struct tz_workload {
    tz_problem problem;
    tz_series *scalars; /* its own */
    size_t scalars_count;
    const tz_plugin *plugin;
    const tz_backend *backend;
    tz_model_device device;
    tz_place place; /* points to the device above, and to the members below */
    /* Of several devices; with one, place.devices is NULL. */
    const tz_backend *inner; /* the backend of one device */
    tz_backend slabs;        /* `backend`, then */
    tz_devices devices;
    tz_model_link link;
    tz_link joined; /* the numbers of `link` */
    bool link_assumed;
    bool is_gpu;        /* the device is a GPU */
    bool is_here;       /* the device is in this machine: plans can be measured */
    bool let_unstable;  /* the time step would diverge and was accepted */
    char grid[80];      /* "8192 x 8192" */
    char precision[16]; /* "single", "double", "half", "partly half", "bits", "integers" */
    char boundary[80];  /* "clamp", or one an axis: "periodic, clamp:fixed" */
} tz_workload;

/* Errors: those of tz_simulation_create() for stencil, grid and parameters; TZ_UNKNOWN (device);
 * TZ_UNSUPPORTED (a backend that cannot run on the device, no record of this machine); those of
 * tz_device_change(). */
tz_status tz_workload_create(tz_workload **out, const tz_workload_config *config, tz_error *error);
void tz_workload_destroy(tz_workload *workload); /* NULL is fine */

/* The same on one device, for comparisons; on a CPU that is cut into slabs with all its threads. It
 * borrows from `workload` and is not destroyed. */
void tz_workload_alone(const tz_workload *workload, tz_workload *out);
/* How much faster than that its devices are, if exchanges cost nothing. */
double tz_workload_devices(const tz_workload *workload);

/* ---- How a grid is divided among devices of unequal speed ------------------------------------ */

/* What is known of a device that this process drives. */
typedef struct tz_share_of {
    const char *name;              /* devices with the same name are alike */
    const tz_model_device *record; /* borrowed; NULL: none */
} tz_share_of;

/* Set the shares of devices by the predicted speed of the stencil, and how they were found. Devices
 * of the same name and, on a CPU, as many threads have exactly the same share. own[i] is about
 * device i; those of other ranks are not read. `inner`: the backend of one device. Shares that the
 * user gave stay. No kernel is compiled. Collective; `ranks` may be NULL. */
void tz_shares_find(tz_devices *devices, const tz_backend *inner, const tz_problem *problem,
                    const tz_share_of *own, const tz_ranks *ranks);
/* The same with the records of this machine's devices, as `trapeze calibrate` wrote them. */
void tz_shares_find_here(tz_devices *devices, const tz_backend *inner, const tz_problem *problem,
                         const tz_ranks *ranks);

#endif
