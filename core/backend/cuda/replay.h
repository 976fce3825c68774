/* Many stages as one graph: launches of one kernel that alternate between the two copies of the
 * fields. The host needs some microseconds for a launch, and hardly more for a graph of launches.
 */
#ifndef TZ_CORE_BACKEND_CUDA_REPLAY_H
#define TZ_CORE_BACKEND_CUDA_REPLAY_H

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"

/* Stages of a graph. The number is even, so that results end in the copy that they started from. */
enum { TZ_CUDA_REPLAY_STAGES = 16 };

/* Zero-initialise. */
typedef struct tz_cuda_replay {
    tz_cuda_graph *graph;
    char arguments[2][TZ_CUDA_ARGUMENTS_MAX]; /* which the graph passes */
} tz_cuda_replay;

/* Puts TZ_CUDA_REPLAY_STAGES launches into the default queue. The first, third, … pass arguments[0],
 * the others arguments[1], `bytes` each. Without a graph, or after the arguments have changed,
 * records a graph in the queue `scratch`, which nothing else may use. Errors are those of
 * driver.h. */
tz_status tz_cuda_replay_launch(tz_cuda_replay *replay, tz_cuda *cuda, tz_cuda_queue *scratch,
                                const tz_cuda_kernel *kernel, const tz_cuda_shape *shape,
                                void *const arguments[2], size_t bytes, tz_error *error);
void tz_cuda_replay_clear(tz_cuda_replay *replay, tz_cuda *cuda);

#endif
