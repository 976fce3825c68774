/* Microbenchmarks of this machine's CPU, which make a device record.
 *
 * The source of every number says how it was measured and how much the samples differ. Machines are
 * seldom idle, and a disturbance only makes a measurement slower: the best sample counts, unless
 * the source says otherwise. */
#ifndef TZ_CORE_CALIBRATE_CALIBRATE_H
#define TZ_CORE_CALIBRATE_CALIBRATE_H

#include "base/error.h"
#include "base/machine.h"
#include "calibrate/sample.h"

/* How long to measure, and callbacks for reports. */
typedef struct tz_calibration {
    double seconds; /* about; samples become fewer and shorter, never fewer than five */
    /* Called before each measurement, with its name and the share done so far, 0 to 1. False stops
     * the calibration with TZ_INTERRUPTED. May be NULL. */
    bool (*go_on)(void *context, double done, const char *what);
    void *context;
    /* Called with a line about numbers that could not be measured, and why. May be NULL. */
    void (*remark)(void *context, const char *text);
    /* Bytes of the array that stands for memory; 0: as many as leave the caches. For what needs no true numbers. */
    double far_bytes;
} tz_calibration;

/* The default name of a device's record: lower case, without trade marks and the like ("NVIDIA
 * GeForce RTX 4090": "rtx-4090"). Always terminated. */
void tz_calibration_name(const char *title, char *name, size_t size);

/* Calls `go_on`; TZ_INTERRUPTED if it returns false. */
tz_status tz_calibration_step(const tz_calibration *calibration, double done, const char *what,
                              tz_error *error);

/* Measure this machine's CPU with the row functions' instruction set (tz_machine.isa): rates,
 * latencies and bandwidths of one core; memory, caches and parallel regions of all cores that
 * tz_threads_default() has. TZ_UNSUPPORTED (no loops for this processor), TZ_MEMORY, TZ_INTERRUPTED. */
tz_status tz_calibrate_cpu(tz_model_device *out, const tz_calibration *calibration,
                           tz_error *error);

#endif
