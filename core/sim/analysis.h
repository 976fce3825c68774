/* Analysis methods of a stencil: functions of its plugin that compute results from the fields. */
#ifndef TZ_CORE_SIM_ANALYSIS_H
#define TZ_CORE_SIM_ANALYSIS_H

#include "sim/simulation.h"

/* Receives the named results of a method. `values` are borrowed during the call. */
typedef struct tz_method_sink {
    void *context;
    void (*number)(void *context, const char *name, double value);
    void (*list)(void *context, const char *name, int64_t count, const int64_t *values);
} tz_method_sink;

/* TZ_UNKNOWN with the nearest name; TZ_RANGE with the method's own message. */
tz_status tz_simulation_analyse(const tz_simulation *simulation, const char *method,
                                const tz_method_sink *sink, tz_error *error);

#endif
