/* What the two halves of calibrate.h share: kernels of kernels/cuda/calibrate.cuh, timed. */
#ifndef TZ_CORE_CALIBRATE_CUDA_IMPL_H
#define TZ_CORE_CALIBRATE_CUDA_IMPL_H

#include "backend/cuda/driver/queue.h"
#include "calibrate/cuda.h"

enum tz__probe_kind {
    TZ__PROBE_CHAINS = 1,
    TZ__PROBE_LINK,
    TZ__PROBE_COPY,
    TZ__PROBE_EMPTY,
    TZ__PROBE_GRID_BARRIER,
    TZ__PROBE_PASS
};

typedef struct tz__bench {
    tz_cuda *cuda;
    const tz_cuda_device *gpu;
    const tz_calibration *calibration;
    tz_model_device *record;
    tz_error *error;
    tz_cuda_queue *stream;
    tz_cuda_event *begin, *end;
    tz_cu_pointer cycles, out, barrier; /* what kernels write; `barrier` holds zeros at first */
    int blocks_max;                     /* that `cycles` has room for */
    int repeats, warmups;               /* launches that count, and that do not */
    int done;                           /* measurements */
    double clock_hz;
} tz__bench;

enum { TZ__OUT_BYTES = 4 << 20, TZ__BARRIER_BYTES = 1 << 16 };

/* Before each measurement. */
tz_status tz__bench_next(tz__bench *b, const char *what);

/* The text of a kernel of that kind: malloc'd, NULL without memory. */
char *tz__bench_text(int kind, int threads, const char *definitions);
/* The kernel of that kind, with the definitions that its text wants beside TZ_PROBE. */
tz_status tz__bench_load(tz__bench *b, tz_cuda_kernel *out, int kind, int threads,
                         const char *definitions);

/* A launch and its time by events. */
tz_status tz__bench_time(tz__bench *b, const tz_cuda_kernel *kernel, int blocks, int threads,
                         int shared_bytes, bool cooperative, void **arguments, double *seconds);

/* The median of the cycles that the blocks of the last launch have counted; the most of them. */
tz_status tz__bench_cycles(tz__bench *b, int blocks, double *median, double *most);

/* Chains of dependent steps. */
typedef struct tz__chains {
    const char *what; /* "FADD" */
    const char *type, *step;
    const char *first;   /* NULL: from the thread's number */
    double instructions; /* of a step, or passes through shared memory */
    int pairs, threads, steps, shared_words;
    size_t number; /* of the record: its offset */
    bool latency;  /* not a rate */
} tz__chains;

/* Those that rates and latencies are measured with; *count of them. Static. */
const tz__chains *tz__chains_table(size_t *count);
/* Those of a loop that is so long. */
tz__chains tz__chains_text(int kib);
/* Their definitions for calibrate.cuh. */
enum { TZ__DEFINITIONS_SIZE = 768 };
void tz__chains_define(const tz__chains *chains, char definitions[TZ__DEFINITIONS_SIZE]);

/* Cycles from the first to the last step, per step that a warp has done: the median of all
 * repetitions, and their spread. One block a multiprocessor, or `blocks` in all. `first_word`: what
 * a and b are, where words are followed through `table`. */
tz_status tz__bench_chains(tz__bench *b, const tz__chains *chains, int rounds, int blocks,
                           tz_cu_pointer table, uint32_t first_word, double *cycles, double *spread,
                           double *seconds, double *most);

/* Kernels that copy or read, and the definitions of each; *count of them. Static. */
typedef struct tz__copier {
    bool writes;
    int packets; /* of 16 bytes: of a thread at once */
    const char *load;
} tz__copier;
const tz__copier *tz__copiers_table(size_t *count);
void tz__copier_define(const tz__copier *copier, char definitions[TZ__DEFINITIONS_SIZE]);

/* Those that energies are measured with: their data have no order, and stay so; *count of them.
 * Static. */
const tz__chains *tz__energy_table(size_t *count);
/* What a and b are: numbers of the type, or words. */
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

/* Power and energies (calibrate_energy.c). Where NVML or its counter is not there they are not
 * known, and the calibration's remark says why. */
tz_status tz__bench_energy(tz__bench *b);

/* Memory: bandwidths, latencies. Launches and what blocks wait for. (calibrate_memory.c) */
tz_status tz__bench_memory(tz__bench *b);
tz_status tz__bench_launches(tz__bench *b);

#endif
