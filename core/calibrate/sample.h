/* Samples of one quantity, and numbers of a device record made from them. */
#ifndef TZ_CORE_CALIBRATE_SAMPLE_H
#define TZ_CORE_CALIBRATE_SAMPLE_H

#include "model/device.h"

enum { TZ_SAMPLES_MAX = 128 };

typedef struct tz_samples {
    int count;
    double at[TZ_SAMPLES_MAX];
} tz_samples;

void tz_samples_add(tz_samples *samples, double value); /* the first TZ_SAMPLES_MAX are kept */
/* Of at least one sample. */
double tz_samples_median(const tz_samples *samples);
/* What a quarter of them is below: that of measurements that are disturbed more often than not,
 * where the least would be luck. */
double tz_samples_quarter(const tz_samples *samples);
double tz_samples_least(const tz_samples *samples);
/* How far the middle half of the samples is apart, as a share of the median. */
double tz_samples_spread(const tz_samples *samples);

/* `value` to four digits, as a record writes it shortly: equal to what it reads back. */
double tz_round_number(double value);

/* A known number: rounded, with its source, cut where it is too long for a record. */
void tz_number_set(tz_model_number *number, double value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same unrounded: counts and sizes. */
void tz_number_set_exactly(tz_model_number *number, double value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What disturbs a core, another guest of a virtual machine's host above all, does so for seconds,
 * longer than a measurement takes: of several passes the better number counts, less time or more
 * of anything else. Bandwidths of memory are the last pass's, which has the samples of all. */
void tz_numbers_keep_better(tz_model_device *best, const tz_model_device *now);

#endif
