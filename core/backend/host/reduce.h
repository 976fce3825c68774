/* Numbers about a field in host memory, defined so that every backend can give the same bits
 * (core/cuda/reduce.h has them of a field on a GPU).
 *
 * min, max: of the finite cells; a zero is +0.
 * sum: each row is cut into segments of TZ_REDUCE_SEGMENT cells; in a segment 32 lanes add the
 * cells i, i + 32, i + 64, … in order, in double; lanes are combined pairwise (16 apart, then 8, 4,
 * 2, 1); segment sums are combined pairwise in grid order (neighbours first, an odd one out moves
 * up). A NaN is the one NaN. Bits need no order: their sums are whole numbers.
 * hash: the wrapping sum over cells with any bit set of mix(mix(bits) + index), mixed with the
 * extents; index counts cells in grid order. */
#ifndef TZ_CORE_BACKEND_HOST_REDUCE_H
#define TZ_CORE_BACKEND_HOST_REDUCE_H

#include "kernels/cpu/stream.h"
#include "stencil/problem.h"

/* Short enough that a few long rows keep a GPU busy, long enough that combining lanes costs
 * nothing. A multiple of 32. */
enum { TZ_REDUCE_SEGMENT = 4096 };

tz_status tz_reduce_host(const tz_problem *problem, int field, const tz_host_field *host,
                         int threads, tz_reduction *out, tz_error *error);

/* False when a cell is NaN or infinite. */
bool tz_reduce_all_finite(const tz_problem *problem, int field, const tz_host_field *host,
                          int threads);

/* max |a - b| over the cells of a field; NaN differences count as infinite. */
double tz_reduce_difference(const tz_problem *problem, int field, const tz_host_field *a,
                            const tz_host_field *b, int threads);

/* ---- Parts, for whoever sums segments elsewhere ---------------------------------------------- */

/* The pairwise sum, in place; 0 of nothing. Sums of 2^k neighbours each, in order, do as well as
 * the segments' own. */
double tz_reduce_pairwise(double *sums, int64_t count);

/* What all cells give together: min, max, sum, population and not_finite are in *out already. */
void tz_reduce_conclude(const tz_problem *problem, uint64_t hash, int64_t first_not_finite,
                        tz_reduction *out);

#endif
