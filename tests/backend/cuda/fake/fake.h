/* Stand-ins for the driver, NVRTC and NVML, so that what calls them is tested without a GPU. They
 * are put first in LD_LIBRARY_PATH; what they have seen is read through the functions below.
 *
 * FAKE_CUDA_FAULT=SYMBOL:RESULT[:SKIP[:TIMES]]
 *                                that call of the driver fails, after SKIP (0) that do not, TIMES
 * (for ever); a result that ends a context stays until it is released FAKE_CUDA_DEVICES=N how many
 * there are (1) FAKE_CUDA_MEMORY=BYTES         of a device (1 GiB) FAKE_CUDA_WITHOUT=NUMBER       a
 * device attribute that the driver does not know FAKE_NVML_FAULT=SYMBOL:RESULT  a call of NVML that
 * fails FAKE_NVML_CLOCK=MHZ (1980), FAKE_NVML_REASONS=BITS (0), FAKE_NVML_WATTS=W  what it tells of
 * the clock, and the power that its counter of energy goes by
 * FAKE_NVRTC_LOG=FILE            gets a line per program compiled: its options
 *
 * Device memory is host memory. Kernels do nothing. Streams are lazy: what is put on one is done
 * when somebody waits, so that a wait that is missing shows. */
#ifndef TZ_TEST_FAKE_H
#define TZ_TEST_FAKE_H

#include <stddef.h>

typedef struct fake_cuda_seen {
    int contexts; /* retained and not released */
    /* Alive. */
    int allocations, pinned, streams, events, modules, noted, graphs;
    int left_behind; /* that were alive when their context was released, since the start */
    /* Since the start. */
    int graphs_made, launches, cooperative, kernel_gets, kernel_sets, done;
    /* The last launch, as it was asked for. */
    unsigned grid[3], block[3], shared_bytes;
    int on_default_stream;
    int shared_limit; /* of dynamic shared memory, as last opted into */
} fake_cuda_seen;

typedef const fake_cuda_seen *fake_cuda_look(void); /* libcuda.so.1: fake_cuda */

#endif
