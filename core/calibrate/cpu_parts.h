/* The parts of a CPU's calibration that have a file of their own. Each fills its own numbers of the
 * record. TZ_MEMORY. */
#ifndef TZ_CORE_CALIBRATE_CPU_PARTS_H
#define TZ_CORE_CALIBRATE_CPU_PARTS_H

#include "base/machine.h"
#include "base/threads.h"
#include "calibrate/calibrate.h"
#include "calibrate/loops.h"
#include <stdbool.h>

/* What the measurements share. */
typedef struct tz__cpu_bench {
    const tz_calibration *calibration;
    const tz_loop_set *loops;
    tz_machine machine;
    tz_model_device *device;
    tz_error *error;
    int repeats, passes;
    int threads; /* of `pool` */
    tz_threads *pool;
    double sample_s; /* length of a sample, at least */
    double clock_hz;
    int done;             /* measurements */
    bool plain;           /* do not ask for large pages */
    bool typical;         /* the median of `repeats` samples of a cache, not the best of more */
    tz_samples memory[5]; /* of all passes, since the speed of memory varies */
} tz__cpu_bench;

/* cpu.c: reports progress before a measurement. An error if the calibration is to stop. */
tz_status tz__cpu_next(tz__cpu_bench *bench, const char *what);

/* cpu.c: whether to take more samples: at least `repeats`, then until three are within 1 % of the
 * best. */
bool tz__cpu_wants_more(const tz__cpu_bench *bench, const tz_samples *samples);

/* cpu_memory.c: page-aligned, in large pages where the system gives them, not yet touched. The
 * caller owns *out and drops it. */
tz_status tz__cpu_memory_take(const tz__cpu_bench *bench, void **out, size_t bytes);
void tz__cpu_memory_drop(void *memory, size_t bytes);

/* cpu_memory.c: sizes, latencies and bandwidths of caches and memory. */
tz_status tz__cpu_measure_memory(tz__cpu_bench *bench);

/* cpu_memory.c: the size of a cache by the seconds that a byte takes in `count` arrays, 2 or more,
 * each larger than the one before: where the time is halfway between that of the first array, which
 * is in the cache, and that of the last one, which is not. 0: the last one takes less than a third
 * longer than the first. */
double tz__cache_size(const double *bytes, const double *seconds_a_byte, int count);

/* engine.c: `span`, `span_view` and `span_row`, what the cpu backend itself costs. Row functions
 * that do nothing are called in stages of less than a millisecond; the fastest stage counts. */
tz_status tz__measure_engine(tz_model_device *device, int repeats, tz_error *error);

#endif
