/* A small periodic grid on which the update of a problem is tried: the same passes and constants,
 * in double precision, and static fields as wanted. Each of its cells is updated as if it were the
 * cell in the middle of the problem's grid. */
#ifndef TZ_CORE_JUMP_PATCH_H
#define TZ_CORE_JUMP_PATCH_H

#include "backend/backend.h"

typedef struct tz_patch {
    const tz_problem *problem; /* in double precision, borrowed */
    int64_t extent[TZ_AXES], cells;
    int fields_count; /* state fields */
    int field[TZ_FIELDS_MAX];
    double *values[TZ_FIELDS_MAX]; /* of all fields; integers are in the first bytes of a number */
    double *next[TZ_FIELDS_MAX];   /* of those that passes write */
} tz_patch;

/* State fields are real numbers, none is streamed, and constants do not vary. All fields are 0 at
 * first. Destroy it also after an error. */
tz_status tz_patch_create(tz_patch *patch, const tz_problem *in_double, tz_error *error);
void tz_patch_destroy(tz_patch *patch);

/* Set a static field to values between two, cell by cell: also these two themselves. With `low` =
 * `high` to one value. `seed` chooses them. */
void tz_patch_set(tz_patch *patch, int field, double low, double high, uint64_t seed);

/* out[i] = what iteration number `step` makes of in[i], arrays of patch->cells, x fastest, one for
 * each state field. */
void tz_patch_apply(tz_patch *patch, const double *const *in, double *const *out, int64_t step);

/* The cell at a distance from another one, around the edges. */
int64_t tz_patch_cell(const tz_patch *patch, int64_t cell, const int offset[TZ_AXES]);

#endif
