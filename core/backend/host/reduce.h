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

#include "kernels/cpu/stage.h"
#include "stencil/problem.h"

/* In cells; a multiple of 32. Short enough that a few long rows occupy a GPU, long enough that
 * combining the lanes costs little. */
enum { TZ_REDUCE_SEGMENT = 4096 };

/* Reduce a field. Errors: TZ_MEMORY. */
tz_status tz_reduce_host(const tz_problem *problem, int field, const tz_host_field *host,
                         tz_threads *threads, tz_reduction *out, tz_error *error);

/* The same of a field that is nowhere as a whole: begin, add each part once in any order, and end.
 * A part has the rows from `row_low` to `row_high`, counted along y and then z; of each row, the
 * elements from `x_low`, a multiple of TZ_REDUCE_SEGMENT, to `x_high`, another one or the row's
 * end. `origin` of `host` is where element (0, 0, 0) would be. end() releases the sums, and must
 * follow begin() also after a failure of the caller. */
typedef struct tz_reduce_sums {
    const tz_problem *problem;
    int field;
    int64_t count; /* of segments */
    double *sums;  /* of all of them */
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

/* Add the own cells of a slab of that grid (problem.h), which `host` holds. */
tz_status tz_reduce_add_slab(tz_reduce_sums *sums, const tz_problem *slab,
                             const tz_host_field *host, tz_threads *threads, tz_error *error);

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

/* ---- Parts, for backends that sum segments themselves ---------------------------------------- */

/* The pairwise sum; overwrites `sums`; 0 if count is 0. The result is the same if each element is
 * already the pairwise sum of 2^k adjacent segments. */
double tz_reduce_pairwise(double *sums, int64_t count);

/* Finish a tz_update whose members are found: if a change is NaN, so is the sum, and then
 * largest. */
void tz_update_conclude(tz_update *out);

/* Finish a reduction. *out holds min, max, sum, population and not_finite; `hash` is the sum over
 * cells, `first_not_finite` the index of that cell in grid order (ignored if there is none). */
void tz_reduce_conclude(const tz_problem *problem, uint64_t hash, int64_t first_not_finite,
                        tz_reduction *out);

#endif
