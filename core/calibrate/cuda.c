/* Measures a GPU: facts of the driver, then each part of cuda_bench.h. */
#include "calibrate/cuda.h"

#include "calibrate/cuda_bench.h"
#include <stdio.h>
#include <string.h>

void tz_cuda_facts(tz_model_device *d, const tz_cuda_device *g)
{
    const char *guide = "CUDA C++ Programming Guide, technical specifications";
    snprintf(d->title, sizeof d->title, "%.*s", (int)sizeof d->title - 1, g->name);
    tz_calibration_name(g->name, d->name, sizeof d->name);
    const struct {
        tz_model_number *out;
        double value; /* 0: not known */
    } reported[] = {
        {&d->compute_capability, 10 * g->major + g->minor},
        {&d->sm_count, g->multiprocessors},
        {&d->blocks_per_sm, g->multiprocessor_blocks},
        {&d->threads_per_sm_max, g->multiprocessor_threads},
        {&d->registers_per_sm, g->multiprocessor_registers},
        {&d->shared_per_sm_bytes, g->multiprocessor_shared_bytes},
        {&d->shared_per_block_max_bytes, g->shared_bytes},
        {&d->shared_reserved_bytes, g->shared_reserved_bytes},
        {&d->l2_bytes, (double)g->l2_bytes},
    };
    for (size_t i = 0; i < sizeof reported / sizeof *reported; i++)
        if (reported[i].value > 0)
            tz_number_set_exactly(reported[i].out, reported[i].value, "reported by the driver");
    if (g->memory_clock_khz > 0 && g->memory_bus_bits > 0)
        tz_number_set(&d->memory_bandwidth_bytes_per_s,
                      2e3 * g->memory_clock_khz * g->memory_bus_bits / 8,
                      "reported by the driver: %d bits twice a clock of %d MHz", g->memory_bus_bits,
                      g->memory_clock_khz / 1000);
    tz_number_set_exactly(&d->warp_size, 32, "%s", guide);
    tz_number_set_exactly(&d->threads_per_block_max, 1024, "%s", guide);
    tz_number_set_exactly(&d->registers_per_thread_max, 255, "%s", guide);
    tz_number_set_exactly(&d->register_unit, 256, "%s: a warp's allocation", guide);
    tz_number_set_exactly(&d->coalesce_width, 32,
                          "CUDA C++ Programming Guide: a warp's 4-byte accesses, 128 bytes");
}

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
    static tz_status (*const parts[])(tz__bench *) = {
        tz__measure_clock,    tz__measure_instructions, tz__measure_memory,
        tz__measure_launches, tz__measure_text_cache,   tz__measure_energy};
    tz_status status = tz__bench_open(&b);
    for (size_t i = 0; !status && i < sizeof parts / sizeof *parts; i++)
        status = parts[i](&b);
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
