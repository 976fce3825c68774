/* What instructions of PTX cost: the tables of costs.c, for tests that compile and run all of
 * them. */
#ifndef TZ_MODEL_PAPERS_COSTS_H
#define TZ_MODEL_PAPERS_COSTS_H

#include "calibrate/cuda_bench.h"

/* The kernels, numbered as in kernels/costs.cuh. */
enum { TZ__PROBE_COST = 1, TZ__PROBE_PERIODS };

/* A step of PTX, and the instructions of it that share its cost. */
typedef struct tz__cost {
    size_t number; /* offset of the tz_model_number in the record */
    const char *what;
    int instructions;
    const char *text;
    const char *without; /* what it is compared with, one instruction apart; NULL: nothing */
} tz__cost;
enum {
    TZ__COST_STEPS = 20,    /* of a loop */
    TZ__COST_TIMES = 10000, /* that a step is repeated, as in the paper */
    TZ__PERIODS = 48        /* of additions and a load, of a launch */
};
const tz__cost *tz__costs_table(size_t *count);
/* The definitions of TZ__PROBE_COST and TZ__PROBE_PERIODS for kernels/costs.cuh, and the text of a
 * kernel: malloc'd, NULL without memory. */
void tz__cost_define(const char *text, char definitions[TZ__DEFINITIONS_SIZE]);
void tz__periods_define(int additions, char definitions[TZ__DEFINITIONS_SIZE]);
char *tz__cost_text(int kind, int threads, const char *definitions);

#endif
