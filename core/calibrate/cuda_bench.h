/* What all measurements of a GPU share: kernels of kernels/cuda/calibrate.cuh, launched and timed.
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
    int repeats, warmups; /* launches that count, and launches before them that do not */
    double clock_hz;      /* once it is measured */

    tz_cuda_queue *queue;
    tz_cuda_event *begin, *end;
    tz_cu_pointer cycles;  /* of each block: a 32-bit count */
    tz_cu_pointer out;     /* where kernels write what nothing reads */
    tz_cu_pointer barrier; /* TZ__BARRIER_BYTES, zeros at first */

    int done; /* measurements so far, for progress */
} tz__bench;

enum { TZ__BARRIER_BYTES = 1 << 16 };

/* The queue, the events and the memory. After an error tz__bench_close frees what there is. */
tz_status tz__bench_open(tz__bench *b);
void tz__bench_close(tz__bench *b);

/* Before each measurement: reports progress; TZ_INTERRUPTED if the caller wants no more. */
tz_status tz__bench_next(tz__bench *b, const char *what);

/* The text of a kernel of that kind with `definitions` before it: malloc'd, NULL without memory. */
char *tz__bench_text(int kind, int threads, const char *definitions);
/* The kernel made from that text; free it by tz_cuda_unload. */
tz_status tz__bench_load(tz__bench *b, tz_cuda_kernel *out, int kind, int threads,
                         const char *definitions);

/* Launch a kernel, wait for it, and take its time by events. */
tz_status tz__bench_time(tz__bench *b, const tz_cuda_kernel *kernel, int blocks, int threads,
                         int shared_bytes, bool cooperative, void **arguments, double *seconds);

/* The median and the largest of the cycles that the blocks of the last launch have counted.
 * TZ_BACKEND if the median is 0: such a device cannot be measured. */
tz_status tz__bench_cycles(tz__bench *b, int blocks, double *median, double *most);

/* ---- Chains of dependent steps --------------------------------------------------------------- */

typedef struct tz__chains {
    const char *what;    /* "FADD" */
    const char *type;    /* of x: "float", "double", "int", "tz_word", "both", "heavy" */
    const char *step;    /* CUDA C++ that changes x with the help of y, a and b */
    const char *first;   /* the first x; NULL: from the thread's number */
    double instructions; /* of a step, or passes through shared memory */
    int pairs, threads, steps, shared_words;
    size_t number; /* offset of the tz_model_number in the record */
    bool latency;  /* else a rate */
} tz__chains;

/* The definitions that calibrate.cuh needs for them. */
enum { TZ__DEFINITIONS_SIZE = 768 };
void tz__chains_define(const tz__chains *chains, char definitions[TZ__DEFINITIONS_SIZE]);

typedef struct tz__chains_time {
    double cycles;  /* of a step of a warp, from the first step to the last: median */
    double spread;  /* of those cycles, in per cent */
    double seconds; /* of a launch: median */
    double most;    /* cycles of the slowest block: median */
} tz__chains_time;

/* Time `rounds` rounds of `blocks` blocks. `followed`: the table in device memory whose words the
 * chains follow, from `first_word` on; 0: none. */
tz_status tz__bench_chains(tz__bench *b, const tz__chains *chains, int rounds, int blocks,
                           tz_cu_pointer followed, uint32_t first_word, tz__chains_time *out);

/* ---- Kernels that copy or read --------------------------------------------------------------- */

typedef struct tz__copier {
    bool writes;
    int packets; /* of 16 bytes: those that a thread has under way at once */
    const char *load;
} tz__copier;

enum { TZ__COPY_THREADS = 256 };

void tz__copier_define(const tz__copier *copier, char definitions[TZ__DEFINITIONS_SIZE]);
tz_status tz__copier_load(tz__bench *b, const tz__copier *copier, tz_cuda_kernel *out);
/* Bytes that a block moves at once. */
size_t tz__copier_bytes(const tz__copier *copier);

#endif
