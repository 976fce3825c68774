/* Many stages as one graph: launches of one kernel that read and write the two copies of the fields
 * alternately. The host needs some microseconds for a launch, and hardly more for a graph of
 * them. */
#ifndef TZ_CORE_BACKEND_CUDA_REPLAY_H
#define TZ_CORE_BACKEND_CUDA_REPLAY_H

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"

enum {
    TZ_CUDA_REPLAY_STAGES = 16
}; /* of a graph; even, so that results end in the copy where they began */

/* Zero-initialise. */
typedef struct tz_cuda_replay {
    tz_cuda_graph *graph;
    char arguments[2][TZ_CUDA_ARGUMENTS_MAX]; /* those that the graph passes */
} tz_cuda_replay;

/* Put TZ_CUDA_REPLAY_STAGES launches into the default queue. The first, third, … pass arguments[0],
 * the others arguments[1], `bytes` each. If there is no graph yet, or the arguments have changed,
 * it is recorded in the queue `scratch`, which nothing else uses. Errors are those of driver.h. */
tz_status tz_cuda_replay_launch(tz_cuda_replay *replay, tz_cuda *cuda, tz_cuda_queue *scratch,
                                const tz_cuda_kernel *kernel, const tz_cuda_shape *shape,
                                void *const arguments[2], size_t bytes, tz_error *error);
void tz_cuda_replay_clear(tz_cuda_replay *replay, tz_cuda *cuda);

/* Whether all stages of this problem pass the same arguments but for the arrays: no plugin text
 * uses TZ_STEP, and no field is streamed. */
bool tz_cuda_replay_can(const tz_problem *problem);

#endif
