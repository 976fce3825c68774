/* model/papers/kernels: a thread for each element, which reads its neighbours from device memory.
 * Only the model luo2011 uses it: it reads its PTX, and runs it to be compared with.
 *
 * Defined by C, besides what common.cuh lists:
 *
 *   TZ_PLAIN_RADIUS  the largest distance at which an element is read
 *   TZ_PLAIN_INDEX   the type of an index into a field: int, or long long for large grids */
#include "common.cuh"

struct tz_place {
    int x, y, z;
    TZ_PLAIN_INDEX at; /* in a field */
};

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type *name;                                                                              \
    type name##_new;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__CONTEXT(cell, const tz_arguments *arguments;)                                              \
    TZ__CELL_UPDATE(cell, ONCE, context_##cell, tz_place, , )
#define TZ__AT3(f, dx, dy, dz)                                                                     \
    (tz_c.f[tz_p.at + (dx) + (dy) * (TZ_PLAIN_INDEX)tz_c.arguments->pitch +                        \
            (dz) * (TZ_PLAIN_INDEX)tz_c.arguments->plane])
#define TZ_PUT(f, value) (tz_c.f##_new = (value))
#define TZ_X TZ__WHOLE_X((tz_p.x))
#define TZ_Y TZ__WHOLE_Y((tz_p.y))
#define TZ_Z TZ__WHOLE_Z((tz_p.z))
#define TZ_STEP (tz_c.arguments->step)
