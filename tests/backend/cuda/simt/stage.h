/* The cuda backend's half of a run, on the machine of simt.h: fields in guarded and poisoned
 * memory, launches of stages (compare core/sim/backend_cuda.c). */
#ifndef TZ_SIMT_STAGE_H
#define TZ_SIMT_STAGE_H

#include "build.h"
#include "simt.h"

#include "backend/cuda/family/family.h"
#include "stencil/streamed_source.h"

typedef struct simt_device simt_device;

/* What plans and shapes are asked for with. */
typedef struct simt_room {
    int multiprocessors, blocks_per_multiprocessor;
} simt_room;

/* An H200's but for its multiprocessors. */
tz_limits simt_limits(const simt_room *room);

/* All borrowed. `streams` as in tz_backend_context. `room`: what shapes are asked for with. */
typedef struct simt_context {
    const tz_problem *problem;
    const tz_streamed_source *const *streamed;
    simt_build *build;
    simt *machine;
    simt_room room;
    /* With points, what stages record, as tz_point_values.recorded: other memory than that of
     * problem->points->values. */
    char *recorded;
} simt_context;

tz_status simt_device_create(simt_device **out, const simt_context *context, tz_error *error);
void simt_device_destroy(simt_device *device); /* NULL is fine */

/* All elements of a field, dense, x fastest; into and out of what the device holds. */
void simt_device_store(simt_device *device, int field, const void *elements);
void simt_device_load(const simt_device *device, int field, void *elements);

/* One stage, as tz_backend.stage; of a slab in three launches, unless it runs backwards. Before it,
 * what no cell stands for and what is to be written holds poison; after it, guards and inputs must
 * be as they were (findings ADDRESS in the report). Errors: those of planning and shape; TZ_BACKEND
 * for a text that does not compile or a launch that ended early. */
tz_status simt_device_stage(simt_device *device, const tz_plan *plan, int height, int64_t step,
                            bool backwards, simt_report *report, tz_error *error);

/* Is this element what nothing has written? */
bool simt_is_poison(const tz_problem *problem, int field, const void *element);
/* Bits of a word that are columns of the grid. */
uint32_t simt_columns(const tz_problem *problem, int64_t x);

#endif
