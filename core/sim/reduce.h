/* Numbers about a field in host memory, defined so that every backend can give the same bits.
 *
 * sum: each row is cut into segments of 65536 cells; in a segment 32 lanes add the cells i, i + 32,
 * i + 64, … in order, in double; lanes are combined pairwise (16 apart, then 8, 4, 2, 1); segment
 * sums are combined pairwise in grid order (neighbours first, an odd one out moves up).
 * hash: the wrapping sum over cells with any bit set of mix(mix(bits) + index), mixed with the
 * extents; index counts cells in grid order. */
#ifndef TZ_CORE_SIM_REDUCE_H
#define TZ_CORE_SIM_REDUCE_H

#include "cpu/stream.h"
#include "sim/problem.h"

tz_status tz_reduce_host(const tz_problem *problem, int field, const tz_host_field *host,
                         int threads, tz_reduction *out, tz_error *error);

/* False when a cell is NaN or infinite. */
bool tz_reduce_all_finite(const tz_problem *problem, int field, const tz_host_field *host,
                          int threads);

/* max |a - b| over the cells of a field; NaN differences count as infinite. */
double tz_reduce_difference(const tz_problem *problem, int field, const tz_host_field *a,
                            const tz_host_field *b, int threads);

#endif
