/* Microbenchmarks of this machine's CPU, which make a device record.
 *
 * Every number says how it was measured and how far the samples were apart. A machine is seldom
 * idle when it is calibrated, and what disturbs a measurement only ever makes it slower: of the
 * samples the best one counts, unless the source says otherwise. */
#ifndef TZ_CORE_CALIBRATE_CALIBRATE_H
#define TZ_CORE_CALIBRATE_CALIBRATE_H

#include "base/error.h"
#include "base/machine.h"
#include "calibrate/sample.h"

/* How long to measure, and callbacks for reports. */
typedef struct tz_calibration {
    double seconds; /* about; samples become fewer and shorter, never fewer than five */
    /* Before each measurement: what comes next, and how much of all is done, 0 to 1. False stops it
     * with TZ_INTERRUPTED. NULL: no report. */
    bool (*go_on)(void *context, double done, const char *what);
    void *context;
    /* What could not be measured, and why: a line. NULL: no report. */
    void (*remark)(void *context, const char *text);
} tz_calibration;

/* The name that a device's record gets unless the user gives one: lower case, without trade marks
 * and the like ("NVIDIA GeForce RTX 4090": "rtx-4090"). Always terminated. */
void tz_calibration_name(const char *title, char *name, size_t size);

/* Asks `go_on`; TZ_INTERRUPTED if it says no. */
tz_status tz_calibration_step(const tz_calibration *calibration, double done, const char *what,
                              tz_error *error);

/* This machine's CPU with the row functions' instruction set (tz_machine.isa): rates, latencies and
 * bandwidths of one core, memory, caches and parallel regions of all that OpenMP would use.
 * TZ_UNSUPPORTED on a processor that there are no loops for, TZ_MEMORY, TZ_INTERRUPTED. */
tz_status tz_calibrate_cpu(tz_model_device *out, const tz_calibration *calibration,
                           tz_error *error);

#endif
