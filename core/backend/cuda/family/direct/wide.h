/* The wide form of the direct family, for plans with a `vector`. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_DIRECT_WIDE_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_DIRECT_WIDE_H

#include "backend/cuda/family/work.h"

/* Not in the table of families. Without candidates, and without shared memory. */
extern const tz_cuda_family tz__direct_wide;

/* The vector of its usual plans: accesses of 16 bytes of the widest field, or fewer columns where a
 * row is short. */
int tz__direct_wide_vector(const tz_problem *problem);

#endif
