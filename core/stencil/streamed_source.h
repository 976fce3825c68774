/* The source of a streamed field's slabs: an array in memory, or a random generator. */
#ifndef TZ_CORE_STENCIL_STREAMED_SOURCE_H
#define TZ_CORE_STENCIL_STREAMED_SOURCE_H

#include "stencil/problem.h"

typedef struct tz_streamed_source {
    const int32_t *data; /* [slabs][cells]; NULL: the generator */
    int64_t slabs;       /* -1: endless */
    int64_t cells;       /* of a slab: nx */
    tz_boundary boundary;
    tz_random random;
    uint64_t generation; /* different for each source that a field gets; from 1 */
} tz_streamed_source;

/* tz_streamed_row_fn (kernels/cpu/stream.h) of a source. */
const void *tz_streamed_source_row(const void *source, int64_t step, int64_t x, int64_t count,
                                   int32_t *scratch);

/* The random number of cell `index` at `step` (0 for fields that are not streamed): 64 bits, each 0
 * or 1 with the same probability. */
uint64_t tz_random_bits(uint64_t seed, int64_t step, int64_t index);
/* Integer low..high inclusive from those bits. */
int32_t tz_random_int(const tz_random *random, int64_t step, int64_t index);

#endif
