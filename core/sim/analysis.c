#include "sim/analysis.h"

#include "base/names.h"
#include "sim/fields.h"
#include "sim/simulation_impl.h"
#include <string.h>

typedef struct analysis {
    const tz_simulation *simulation;
    const tz_method_sink *sink;
} analysis;

static int analysis_read(void *context, int field, int64_t step, int64_t x, int64_t y, int64_t z,
                         int64_t count, double *values)
{
    const tz_simulation *simulation = ((analysis *)context)->simulation;
    const tz_stencil *stencil = simulation->problem.stencil;
    if (field < 0 || field >= tz_stencil_fields_all(stencil) || count < 1)
        return -1;
    if (stencil->fields[field].role == TZ_STREAMED)
        return tz_simulation_streamed_read(simulation, field, step, x, count, values, NULL) ? -1
                                                                                            : 0;
    const tz_box box = {{x, y, z}, {x + count, y + 1, z + 1}};
    return tz_simulation_read(simulation, field, &box, values, NULL) ? -1 : 0;
}

static void analysis_number(void *context, const char *name, double value)
{
    const tz_method_sink *sink = ((analysis *)context)->sink;
    sink->number(sink->context, name, value);
}

static void analysis_list(void *context, const char *name, int64_t count, const int64_t *values)
{
    const tz_method_sink *sink = ((analysis *)context)->sink;
    sink->list(sink->context, name, count, values);
}

tz_status tz_simulation_analyse(const tz_simulation *simulation, const char *method,
                                const tz_method_sink *sink, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    const char *names[32];
    size_t count = 0;
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (status)
        return status;
    for (int m = 0; m < stencil->methods_count; m++) {
        if (strcmp(stencil->methods[m].name, method) != 0) {
            if (count < 32)
                names[count++] = stencil->methods[m].name;
            continue;
        }
        analysis context = {simulation, sink};
        char message[512] = "";
        tz_access access = {
            .struct_size = sizeof access,
            .context = &context,
            .step = simulation->step,
            .read = analysis_read,
            .give_number = analysis_number,
            .give_list = analysis_list,
            .message = message,
            .message_size = sizeof message,
        };
        memcpy(access.extent, simulation->problem.extent, sizeof access.extent);
        memcpy(access.boundary, simulation->problem.boundary, sizeof access.boundary);
        if (stencil->methods[m].call(&access) == 0)
            return TZ_OK;
        return tz_error_set(error, TZ_RANGE, method, "%s", message[0] ? message : "it failed");
    }
    char hint[256];
    tz_names_hint(hint, sizeof hint, method, names, count);
    return tz_error_set(error, TZ_UNKNOWN, NULL, "'%s' has no analysis '%s'%s", stencil->id, method,
                        hint);
}
