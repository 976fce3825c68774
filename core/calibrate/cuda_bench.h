/* Launching and timing the kernels of kernels/cuda/calibrate.cuh, for all measurements of a GPU.
 *
 * Functions return the bench's errors: TZ_MEMORY, TZ_BACKEND, TZ_INTERRUPTED; the message goes to
 * bench.error. */
#ifndef TZ_CORE_CALIBRATE_CUDA_BENCH_H
#define TZ_CORE_CALIBRATE_CUDA_BENCH_H

#include "backend/cuda/driver/queue.h"
#include "calibrate/calibrate.h"

/* The kernels, numbered as in calibrate.cuh. */
enum tz__probe_kind {
    TZ__PROBE_CHAINS = 1,
    TZ__PROBE_LINK,
    TZ__PROBE_COPY,
    TZ__PROBE_EMPTY,
    TZ__PROBE_SYNC,
    TZ__PROBE_PASS
};

/* A caller fills the first group, tz__bench_open the second. */
typedef struct tz__bench {
    tz_cuda *cuda;
    const tz_cuda_device *gpu;
    const tz_calibration *calibration;
    tz_model_device *record;
    tz_error *error;
    int repeats, warmups; /* launches that count, and uncounted launches before them */
    double clock_hz;      /* 0 until it is measured */

    tz_cuda_queue *queue;
    tz_cuda_event *begin, *end;
    tz_cu_pointer cycles;  /* a 32-bit count of each block */
    tz_cu_pointer out;     /* results of kernels, which nothing reads */
    tz_cu_pointer barrier; /* TZ__BARRIER_BYTES, zeros at first */

    int done; /* measurements so far, for progress */
} tz__bench;

enum { TZ__BARRIER_BYTES = 1 << 16 };

/* Make the queue, the events and the memory. Call tz__bench_close also after an error. */
tz_status tz__bench_open(tz__bench *b);
void tz__bench_close(tz__bench *b);

/* Call before each measurement: reports progress. TZ_INTERRUPTED: the caller stops the
 * calibration. */
tz_status tz__bench_next(tz__bench *b, const char *what);

/* The text of a kernel of that kind with `definitions` before it: malloc'd, NULL without memory. */
char *tz__bench_text(int kind, int threads, const char *definitions);
/* The same of other kernels than those of calibrate.cuh; `name` is the file's, for the compiler's
 * messages. */
char *tz__bench_text_of(const char *name, const char *kernels, int kind, int threads,
                        const char *definitions);
/* The kernel tz_probe of a text, which is freed; NULL: TZ_MEMORY. Free it with tz_cuda_unload(). */
tz_status tz__bench_load_text(tz__bench *b, tz_cuda_kernel *out, char *text);
/* The same of the text of a kind. */
tz_status tz__bench_load(tz__bench *b, tz_cuda_kernel *out, int kind, int threads,
                         const char *definitions);

/* Launch a kernel, wait for it, and take its time by events. */
tz_status tz__bench_time(tz__bench *b, const tz_cuda_kernel *kernel, int blocks, int threads,
                         int shared_bytes, bool cooperative, void **arguments, double *seconds);

/* The median and the largest of the cycles of the last launch's blocks. TZ_BACKEND: the median is
 * 0, so the device cannot be measured. */
tz_status tz__bench_cycles(tz__bench *b, int blocks, double *median, double *most);

/* ---- Chains of dependent steps --------------------------------------------------------------- */

typedef struct tz__chains {
    const char *what;    /* "FADD" */
    const char *type;    /* of x: "float", "double", "int", "tz_word", "both", "heavy" */
    const char *step;    /* CUDA C++ that changes x using y, a and b */
    const char *first;   /* initial x; NULL: from the thread's number */
    double instructions; /* in a step; or passes through shared memory */
    int pairs, threads, steps, shared_words;
    size_t number; /* offset of the tz_model_number in the record */
    bool latency;  /* the number is a latency; else a rate */
} tz__chains;

/* Their definitions for calibrate.cuh. */
enum { TZ__DEFINITIONS_SIZE = 768 };
void tz__chains_define(const tz__chains *chains, char definitions[TZ__DEFINITIONS_SIZE]);

typedef struct tz__chains_time {
    double cycles;  /* of a step of a warp: median */
    double spread;  /* of those cycles, in per cent */
    double seconds; /* of a launch: median */
    double most;    /* cycles of the slowest block: median */
} tz__chains_time;

/* Time `rounds` rounds of `blocks` blocks. `followed`: a table of links in device memory that the
 * chains follow from `first_word` on; 0: none. */
tz_status tz__bench_chains(tz__bench *b, const tz__chains *chains, int rounds, int blocks,
                           tz_cu_pointer followed, uint32_t first_word, tz__chains_time *out);

/* ---- Kernels that copy or read --------------------------------------------------------------- */

typedef struct tz__copier {
    bool writes;
    int packets; /* of 16 bytes, in flight at once in a thread */
    const char *load;
} tz__copier;

enum { TZ__COPY_THREADS = 256 };

void tz__copier_define(const tz__copier *copier, char definitions[TZ__DEFINITIONS_SIZE]);
tz_status tz__copier_load(tz__bench *b, const tz__copier *copier, tz_cuda_kernel *out);
/* Bytes that a block moves at once. */
size_t tz__copier_bytes(const tz__copier *copier);

/* ---- Parts of a calibration, in their order: each fills its numbers of bench.record ---------- */

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
