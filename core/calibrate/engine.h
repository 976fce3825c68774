/* What the cpu backend itself costs, measured with row functions that do nothing. */
#ifndef TZ_CORE_CALIBRATE_ENGINE_H
#define TZ_CORE_CALIBRATE_ENGINE_H

#include "base/error.h"
#include "model/device.h"

/* `span`, `span_view` and `span_row` of a record, handing a row to a row function: the least of
 * many stages, each of less than a millisecond. TZ_MEMORY. */
tz_status tz_calibrate_engine(tz_model_device *device, int repeats, tz_error *error);

#endif
