/* Whether a core fetches lines from its second level while it loads and stores. */
#ifndef TZ_CORE_CALIBRATE_OVERLAP_H
#define TZ_CORE_CALIBRATE_OVERLAP_H

#include "calibrate/loops.h"
#include "model/device.h"

#include "base/error.h"

/* `l2_overlap` of a record that has `l1` and `l2` and their bandwidths (else it stays unknown),
 * from rows that are read and written as row functions do, in one level and in the other.
 * TZ_MEMORY. */
tz_status tz_calibrate_overlap(tz_model_device *device, const tz_loop_set *loops, int repeats,
                               tz_error *error);

#endif
