/* Samples of one quantity, and numbers of a device record made from them. */
#ifndef TZ_CORE_CALIBRATE_SAMPLE_H
#define TZ_CORE_CALIBRATE_SAMPLE_H

#include "model/device.h"

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

#endif
