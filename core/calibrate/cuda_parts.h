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

/* cuda_costs.c: clocks of instructions of PTX, and the parallel degree of computation. It needs the
 * clock and the numbers of memory. */
tz_status tz__measure_costs(tz__bench *b);

/* ---- Tables, for tests that compile and run all of them -------------------------------------- */

/* Static tables of `*count` rows. */
const tz__chains *tz__chains_table(size_t *count); /* rates and latencies */
const tz__chains *tz__energy_table(size_t *count); /* energies */
const tz__copier *tz__copiers_table(size_t *count);

/* A step of PTX, and the instructions of it that share its cost. */
typedef struct tz__cost {
    size_t number; /* offset of the tz_model_number in the record */
    const char *what;
    int instructions;
    const char *text;
} tz__cost;
enum {
    TZ__COST_STEPS = 20,    /* of a loop */
    TZ__COST_TIMES = 10000, /* that a step is repeated, as in the paper */
    TZ__PERIODS = 48        /* of additions and a load, of a launch */
};
const tz__cost *tz__costs_table(size_t *count);
/* The definitions of TZ__PROBE_COST and TZ__PROBE_PERIODS for calibrate.cuh. */
void tz__cost_define(const char *text, char definitions[TZ__DEFINITIONS_SIZE]);
void tz__periods_define(int additions, char definitions[TZ__DEFINITIONS_SIZE]);

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
