/* Measures a GPU: facts of the driver (cuda_facts.h), then each part of cuda_parts.h. */
#include "calibrate/cuda.h"

#include "calibrate/cuda_facts.h"
#include "calibrate/cuda_parts.h"
#include <string.h>

enum { REPEATS_MIN = 5, REPEATS_MAX = 25 };

/* Numbers that follow from the measured ones. */
static void set_derived(tz_model_device *d, double clock_hz)
{
    /* 32 cores for each warp instruction that a multiprocessor starts a cycle, to a multiple of
     * 16. */
    const double cores = 16 * (double)(int)(2 * d->fp32_rate.value + 0.5);
    if (cores >= 16)
        tz_number_set_exactly(&d->sp_per_sm, cores,
                              "measured: fp32_rate x 32, to a multiple of 16");
    const double depth = (double)(int)(d->fp32_latency_s.value * clock_hz + 0.5);
    if (depth >= 1)
        tz_number_set_exactly(&d->sp_pipeline_depth, depth, "measured: fp32_latency in cycles");
    tz_number_set(&d->cpi, 1 / d->issue_rate.value, "measured: 1 / issue_rate");
}

/* ---- All ------------------------------------------------------------------------------------- */

static tz__bench bench_of(tz_model_device *record, tz_cuda *cuda, const tz_calibration *calibration,
                          tz_error *error)
{
    const int repeats = (int)calibration->seconds;
    return (tz__bench){.cuda = cuda,
                       .gpu = tz_cuda_device_of(cuda),
                       .calibration = calibration,
                       .record = record,
                       .error = error,
                       .repeats = repeats < REPEATS_MIN   ? REPEATS_MIN
                                  : repeats > REPEATS_MAX ? REPEATS_MAX
                                                          : repeats,
                       .warmups = 2};
}

tz_status tz_cuda_calibrate(tz_model_device *out, tz_cuda *cuda, const tz_calibration *calibration,
                            tz_error *error)
{
    tz__bench b = bench_of(out, cuda, calibration, error);
    memset(out, 0, sizeof *out);
    tz_cuda_facts(out, b.gpu);
    tz_status status = tz__bench_open(&b);
    if (!status)
        status = tz__measure_clock(&b);
    if (!status)
        status = tz__measure_instructions(&b);
    if (!status)
        status = tz__measure_memory(&b);
    if (!status)
        status = tz__measure_launches(&b);
    if (!status)
        status = tz__measure_text_cache(&b);
    if (!status)
        status = tz__measure_energy(&b);
    for (int i = 0; !status && tz_cuda_parts_added[i]; i++)
        status = tz_cuda_parts_added[i]->measure(&b);
    if (!status)
        set_derived(out, b.clock_hz);
    tz__bench_close(&b);
    if (status)
        memset(out, 0, sizeof *out);
    return status;
}

tz_status tz_cuda_calibrate_part(tz_model_device *record, tz_cuda *cuda, const tz_cuda_part *part,
                                 const tz_calibration *calibration, tz_error *error)
{
    tz_model_device measured = *record;
    tz__bench b = bench_of(&measured, cuda, calibration, error);
    b.clock_hz = record->clock_hz.value;
    tz_status status = tz__bench_open(&b);
    if (!status)
        status = part->measure(&b);
    tz__bench_close(&b);
    if (!status)
        *record = measured;
    return status;
}
