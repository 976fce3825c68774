/* The keys that tz.predict and tz.tune share: a problem, a device, and which of its plans. */
#ifndef TZ_CORE_LUA_WORKLOAD_H
#define TZ_CORE_LUA_WORKLOAD_H

#include "calibrate/records.h"
#include "lua/policy.h"
#include "lua/problem.h"
#include "predict/workload.h"

/* The keys, in the order that the manual lists them. */
#define TZ_WORKLOAD_OPTIONS                                                                        \
    TZ_PROBLEM_OPTIONS, {"backend", "text", "\"auto\"", "as in tz.simulation"},                    \
        {"device", "text", "this machine's", "a device record: a name or a file"},                 \
        {"gpu", "integer", "that of `--device`, else 0", "which GPU of this machine",              \
         .most = 1023},                                                                            \
        {"devices", "integer or text", "one device",                                               \
         "so many such devices, each with a slab of the grid; or devices of this machine, as a "   \
         "text of tz.simulation: `\"0,1\"`, `\"cpu:2\"`"},                                         \
        {"link", "text", "the first that the device record has",                                   \
         "what joins them: %s of the device record; one that comes with Trapeze, such as "         \
         "`\"nvlink\"`; or the path of a link's record",                                           \
         tz_link_own_name},                                                                        \
        {"threads",                                                                                \
         "integer",                                                                                \
         "one for each core",                                                                      \
         "of the cpu backend, or to "                                                              \
         "compile kernels",                                                                        \
         .least = 1,                                                                               \
         .most = 1024},                                                                            \
        {"height",   "integer",                                                                    \
         "all",      "only plans of that height",                                                  \
         .least = 1, .most = TZ_PLAN_HEIGHT_MAX},                                                  \
        {"family", "text", "all", "only plans of that family"} TZ_PLAN_KNOBS(TZ__PLAN_OPTION),     \
    {                                                                                              \
        "block", "{bx[, by[, bz]]}", "", "only plans of that tile"                                 \
    }

enum { TZ_WORKLOAD_CHANGES_MAX = 32 };

typedef struct tz_workload_request {
    tz_simulation_config config;
    tz_assignment params[TZ_PROBLEM_PARAMS_MAX];
    tz_record_change changes[TZ_WORKLOAD_CHANGES_MAX]; /* borrowed, too */
    size_t changes_count;
    const char *device, *link; /* borrowed from the table, as config.devices may be */
    char devices[24];          /* their number as a text */
    tz_plan given;             /* height and family; 0 and "": all */
    double block[TZ_AXES];     /* 0: all */
    int dims;
} tz_workload_request;

/* Read them from the table at index 1, which tz_keys_take has put there. `out` must stay where it
 * is until the workload is made. Raises errors that begin with `who`. */
void tz_workload_read(lua_State *L, const char *who, tz_workload_request *out);
/* TZ_WORKLOAD_OPTIONS as a workload. */
tz_status tz_workload_of(const tz_workload_request *request, bool let_unstable, tz_workload **out,
                         tz_error *error);

/* One number for all axes, or a list of one number an axis, in the table at index 1. */
void tz_key_extents(lua_State *L, const char *who, const char *key, int dims, double *out);

#endif
