/* What the cpu backend itself costs, measured with row functions that do nothing. */
#ifndef TZ_CORE_CALIBRATE_ENGINE_H
#define TZ_CORE_CALIBRATE_ENGINE_H

#include "base/error.h"
#include "model/record.h"

/* `span` (handing a row to a row function) and `branch_miss` (the end of a row) of a record, the
 * best of `repeats` samples of less than a millisecond. TZ_MEMORY. */
tz_status tz_calibrate_engine(tz_model_device *device, int repeats, tz_error *error);

#endif
