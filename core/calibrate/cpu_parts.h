/* The parts of a CPU's calibration that have a file of their own. Each fills its own numbers of the
 * record. TZ_MEMORY. */
#ifndef TZ_CORE_CALIBRATE_CPU_PARTS_H
#define TZ_CORE_CALIBRATE_CPU_PARTS_H

#include "calibrate/loops.h"
#include "calibrate/sample.h"

/* engine.c: `span`, `span_view` and `span_row`, what the cpu backend itself costs. Row functions
 * that do nothing are called in stages of less than a millisecond; the fastest stage counts. */
tz_status tz__measure_engine(tz_model_device *device, int repeats, tz_error *error);

#endif
