#include "calibrate/cuda_facts.h"

#include "calibrate/calibrate.h"
#include <stdio.h>

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
