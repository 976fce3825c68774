/* The source of a streamed field's slabs: an array in memory, or a random generator. */
#ifndef TZ_CORE_STENCIL_STREAMED_SOURCE_H
#define TZ_CORE_STENCIL_STREAMED_SOURCE_H

#include "stencil/problem.h"

typedef struct tz_streamed_source {
    const int32_t *data; /* [slabs][cells]; NULL: the generator */
    int64_t slabs;       /* -1: endless */
    int64_t cells;       /* of a slab: nx */
    int64_t first; /* the cell of it that is cell 0 of the problem: 0 but for slabs of a grid */
    tz_boundary boundary;
    tz_random random;
    uint64_t generation; /* different for each source that a field gets; from 1 */
} tz_streamed_source;

/* Reads a row of a source; a tz_streamed_row_fn (kernels/cpu/stage.h). */
const void *tz_streamed_source_row(const void *source, int64_t step, int64_t x, int64_t count,
                                   int32_t *scratch);

/* 64 random bits for cell `index` at `step`, which is 0 for fields that are not streamed. */
uint64_t tz_random_bits(uint64_t seed, int64_t step, int64_t index);
/* The integer from low to high inclusive that these bits give. */
int32_t tz_random_int(const tz_random *random, int64_t step, int64_t index);

#endif
