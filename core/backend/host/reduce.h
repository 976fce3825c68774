/* Reductions of a field in host memory. The definitions let every backend compute the same bits;
 * backend/cuda/reduce.h does so on a GPU.
 *
 *   min, max  of the finite cells. A zero is +0.
 *   sum       in double. Each row is cut into segments of TZ_REDUCE_SEGMENT cells. In a segment, 32
 *             lanes add the cells i, i + 32, i + 64, ... in order. The lanes are combined pairwise:
 *             16 apart, then 8, 4, 2, 1. The sums of segments are combined pairwise in grid order:
 *             adjacent sums are added, an odd last one is kept, until one is left. A sum that is
 *             NaN becomes the default NaN. Sums of bits are integers and need no order.
 *   hash      the wrapping sum of mix(mix(bits) + index) over the cells that have a bit set, mixed
 *             with the extents. index is the number of the cell in grid order. Of a NaN the bits
 *             are those of the quiet one without a sign: which one arithmetic gives depends on the
 *             machine. */
#ifndef TZ_CORE_BACKEND_HOST_REDUCE_H
#define TZ_CORE_BACKEND_HOST_REDUCE_H

#include "backend/backend.h"
#include "kernels/cpu/stage.h"
#include "stencil/problem.h"

/* In cells; a multiple of 32. Short enough that a few long rows occupy a GPU, long enough that
 * combining the lanes costs little. */
enum { TZ_REDUCE_SEGMENT = 4096 };

/* Reduce a field: begin, add each part once in any order, and end.
 * A part has the rows from `row_low` to `row_high`, counted along y and then z; of each row, the
 * elements from `x_low`, a multiple of TZ_REDUCE_SEGMENT, to `x_high`, another one or the row's
 * end. `origin` of `host` is where element (0, 0, 0) would be. end() releases the sums, and must
 * follow begin() also after a failure of the caller. */
typedef struct tz_reduce_sums {
    const tz_problem *problem;
    int field;
    int64_t count; /* of segments */
    /* Of all of them. Each element may be the pairwise sum of 2^k adjacent segments, and there are
     * so many fewer. */
    double *sums;
    double low, high;
    int64_t population, not_finite, first;
    uint64_t hash;
} tz_reduce_sums;
tz_status tz_reduce_begin(tz_reduce_sums *sums, const tz_problem *problem, int field,
                          tz_error *error);
tz_status tz_reduce_add(tz_reduce_sums *sums, const tz_host_field *host, int64_t row_low,
                        int64_t row_high, int64_t x_low, int64_t x_high, tz_threads *threads,
                        tz_error *error);
void tz_reduce_end(tz_reduce_sums *sums, tz_reduction *out);

/* Add the own cells of that grid or of a slab of it (problem.h), which `host` holds. */
tz_status tz_reduce_add_own(tz_reduce_sums *sums, const tz_problem *own, const tz_host_field *host,
                            tz_threads *threads, tz_error *error);

/* The same for tz_backend.update: the sums of all segments, and the largest values, of which NaN is
 * none. A slab writes the sums of its own rows from `sums` + tz_update_first() on. */
typedef struct tz_update_sums {
    const tz_problem *problem;
    int64_t count; /* of segments */
    double *sums;
    double largest, magnitude;
} tz_update_sums;
tz_status tz_update_begin(tz_update_sums *sums, const tz_problem *problem, tz_error *error);
int64_t tz_update_first(const tz_problem *slab);
void tz_update_end(tz_update_sums *sums, tz_update *out);

/* Whether no cell of a field is NaN or infinite; of a slab, no own cell. */
bool tz_reduce_all_finite(const tz_problem *problem, int field, const tz_host_field *host,
                          tz_threads *threads);

/* max |a - b| over the cells of a field (of a slab, the own cells); NaN differences count as
 * infinite. */
double tz_reduce_difference(const tz_problem *problem, int field, const tz_host_field *a,
                            const tz_host_field *b, tz_threads *threads);

/* ---- Of states ------------------------------------------------------------------------------- */

/* tz_backend.reduce, update and refine of a state that holds all of `problem`. *out is undefined
 * after an error. */
tz_status tz_backend_reduce(const tz_backend *backend, const void *state, const tz_problem *problem,
                            int field, tz_reduction *out, tz_error *error);
tz_status tz_backend_update(const tz_backend *backend, void *state, const tz_problem *problem,
                            int64_t step, tz_update *out, tz_error *error);
tz_status tz_backend_refine(const tz_backend *backend, void *state, void *correction,
                            const tz_problem *problem, int64_t step, tz_update *out,
                            tz_error *error);

#endif
