/* The parts of a GPU's calibration. Each fills its own numbers of bench.record; tz_cuda_calibrate
 * (cuda.h) runs them in this order. Errors are cuda_bench.h's. */
#ifndef TZ_CORE_CALIBRATE_CUDA_PARTS_H
#define TZ_CORE_CALIBRATE_CUDA_PARTS_H

#include "calibrate/cuda_bench.h"

/* cuda_instructions.c: the clock, which the other parts need; rates and latencies; the size of a
 * loop that the text cache holds. */
tz_status tz__measure_clock(tz__bench *b);
tz_status tz__measure_instructions(tz__bench *b);
tz_status tz__measure_text_cache(tz__bench *b);

/* cuda_memory.c: bandwidths and latencies. */
tz_status tz__measure_memory(tz__bench *b);

/* cuda_launches.c: launches, grid synchronisation, exchange of words between adjacent blocks. */
tz_status tz__measure_launches(tz__bench *b);

/* cuda_energy.c: power and energies. Without NVML or without a counter that moves, these numbers
 * stay unknown, and tz_calibration.remark() gets the reason. */
tz_status tz__measure_energy(tz__bench *b);

/* ---- Tables, for tests that compile and run all of them -------------------------------------- */

/* Static tables of `*count` rows. */
const tz__chains *tz__chains_table(size_t *count); /* rates and latencies */
const tz__chains *tz__energy_table(size_t *count); /* energies */
const tz__copier *tz__copiers_table(size_t *count);

/* A loop of `kib` KiB of instructions. */
tz__chains tz__chains_text(int kib);

/* The operands a and b of the chains that measure energies: they keep the values irregular. */
typedef union tz__operand {
    float f;
    double d;
    uint32_t w;
    struct {
        double d;
        uint32_t w;
    } heavy;
} tz__operand;
void tz__energy_operands(const tz__chains *chains, tz__operand *a, tz__operand *b);

#endif
