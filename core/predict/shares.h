/* How a grid is divided among devices of unequal speed. */
#ifndef TZ_CORE_PREDICT_SHARES_H
#define TZ_CORE_PREDICT_SHARES_H

#include "backend/backend.h"
#include "base/ranks.h"

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
