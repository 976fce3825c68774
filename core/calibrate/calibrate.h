/* Microbenchmarks of this machine's CPU, which make a device record.
 *
 * The source of every number says how it was measured and how much the samples differ. Machines are
 * seldom idle, and a disturbance only makes a measurement slower: the best sample counts, unless
 * the source says otherwise. */
#ifndef TZ_CORE_CALIBRATE_CALIBRATE_H
#define TZ_CORE_CALIBRATE_CALIBRATE_H

#include "backend/backend.h"
#include "base/error.h"
#include "base/machine.h"
#include "model/device.h"

/* How long to measure, and callbacks for reports. */
typedef struct tz_calibration {
    double seconds; /* about; samples become fewer and shorter, never fewer than five */
    /* Called before each measurement, with its name and the share done so far, 0 to 1. False stops
     * the calibration with TZ_INTERRUPTED. May be NULL. */
    bool (*go_on)(void *context, double done, const char *what);
    void *context;
    /* Called with a line about numbers that could not be measured, and why. May be NULL. */
    void (*remark)(void *context, const char *text);
    /* Bytes of the array that stands for memory; 0: as many as leave the caches. For what needs no
     * true numbers. */
    double far_bytes;
    double (*clock_s)(void); /* of the loops of a CPU; NULL: tz_machine_clock_s() */
} tz_calibration;

/* From which spread on other programs are in the numbers. From: 0.1 on two cores with a load of 13;
 * quiet GPUs have 0.01. */
#define TZ_CALIBRATION_BUSY 0.08

/* How much the samples of a record's numbers differ, by their sources: a quarter of the numbers
 * have samples that differ more. A share of the number; 0: no source tells. */
double tz_calibration_spread(const tz_model_device *record);

/* The default name of a device's record: lower case, without trade marks and the like ("NVIDIA
 * GeForce RTX 4090": "rtx-4090"). Always terminated. */
void tz_calibration_name(const char *title, char *name, size_t size);

/* Calls `go_on`; TZ_INTERRUPTED if it returns false. */
tz_status tz_calibration_step(const tz_calibration *calibration, double done, const char *what,
                              tz_error *error);

/* Measure this machine's CPU with the row functions' instruction set (tz_machine.isa): rates,
 * latencies and bandwidths of one core; memory, caches and parallel regions of all cores that
 * tz_threads_default() has. TZ_UNSUPPORTED (no loops for this processor), TZ_MEMORY,
 * TZ_INTERRUPTED. */
tz_status tz_calibrate_cpu(tz_model_device *out, const tz_calibration *calibration,
                           tz_error *error);

/* cpu.c, for tests: the size of a cache by the seconds that a byte takes in `count` arrays, 2 or
 * more, each larger than the one before: where the time is halfway between that of the first array,
 * which is in the cache, and that of the last one, which is not. 0: the last one takes less than a
 * third longer than the first. */
double tz__cache_size(const double *bytes, const double *seconds_a_byte, int count);

/* engine.c: `span`, `span_view` and `span_row`, what the cpu backend itself costs. Row functions
 * that do nothing are called in stages of less than a millisecond; the fastest stage counts. */
tz_status tz__measure_engine(tz_model_device *device, int repeats, tz_error *error);

/* ---- Samples of one quantity, and numbers of a device record made from them ------------------ */

/* The value that a share of the values, from 0 to 1, does not exceed: 0.5 is the median. Sorts the
 * values. 0 without values. */
double tz_quantile(double *values, int count, double share);

enum { TZ_SAMPLES_MAX = 128 };

typedef struct tz_samples {
    int count;
    double at[TZ_SAMPLES_MAX];
} tz_samples;

void tz_samples_add(tz_samples *samples, double value); /* the first TZ_SAMPLES_MAX are kept */
/* The next functions need at least one sample. */
double tz_samples_median(const tz_samples *samples);
/* The first quartile: for measurements that are disturbed more often than not, where the least is a
 * matter of luck. */
double tz_samples_quarter(const tz_samples *samples);
double tz_samples_least(const tz_samples *samples);
/* The range of the middle half of the samples, as a share of the median. */
double tz_samples_spread(const tz_samples *samples);

/* `value` rounded to four digits in a unit of records, so that it is written shortly and reads back
 * unchanged. */
double tz_round_number(double value);

/* Set a number, rounded, with its source. A source that is too long for a record is cut. */
void tz_number_set(tz_model_number *number, double value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same unrounded: counts and sizes. */
void tz_number_set_exactly(tz_model_number *number, double value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Keep the better numbers of two passes: the shorter time, the larger of anything else. A
 * disturbance of a core, mostly by another virtual machine, lasts for seconds, longer than a
 * measurement. Bandwidths of memory are taken from `now`: the last pass has the samples of all
 * passes. */
void tz_numbers_keep_better(tz_model_device *best, const tz_model_device *now);

/* ---- What joins devices that hold slabs of a grid: links.c ---- */
/* Measure `slab_start`, and the numbers of the link `name`: "peer" or "host". `devices`: two of the
 * backend, with a thread each on a CPU. `stencil`: any of 2-D, with a radius of at least 1, without
 * streamed fields. TZ_RANGE (another stencil or number of devices), TZ_INTERRUPTED, errors of the
 * backend; the record is then unchanged. */
tz_status tz_calibrate_link(tz_model_device *out, const char *name, const tz_backend *backend,
                            const tz_devices *devices, const tz_stencil *stencil,
                            const tz_calibration *calibration, tz_error *error);

#endif
