/* Copies between states of two processes: of one machine, through device memory that they share, or
 * through pinned host memory. */
#ifndef TZ_CORE_BACKEND_CUDA_LINKS_H
#define TZ_CORE_BACKEND_CUDA_LINKS_H

#include "backend/host/slab.h"

/* Its states are tz_cuda_state. */
extern const tz_slab_links tz_cuda_links;
extern const tz_slab_host tz_cuda_through_host;

#endif
