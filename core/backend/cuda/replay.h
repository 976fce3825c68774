/* Stages as a graph: launches of one kernel that read and write two arrays in turns, put on the GPU
 * by one call. A launch costs the host some microseconds, a graph of them hardly more. */
#ifndef TZ_CORE_BACKEND_CUDA_REPLAY_H
#define TZ_CORE_BACKEND_CUDA_REPLAY_H

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"

enum { TZ_CUDA_REPLAY_STAGES = 16 }; /* of a graph; even, so that it ends where it began */

/* Zero to begin with. */
typedef struct tz_cuda_replay {
    tz_cuda_graph *graph;
    char arguments[2][TZ_CUDA_ARGUMENTS_MAX]; /* that it was made with */
} tz_cuda_replay;

/* TZ_CUDA_REPLAY_STAGES launches on the default stream: those with even numbers pass arguments[0],
 * the others arguments[1], `bytes` each. The graph is made on `scratch` (not the default stream,
 * otherwise unused) when it is the first or when the arguments differ from the last. */
tz_status tz_cuda_replay_launch(tz_cuda_replay *replay, tz_cuda *cuda, tz_cuda_queue *scratch,
                                const tz_cuda_kernel *kernel, const tz_cuda_shape *shape,
                                void *const arguments[2], size_t bytes, tz_error *error);
void tz_cuda_replay_clear(tz_cuda_replay *replay, tz_cuda *cuda);

/* Does no stage of this problem differ from the next but by the arrays? Not where a plugin's text
 * says TZ_STEP or a field streams in. */
bool tz_cuda_replay_can(const tz_problem *problem);

#endif
