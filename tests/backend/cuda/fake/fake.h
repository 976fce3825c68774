/* Stand-ins for the driver, NVRTC, NVML and cuFFT, for tests without a GPU. LD_LIBRARY_PATH
 * lists them first. fake_cuda() returns what they have counted.
 *
 * FAKE_CUDA_FAULT=SYMBOL:RESULT[:SKIP[:TIMES]]
 *                            SKIP (0) calls of SYMBOL succeed, then TIMES calls (all) return
 *                            RESULT; a result that ends a context stays until its release
 * FAKE_CUDA_DEVICES=N        number of devices (1)
 * FAKE_CUDA_MEMORY=BYTES     of a device (1 GiB)
 * FAKE_CUDA_PEERS=0          no device has access to another's memory
 * FAKE_CUDA_SHARED=US        processes may share memory and events; a thread runs the streams, too,
 * each time
 *                            after so many microseconds
 * FAKE_CUDA_EVENT_US=US      waiting for an event sleeps so long, as for a kernel (0)
 * FAKE_CUDA_WITHOUT=NUMBER   a device attribute that the driver does not know
 * FAKE_NVML_FAULT=SYMBOL:RESULT
 *                            this call of NVML fails
 * FAKE_NVML_CLOCK=MHZ        the clock (1980)
 * FAKE_NVML_REASONS=BITS     reasons for a lower clock (0)
 * FAKE_NVML_WATTS=W          the power behind the energy counter
 * FAKE_NVRTC_LOG=FILE        a line with the options of each compiled program
 * FAKE_NVRTC_MS=MS           each program takes so many milliseconds (0)
 * FAKE_NVRTC_DO=WORD         what each program makes of its compiler: crash, exit, rubbish (on its
 *                            socket), memory (all that it can have), spin, leave (ends soon after)
 * FAKE_CUFFT_FAULT=SYMBOL:RESULT
 *                            this call of cuFFT fails
 * FAKE_CUFFT_WORK=BYTES      the work area of a plan (256)
 *
 * Device memory is host memory. Kernels do nothing, or what fake_cuda_run() says. Streams are lazy:
 * an operation runs when a caller waits for it, so that a missing wait shows. Memory or an event
 * that is freed while another process has it open ends the program. */
#ifndef TZ_TEST_FAKE_H
#define TZ_TEST_FAKE_H

#include <stddef.h>

typedef struct fake_cuda_seen {
    int contexts; /* retained and not released */
    /* Alive. */
    int allocations, pinned, streams, events, modules, noted, graphs, opened;
    int left_behind; /* handles alive when their context was released, since the start */
    /* Since the start. */
    int peer_copies, peers_opened, shared_opened;
    int graphs_made, launches, cooperative, kernel_gets, kernel_sets, done;
    /* The last launch. */
    unsigned grid[3], block[3], shared_bytes;
    int on_default_stream;
    int shared_limit; /* the last limit of dynamic shared memory */
} fake_cuda_seen;

typedef const fake_cuda_seen *fake_cuda_look(void); /* libcuda.so.1: fake_cuda */

enum { FAKE_CUDA_ARGUMENT_MAX = 4096 };

/* libcuda.so.1: fake_cuda_run. Kernels that are launched from now on are kernel(argument), with a
 * copy of `bytes` bytes of their only argument. NULL: they do nothing. */
typedef void fake_cuda_kernel(const void *argument);
typedef void fake_cuda_runs(fake_cuda_kernel *kernel, size_t bytes);

/* libcuda.so.1: fake_cuda_run_named. From now on each launch is prepared: `source` is the text that
 * NVRTC was given, and what prepare() returns becomes `entry`. It runs in its turn as run(launch),
 * with a copy of its only argument. NULL: as fake_cuda_run says. Not for graphs. */
typedef struct fake_cuda_memory {
    void *at;
    size_t bytes;
} fake_cuda_memory;
enum { FAKE_CUDA_MEMORY_MAX = 64 };
typedef struct fake_cuda_launch {
    const char *name; /* of the kernel; for prepare() alone, as the source is */
    const char *source;
    const void *entry;
    size_t argument_bytes; /* set by prepare(): at most FAKE_CUDA_ARGUMENT_MAX */
    int grid[3], threads, shared_bytes;
    char argument[FAKE_CUDA_ARGUMENT_MAX];
    /* device memory that is allocated, not more than FAKE_CUDA_MEMORY_MAX pieces */
    int memory_count;
    fake_cuda_memory memory[FAKE_CUDA_MEMORY_MAX];
} fake_cuda_launch;
typedef const void *fake_cuda_prepare(fake_cuda_launch *launch);
typedef void fake_cuda_named(const fake_cuda_launch *launch);
typedef void fake_cuda_named_runs(fake_cuda_prepare *prepare, fake_cuda_named *run);

#endif
