/* Receivers of derived fields. An iteration records the cells of state fields from which a value is
 * computed; the value is computed when they are brought in. points.c calls these functions. */
#ifndef TZ_CORE_SIM_DERIVED_POINTS_H
#define TZ_CORE_SIM_DERIVED_POINTS_H

#include "sim/types.h"
#include "stencil/points.h"

/* Elements that grow in number. */
typedef struct tz_point_elements {
    tz_point_at *at;
    size_t count, room;
} tz_point_elements;

tz_status tz__point_elements_add(tz_point_elements *to, const tz_point_at *at, tz_error *error);

typedef struct tz_derived_points tz_derived_points;

/* Elements of derived fields, by field and place, each once; element i is value i. The elements
 * that iterations must record for them are added to `needs`. Errors: TZ_MEMORY. */
tz_status tz__derived_points_create(tz_derived_points **out, tz_simulation *simulation,
                                    size_t count, const tz_point_at *elements,
                                    tz_point_elements *needs, tz_error *error);
void tz__derived_points_destroy(tz_derived_points *points); /* NULL is fine */
/* Before values of some iterations are computed: the static fields, and the constants of
 * iterations from `step` on. */
tz_status tz__derived_points_begin(tz_derived_points *points, int64_t step, int64_t iterations,
                                   tz_error *error);
/* The values after iteration k of these. [any thread] */
tz_status tz__derived_points_compute(const tz_derived_points *points, int64_t k, double *values,
                                     tz_error *error);

#endif
